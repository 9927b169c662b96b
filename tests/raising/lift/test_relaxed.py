"""Every kernel of tests/native with its registers, then its order, given to the backend: the results stay NumPy's."""

import numpy as np
import pytest

import loom
from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Completed
from loom.diagnostics import LoomError
from loom.raising.lift import LiftOptions, lift
from loom.target.amdgpu.code_object import read
from loom.target.amdgpu.compile import CompileOptions, compile_module
from tests.target.amdgpu.simulator.extra_suite import CASES as EXTRA
from tests.target.amdgpu.simulator.native_suite import CASES, NATIVE, Launch, check
from tests.target.amdgpu.simulator.native_suite import run as launched

EVERY = [*CASES, *EXTRA]
#: What no relaxed kernel can do: read data at an address computed from the program counter, find registers by number,
#: exchange the halves of one register.
REFUSALS = {
    ("extra/gfx1100-w32.O0.hsaco", "generic_pointer"): "s_load_b64 at pc -0x640: it uses an address computed from the",
    ("extra/gfx1100-w64.O0.hsaco", "generic_pointer"): "s_load_b64 at pc -0x65c: it uses an address computed from the",
    ("extra/gfx1100-ops.hsaco", "op_vector_32"): "v_movrels_b32 finds its register by a number in M0",
    ("extra/gfx1100-ops.hsaco", "op_vector_16"): "v_swap_b16 exchanges the halves of one register",
    ("extra/gfx1100-ops.hsaco", "op_scalar_32"): "s_movrels_b32 finds its register by a number in M0",
    ("extra/gfx1100-ops.hsaco", "op_scalar_64"): "s_movrels_b64 finds its register by a number in M0",
}
RELAXED = [c for c in EVERY if (c.file, c.kernel) not in REFUSALS]


#: Matrix kernels without a reference of their own, with buffers A, B, C, for sparse ones an index, and the number of
#: steps: what they compute must be what the native kernel computes.
MATRIX = [
    *(("extra/gfx1201-mma.O2.hsaco", name, 32) for name in ("wmma_bf16", "wmma_fp8", "swmmac_f16", "wmma_iu8")),
    *(
        ("extra/gfx942-mma.O2.hsaco", name, 64)
        for name in ("mfma_f32", "mfma_f64", "mfma_bf16", "mfma_i8", "mfma_fp8", "smfmac_f16")
    ),
    *(("extra/gfx950-mma.O2.hsaco", name, 64) for name in ("mfma_fp8", "smfmac_f16")),
]


def test_no_kernel_is_left_out():
    kernels = {
        (path.relative_to(NATIVE).as_posix(), kernel.name)
        for path in NATIVE.rglob("*.hsaco")
        for kernel in read(path.read_bytes()).kernels
    }
    tested = {(c.file, c.kernel) for c in RELAXED} | {(file, name) for file, name, _ in MATRIX}
    assert tested | set(REFUSALS) == kernels
    assert (len(kernels), len(tested), len(REFUSALS)) == (214, 208, 6)


@pytest.fixture(scope="module")
def device():
    opened = SimulatorDevice(threads=1)  # one order of the work-groups' atomics
    yield opened
    opened.close()


def relaxed(file, kernel, what):
    return lift((NATIVE / file).read_bytes(), kernel, LiftOptions(relax=what))


def emitted(file, kernel, what, size):
    lifted = relaxed(file, kernel, what)
    module = loom.parse(loom.print_module(lifted.module), "relaxed.loom")
    loom.verify(module)
    module.symbol(lifted.kernel.symbol).attributes.setdefault("workgroup_size", size)
    return compile_module(module, CompileOptions(pipeline="none", check=True)).code_object


def run(device, case, what, sizes):
    size = (*case.make(case.sizes[0], np.random.default_rng(0)).size, 1, 1)[:3]
    executable = device.load(emitted(case.file, case.kernel, what, size))
    for n in sizes:
        check(device, case, n, executable)


def named(case):
    return case.name.replace(".hsaco", "")


@pytest.mark.parametrize("what", ["allocation", "schedule"])
@pytest.mark.parametrize("case", RELAXED, ids=named)
def test_computes_what_numpy_computes(device, case, what):
    run(device, case, what, case.sizes[-1:])


@pytest.mark.full
@pytest.mark.parametrize("what", ["allocation", "schedule"])
@pytest.mark.parametrize("case", RELAXED, ids=named)
def test_at_every_size(device, case, what):
    run(device, case, what, case.sizes)


@pytest.mark.parametrize("what", ["allocation", "schedule"])
@pytest.mark.parametrize(("file", "kernel", "lanes"), MATRIX)
def test_matrix_kernels_compute_what_they_compute_natively(device, file, kernel, lanes, what):
    rng = np.random.default_rng(7)
    # Bytes below 0x40 are moderate numbers in every format, whatever its width.
    a, b, index = (rng.integers(0, 0x40, 3 * lanes * 32, dtype=np.uint8) for _ in range(3))
    result = np.zeros(lanes * 32, np.uint8)
    sparse = [index] if kernel.startswith(("swmmac", "smfmac")) else []
    launch = Launch([a, b, result, *sparse, np.uint32(3)], (1,), (lanes,), {})
    native = device.load((NATIVE / file).read_bytes())
    outcomes = []
    for code in (native, device.load(emitted(file, kernel, what, (lanes, 1, 1)))):
        outcome, buffers = launched(device, code, kernel, launch)
        assert isinstance(outcome, Completed), outcome
        outcomes.append(buffers[2])
    assert outcomes[0].any()
    np.testing.assert_array_equal(outcomes[0], outcomes[1])


@pytest.mark.parametrize("what", ["allocation", "schedule"])
@pytest.mark.parametrize(("file", "kernel"), REFUSALS)
def test_what_depends_on_its_place_is_refused(file, kernel, what):
    with pytest.raises(LoomError) as caught:
        relaxed(file, kernel, what)
    first = caught.value.diagnostics[0]
    assert first.code == "LIFT/011" and first.hint
    assert f"{kernel} cannot be relaxed: {REFUSALS[file, kernel]}" in first.message.replace("'", "")


@pytest.mark.parametrize("case", [c for c in EVERY if c.kernel == "calls"], ids=named)
def test_every_call_gets_a_copy_of_its_function(case):
    """`twice` calls `mix` and then goes on to it in place of returning: two copies of mix, whose constant appears in
    each; the kernel itself calls twice once."""
    text = loom.print_module(relaxed(case.file, case.kernel, "allocation").module)
    assert text.count("2654435761") + text.count("0x9e3779b1") == 2
    for gone in ("s_getpc", "s_swappc", "s_setpc", "s_branch"):
        assert gone not in text
    assert "function_offsets" not in text


@pytest.mark.full
def test_a_large_kernel_finds_registers_and_passes_the_checks():
    """28,017 instructions with 256 VGPRs and scratch of its own: nothing is left over, so values must be spilled."""
    lifted = lift(
        (NATIVE.parents[1] / "benchmarks/kernels/matmul_f32_128x128x64.hsaco").read_bytes(),
        "matmul",
        LiftOptions(relax="allocation"),
    )
    assert lifted.instructions == 28_017
    lifted.module.symbol(lifted.kernel.symbol).attributes.setdefault("workgroup_size", (128, 1, 1))
    made = compile_module(lifted.module, CompileOptions(pipeline="none", check=True))
    kernel = read(made.code_object).kernel("matmul")
    assert 240 < kernel.vgpr_count <= 256 and kernel.metadata[".vgpr_spill_count"] > 0
