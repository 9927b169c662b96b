"""Modifiers behind the operands: what each name means, as a table."""

from __future__ import annotations

import re
from collections.abc import Callable

from loom.target.amdgpu.assembler.expressions import Cursor, Token, failure
from loom.target.amdgpu.assembler.reading import Reading
from loom.target.amdgpu.assembler.registers import NAMED
from loom.target.amdgpu.immediates import swizzle_offset
from loom.target.amdgpu.tables import table

Modifiers = dict[str, int]
Read = Callable[[Reading, Token, Modifiers], None]

FLAGS = frozenset(("glc", "slc", "dlc", "sc0", "sc1", "nt", "nv", "gds", "offen", "idxen", "tfe", "lds", "clamp"))
_SELECTS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_UNUSED = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")
_SCOPES = ("SCOPE_CU", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS")
_HINTS = {
    "LOAD": {"RT": 0, "NT": 1, "HT": 2, "LU": 3, "BYPASS": 3, "NT_RT": 4, "RT_NT": 5, "NT_HT": 6},
    "STORE": {"RT": 0, "NT": 1, "HT": 2, "WB": 3, "BYPASS": 3, "NT_RT": 4, "RT_NT": 5, "NT_HT": 6, "NT_WB": 7},
    "ATOMIC": {"RT": 0, "RETURN": 1, "RT_RETURN": 1, "NT": 2, "NT_RETURN": 3, "CASCADE_RT": 4, "CASCADE_NT": 6},
}
_DPP_BASES = {
    "row_shl": 0x100,
    "row_shr": 0x110,
    "row_ror": 0x120,
    "row_share": 0x150,
    "row_newbcast": 0x150,
    "row_xmask": 0x160,
}
_DPP_FIXED = {"wave_shl": 0x130, "wave_rol": 0x134, "wave_shr": 0x138, "wave_ror": 0x13C}
_DPP_WORDS = {"row_mirror": 0x140, "row_half_mirror": 0x141}
_OUTPUT_FACTORS = {("mul", 1): 0, ("mul", 2): 1, ("mul", 4): 2, ("div", 1): 0, ("div", 2): 3}


def at_modifier(cursor: Cursor) -> bool:
    """Whether a modifier stands here, not an operand."""
    token = cursor.token
    if token.kind != "name":
        return False
    if cursor.tokens[cursor.at + 1].text == ":" and token.text not in NAMED:
        return True
    return token.text in FLAGS or token.text in _DPP_WORDS


def read_modifier(reading: Reading, modifiers: Modifiers) -> None:
    """Read one modifier into ``modifiers``.

    Raises:
        LoomError: ``ASM/006`` for a value that it does not take.
    """
    cursor = reading.cursor
    token = cursor.next()
    name = token.text
    if name in FLAGS and cursor.token.text != ":":
        modifiers[name] = 1
    elif name in _DPP_WORDS:
        modifiers["dpp_ctrl"] = _DPP_WORDS[name]
    elif token.kind != "name" or not cursor.accept(":"):
        raise failure(f"unexpected '{name}'", cursor.location, token.column)
    else:
        _READERS.get(name, _number)(reading, token, modifiers)


def _fail(reading: Reading, token: Token, message: str) -> Exception:
    return failure(message, reading.cursor.location, token.column, "ASM/006")


def _number(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    modifiers[token.text] = reading.number()


def _output_factor(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    value = reading.number()
    code = _OUTPUT_FACTORS.get((token.text, value))
    if code is None:
        raise _fail(reading, token, f"{token.text}:{value} does not exist; mul:2, mul:4 and div:2 do")
    modifiers["omod"] = code


def _lanes(field: str, bits: int, count: int) -> Read:
    def read(reading: Reading, token: Token, modifiers: Modifiers) -> None:
        values = _list(reading)
        if len(values) != count or any(not 0 <= value < 1 << bits for value in values):
            message = f"{token.text} takes {count} lane numbers from 0 to {(1 << bits) - 1}"
            raise _fail(reading, token, message)
        modifiers[field] = sum(value << bits * at for at, value in enumerate(values))

    return read


def _lane_distance(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    value = reading.number()
    low = 0 if token.text in ("row_share", "row_newbcast", "row_xmask") else 1
    if not low <= value <= 15:
        raise _fail(reading, token, f"{token.text} ranges from {low} to 15, not {value}")
    modifiers["dpp_ctrl"] = _DPP_BASES[token.text] + value


def _wave_shift(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    reading.number()
    modifiers["dpp_ctrl"] = _DPP_FIXED[token.text]


def _row_broadcast(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    modifiers["dpp_ctrl"] = 0x142 if reading.number() == 15 else 0x143


def _bound_control(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    # On gfx9.4 0 switches it on too, an old spelling.
    on = reading.number() or reading.target.generation == "gfx9.4"
    if "permlane" in reading.row.mnemonic:
        modifiers["op_sel"] = modifiers.get("op_sel", 0) | 2
    else:
        modifiers["bound_ctrl"] = int(bool(on))


def _fetch_inactive(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    value = reading.number()
    if "permlane" in reading.row.mnemonic:
        modifiers["op_sel"] = modifiers.get("op_sel", 0) | 1
    else:
        modifiers["fi"] = value


def _word(names: tuple[str, ...]) -> Read:
    def read(reading: Reading, token: Token, modifiers: Modifiers) -> None:
        choice = reading.cursor.next()
        if choice.text not in names:
            raise _fail(reading, choice, f"{token.text} is one of {', '.join(names)}")
        modifiers[token.text] = names.index(choice.text)

    return read


def _byte_selection(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    value = reading.number()
    low = reading.row.mnemonic.startswith(("v_cvt_f32_fp8", "v_cvt_f32_bf8"))
    modifiers["op_sel"] = (value & 1) << 1 | value >> 1 if low else value << 2


def _offset(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    swizzle = reading.cursor.token.text == "swizzle"
    modifiers["offset"] = _swizzle(reading) if swizzle else reading.number()


def _list(reading: Reading) -> list[int]:
    cursor = reading.cursor
    cursor.expect("[")
    values = [reading.number()]
    while cursor.accept(","):
        values.append(reading.number())
    cursor.expect("]")
    return values


def _bit_list(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    first, row, name = reading.cursor.token, reading.row, token.text
    values = _list(reading)
    if any(value not in (0, 1) for value in values):
        raise _fail(reading, first, f"{name} takes a list of 0 and 1")
    sources = sum(slot.name in ("src0", "src1", "src2") for slot in row.slots)
    bits = 0
    for at, value in enumerate(values):
        position = at
        if (
            name == "op_sel"
            and at == len(values) - 1
            and at >= sources
            and not row.mnemonic.startswith(("v_pk", "v_mfma", "v_wmma", "v_swmmac"))
        ):
            position = 3
        bits |= value << position
    # The f64 matrix instructions keep their negations where others keep the format of B.
    modifiers["blgp" if name == "neg" else name] = bits


def _hint(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    choice = reading.cursor.token
    match = re.fullmatch(r"TH_(LOAD|STORE|ATOMIC)_(\w+)", choice.text)
    if match is None:
        modifiers["th"] = reading.number()
        return
    reading.cursor.next()
    value = int(match[2], 16) if match[2].startswith("0x") else _HINTS[match[1]].get(match[2])
    if value is None:
        raise _fail(reading, choice, f"{choice.text} does not exist")
    modifiers["th"] = value


def _format(reading: Reading, token: Token, modifiers: Modifiers) -> None:
    cursor = reading.cursor
    if cursor.token.text != "[":
        modifiers["format"] = reading.number()
        return
    bracket = cursor.next()
    names = [cursor.next().text]
    while cursor.accept(","):
        names.append(cursor.next().text)
    cursor.expect("]")
    known: list[str] = table(reading.target.generation).names["format"]
    if len(names) == 2 and names[0].startswith("BUF_NUM"):
        names.reverse()
    text = "[" + ",".join(names) + "]"
    reduced = [name for name in names if name not in _DEFAULT_FORMATS]
    short = "[" + ",".join(reduced) + "]"
    found = next((known.index(spelling) for spelling in (text, short) if spelling in known), None)
    if found is None and reduced:
        raise _fail(reading, bracket, f"{reading.target.name} has no buffer format {text}")
    modifiers["format"] = 1 if found is None else found


def _swizzle(reading: Reading) -> int:
    cursor = reading.cursor
    word = cursor.next()
    cursor.expect("(")
    mode = cursor.next().text
    arguments: list[int] = []
    mask = ""
    while cursor.accept(","):
        if cursor.token.kind == "string":
            mask = cursor.next().text.strip('"')
        else:
            arguments.append(reading.number())
    cursor.expect(")")
    value = swizzle_offset(mode, arguments, mask)
    if value is None:
        raise _fail(reading, word, f"these are no arguments for swizzle({mode}, …)")
    return value


_DEFAULT_FORMATS = ("BUF_FMT_8_UNORM", "BUF_DATA_FORMAT_8", "BUF_NUM_FORMAT_UNORM")

#: Names whose value is not just a number.
_READERS: dict[str, Read] = {
    **dict.fromkeys(("mul", "div"), _output_factor),
    **dict.fromkeys(("op_sel", "op_sel_hi", "neg_lo", "neg_hi", "neg"), _bit_list),
    **dict.fromkeys(_DPP_BASES, _lane_distance),
    **dict.fromkeys(_DPP_FIXED, _wave_shift),
    **dict.fromkeys(("dst_sel", "src0_sel", "src1_sel"), _word(_SELECTS)),
    "quad_perm": _lanes("dpp_ctrl", 2, 4),
    "dpp8": _lanes("dpp8", 3, 8),
    "row_bcast": _row_broadcast,
    "bound_ctrl": _bound_control,
    "fi": _fetch_inactive,
    "dst_unused": _word(_UNUSED),
    "scope": _word(_SCOPES),
    "th": _hint,
    "format": _format,
    "byte_sel": _byte_selection,
    "offset": _offset,
}
