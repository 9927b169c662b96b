"""Reading the structured asm spelling of Low bodies: one statement a line, by the descriptors of the function's set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loom.ir.attributes import Attribute, Word
from loom.ir.core import Operation, Value
from loom.ir.registry import lookup
from loom.ir.suggest import counted, did_you_mean
from loom.ir.targets import Descriptor, DescriptorImmediate, DescriptorResult, DescriptorSet, descriptor_set, known_sets
from loom.ir.types import RegisterType, Type
from loom.text.literals import parse_float, parse_integer

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.steps import OpState

# asm words for structural ops.
STRUCTURAL = {
    "slice": "low.slice",
    "concat": "low.concat",
    "copy": "low.copy",
    "move": "low.move",
    "resource": "low.resource",
    "live_in": "low.live_in",
    "storage": "low.storage.reserve",
    "storage_view": "low.storage.view",
    "storage_address": "low.storage.address",
}


class AsmReader:
    """Reads one line; the block loop of the parser asks it first."""

    def __init__(self, p: Parser, descriptors: DescriptorSet) -> None:
        self.p = p
        self.descriptors = descriptors

    def statement(self) -> Operation:
        """Read the statement on the present line."""
        p = self.p
        tokens = p.tokens
        start = p.i
        i = start
        if tokens[i][0] == "%":
            while tokens[i][0] == "%" and tokens[i + 1] == ",":
                i += 2
            i += 2
        word = tokens[i]
        if tokens[i - 1] == "=" or i == start:
            if word == "return" and i == start:
                return self._return(start)
            structural = STRUCTURAL.get(word)
            # `slice`, `copy`, … are words of the grammar; a mnemonic never has their names.
            if structural is not None:
                definition = lookup(structural)
                assert definition is not None
                saved = tokens[i]
                tokens[i] = structural
                try:
                    return p.operation(False)
                finally:
                    tokens[i] = saved
            if "." in word and word.startswith("low."):
                return p.operation(False)
        return self._instruction(start)

    def _return(self, start: int) -> Operation:
        """``return %v, … [: T, …]``; the values' types need not be written."""
        p = self.p
        p.i += 1
        values = p.value_list() if p.i < p.source.line_end(start) else []
        if p.tokens[p.i] == ":" and p.i < p.source.line_end(start):
            p.i += 1
            at = p.i
            types = p.type_list()
            if len(types) == len(values):
                for value, type_ in zip(values, types, strict=True):
                    p.operand_type(value, type_, at, "values")
            else:
                p.fail(
                    "PARSE/012",
                    f"return gives {counted(len(values), 'value')}, {counted(len(types), 'type')} given",
                    at,
                )
        definition = lookup("low.return")
        assert definition is not None
        return Operation(definition, values, location=(p.source, start, p.i))

    def _instruction(self, start: int) -> Operation:
        p = self.p
        tokens = p.tokens
        line_end = p.source.line_end(start)
        names: list[str] = []
        if tokens[p.i][0] == "%":
            while True:
                if tokens[p.i][0] != "%" or len(tokens[p.i]) == 1:
                    p.expected("a result name")
                names.append(tokens[p.i])
                p.i += 1
                if tokens[p.i] != ",":
                    break
                p.i += 1
            p.accept_literal("=")
        mnemonic = tokens[p.i]
        at = p.i
        if not (mnemonic[0].isalpha() or mnemonic[0] == "_"):
            p.expected("a mnemonic")
        descriptor = self.descriptors.by_mnemonic(mnemonic)
        if descriptor is None:
            p.fail(
                "PARSE/014",
                f"{self.descriptors.name} has no instruction {p.shown()}",
                hint=self.descriptors.elsewhere(mnemonic) or did_you_mean(mnemonic, self.descriptors.mnemonics()),
            )
        p.i += 1
        operands: list[Value] = []
        while p.i < line_end and tokens[p.i][0] == "%":
            operands.append(p.value())
            if tokens[p.i] == "," and p.i < line_end:
                p.i += 1
            else:
                break
        required = sum(not o.optional for o in descriptor.operands)
        # One more operand than declared is the old value of a result that is written under a partial EXEC.
        allowed = len(descriptor.operands) + len(descriptor.results)
        if not required <= len(operands) <= allowed:
            p.fail(
                "PARSE/015",
                f"{mnemonic} takes {counted(required, 'operand')}, {len(operands)} given",
                at,
                hint=f"its operands: {', '.join(o.name for o in descriptor.operands) or 'none'}",
            )
        attributes: dict[str, Attribute] = {"key": Word(descriptor.key)}
        immediates: dict[str, Attribute] = {}
        positional = [m for m in descriptor.immediates if m.positional]
        for n, declared in enumerate(positional):
            if p.i >= line_end or tokens[p.i] in (":", "{") or (n and tokens[p.i] != ","):
                break
            p.i += 1 if n else 0
            immediates[declared.name] = self._immediate(declared)
        if p.i < line_end and tokens[p.i] == "{":
            self._named(descriptor, mnemonic, immediates, attributes)
        for declared in descriptor.immediates:
            if declared.default is None and declared.name not in immediates:
                p.fail("PARSE/015", f"{mnemonic} needs the immediate '{declared.name}'", at)
        if immediates:
            attributes["immediates"] = dict(sorted(immediates.items()))
        types: list[Type] = []
        ties: list[int | None] = []
        if p.i < line_end and tokens[p.i] == ":":
            p.i += 1
            while True:
                tie: int | None = None
                if tokens[p.i][0] == "%" and tokens[p.i + 1] == "as":
                    old = p.value()
                    tie = next((k for k, v in enumerate(operands) if v is old), None)
                    if tie is None:
                        p.fail("PARSE/015", "a tied result must name one of the instruction's operands", p.i - 1)
                    p.i += 1
                types.append(p.type())
                ties.append(tie)
                if tokens[p.i] != "," or p.i >= line_end:
                    break
                p.i += 1
        if p.i < line_end:
            p.fail("PARSE/015", f"unexpected {p.shown()} behind {mnemonic}")
        if not types:
            types, ties = self._infer(descriptor, operands, mnemonic, at)
        if len(types) != len(descriptor.results):
            p.fail(
                "PARSE/015",
                f"{mnemonic} has {counted(len(descriptor.results), 'result')}, {counted(len(types), 'type')} given",
                at,
            )
        if len(names) != len(types) and names:
            p.fail(
                "PARSE/006",
                f"{mnemonic} has {counted(len(types), 'result')}, {counted(len(names), 'name')} given",
                start,
            )
        if any(t is not None for t in ties):
            attributes["ties"] = tuple(ties)
        definition = lookup("low.op")
        assert definition is not None
        op = Operation(definition, operands, types, attributes, (), (), (p.source, start, p.i))
        for n, name in enumerate(names):
            p.define(name, op.results[n], start + 2 * n)
        return op

    def _immediate(self, declared: DescriptorImmediate) -> Attribute:
        p = self.p
        token = p.tokens[p.i]
        number = parse_integer(token)
        if number is not None:
            return p.integer(declared.name)
        if parse_float(token) is not None:
            return p.float_literal()
        if token == "[":
            return p.attribute_value()
        if token[0].isalpha() or token[0] == "_":
            return p.bare_word()
        p.fail("PARSE/015", f"'{declared.name}' takes an immediate, found {p.shown()}")

    def _named(
        self,
        descriptor: Descriptor,
        mnemonic: str,
        immediates: dict[str, Attribute],
        attributes: dict[str, Attribute],
    ) -> None:
        p = self.p
        declared = {m.name: m for m in descriptor.immediates}
        p.accept_literal("{")
        while p.tokens[p.i] != "}":
            at = p.i
            key = str(p.bare_word())
            p.accept_literal("=")
            if key in immediates or key in attributes:
                p.fail("PARSE/010", f"'{key}' is given twice", at)
            if key in declared:
                immediates[key] = self._immediate(declared[key])
            elif key in ("form", "raw"):
                attributes[key] = p.attribute_value()
            else:
                p.fail(
                    "PARSE/015",
                    f"{mnemonic} has no immediate '{key}'",
                    at,
                    hint=did_you_mean(key, declared) or (f"it has {', '.join(declared)}" if declared else None),
                )
            if p.tokens[p.i] != ",":
                break
            p.i += 1
        p.accept_literal("}")

    def _infer(
        self, descriptor: Descriptor, operands: list[Value], mnemonic: str, at: int
    ) -> tuple[list[Type], list[int | None]]:
        types: list[Type] = []
        ties: list[int | None] = []
        for declared in descriptor.results:
            made, tie = infer_result(descriptor, declared, operands)
            if made is None:
                self.p.fail(
                    "PARSE/015",
                    f"the type of {mnemonic}'s result '{declared.name}' does not follow",
                    at,
                    hint=f"write it behind a colon; its class is one of {', '.join(declared.register_classes)}",
                )
            types.append(made)
            ties.append(tie)
        return types, ties


