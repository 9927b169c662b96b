"""Every load, store and atomic of gfx11, each in a kernel of its own, against a model in Python."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from loom.device.protocol import Completed
from loom.low.semantics.memory import memory_operation
from loom.target.amdgpu.tables import table
from tests.target.amdgpu.simulator.asm import Assembler

U = np.uint32
INPUT = (np.arange(512, dtype=np.uint64) * 2654435761 + 12345).astype(U)
DATA = INPUT.tobytes()
SIZES = {"b8": 1, "u8": 1, "i8": 1, "b16": 2, "u16": 2, "i16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16}
OLD = 0x11112222


@pytest.fixture
def asm(oracle: Callable[[str], str]) -> Assembler:
    return Assembler(oracle)


def names(space: str, kind: str) -> Iterator[str]:
    for row in table("gfx11").rows():
        memory = row.memory
        if memory is None or memory.space != space or memory.kind != kind or memory_operation(row.semantic) is None:
            continue
        if "addtid" in row.mnemonic or "2addr" in row.mnemonic:
            continue
        yield row.mnemonic


def shape(name: str) -> tuple[int, bool, int | None]:
    """Bytes, whether signed, and the half a d16 form names."""
    found = re.search(r"([biu]\d+)", name.partition("_")[2])
    assert found
    half = None
    if "d16" in name:
        half = 1 if "hi" in name else 0
    return SIZES[found.group(1)], found.group(1)[0] == "i", half


def loaded(name: str, at: int) -> list[int]:
    size, signed, half = shape(name)
    raw = DATA[at : at + size]
    if size >= 4:
        return list(struct.unpack(f"<{size // 4}I", raw))
    value = int.from_bytes(raw, "little", signed=signed)
    if half is None:
        return [value & 0xFFFFFFFF]
    short = value & 0xFFFF
    return [short << 16 | OLD & 0xFFFF if half else OLD & 0xFFFF0000 | short]


HEAD = f"""
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v8, {OLD:#x}
  v_mov_b32 v9, {OLD:#x}
  v_mov_b32 v10, {OLD:#x}
  v_mov_b32 v11, {OLD:#x}
  s_mov_b64 s[8:9], src_shared_base
  s_mov_b64 s[10:11], src_private_base
  s_waitcnt lgkmcnt(0)
  v_add_co_u32 v2, s12, s4, v1
  v_add_co_ci_u32 v3, s12, s5, 0, s12
  v_add_co_u32 v4, s12, s6, v1
  v_add_co_ci_u32 v5, s12, s7, 0, s12
  v_add_nc_u32 v6, 3, v1
  s_mov_b32 s16, s4
  s_mov_b32 s17, s5
  s_mov_b32 s18, 2048
  s_mov_b32 s19, 0x31014000
  s_mov_b32 s20, s6
  s_mov_b32 s21, s7
  s_mov_b32 s22, 2048
  s_mov_b32 s23, 0x31014000
"""
STORE_RESULT = """
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_b128 v1, v[8:11], s[6:7]
  s_endpgm
"""
FILL = """
  global_load_b128 v[12:15], v1, s[4:5]
  s_waitcnt vmcnt(0)
"""


def registers(size: int) -> str:
    words = max(1, size // 4)
    return "v8" if words == 1 else f"v[8:{7 + words}]"


def load_text(name: str, space: str) -> str:
    size, _, _ = shape(name)
    target = registers(size)
    # An odd offset where the hardware allows any alignment.
    if space == "global":
        return f"  {name} {target}, v1, s[4:5] offset:3\n"
    if space == "flat":
        return f"  {name} {target}, v[2:3] offset:3\n"
    if space == "buffer":
        return f"  {name} {target}, v1, s[16:19], 0 offen offset:3\n"
    if space == "lds":
        return FILL + f"  ds_store_b128 v1, v[12:15]\n  s_waitcnt lgkmcnt(0)\n  {name} {target}, v1 offset:4\n"
    return (
        FILL + "  v_mov_b32 v7, 0\n  scratch_store_b128 v7, v[12:15], off\n  s_waitcnt_vscnt null, 0\n"
        f"  {name} {target}, v7, off\n"
    )


LOADS = [
    (s, n)
    for s in ("global", "flat", "buffer", "lds", "scratch")
    for n in names(s, "load")
    if "lds" not in n or s == "lds"
]
QUICK_LOADS = [x for x in LOADS if x[0] in ("global", "lds")]


def check_load(asm: Assembler, space: str, name: str) -> None:
    outcome, out = asm.run(HEAD + load_text(name, space) + STORE_RESULT, INPUT, 128, lds=1024, scratch=16)
    assert isinstance(outcome, Completed), outcome
    shift = {"global": 3, "flat": 3, "buffer": 3, "lds": 4, "scratch": 0}[space]
    for lane in range(32 if space != "lds" else 31):
        want = loaded(name, 16 * lane + shift)
        got = out[4 * lane : 4 * lane + 4].tolist()
        assert got == want + [OLD] * (4 - len(want)), (name, lane)


@pytest.mark.parametrize(("space", "name"), QUICK_LOADS)
def test_load(asm: Assembler, space: str, name: str) -> None:
    check_load(asm, space, name)


@pytest.mark.full
@pytest.mark.parametrize(("space", "name"), [x for x in LOADS if x not in QUICK_LOADS])
def test_load_of_other_spaces(asm: Assembler, space: str, name: str) -> None:
    check_load(asm, space, name)


STORES = [(s, n) for s in ("global", "flat", "buffer", "lds", "scratch") for n in names(s, "store")]
QUICK_STORES = [x for x in STORES if x[0] in ("global", "lds")]


def check_store(asm: Assembler, space: str, name: str) -> None:
    size, _, half = shape(name)
    source = registers(size).replace("8", "12", 1) if size <= 4 else f"v[12:{11 + size // 4}]"
    body = HEAD + FILL
    if space == "global":
        body += f"  {name} v1, {source}, s[6:7] offset:1\n  s_endpgm\n"
    elif space == "flat":
        body += f"  {name} v[4:5], {source} offset:1\n  s_endpgm\n"
    elif space == "buffer":
        body += f"  {name} {source}, v1, s[20:23], 0 offen offset:1\n  s_endpgm\n"
    elif space == "lds":
        zero = "  v_mov_b32 v8, 0\n  v_mov_b32 v9, 0\n  v_mov_b32 v10, 0\n  v_mov_b32 v11, 0\n"
        body += zero + "  ds_store_b128 v1, v[8:11]\n  ds_store_b128 v1, v[8:11] offset:16\n"
        body += f"  {name} v1, {source} offset:1\n  s_waitcnt lgkmcnt(0)\n  ds_load_b128 v[8:11], v1\n" + STORE_RESULT
    else:
        zero = "  v_mov_b32 v7, 0\n  v_mov_b32 v8, 0\n  v_mov_b32 v9, 0\n  v_mov_b32 v10, 0\n  v_mov_b32 v11, 0\n"
        body += zero + "  scratch_store_b128 v7, v[8:11], off\n"
        body += (
            f"  {name} v7, {source}, off offset:1\n  s_waitcnt_vscnt null, 0\n  scratch_load_b128 v[8:11], v7, off\n"
        )
        body += STORE_RESULT
    outcome, out = asm.run(body, INPUT, 512, lds=1024, scratch=32)
    assert isinstance(outcome, Completed), outcome
    memory = bytearray(2048)
    for lane in range(32):
        data = DATA[16 * lane : 16 * lane + 16]
        raw = data[2:4][:size] if half else data[:size]
        at = 16 * lane + 1
        if space == "scratch":
            # The lane's own bytes; what passes the sixteenth is not read back.
            raw = raw[:15]
        memory[at : at + len(raw)] = raw
    got = out.tobytes()
    whole = 2048 if space in ("global", "flat", "buffer") else 512 if space == "scratch" else 496
    assert got[:whole] == bytes(memory[:whole]), name


@pytest.mark.parametrize(("space", "name"), QUICK_STORES)
def test_store(asm: Assembler, space: str, name: str) -> None:
    check_store(asm, space, name)


@pytest.mark.full
@pytest.mark.parametrize(("space", "name"), [x for x in STORES if x not in QUICK_STORES])
def test_store_of_other_spaces(asm: Assembler, space: str, name: str) -> None:
    check_store(asm, space, name)


# Atomics: lanes act in ascending order on one address.


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def number(value: int, bits: int) -> float:
    return float(struct.unpack("<f" if bits == 32 else "<d", value.to_bytes(bits // 8, "little"))[0])


def pattern(value: float, bits: int) -> int:
    return int.from_bytes(struct.pack("<f" if bits == 32 else "<d", value), "little")


def combine(name: str, bits: int, old: int, data: int, compare: int) -> int:
    """The memory's new value; ``name`` is the operation without space, ``rtn`` and type."""
    float_type = re.search(r"_f(32|64)$", name) is not None
    operation = re.sub(r"_(rtn_)?[biuf]\d+$", "", name)
    mask = (1 << bits) - 1
    if float_type:
        a, b = number(old, bits), number(data, bits)
        if operation == "add":
            return pattern(float(np.float32(a) + np.float32(b)) if bits == 32 else a + b, bits)
        if operation in ("min", "max"):
            return pattern((min if operation == "min" else max)(a, b), bits)
        return data if a == number(compare, bits) else old
    is_signed = re.search(r"_i\d+$", name) is not None
    a, b = (signed(old, bits), signed(data, bits)) if is_signed else (old, data)
    flagged = [
        d & 0x7FFFFFFF if d >> 31 else o for o, d in ((old & 0xFFFFFFFF, data & 0xFFFFFFFF), (old >> 32, data >> 32))
    ]
    table_: dict[str, int] = {
        "condxchg32": flagged[0] | flagged[1] << 32,
        "add": old + data, "sub": old - data, "rsub": data - old, "csub": max(old - data, 0), "min": min(a, b), "max": max(a, b),
        "and": old & data, "or": old | data, "xor": old ^ data, "inc": 0 if old >= data else old + 1,
        "dec": data if old == 0 or old > data else old - 1, "swap": data, "storexchg": data,
        "cmpswap": data if old == compare else old, "cmpstore": data if old == compare else old,
        "wrap": old - data if old >= data else old + compare, "mskor": old & ~data | compare,
    }  # fmt: skip
    return table_[operation] & mask


ATOMICS = [(s, n) for s in ("global", "flat", "buffer", "lds") for n in names(s, "atomic") if "pk_" not in n]
QUICK_ATOMICS = [x for x in ATOMICS if x[0] == "lds" and "rtn" in x[1]]


def check_atomic(asm: Assembler, space: str, name: str) -> None:
    operation = name.partition("_")[2].removeprefix("atomic_")
    bits = int(re.search(r"[biuf](32|64)$", operation).group(1))  # type: ignore[union-attr]
    words = bits // 32
    compares = any(k in operation for k in ("cmpswap", "cmpstore", "wrap", "mskor"))
    float_type = operation.rpartition("_")[2][0] == "f"
    values = np.linspace(-5, 7, 64) if float_type else None
    data = INPUT.copy()
    if values is not None:
        data[:128] = np.resize(values.astype(np.float32).view(U) if bits == 32 else values.view(U), 128)
    # Lane i: data from words 2 i, comparison value from words 2 i + 64; half of the comparisons match on purpose.
    load = f"  v_lshlrev_b32 v7, {2 if words == 1 else 3}, v0\n  global_load_b{bits} {reg(12, words)}, v7, s[4:5]\n"
    load += f"  global_load_b{bits} {reg(12 + words, words)}, v7, s[4:5] offset:256\n  s_waitcnt vmcnt(0)\n"
    returning = space != "lds" or "rtn" in operation
    both = reg(12, 2 * words) if compares else reg(12, words)
    target = reg(8, words)
    if space == "lds":
        start = "  v_mov_b32 v7, 8\n  v_mov_b32 v16, 0\n  v_mov_b32 v17, 0\n  ds_store_b64 v7, v[16:17]\n  s_waitcnt lgkmcnt(0)\n"
        second = f", {reg(12 + words, words)}" if compares else ""
        act = f"  {name} {target + ', ' if returning else ''}v7, {reg(12, words)}{second}\n"
        finish = f"  s_waitcnt lgkmcnt(0)\n  ds_load_b{bits} {reg(18, words)}, v7\n  s_waitcnt lgkmcnt(0)\n"
    else:
        start = "  v_mov_b32 v7, 0x400\n  v_add_co_u32 v4, s12, s6, v7\n  v_add_co_ci_u32 v5, s12, s7, 0, s12\n"
        if space == "global":
            act = f"  {name} {target}, v7, {both}, s[6:7] glc\n"
        elif space == "flat":
            act = f"  {name} {target}, v[4:5], {both} glc\n"
        else:
            act = f"  {name} {both}, v7, s[20:23], 0 offen glc\n  s_waitcnt vmcnt(0)\n"
            act += "".join(f"  v_mov_b32 v{8 + k}, v{12 + k}\n" for k in range(words))
        finish = f"  s_waitcnt vmcnt(0) lgkmcnt(0)\n  global_load_b{bits} {reg(18, words)}, v7, s[6:7]\n  s_waitcnt vmcnt(0)\n"
    move = "".join(f"  v_mov_b32 v{10 + k}, v{18 + k}\n" for k in range(words))
    outcome, out = asm.run(HEAD + load + start + act + finish + move + STORE_RESULT, data, 512, lds=64, scratch=16)
    assert isinstance(outcome, Completed), outcome
    raw = data.tobytes()
    size = bits // 8
    value = 0
    for lane in range(32):
        operand = int.from_bytes(raw[lane * size : lane * size + size], "little")
        compare = int.from_bytes(raw[256 + lane * size : 256 + lane * size + size], "little")
        old = value
        value = combine(operation, bits, old, operand, compare)
        if returning:
            got = out[4 * lane : 4 * lane + words].tolist()
            assert got == [old >> 32 * k & 0xFFFFFFFF for k in range(words)], (name, lane)
    assert out[2 : 2 + words].tolist() == [value >> 32 * k & 0xFFFFFFFF for k in range(words)], name


def reg(first: int, count: int) -> str:
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


ONE_ADDRESS = [x for x in ATOMICS if "2addr" not in x[1]]


@pytest.mark.parametrize(("space", "name"), [x for x in ONE_ADDRESS if x in QUICK_ATOMICS])
def test_atomic(asm: Assembler, space: str, name: str) -> None:
    check_atomic(asm, space, name)


@pytest.mark.full
@pytest.mark.parametrize(("space", "name"), [x for x in ONE_ADDRESS if x not in QUICK_ATOMICS])
def test_atomic_of_other_spaces(asm: Assembler, space: str, name: str) -> None:
    check_atomic(asm, space, name)
