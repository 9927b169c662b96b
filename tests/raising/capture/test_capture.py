"""Captures of the saxpy workload and of the containers that a kernel may come in."""

import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from loom import print_module
from loom.device.registry import open_device
from loom.diagnostics import LoomError
from loom.raising.capture import capture
from loom.raising.capture.source import load_source
from loom.raising.inputs import shape_buffers
from loom.raising.lift import LiftOptions, lift, native_kernel
from loom.raising.lift.header import descriptor_fields
from loom.store.canonical import sha256
from loom.store.workload import load_workload
from tests.raising.native_launches import NATIVE

WORKLOAD = Path(__file__).parents[3] / "workloads" / "saxpy" / "workload.yaml"
SAXPY = NATIVE / "asm/gfx1100/saxpy_asm.hsaco"


@pytest.fixture(scope="module")
def captured():
    workload = load_workload(WORKLOAD)
    device = open_device("amdgpu-sim")
    try:
        source = load_source(str(SAXPY), SAXPY.read_bytes())
        yield workload, capture(source, None, workload, device), capture(source, None, workload, device)
    finally:
        device.close()


def test_the_record_states_what_the_object_holds(captured):
    _, found, _ = captured
    record = json.loads(found.files["capture.json"])
    assert record["schema"] == "loom.capture.v0"
    assert (record["kernel"], record["target"], record["wave_size"]) == ("saxpy_asm", "amdgpu:gfx1100", 32)
    assert record["source"] == {
        "file": "saxpy_asm.hsaco",
        "kind": "code_object",
        "sha256": sha256(SAXPY.read_bytes()),
        "bytes": SAXPY.stat().st_size,
    }
    # figures of tests/native/index.tsv
    assert (record["instructions"]["count"], record["instructions"]["bytes"]) == (17, 92)
    resources = record["resources"]
    assert (resources["vgprs"], resources["sgprs"], resources["lds_bytes"], resources["scratch_bytes"]) == (
        12,
        12,
        0,
        0,
    )
    assert resources["occupancy"]["waves"] == 16
    assert [a["kind"] for a in record["arguments"]] == ["global_buffer"] * 2 + ["by_value"] * 2
    assert record["descriptor"]["fields"]["kernarg_size"] == 24
    assert record["metadata"][".reqd_workgroup_size"] == [256, 1, 1]


def test_the_record_carries_the_identity_and_the_execution(captured):
    workload, found, _ = captured
    record = json.loads(found.files["capture.json"])
    assert record["workload"]["identity"] == workload.identity
    execution = record["execution"]
    assert (execution["evidence_class"], execution["device"]["kind"]) == ("numerical", "simulator")
    assert [run["shape"] for run in execution["runs"]] == [shape.name for shape in workload.shapes]
    assert all(run["outcome"] == "completed" for run in execution["runs"])
    for shape in workload.shapes:
        run = next(run for run in execution["runs"] if run["shape"] == shape.name)
        assert run["outputs"] == {"y": sha256(found.files[f"outputs/{shape.name}.y.bin"])}


def test_results_are_what_numpy_computes(captured):
    workload, found, _ = captured
    for shape in workload.shapes[1:]:
        x, y = (np.frombuffer(shape_buffers(workload, shape)[name], "<f4").astype(np.float64) for name in "xy")
        # a = 1.5: the product has 26 bits, the sum fits a double, so rounding happens once
        expected = (1.5 * x + y).astype("<f4")
        assert found.files[f"outputs/{shape.name}.y.bin"] == expected.tobytes()


def test_two_captures_are_the_same_bytes(captured):
    _, first, second = captured
    assert dict(first.files) == dict(second.files)


def test_listing_is_assembly_with_places(captured):
    _, found, _ = captured
    lines = found.files["listing.s"].decode().splitlines()
    assert lines[1].split() == ["s_load_b128", "s[4:7],", "s[0:1],", "null", ";", "000000"]
    assert any("s_cbranch_execz" in line and line.endswith("; 000028") for line in lines)


def bundle_of(*entries):
    """A clang offload bundle: magic, count, and per entry offset, size, length of the name, name."""
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    names = sum(24 + len(name) for name, _ in entries)
    offset, table, body = len(head) + names, b"", b""
    for name, data in entries:
        table += struct.pack("<QQQ", offset + len(body), len(data), len(name)) + name.encode()
        body += data
    return head + table + body


