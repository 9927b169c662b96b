"""iree-run-loom: classic and newest command lines, buffers, comparison, refusals."""

from pathlib import Path

import numpy as np
import pytest

from loom import print_module
from loom.raising.lift import LiftOptions, lift
from loom.store.workload import Launch
from loom.tools.common import run_tool
from loom.tools.iree_run_loom import main, run
from tests.raising.native_launches import NATIVE

BUMP = """amdgpu.target<gfx11-generic> @gfx11 {subgroup_size = 32}

low.kernel.def target<amdgpu.gfx11.generic.core>(@gfx11) export("bump") workgroup_size(64, 1, 1) workgroup_count(1, 1, 1) @bump(%bias: reg<amdgpu.sgpr>) asm {
  %lane = live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %words = resource<hal_binding> {index = 0, source_type = hal.buffer, extent = 256} : reg<amdgpu.sgpr x2>
  %address = v_lshlrev_b32_src0_inline %lane, 2
  %before = global_load_b32_saddr %address, %words
  %after = v_add_u32 %bias, %before
  global_store_b32_saddr %address, %after, %words
  return
}
"""


@pytest.fixture
def bump(tmp_path):
    path = tmp_path / "bump.loom"
    path.write_text(BUMP)
    return str(path)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    data = (NATIVE / "asm/gfx1100/saxpy_asm.hsaco").read_bytes()
    launch = Launch((1, 1, 1), (256, 1, 1))
    path = tmp_path_factory.mktemp("oracle") / "oracle.loom"
    path.write_text(print_module(lift(data, None, LiftOptions(launch=launch)).module))
    return str(path)


def call(monkeypatch, capsys, *argv):
    """Exit code, stdout and stderr of the command line as the console script runs it."""
    monkeypatch.setattr("sys.argv", ["iree-run-loom", *argv])
    code = main()
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_classic_command(monkeypatch, capsys, oracle):
    code, out, err = call(
        monkeypatch,
        capsys,
        oracle,
        "--device=amdgpu",
        "--function=saxpy_asm",
        "--pipeline=none",
        "--kernel-input-buffer=64xf32=1",
        "--kernel-input-buffer=64xf32=2",
        "--kernel-input-value=f32=3",
        "--kernel-input-value=i32=64",
        "--expected-kernel-buffer=64xf32=1",
        "--expected-kernel-buffer=64xf32=5",
    )
    assert (code, out) == (0, "SUCCESS: all results are as expected\n")
    assert "amdgpu-sim" in err or "amdgpu-hip" in err  # says which device 'amdgpu' is


def test_results_are_printed_up_to_the_limit(monkeypatch, capsys, oracle):
    flags = ["--device=amdgpu-sim", "--root=@saxpy_asm", "--pipeline=none", "--output-max-element-count=3"]
    inputs = ["--kernel-input-buffer=4xf32=1,2,3,4", "--kernel-input-buffer=2x2xf32=0.5"]
    values = ["--kernel-input-value=f32=2", "--kernel-input-value=u32=0x3"]
    code, out, _ = call(monkeypatch, capsys, oracle, *flags, *inputs, *values)
    assert code == 0
    assert out == "binding[0]: 4xf32=1.0 2.0 3.0 ...\nbinding[1]: 2x2xf32=2.5 4.5 6.5 ...\n"


def test_a_mismatch_names_place_values_and_distance(monkeypatch, capsys, oracle):
    close = float(np.nextafter(np.float32(5), np.float32(6)))
    code, out, _ = call(
        monkeypatch,
        capsys,
        oracle,
        "--device=amdgpu-sim",
        "--pipeline=none",
        "--kernel-input-buffer=2x4xf32=1",
        "--kernel-input-buffer=2x4xf32=2",
        "--kernel-input-value=f32=3",
        "--kernel-input-value=i32=8",
        "--expected-kernel-buffer=(ignored)",
        f"--expected-kernel-buffer=2x4xf32=5,5,5,5,5,5,{close},5",
    )
    assert code == 1
    assert "binding[1]: 1 of 8 elements differ" in out
    assert "[1, 2] expected 5.0000005, actual 5.0 (1 ULP)" in out


