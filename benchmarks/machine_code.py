"""Rates of AMDGPU machine code: loading the tables, decoding, encoding, printing, assembling.

    python benchmarks/machine_code.py [--seconds S]

Code is that of tests/native (compiled and hand-written kernels) and, as the hard case, random instructions of every
encoding. Decoding keeps
words it has seen; ``cold`` starts each pass with an empty memory, ``warm`` does not. Encoding keeps nothing but tables.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from loom.target.amdgpu import code_object  # noqa: E402
from loom.target.amdgpu.assembler import assemble  # noqa: E402
from loom.target.amdgpu.decoder import Decoder, decode_list, decoder  # noqa: E402
from loom.target.amdgpu.encoder import encoder  # noqa: E402
from loom.target.amdgpu.listing import print_code_object  # noqa: E402
from loom.target.amdgpu.machine import BranchTarget, MachineInstruction  # noqa: E402
from loom.target.amdgpu.printer import print_instruction  # noqa: E402
from loom.target.amdgpu.processors import processor  # noqa: E402

PROCESSORS = {"gfx11": "gfx1100", "gfx12": "gfx1201", "gfx9.4": "gfx942"}


def rate(count: int, action: Callable[[], object], seconds: float) -> float:
    """Units per second: best of several runs of at least ``seconds`` together."""
    best = 0.0
    spent = 0.0
    gc.collect()
    while spent < seconds:
        started = time.perf_counter()
        action()
        elapsed = time.perf_counter() - started
        spent += elapsed
        best = max(best, count / elapsed)
    return best


def native_code(name: str) -> tuple[list[bytes], int]:
    """Code of every native kernel for a processor."""
    found = []
    for path in sorted((REPOSITORY / "tests/native").rglob("*.hsaco")):
        item = code_object.read(path.read_bytes())
        if item.processor == name:
            found += [kernel.code for kernel in item.kernels]
    wave = processor(name).wave_sizes[0]
    return found, sum(len(decode_list(code, name, wave)) for code in found)


def random_code(name: str) -> tuple[bytes, int]:
    """Random instructions of every encoding."""
    from tests.target.amdgpu.random_instructions import Generator

    generator = Generator(encoder(name, processor(name).wave_sizes[0]), seed=1)
    codes = []
    for compiled in generator.encodings():
        if compiled.form != "vopd":
            for _ in range(8):
                made = generator.instruction(compiled)
                if made is not None:
                    codes.append(made[1])
    return b"".join(codes), len(codes)


def measure(generation: str, seconds: float) -> dict[str, float]:
    """All rates of one generation, in instructions per second."""
    name = PROCESSORS[generation]
    wave = processor(name).wave_sizes[0]
    codes, count = native_code(name)
    result: dict[str, float] = {}
    shared = decoder(name, wave)

    def cold_native() -> None:
        shared._cache.clear()
        for code in codes:
            decode_list(code, name, wave)

    def warm_native() -> None:
        for code in codes:
            decode_list(code, name, wave)

    result["decode native, cold"] = rate(count, cold_native, seconds)
    result["decode native, warm"] = rate(count, warm_native, seconds)
    random_bytes, random_count = random_code(name)

    def cold_random() -> None:
        shared._cache.clear()
        decode_list(random_bytes, name, wave)

    result["decode random, cold"] = rate(random_count, cold_random, seconds)
    instructions = [_relative(i) for code in codes for i in decode_list(code, name, wave)]
    coder = encoder(name, wave)
    result["encode native"] = rate(len(instructions), lambda: [coder.encode(i) for i in instructions], seconds)
    randoms = [_relative(i) for i in decode_list(random_bytes, name, wave)]
    result["encode random"] = rate(len(randoms), lambda: [coder.encode(i) for i in randoms], seconds)
    result["print native"] = rate(len(instructions), lambda: [print_instruction(i) for i in instructions], seconds)
    texts = []
    for path in sorted((REPOSITORY / "tests/native").rglob("*.hsaco")):
        item = code_object.read(path.read_bytes())
        if item.processor == name:
            texts.append(print_code_object(item))
    result["assemble native"] = rate(count, lambda: [assemble(text) for text in texts], seconds)
    return result


def _relative(instruction: MachineInstruction) -> MachineInstruction:
    """Branch targets as the encoder wants them: relative to the next instruction."""
    end = instruction.pc + instruction.size
    instruction.operands = tuple(
        BranchTarget(None, operand.offset - end) if isinstance(operand, BranchTarget) else operand
        for operand in instruction.operands
    )
    return instruction


def table_load_seconds(generation: str) -> float:
    """Time to load a generation's table and be ready to decode its first instruction, in a fresh interpreter without
    imports."""
    name = PROCESSORS[generation]
    program = (
        "import time, json, pathlib, functools\n"
        "from loom.target.amdgpu.decoder import decoder\n"
        "from loom.target.amdgpu.tables import table\n"
        "a = time.perf_counter()\n"
        f"table({generation!r})\n"
        "b = time.perf_counter()\n"
        f"decoder({name!r}, {processor(name).wave_sizes[0]}).decode(bytes.fromhex('000080bf'), 0)\n"
        "print(b - a, time.perf_counter() - b)\n"
    )
    runs = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY
        )
        runs.append([float(word) for word in done.stdout.split()])
    return min(load + first for load, first in runs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=1.0, help="time spent on each figure")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    document: dict[str, dict[str, float]] = {}
    for generation in PROCESSORS:
        document[generation] = {
            "load table, s": table_load_seconds(generation),
            **measure(generation, arguments.seconds),
        }
    if arguments.json:
        print(json.dumps(document, indent=2))
        return 0
    for generation, figures in document.items():
        print(generation)
        for name, value in figures.items():
            print(
                f"  {name:<24} {value:12.3f} s"
                if name.endswith(", s")
                else f"  {name:<24} {value:12,.0f} instructions/s"
            )
    return 0


__all__ = ["Decoder", "main"]

if __name__ == "__main__":
    raise SystemExit(main())
