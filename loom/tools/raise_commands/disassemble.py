"""``loom-raise disassemble``: a code object to assembly text."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from loom.diagnostics import ExitCode
from loom.tools.common import print_json, read_bytes, write_output

if TYPE_CHECKING:
    from loom.target.amdgpu.code_object import CodeObject

HELP = """Print a code object as assembly text that assembles to the same code, descriptors and metadata.

FILE is an ELF code object, an offload bundle or a fat binary; with several processors in it, --target chooses one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("file", metavar="FILE", help="code object, offload bundle or fat binary, - for stdin")
    parser.add_argument("--kernel", metavar="K", help="only this kernel")
    parser.add_argument("--target", metavar="PROCESSOR", help="processor, where the file has code for several")
    parser.add_argument("--output", "-o", metavar="FILE", help="where the text goes (default: stdout)")
    parser.add_argument("--no-addresses", action="store_true", help="leave out offsets and encoded words")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _document(name: str, code_object: CodeObject, kernel: str | None) -> dict[str, Any]:
    from loom.target.amdgpu.decoder import decode_program
    from loom.target.amdgpu.printer import print_instruction

    kernels = []
    for item in code_object.kernels if kernel is None else (code_object.kernel(kernel),):
        program = decode_program(code_object, item.name)
        rows = [
            {
                "pc": instruction.pc,
                "bytes": item.code[instruction.pc : instruction.pc + instruction.size].hex(),
                "text": print_instruction(instruction),
                "mnemonic": instruction.mnemonic,
                "form": instruction.form,
                "block": block.label,
            }
            for block in program.blocks
            for instruction in block.instructions
        ]
        kernels.append(
            {"kernel": item.name, "wave_size": item.wave_size, "code_bytes": len(item.code), "instructions": rows}
        )
    return {"file": name, "processor": code_object.processor, "target": code_object.target_id, "kernels": kernels}


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.target.amdgpu.code_object import read
    from loom.target.amdgpu.listing import print_code_object

    code_object = read(read_bytes(args.file), args.target)
    if args.json:
        print_json(_document(args.file, code_object, args.kernel), args.output)
    else:
        write_output(args.output, print_code_object(code_object, args.kernel, addresses=not args.no_addresses))
    return int(ExitCode.SUCCESS)
