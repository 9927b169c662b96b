"""Operands of LLVM's text to the fields that hold them, with a first codec each."""

from __future__ import annotations

import re

from loom.target.amdgpu.tables.generate.found import BASE_LITERAL, BASE_SGPR, Found


def register_of(token: str) -> tuple[str, int, int] | None:
    """Bank letter, first number and count of a register's text."""
    token = token.strip("-|")
    match = re.fullmatch(r"(v|s|a|ttmp)(\d+)(?:\.[lh])?", token)
    if match:
        return match[1], int(match[2]), 1
    match = re.fullmatch(r"(v|s|a|ttmp)\[(\d+):(\d+)\]", token)
    if match:
        return match[1], int(match[2]), int(match[3]) - int(match[2]) + 1
    return None


def _expected(found: Found, name: str) -> tuple[str, int] | None:
    """Which register the base probe names in a field."""
    fld = found.format.fields[name]
    value = fld.extract(found.word)
    if name == "sbase":
        return "s", value * 2
    if name == "srsrc":
        return "s", value * 4 if fld.width == 5 else value
    if name in ("saddr", "soffset", "sdst", "ssrc0", "ssrc1", "sdata"):
        return "s", value & 127
    if found.format.name == "VOPDY" and name == "vdst":
        return "v", value * 2  # vdstx of the base probe is odd
    if fld.width == 9 and not found.format.name.endswith("SDWA"):
        return ("v", value - 256) if value >= 256 else ("s", value)
    if name == "vdst" and found.operands and found.operands[0].startswith("s"):
        return "s", value
    return "v", value & 255


_FIXED_TOKENS = {"vcc_lo": "vcc", "vcc": "vcc", "exec_lo": "exec", "exec": "exec", "m0": "m0", "null": "null"}


def assign_slots(found: Found) -> None:
    """Find for every operand in LLVM's text the field that holds it, and a first codec."""
    form = found.format
    registers = {name: _expected(found, name) for name, fld in form.fields.items() if not fld.is_modifier}
    used: set[str] = set()
    for position, token in enumerate(found.operands):
        register = register_of(token)
        name = ""
        codec = ""
        if register is not None:
            bank, index, units = register
            wanted = "v" if bank == "a" else bank
            for candidate, value in registers.items():
                if candidate not in used and value == (wanted, index):
                    name = candidate
                    break
            codec = bank + str(units)
            if token.endswith((".l", ".h")):
                codec = "vt"
        elif token == "m0" and "ssrc0" in form.fields and form.fields["ssrc0"].extract(found.word) in (124, 125):
            name, codec = "ssrc0", "s1"
        elif token == "gds":
            continue
        elif token in ("off",):
            name = next((n for n in ("vaddr", "saddr") if n in registers and n not in used), "")
            codec = "off"
        elif token in _FIXED_TOKENS and not (token == "null" and "soffset" in registers):
            name, codec = "", "=" + _FIXED_TOKENS[token]
        elif token == "null":
            name, codec = "soffset", "s1"
        elif token.startswith("sendmsg(") and "ssrc0" in form.fields:
            name, codec = "ssrc0", "u8"
        elif found.literal and token == f"0x{BASE_LITERAL:x}":
            name, codec = "literal", "lit"
        elif "simm16" in form.fields and "simm16" not in used:
            name, codec = "simm16", "u16"
        elif "prefetch" in found.mnemonic and token == str(BASE_SGPR["sdata"]):
            name, codec = "sdata", "u7"
        elif form.name in ("SMEM", "SMEMS"):
            continue  # a constant offset; a modifier here
        elif token.startswith("attr"):
            continue
        if not name and not codec.startswith("="):
            raise RuntimeError(f"{form.name} {found.opcode:#x}: cannot place operand '{token}' of '{found.text}'")
        if name:
            used.add(name)
        found.slot_fields.append(name)
        found.positions.append(position)
        found.codecs.append(codec)


def true16_halves(founds: list[Found]) -> None:
    """Tell the two true16 codecs apart and find the ``op_sel`` bit of each operand."""
    for found in founds:
        name = found.format.name
        for index, codec in enumerate(found.codecs):
            if codec != "vt":
                continue
            slot = found.slot_fields[index]
            is_source = found.format.fields[slot].width == 9
            if name.startswith("VOP3"):
                bit = {"vdst": 3, "src0": 0, "src1": 1, "src2": 2}[slot]
                if not found.modifiers.get("op_sel", 0) >> bit & 1:
                    raise RuntimeError(f"{found.text}: op_sel bit {bit} does not move the half of {slot}")
                found.codecs[index] = f"so.{bit}" if is_source else f"vo.{bit}"
            else:
                found.codecs[index] = "sh" if is_source else "vh"
