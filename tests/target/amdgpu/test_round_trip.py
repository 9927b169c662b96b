"""Every kernel under tests/native: bytes, text and code objects survive the trip through this tool."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loom.target.amdgpu import code_object
from loom.target.amdgpu.assembler import assemble
from loom.target.amdgpu.decoder import decode_program
from loom.target.amdgpu.encoder import encode
from loom.target.amdgpu.listing import print_code_object
from loom.target.amdgpu.machine import BranchTarget
from loom.target.amdgpu.printer import print_instruction
from loom.target.amdgpu.tables.generate import llvm

NATIVE = Path(__file__).resolve().parents[2] / "native"
INDEX = list(csv.DictReader((NATIVE / "index.tsv").open(encoding="utf-8"), delimiter="\t"))
OBJECTS = sorted({row["file"] for row in INDEX})
SOURCES = sorted(NATIVE.glob("asm/*/*.s"))


@pytest.mark.parametrize("row", INDEX, ids=[f"{r['file']}:{r['kernel']}" for r in INDEX])
def test_decode_and_encode_give_the_bytes(row: dict[str, str]) -> None:
    found = code_object.read((NATIVE / row["file"]).read_bytes())
    program = decode_program(found, row["kernel"])
    kernel = found.kernel(row["kernel"])
    assert encode(program) == kernel.code
    assert len(kernel.code) == int(row["code_bytes"])
    # The index counts what llvm-objdump lists for the symbol.
    assert sum(1 for _ in program.instructions()) == int(row["insts"])


def test_text_is_llvms(oracle: Callable[[str], str]) -> None:
    oracle("llvm-mc-22")
    total = 0
    for name in OBJECTS:
        found = code_object.read((NATIVE / name).read_bytes())
        for kernel in found.kernels:
            instructions = list(decode_program(found, kernel.name).instructions())
            words = [kernel.code[i.pc : i.pc + i.size] for i in instructions]
            answers = llvm.decode(found.processor, kernel.generation, words)
            for instruction, answer in zip(instructions, answers, strict=True):
                end = instruction.pc + instruction.size

                def distance(target: BranchTarget, end: int = end) -> str:
                    return str((target.offset - end) // 4 & 0xFFFF)

                assert answer is not None
                assert print_instruction(instruction, labels=distance) == answer.text
                total += 1
    assert total == sum(int(row["insts"]) for row in INDEX)


@pytest.mark.parametrize("name", OBJECTS)
def test_written_then_read_is_equal(name: str) -> None:
    found = code_object.with_entry_offsets(code_object.read((NATIVE / name).read_bytes()))
    assert code_object.read(code_object.write(found)) == found


@pytest.mark.parametrize("name", OBJECTS)
def test_llvm_accepts_what_is_written(name: str, oracle: Callable[[str], str], tmp_path: Path) -> None:
    readobj, objdump = oracle("llvm-readobj-22"), oracle("llvm-objdump-22")
    original = NATIVE / name
    written = tmp_path / "written.hsaco"
    written.write_bytes(code_object.write(code_object.read(original.read_bytes())))
    read = subprocess.run(
        [readobj, "-h", "-S", "-l", "-d", "--dyn-syms", "--notes", "--hash-table", str(written)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert read.returncode == 0 and not read.stderr, read.stderr

    def listing(path: Path) -> list[str]:
        done = subprocess.run(
            [objdump, "-d", "--no-addresses", "--no-show-raw-insn", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert not done.stderr
        return [line.split("//")[0].strip() for line in done.stdout.split("\n") if line.startswith("\t")]

    assert listing(written) == listing(original)


@pytest.mark.parametrize("source", SOURCES, ids=[s.stem for s in SOURCES])
def test_hand_written_sources_assemble_to_their_objects(source: Path) -> None:
    made = assemble(source.read_text(encoding="utf-8"), str(source))
    expected = code_object.read(source.with_suffix(".hsaco").read_bytes())
    assert made.text == expected.text
    assert made.metadata == expected.metadata
    for ours, theirs in zip(made.kernels, expected.kernels, strict=True):
        assert ours.name == theirs.name
        assert ours.code == theirs.code
        assert ours.metadata == theirs.metadata
        assert replace(ours.descriptor, code_entry_offset=0) == replace(theirs.descriptor, code_entry_offset=0)


@pytest.mark.parametrize("name", OBJECTS)
def test_disassembly_assembles_again(name: str) -> None:
    found = code_object.read((NATIVE / name).read_bytes())
    again = assemble(print_code_object(found), name)
    assert (again.processor, again.metadata) == (found.processor, found.metadata)
    for ours, theirs in zip(again.kernels, found.kernels, strict=True):
        assert (ours.name, ours.code, ours.metadata) == (theirs.name, theirs.code, theirs.metadata)
        # RDNA ignores the scalar register count of the descriptor; old compilers set it, no directive can.
        mask = ~(0xF << 6) if theirs.generation != "gfx9.4" else -1
        assert ours.descriptor.compute_pgm_rsrc1 & mask == theirs.descriptor.compute_pgm_rsrc1 & mask
        same = {"code_entry_offset": 0, "compute_pgm_rsrc1": 0}
        assert replace(ours.descriptor, **same) == replace(theirs.descriptor, **same)


def test_triton_keeps_its_dont_care_bits() -> None:
    found = code_object.read((NATIVE / "triton/gfx1100/matmul_f16_64x64x32.hsaco").read_bytes())
    program = decode_program(found)
    kept = [i for i in program.instructions() if i.raw]
    assert len(kept) > 20  # its LLVM writes 0x80 in unused source fields
    for instruction in kept:
        instruction.raw = 0
    assert encode(program) != found.kernel().code
