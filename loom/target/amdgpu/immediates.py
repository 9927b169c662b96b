"""Scalar immediates that LLVM writes symbolically: wait counters, messages, hardware registers, delays. Both
directions.

Facts: AMD's instruction set documents (``S_WAITCNT``, ``S_SENDMSG``, ``S_GETREG_B32``, ``S_DELAY_ALU``) and LLVM's
AMDGPU operand syntax.
"""

from __future__ import annotations

import re
from functools import cache

from loom.target.amdgpu.formats import Field
from loom.target.amdgpu.tables import table

_RDNA_COUNTERS = {"vmcnt": ((10, 6),), "expcnt": ((0, 3),), "lgkmcnt": ((4, 6),)}
_CDNA_COUNTERS = {"vmcnt": ((0, 4), (14, 2)), "expcnt": ((4, 3),), "lgkmcnt": ((8, 4),)}
WAITCNT: dict[str, dict[str, Field]] = {
    generation: {name: Field(name, pieces, False, False, 0) for name, pieces in counters.items()}
    for generation, counters in (("gfx11", _RDNA_COUNTERS), ("gfx12", _RDNA_COUNTERS), ("gfx9.4", _CDNA_COUNTERS))
}
"""Where the counters of ``s_waitcnt`` are in its immediate."""

_DEPCTR = {
    "depctr_hold_cnt": (7, 1),
    "depctr_sa_sdst": (0, 1),
    "depctr_va_vdst": (12, 4),
    "depctr_va_sdst": (9, 3),
    "depctr_va_ssrc": (8, 1),
    "depctr_va_vcc": (1, 1),
    "depctr_vm_vsrc": (2, 3),
}
_DEPCTR_MASK = sum(((1 << width) - 1) << shift for shift, width in _DEPCTR.values())

_DELAYS = (
    "NO_DEP", "VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3", "VALU_DEP_4", "TRANS32_DEP_1", "TRANS32_DEP_2", "TRANS32_DEP_3",
    "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3",
)  # fmt: skip
_SKIPS = ("SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4")

_GS_OPERATIONS = {"GS_OP_NOP": 0, "GS_OP_CUT": 1, "GS_OP_EMIT": 2, "GS_OP_EMIT_CUT": 3}
_SYSTEM_OPERATIONS = {"SYSMSG_OP_ECC_ERR_INTERRUPT": 1, "SYSMSG_OP_REG_RD": 2, "SYSMSG_OP_TTRACE_PC": 4}
_MSG_GS, _MSG_GS_DONE, _MSG_SYSTEM = 2, 3, 15

# Scalar immediates written in hexadecimal however small they are.
_HEXADECIMAL = re.compile(
    r"^s_(addk|cmovk|movk|mulk|cmpk|clause|round_mode|set_inst_prefetch_distance|ttracedata_imm|wait_(?!alu|idle)|waitcnt_|inst_prefetch)"
)


def spell(value: int) -> str:
    """How LLVM writes a number: decimal from -16 to 64, hexadecimal beyond."""
    return str(value) if -16 <= value <= 64 else f"0x{value & 0xFFFFFFFF:x}"


def waitcnt_fields(value: int, generation: str) -> dict[str, int]:
    """The counters in an ``s_waitcnt`` immediate; a counter at its largest value is not waited for."""
    return {name: field.extract(value) for name, field in WAITCNT[generation].items()}


def waitcnt_limit(name: str, generation: str) -> int:
    """Largest value of a counter."""
    return (1 << WAITCNT[generation][name].width) - 1


def waitcnt_value(counters: dict[str, int], generation: str) -> int:
    """The ``s_waitcnt`` immediate that waits for these counters and for no other; values above the largest are cut
    to it."""
    value = 0
    for name, field in WAITCNT[generation].items():
        value |= field.insert(min(counters.get(name, 1 << 16), waitcnt_limit(name, generation)))
    return value


def _print_waitcnt(value: int, generation: str) -> str:
    counters = waitcnt_fields(value, generation)
    if waitcnt_value(counters, generation) != value:
        return f"0x{value:x}"  # bits that no counter has
    waited = {n: v for n, v in counters.items() if v != waitcnt_limit(n, generation)} or counters
    return " ".join(f"{name}({count})" for name, count in waited.items())


def _print_depctr(value: int) -> str:
    if value & ~_DEPCTR_MASK:
        return f"0x{value:x}"
    fields = {name: value >> shift & ((1 << width) - 1) for name, (shift, width) in _DEPCTR.items()}
    changed = {n: v for n, v in fields.items() if v != (1 << _DEPCTR[n][1]) - 1} or fields
    return " ".join(f"{name}({count})" for name, count in changed.items())


def _print_delay(value: int) -> str:
    first, skip, second = value & 15, value >> 4 & 7, value >> 7 & 15
    parts = []
    if first:
        parts.append(f"instid0({_DELAYS[first] if first < len(_DELAYS) else '/* invalid instid value */'})")
    if skip:
        parts.append(f"instskip({_SKIPS[skip] if skip < len(_SKIPS) else '/* invalid instskip value */'})")
    if second:
        parts.append(f"instid1({_DELAYS[second] if second < len(_DELAYS) else '/* invalid instid value */'})")
    return " | ".join(parts) or "0"


