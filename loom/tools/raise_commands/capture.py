"""``loom-raise capture``: record a native artifact with its ABI, launch and inputs, and execute it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from loom.diagnostics import ExitCode
from loom.tools.common import read_bytes, write_output

HELP = """Record a native kernel: content hash, target, descriptor, metadata, listing, resources, and its workload.

With a workload the kernel is executed on every shape; OUTPUT becomes a folder with capture.json, kernel.hsaco,
listing.s and the result buffers. SOURCE is a code object, an offload bundle, a fat binary, assembly, or prepared Low.
Exit code 1: the kernel faulted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("source", metavar="SOURCE", help="code object, bundle, fat binary, .s, or prepared Low (.loom)")
    parser.add_argument("--kernel", metavar="NAME", help="kernel (default: the workload's, or the only one)")
    parser.add_argument("--workload", metavar="FILE", help="workload.yaml")
    parser.add_argument("--device", default="amdgpu", metavar="NAME", help="device (default: amdgpu)")
    parser.add_argument("--target", metavar="FAMILY:SELECTOR", help="processor of assembly and bundles, amdgpu:gfx1100")
    parser.add_argument("--no-execute", action="store_true", help="record only")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder for the capture")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.raising.capture import capture
    from loom.raising.capture.source import load_source

    workload = None
    if args.workload:
        from loom.store.workload import load_workload

        workload = load_workload(args.workload, check_files=False)
    target = args.target or (workload.target if workload is not None else None)
    source = load_source(args.source, read_bytes(args.source), target, args.kernel)
    device = None
    if workload is not None and not args.no_execute:
        from loom.device.registry import open_device

        device = open_device(args.device, lambda line: print(line, file=sys.stderr))
    try:
        captured = capture(source, args.kernel, workload, device)
    finally:
        if device is not None:
            device.close()
    folder = Path(args.output)
    for name, data in captured.files.items():
        write_output(str(folder / name), data)
    for item in captured.faults:
        fault = item.outcome["fault"]
        print(f"shape '{item.shape}' faults: {fault.get('kind')}: {fault.get('message')}", file=sys.stderr)
    return int(ExitCode.EVIDENCE_FAILED if captured.faults else ExitCode.SUCCESS)
