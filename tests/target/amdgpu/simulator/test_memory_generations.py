"""Every plain load, store and atomic of gfx12 and gfx9.4, many in one kernel, against the model of the gfx11 tests."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

import numpy as np
import pytest

from loom.device.protocol import Completed
from loom.low.semantics.memory import memory_operation
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.tables import table
from tests.target.amdgpu.simulator.asm import Assembler
from tests.target.amdgpu.simulator.test_memory_rows import DATA, INPUT, OLD, combine, loaded, reg, shape

U = np.uint32
MACHINES = {"gfx12": ("gfx1201", 32), "gfx9.4": ("gfx950", 64)}
SPACES = ("global", "flat", "buffer", "lds", "scratch")


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def rows(generation: str, space: str, kind: str) -> list[InstructionRow]:
    return [
        r for r in table(generation).rows()
        if r.memory is not None and r.memory.space == space and r.memory.kind == kind and memory_operation(r.semantic)
        and "addtid" not in r.mnemonic and "2addr" not in r.semantic and "condxchg" not in r.mnemonic
    ]  # fmt: skip


class Dialect:
    """How a generation spells what the kernels here need."""

    def __init__(self, generation: str) -> None:
        self.new = generation == "gfx12"
        self.processor, self.wave = MACHINES[generation]
        self.wait = (
            "  s_wait_loadcnt_dscnt 0x0\n  s_wait_storecnt_dscnt 0x0\n"
            if self.new
            else "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
        )
        self.scalar_wait = "  s_wait_kmcnt 0x0\n" if self.new else "  s_waitcnt lgkmcnt(0)\n"
        self.load4 = "global_load_b128" if self.new else "global_load_dwordx4"
        self.store4 = "global_store_b128" if self.new else "global_store_dwordx4"
        self.lds_store4 = "ds_store_b128" if self.new else "ds_write_b128"
        self.zero = "null" if self.new else "0"
        self.returns = " th:TH_ATOMIC_RETURN" if self.new else " sc0"
        self.flags = "0x31014000" if self.new else "0x27000"

    def head(self) -> str:
        """v1 = 16 * lane; s[4:5] input, s[6:7] output; s[16:19] and s[20:23] buffers over them."""
        load = "s_load_b128" if self.new else "s_load_dwordx4"
        return f"""
  {load} s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
{self.scalar_wait}  s_mov_b32 s16, s4
  s_mov_b32 s17, s5
  s_mov_b32 s18, 2048
  s_mov_b32 s19, {self.flags}
  s_mov_b32 s20, s6
  s_mov_b32 s21, s7
  s_mov_b32 s22, -1
  s_mov_b32 s23, {self.flags}
  v_mov_b32 v7, 0