def test_tolerance(monkeypatch, capsys, oracle):
    flags = ["--device=amdgpu-sim", "--pipeline=none", "--kernel-input-buffer=1xf32=1", "--kernel-input-buffer=1xf32=2"]
    values = ["--kernel-input-value=f32=3", "--kernel-input-value=i32=1"]
    expected = ["--expected-kernel-buffer=1xf32=1", "--expected-kernel-buffer=1xf32=5.01"]
    assert call(monkeypatch, capsys, oracle, *flags, *values, *expected)[0] == 1
    loose = "--expected-kernel-buffer-tolerance=0.02,0"
    assert call(monkeypatch, capsys, oracle, *flags, *values, *expected, loose)[0] == 0
    relative = "--expected-kernel-buffer-tolerance=0,0.001"
    assert call(monkeypatch, capsys, oracle, *flags, *values, *expected, relative)[0] == 1


def test_files_in_and_out(monkeypatch, capsys, oracle, tmp_path):
    x = np.arange(300, dtype=np.float32)
    y = np.linspace(-1, 1, 300, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    code, _, _ = call(
        monkeypatch,
        capsys,
        oracle,
        "--device=amdgpu-sim",
        "--pipeline=none",
        f"--kernel-input-buffer=300xf32=@{tmp_path}/x.npy",
        f"--kernel-input-buffer=@{tmp_path}/y.npy",
        "--kernel-input-value=f32=0.5",
        "--kernel-input-value=i32=300",
        "--workgroup-count=2,1,1",
        f"--output=@{tmp_path}/x.out.npy",
        f"--output=@{tmp_path}/y.out.npy",
    )
    assert code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "x.out.npy"), x)
    exact = (0.5 * x.astype(np.float64) + y.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(np.load(tmp_path / "y.out.npy"), exact)


def test_prepared_low_with_resources_and_arguments(monkeypatch, capsys, bump):
    flags = ["--device=amdgpu-sim", "--root=@bump", "--pipeline=none", "--kernel-input-buffer=64xi32=1"]
    code, _, _ = call(
        monkeypatch, capsys, bump, *flags, "--kernel-input-value=i32=-9", "--expected-kernel-buffer=64xi32=-8"
    )
    assert code == 0


def test_older_synonyms(monkeypatch, capsys, bump):
    code, _, _ = call(
        monkeypatch,
        capsys,
        bump,
        "--backend=amdgpu-hal",
        "--function=bump",
        "--pipeline=none",
        "--binding=64xi32=1",
        "--constant=i32=2",
        "--expected-binding=64xi32=3",
    )
    assert code == 0


def test_artifact_only(monkeypatch, capsys, bump, tmp_path):
    target = tmp_path / "bump.hsaco"
    flags = ["--pipeline=none", f"--emit-target-artifact={target}", "--emit-only"]
    assert call(monkeypatch, capsys, bump, *flags)[0] == 0
    assert target.read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (["--root=@absent"], 2, "the module has no kernel '@absent'"),
        (["--kernel-input-buffer=64xi32=1"], 2, "takes 1 values, 0 given"),
        (["--kernel-input-value=i32=1"], 2, "takes 1 buffers, 0 given"),
        (["--kernel-input-buffer=64xq8=1"], 2, "unknown element type 'q8'"),
        (["--workgroup-count=0"], 2, "'0' is no work-group count"),
        (["--expected-kernel-buffer-tolerance=x"], 2, "'x' is no tolerance"),
        (["--device=abacus"], 3, "unknown device 'abacus'"),
        (["--devise=amdgpu"], 2, "unrecognized arguments"),
    ],
)
def test_refusals(monkeypatch, capsys, bump, flags, code, message):
    base = [] if any("device" in flag for flag in flags) else ["--device=amdgpu-sim"]
    if not any("kernel-input" in flag for flag in flags):
        base += ["--kernel-input-buffer=64xi32=1", "--kernel-input-value=i32=1", "--expected-kernel-buffer=64xi32=2"]
    result, _, err = call(monkeypatch, capsys, bump, "--pipeline=none", *base, *flags)
    assert (result, message in err) == (code, True), err


def test_unprepared_input_is_refused_at_the_first_such_op(monkeypatch, capsys, tmp_path):
    path = tmp_path / "mixed.loom"
    path.write_text(BUMP.replace("  return\n", "  %c = index.constant 1 : index\n  return\n").replace(" asm {", " {"))
    canonical = BUMP.split("low.kernel.def")[0] + (
        "low.kernel.def target<amdgpu.gfx11.generic.core>(@gfx11) workgroup_size(64, 1, 1) @k() {\n"
        "  %lane = low.live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>\n"
        "  %c = index.constant 1 : index\n"
        "  %d = index.constant 2 : index\n"
        "  low.return\n}\n"
    )
    path.write_text(canonical)
    code, _, err = call(monkeypatch, capsys, str(path), "--device=amdgpu-sim", "--pipeline=none")
    assert code == 2
    assert f"{path}:5:" in err and "index.constant" in err


