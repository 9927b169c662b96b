"""``loom-raise verify``: decode and re-encode code objects, or lift and emit them, and compare the bytes."""

from __future__ import annotations

import argparse
from typing import Any

from loom.diagnostics import ExitCode, LoomError
from loom.tools.common import Progress, print_json, read_bytes

HELP = """Decode every kernel of code objects, encode it again, and compare the bytes.

With --lift also lift it to Low, print and read the text, emit it, and compare bytes and kernel descriptor. Exit code 1:
a kernel differs or is refused."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="code objects, offload bundles, fat binaries")
    parser.add_argument("--lift", action="store_true", help="also lift every kernel and emit it again")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def reencode_status(code_object: Any, kernel: str) -> dict[str, Any]:
    """Number of instructions of a kernel, and whether its encoded instructions are the bytes that were decoded."""
    from loom.target.amdgpu.decoder import decode_program
    from loom.target.amdgpu.encoder import encode

    try:
        program = decode_program(code_object, kernel)
        count = sum(1 for _ in program.instructions())
        code = encode(program)
    except LoomError as failure:
        first = failure.diagnostics[0]
        return {"instructions": None, "reencoded_identical": False, "reason": f"{first.message} [{first.code}]"}
    original = code_object.kernel(kernel).code
    if code == original:
        return {"instructions": count, "reencoded_identical": True, "reason": None}
    at = next(
        (i for i, (a, b) in enumerate(zip(original, code, strict=False)) if a != b), min(len(original), len(code))
    )
    place = next((i for i in program.instructions() if i.pc <= at < i.pc + i.size), None)
    where = f", in {place.mnemonic} at pc {place.pc:#x}" if place is not None else ""
    return {"instructions": count, "reencoded_identical": False, "reason": f"byte {at:#x} differs{where}"}


def _file_rows(name: str, lifting: bool) -> list[dict[str, Any]]:
    from loom.target.amdgpu.code_object import read_all, write

    data = read_bytes(name)
    found = read_all(data)
    rows = []
    for code_object in found:
        # One object is taken as it is; those of a container are written out to stand for themselves.
        alone = data if len(found) == 1 and data[:4] == b"\x7fELF" else write(code_object)
        for kernel in code_object.kernels:
            row: dict[str, Any] = {"file": name, "kernel": kernel.name}
            row.update(reencode_status(code_object, kernel.name))
            if lifting:
                from loom.raising.lift import lift_status

                status = lift_status(alone, kernel.name)
                row["lifted_identical"] = status["lifted_identical"]
                row["reason"] = row["reason"] or status["reason"]
            rows.append(row)
    return rows


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    rows: list[dict[str, Any]] = []
    with Progress(len(args.files), "verify") as progress:
        for done, name in enumerate(args.files):
            progress.update(done, name)
            rows.extend(_file_rows(name, args.lift))
    good = [row for row in rows if row["reencoded_identical"] and row.get("lifted_identical", True)]
    if args.json:
        print_json({"kernels": rows})
    else:
        for row in rows:
            if row not in good:
                print(f"{row['file']} {row['kernel']}: {row['reason']}")
        what = "re-encoded and lifted" if args.lift else "re-encoded"
        print(f"{len(good)} of {len(rows)} kernels {what} identically")
    return int(ExitCode.SUCCESS if len(good) == len(rows) else ExitCode.EVIDENCE_FAILED)
