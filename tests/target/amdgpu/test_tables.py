"""The instruction tables: regeneration from their sources, completeness, and columns checked against what the manuals say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loom.target.amdgpu import tables
from loom.target.amdgpu.assembler import parse_instruction
from loom.target.amdgpu.decoder import decode_instruction
from loom.target.amdgpu.encoder import encode_instruction
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.processors import of_generation
from loom.target.amdgpu.tables import FILES, Table, table
from loom.target.amdgpu.tables.generate.document import build, render
from loom.target.amdgpu.tables.generate.rows import WHEEL_FORMATS
from loom.target.amdgpu.tables.generate.wheel import WHEEL_NAME, load_wheel

DIRECTORY = Path(tables.__file__).parent

# What AMD's data lists and these tables leave out, with the reason.
LEFT_OUT = {
    r"IMAGE_|EXP|V_INTERP_|(LDS|DS)_PARAM_LOAD|DS_BVH_|EXPORT": "graphics and ray tracing",
    r"S_ATC_PROBE|BUFFER_LOAD_LDS_|GLOBAL_LOAD_LDS_|SCRATCH_LOAD_LDS_|DS_ORDERED_COUNT": "LLVM 22 does not know it for the generation, or it is for the driver",
    r"V_READFIRSTLANE_B32_E64|V_SWAP_B32_E64|V_ACCVGPR_MOV_B32_E64": "LLVM 22 has no VOP3 form of it; the short form is here",
    r"S_SET_GPR_IDX_ON|S_SET_VALU_COEXEC_MODE": "not on gfx942 and gfx950",
}  # fmt: skip


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel the tables are made from: from ``LOOM_TABLE_WHEEL``, or downloaded."""
    given = os.environ.get("LOOM_TABLE_WHEEL")
    if given:
        return Path(given)
    directory = tmp_path_factory.mktemp("wheel")
    version = WHEEL_NAME.split("-")[1]
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        f"tinygrad=={version}",
        "--no-deps",
        "--quiet",
        "--disable-pip-version-check",
        "-d",
        str(directory),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        failed = done.returncode != 0
    except subprocess.TimeoutExpired:
        failed = True
    if failed:
        if os.environ.get("LOOM_REQUIRE_ORACLES") == "1":
            pytest.fail(f"{WHEEL_NAME} cannot be downloaded and LOOM_REQUIRE_ORACLES=1")
        pytest.skip(f"not verified here: {WHEEL_NAME} cannot be downloaded")
    return directory / WHEEL_NAME


SCALAR = ("SOP1", "SOP2", "SOPC", "SOPK", "SOPP")


@pytest.mark.parametrize("generation", list(FILES))
def test_scalar_rows_regenerate(generation: str, wheel: Path, oracle: Callable[[str], str]) -> None:
    """The scalar formats made again from wheel and LLVM are the committed rows, to the character."""
    oracle("llvm-mc-22")
    made = build(generation, wheel, SCALAR)
    committed = json.loads((DIRECTORY / FILES[generation]).read_text(encoding="utf-8"))
    rows = {row[0]: row for row in committed["rows"] if all(encoding[1] in SCALAR for encoding in row[2])}
    assert len(rows) > 150
    assert {row[0]: row for row in made["rows"]} == rows
    assert made["names"] == committed["names"]
    assert made["provenance"] == committed["provenance"]


@pytest.mark.full
@pytest.mark.parametrize("generation", list(FILES))
def test_tables_regenerate(generation: str, wheel: Path, oracle: Callable[[str], str]) -> None:
    oracle("llvm-mc-22")
    text = render(build(generation, wheel))
    assert text == (DIRECTORY / FILES[generation]).read_text(encoding="utf-8")


@pytest.mark.parametrize("generation", list(FILES))
def test_what_amd_lists_is_here(generation: str, wheel: Path) -> None:
    have = set()
    for _, _, fmt, opcode in table(generation).encodings():
        base = fmt.split("_")[0]
        names = (*WHEEL_FORMATS.get(base, ()), base, base.removesuffix("S") if base == "SMEMS" else base)
        have.update((name, opcode) for name in names)
    skipped = {"MIMG", "EXP", "VINTERP", "VIMAGE", "VSAMPLE", "VEXPORT", "LDSDIR", "VDSDIR"}
    missing = [
        name
        for (fmt, opcode), (name, _) in load_wheel(wheel, generation).items()
        if (fmt, opcode) not in have and fmt not in skipped and not any(re.match(pattern, name) for pattern in LEFT_OUT)
    ]
    assert missing == []


