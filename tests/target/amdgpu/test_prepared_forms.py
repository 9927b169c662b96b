"""Prepared Low written as the language reference lists it, through the emitter; expected text: what LLVM's disassembler prints."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import loom

HEAD = """amdgpu.target<gfx1100> @t

low.kernel.def target<amdgpu.rdna3.core>(@t) export("k") workgroup_size(32, 1, 1) @k() asm {
  %o = resource<hal_binding> {index = 0, source_type = hal.buffer} : reg<amdgpu.sgpr x2>
  %t = live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %z = s_mov_b32 0
"""
DESCRIPTOR = (
    "  %d = low.op<amdgpu.hal.buffer_descriptor>(%o) {extent = 1024} : (reg<amdgpu.sgpr x2>) -> reg<amdgpu.sgpr x4>\n"
)


def _disassembly(tmp_path: Path, body: str) -> list[str]:
    source, made = tmp_path / "k.loom", tmp_path / "k.hsaco"
    source.write_text(HEAD + body + "  return\n}\n")
    assert loom.print_module(loom.parse(source.read_text())) == source.read_text()
    command = [sys.executable, "-m", "loom.tools.loom_compile", str(source), "--root=@k", "--pipeline=none"]
    subprocess.run([*command, "--target=amdgpu:gfx1100", f"--output={made}"], check=True, timeout=60)
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
    lines = _disassembly(tmp_path, "  %x = ds_load_u16_d16 %t {offset = 2}\n  global_store_b32_saddr %t, %x, %o\n")
    load = next(x for x in lines if x.startswith("ds_load_u16_d16 "))
    assert load.endswith("offset:2")
    assert any(x.startswith("s_waitcnt lgkmcnt(0)") for x in lines)
