"""Every kernel under tests/native: lifted, printed, read back, emitted: the same bytes; and run: the same results."""

import csv
from pathlib import Path

import pytest

import loom
from loom.device.protocol import Completed
from loom.device.registry import open_device
from loom.raising.execution import execute
from loom.raising.lift import LiftOptions, lift, native_difference, native_kernel
from loom.target.amdgpu.compile import CompileOptions, compile_module
from tests.raising.native_launches import LAUNCHES, NATIVE

INDEX = list(csv.DictReader((NATIVE / "index.tsv").open(), delimiter="\t"))


@pytest.fixture(scope="module")
def device():
    opened = open_device("amdgpu-sim")
    yield opened
    opened.close()


def emitted(text, size=None):
    module = loom.parse(text, "lifted.loom")
    loom.verify(module)
    if size is not None:
        kernel = next(op for op in module.operations if op.name == "low.kernel.def")
        kernel.attributes.setdefault("workgroup_size", size)
    return compile_module(module, CompileOptions(pipeline="none")).code_object


@pytest.mark.parametrize("row", INDEX, ids=lambda row: f"{Path(row['file']).parent.name}-{row['kernel']}")
def test_emits_the_original_bytes(row):
    data = (NATIVE / row["file"]).read_bytes()
    lifted = lift(data, row["kernel"])
    assert lifted.instructions == int(row["insts"])
    text = loom.print_module(lifted.module)
    assert loom.print_module(loom.parse(text, "lifted.loom")) == text
    again = native_kernel(emitted(text), row["kernel"])
    original = native_kernel(data, row["kernel"])
    assert native_difference(original, again) is None
    assert again.code == original.code
    assert len(again.code) == int(row["code_bytes"])
    # All of the descriptor but the distance from it to the code, which is the layout's.
    assert again.descriptor[:16] + again.descriptor[24:] == original.descriptor[:16] + original.descriptor[24:]


def run(device, launch, code_object):
    done = execute(
        device,
        code_object,
        launch.kernel,
        launch.arguments,
        launch.workgroups,
        launch.workgroup_size,
        launch.dynamic_lds,
    )
    assert isinstance(done.outcome, Completed), done.outcome
    return done


@pytest.mark.parametrize("relax", [None, "allocation", "schedule"])
@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: launch.name)
def test_computes_what_the_native_kernel_computes(device, launch, relax):
    data = launch.path.read_bytes()
    native = run(device, launch, data)
    # The native kernel does something: at least one buffer changed.
    before = [a.data for a in launch.arguments if hasattr(a, "shape")]
    assert any(buffer.data != old for buffer, old in zip(native.buffers, before, strict=True))
    text = loom.print_module(lift(data, launch.kernel, LiftOptions(relax=relax)).module)
    ours = run(device, launch, emitted(text, launch.workgroup_size))
    assert [b.data for b in ours.buffers] == [b.data for b in native.buffers]
    if relax is None:
        assert ours.outcome.counts.by_mnemonic == native.outcome.counts.by_mnemonic


def test_relaxed_text_has_no_physical_vector_or_scalar_registers():
    text = loom.print_module(
        lift(
            NATIVE.joinpath("asm/gfx1100/sgemm_pipe_asm.hsaco").read_bytes(), None, LiftOptions(relax="schedule")
        ).module
    )
    assert " @ " not in text
    for derived in ("s_waitcnt", "s_nop", "s_delay_alu", "s_clause", "v_dual_"):
        assert f"amdgpu.{derived}" not in text
    assert "allocation(" not in text and "schedule(" not in text  # virtual and free are the defaults
