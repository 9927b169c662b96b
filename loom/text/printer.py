"""Canonical text of modules, driven by the same formats as the parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loom.ir.attributes import Attribute, EncodingAttribute, format_attribute
from loom.ir.core import Block, Module, Operation, Region, Value, register_semantic_printer
from loom.ir.definition import RegionDef
from loom.ir.recursion import deep_recursion
from loom.ir.targets import DescriptorSet
from loom.ir.types import Type
from loom.text.directives.low import printed_set
from loom.text.format import program_of

LinePrinter = Callable[["Printer", Operation], bool]


class Printer:
    """Prints ops into ``out``, a list of text pieces. Formats call its methods.

    ``plain_names``: leave out comments, blank lines and the values' own names (the text that the semantic hash is of).
    """

    def __init__(self, *, plain_names: bool = False, locations: bool = False) -> None:
        self.out: list[str] = []
        self.names: dict[Value, str] = {}
        self.labels: dict[Block, str] = {}
        self.indent = 0
        self.plain_names = plain_names
        self.locations = locations
        self.aliases: dict[EncodingAttribute, str] = {}
        self.low_set: DescriptorSet | None = None

    # Pieces that formats ask for

    def type(self, type_: Type) -> str:
        """Return a type's text."""
        text = type_._text or type_.format(self._name_of)
        if self.aliases and "#" in text:
            for encoding, alias in self.aliases.items():
                text = text.replace(f"{encoding},", f"#{alias},").replace(f"{encoding}>", f"#{alias}>")
        return text

    def _name_of(self, value: Value) -> str:
        name = self.names.get(value)
        return name if name is not None else f"%{value.name or 'undefined'}"

    def attribute(self, value: Attribute) -> str:
        """Return an attribute value's text."""
        if isinstance(value, EncodingAttribute):
            alias = self.aliases.get(value)
            return str(value) if alias is None else f"#{alias}"
        if isinstance(value, Type):
            return self.type(value)
        return format_attribute(value)

    def new_line(self) -> None:
        """Begin a line at the present indentation."""
        self.out.append("\n" + "  " * self.indent)

    def signature_values(self, op: Operation) -> list[Value]:
        """Return the values that a signature's predicates count: arguments, then declared results."""
        values = list(op.regions[0].blocks[0].arguments) if op.regions and op.regions[0].blocks else []
        results: Any = op.attributes.get("result_values") or ()
        types: Any = op.attributes.get("result_types") or ()
        values.extend(results or [Value(t) for t in types])
        for v in values:
            self.names.setdefault(v, "%?")
        return values

    # Names

    def assign_names(self, op: Operation) -> None:
        """Choose the text of every value and block label inside a module-level op."""
        taken: set[str] = set()
        counter = [0]
        names = self.names
        plain = self.plain_names

        def choose(value: Value, mine: list[str]) -> None:
            name = None if plain else value.name
            if not name:
                while True:
                    text = f"%{counter[0]}"
                    counter[0] += 1
                    if text not in taken:
                        break
            else:
                text = f"%{name}"
                if text in taken:
                    n = 0
                    while f"%{name}_{n}" in taken:
                        n += 1
                    text = f"%{name}_{n}"
            taken.add(text)
            mine.append(text)
            names[value] = text

        def visit_op(op: Operation, mine: list[str]) -> None:
            for region, declared in zip(op.regions, _region_defs(op), strict=True):
                visit_region(op, region, declared)
            for result in op.results:
                choose(result, mine)

        def visit_region(op: Operation, region: Region, declared: RegionDef) -> None:
            nonlocal taken
            saved = None
            if declared.isolated:
                saved = (taken, counter[0])
                taken = set()
                counter[0] = 0
            mine: list[str] = []
            if declared.isolated:
                results: Any = op.attributes.get("result_values") or ()
            else:
                results = ()
            labels: set[str] = set()
            number = 0
            for i, block in enumerate(region.blocks):
                for argument in block.arguments:
                    choose(argument, mine)
                if i == 0:
                    for r in results:
                        if r is not None:
                            choose(r, mine)
                    taken.difference_update(names[r] for r in results if r is not None and not _mentioned(region, r))
                label = None if plain else block.label
                if label is None or label in labels:
                    base = label
                    label = f"bb{number}" if base is None else f"{base}_{number}"
                    while label in labels:
                        number += 1
                        label = f"bb{number}" if base is None else f"{base}_{number}"
                    number += 1
                labels.add(label)
                self.labels[block] = label
                for inner in block.operations:
                    visit_op(inner, mine)
            if saved is not None:
                taken, counter[0] = saved
            else:
                taken.difference_update(mine)

        visit_op(op, [])

    # Structure

    def region(self, op: Operation, region: Region, declared: RegionDef, line: LinePrinter | None = None) -> None:
        """Print ``{…}``; ``line`` may print ops in another spelling (and return True)."""
        out = self.out
        out.append("{")
        self.indent += 1
        prefix = "\n" + "  " * self.indent
        if line is None and op.definition.name.startswith("low."):
            line = self._inherited_line
        previous_line = self._inherited_line
        self._inherited_line = line
        first = True
        for n, block in enumerate(region.blocks):
            if n or (block.label_written and not self.plain_names):
                if block.blank_before and not self.plain_names and not first:
                    out.append("\n")
                if not self.plain_names:
                    self._comments(block.comments, "\n" + "  " * (self.indent - 1))
                out.append("\n" + "  " * (self.indent - 1) + "^" + self.labels[block])
                if n and block.arguments:
                    arguments = ", ".join([f"{self.names[a]}: {self.type(a.type)}" for a in block.arguments])
                    out.append(f"({arguments})")
                out.append(":")
                first = False
            for inner in block.operations:
                if not self.plain_names:
                    if inner.blank_before and not first:
                        out.append("\n")
                    if inner.comments:
                        self._comments(inner.comments, prefix)
                if (
                    inner.next is None
                    and inner.definition.name == declared.implicit
                    and not inner.operands
                    and (n == len(region.blocks) - 1)
                    and (inner.definition.name in ELIDED or op.definition.name in ELIDED_INSIDE)
                ):
                    break
                out.append(prefix)
                if line is None or not line(self, inner):
                    self.operation(inner)
                first = False
        self._inherited_line = previous_line
        if region.trailing_comments and not self.plain_names:
            self._comments(region.trailing_comments, prefix)
        self.indent -= 1
        out.append("\n" + "  " * self.indent + "}")

    _inherited_line: LinePrinter | None = None

    def _comments(self, comments: tuple[str, ...], prefix: str) -> None:
        for text in comments:
            self.out.append(prefix + text if text else "\n")

    def operation(self, op: Operation) -> None:
        """Print one op without indentation or line end."""
        out = self.out
        results = op.results
        names = self.names
        definition = op.definition
        if results:
            if len(results) == 1:
                out.append(names[results[0]] + " = " + definition.name)
            else:
                out.append(", ".join([names[r] for r in results]) + " = " + definition.name)
        else:
            out.append(definition.name)
        program = definition.compiled.get("program") or program_of(definition)
        for step in program.print:
            step(self, op)
        if self.locations and op.location is not None:
            place = op.location
            out.append(f' loc("{place.file}":{place.line}:{place.column} to {place.end_line}:{place.end_column})')

    def module(self, module: Module) -> str:
        """Return a module's text."""
        out = self.out
        plain = self.plain_names
        if module.aliases and not plain:
            for name, value in module.aliases.items():
                out.extend(text + "\n" for text in module.alias_comments.get(name, ()))
                out.append(f"#{name} = {format_attribute(value)}\n")
                if isinstance(value, EncodingAttribute):
                    self.aliases.setdefault(value, name)
        previous: Operation | None = None
        for op in module.body.operations:
            self.assign_names(op)
            first = previous is None and not out
            if not first:
                out.append("\n" if previous is not None else "")
                if not plain and (previous is None or op.blank_before or not _groupable(previous, op)):
                    out.append("\n")
            if not plain and op.comments:
                for text in op.comments:
                    out.append(text + "\n")
            self.operation(op)
            previous = op
        if previous is not None:
            out.append("\n")
        if module.trailing_comments and not plain:
            if previous is not None:
                out.append("\n")
            for text in module.trailing_comments:
                out.append(text + "\n")
        return "".join(out)