def test_source_kernels_need_a_pipeline(monkeypatch, capsys):
    path = str(Path(__file__).parents[2] / "workloads/saxpy/raised/elementwise.loom")
    code, _, err = call(monkeypatch, capsys, path, "--device=amdgpu-sim", "--pipeline=none")
    assert code == 2
    assert f"{path}:" in err and "kernel.def @saxpy: it is not prepared Low" in err


def test_a_fault_is_evidence(monkeypatch, capsys, oracle):
    code, _, err = call(
        monkeypatch,
        capsys,
        oracle,
        "--device=amdgpu-sim",
        "--pipeline=none",
        "--kernel-input-buffer=4xf32=1",
        "--kernel-input-buffer=4xf32=1",
        "--kernel-input-value=f32=3",
        "--kernel-input-value=i32=256",
    )
    assert code == 1
    assert "faulted" in err and "out_of_bounds" in err


def test_help(capsys):
    with pytest.raises(SystemExit) as caught:
        run(["--help"])
    assert caught.value.code == 0
    assert "--kernel-input-buffer" in capsys.readouterr().out


def test_prepared_low_without_a_grid_runs_one_workgroup(capfd: pytest.CaptureFixture[str]) -> None:
    # The documented route of the reference's prepared-Low program: no --workgroup-count, bias 9 added to each word.
    program = str(Path(__file__).resolve().parents[1] / "corpus" / "appendix" / "06_bump.loom")
    flags = ["--device=amdgpu-sim", "--root=@bump", "--pipeline=none", "--kernel-input-value=i32=9"]
    words = ["--kernel-input-buffer=64xi32=1", "--expected-kernel-buffer=64xi32=10"]
    assert run_tool(run, [program, *flags, *words]) == 0
    captured = capfd.readouterr()
    assert "SUCCESS" in captured.out
    assert "running one workgroup" in captured.err


def test_a_missing_wait_in_fixed_low_is_diagnosed_not_inserted(monkeypatch, capsys, oracle, tmp_path):
    text = Path(oracle).read_text()
    lines = text.splitlines()
    waits = [i for i, line in enumerate(lines) if "amdgpu.s_waitcnt" in line]
    path = tmp_path / "hasty.loom"
    path.write_text("\n".join(line for i, line in enumerate(lines) if i != waits[-1]) + "\n")
    target = tmp_path / "hasty.hsaco"
    flags = ["--pipeline=none", "--emit-only", f"--emit-target-artifact={target}"]
    code, _, err = call(monkeypatch, capsys, str(path), *flags)
    assert code == 0
    assert "warning: v_fmac_f32" in err and "without waiting for vmcnt(0)" in err
    assert f"{path}:" in err
    assert call(monkeypatch, capsys, oracle, *flags)[2] == ""  # the original has what it needs


SOURCE = """kernel.def @scale(%count: index) {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  %pad = index.constant 63 : index
  %padded = index.add %count, %pad : index
  %groups = index.div %padded, %lanes : index
  kernel.launch.config workgroups(%groups, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(SIGNATURE) {
  %position = kernel.workitem.dispatch.id<x> : index
  %origin = index.constant 0 : offset
  %view = buffer.view %data[%origin] : buffer -> view<[%size]xf32>
  %live = index.cmp ult, %position, %size : index
  scf.if %live {
    %a = view.load %view[%position] : view<[%size]xf32> -> f32
    %b = scalar.mulf %a, %factor : f32
    view.store %b, %view[%position] : f32, view<[%size]xf32>
  }
  kernel.return
}
"""
SCALE = (
    "--device=reference",
    "--kernel-input-value=i64=100",
    "--kernel-input-value=f32=0.5",
    "--kernel-input-buffer=100xf32=3",
)


def test_the_reference_device_interprets_source(tmp_path, monkeypatch, capsys):
    path = tmp_path / "scale.loom"
    # A workload value with the name of an argument is that argument: two workgroups.
    path.write_text(
        SOURCE.replace("SIGNATURE", "%count: index, %factor: f32, %data: buffer").replace("%size", "%count")
    )
    code, out, _ = call(monkeypatch, capsys, str(path), *SCALE)
    assert (code, out) == (0, f"binding[0]: 100xf32={' '.join(['1.5'] * 100)}\n")
    code, out, _ = call(monkeypatch, capsys, str(path), *SCALE, "--expected-kernel-buffer=100xf32=1")
    assert code == 1 and "[0] expected 1.0, actual 1.5" in out


