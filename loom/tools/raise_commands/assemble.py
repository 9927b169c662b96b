"""``loom-raise assemble``: assembly text to a code object."""

from __future__ import annotations

import argparse
from pathlib import PurePath

from loom.diagnostics import ExitCode
from loom.tools.common import print_json, read_text, write_output

HELP = """Assemble a file in LLVM's AMDGPU assembly language to a code object, without LLVM.

The processor is that of .amdgcn_target, or of --target. The output is FILE with the suffix .hsaco unless --output says
otherwise."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("file", metavar="FILE.s", help="assembly source, - for stdin")
    parser.add_argument("--output", "-o", metavar="FILE", help="where the code object goes, - for stdout")
    parser.add_argument("--target", metavar="PROCESSOR", help="processor, for sources without .amdgcn_target")
    parser.add_argument(
        "--wave-size", type=int, choices=(32, 64), help="lanes of a wave (default: what the source says)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document about what was written")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.target.amdgpu.assembler import assemble
    from loom.target.amdgpu.code_object import write

    source = read_text(args.file)
    code_object = assemble(source, args.file, args.target, args.wave_size)
    output = args.output or ("-" if args.file == "-" else str(PurePath(args.file).with_suffix(".hsaco")))
    data = write(code_object)
    write_output(output, data)
    if args.json and output != "-":
        kernels = [{"kernel": item.name, "code_bytes": len(item.code)} for item in code_object.kernels]
        print_json({"output": output, "processor": code_object.processor, "bytes": len(data), "kernels": kernels})
    return int(ExitCode.SUCCESS)
