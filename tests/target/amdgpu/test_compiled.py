"""Whatever clang compiles, for processors of all three generations, decodes and encodes to the same bytes and prints as LLVM prints it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from loom.target.amdgpu import code_object
from loom.target.amdgpu.decoder import decode_program
from loom.target.amdgpu.encoder import encode
from loom.target.amdgpu.machine import BranchTarget
from loom.target.amdgpu.printer import print_instruction
from loom.target.amdgpu.tables.generate import llvm

SOURCES = sorted((Path(__file__).resolve().parents[2] / "native/clang/src").glob("*.cl"))
PROCESSORS = ("gfx1103", "gfx1151", "gfx11-generic", "gfx1200", "gfx12-generic", "gfx942", "gfx950", "gfx9-4-generic")
FLAGS = {"O0": (), "O3": (), "wave64": ("-mwavefrontsize64",)}


@pytest.mark.parametrize("processor", PROCESSORS)
def test_compiled_code_survives(processor: str, oracle: Callable[[str], str], tmp_path: Path) -> None:
    clang = oracle("clang-22")
    oracle("ld.lld-22")
    kernels = 0
    sample: list[tuple[str, bytes, str]] = []
    for source in SOURCES:
        for name, extra in FLAGS.items():
            if name == "wave64" and processor.startswith("gfx9"):
                continue
            level = "-O0" if name == "O0" else "-O3"
            output = tmp_path / f"{source.stem}.{name}.hsaco"
            version = "6" if processor.endswith("generic") else "5"
            command = [
                clang,
                "-target",
                "amdgcn-amd-amdhsa",
                f"-mcpu={processor}",
                level,
                "-nogpulib",
                "-cl-std=CL2.0",
                *extra,
            ]
            done = subprocess.run(
                [
                    *command,
                    f"-mcode-object-version={version}",
                    "-fuse-ld=/usr/bin/ld.lld-22",
                    str(source),
                    "-o",
                    str(output),
                ],
                capture_output=True,
                check=False,
            )
            if done.returncode != 0:
                continue  # the source is for another generation (WMMA on CDNA, for example)
            found = code_object.read(output.read_bytes())
            assert found.processor == processor
            assert code_object.read(code_object.write(found)) == code_object.with_entry_offsets(found)
            for kernel in found.kernels:
                program = decode_program(found, kernel.name)
                assert encode(program) == kernel.code, (source, name, kernel.name)
                kernels += 1
                for instruction in program.instructions():
                    end = instruction.pc + instruction.size
                    text = print_instruction(instruction, labels=lambda target, end=end: _distance(target, end))
                    if kernel.wave_size == program.wave_size and name != "wave64":
                        sample.append((text, kernel.code[instruction.pc : end], found.processor))
    assert kernels >= 8
    generation = found.kernels[0].generation
    unique = list({code: text for text, code, _ in sample}.items())
    answers = llvm.decode(processor, generation, [code for code, _ in unique])
    for (code, text), answer in zip(unique, answers, strict=True):
        assert answer is not None, (code.hex(), text)
        assert answer.text == text


def _distance(target: BranchTarget, end: int) -> str:
    return str((target.offset - end) // 4 & 0xFFFF)
