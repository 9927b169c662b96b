"""LLVM's hazard recognizer as a test oracle: machine IR goes in, machine code with LLVM's no-ops and waits comes out."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from loom.target.amdgpu import elf
from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.processors import processor as find_processor
from loom.target.amdgpu.simulator.decode import decode_range


def registers(bank: str, index: int, units: int) -> str:
    """A register tuple in machine IR: ``$vgpr2_vgpr3``."""
    return "$" + "_".join(f"{bank}{n}" for n in range(index, index + units))


def function(name: str, blocks: Sequence[Sequence[str]], loops: Sequence[int] = ()) -> str:
    """Machine IR of a function of some blocks in a row; the blocks in ``loops`` may branch back to their beginning."""
    text = [f"---\nname: {name}\nbody: |"]
    for number, lines in enumerate(blocks):
        last = number == len(blocks) - 1
        after = [] if last else [f"%bb.{number + 1}"]
        again = [f"%bb.{number}"] if number in loops else []
        text.append(f"  bb.{number}:")
        if after or again:
            text.append(f"    successors: {', '.join([*after, *again])}")
        text += [f"    {line}" for line in lines]
        if again:
            text.append(f"    S_CBRANCH_SCC1 %bb.{number}, implicit $scc")
        if last:
            text.append("    S_ENDPGM 0")
    return "\n".join([*text, "...\n"])


def resolve(
    llc: str,
    processor: str,
    functions: Sequence[str],
    wave: int,
    start: str = "post-RA-hazard-rec",
    options: Sequence[str] = (),
) -> list[list[MachineInstruction]]:
    """Each function's code, up to its ``s_endpgm``, after LLVM's passes from ``start`` on.

    The functions must be named ``f0``, ``f1``, ….
    """
    names = [f"f{n}" for n in range(len(functions))]
    head = "--- |\n" + "".join(f"  define amdgpu_kernel void @{name}() {{ ret void }}\n" for name in names) + "...\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "x.mir").write_text(head + "".join(functions), encoding="utf-8")
        # Without XNACK: with it, LLVM also breaks up clauses of memory instructions that may be replayed.
        features = "-xnack" if processor.startswith("gfx9") else f"+wavefrontsize{wave}"
        subprocess.run(
            [llc, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={processor}", f"-mattr={features}", f"-start-before={start}",
             "-filetype=obj", *options, str(path / "x.mir"), "-o", str(path / "x.o")],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        data = (path / "x.o").read_bytes()
    return [_code(data, name, processor, wave) for name in names]


def _code(data: bytes, name: str, processor: str, wave: int) -> list[MachineInstruction]:
    file = elf.parse(data)
    symbol = next(s for s in file.symbols if s.name == name)
    text = file.sections[symbol.section].data
    end = symbol.value + symbol.size if symbol.size else len(text)
    code = decode_range(text, symbol.value, end - symbol.value, find_processor(processor), wave)
    last = next(n for n, i in enumerate(code) if i.row.mnemonic == "s_endpgm")
    return code[: last + 1]