def _print_message(value: int, generation: str) -> str:
    names = table(generation).names["message"]
    if generation != "gfx9.4":
        name = names.get(str(value))
        if name is not None:
            return f"sendmsg({name})"
        return f"sendmsg({value}, 0, 0)" if value <= 0xFF else str(value)
    identifier, operation, stream = value & 15, value >> 4 & 7, value >> 8 & 3
    name = names.get(str(identifier))
    known = identifier | operation << 4 | stream << 8
    if name is not None and known == value:
        if identifier in (_MSG_GS, _MSG_GS_DONE):
            by_value = {v: k for k, v in _GS_OPERATIONS.items()}
            if operation in by_value and (operation or (identifier == _MSG_GS_DONE and stream == 0)):
                return f"sendmsg({name}, {by_value[operation]}{f', {stream}' if operation else ''})"
        elif identifier == _MSG_SYSTEM:
            by_value = {v: k for k, v in _SYSTEM_OPERATIONS.items()}
            if operation in by_value and stream == 0:
                return f"sendmsg({name}, {by_value[operation]})"
        elif operation == 0 and stream == 0:
            return f"sendmsg({name})"
    return f"sendmsg({identifier}, {operation}, {stream})" if known == value else str(value)


def _print_hwreg(value: int, generation: str) -> str:
    identifier, offset, size = value & 63, value >> 6 & 31, (value >> 11 & 31) + 1
    name = table(generation).names["hwreg"].get(str(identifier), str(identifier))
    return f"hwreg({name})" if offset == 0 and size == 32 else f"hwreg({name}, {offset}, {size})"


def print_immediate(mnemonic: str, kind: str, value: int, generation: str) -> str:
    """An immediate as LLVM writes it. ``kind`` is the slot's type."""
    if kind == "waitcnt":
        return _print_waitcnt(value, generation)
    if kind == "depctr":
        return _print_depctr(value)
    if kind == "sendmsg":
        return _print_message(value, generation)
    if kind == "hwreg":
        return _print_hwreg(value, generation)
    if kind == "delay_alu":
        return _print_delay(value)
    if _HEXADECIMAL.match(mnemonic):
        return f"0x{value & 0xFFFF:x}"
    return spell(value)


@cache
def _message_ids(generation: str) -> dict[str, int]:
    return {name: int(number) for number, name in table(generation).names["message"].items()}


@cache
def _hwreg_ids(generation: str) -> dict[str, int]:
    return {name: int(number) for number, name in table(generation).names["hwreg"].items()}


def function_value(name: str, arguments: list[str | int], generation: str) -> int | None:
    """Value of ``sendmsg(…)`` or ``hwreg(…)`` with names and numbers as arguments; ``None`` if it is not well
    formed."""

    def number(item: str | int, names: dict[str, int]) -> int | None:
        return item if isinstance(item, int) else names.get(item)

    if not arguments:
        return None
    if name == "hwreg":
        identifier = number(arguments[0], _hwreg_ids(generation))
        rest = [a for a in arguments[1:] if isinstance(a, int)]
        if identifier is None or len(rest) != len(arguments) - 1 or len(rest) not in (0, 2):
            return None
        offset, size = (rest[0], rest[1]) if rest else (0, 32)
        if not (0 <= identifier < 64 and 0 <= offset < 32 and 1 <= size <= 32):
            return None
        return identifier | offset << 6 | (size - 1) << 11
    identifier = number(arguments[0], _message_ids(generation))
    if identifier is None:
        return None
    value = identifier
    if len(arguments) > 1:
        operation = number(arguments[1], {**_GS_OPERATIONS, **_SYSTEM_OPERATIONS})
        if operation is None:
            return None
        value |= operation << 4
    if len(arguments) > 2:
        stream = arguments[2]
        if not isinstance(stream, int):
            return None
        value |= stream << 8
    return value


def swizzle_offset(mode: str, arguments: list[int], mask: str = "") -> int | None:
    """The ``ds_swizzle_b32`` offset for a pattern, ``None`` if the arguments are wrong."""
    if mode == "QUAD_PERM" and len(arguments) == 4 and all(0 <= lane < 4 for lane in arguments):
        return 0x8000 | sum(lane << 2 * at for at, lane in enumerate(arguments))
    if mode == "BITMASK_PERM" and len(mask) == 5 and not set(mask) - set("01pi"):
        keep = fixed = flip = 0
        for char in mask:
            keep, fixed, flip = keep << 1 | (char in "pi"), fixed << 1 | (char == "1"), flip << 1 | (char == "i")
        return keep | fixed << 5 | flip << 10
    if mode == "SWAP" and len(arguments) == 1:
        return 31 | arguments[0] << 10
    if mode == "REVERSE" and len(arguments) == 1:
        return 31 | arguments[0] - 1 << 10
    if mode == "BROADCAST" and len(arguments) == 2:
        return 32 - arguments[0] | arguments[1] << 5
    if mode == "ROTATE" and len(arguments) == 2:
        return 0xC000 | arguments[0] << 10 | arguments[1] << 5
    if mode == "FFT" and len(arguments) == 1:
        return 0xE000 | arguments[0]
    return None


def depctr_field(name: str) -> tuple[int, int] | None:
    """Place of a ``depctr_…`` field: shift and width."""
    return _DEPCTR.get(name)


def delay_value(name: str, argument: str) -> int | None:
    """Bits of one part of an ``s_delay_alu`` operand."""
    if name == "instskip" and argument in _SKIPS:
        return _SKIPS.index(argument) << 4
    if name in ("instid0", "instid1") and argument in _DELAYS:
        return _DELAYS.index(argument) << (0 if name == "instid0" else 7)
    return None
