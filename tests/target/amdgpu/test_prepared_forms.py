"""Prepared Low written as the language reference lists it, through the emitter; expected text: what LLVM's disassembler prints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import loom
from loom.diagnostics import LoomError
from loom.target.amdgpu.assembler import parse_instruction
from loom.target.amdgpu.decoder import decode_instruction
from loom.target.amdgpu.encoder import encode_instruction

HEAD = """amdgpu.target<PROCESSOR> @t

low.kernel.def target<SET>(@t) export("k") workgroup_size(64, 1, 1) @k() asm {
  %t = live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %z = s_mov_b32 0
"""
RESOURCE = "  %o = resource<hal_binding> {index = 0, source_type = hal.buffer} : reg<amdgpu.sgpr x2>\n"
DESCRIPTOR = (
    f"{RESOURCE}"
    "  %d = low.op<amdgpu.hal.buffer_descriptor>(%o) {extent = 1024} : (reg<amdgpu.sgpr x2>) -> reg<amdgpu.sgpr x4>\n"
)
SETS = {
    "gfx1100": "amdgpu.rdna3.core",
    "gfx1201": "amdgpu.rdna4.core",
    "gfx942": "amdgpu.cdna3.core",
    "gfx950": "amdgpu.cdna4.core",
}


def _source(body: str, processor: str = "gfx1100") -> str:
    return HEAD.replace("PROCESSOR", processor).replace("SET", SETS[processor]) + body + "  return\n}\n"


def _disassembly(tmp_path: Path, body: str, processor: str = "gfx1100") -> list[str]:
    source, made = tmp_path / "k.loom", tmp_path / "k.hsaco"
    source.write_text(_source(body, processor))
    assert loom.print_module(loom.parse(source.read_text())) == source.read_text()
    command = [sys.executable, "-m", "loom.tools.loom_compile", str(source), "--root=@k", "--pipeline=none"]
    subprocess.run([*command, f"--target=amdgpu:{processor}", f"--output={made}"], check=True, timeout=60)
    tool = shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump")
    assert tool is not None
    text = subprocess.run([tool, "-d", made], capture_output=True, text=True, check=True).stdout
    return [" ".join(line.split("//")[0].split()) for line in text.split("\n") if "//" in line]


def test_buffer_access_names_the_resource_before_the_address(tmp_path: Path) -> None:
    lines = _disassembly(
        tmp_path,
        DESCRIPTOR
        + "  %ld = buffer_load_b128 %d, %t, %z {offset = 16}\n  buffer_store_b128 %ld, %d, %t, %z {offset = 32}\n",
    )
    assert any(x.startswith("buffer_load_b128 v[") and x.endswith("offen offset:16") for x in lines)
    assert any(x.startswith("buffer_store_b128 v[") and x.endswith("offen offset:32") for x in lines)


def test_a_buffer_atomic_returns_the_old_value_only_when_asked(tmp_path: Path) -> None:
    types = "(reg<amdgpu.vgpr>, reg<amdgpu.sgpr x4>, reg<amdgpu.vgpr>, reg<amdgpu.sgpr>)"
    lines = _disassembly(
        tmp_path,
        DESCRIPTOR
        + f"  low.op<amdgpu.buffer_atomic_add_u32>(%t, %d, %t, %z) {{offset = 8}} : {types}\n"
        + "  %r = buffer_atomic_add_u32_rtn %t, %d, %t, %z {offset = 12}\n"
        + "  global_store_b32_saddr %t, %r, %o\n",
    )
    atomics = [x for x in lines if x.startswith("buffer_atomic_add_u32")]
    assert {"offset:8" in x: x.endswith("glc") for x in atomics} == {True: False, False: True}
    assert sum("offset:12" in x for x in atomics) == 1


def test_a_load_of_a_half_needs_no_old_value(tmp_path: Path) -> None:
    lines = _disassembly(
        tmp_path, RESOURCE + "  %x = ds_load_u16_d16 %t {offset = 2}\n  global_store_b32_saddr %t, %x, %o\n"
    )
    load = next(x for x in lines if x.startswith("ds_load_u16_d16 "))
    assert load.endswith("offset:2")
    assert any(x.startswith("s_waitcnt lgkmcnt(0)") for x in lines)


#: A resource read from the kernel's arguments.
LOADED = "  %k = live_in<amdgpu.kernarg_segment_ptr> : reg<amdgpu.sgpr x2>\n  %d = s_load_dwordx4_offset_only %k\n"
TO_LDS = "(reg<amdgpu.sgpr x4>, reg<amdgpu.vgpr>, reg<amdgpu.sgpr>, reg<amdgpu.m0>)"
OFF_ZERO = "(reg<amdgpu.sgpr x4>, reg<amdgpu.m0>)"


def test_buffer_loads_into_lds(tmp_path: Path) -> None:
    """Section 5.7: resource, address, offset and M0, or resource and M0; no result."""
    lines = _disassembly(
        tmp_path,
        LOADED
        + "  %m = s_mov_b32_m0_imm 64\n"
        + f"  low.op<amdgpu.buffer_load_lds_dword.off_zero>(%d, %m) {{nt = 1, offset = 4}} : {OFF_ZERO}\n"
        + f"  low.op<amdgpu.buffer_load_lds_dwordx4.off_zero>(%d, %m) {{sc0 = 1}} : {OFF_ZERO}\n"
        + f"  low.op<amdgpu.buffer_load_lds_dwordx3>(%d, %t, %z, %m) {{offset = 8}} : {TO_LDS}\n"
        + f"  low.op<amdgpu.buffer_load_lds_ubyte>(%d, %t, %z, %m) : {TO_LDS}\n",
        "gfx950",
    )
    start = lines.index("s_mov_b32 m0, 64")
    loads = [re.sub(r", s(\[\d+:\d+\]|\d+)", "", x) for x in lines if x.startswith("buffer_load")]
    assert loads == [
        "buffer_load_dword off, 0 offset:4 nt lds",
        "buffer_load_dwordx4 off, 0 sc0 lds",
        "buffer_load_dwordx3 v0 offen offset:8 lds",
        "buffer_load_ubyte v0 offen lds",
    ]
    assert all(lines.index(x) > start for x in lines if x.startswith("buffer_load"))


def test_a_buffer_load_into_lds_has_one_name_in_every_spelling() -> None:
    texts = set()
    for name in ("buffer_load_lds_dword.off_zero", "buffer_load_lds_dword_off_zero", "buffer_load_lds_b32.off_zero"):
        body = f"  %m = s_mov_b32_m0_imm 0\n  low.op<amdgpu.{name}>(%d, %m) : {OFF_ZERO}\n"
        module = loom.parse(_source(LOADED + body, "gfx942"))
        loom.verify(module)
        texts.add(loom.print_module(module))
    (text,) = texts
    assert "low.op<amdgpu.buffer_load_lds_dword.off_zero>(%d, %m)" in text


def test_loads_into_lds_of_more_than_a_word_are_gfx950s(tmp_path: Path) -> None:
    """As in LLVM: `buffer_load_dwordx3 … lds` is an invalid operand under -mcpu=gfx942."""
    source = tmp_path / "k.loom"
    body = f"  %m = s_mov_b32_m0_imm 0\n  low.op<amdgpu.buffer_load_lds_dwordx3>(%d, %t, %z, %m) : {TO_LDS}\n"
    source.write_text(_source(LOADED + body, "gfx942"))
    instruction = parse_instruction("buffer_load_dwordx3 v0, s[8:11], s3 offen lds", "gfx942")
    with pytest.raises(LoomError) as caught:
        encode_instruction(instruction, "gfx942")
    assert "it is on gfx950" in caught.value.diagnostics[0].message
    command = [sys.executable, "-m", "loom.tools.loom_compile", str(source), "--root=@k", "--pipeline=none"]
    made = subprocess.run([*command, "--target=amdgpu:gfx942"], capture_output=True, text=True, timeout=60)
    assert made.returncode == 2 and "'lds' of buffer_load_dwordx3 is not available on gfx942" in made.stderr
    code = bytes.fromhex("000059e000000203")  # gfx950: buffer_load_dwordx3 off, s[8:11], s3 lds
    assert str(decode_instruction(code, 0, "gfx950", 64)) == "buffer_load_dwordx3 off, s[8:11], s3 lds"
    with pytest.raises(LoomError):
        decode_instruction(code, 0, "gfx942", 64)


def test_the_shared_aperture(tmp_path: Path) -> None:
    for processor in ("gfx1100", "gfx942"):
        lines = _disassembly(tmp_path, "  %b = s_mov_b64_shared_base\n  %s = s_and_b64 %b, %b\n", processor)
        assert any(re.fullmatch(r"s_mov_b64 s\[\d+:\d+\], src_shared_base", x) for x in lines), lines


def test_prefetch_names_its_count(tmp_path: Path) -> None:
    lines = _disassembly(tmp_path, DESCRIPTOR + "  s_buffer_prefetch_data %d, %z {count = 5, offset = 24}\n", "gfx1201")
    assert any(re.fullmatch(r"s_buffer_prefetch_data s\[\d+:\d+\], 0x18, s\d+, 5", x) for x in lines), lines


def test_sub_word_selection_extends_the_sign(tmp_path: Path) -> None:
    lines = _disassembly(
        tmp_path,
        LOADED + "  %s = v_mov_b32_sdwa %t {src0_sext = 1, dst_sel = 6, dst_unused = 0, src0_sel = 4}\n"
        "  %u = v_mov_b32_sdwa %t {dst_sel = 6, dst_unused = 0, src0_sel = 1}\n"
        "  global_store_dword_saddr %s, %u, %k\n",
        "gfx942",
    )
    moves = [re.sub(r"^(\S+) v\d+", r"\1 v", x) for x in lines if x.startswith("v_mov_b32_sdwa")]
    assert moves == [
        "v_mov_b32_sdwa v, sext(v0) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0",
        "v_mov_b32_sdwa v, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1",
    ]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("%x = v_wmma_f32_16x16x32_f16 %t, %t, %t", "it is an instruction of gfx1250"),
        ("%x = v_swmmac_f32_16x16x64_f16 %t, %t, %t, %t", "it is an instruction of gfx1250"),
        ("%x = v_wmma_scale_f32_16x16x128_f8f6f4_f8_f8 %t, %t, %t", "it is an instruction of gfx1250"),
        ("%x = v_mfma_f32_16x16x16_f16 %t, %t, %t", "it exists on gfx9.4"),
        ("s_buffer_prefetch_data %z, %z {count = 1}", "it exists on gfx12"),
        ("%x = v_ad_f32 %t, %t", "did you mean 'v_add_f32'?"),
    ],
)
def test_an_instruction_of_another_processor_says_whose_it_is(line: str, hint: str) -> None:
    with pytest.raises(LoomError) as caught:
        loom.parse(_source(f"  {line}\n"))
    (found,) = caught.value.diagnostics
    assert found.code == "PARSE/014" and found.hint is not None and hint in found.hint
    assert found.location is not None and found.location.line == 6
