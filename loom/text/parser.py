"""The parser: a hand-written driver around the compiled formats of the op declarations."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import Any, NoReturn

from loom.diagnostics import Location, LoomError
from loom.ir.core import Block, Module, Operation, Region, Value
from loom.ir.definition import OpDefinition
from loom.ir.recursion import NESTING_LIMIT, collection_paused, deep_recursion
from loom.ir.registry import dialect_prefixes, lookup
from loom.ir.suggest import did_you_mean
from loom.ir.types import Type
from loom.text.format import program_of
from loom.text.lexer import END, Source
from loom.text.literals import parse_string
from loom.text.reader import ERROR_LIMIT, ParseFailure, Reader, TooManyErrors, UnclosedRegion, flatten
from loom.text.steps import OpState

# Older names of ops → what they are called now.
OLDER_NAMES = {
    "func.template": "template.def",
    "func.apply": "template.apply",
    "func.ukernel": "template.ukernel",
    "kernel.launch.serial": "command.serial",
    "kernel.launch.concurrent": "command.concurrent",
    "kernel.launch.yield": "command.return",
}


class Parser(Reader):
    """Reads one source into a module."""

    # Blocks and regions

    def successor(self) -> Block:
        """Read ``^label``."""
        token = self.tokens[self.i]
        if token[0] != "^" or len(token) == 1:
            self.expected("a block label")
        label = token[1:]
        block = self.labels.get(label)
        if block is None:
            block = Block(label=label)
            self.labels[label] = block
        self.label_uses.setdefault(label, self.i)
        self.i += 1
        return block

    def open_scope(self) -> tuple[Any, ...]:
        """Begin an isolated scope; return what :meth:`close_scope` needs."""
        saved = (self.scope, self.defined, self.forward, self.labels, self.label_uses, self.signature)
        self.scope, self.defined, self.forward = {}, [], None
        self.labels, self.label_uses, self.signature = {}, {}, []
        return saved

    def close_scope(self, saved: tuple[Any, ...]) -> None:
        """End an isolated scope: values still missing are errors."""
        if self.forward:
            for token, (_, at) in self.forward.items():
                self.report(self._undefined(token, at))
        self.scope, self.defined, self.forward, self.labels, self.label_uses, self.signature = saved

    def define(self, token: str, value: Value, at: int) -> None:
        """Enter a value's definition under ``%name``."""
        value.name = token[1:] if not token[1].isdigit() else None
        if self.forward:
            waiting = self.forward.pop(token, None)
            if waiting is not None:
                placeholder, used_at = waiting
                if placeholder.type is not None and placeholder.type is not value.type and value.type is not None:
                    self.report(
                        self.diagnose(
                            "PARSE/013",
                            f"{token} has type {value.type}, but {placeholder.type} is written where it is used",
                            used_at,
                        )
                    )
                placeholder.replace_all_uses_with(value)
                self.scope[token] = value
                self.defined.append(token)
                return
        known = self.scope.get(token)
        # The name of a result of the signature is free again in the body.
        if known is not None and known.type is not None and known.owner is not None:
            self.report(
                self.diagnose(
                    "NAME/002",
                    f"{token} is already defined in this scope",
                    at,
                    hint="values are assigned once; choose another name",
                )
            )
            return
        self.scope[token] = value
        self.defined.append(token)

    def arguments(self, block: Block, close: str = ")") -> None:
        """Read ``%a: T, %b: U`` up to ``close`` (consumed) as arguments of ``block``, defining them one by one."""
        if self.tokens[self.i] == close:
            self.i += 1
            return
        while True:
            at = self.i
            token = self.tokens[at]
            if token[0] != "%" or len(token) == 1:
                self.expected("an argument")
            self.i += 1
            self.accept_literal(":")
            value = block.add_argument(self.type())
            self.define(token, value, at)
            self.signature.append(token)
            if self.tokens[self.i] != ",":
                break
            self.i += 1
        self.accept_literal(close)

    def region(self, state: OpState, position: int) -> None:
        """Read ``{…}`` as the region at ``position``; a block with arguments may be waiting in the state."""
        definition = state.definition
        declared = definition.regions[position]
        saved = None
        if declared.isolated and not state.scopes:
            saved = self.open_scope()
        elif declared.isolated:
            saved = state.scopes.pop()
        entry = state.regions[position]
        block = entry if isinstance(entry, Block) else Block()
        region = Region([block])
        state.regions[position] = region
        try:
            if declared.blocks == "any" and self.forward is None:
                self.forward = {}
            mark = -1 if declared.isolated else state.mark
            state.mark = -1
            self._region_body(region, definition, declared.blocks == "any", declared.implicit, mark)
        finally:
            if saved is not None:
                self.close_scope(saved)

    def plain_region(self, definition: OpDefinition, implicit: str | None) -> Region:
        """Read ``{…}`` as a region of its own (for ops with a variable number of regions)."""
        region = Region([Block()])
        self._region_body(region, definition, False, implicit)
        return region

    def _region_body(
        self, region: Region, definition: OpDefinition, cfg: bool, implicit: str | None, mark: int = -1
    ) -> None:
        opening = self.i
        self.accept_literal("{")
        if self.nesting >= NESTING_LIMIT:
            self.fail("PARSE/004", f"regions nest deeper than {NESTING_LIMIT} levels", opening)
        self.nesting += 1
        self.enclosing.append(definition)
        self.openings.append(opening)
        if mark < 0:
            mark = len(self.defined)
        closing = self.block_operations(region, cfg)
        self.finish_region(region, implicit, closing)
        for token in self.defined[mark:]:
            self.scope.pop(token, None)
        del self.defined[mark:]
        self.enclosing.pop()
        self.openings.pop()
        self.nesting -= 1

    def finish_region(self, region: Region, implicit: str | None, closing: int) -> None:
        """Add the terminators that were left out, and attach comments that stood before the closing brace."""
        if implicit is not None:
            for block in region.blocks:
                last = block.last
                if last is None or not last.definition.is_terminator:
                    ender = lookup(implicit)
                    assert ender is not None
                    op = Operation(ender, location=(self.source, closing, closing + 1))
                    if ender.needs_segments:
                        op.segments = (0,) * len(ender.operands)
                    block.append(op)
        trivia = self.source.trivia.get(closing)
        if trivia is not None:
            comments = list(trivia[1])
            while comments and not comments[-1]:
                comments.pop()
            region.trailing_comments = tuple(comments)
            self.kept.add(closing)

    def block_operations(self, region: Region, cfg: bool) -> int:
        """Read blocks of ops up to the closing brace, which is consumed; return its index."""
        tokens = self.tokens
        block = region.blocks[0]
        trivia = self.source.trivia
        while True:
            token = tokens[self.i]
            if token == "}":
                closing = self.i
                self.i += 1
                for label, at in self.label_uses.items() if cfg else ():
                    if self.labels[label].parent is None:
                        self.report(
                            self.diagnose(
                                "NAME/003",
                                f"branch to undefined block ^{label}",
                                at,
                                hint=did_you_mean(label, [n for n, b in self.labels.items() if b.parent is not None]),
                            )
                        )
                return closing
            if token == END:
                self.fail("PARSE/005", "the file ends inside of a region; '}' was expected", hint=self._opened())
            start = self.i
            try:
                if token[0] == "^":
                    block = self._label(region, block, cfg)
                    continue
                op = self.operation(False) if self.asm is None else self.asm.statement()
                if start in trivia:
                    op.blank_before, op.comments = trivia[start]
                    self.kept.add(start)
                block.append(op)
            except UnclosedRegion:
                raise
            except ParseFailure as failure:
                if failure.diagnostic.code in ("PARSE/004", "PARSE/005"):
                    raise
                self.report(failure.diagnostic)
                self.recover(start)

    def _label(self, region: Region, current: Block, cfg: bool) -> Block:
        at = self.i
        token = self.tokens[at]
        if len(token) == 1:
            self.expected("a block label")
        if not cfg:
            self.fail("OP/013", "this region has one block and takes no label", at)
        label = token[1:]
        self.i += 1
        first = current is region.blocks[0] and current.first is None and not current.label_written
        known = self.labels.get(label)
        if known is not None and known.parent is not None:
            self.fail("NAME/004", f"block ^{label} is already defined", at)
        if first:
            current.label = label
            block = current
            self.labels[label] = block
        else:
            block = known if known is not None else Block(label=label)
            self.labels[label] = block
            region.add_block(block)
        block.label_written = True
        block.location = (self.source, at, at + 1)
        trivia = self.source.trivia.get(at)
        if trivia is not None:
            block.blank_before, block.comments = trivia
            self.kept.add(at)
        if self.tokens[self.i] == "(":
            if first and block.arguments:
                self.fail("OP/015", "the entry block's arguments are the function's; its label takes none", at)
            self.i += 1
            signature = self.signature
            self.signature = []
            self.arguments(block)
            self.signature = signature
        self.accept_literal(":")
        return block

    def recover(self, start: int) -> None:
        """Skip to where the next op of the same region seems to begin, and give the lost op's names a meaning."""
        tokens = self.tokens
        i = start
        while tokens[i][0] == "%" and tokens[i + 1] in (",", "="):
            token = tokens[i]
            if token not in self.scope:
                self.scope[token] = Value(None, None, 0, token[1:])  # type: ignore[arg-type]
                self.defined.append(token)
            i += 2
        depth = 0
        i = start
        while True:
            token = tokens[i]
            if token == END:
                break
            if token == "{":
                depth += 1
            elif token == "}":
                if depth <= 0:
                    if i > start or self.nesting:
                        break
                else:
                    depth -= 1
            elif i > start and depth == 0 and self.source.starts_line(i) and self._starts_op(i):
                break
            i += 1
        self.i = max(i, start + 1) if tokens[start] != "}" else i

    def _starts_op(self, i: int) -> bool:
        token = self.tokens[i]
        if token[0] == "%":
            return True
        if self.asm is not None and token[0].isalpha():
            return True
        return token[0] == "^" or (token[0] == "#" and not self.nesting) or ("." in token and token[0].isalpha())

    # Operations

    def operation(self, top: bool) -> Operation:
        """Read one op."""
        tokens = self.tokens
        start = self.i
        token = tokens[start]
        names: list[str] = []
        if token[0] == "%":
            i = start
            while True:
                if tokens[i][0] != "%" or len(tokens[i]) == 1:
                    self.i = i
                    self.expected("a result name")
                names.append(tokens[i])
                i += 1
                if tokens[i] != ",":
                    break
                i += 1
            self.i = i
            if tokens[i] != "=":
                self.expected("=")
            self.i = i + 1
            token = tokens[i + 1]
        definition = lookup(token) if token not in OLDER_NAMES else self._older_name(token)
        if definition is None:
            self._unknown_op(token)
        if ("module_level" in definition.traits) is not top:
            self._misplaced(definition, top)
        if definition.name == "func.return" and self.enclosing[-1].name == "template.def":
            found = lookup("template.return")
            assert found is not None
            definition = found
        self.i += 1
        state = OpState(definition, names, start)
        outer_names, outer_early = self.own_names, self.early
        self.own_names, self.early = names, None
        program = definition.compiled.get("program") or program_of(definition)
        older = self.older
        try:
            for step in program.parse:
                step(self, state)
        except ParseFailure as failure:
            while state.scopes:
                saved = state.scopes.pop()
                self.scope, self.defined, self.forward, self.labels, self.label_uses, self.signature = saved
            problem = failure.diagnostic
            if problem.code == "PARSE/001" and problem.hint is None and definition.example:
                example = definition.example.partition("\n")[0]
                failure.diagnostic = replace(problem, hint=f"written like: {example}")
            raise
        finally:
            self.older = older and top is False
            self.own_names, early = outer_names, self.early
            self.early = outer_early
        while state.scopes:
            self.close_scope(state.scopes.pop())
        op = self.finish(state)
        if early:
            for token, placeholder in early.items():
                placeholder.replace_all_uses_with(op.results[names.index(token)])
        return op

    def finish(self, state: OpState) -> Operation:
        """Make the op of what was read and define its results."""
        definition = state.definition
        groups = state.groups
        segments: tuple[int, ...] | None = None
        if definition.variadic_operand is None and not definition.needs_segments:
            operands = groups
        else:
            operands = flatten(groups)
            if definition.needs_segments:
                segments = tuple([len(g) if g.__class__ is list else 0 if g is None else 1 for g in groups])
        if groups and None in operands:
            operands = [v for v in operands if v is not None]
        regions = state.regions
        if regions:
            regions = [r if isinstance(r, Region) else Region([r] if isinstance(r, Block) else []) for r in regions]
        op = Operation(
            definition,
            operands,
            (),
            state.attributes,
            regions,
            state.successors,
            (self.source, state.start, self.i),
            segments,
        )
        declared = definition.results
        names = state.names
        if declared:
            types = state.types
            if None in types:
                types = self._infer(op, state)
            else:
                types = types if len(declared) == 1 and types[0].__class__ is not list else flatten(types)
            if names and len(names) != len(types):
                self.fail(
                    "PARSE/006",
                    f"{definition.name} has {len(types)} result{'s' * (len(types) != 1)}, "
                    f"{len(names)} name{'s' * (len(names) != 1)} given",
                    state.start,
                )
            results = op.results
            at = state.start
            for i, t in enumerate(types):
                value = Value(t, op, i)
                results.append(value)
                if names:
                    self.define(names[i], value, at)
                    at += 2
        elif names:
            self.fail("PARSE/006", f"{definition.name} has no results", state.start)
        if self.tokens[self.i] == "loc" and self.tokens[self.i + 1] == "(":
            self._written_location(op)
        return op

    def _infer(self, op: Operation, state: OpState) -> list[Type]:
        """Complete the result types that the text does not give: an operand's type, or a fixed one."""
        definition = op.definition
        types: list[Any] = []
        for declared, given in zip(definition.results, state.types, strict=True):
            if given is not None:
                types.extend(given if given.__class__ is list else [given])
            elif declared.count == "one":
                rule = declared.infer
                types.append(op.operand(rule).type if isinstance(rule, str) else rule)
        return types

    def _older_name(self, token: str) -> OpDefinition | None:
        self.older = True
        return lookup(OLDER_NAMES[token])

    def _unknown_op(self, token: str) -> NoReturn:
        if not (token[0].isalpha() or token[0] in "_$"):
            self.expected("an operation")
        prefix = token.partition(".")[0]
        from loom.ir.registry import _DEFINITIONS, load_dialect

        load_dialect(prefix)
        names = [n for n in _DEFINITIONS if n.partition(".")[0] == prefix]
        if not names:
            names, token_part = dialect_prefixes(), prefix
            known = f"{self.enclosing[-1].dialect}.{token}" if self.enclosing else ""
            if lookup(known) is not None:
                self.fail("PARSE/002", f"unknown operation {self.shown()}", hint=f"did you mean '{known}'?")
        else:
            token_part = token
        hint = did_you_mean(token_part, names)
        self.fail("PARSE/002", f"unknown operation {self.shown()}", hint=hint)

    def _misplaced(self, definition: OpDefinition, top: bool) -> NoReturn:
        if top:
            self.fail(
                "PARSE/003",
                f"{definition.name} cannot stand at module level",
                hint="put it into a function, kernel or check",
            )
        diagnostic = self.diagnose(
            "PARSE/003",
            f"{definition.name} can stand at module level only",
            hint="is a '}' missing before it?",
        )
        if self.source.span(self.i).column == 1:
            # Values that wait for a definition would only repeat the error.
            self.forward = {}
            raise UnclosedRegion(diagnostic)
        raise ParseFailure(diagnostic)

    def _written_location(self, op: Operation) -> None:
        start = self.i
        self.i += 2
        depth = 1
        while depth:
            token = self.tokens[self.i]
            if token == "(":
                depth += 1
            elif token == ")":
                depth -= 1
            elif token == END or token in "{}":
                self.fail("PARSE/001", "the location does not end", start)
            self.i += 1
        t = self.tokens
        if t[start + 2][0] == '"' and t[start + 3] == ":" and t[start + 4].isdigit() and t[start + 6].isdigit():
            line, column = int(t[start + 4]), int(t[start + 6])
            end_line, end_column = line, column
            if t[start + 7] == "to" and t[start + 8].isdigit() and t[start + 10].isdigit():
                end_line, end_column = int(t[start + 8]), int(t[start + 10])
            op.location = Location(parse_string(t[start + 2]), line, column, end_line, end_column)

    # Modules

    def parse_module(self) -> Module:
        """Read the whole file; raise ``LoomError`` with all errors found (up to the limit)."""
        try:
            with deep_recursion(), collection_paused():
                self._module()
        except TooManyErrors:
            pass
        except ParseFailure as failure:
            self.diagnostics.append(failure.diagnostic)
        if self.diagnostics:
            ordered = sorted(
                self.diagnostics, key=lambda d: (d.location.line, d.location.column) if d.location else (0, 0)
            )
            raise LoomError(ordered[:ERROR_LIMIT])
        return self.module

    def _module(self) -> None:
        tokens = self.tokens
        trivia = self.source.trivia
        while tokens[self.i] != END:
            start = self.i
            if tokens[start][0] == "#" and tokens[start + 1] == "=":
                self._alias()
                continue
            try:
                op = self.operation(True)
                if start in trivia:
                    op.blank_before, op.comments = trivia[start]
                    self.kept.add(start)
                self.module.body.append(op)
            except ParseFailure as failure:
                self.nesting = 0
                self.enclosing.clear()
                self.openings.clear()
                self.report(failure.diagnostic)
                if failure.diagnostic.code in ("PARSE/004", "PARSE/005"):
                    return
                if not isinstance(failure, UnclosedRegion):
                    self.recover(start)
        self.module.aliases = dict(self.aliases)
        if self.i in trivia:
            self.module.trailing_comments = trivia[self.i][1]
            self.kept.add(self.i)
        self._keep_comments_inside_of_ops()

    def _alias(self) -> None:
        """Read ``#name = #family<…>``."""
        at = self.i
        name = self.tokens[at][1:]
        if name in self.aliases:
            self.report(self.diagnose("PARSE/010", f"alias #{name} is given twice", at))
        self.i += 2
        if at in self.source.trivia:
            self.module.alias_comments[name] = self.source.trivia[at][1]
            self.kept.add(at)
        try:
            self.aliases[name] = self.encoding()
        except ParseFailure as failure:
            self.report(failure.diagnostic)
            self.recover(at)

    def _keep_comments_inside_of_ops(self) -> None:
        """Give comments that stand within an op's text to the next op that begins behind them."""
        lost = [i for i, (_, comments) in self.source.trivia.items() if comments and i not in self.kept]
        if not lost:
            return
        starts = [(op._location[1], op) for op in self.module.walk() if op._location.__class__ is tuple]
        starts.sort(key=lambda entry: entry[0])
        for index in reversed(lost):
            comments = self.source.trivia[index][1]
            at = bisect_left(starts, index, key=lambda entry: entry[0])
            if at < len(starts):
                op = starts[at][1]
                op.comments = (*comments, *op.comments)
            else:
                self.module.trailing_comments = (*comments, *self.module.trailing_comments)


def parse(text: str | bytes, filename: str = "<text>") -> Module:
    """Parse Loom text into a module.

    Older spellings are read as their newest ones. Raises :class:`loom.diagnostics.LoomError` with up to 20
    diagnostics. The module is not verified; see :func:`loom.ir.verifier.verify`.
    """
    from loom.text.lexer import decode
    from loom.text.modernize import modernize

    if isinstance(text, bytes):
        text = decode(text, filename)
    module = Parser(Source(text, filename)).parse_module()
    modernize(module)
    return module