def test_columns_of_known_instructions() -> None:
    def row(name: str, generation: str = "gfx11") -> InstructionRow:
        return table(generation).row(name)

    fmac = row("v_fmac_f32")
    assert [slot.role for slot in fmac.slots] == ["def_use", "use", "use"]
    assert [slot.type for slot in fmac.slots] == ["f32", "f32", "f32"]
    assert {e.form for e in fmac.encodings} == {"e32", "e64", "dpp16", "dpp8", "e64_dpp16", "e64_dpp8"}
    load = row("global_load_b128")
    assert load.memory is not None
    assert (load.memory.space, load.memory.kind, load.memory.bytes, load.memory.result) == (
        "global",
        "load",
        16,
        "vdst",
    )
    assert load.counters == ("vmcnt",) and load.slots[0].units == 4
    assert row("global_store_b32").counters == ("vscnt",)
    assert row("global_store_b32", "gfx12").counters == ("storecnt",)
    assert row("global_store_dword", "gfx9.4").counters == ("vmcnt",)
    assert row("global_store_dword", "gfx9.4").semantic == "global_store_b32"
    assert row("ds_load_b64").counters == ("lgkmcnt",) and row("ds_load_b64", "gfx12").counters == ("dscnt",)
    assert row("s_load_b64").counters == ("lgkmcnt",) and row("s_load_b64", "gfx12").counters == ("kmcnt",)
    assert row("s_and_saveexec_b32").implicit_defs == ("scc", "exec")
    assert "scc" in row("s_addc_u32").implicit_uses and "scc" in row("s_addc_u32").implicit_defs
    assert row("s_mul_i32").implicit_defs == ()
    assert row("v_cmpx_gt_f32").implicit_defs == ("exec",)
    compare = row("v_cmp_gt_u32")
    assert (compare.slots[0].name, compare.slots[0].type) == ("sdst", "mask")
    assert compare.slots[0].units_for(32) == 1 and compare.slots[0].units_for(64) == 2
    assert row("v_wmma_f32_16x16x16_f16").issue_class == "matrix"
    assert row("v_exp_f32").issue_class == "trans"


def test_processors_of_rows() -> None:
    """RDNA 3.5 adds scalar floating point; gfx942 alone has xf32, gfx950 alone the block-scaled matrix instructions."""
    gfx11 = table("gfx11")
    assert gfx11.row("s_add_f32").processors == ("gfx1150", "gfx1151")
    assert set(gfx11.row("v_add_f32").processors) == {item.name for item in of_generation("gfx11")}
    gfx9 = table("gfx9.4")
    assert gfx9.row("v_mfma_f32_16x16x8_xf32").processors == ("gfx942",)
    assert gfx9.row("v_mfma_scale_f32_16x16x128_f8f6f4").processors == ("gfx950",)


@pytest.mark.parametrize("generation", list(FILES))
def test_rows_are_consistent(generation: str) -> None:
    seen: dict[tuple[str, int], str] = {}
    for row in table(generation).rows():
        assert row.encodings and row.processors
        names = [slot.name for slot in row.slots]
        assert len(set(names)) == len(names), row.mnemonic
        for encoding in row.encodings:
            assert len(encoding.slot_fields) == len(row.slots), row.mnemonic
            assert set(encoding.processors) <= set(row.processors)
            key = (encoding.format, encoding.opcode)
            assert seen.setdefault(key, row.mnemonic) == row.mnemonic
        if row.memory is not None:
            parts = (*row.memory.address, *row.memory.data, *filter(None, (row.memory.result,)))
            assert set(parts) <= set(names), row.mnemonic


