"""Verification: what every module must satisfy before anything else looks at it.

The generic part follows the op declarations: counts, types, attributes, terminators, dominance, isolation. Each op's
own rules are the ``verify`` of its declaration; rules about symbols and whole modules are module checks, named by
import string.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from loom.diagnostics import Diagnostic, Location, LoomError, Severity
from loom.ir.attributes import EncodingAttribute, Predicate, SymbolRef
from loom.ir.core import Block, Module, Operation, Region, Value
from loom.ir.definition import AttributeDef, OpDefinition, RegionDef, TypeConstraint
from loom.ir.dominance import dominator_tree
from loom.ir.types import Type

ERROR_LIMIT = 20

# "module:function" of what checks whole modules, called as ``function(module, verifier)`` after the ops are checked.
_MODULE_CHECKS = ("loom.dialect.symbols:check_symbols",)


class _Stop(Exception):
    pass


@dataclass(slots=True)
class _Plan:
    """What has to be checked of every op of one definition."""

    operand_count: int
    fixed_operands: bool
    result_count: int
    fixed_results: bool
    required: tuple[str, ...]
    validators: dict[str, Callable[[Any], str | None]]
    parents: frozenset[str]
    has_types: bool


def _plan(definition: OpDefinition) -> _Plan:
    plan = _Plan(
        len(definition.operands),
        all(o.count == "one" for o in definition.operands),
        len(definition.results),
        all(r.count == "one" for r in definition.results),
        tuple(a.name for a in definition.attributes if not a.optional),
        {a.name: validator(a) for a in definition.attributes},
        frozenset(definition.parents),
        bool(definition.operands or definition.results),
    )
    definition.compiled["plan"] = plan
    return plan


_MENTION = re.compile(r"(?<![\w.%@^])[%@^][\w$-]+(?:\.[\w$-]+)*(?! of @)")


def _place(op: Operation, message: str, focus: str | None) -> Location | None:
    """Where in an op's text an error is: at a name it is about, else the whole op."""
    where = op._location
    if not isinstance(where, tuple):
        return op.location
    source, start, end = where
    tokens = source.tokens
    behind = start + 2 * len(op.results) if tokens[start][0] == "%" else start
    for name in (focus,) if focus is not None else _MENTION.findall(message)[:2]:
        if name in tokens[behind:end]:
            found: Location = source.span(tokens.index(name, behind, end))
            return found
    return op.location