def test_bundles_give_the_object_of_the_target():
    gfx11 = (NATIVE / "clang/gfx1100/saxpy.O3.hsaco").read_bytes()
    gfx9 = (NATIVE / "clang/gfx942/saxpy.O3.hsaco").read_bytes()
    data = bundle_of(
        ("host-x86_64-unknown-linux-gnu-", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", gfx11),
        ("hipv4-amdgcn-amd-amdhsa--gfx942", gfx9),
    )
    source = load_source("kernels.hipfb", data, "amdgpu:gfx942")
    assert (source.kind, source.code_object) == ("bundle", gfx9)
    with pytest.raises(LoomError, match="2 code objects") as caught:
        load_source("kernels.hipfb", data)
    assert "gfx1100, gfx942" in caught.value.diagnostics[0].hint
    with pytest.raises(LoomError, match="no code object for gfx1201"):
        load_source("kernels.hipfb", data, "amdgpu:gfx1201")


def test_prepared_low_is_an_artifact_too():
    original = lift(SAXPY.read_bytes(), None, LiftOptions())
    text = print_module(original.module).encode()
    source = load_source("oracle.loom", text)
    assert source.kind == "low"
    found = capture(source, None)
    assert found.document["instructions"]["sha256"] == sha256(original.native.code)
    assert "execution" not in found.document


def test_refusals_say_what_to_do():
    with pytest.raises(LoomError) as caught:
        load_source("notes.txt", b"hello")
    assert caught.value.diagnostics[0].code == "CAPTURE/001"
    workload = load_workload(WORKLOAD)
    other = NATIVE / "clang/gfx1201/saxpy.O3.hsaco"
    with pytest.raises(LoomError) as caught:
        capture(load_source(str(other), other.read_bytes()), "saxpy", workload)
    assert caught.value.diagnostics[0].code == "CAPTURE/002"
    with pytest.raises(LoomError) as caught:
        capture(load_source(str(SAXPY), SAXPY.read_bytes()), "absent")
    assert (caught.value.diagnostics[0].code, caught.value.diagnostics[0].hint) == ("LIFT/001", "kernels: saxpy_asm")


def test_a_kernel_that_no_lift_can_hold_is_captured():
    """Its tail call looks like a return: a lift would state it wrongly, a record of the bytes does not."""
    data = (NATIVE / "extra/gfx942.O2.hsaco").read_bytes()
    with pytest.raises(LoomError) as caught:
        lift(data, "calls")
    assert caught.value.diagnostics[0].code == "LIFT/002"
    found = capture(load_source("gfx942.O2.hsaco", data), "calls")
    with (NATIVE / "extra/gfx942.O2.hsaco").open("rb") as stream:
        elf = ELFFile(stream)
        symbols = {symbol.name: symbol.entry for symbol in elf.get_section_by_name(".symtab").iter_symbols()}
        text = elf.get_section_by_name(".text")
        start = symbols["calls"].st_value - text["sh_addr"]
        code = text.data()[start : start + symbols["calls"].st_size]
    assert found.document["instructions"]["sha256"] == hashlib.sha256(code).hexdigest()


@pytest.mark.parametrize("name", ["saxpy_asm", "sgemm_pipe_asm"])
def test_assembly_gives_what_llvm_assembled(name):
    folder = NATIVE / "asm/gfx1100"
    source = load_source(f"{name}.s", (folder / f"{name}.s").read_bytes())
    assert source.kind == "assembly"
    found = capture(source, None)
    expected = native_kernel((folder / f"{name}.hsaco").read_bytes())
    assert found.document["instructions"]["sha256"] == sha256(expected.code)
    assert found.document["descriptor"]["fields"] == descriptor_fields(expected.descriptor)
    with pytest.raises(LoomError) as caught:
        load_source("broken.s", b"v_add_f32 v0, v1\n", "amdgpu:gfx1100")
    assert caught.value.exit_code == 2
    with pytest.raises(LoomError, match="no UTF-8 text"):
        load_source("broken.s", b"\xff\xfe", "amdgpu:gfx1100")
