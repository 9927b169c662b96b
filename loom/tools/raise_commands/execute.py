"""``loom-raise execute``: run a code object on every shape of a workload and keep what it computed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from loom.diagnostics import ExitCode, error
from loom.tools.common import check_writable, naming, read_bytes, write_output
from loom.tools.launch_progress import launch_progress

HELP = """Run a code object on every shape of a workload.

OUTPUT becomes a folder with run.json (device, outcome and executed instructions of each shape), resources.json, and the
output buffers' bytes. Exit code 1: a launch faulted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("code_object", metavar="CODE_OBJECT", help="the code object to run")
    parser.add_argument("--workload", required=True, metavar="FILE", help="workload.yaml")
    parser.add_argument("--form", metavar="NAME", help="run as this form: its root, its arguments, its launch")
    parser.add_argument("--kernel", metavar="NAME", help="kernel to run (default: the workload's, or the form's root)")
    parser.add_argument("--device", default="amdgpu", metavar="NAME", help="device (default: amdgpu)")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder for the results")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.device.registry import open_device
    from loom.raising.execute import run_workload
    from loom.raising.resources import kernel_resources
    from loom.store.workload import load_workload

    if not args.output:
        raise error("--output is empty", "TOOL/004", hint="name a folder for the results")
    folder = Path(args.output)
    check_writable(str(folder / "run.json"))
    workload = load_workload(args.workload, check_files=False)
    form = workload.form(args.form) if args.form else None
    kernel = args.kernel or (form.root.lstrip("@") if form else workload.kernel)
    code = read_bytes(args.code_object)
    device = open_device(args.device, lambda line: print(line, file=sys.stderr))
    try:
        with naming(args.code_object), launch_progress(device):
            runs = run_workload(device, code, kernel, workload, form)
        document = {
            "identity": workload.identity,
            "kernel": kernel,
            "device": device.identity(),
            "runs": [item.document() for item in runs],
        }
    finally:
        device.close()
    for item in runs:
        for name, data in item.outputs.items():
            write_output(str(folder / "outputs" / f"{item.shape}.{name}.bin"), data)
    resources = kernel_resources(code, kernel)
    dynamic = 0 if form is not None else max(shape.launch.dynamic_lds for shape in workload.shapes)
    resources["local memory"] = int(resources.get("static local memory", 0)) + dynamic
    write_output(str(folder / "resources.json"), _json(resources))
    write_output(str(folder / "run.json"), _json(document))
    faults = [item for item in runs if item.outcome["outcome"] != "completed"]
    for item in faults:
        fault = item.outcome["fault"]
        print(f"shape '{item.shape}' faults: {fault.get('kind')}: {fault.get('message')}", file=sys.stderr)
    return int(ExitCode.EVIDENCE_FAILED if faults else ExitCode.SUCCESS)


def _json(document: object) -> str:
    return json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n"