@pytest.mark.parametrize("generation", list(FILES))
def test_loading_a_table_builds_no_row_but_those_asked_for(generation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps loading cheap; ``benchmarks/machine_code.py`` measures it."""
    built: list[str] = []

    def build_row(**fields: Any) -> InstructionRow:
        built.append(fields["mnemonic"])
        return InstructionRow(**fields)

    monkeypatch.setattr(tables, "InstructionRow", build_row)
    fresh = Table(generation)
    raw = json.loads((DIRECTORY / FILES[generation]).read_text(encoding="utf-8"))["rows"]
    assert len(fresh.mnemonics()) == len(raw) and "s_nop" in fresh and len(list(fresh.encodings())) >= len(raw)
    assert built == []
    assert fresh.row("s_nop") is fresh.row("s_nop")
    assert built == ["s_nop"]


#: Printed and encoded by llvm-mc-22 for gfx1201.
PREFETCHES = {
    "s_buffer_prefetch_data s[4:7], 0x18, s8, 5": "42e104f418000010",
    "s_prefetch_data s[4:5], 0x18, null, 5": "42c104f4180000f8",
    "s_prefetch_data s[4:5], 0x18, vcc_lo, 5": "42c104f4180000d4",
    "s_prefetch_data s[4:5], 0x18, m0, 5": "42c104f4180000fa",
    "s_prefetch_inst s[4:5], 0x18, s8, 31": "c28704f418000010",
    "s_prefetch_data_pc_rel 0x18, s8, 5": "400105f418000010",
}


@pytest.mark.parametrize("text", list(PREFETCHES))
def test_a_prefetch_takes_its_offset_from_any_scalar_register(text: str) -> None:
    """The constant offset stands between the operands of LLVM's text and is no slot."""
    code = bytes.fromhex(PREFETCHES[text])
    assert str(decode_instruction(code, 0, "gfx1201", 32)) == text
    assert encode_instruction(parse_instruction(text, "gfx1201"), "gfx1201") == code


_KEEPS = """
declare i32 @llvm.amdgcn.cvt.pk.fp8.f32(float, float, i32, i1)
declare <2 x half> @llvm.amdgcn.cvt.sr.f16.f32(<2 x half>, float, i32, i1)
declare i32 @llvm.amdgcn.cvt.scalef32.pk.fp4.f32(i32, float, float, float, i32)
declare <2 x half> @llvm.amdgcn.cvt.scalef32.f16.fp8(<2 x half>, i32, float, i32, i1)
declare <2 x i16> @llvm.amdgcn.cvt.scalef32.pk.fp8.f32(<2 x i16>, float, float, float, i1)
declare i32 @llvm.amdgcn.cvt.scalef32.sr.fp8.f32(i32, float, i32, float, i32)
define i32 @a(i32 %o, float %a, float %b) {
  %r = call i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %a, float %b, i32 %o, i1 1)
  ret i32 %r
}
define <2 x half> @b(<2 x half> %o, float %a, i32 %s) {
  %r = call <2 x half> @llvm.amdgcn.cvt.sr.f16.f32(<2 x half> %o, float %a, i32 %s, i1 1)
  ret <2 x half> %r
}
define i32 @c(i32 %o, float %a, float %b, float %s) {
  %r = call i32 @llvm.amdgcn.cvt.scalef32.pk.fp4.f32(i32 %o, float %a, float %b, float %s, i32 1)
  ret i32 %r
}
define <2 x half> @d(<2 x half> %o, i32 %a, float %s) {
  %r = call <2 x half> @llvm.amdgcn.cvt.scalef32.f16.fp8(<2 x half> %o, i32 %a, float %s, i32 0, i1 1)
  ret <2 x half> %r
}
define <2 x i16> @e(<2 x i16> %o, float %a, float %b, float %s) {
  %r = call <2 x i16> @llvm.amdgcn.cvt.scalef32.pk.fp8.f32(<2 x i16> %o, float %a, float %b, float %s, i1 1)
  ret <2 x i16> %r
}
define i32 @f(i32 %o, float %a, i32 %b, float %s) {
  %r = call i32 @llvm.amdgcn.cvt.scalef32.sr.fp8.f32(i32 %o, float %a, i32 %b, float %s, i32 2)
  ret i32 %r
}
"""


def test_conversions_that_keep_the_rest_of_their_register(oracle: Callable[[str], str]) -> None:
    """LLVM puts the result where the old value is (the first argument, v0): the register is read, too."""
    command = [oracle("llc-22"), "-mtriple=amdgcn", "-mcpu=gfx950"]
    done = subprocess.run(command, input=_KEEPS, check=True, capture_output=True, text=True)
    found = re.findall(r"^\s+(v_cvt_\w+) (v\d+), (v\d+)", done.stdout, re.MULTILINE)
    assert [(result, first) for _, result, first in found] == [("v0", "v1")] * 6
    rows = table("gfx9.4")
    for mnemonic, _, _ in found:
        assert rows.row(mnemonic).slots[0].role == "def_use", mnemonic
    assert rows.row("v_cvt_scalef32_pk_f16_fp8").slots[0].role == "def"


def test_bytes_of_transposing_loads() -> None:
    """What a lane loads, not the width of an element."""
    for name, size in (("ds_read_b64_tr_b16", 8), ("ds_read_b64_tr_b4", 8), ("ds_read_b96_tr_b6", 12)):
        memory = table("gfx9.4").row(name).memory
        assert memory is not None and memory.bytes == size
    for name, size in (("global_load_tr_b128", 16), ("global_load_tr_b64", 8)):
        memory = table("gfx12").row(name).memory
        assert memory is not None and memory.bytes == size