def test_the_reference_device_needs_the_grid_that_nothing_states(tmp_path, monkeypatch, capsys):
    path = tmp_path / "scale.loom"
    path.write_text(SOURCE.replace("SIGNATURE", "%size: index, %factor: f32, %data: buffer"))
    code, _, err = call(monkeypatch, capsys, str(path), *SCALE)
    assert code == 2 and "depends on its workload: %count" in err and "--workgroup-count" in err
    code, out, _ = call(monkeypatch, capsys, str(path), *SCALE, "--workgroup-count=1")
    # One workgroup of 64: the tail keeps what it held.
    assert (code, out) == (0, f"binding[0]: 100xf32={' '.join(['1.5'] * 64 + ['3.0'] * 36)}\n")


def test_the_reference_device_interprets_low(bump, oracle, monkeypatch, capsys):
    code, out, _ = call(
        monkeypatch, capsys, bump, "--device=reference", "--kernel-input-value=i32=5", "--kernel-input-buffer=64xi32=7"
    )
    assert (code, out) == (0, f"binding[0]: 64xi32={' '.join(['12'] * 64)}\n")
    arguments = ("--kernel-input-value=f32=3", "--kernel-input-value=i32=64", "--kernel-input-buffer=64xf32=1")
    code, out, _ = call(
        monkeypatch, capsys, oracle, "--device=reference", *arguments, "--kernel-input-buffer=64xf32=2",
        "--expected-kernel-buffer=(ignored)", "--expected-kernel-buffer=64xf32=5",
    )  # fmt: skip
    assert code == 0 and "SUCCESS" in out
    code, _, err = call(monkeypatch, capsys, oracle, "--device=reference", *arguments)
    assert code == 2 and "takes 2 buffers, 1 given" in err


def test_the_reference_device_compiles_nothing(bump, monkeypatch, capsys):
    code, _, err = call(monkeypatch, capsys, bump, "--device=reference", "--emit-only")
    assert code == 2 and "interprets the module" in err


