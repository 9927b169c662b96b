"""Kernels that clang compiled at -O0 and -O2 in both wave sizes, and for gfx12: lifted, emitted, run against NumPy."""

import numpy as np
import pytest

import loom
from loom.device.amdgpu_sim import SimulatorDevice
from loom.diagnostics import LoomError
from loom.raising.lift import LiftOptions, lift, lift_difference
from loom.target.amdgpu.compile import CompileOptions, compile_module
from tests.target.amdgpu.simulator.extra_suite import CASES
from tests.target.amdgpu.simulator.native_suite import NATIVE, check

#: Kernels that are refused, with what the refusal names: targets of calls kept in lanes, calls in place of a return,
#: addresses of data.
REFUSED = {
    ("calls", ".O0."): "s_swappc_b64",
    ("calls", ".O2."): "s_setpc_b64",
    ("generic_pointer", ".O0."): "s_getpc_b64",
    ("op_scalar_32", "-ops."): "s_call_b64",
}


def refused(case):
    return next((what for (kernel, part), what in REFUSED.items() if kernel == case.kernel and part in case.file), None)


@pytest.fixture(scope="module")
def device():
    opened = SimulatorDevice(threads=1)  # one order of the work-groups' atomics
    yield opened
    opened.close()


def run(device, case, relax):
    data = (NATIVE / case.file).read_bytes()
    lifted = lift(data, case.kernel, LiftOptions(relax=relax))
    text = loom.print_module(lifted.module)
    module = loom.parse(text, "lifted.loom")
    loom.verify(module)
    size = (*case.make(case.sizes[0], np.random.default_rng(0)).size, 1, 1)[:3]
    module.symbol(lifted.kernel.symbol).attributes.setdefault("workgroup_size", size)
    executable = device.load(compile_module(module, CompileOptions(pipeline="none")).code_object)
    for n in case.sizes:
        check(device, case, n, executable)


def named(case):
    return case.name.removeprefix("extra/").replace(".hsaco", "")


@pytest.mark.parametrize("case", [c for c in CASES if refused(c) is None], ids=named)
def test_emits_the_original_bytes(case):
    lifted = lift((NATIVE / case.file).read_bytes(), case.kernel)
    assert lift_difference(lifted, loom.print_module(lifted.module)) is None


@pytest.mark.parametrize("case", [c for c in CASES if refused(c) is not None], ids=named)
def test_refusals_name_the_instruction_and_its_place(case):
    with pytest.raises(LoomError) as caught:
        lift((NATIVE / case.file).read_bytes(), case.kernel)
    first = caught.value.diagnostics[0]
    assert first.code == "LIFT/002" and first.hint
    assert f"kernel '{case.kernel}' cannot be lifted: {refused(case)} at pc " in first.message


QUICK = ("gfx1100-w64.O2", "gfx1100-w32.O0")


@pytest.mark.parametrize(
    "case", [c for c in CASES if refused(c) is None and any(q in c.file for q in QUICK)], ids=named
)
def test_computes_what_numpy_computes(device, case):
    run(device, case, None)


@pytest.mark.full
@pytest.mark.parametrize("case", [c for c in CASES if refused(c) is None], ids=named)
def test_everything_everywhere(device, case):
    run(device, case, None)


@pytest.mark.full
def test_a_kernel_of_28017_instructions():
    data = (NATIVE.parents[1] / "benchmarks/kernels/matmul_f32_128x128x64.hsaco").read_bytes()
    lifted = lift(data)
    assert lifted.instructions == 28017  # lines of llvm-objdump
    assert lift_difference(lifted, loom.print_module(lifted.module)) is None