def infer_result(
    descriptor: Descriptor, declared: DescriptorResult, operands: list[Value]
) -> tuple[Type | None, int | None]:
    """Return the type that a result has when none is written, and the operand it is tied to.

    A tied result takes its operand's type; a result of one register class takes that class. None when neither decides.
    """
    if declared.tied_operand is not None:
        for n, operand in enumerate(descriptor.operands):
            if operand.name == declared.tied_operand and n < len(operands):
                return operands[n].type, n
    if len(declared.register_classes) == 1:
        return RegisterType(declared.register_classes[0], declared.units), None
    return None, None


def read_asm_body(p: Parser, state: OpState, at: int) -> None:
    """Read ``{…}`` behind ``asm`` as the body of the function in ``state``."""
    key = state.attributes.get("descriptor_set")
    if key is None:
        p.fail("PARSE/016", "an asm body needs the function's descriptor set", at, hint="write target<set.key>(@t)")
    found = descriptor_set(str(key))
    if found is None:
        while at and p.tokens[at] != key:
            at -= 1
        hint = did_you_mean(str(key), known_sets()) or f"known: {', '.join(known_sets())}"
        p.fail("PARSE/016", f"unknown descriptor set '{key}'", at, hint=hint)
    before = p.asm
    p.asm = AsmReader(p, found)
    try:
        p.region(state, 0)
    finally:
        p.asm = before


__all__ = ["STRUCTURAL", "AsmReader", "infer_result", "read_asm_body"]