class Verifier:
    """Checks one module and gathers diagnostics."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.accepted: dict[OpDefinition, set[tuple[object, ...]]] = {}
        self.live: set[Value] = set()

    def report(
        self,
        op: Operation,
        code: str,
        message: str,
        hint: str | None = None,
        notes: Sequence[str] = (),
        location: Any = None,
        focus: str | None = None,
    ) -> None:
        """Record an error at an op: at the token ``focus``, else at the first name that the message mentions."""
        place = location if location is not None else _place(op, message, focus)
        self.diagnostics.append(Diagnostic(message, code, place, Severity.ERROR, hint, tuple(notes)))
        if len(self.diagnostics) >= ERROR_LIMIT:
            raise _Stop

    def module(self, module: Module) -> None:
        """Check all ops, then the whole."""
        try:
            for op in module.body.operations:
                if "module_level" not in op.definition.traits:
                    self.report(op, "OP/008", f"{op.name} cannot stand at module level")
                self.live = set()
                self.operation(op)
            for name in _MODULE_CHECKS:
                where, _, function = name.partition(":")
                getattr(importlib.import_module(where), function)(module, self)
        except _Stop:
            pass

    # One op

    def operation(self, op: Operation) -> None:
        """Check one op, its operands' availability, and its regions."""
        definition = op.definition
        plan: _Plan = definition.compiled.get("plan") or _plan(definition)
        operands = op.operands
        live = self.live
        for v in operands:
            if v not in live:
                self._unavailable(op, v)
        results = op.results
        sound = True
        if (plan.fixed_operands and len(operands) != plan.operand_count) or (
            op.segments is not None and sum(op.segments) != len(operands)
        ):
            self.report(op, "OP/001", f"{definition.name} takes {plan.operand_count} operands, it has {len(operands)}")
            sound = False
        if plan.fixed_results and len(results) != plan.result_count:
            self.report(op, "OP/004", f"{definition.name} has {plan.result_count} results, {len(results)} are defined")
            sound = False
        elif not plan.fixed_operands and len(operands) < sum(o.count == "one" for o in definition.operands):
            self.report(op, "OP/001", f"{definition.name} lacks operands")
            sound = False
        if plan.has_types and sound:
            key = tuple([v.type for v in operands]) + tuple([r.type for r in results])
            accepted = self.accepted.get(definition)
            if accepted is None:
                accepted = self.accepted[definition] = set()
            full = (*key, op.segments) if op.segments is not None else (*key, len(operands))
            if full not in accepted:
                sound = self._types(op)
                if sound:
                    accepted.add(full)
        attributes = op.attributes
        for name in plan.required:
            if name not in attributes:
                self.report(op, "OP/005", f"{definition.name} lacks the attribute '{name}'")
                sound = False
        validators = plan.validators
        for name, value in attributes.items():
            check = validators.get(name)
            if check is None:
                self.report(op, "OP/007", f"{definition.name} does not declare the attribute '{name}'")
                continue
            problem = check(value)
            if problem is not None:
                self.report(op, "OP/006", f"attribute '{name}' of {definition.name} {problem}")
                sound = False
        if plan.parents and op.parent is not None:
            holder = op.parent_op
            if holder is None or holder.definition.name not in plan.parents:
                self.report(
                    op,
                    "OP/008",
                    f"{definition.name} belongs in {' or '.join(sorted(plan.parents))}"
                    + (f", not in {holder.definition.name}" if holder is not None else ""),
                )
                sound = False
        for r in results:
            if r.type.values:
                self._dims(op, r.type)
        if op.regions or definition.regions:
            sound = self._regions(op, sound)
        if sound and definition.verify is not None:

            def report(
                code: str,
                message: str,
                hint: str | None = None,
                notes: Sequence[str] = (),
                at: Operation | None = None,
                focus: str | None = None,
            ) -> None:
                self.report(at if at is not None else op, code, message, hint, notes, focus=focus)

            definition.verify(op, report)
        live.update(results)

    def _dims(self, op: Operation, type_: Type) -> None:
        for named in type_.values:
            if named not in self.live and named.owner is not op:
                self._unavailable(op, named)

    def _unavailable(self, op: Operation, value: Value) -> None:
        label = f"%{value.name}" if value.name else "an operand"
        definer = value.owner
        if definer is None:
            self.report(op, "SSA/001", f"{label} is used but nothing defines it")
            return
        chain: list[Operation] = []
        current: Operation | None = op
        while current is not None:
            chain.append(current)
            current = current.parent_op
        home = definer.parent_op
        isolated = next(
            (o for o in chain[1:] if o.definition.regions and o.definition.regions[0].isolated),
            None,
        )
        if isolated is not None and home is not isolated:
            above = home
            while above is not None and above is not isolated:
                above = above.parent_op
            if above is None:
                self.report(
                    op,
                    "SSA/002",
                    f"{label} is defined outside of {isolated.name}, whose body is isolated",
                    "pass it as an argument",
                )
                return
        self.report(op, "SSA/001", f"the definition of {label} does not dominate this use")

    def _types(self, op: Operation) -> bool:
        definition = op.definition
        sound = True
        position = 0
        named: dict[str, list[Type]] = {}
        # One mistake often shows at several operands and the result; it is said once.
        reported: set[tuple[Type, TypeConstraint]] = set()
        for i, declared in enumerate(definition.operands):
            if op.segments is not None:
                size = op.segments[i]
            elif declared.count == "one":
                size = 1
            else:
                size = len(op.operands) - len(definition.operands) + 1
            values = op.operands[position : position + size]
            types = [v.type for v in values]
            position += size
            named[declared.name] = types
            for v in values:
                t = v.type
                if t is not None and not declared.constraint.accepts(t):
                    sound = False
                    if (t, declared.constraint) in reported:
                        continue
                    reported.add((t, declared.constraint))
                    self.report(
                        op,
                        "OP/002",
                        f"operand '{declared.name}' of {definition.name} must be {declared.constraint.description}, "
                        f"not {t}",
                        focus=f"%{v.name}" if v.name else None,
                    )
                    sound = False
        position = 0
        for i, result in enumerate(definition.results):
            if op.result_segments is not None:
                size = op.result_segments[i]
            elif result.count == "one":
                size = 1
            else:
                size = len(op.results) - len(definition.results) + 1
            types = [v.type for v in op.results[position : position + size]]
            position += size
            named[result.name] = types
            for t in types:
                if t is not None and not result.constraint.accepts(t):
                    sound = False
                    if (t, result.constraint) in reported:
                        continue
                    reported.add((t, result.constraint))
                    self.report(
                        op,
                        "OP/002",
                        f"result '{result.name}' of {definition.name} must be {result.constraint.description}, not {t}",
                    )
                    sound = False
        for group in definition.same if sound else ():
            first: tuple[str, Type] | None = None
            for name in group:
                for t in named[name]:
                    if first is None:
                        first = (name, t)
                    elif t is not first[1]:
                        self.report(
                            op,
                            "OP/003",
                            f"'{first[0]}' and '{name}' of {definition.name} must have one type; "
                            f"they have {first[1]} and {t}",
                        )
                        return False
        return sound

    # Regions

    def _regions(self, op: Operation, sound: bool) -> bool:
        declared = op.definition.regions
        if len(declared) == len(op.regions):
            pairs = list(zip(op.regions, declared, strict=True))
        elif len(op.regions) > len(declared) >= 2 and op.name == "scf.switch":
            pairs = [(r, declared[0]) for r in op.regions[:-1]] + [(op.regions[-1], declared[-1])]
        elif op.name == "scf.switch" and len(op.regions) == 1:
            pairs = [(op.regions[0], declared[-1])]
        else:
            self.report(op, "OP/013", f"{op.name} has {len(op.regions)} regions instead of {len(declared)}")
            return False
        for region, definition in pairs:
            if not region.blocks:
                if not definition.optional:
                    self.report(op, "OP/013", f"region '{definition.name}' of {op.name} is missing")
                    sound = False
                continue
            if definition.blocks == "one" and len(region.blocks) != 1:
                self.report(op, "OP/013", f"region '{definition.name}' of {op.name} must have one block")
                sound = False
                continue
            outer = self.live
            if definition.isolated:
                self.live = set()
                results: Any = op.attributes.get("result_values")
                if isinstance(results, tuple):
                    self.live.update(v for v in results if v is not None)
            if len(region.blocks) == 1 and not region.blocks[0].successors:
                entered: list[Value] = []
                sound &= self._block(op, region.blocks[0], definition, entered)
                if not definition.isolated:
                    self.live.difference_update(entered)
            else:
                sound &= self._blocks(op, region, definition)
            self.live = outer
        return sound

    def _block(self, holder: Operation, block: Block, declared: RegionDef, entered: list[Value]) -> bool:
        live = self.live
        live.update(block.arguments)
        entered.extend(block.arguments)
        for a in block.arguments:
            if a.type.values:
                for named in a.type.values:
                    if named not in live:
                        self.report(
                            holder, "SSA/001", f"the type of %{a.name} names %{named.name}, which is not available here"
                        )
        terminators = declared.terminators
        last = block.last
        ended = False
        for op in block.operations:
            if op.definition.is_terminator and op is not last:
                self.report(op, "OP/010", f"{op.name} ends a block, but more ops follow")
                ended = True
            if "module_level" in op.definition.traits:
                self.report(op, "OP/008", f"{op.name} can stand at module level only")
                continue
            self.operation(op)
            entered.extend(op.results)
        if not terminators:
            if last is not None:
                self.report(last, "OP/013", f"a declaration has no body: {holder.name}")
                return False
            return True
        if last is None or not (last.definition.name in terminators or last.successors):
            # A terminator of other ops has been reported as misplaced.
            if last is None or not (ended or (last.definition.is_terminator and last.definition.parents)):
                self.report(
                    last if last is not None else holder,
                    "OP/009",
                    f"region '{declared.name}' of {holder.name} must end in {' or '.join(terminators)}",
                )
            return False
        return True

    def _blocks(self, holder: Operation, region: Region, declared: RegionDef) -> bool:
        """Check the blocks of a CFG along the dominator tree, so that exactly the dominating definitions are live."""
        sound = True
        tree, unreachable = dominator_tree(region)
        entry = region.blocks[0]
        for block in region.blocks:
            if block.last is not None and entry in block.successors:
                self.report(block.last, "OP/012", "a branch cannot go to the entry block")
                sound = False
            for target in block.successors:
                if target.parent is not region:
                    assert block.last is not None
                    self.report(block.last, "NAME/003", f"branch to a block of another region: ^{target.label}")
                    return False
        stack: list[tuple[Block, list[Value] | None]] = [(entry, None)]
        while stack:
            block, leaving = stack.pop()
            if leaving is not None:
                self.live.difference_update(leaving)
                continue
            entered: list[Value] = []
            sound &= self._block(holder, block, declared, entered)
            stack.append((block, entered))
            stack.extend((child, None) for child in reversed(tree.get(block, [])))
        everything: set[Value] = set()
        if unreachable:
            for block in region.blocks:
                everything.update(block.arguments)
                for op in block.operations:
                    everything.update(op.results)
        for block in unreachable:
            before = set(self.live)
            self.live |= everything
            sound &= self._block(holder, block, declared, [])
            self.live = before
        return sound


