"""Parsing of instructions: mnemonic, operands, modifiers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from loom.diagnostics import Location, LoomError, error
from loom.target.amdgpu.assembler.expressions import Cursor, Token, Unresolved, failure, float_bits, tokenize
from loom.target.amdgpu.immediates import (
    WAITCNT,
    delay_value,
    depctr_field,
    function_value,
    swizzle_offset,
    waitcnt_limit,
    waitcnt_value,
)
from loom.target.amdgpu.instruction import InstructionRow, OperandSlot
from loom.target.amdgpu.machine import (
    INLINE_FLOATS,
    OFF,
    BranchTarget,
    Immediate,
    Inline,
    Literal,
    MachineInstruction,
    Operand,
    Register,
)
from loom.target.amdgpu.printer import always_gds
from loom.target.amdgpu.processors import processor as find_processor
from loom.target.amdgpu.tables import FILES, Table, table

Lookup = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Deferred:
    """A literal whose value is known when all labels are: ``evaluate(address of the literal)`` gives its 32 bits."""

    evaluate: Callable[[Lookup, int], int]


@dataclass(slots=True)
class Parsed:
    """What stands in one operand position before the row says what it must be."""

    column: int
    operand: Operand | None = None
    integer: int | None = None
    real: str | None = None
    label: Callable[[Lookup], int] | None = None
    negate: bool = False
    absolute: bool = False
    extend: bool = False
    symbolic: int | None = None
    forced_literal: bool = False
    name: str | None = None
    deferred: Deferred | None = None


_SUFFIXES = (("_e64_dpp", "e64_dpp"), ("_e32", "e32"), ("_e64", "e64"), ("_dpp", "dpp"), ("_sdwa", "sdwa"))
_FLAGS = frozenset(("glc", "slc", "dlc", "sc0", "sc1", "nt", "nv", "gds", "offen", "idxen", "tfe", "lds", "clamp"))
_LISTS = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi")
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
_INLINE_32 = {Inline(code).bits("f32"): code for code in INLINE_FLOATS}
_INLINE_16 = {Inline(code).bits("f16"): code for code in INLINE_FLOATS}
_INLINE_64 = {Inline(code).bits("f64"): code for code in INLINE_FLOATS}

_NAMED = {
    "vcc": ("vcc", 0, 2),
    "vcc_lo": ("vcc", 0, 1),
    "vcc_hi": ("vcc", 1, 1),
    "exec": ("exec", 0, 2),
    "exec_lo": ("exec", 0, 1),
    "exec_hi": ("exec", 1, 1),
    "flat_scratch": ("flat_scratch", 0, 2),
    "flat_scratch_lo": ("flat_scratch", 0, 1),
    "flat_scratch_hi": ("flat_scratch", 1, 1),
    "xnack_mask": ("xnack_mask", 0, 2),
    "xnack_mask_lo": ("xnack_mask", 0, 1),
    "xnack_mask_hi": ("xnack_mask", 1, 1),
    "m0": ("m0", 0, 1),
    "null": ("null", 0, 1),
    "off": ("off", 0, 0),
    **{
        f"{prefix}{name}": (name, 0, 1)
        for prefix in ("", "src_")
        for name in (
            "scc",
            "vccz",
            "execz",
            "shared_base",
            "shared_limit",
            "private_base",
            "private_limit",
            "pops_exiting_wave_id",
            "lds_direct",
        )
    },
}


class InstructionParser:
    """Parses instructions of one processor."""

    def __init__(self, processor: str, wave_size: int) -> None:
        self.target = find_processor(processor)
        self.generation = self.target.generation
        self.table: Table = table(self.generation)
        self.wave_size = wave_size

    def parse(
        self, text: str, location: Location, lookup: Lookup, start: int = 0
    ) -> tuple[MachineInstruction, dict[int, Deferred]]:
        """Parse one instruction; deferred literals by operand index.

        Raises:
            LoomError: ``ASM/…`` with line and column.
        """
        cursor = Cursor(tokenize(text, location, start), location)
        first, deferred = self._one(cursor, lookup)
        if cursor.accept("::"):
            second, _ = self._one(cursor, lookup)
            first.y = second
            first.form = second.form = "vopd"
        if not cursor.done:
            raise cursor.fail(f"unexpected '{cursor.token.text}' behind the instruction")
        return first, deferred

    def _one(self, cursor: Cursor, lookup: Lookup) -> tuple[MachineInstruction, dict[int, Deferred]]:
        token = cursor.next()
        location = Location(cursor.location.file, cursor.location.line, token.column + 1)
        row, form = self._find(token.text, location)
        operands: list[Parsed] = []
        modifiers: dict[str, int] = {}
        if row.slots and not cursor.done and cursor.token.text != "::" and not self._at_modifier(cursor, row):
            operands.append(self._operand(cursor, row, lookup))
            while cursor.accept(","):
                if self._at_modifier(cursor, row):
                    break
                operands.append(self._operand(cursor, row, lookup))
        while not cursor.done and cursor.token.text != "::":
            cursor.accept(",")
            self._modifier(cursor, row, modifiers, lookup, operands)
        instruction, deferred = self._build(row, form, operands, modifiers, location, cursor)
        return instruction, deferred

    def _find(self, name: str, location: Location) -> tuple[InstructionRow, str | None]:
        lowered = name.lower()
        if lowered in self.table:
            return self.table.row(lowered), None
        for suffix, form in _SUFFIXES:
            if lowered.endswith(suffix) and lowered.removesuffix(suffix) in self.table:
                return self.table.row(lowered.removesuffix(suffix)), form
        stem, form_of = lowered, None
        for suffix, form in _SUFFIXES:
            if lowered.endswith(suffix):
                stem, form_of = lowered.removesuffix(suffix), form
                break
        alias = _foreign_name(self.generation, stem)
        if alias is not None:
            return self.table.row(alias), form_of
        where = [generation for generation in FILES if stem in table(generation)]
        hint = f"it exists on {', '.join(where)}" if where else None
        raise error(f"{self.target.name} has no instruction '{name}'", "ASM/003", location, hint=hint)

    def _at_modifier(self, cursor: Cursor, row: InstructionRow) -> bool:
        token = cursor.token
        if token.kind != "name":
            return False
        following = cursor.tokens[cursor.at + 1].text
        if following == ":" and token.text not in _NAMED:
            return True
        return token.text in _FLAGS or token.text in ("row_mirror", "row_half_mirror")

    # Operands

    def _operand(self, cursor: Cursor, row: InstructionRow, lookup: Lookup) -> Parsed:
        parsed = Parsed(cursor.token.column)
        token = cursor.token
        if (token.text == "-" and cursor.tokens[cursor.at + 1].text in ("|", "abs")) or (
            token.text == "-" and self._register_follows(cursor)
        ):
            cursor.next()
            parsed.negate = True
            token = cursor.token
        if token.text == "|":
            cursor.next()
            self._value(cursor, parsed, row, lookup, level=3)
            cursor.expect("|")
            parsed.absolute = True
            return parsed
        if (
            token.kind == "name"
            and token.text in ("neg", "abs", "sext", "lit")
            and cursor.tokens[cursor.at + 1].text == "("
        ):
            cursor.next()
            cursor.next()
            inner = self._operand(cursor, row, lookup)
            cursor.expect(")")
            if token.text == "neg":
                inner.negate = True
            elif token.text == "abs":
                inner.absolute = True
            elif token.text == "sext":
                inner.extend = True
            else:
                inner.forced_literal = True
            inner.negate = inner.negate or parsed.negate
            return inner
        self._value(cursor, parsed, row, lookup)
        return parsed

    def _register_follows(self, cursor: Cursor) -> bool:
        token = cursor.tokens[cursor.at + 1]
        if token.text in _BANKS:
            return cursor.tokens[cursor.at + 2].text == "["
        return token.kind == "name" and (token.text in _NAMED or _REGISTER.fullmatch(token.text) is not None)

    def _value(self, cursor: Cursor, parsed: Parsed, row: InstructionRow, lookup: Lookup, level: int = 0) -> None:
        token = cursor.token
        if token.kind == "name":
            register = self._register(cursor, lookup)
            if register is not None:
                parsed.operand = register
                return
            if cursor.tokens[cursor.at + 1].text == "(":
                parsed.symbolic = self._function(cursor, row, lookup)
                return
        if token.text == "[" and cursor.tokens[cursor.at + 1].kind == "name":
            parsed.operand = self._register_list(cursor, lookup)
            return
        negative = token.text == "-" and cursor.tokens[cursor.at + 1].kind == "float"
        if token.kind == "float" or negative:
            if negative:
                cursor.next()
            parsed.real = ("-" if negative else "") + cursor.next().text
            return
        start = cursor.at
        try:
            parsed.integer = cursor.expression(lookup, level)
        except Unresolved as missing:
            parsed.name = missing.name
            cursor.at = start
            self._skip_expression(cursor)
            tokens = [*cursor.tokens[start : cursor.at]]
            parsed.label = _later(tokens, cursor.location)
            parsed.deferred = _relocation(tokens, cursor.location)

    @staticmethod
    def _skip_expression(cursor: Cursor) -> None:
        depth = 0
        while not cursor.done:
            text = cursor.token.text
            if depth == 0 and text in (",", "::", "|", ")"):
                return
            depth += (text == "(") - (text == ")")
            cursor.next()

    def _register(self, cursor: Cursor, lookup: Lookup) -> Register | None:
        text = cursor.token.text
        named = _NAMED.get(text)
        if named is not None:
            cursor.next()
            return Register(*named)
        match = _REGISTER.fullmatch(text)
        if match is not None:
            token = cursor.next()
            bank = _BANKS[match[1]]
            half = {None: None, ".l": 0, ".h": 1}[match[3]]
            index = int(match[2])
            self._check_range(bank, index, 1, token.column, cursor.location)
            return Register(bank, index, 1, half)
        if text in _BANKS and cursor.tokens[cursor.at + 1].text == "[":
            token = cursor.next()
            cursor.next()
            first = cursor.expression(lookup)
            last = cursor.expression(lookup) if cursor.accept(":") else first
            cursor.expect("]")
            half = None
            if cursor.token.text in (".l", ".h"):
                half = int(cursor.next().text == ".h")
            if last < first:
                raise failure(
                    f"the register range {first}:{last} runs backwards", cursor.location, token.column, "ASM/004"
                )
            self._check_range(_BANKS[text], first, last - first + 1, token.column, cursor.location)
            return Register(_BANKS[text], first, last - first + 1, half)
        return None

    def _check_range(self, bank: str, index: int, units: int, column: int, location: Location) -> None:
        limit = {"sgpr": self.target.addressable_sgprs, "ttmp": 16}.get(bank, 256)
        if index < 0 or index + units > limit:
            letter = {"sgpr": "s", "vgpr": "v", "agpr": "a", "ttmp": "ttmp"}[bank]
            raise failure(
                f"{letter}{index + units - 1} does not exist: {self.target.name} has {letter}0 to {letter}{limit - 1}",
                location,
                column,
                "ASM/004",
            )

    def _register_list(self, cursor: Cursor, lookup: Lookup) -> Register:
        column = cursor.next().column
        found: list[Register] = []
        while True:
            register = self._register(cursor, lookup)
            if register is None:
                raise cursor.fail("expected a register in the list", "ASM/004")
            found.append(register)
            if not cursor.accept(","):
                break
        cursor.expect("]")
        first = found[0]
        if any(item.bank != first.bank or item.index != first.index + at for at, item in enumerate(found)):
            raise failure("the registers of a list must be consecutive", cursor.location, column, "ASM/004")
        return Register(first.bank, first.index, len(found))

    def _function(self, cursor: Cursor, row: InstructionRow, lookup: Lookup) -> int:
        """``sendmsg(…)``, ``hwreg(…)``, wait counters, delays: the immediate they stand for."""
        name = cursor.token.text
        if name in ("sendmsg", "hwreg"):
            column = cursor.next().column
            cursor.expect("(")
            arguments: list[str | int] = []
            while not cursor.accept(")"):
                if cursor.token.kind == "name" and cursor.token.text.startswith(("MSG_", "GS_", "HW_", "SYSMSG_")):
                    arguments.append(cursor.next().text)
                else:
                    arguments.append(cursor.expression(lookup))
                cursor.accept(",")
            value = function_value(name, arguments, self.generation)
            if value is None:
                raise failure(
                    f"these are no arguments for {name} on {self.target.name}", cursor.location, column, "ASM/005"
                )
            return value
        counters = WAITCNT[self.generation]
        waits: dict[str, int] = {}
        depctr = 0xFFFF if row.mnemonic in ("s_waitcnt_depctr", "s_wait_alu") else None
        used_depctr = 0
        delay = 0
        while cursor.token.kind == "name" and cursor.tokens[cursor.at + 1].text == "(":
            part = cursor.next()
            cursor.next()
            base = part.text.removesuffix("_sat")
            if part.text.startswith("inst"):
                argument = cursor.next().text
                bits = delay_value(part.text, argument)
                if bits is None:
                    raise failure(f"{argument} is no {part.text}", cursor.location, part.column, "ASM/005")
                delay |= bits
            elif base in counters and depctr is None:
                value = cursor.expression(lookup)
                limit = waitcnt_limit(base, self.generation)
                if (value > limit and not part.text.endswith("_sat")) or value < 0:
                    raise failure(
                        f"{base} ranges from 0 to {limit}, not {value}", cursor.location, part.column, "ASM/005"
                    )
                waits[base] = value
            elif (place := depctr_field(part.text)) is not None and depctr is not None:
                value = cursor.expression(lookup)
                shift, width = place
                if not 0 <= value < 1 << width:
                    raise failure(
                        f"{part.text} ranges from 0 to {(1 << width) - 1}", cursor.location, part.column, "ASM/005"
                    )
                depctr = depctr & ~(((1 << width) - 1) << shift) | value << shift
                used_depctr += 1
            else:
                raise failure(f"unknown function '{part.text}'", cursor.location, part.column, "ASM/005")
            cursor.expect(")")
            if cursor.token.text in ("&", "|") or (
                cursor.token.text == "," and cursor.tokens[cursor.at + 2].text == "("
            ):
                cursor.next()
        if used_depctr:
            return (depctr or 0) & 0xFF9F
        return delay if row.mnemonic == "s_delay_alu" else waitcnt_value(waits, self.generation)

    # Modifiers

    def _modifier(
        self, cursor: Cursor, row: InstructionRow, modifiers: dict[str, int], lookup: Lookup, operands: list[Parsed]
    ) -> None:
        token = cursor.next()
        name = token.text
        if name in _FLAGS and cursor.token.text != ":":
            modifiers[name] = 1
            return
        if name in ("row_mirror", "row_half_mirror"):
            modifiers["dpp_ctrl"] = 0x140 if name == "row_mirror" else 0x141
            return
        if token.kind != "name" or not cursor.accept(":"):
            raise failure(f"unexpected '{name}'", cursor.location, token.column)
        if name in ("mul", "div"):
            value = cursor.expression(lookup)
            code = {("mul", 1): 0, ("mul", 2): 1, ("mul", 4): 2, ("div", 1): 0, ("div", 2): 3}.get((name, value))
            if code is None:
                raise failure(
                    f"{name}:{value} does not exist; mul:2, mul:4 and div:2 do",
                    cursor.location,
                    token.column,
                    "ASM/006",
                )
            modifiers["omod"] = code
        elif name in _LISTS or name == "neg":
            self._bit_list(cursor, row, name, modifiers, lookup)
        elif name in ("quad_perm", "dpp8"):
            bits = 2 if name == "quad_perm" else 3
            values = self._list(cursor, lookup)
            if len(values) != (4 if bits == 2 else 8) or any(not 0 <= value < 1 << bits for value in values):
                raise failure(
                    f"{name} takes {4 if bits == 2 else 8} lane numbers from 0 to {(1 << bits) - 1}",
                    cursor.location,
                    token.column,
                    "ASM/006",
                )
            modifiers["dpp_ctrl" if bits == 2 else "dpp8"] = sum(value << bits * at for at, value in enumerate(values))
        elif name in _DPP_BASES:
            value = cursor.expression(lookup)
            low = 0 if name in ("row_share", "row_newbcast", "row_xmask") else 1
            if not low <= value <= 15:
                raise failure(f"{name} ranges from {low} to 15, not {value}", cursor.location, token.column, "ASM/006")
            modifiers["dpp_ctrl"] = _DPP_BASES[name] + value
        elif name in _DPP_FIXED:
            cursor.expression(lookup)
            modifiers["dpp_ctrl"] = _DPP_FIXED[name]
        elif name == "row_bcast":
            modifiers["dpp_ctrl"] = 0x142 if cursor.expression(lookup) == 15 else 0x143
        elif name == "bound_ctrl":
            on = cursor.expression(lookup) or self.generation == "gfx9.4"  # there 0 switches it on too, an old spelling
            if "permlane" in row.mnemonic:
                modifiers["op_sel"] = modifiers.get("op_sel", 0) | 2
            else:
                modifiers["bound_ctrl"] = int(bool(on))
        elif name == "fi" and "permlane" in row.mnemonic:
            cursor.expression(lookup)
            modifiers["op_sel"] = modifiers.get("op_sel", 0) | 1
        elif name in ("dst_sel", "src0_sel", "src1_sel", "dst_unused", "scope"):
            names = {"dst_unused": _UNUSED, "scope": _SCOPES}.get(name, _SELECTS)
            choice = cursor.next()
            if choice.text not in names:
                raise failure(f"{name} is one of {', '.join(names)}", cursor.location, choice.column, "ASM/006")
            modifiers[name] = names.index(choice.text)
        elif name == "th":
            modifiers["th"] = self._hint(cursor, lookup)
        elif name == "format":
            modifiers["format"] = self._format(cursor, lookup)
        elif name == "byte_sel":
            value = cursor.expression(lookup)
            low = row.mnemonic.startswith(("v_cvt_f32_fp8", "v_cvt_f32_bf8"))
            modifiers["op_sel"] = (value & 1) << 1 | value >> 1 if low else value << 2
        elif name == "offset" and cursor.token.text == "swizzle":
            modifiers["offset"] = self._swizzle(cursor, lookup)
        else:
            modifiers[name] = cursor.expression(lookup)

    def _list(self, cursor: Cursor, lookup: Lookup) -> list[int]:
        cursor.expect("[")
        values = [cursor.expression(lookup)]
        while cursor.accept(","):
            values.append(cursor.expression(lookup))
        cursor.expect("]")
        return values

    def _bit_list(
        self, cursor: Cursor, row: InstructionRow, name: str, modifiers: dict[str, int], lookup: Lookup
    ) -> None:
        column = cursor.token.column
        values = self._list(cursor, lookup)
        if any(value not in (0, 1) for value in values):
            raise failure(f"{name} takes a list of 0 and 1", cursor.location, column, "ASM/006")
        if name == "neg":
            name = "blgp"
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
        modifiers[name] = bits

    def _hint(self, cursor: Cursor, lookup: Lookup) -> int:
        token = cursor.token
        match = re.fullmatch(r"TH_(LOAD|STORE|ATOMIC)_(\w+)", token.text)
        if match is not None:
            cursor.next()
            if match[2].startswith("0x"):
                return int(match[2], 16)
            value = _HINTS[match[1]].get(match[2])
            if value is not None:
                return value
            raise failure(f"{token.text} does not exist", cursor.location, token.column, "ASM/006")
        return cursor.expression(lookup)

    def _format(self, cursor: Cursor, lookup: Lookup) -> int:
        if cursor.token.text != "[":
            return cursor.expression(lookup)
        column = cursor.next().column
        names = [cursor.next().text]
        while cursor.accept(","):
            names.append(cursor.next().text)
        cursor.expect("]")
        known: list[str] = self.table.names["format"]
        if len(names) == 2 and names[0].startswith("BUF_NUM"):
            names.reverse()
        text = "[" + ",".join(names) + "]"
        defaults = ("BUF_FMT_8_UNORM", "BUF_DATA_FORMAT_8", "BUF_NUM_FORMAT_UNORM")
        if text in known:
            return known.index(text)
        reduced = [name for name in names if name not in defaults]
        if not reduced:
            return 1
        if f"[{','.join(reduced)}]" in known:
            return known.index(f"[{','.join(reduced)}]")
        raise failure(f"{self.target.name} has no buffer format {text}", cursor.location, column, "ASM/006")

    def _swizzle(self, cursor: Cursor, lookup: Lookup) -> int:
        column = cursor.next().column
        cursor.expect("(")
        mode = cursor.next().text
        arguments: list[int] = []
        mask = ""
        while cursor.accept(","):
            if cursor.token.kind == "string":
                mask = cursor.next().text.strip('"')
            else:
                arguments.append(cursor.expression(lookup))
        cursor.expect(")")
        value = swizzle_offset(mode, arguments, mask)
        if value is None:
            raise failure(f"these are no arguments for swizzle({mode}, …)", cursor.location, column, "ASM/006")
        return value

    # From parsed parts to an instruction

    def _build(
        self,
        row: InstructionRow,
        form: str | None,
        parsed: list[Parsed],
        modifiers: dict[str, int],
        location: Location,
        cursor: Cursor,
    ) -> tuple[MachineInstruction, dict[int, Deferred]]:
        slots = list(row.slots)
        if row.encodings[0].format in ("SMEM", "SMEMS"):
            parsed = self._scalar_memory(row, parsed, modifiers)
        if len(parsed) == len(slots) - 1:
            if (slots and slots[0].name == "vdst" and "off" in slots[0].kinds) or (
                modifiers.get("lds") and slots and slots[0].name == "vdata"
            ):
                parsed.insert(0, Parsed(location.column - 1, OFF))
            elif row.mnemonic == "s_endpgm":
                parsed.append(Parsed(location.column - 1, integer=0))
        if len(parsed) != len(slots):
            names = ", ".join(slot.name for slot in slots) or "none"
            raise error(f"{row.mnemonic} takes {len(slots)} operands ({names}), not {len(parsed)}", "ASM/007", location)
        operands: list[Operand] = []
        deferred: dict[int, Deferred] = {}
        for index, (slot, item) in enumerate(zip(slots, parsed, strict=True)):
            operand = self._convert(row, slot, item, cursor.location)
            if isinstance(operand, Deferred):
                deferred[index] = operand
                operand = Literal(0x80000000)
            operands.append(operand)
            source = {"src0": 1, "src1": 2, "src2": 4}.get(slot.name, 0)
            for name, wanted in (("neg", item.negate), ("abs", item.absolute), ("sext", item.extend)):
                if wanted:
                    if not source:
                        raise failure(
                            f"{slot.name} of {row.mnemonic} takes no '{name}'", cursor.location, item.column, "ASM/006"
                        )
                    modifiers[name] = modifiers.get(name, 0) | source
        self._check_modifiers(row, modifiers, location)
        chosen = self._form(row, form, modifiers, location)
        return MachineInstruction(row, chosen, tuple(operands), modifiers, 0, location), deferred

    @staticmethod
    def _check_modifiers(row: InstructionRow, modifiers: dict[str, int], location: Location) -> None:
        if not modifiers:
            return
        known = {modifier.name for modifier in row.modifiers}
        if "gds" not in known and always_gds(row.encodings[0], row.generation):
            modifiers.pop("gds", None)
        for name in modifiers:
            if name not in known:
                raise error(
                    f"{row.mnemonic} has no modifier '{name}'",
                    "ASM/006",
                    location,
                    hint=f"it has: {', '.join(sorted(known)) or 'none'}",
                )

    @staticmethod
    def _form(row: InstructionRow, form: str | None, modifiers: dict[str, int], location: Location) -> str | None:
        if form is None:
            if len(row.encodings) == 1:
                return row.encodings[0].form
            # A constant offset written out, 0 included, asks for the form that has one (gfx9.4 scalar memory).
            return "" if "offset" in modifiers and row.encoding("sgpr") is not None else None
        if form in ("dpp", "e64_dpp"):
            form = {"dpp": "", "e64_dpp": "e64_"}[form] + ("dpp8" if "dpp8" in modifiers else "dpp16")
        if row.encoding(form) is None:
            raise error(f"{row.mnemonic} has no encoding '{form}'", "ASM/003", location)
        return form

    @staticmethod
    def _scalar_memory(row: InstructionRow, parsed: list[Parsed], modifiers: dict[str, int]) -> list[Parsed]:
        names = [slot.name for slot in row.slots]
        if "soffset" not in names:
            return parsed
        at = names.index("soffset")
        if at >= len(parsed):
            return parsed
        item = parsed[at]
        if item.integer is not None:
            modifiers["offset"] = item.integer
            if "prefetch" in row.mnemonic and at + 1 < len(parsed):
                parsed.pop(at)
            else:
                parsed[at] = Parsed(item.column, OFF)
        if at < len(parsed) and parsed[at].operand in (Register("null"), Register("off", 0, 0)):
            parsed[at] = Parsed(item.column, OFF)
        return parsed

    def _convert(self, row: InstructionRow, slot: OperandSlot, item: Parsed, location: Location) -> Operand | Deferred:
        kinds = slot.kinds
        if item.operand is not None:
            operand = item.operand
            if (
                isinstance(operand, Register)
                and operand.bank == "off"
                and row.encodings[0].format in ("MUBUF", "MTBUF")
                and slot.name == "soffset"
            ):
                return Register("null")
            return operand
        if slot.type == "label":
            if item.integer is not None:
                words = item.integer - 0x10000 if item.integer & 0x8000 and item.integer <= 0xFFFF else item.integer
                return BranchTarget(None, words * 4)
            return BranchTarget(item.name)
        if item.symbolic is not None:
            return Immediate(item.symbolic)
        if kinds == ("imm",):
            if item.integer is None:
                raise failure(f"{slot.name} of {row.mnemonic} is a number", location, item.column, "ASM/008")
            value = item.integer
            if slot.type == "i16" and value & 0x8000 and 0 <= value <= 0xFFFF:
                value -= 0x10000
            elif slot.type != "i16" and -0x8000 <= value < 0:
                value &= 0xFFFF
            return Immediate(value)
        if item.real is not None:
            return self._real(row, slot, item, location)
        if item.integer is None:
            if item.deferred is not None:
                return item.deferred
            raise failure(f"'{item.name}' has no value here", location, item.column, "ASM/009")
        value = item.integer
        if kinds == ("literal",):
            return Literal(value & 0xFFFFFFFF)
        if not item.forced_literal:
            inline = self._inline(slot, value)
            if inline is not None:
                return inline
        if not -(1 << 31) <= value < 1 << 32:
            high = value & (1 << 64) - 1
            if slot.type == "f64" and not high & 0xFFFFFFFF:
                return Literal(high >> 32)
            raise failure(f"{value:#x} does not fit the 32-bit literal", location, item.column, "ASM/008")
        return Literal(
            value & (0xFFFF if "16" in slot.type and slot.units == 1 and -0x8000 <= value < 0 else 0xFFFFFFFF)
        )

    @staticmethod
    def _inline(slot: OperandSlot, value: int) -> Inline | None:
        found = Inline.integer(value if value < 1 << 31 or value >= 1 << 32 or slot.units == 2 else value - (1 << 32))
        if found is not None:
            return found
        if slot.units == 2:
            code = _INLINE_64.get(value)
        elif slot.type == "f16":
            code = _INLINE_16.get(value)
        elif "16" in slot.type and slot.units == 1 and not slot.type.startswith("v2"):
            code = None
        else:
            code = _INLINE_32.get(value & 0xFFFFFFFF)
        return None if code is None else Inline(code)

    @staticmethod
    def _real(row: InstructionRow, slot: OperandSlot, item: Parsed, location: Location) -> Operand:
        assert item.real is not None
        number = float(item.real)
        for code, known in INLINE_FLOATS.items():
            if number == known or (code == 248 and abs(number - known) < 1e-8):
                if slot.kinds == ("literal",) or item.forced_literal:
                    break
                return Inline(code)
        if number == 0 and not item.real.startswith("-") and slot.kinds != ("literal",):
            return Inline(128)
        if slot.units == 2 and slot.type in ("f64", "b64", "i64", "u64"):
            bits = float_bits(item.real, 64)
            return Literal(bits >> 32)
        if slot.type in ("f16", "i16", "u16", "b16", "v2f16") or (
            slot.kinds == ("literal",) and row.mnemonic.endswith("_f16")
        ):
            return Literal(float_bits(item.real, 16))
        return Literal(float_bits(item.real, 32))


_REGISTER = re.compile(r"(v|s|a|ttmp)(\d+)(\.[lh])?")
_BANKS = {"v": "vgpr", "s": "sgpr", "a": "agpr", "ttmp": "ttmp"}


def _later(tokens: list[Token], location: Location) -> Callable[[Lookup], int]:
    def evaluate(lookup: Lookup) -> int:
        cursor = Cursor([*tokens, _end(tokens)], location)
        return cursor.expression(lookup)

    return evaluate


def _end(tokens: list[Token]) -> Token:
    last = tokens[-1]
    return Token("end", "", last.column + len(last.text))


def _relocation(tokens: list[Token], location: Location) -> Deferred:
    """A literal from an expression over labels; ``symbol@rel32@lo+4`` is relative to the literal's own address."""
    first = tokens[0]
    match = re.fullmatch(r"([\w.$]+)@rel32@(lo|hi)", first.text)

    def evaluate(lookup: Lookup, address: int) -> int:
        if match is None:
            return _later(tokens, location)(lookup) & 0xFFFFFFFF
        rest = 0
        if len(tokens) > 1:
            cursor = Cursor([*tokens[1:], _end(tokens)], location)
            rest = cursor.expression(lookup)
        value = lookup(match[1]) + rest - address
        return (value if match[2] == "lo" else value >> 32) & 0xFFFFFFFF

    return Deferred(evaluate)


@cache
def _foreign_name(generation: str, name: str) -> str | None:
    """The mnemonic that means what ``name`` means on another generation (``global_load_dword`` for
    ``global_load_b32``)."""
    for other in FILES:
        if other != generation and name in table(other):
            semantic = table(other).row(name).semantic
            own = table(generation)
            if semantic in own:
                return semantic
            for mnemonic in own.mnemonics():
                if own.row(mnemonic).semantic == semantic:
                    return mnemonic
    return None


def parse_instruction(text: str, processor: str, wave_size: int | None = None) -> MachineInstruction:
    """Parse one instruction without labels; ``form`` is ``None`` where the text leaves it open.

    Raises:
        LoomError: ``ASM/…``.
    """
    size = wave_size or find_processor(processor).wave_sizes[0]

    def lookup(name: str) -> int:
        raise Unresolved(name)

    return InstructionParser(processor, size).parse(text, Location("<text>", 1), lookup)[0]


__all__ = ["Deferred", "InstructionParser", "LoomError", "parse_instruction"]