def test_the_race_sanitizer_watches_workgroup_memory(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from tests.check.test_sanitizer import RACE

    program = tmp_path / "race.loom"
    program.write_text(RACE.replace("BARRIER", ""))
    flags = [str(program), "--device=amdgpu-sim", "--root=@k", "--kernel-input-buffer=64xi32=0"]
    assert run_tool(run, flags) == 0
    assert run_tool(run, [*flags, "--sanitizer=race"]) == 1
    assert "race" in capfd.readouterr().err


# --- null pointers ----------------------------------------------------------------------------------------------------

SOFTMAX = Path(__file__).resolve().parents[2] / "workloads" / "softmax" / "oracle.loom"
NULLS = ("--kernel-input-buffer=(null)", "--kernel-input-buffer=(ignored)")
SCALARS = ("--kernel-input-value=i32=1000", "--kernel-input-value=i32=1024")


@pytest.fixture
def softmax(tmp_path):
    """Files of four rows and of their softmax over 1,000 columns; what lies behind stays -1."""
    rows = np.random.default_rng(3).normal(size=(4, 1024)).astype(np.float32)
    powers = np.exp(rows[:, :1000].astype(np.float64) - rows[:, :1000].max(1, keepdims=True))
    expected = np.full((4, 1024), -1, np.float32)
    expected[:, :1000] = powers / powers.sum(1, keepdims=True)
    np.save(tmp_path / "x.npy", rows)
    np.save(tmp_path / "y.npy", expected)
    return tmp_path


@pytest.mark.parametrize("device", ["amdgpu-sim", "reference"])
def test_an_oracle_with_null_pointers(monkeypatch, capsys, softmax, device):
    arguments = (
        str(SOFTMAX), f"--device={device}", "--pipeline=none", "--workgroup-count=4", *SCALARS,
        f"--kernel-input-buffer=4x1024xf32=@{softmax / 'x.npy'}", "--kernel-input-buffer=4x1024xf32=-1", *NULLS,
    )  # fmt: skip
    checks = (
        "--expected-kernel-buffer=(ignored)", f"--expected-kernel-buffer=4x1024xf32=@{softmax / 'y.npy'}",
        "--expected-kernel-buffer=(null)", "--expected-kernel-buffer-tolerance=1e-9,5e-6",
    )  # fmt: skip
    code, out, _ = call(monkeypatch, capsys, *arguments, *checks, "--expected-kernel-buffer=(null)")
    assert (code, out.startswith("SUCCESS")) == (0, True)
    code, out, _ = call(monkeypatch, capsys, *arguments, "--output-max-element-count=1")
    assert [line.split("=")[0] for line in out.splitlines()] == [
        "binding[0]: 4x1024xf32", "binding[1]: 4x1024xf32", "binding[2]: (null)", "binding[3]: (null)",
    ]  # fmt: skip
    code, _, err = call(monkeypatch, capsys, *arguments, *checks, "--expected-kernel-buffer=4xi32=0")
    assert code == 2 and "buffer 3 is a null pointer" in err


@pytest.mark.parametrize(("device", "message"), [("amdgpu-sim", "faulted"), ("reference", "are outside")])
def test_a_null_pointer_that_is_followed(monkeypatch, capsys, device, message):
    code, _, err = call(
        monkeypatch, capsys, str(SOFTMAX), f"--device={device}", "--pipeline=none", "--workgroup-count=1", *SCALARS,
        "--kernel-input-buffer=(null)", "--kernel-input-buffer=1x1024xf32=-1", *NULLS,
    )  # fmt: skip
    assert code == 1
    assert message in err


def test_a_compiled_check_is_reported_at_its_access(monkeypatch, capsys, tmp_path):
    text = """kernel.def @k() {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%x: buffer) {
  %item = kernel.workitem.id<x> : index
  %origin = index.constant 0 : offset
  %out = buffer.view %x[%origin] : buffer -> view<32xi32>
  %r = scalar.constant 7 : i32
  view.store %r, %out[%item] : i32, view<32xi32>
  kernel.return
}
"""
    path = tmp_path / "beyond.loom"
    path.write_text(text)
    arguments = (str(path), "--device=amdgpu-sim", "--kernel-input-buffer=64xi32=0", "--sanitizer=access")
    code, _, err = call(monkeypatch, capsys, *arguments)
    assert code == 1
    # The view has 32 elements, the workgroup 64 workitems.
    line = next(k for k, written in enumerate(text.split("\n"), 1) if "view.store" in written)
    assert f"{path}:{line}:3: error: kernel 'k' faulted: view.store leaves its view on axis 0 [LAUNCH/004]" in err


DIVIDES = """kernel.def @k() {
  %one = index.constant 1 : index
  %lanes = index.constant 4 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%a: buffer, %b: buffer) {
  %i = kernel.workitem.id<x> : index
  %o = index.constant 0 : offset
  %av = buffer.view %a[%o] : buffer -> view<4xi32>
  %bv = buffer.view %b[%o] : buffer -> view<4xi32>
  %x = view.load %av[%i] : view<4xi32> -> i32
  %y = scalar.divsi %x, %x : i32
  view.store %y, %bv[%i] : i32, view<4xi32>
  kernel.return
}
"""


def test_the_reference_device_gives_no_value_for_poison(tmp_path, monkeypatch, capsys):
    """0 / 0 at places 1 and 3; what nobody reads may stay undefined."""
    path = tmp_path / "divides.loom"
    path.write_text(DIVIDES)
    buffers = ("--kernel-input-buffer=4xi32=5,0,7,0", "--kernel-input-buffer=4xi32=9")
    code, out, err = call(monkeypatch, capsys, str(path), "--device=reference", *buffers)
    assert code == 1 and out == ""
    assert "2 of 4 elements of buffer 1 undefined (poison), the first at [1] [REFERENCE/006]" in err
    ignoring = ("--expected-kernel-buffer=4xi32=5,0,7,0", "--expected-kernel-buffer=(ignored)")
    assert call(monkeypatch, capsys, str(path), "--device=reference", *buffers, *ignoring)[0] == 0
    compared = ("--expected-kernel-buffer=(ignored)", "--expected-kernel-buffer=4xi32=1,0,1,0")
    assert call(monkeypatch, capsys, str(path), "--device=reference", *buffers, *compared)[0] == 1
    whole = ("--kernel-input-buffer=4xi32=5,6,7,8", "--kernel-input-buffer=4xi32=9")
    code, out, _ = call(monkeypatch, capsys, str(path), "--device=reference", *whole)
    assert code == 0 and "binding[1]: 4xi32=1 1 1 1" in out
