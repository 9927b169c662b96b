"""What doctor says of files and of the machine."""

import pytest

from loom.diagnostics import LoomError
from loom.raising.doctor import diagnose, machine, self_test, simulation_gap
from tests.raising.lift.programs import program
from tests.raising.native_launches import NATIVE


def test_a_kernel_that_works_everywhere():
    path = NATIVE / "triton/gfx1100/rowsum.hsaco"
    (row,) = diagnose(str(path), path.read_bytes())
    assert (row.kernel, row.processor, row.instructions, row.works) == ("rowsum", "gfx1100", 129, True)
    assert row.to_json()["lifts"] == {"works": True, "reason": None}


def test_a_kernel_that_calls_through_memory_runs_but_does_not_lift():
    path = NATIVE / "extra/gfx1100-w32.O0.hsaco"
    rows = {row.kernel: row for row in diagnose(str(path), path.read_bytes())}
    assert rows["calls"].decodes is None and rows["calls"].simulates is None
    assert "s_swappc_b64 at pc " in rows["calls"].lifts and "target of the call is not known" in rows["calls"].lifts
    assert rows["scan"].works


def test_what_is_not_simulated_is_named_with_its_place():
    assert simulation_gap(program("v_mov_b32 v0, 0\ns_endpgm #0")) is None
    gap = simulation_gap(program("v_mov_b32 v0, 0\ns_sendmsghalt #1\ns_endpgm #0"))
    assert gap is not None and gap.startswith("s_sendmsghalt at pc 0x4 is not simulated:")


def test_the_self_test_computes():
    assert self_test("amdgpu-sim") is None
    facts = machine()
    assert {"name": "amdgpu-sim", "present": True, "works": True, "reason": None} in facts["devices"]


def test_what_is_no_code_object_is_refused():
    with pytest.raises(LoomError, match="no ELF file"):
        list(diagnose("notes.txt", b"hello"))
