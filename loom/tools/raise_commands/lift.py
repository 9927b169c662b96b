"""``loom-raise lift``: a native kernel as prepared Low that emits the same bytes."""

from __future__ import annotations

import argparse
import dataclasses
import sys

from loom.diagnostics import ExitCode
from loom.tools.common import read_bytes, write_output

HELP = """Turn a native kernel into prepared Low: SSA over physical registers, allocation(fixed) schedule(locked).

NATIVE is a code object, an offload bundle, a fat binary or assembly. Emitting the result unchanged with --pipeline=none
gives the original instruction bytes. --relax hands the registers, then the order, to the compiler."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("native", metavar="NATIVE", help="code object, bundle, fat binary, or .s")
    parser.add_argument("--kernel", metavar="NAME", help="kernel to lift (default: the workload's, or the only one)")
    parser.add_argument("--workload", metavar="FILE", help="workload.yaml: its launch becomes part of the kernel")
    parser.add_argument("--output", metavar="FILE", default="-", help="where the text goes (default: stdout)")
    parser.add_argument(
        "--relax",
        choices=("allocation", "schedule"),
        default=None,
        help="allocation: virtual registers, order kept; schedule: virtual registers, free order",
    )
    parser.add_argument("--drop-dead-code", action="store_true", help="leave out blocks that no path reaches")
    parser.add_argument("--no-names", action="store_true", help="leave out names and comments of recognised values")
    parser.add_argument("--target", metavar="FAMILY:SELECTOR", help="processor of assembly and bundles, amdgpu:gfx1100")
    parser.add_argument(
        "--verify", action="store_true", help="also emit the result and compare the bytes (exit code 1)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom import print_module
    from loom.raising.capture.source import load_source
    from loom.raising.lift import LiftOptions, lift, lift_difference

    workload = None
    if args.workload:
        from loom.store.workload import load_workload

        workload = load_workload(args.workload)
    source = load_source(args.native, read_bytes(args.native), args.target)
    kernel = args.kernel or (workload.kernel if workload is not None else None)
    options = LiftOptions(relax=args.relax, drop_dead_code=args.drop_dead_code, names=not args.no_names)
    if workload is not None:
        names = tuple(argument.name for argument in workload.shape().arguments)
        options = dataclasses.replace(options, launch=workload.shape().launch, argument_names=names)
    lifted = lift(source.code_object, kernel, options)
    text = print_module(lifted.module)
    write_output(args.output, text)
    if args.verify and args.relax is None:
        difference = lift_difference(lifted, text)
        if difference is not None:
            print(f"the lifted kernel does not emit the original bytes: {difference}", file=sys.stderr)
            return int(ExitCode.EVIDENCE_FAILED)
    return int(ExitCode.SUCCESS)