# Attribute domains


def _tuple_of(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(accepts(v) for v in value)


def _is_a(*classes: type[Any]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, classes)


# kind → (what it must be, the test)
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("must be an integer", lambda v: isinstance(v, int) and not isinstance(v, bool)),
    "float": ("must be a float", lambda v: isinstance(v, int | float) and not isinstance(v, bool)),
    "number": ("must be a number", _is_a(int, float)),
    "bool": ("must be true or false", _is_a(bool)),
    "keyword": ("must be true or false", _is_a(bool)),
    "string": ("must be a string", _is_a(str)),
    "text": ("must be a string or word", _is_a(str)),
    "bare": ("must be a word", _is_a(str)),
    "symbol": ("must be a symbol", _is_a(SymbolRef)),
    "symbol_name": ("must be a symbol's name", lambda v: isinstance(v, str) and bool(v)),
    "type": ("must be a type", _is_a(Type)),
    "encoding": ("must be an encoding", _is_a(EncodingAttribute)),
    "dict": ("must be a dictionary", _is_a(dict)),
    "extra": ("must be a dictionary", _is_a(dict)),
    "ints": ("must be a list of integers", _tuple_of(_is_a(int))),
    "sizes": ("must be positive integers", _tuple_of(lambda v: isinstance(v, int) and v > 0)),
    "numbers": ("must be a list of numbers", _tuple_of(_is_a(int, float))),
    "symbols": ("must be a list of symbols", _tuple_of(_is_a(SymbolRef))),
    "encodings": ("must be a list of encodings", _tuple_of(_is_a(EncodingAttribute))),
    "words": ("must be a list of words", _tuple_of(_is_a(str))),
    "predicates": ("must be a list of predicates", _tuple_of(_is_a(Predicate))),
    "result_types": ("must be a list of types", _tuple_of(_is_a(Type))),
    "indices": (
        "must be a list of constants and None",
        _tuple_of(lambda v: v is None or (isinstance(v, int) and v >= 0)),
    ),
    "any": ("", lambda v: True),
    "internal": ("", lambda v: True),
}