"""

    def address(self, scalar: int) -> str:
        """v[2:3] = scalar base + v1."""
        if self.new:
            return (
                f"  s_wait_alu depctr_sa_sdst(0)\n  v_add_co_u32 v2, vcc_lo, s{scalar}, v1\n  v_mov_b32 v3, s{scalar + 1}\n"
                "  s_wait_alu depctr_va_vcc(0)\n  v_add_co_ci_u32 v3, vcc_lo, 0, v3, vcc_lo\n"
            )
        return (
            f"  v_mov_b32 v3, s{scalar + 1}\n  v_add_co_u32 v2, vcc, s{scalar}, v1\n  s_nop 4\n"
            "  v_addc_co_u32 v3, vcc, 0, v3, vcc\n"
        )

    def next_output(self, size: int) -> str:
        carry = "s_addc_u32"
        return f"  s_add_u32 s6, s6, {size}\n  {carry} s7, s7, 0\n"


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("generation", MACHINES)
def test_loads(asm: Assembler, generation: str, space: str) -> None:
    d = Dialect(generation)
    chosen = [r for r in rows(generation, space, "load")]
    body = d.head() + f"  {d.load4} v[12:15], v1, s[4:5]\n" + d.wait + d.address(4)
    if space == "lds":
        body += f"  {d.lds_store4} v1, v[12:15]\n" + d.wait
    if space == "scratch":
        body += f"  scratch_store_{'b128' if d.new else 'dwordx4'} v7, v[12:15], off\n" + d.wait
    shift = {"lds": 4, "scratch": 0}.get(space, 3)
    for row in chosen:
        size = shape(row.semantic)[0]
        target = reg(8, max(1, size // 4))
        operand = {
            "global": "v1, s[4:5] offset:3", "flat": "v[2:3] offset:3", "buffer": f"v1, s[16:19], {d.zero} offen offset:3",
            "lds": "v1 offset:4", "scratch": "v7, off",
        }[space]  # fmt: skip
        body += "".join(f"  v_mov_b32 v{k}, {OLD:#x}\n" for k in range(8, 12))
        body += f"  {row.mnemonic} {target}, {operand}\n{d.wait}  {d.store4} v1, v[8:11], s[6:7]\n" + d.next_output(
            16 * d.wave
        )
    outcome, out = asm.run(
        body + "  s_endpgm\n", INPUT, 4 * d.wave * len(chosen), processor=d.processor, wave=d.wave, lds=2048, scratch=16
    )
    assert isinstance(outcome, Completed), outcome
    assert len(chosen) >= 13
    for row, block in zip(chosen, out.reshape(len(chosen), d.wave, 4), strict=True):
        for lane in range(d.wave - 1):
            want = loaded(row.semantic, 16 * lane + shift)
            assert block[lane].tolist() == want + [OLD] * (4 - len(want)), (row.mnemonic, lane)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("generation", MACHINES)
def test_stores(asm: Assembler, generation: str, space: str) -> None:
    d = Dialect(generation)
    chosen = rows(generation, space, "store")
    body = d.head() + f"  {d.load4} v[12:15], v1, s[4:5]\n" + d.wait
    zeros = "".join(f"  v_mov_b32 v{k}, 0\n" for k in range(8, 12))
    for row in chosen:
        source = reg(12, max(1, shape(row.semantic)[0] // 4))
        body += zeros
        if space == "flat":
            body += d.address(6) + f"  {row.mnemonic} v[2:3], {source} offset:1\n"
        elif space == "global":
            body += f"  {row.mnemonic} v1, {source}, s[6:7] offset:1\n"
        elif space == "buffer":
            body += f"  s_mov_b32 s20, s6\n  s_mov_b32 s21, s7\n  {row.mnemonic} {source}, v1, s[20:23], {d.zero} offen offset:1\n"
        elif space == "lds":
            body += f"  {d.lds_store4} v1, v[8:11]\n{d.wait}  {row.mnemonic} v1, {source} offset:1\n{d.wait}"
            body += f"  {'ds_load_b128' if d.new else 'ds_read_b128'} v[8:11], v1\n{d.wait}  {d.store4} v1, v[8:11], s[6:7]\n"
        else:
            wide = "b128" if d.new else "dwordx4"
            body += f"  scratch_store_{wide} v7, v[8:11], off\n{d.wait}  {row.mnemonic} v7, {source}, off offset:1\n{d.wait}"
            body += f"  scratch_load_{wide} v[8:11], v7, off\n{d.wait}  {d.store4} v1, v[8:11], s[6:7]\n"
        body += d.wait + d.next_output(16 * d.wave + 16)
    stride = 4 * d.wave + 4
    outcome, out = asm.run(
        body + "  s_endpgm\n", INPUT, stride * len(chosen), processor=d.processor, wave=d.wave, lds=2048, scratch=32
    )
    assert isinstance(outcome, Completed), outcome
    assert len(chosen) >= 8
    for row, block in zip(chosen, out.reshape(len(chosen), stride), strict=True):
        size, _, half = shape(row.semantic)
        memory = bytearray(4 * stride)
        for lane in range(d.wave):
            data = DATA[16 * lane : 16 * lane + 16]
            raw = data[2:4][:size] if half else data[:size]
            if space == "scratch" or (space == "lds" and size == 16):
                raw = raw[
                    :15
                ]  # what passes the lane's own sixteen bytes is not read back, or overwritten by the next lane
            memory[16 * lane + 1 : 16 * lane + 1 + len(raw)] = raw
        got = block.tobytes()
        if space == "lds" and size == 16:
            # The byte behind each lane's sixteen belongs to the next lane's first.
            for lane in range(1, d.wave):
                memory[16 * lane] = DATA[16 * (lane - 1) + 15]
        whole = 16 * d.wave if space in ("lds", "scratch") else len(got)
        if size == 16 and space not in ("lds", "scratch"):
            memory = bytearray(4 * stride)
            memory[1 : 1 + 16 * d.wave] = DATA[: 16 * d.wave]
        assert got[:whole] == bytes(memory[:whole]), row.mnemonic


def half_sum(kind: str, a: int, b: int) -> int:
    if kind == "f16":
        x, y = (np.frombuffer(struct.pack("<H", v), np.float16)[0] for v in (a, b))
        return int(np.float16(x + y).view(np.uint16))
    total = (
        np.frombuffer(struct.pack("<I", a << 16), np.float32)[0]
        + np.frombuffer(struct.pack("<I", b << 16), np.float32)[0]
    )
    pattern = int(np.float32(total).view(U))
    return pattern + 0x7FFF + (pattern >> 16 & 1) >> 16


def new_value(operation: str, bits: int, old: int, data: int, compare: int) -> int:
    """:func:`combine` and what gfx12 and gfx9.4 have besides."""
    operation = operation.replace("_rtn", "").replace("max_num", "max").replace("min_num", "min")
    if operation.startswith("pk_add"):
        kind = operation.rpartition("_")[2]
        return sum(half_sum(kind, old >> s & 0xFFFF, data >> s & 0xFFFF) << s for s in (0, 16))
    if operation == "cond_sub_u32":
        return old - data if old >= data else old
    if operation == "sub_clamp_u32":
        return max(old - data, 0)
    return combine(operation, bits, old, data, compare)


@pytest.mark.parametrize("space", SPACES[:4])
@pytest.mark.parametrize("generation", MACHINES)
def test_atomics(asm: Assembler, generation: str, space: str) -> None:
    """All lanes act on one place in ascending order; each gets what it found there."""
    d = Dialect(generation)
    chosen = [r for r in rows(generation, space, "atomic")]
    rng = np.random.default_rng(2)
    count = 2 * d.wave
    integers = rng.integers(0, 1 << 32, 2 * count, dtype=np.uint64).astype(U)
    integers[::3] &= U(0xFF)
    singles = np.linspace(-5, 7, 2 * count).astype(np.float32).view(U)
    doubles = np.linspace(-5, 7, count).view(U)
    halves = np.linspace(-5, 7, 4 * count).astype(np.float16).view(U)
    brains = (np.linspace(-5, 7, 4 * count).astype(np.float32).view(U) >> 16).astype(np.uint16).view(U)
    tables = [integers, singles, doubles, halves, brains]
    data = np.concatenate(tables)
    body = d.head()
    for row in chosen:
        operation = row.semantic.partition("_")[2].removeprefix("atomic_")
        type_ = operation.rpartition("_")[2]
        bits = 32 if operation.startswith("pk_") else int(type_[1:])
        words = bits // 32
        which = {"f32": 1, "f64": 2, "f16": 3, "bf16": 4}.get(type_, 0)
        wide = {1: "b32", 2: "b64"}[words] if d.new else {1: "dword", 2: "dwordx2"}[words]
        start = 4 * len(integers) * which
        body += f"  v_lshlrev_b32 v6, {1 + words}, v0\n  v_add_{'nc_' if d.new else ''}u32 v10, {start}, v6\n"
        body += f"  global_load_{wide} {reg(12, words)}, v10, s[4:5]\n  global_load_{wide} {reg(12 + words, words)}, v10, s[4:5] offset:{4 * words * d.wave}\n"
        body += d.wait
        compares = any(k in operation for k in ("cmpswap", "cmpstore", "wrap", "mskor"))
        returning = space != "lds" or "_rtn" in row.semantic
        target, first, second = reg(8, words), reg(12, words), reg(12 + words, words)
        if space == "lds":
            pair = f"{second}, {first}" if not d.new and "cmpst" in row.mnemonic else f"{first}, {second}"
            body += f"  v_mov_b32 v20, 0\n  v_mov_b32 v21, 0\n  ds_{'store' if d.new else 'write'}_b64 v7, v[20:21] offset:8\n{d.wait}"
            body += f"  {row.mnemonic} {target + ', ' if returning else ''}v7, {pair if compares else first} offset:8\n{d.wait}"
            body += f"  ds_{'load' if d.new else 'read'}_b64 v[20:21], v7 offset:8\n{d.wait}"
            body += f"  global_store_{'b64' if d.new else 'dwordx2'} v7, v[20:21], s[6:7]\n{d.wait}"
        else:
            both = reg(12, 2 * words) if compares else first
            if space == "global":
                body += f"  {row.mnemonic} {target}, v7, {both}, s[6:7]{d.returns}\n"
            elif space == "flat":
                body += "  s_wait_alu depctr_sa_sdst(0)\n" if d.new else ""
                body += (
                    f"  v_mov_b32 v2, s6\n  v_mov_b32 v3, s7\n  {row.mnemonic} {target}, v[2:3], {both}{d.returns}\n"
                )
            else:
                body += f"  s_mov_b32 s20, s6\n  s_mov_b32 s21, s7\n  {row.mnemonic} {both}, v7, s[20:23], {d.zero} offen{d.returns}\n{d.wait}"
                body += "".join(f"  v_mov_b32 v{8 + k}, v{12 + k}\n" for k in range(words))
            body += d.wait
        body += f"  global_store_{wide} v6, {target}, s[6:7] offset:16\n" + d.next_output(16 + 8 * d.wave)
    stride = 4 + 2 * d.wave
    outcome, out = asm.run(
        body + "  s_endpgm\n", data, stride * len(chosen), processor=d.processor, wave=d.wave, lds=64
    )
    assert isinstance(outcome, Completed), outcome
    assert len(chosen) >= 32
    for row, block in zip(chosen, out.reshape(len(chosen), stride), strict=True):
        operation = row.semantic.partition("_")[2].removeprefix("atomic_")
        type_ = operation.rpartition("_")[2]
        bits = 32 if operation.startswith("pk_") else int(type_[1:])
        size = bits // 8
        source = tables[{"f32": 1, "f64": 2, "f16": 3, "bf16": 4}.get(type_, 0)].tobytes()
        value = 0
        for lane in range(d.wave):
            operand = int.from_bytes(source[lane * size :][:size], "little")
            compare = int.from_bytes(source[(d.wave + lane) * size :][:size], "little")
            if space != "lds" or "_rtn" in row.semantic:
                got = int.from_bytes(block[4:].tobytes()[lane * size :][:size], "little")
                assert got == value, (row.mnemonic, lane)
            value = new_value(operation, bits, value, operand, compare)
        assert int.from_bytes(block.tobytes()[:size], "little") == value, row.mnemonic


def test_scalar_loads_of_gfx12(asm: Assembler) -> None:
    """Bytes, halves and three words, from memory and through a resource."""
    d = Dialect("gfx12")
    names = [("i8", 1, True), ("u8", 1, False), ("i16", 2, True), ("u16", 2, False), ("b96", 12, False)]
    body = d.head()
    for buffered in (False, True):
        for type_, size, _ in names:
            target = "s[24:26]" if size == 12 else "s24"
            base = "s_buffer_load_{} {}, s[16:19], 0x14" if buffered else "s_load_{} {}, s[4:5], 0x14"
            body += "  s_mov_b32 s24, 0\n  s_mov_b32 s25, 0\n  s_mov_b32 s26, 0\n"
            body += f"  {base.format(type_, target)}\n{d.scalar_wait}"
            body += (
                "  v_mov_b32 v8, s24\n  v_mov_b32 v9, s25\n  v_mov_b32 v10, s26\n  global_store_b96 v7, v[8:10], s[6:7]\n"
                + d.next_output(12)
            )
    outcome, out = asm.run(body + "  s_endpgm\n", INPUT, 30, processor="gfx1201")
    assert isinstance(outcome, Completed), outcome
    for buffered in range(2):
        for k, (type_, size, is_signed) in enumerate(names):
            raw = DATA[20 : 20 + size]
            value = int.from_bytes(raw, "little", signed=is_signed) & ((1 << max(32, 8 * size)) - 1)
            got = int.from_bytes(out[15 * buffered + 3 * k :][:3].tobytes(), "little")
            assert got == value, type_


def test_every_semantic_name_has_a_model() -> None:
    """The model above must not take an unknown operation for a known one."""
    for generation in MACHINES:
        for space in SPACES[:4]:
            for row in rows(generation, space, "atomic"):
                operation = row.semantic.partition("_")[2].removeprefix("atomic_")
                assert re.fullmatch(r"[a-z_]+(_rtn)?_([biu](32|64)|f(16|32|64)|bf16)", operation), row.semantic
