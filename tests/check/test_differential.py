"""Random kernels give the same results on the reference interpreter and, compiled, on the simulator."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import loom.target
from loom.check.device_executor import DeviceExecutor
from loom.check.executor import RunOptions
from loom.check.tensor import Tensor, from_values
from loom.device.amdgpu_sim import SimulatorDevice, open_simulator
from loom.diagnostics import LoomError
from loom.reference.execution import Geometry, Interpreter
from loom.reference.formats import FORMATS
from loom.reference.launch import Memory, launch
from loom.text import parse_module
from tests.check.random_builder import TOTAL
from tests.check.random_builder import Step as NestedStep
from tests.check.random_kernels import LANES, Step, kernel_text, programs
from tests.check.random_programs import REALS_OUT, random_program, text

#: Kernels compiled together, one hypothesis example.
BATCH = 25
#: Examples of a run: 2,000 kernels where CI asks for everything, 100 otherwise.
EXAMPLES = 80 if os.environ.get("LOOM_TEST_FULL") == "1" or os.environ.get("LOOM_REQUIRE_ORACLES") == "1" else 4
GEOMETRY = Geometry((1, 1, 1), (LANES, 1, 1))


@pytest.fixture(scope="module")
def simulator() -> Iterator[SimulatorDevice]:
    loom.target.register_targets()
    device = open_simulator()
    yield device
    device.close()


def inputs() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(12)
    words = generator.integers(-(2**31), 2**31, (2, LANES)).astype(np.int32)
    words[0, :8] = [0, 1, -1, 2**31 - 1, -(2**31), 5, -7, 255]
    words[1, :8] = [3, 0, -1, -(2**31), 2**31 - 1, 31, 32, -255]
    reals = (generator.normal(size=(2, LANES)) * np.exp2(generator.integers(-9, 9, (2, LANES)))).astype(np.float32)
    reals[0, :8] = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-41, 2.5]
    reals[1, :8] = [-0.0, 0.0, np.nan, 1.0, np.inf, 2.0, -3e38, 0.5]
    return words, reals


WORDS, REALS = inputs()


def tensors() -> list[Tensor]:
    i32, f32 = FORMATS["i32"], FORMATS["f32"]
    return [
        from_values(WORDS, i32, "words"),
        from_values(REALS, f32, "reals"),
        from_values(np.full(LANES, -1, np.int32), i32, "word_out"),
        from_values(np.full(LANES, -1.0, np.float32), f32, "real_out"),
    ]


def same(actual: Tensor, expected: Tensor) -> np.ndarray:
    """Equal bits, or both NaN."""
    bits = actual.bytes.view(np.uint32) == expected.bytes.view(np.uint32)
    if actual.form.is_float:
        bits |= np.isnan(actual.values) & np.isnan(expected.values)
    return bits


Difference = tuple[int, str]


def differences(simulator: SimulatorDevice, batch: Sequence[Sequence[Step]]) -> list[Difference]:
    """Run a batch on both sides; for each kernel that differs its number and what differs first."""
    text = "\n".join(kernel_text(f"k{place}", program) for place, program in enumerate(batch))
    module = parse_module(text, "random.loom")
    executor = DeviceExecutor(module, RunOptions(), simulator)
    executor.compile_all()
    found: list[Difference] = []
    for place in range(len(batch)):
        kernel = module.symbol(f"k{place}")
        assert kernel is not None
        expected, actual = tensors(), tensors()
        memories = [Memory(t.storage.data, 0, t.size, t.name) for t in expected]
        launch(Interpreter(module), kernel, [], memories)
        assert all(memory.poison[0] is None for memory in memories), "the reference found an undefined value"
        parameters = [parameter.type for parameter in kernel.region("body").blocks[0].arguments]
        try:
            executor.run(executor.compiled[f"k{place}"], GEOMETRY, actual, parameters, kernel)
        except LoomError as failure:
            found.append((place, str(failure)))
            continue
        for a, e in zip(actual[2:], expected[2:], strict=True):
            agree = same(a, e)
            if not agree.all():
                lane = int(np.argmin(agree))
                message = f"{a.name}, lane {lane}: compiled {a.values[lane]}, reference {e.values[lane]}"
                found.append((place, message))
                break
    return found


def smaller(simulator: SimulatorDevice, program: Sequence[Step]) -> list[Step]:
    """A program that still differs with every step it has left."""
    kept = list(program)
    place = 0
    while place < len(kept) and len(kept) > 1:
        candidate = kept[:place] + kept[place + 1 :]
        if differences(simulator, [candidate]):
            kept = candidate
        else:
            place += 1
    return kept


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(batch=st.lists(programs, min_size=BATCH, max_size=BATCH))
def test_random_kernels_agree(simulator: SimulatorDevice, batch: list[list[Step]]) -> None:
    found = differences(simulator, batch)
    if found:
        place, message = found[0]
        kernel = kernel_text("k", smaller(simulator, batch[place]))
        pytest.fail(f"{len(found)} of {len(batch)} kernels differ; the first in {message}\n{kernel}", pytrace=False)


#: Nested programs of a run, and the sizes of their workgroups: whole waves, and a last wave that is not full.
PROGRAMS = 120 if EXAMPLES > 4 else 12
SIZES = (64, 32, 50, 33, 128)
HEAD = "amdgpu.target<gfx11-generic> @t {{subgroup_size = {wave}}}\n"


def program_inputs() -> list[np.ndarray]:
    generator = np.random.default_rng(12)
    words = generator.integers(-(2**31), 2**31, (2, TOTAL)).astype(np.int32)
    words[:, : LANES // 8] = WORDS[:, : LANES // 8]
    words[0, 64:80], words[1, 40:60] = np.arange(16) - 4, np.arange(20)
    reals = (generator.normal(size=(2, TOTAL)) * np.exp2(generator.integers(-9, 9, (2, TOTAL)))).astype(np.float32)
    reals[:, : LANES // 8] = REALS[:, : LANES // 8]
    return [words, reals, generator.normal(size=2 * TOTAL).astype(np.float16)]


def program_tensors() -> list[Tensor]:
    words, reals, short = program_inputs()
    outputs = [(TOTAL,), "i32", np.int32], [(REALS_OUT, TOTAL), "f64", np.float64], [(TOTAL, 4), "i32", np.int32]
    return [
        from_values(words, FORMATS["i32"], "words"),
        from_values(reals, FORMATS["f32"], "reals"),
        from_values(short, FORMATS["f16"], "short"),
        *(from_values(np.full(s, -1, t), FORMATS[f], f"out_{n}") for n, (s, f, t) in enumerate(outputs)),
    ]


def program_difference(simulator: SimulatorDevice, program: Sequence[NestedStep], size: int, wave: int) -> str | None:
    """What differs first between the two sides, or None."""
    module = parse_module(HEAD.format(wave=wave) + text("k", program, size, "t"), "random.loom")
    kernel = module.symbol("k")
    assert kernel is not None
    expected, actual = program_tensors(), program_tensors()
    memories = [Memory(t.storage.data, 0, t.size, t.name) for t in expected]
    launch(Interpreter(module), kernel, [], memories)
    assert all(memory.poison[0] is None for memory in memories), "the reference found an undefined value"
    executor = DeviceExecutor(module, RunOptions(), simulator)
    executor.compile_all()
    parameters = [parameter.type for parameter in kernel.region("body").blocks[0].arguments]
    geometry = Geometry((TOTAL // size, 1, 1), (size, 1, 1))
    executor.run(executor.compiled["k"], geometry, actual, parameters, kernel)
    for a, e in zip(actual[3:], expected[3:], strict=True):
        agree = (a.values == e.values) & (np.signbit(a.values) == np.signbit(e.values))
        if a.form.is_float:
            agree |= np.isnan(a.values) & np.isnan(e.values)
        if not agree.all():
            place = int(np.argmin(agree))
            return f"{a.name}[{place}]: compiled {a.values.ravel()[place]}, reference {e.values.ravel()[place]}"
    return None


@pytest.mark.parametrize("part", range(2))
def test_nested_programs_agree(simulator: SimulatorDevice, part: int) -> None:
    generator = random.Random(20_000 + part)
    for number in range(PROGRAMS // 2):
        program = random_program(generator)
        size, wave = generator.choice(SIZES), generator.choice((32, 32, 64))
        found = program_difference(simulator, program, size, wave)
        if found is not None:
            source = HEAD.format(wave=wave) + text("k", program, size, "t")
            pytest.fail(f"program {number} of part {part}, {size} workitems: {found}\n{source}", pytrace=False)
