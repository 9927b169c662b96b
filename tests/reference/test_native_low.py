"""Lifted native kernels give the same bits on the interpreter as their machine code on the simulator."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import loom.target
from loom.device.amdgpu_sim import SimulatorDevice, open_simulator
from loom.device.protocol import Completed
from loom.raising.lift import LiftOptions, lift
from loom.reference.execution import Geometry, Interpreter, TargetFacts
from loom.reference.launch import Memory, launch

NATIVE = Path(__file__).resolve().parents[1] / "native"
BYTES = 65536
#: Kernels of many thousand executed instructions: seconds each on the interpreter.
SLOW = ("sgemm64", "sgemm_pipe_asm", "matmul")

with open(NATIVE / "index.tsv") as stream:
    ROWS = list(csv.DictReader(stream, delimiter="\t"))


@pytest.fixture(scope="module")
def simulator() -> Iterator[SimulatorDevice]:
    loom.target.register_targets()
    device = open_simulator()
    yield device
    device.close()


def contents(kernel: str, generator: np.random.Generator) -> bytes:
    """Normal floats, or small positive integers where a kernel takes values for lane numbers."""
    if any(word in kernel for word in ("i32", "lanes", "perm")):
        return generator.integers(0, 1 << 30, BYTES // 4).astype(np.int32).tobytes()
    return generator.normal(size=BYTES // 4).astype(np.float32).tobytes()


@pytest.mark.parametrize(
    "row",
    [pytest.param(r, marks=[pytest.mark.full] if r["kernel"] in SLOW else []) for r in ROWS],
    ids=[f"{r['arch']}-{r['producer']}-{r['kernel']}" for r in ROWS],
)
def test_same_bits(row: dict[str, str], simulator: SimulatorDevice) -> None:
    data = (NATIVE / row["file"]).read_bytes()
    name = row["kernel"]
    module = lift(data, name, LiftOptions()).module
    kernel = next(op for op in module.operations if op.name == "low.kernel.def")
    executable = simulator.load(data)
    info = executable.kernels[name]
    block = re.search(r"block=\[?([\d, ]+)\]?", row["launch"])
    assert block is not None
    words = [int(word) for word in block.group(1).replace(",", " ").split()]
    x, y, z = [*words, 1, 1][:3]
    size = (x, y, z)
    generator = np.random.default_rng(1)
    kernarg = bytearray(info.kernarg_size)
    buffers, memories, arguments, before = [], [], [], []
    for argument in info.arguments:
        if argument.kind.startswith("hidden"):
            continue
        if argument.kind == "global_buffer":
            raw = contents(name, generator)
            buffer = simulator.allocate(BYTES)
            simulator.write(buffer, raw)
            buffers.append(buffer)
            before.append(raw)
            memories.append(Memory(np.frombuffer(raw, np.uint8).copy(), 0, BYTES, argument.name))
            arguments.append(memories[-1])
            kernarg[argument.offset : argument.offset + 8] = buffer.address.to_bytes(8, "little")
        else:
            # Every size is 64; the factor of saxpy, its first scalar, is 2.0.
            factor = "saxpy" in name and not any(isinstance(a, int) for a in arguments)
            value = 0x40000000 if factor else 64
            arguments.append(value)
            kernarg[argument.offset : argument.offset + argument.size] = value.to_bytes(argument.size, "little")
    dynamic = 8192 if "dyn" in row["lds"] else 0
    outcome = simulator.launch(executable, name, (1, 1, 1), size, bytes(kernarg), dynamic)
    assert isinstance(outcome, Completed)
    interpreter = Interpreter(module, target=TargetFacts(info.wave_size))
    launch(interpreter, kernel, [], arguments, Geometry((1, 1, 1), size, dynamic))
    after = [simulator.read(buffer) for buffer in buffers]
    for memory, raw in zip(memories, after, strict=True):
        assert memory.data.tobytes() == raw
    assert after != before
    for buffer in buffers:
        simulator.free(buffer)