def validator(declared: AttributeDef) -> Callable[[Any], str | None]:
    """Return the check of an attribute's value: None when it is right, else what is wrong ("must be …")."""
    if declared.kind == "word":
        words = frozenset(declared.words)

        def check_word(value: Any) -> str | None:
            if isinstance(value, str) and value in words:
                return None
            return f"must be one of {', '.join(declared.words)}"

        return check_word
    if declared.kind == "flags":
        allowed = frozenset(declared.words)

        def check_flags(value: Any) -> str | None:
            if isinstance(value, tuple) and allowed.issuperset(value):
                return None
            return f"must be flags of {', '.join(declared.words)}"

        return check_flags
    text, accepts = _KINDS[declared.kind]
    low, high, power = declared.minimum, declared.maximum, declared.power_of_two
    if low is None and high is None and not power:
        return lambda value: None if accepts(value) else text

    def check(value: Any) -> str | None:
        if not accepts(value):
            return text
        if low is not None and value < low:
            return f"must be at least {low}, not {value}"
        if high is not None and value > high:
            return f"must be at most {high}, not {value}"
        if power and value & (value - 1):
            return f"must be a power of two, not {value}"
        return None

    return check


def check(module: Module) -> list[Diagnostic]:
    """Return what is wrong with a module, sorted by place; empty when it is valid."""
    from loom.ir.recursion import deep_recursion

    verifier = Verifier()
    with deep_recursion():
        verifier.module(module)
    return sorted(verifier.diagnostics, key=lambda d: (d.location.line, d.location.column) if d.location else (0, 0))


def verify(module: Module) -> None:
    """Check a module; raise :class:`loom.diagnostics.LoomError` with up to 20 diagnostics when it is invalid."""
    problems = check(module)
    if problems:
        raise LoomError(problems)