# Terminators that the printer leaves out when they have no operands and stand last.
ELIDED = frozenset(("scf.yield", "low.scf.yield", "pass.end"))
# Ops whose regions' terminators are left out as well.
ELIDED_INSIDE = frozenset(("check.compare", "command.serial", "command.concurrent"))


def _region_defs(op: Operation) -> list[RegionDef]:
    declared = op.definition.regions
    if len(declared) == len(op.regions):
        return list(declared)
    return [declared[0]] * (len(op.regions) - 1) + [declared[-1]]


def _mentioned(region: Region, value: Value) -> bool:
    """Whether a type inside of a body names a result of its signature."""
    other = {value: Value(value.type)}
    for block in region.blocks:
        if any(a.type.substitute(other) is not a.type for a in block.arguments):
            return True
    return any(
        v.type.substitute(other) is not v.type
        for op in region.walk()
        for v in (*op.results, *(a for inner in op.regions for block in inner.blocks for a in block.arguments))
    )


def _groupable(a: Operation, b: Operation) -> bool:
    """Whether two neighbours may stay without a blank line between: one-liners that the source grouped."""
    return not _has_body(a) and not _has_body(b)


def _has_body(op: Operation) -> bool:
    return any(block.first is not None for region in op.regions for block in region.blocks)


def print_module(module: Module, *, locations: bool = False) -> str:
    """Return the module's canonical text; ``locations`` adds ``loc(…)`` to every op."""
    with deep_recursion():
        return Printer(locations=locations).module(module)


def print_operation(op: Operation) -> str:
    """Return the text of one op (and what is inside), with names as in its surrounding function where there is one."""
    printer = Printer()
    with deep_recursion():
        top = op
        while top.parent_op is not None:
            top = top.parent_op
        printer.assign_names(top)
        for v in op.operands:
            printer.names.setdefault(v, f"%{v.name or '?'}")
        if top is not op and top.definition.has_trait("low"):
            printer.low_set = printed_set(top)
        printer.operation(op)
    return "".join(printer.out)


def _semantic(module: Module) -> str:
    with deep_recursion():
        return Printer(plain_names=True).module(module)


register_semantic_printer(_semantic)
