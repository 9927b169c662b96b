"""Structured control flow from the branches of a reducible control flow graph.

Loops go first, the innermost before the others: a loop whose head alone decides becomes an ``scf.while`` of head and
body; any other gets one latch that says whether to go round again, and where to leave to. Then what is left has no
cycle and every branch becomes an ``scf.if`` up to the block where its ways meet. Where they meet in several blocks
(a short-circuit condition, an exit out of the middle), a block of their own tells these apart by a number.

The scheme follows Bahmann, Reissmann, Jahre and Meyer, "Perfect Reconstructability of Control Flow from Demand
Dependence Graphs" (2015), for the reducible case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from loom.ir import I1, INDEX, Block, Builder, Operation, Region, Type, Value
from loom.ir.dominance import immediate_dominators
from loom.ir.graph import reverse_postorder
from loom.transform.folding import constant_of

Placeholder = Callable[[Type], Value]
"""A value of a type, for a place that nobody reads before it is written."""


def is_reducible(region: Region) -> bool:
    """Whether every cycle has one entry and a way out, and some block ends the function. Unreachable blocks count
    for nothing."""
    back = _back_edges(region)
    state: dict[Block, int] = {}
    stack: list[tuple[Block, int]] = [(region.blocks[0], 0)]
    state[region.blocks[0]] = 1
    while stack:
        block, at = stack.pop()
        ahead = [s for s in block.successors if (block, s) not in back]
        if at < len(ahead):
            stack.append((block, at + 1))
            target = ahead[at]
            if state.get(target) == 1:
                return False
            if target not in state:
                state[target] = 1
                stack.append((target, 0))
        else:
            state[block] = 2
    for head in {head for _, head in back}:
        body = _loop_of(head, back)
        if not any(s not in body for b in body for s in b.successors):
            return False
    return any(not b.successors for b in region.blocks)


def reduce_cfg(region: Region, placeholder: Placeholder, unsupported: Callable[[Block], Exception]) -> None:
    """Make one block of a region for which :func:`is_reducible` holds, and whose blocks are all reachable.

    Args:
        region: Blocks that end in ``cfg.br``, ``cfg.cond_br`` or a return.
        placeholder: Makes values for places that are not read.
        unsupported: The error for a block across whose branches a value lives that cannot be carried.
    """
    work = _Reduction(region, placeholder, unsupported)
    work.one_exit()
    work.loops()
    entry = region.blocks[0]
    if work.exit is not entry:
        work.collapse(entry, work.exit)
        branch = entry.terminator
        assert branch is not None
        work.splice(entry, work.exit, branch)


def _dominates(entry: Block, a: Block, b: Block) -> bool:
    """Whether every way from ``entry`` to ``b`` leads over ``a``."""
    return a is b or b not in _reachable(entry, a)


def _reachable(entry: Block, *avoiding: Block) -> set[Block]:
    """Blocks that ``entry`` leads to (itself included) without passing those of ``avoiding``."""
    if entry in avoiding:
        return set()
    return set(reverse_postorder(entry, lambda block: [b for b in block.successors if b not in avoiding]))


def _back_edges(region: Region) -> dict[tuple[Block, Block], None]:
    """Edges to a block that dominates the one they start from, in the order of the blocks."""
    immediate = immediate_dominators(region)
    edges: dict[tuple[Block, Block], None] = {}
    for block in immediate:
        for target in block.successors:
            above: Block = block
            while above is not target and immediate[above] is not above:
                above = immediate[above]
            if above is target:
                edges[block, target] = None
    return edges


def _loop_of(head: Block, back: Iterable[tuple[Block, Block]]) -> list[Block]:
    """The blocks of a natural loop, its head first."""
    body = {head: True}
    work = [source for source, target in back if target is head]
    while work:
        block = work.pop()
        if block not in body:
            body[block] = True
            work += block.predecessors
    return list(body)


class _Reduction:
    """One region on its way to one block."""

    def __init__(self, region: Region, placeholder: Placeholder, unsupported: Callable[[Block], Exception]) -> None:
        self.region = region
        self.unsupported = unsupported
        self._placeholder = placeholder
        self._fillers: dict[Type, Value] = {}
        self._numbers: dict[tuple[object, Type], Value] = {}
        self.exit = region.blocks[0]

    # Small things

    def constant(self, number: int | bool, type_: Type) -> Value:
        """A constant at the head of the region, made once."""
        key = (number, type_)
        if key not in self._numbers:
            self._numbers[key] = Builder.at_start(self.region.blocks[0]).constant(number, type_)
        return self._numbers[key]

    def filler(self, type_: Type, block: Block) -> Value:
        """A value that nobody reads."""
        if type_.values:
            raise self.unsupported(block)
        if type_ not in self._fillers:
            self._fillers[type_] = self._placeholder(type_)
        return self._fillers[type_]

    def new_block(self, types: Sequence[Type] = (), names: Sequence[str | None] = ()) -> Block:
        """A block at the end of the region."""
        made = self.region.add_block(Block())
        for i, type_ in enumerate(types):
            made.add_argument(type_, names[i] if i < len(names) else None)
        return made

    @staticmethod
    def branch(block: Block, target: Block, values: Sequence[Value], location: object) -> None:
        """End ``block`` with a branch."""
        Builder.at_end(block, location).create("cfg.br", list(values), [], {}, [], [target])

    def redirect(self, source: Block, index: int, target: Block, make: Callable[[list[Value]], list[Value]]) -> None:
        """Lead one edge to another block; ``make`` turns the values it passed into those it passes now."""
        ender = source.terminator
        assert ender is not None
        if ender.name == "cfg.br":
            values = make(list(ender.operand_group("arguments")))
            location = ender._location
            ender.erase()
            self.branch(source, target, values, location)
            return
        step = self.new_block()
        self.branch(step, target, make([]), ender._location)
        ender.successors[index] = step

    def splice(self, into: Block, block: Block, branch: Operation) -> None:
        """Join ``block`` to the only block that branches to it."""
        for argument, value in zip(block.arguments, list(branch.operand_group("arguments")), strict=True):
            argument.replace_all_uses_with(value)
        branch.erase()
        for op in block.operations:
            op.remove()
            into.append(op)
        self.region.blocks.remove(block)

    def one_exit(self) -> None:
        """Let all returns be one block."""
        ends = [b for b in self.region.blocks if not b.successors]
        if len(ends) == 1:
            self.exit = ends[0]
            return
        model = ends[0].terminator
        assert model is not None
        types = [v.type for v in model.operands]
        if any(t.values for t in types):
            raise self.unsupported(ends[0])
        self.exit = self.new_block(types)
        builder = Builder.at_end(self.exit, model._location)
        builder.create(model.definition, list(self.exit.arguments), [], dict(model.attributes))
        for block in ends:
            ender = block.terminator
            assert ender is not None
            values, location = list(ender.operands), ender._location
            ender.erase()
            self.branch(block, self.exit, values, location)

    # Loops

    def loops(self) -> None:
        """Replace every loop, innermost first."""
        while True:
            back = _back_edges(self.region)
            if not back:
                return
            heads = {head for _, head in back}
            order = {b: i for i, b in enumerate(self.region.blocks)}
            loops = [_loop_of(head, back) for head in sorted(heads, key=order.__getitem__)]
            # Those without another one inside share no block, so one does not disturb the next.
            for body in loops:
                if not any(block in heads for block in body[1:]):
                    self._loop(body)

    def _loop(self, body: list[Block]) -> None:
        head = body[0]
        inside = set(body)
        before = self._enter(head, inside)
        leaving = [(b, i, s) for b in body for i, s in enumerate(b.successors) if s not in inside]
        decision = head.terminator
        assert decision is not None
        if len(leaving) == 1 and leaving[0][0] is head and decision.name == "cfg.cond_br":
            self._head_decides(before, head, leaving[0])
        else:
            self._latch_decides(before, head, inside, leaving)

    def _enter(self, head: Block, inside: set[Block]) -> Block:
        """The one block outside that branches to the head."""
        outside = [
            (b, i) for b in head.predecessors if b not in inside for i, s in enumerate(b.successors) if s is head
        ]
        if len(outside) == 1:
            ender = outside[0][0].terminator
            if ender is not None and ender.name == "cfg.br":
                return outside[0][0]
        made = self.new_block([a.type for a in head.arguments], [a.name for a in head.arguments])
        self.region.blocks.remove(made)
        self.region.blocks.insert(self.region.blocks.index(head), made)
        location = head.first.location if head.first is not None else None
        for source, index in outside:
            self.redirect(source, index, made, lambda values: values)
        self.branch(made, head, list(made.arguments), location)
        return made

    def _escaping(self, inside: set[Block], head: Block) -> list[Value]:
        """Values made in the loop and used behind it."""
        found: list[Value] = []
        for block in self.region.blocks:
            if block not in inside:
                continue
            for value in [*block.arguments, *(r for op in block.operations for r in op.results)]:
                users = [self._top(user) for user in value.users]
                if any(top.parent not in inside for top in users):
                    if value.type.values:
                        raise self.unsupported(head)
                    found.append(value)
                for named in value.type_users or ():
                    if not self._stands_in(named, inside):
                        raise self.unsupported(head)
        return found

    def _stands_in(self, value: Value, inside: set[Block]) -> bool:
        owner = value.owner
        if isinstance(owner, Block):
            holder = owner.parent_op
            return owner in inside or (
                owner.parent is not self.region and holder is not None and self._top(holder).parent in inside
            )
        return owner is not None and self._top(owner).parent in inside

    def _top(self, op: Operation) -> Operation:
        """The operation directly in a block of the region that ``op`` stands in."""
        while op.parent is not None and op.parent.parent is not self.region:
            outer = op.parent_op
            if outer is None:
                break
            op = outer
        return op

    def _replace_outside(self, value: Value, replacement: Value, inside: set[Block]) -> None:
        for user in list(value.users):
            if self._top(user).parent in inside:
                continue
            for i, operand in enumerate(user.operands):
                if operand is value:
                    user.set_operand(i, replacement)

    def _head_decides(self, before: Block, head: Block, leaving: tuple[Block, int, Block]) -> None:
        """A ``while``: the head decides, the rest is the body."""
        _, taken, leave = leaving
        decision = head.terminator
        assert decision is not None
        body = decision.successors[1 - taken]
        if body is head:
            self.redirect(head, 1 - taken, head, lambda values: values)
            body = decision.successors[1 - taken]
        self.collapse(body, head)
        inside = {head, body}
        escaping = [v for v in self._escaping(inside, head) if v not in head.arguments]
        # What the head makes for its body lies outside of the body's region, so it travels as well.
        made = [r for op in head.operations for r in op.results]
        shared = [v for v in made if v not in escaping and any(self._top(u).parent is body for u in v.users)]
        forwarded = [*head.arguments, *escaping, *shared]
        if any(v.type.values for v in forwarded) or any(v.type_users for v in [*escaping, *shared]):
            raise self.unsupported(head)
        enter = before.terminator
        assert enter is not None
        builder = Builder.before(enter)
        inits = list(enter.operand_group("arguments"))
        inits += [self.filler(v.type, head) for v in forwarded[len(inits) :]]
        first, second = Block(), Block()
        loop = self._while(builder, inits, forwarded, first, second)
        carried = [first.add_argument(v.type, v.name) for v in forwarded]
        rounds = [second.add_argument(v.type, v.name) for v in forwarded]
        for value, in_loop, result in zip(forwarded, rounds, loop.results, strict=True):
            self._replace_outside(value, result, inside)
            for user in list(value.users):
                if self._top(user).parent is body:
                    for i, operand in enumerate(user.operands):
                        if operand is value:
                            user.set_operand(i, in_loop)
        condition = decision.operand("condition")
        location = decision._location
        decision.erase()
        count = len(head.arguments)
        for argument, value in zip(list(head.arguments), carried, strict=False):
            argument.replace_all_uses_with(value)
        self._move(head, first)
        end = Builder.at_end(first, location)
        if taken == 0:
            condition = end.create("scalar.xori", [condition, end.constant(True, I1)], [I1]).results[0]
        end.create("scf.condition", {"condition": condition, "values": [*carried[:count], *forwarded[count:]]})
        back = body.terminator
        assert back is not None
        following = list(back.operand_group("arguments"))
        location = back._location
        back.erase()
        self._move(body, second)
        Builder.at_end(second, location).create("scf.yield", [*following, *rounds[count:]])
        self._leave(before, [(leave, [])], None)

    def _while(
        self, builder: Builder, inits: Sequence[Value], forwarded: Sequence[Value], first: Block, second: Block
    ) -> Operation:
        return builder.create(
            "scf.while",
            list(inits),
            [v.type for v in forwarded],
            {},
            [Region([first]), Region([second])],
            result_names=[v.name for v in forwarded],
        )

    def _move(self, source: Block, target: Block) -> None:
        for op in source.operations:
            op.remove()
            target.append(op)
        self.region.blocks.remove(source)

    def _leave(self, before: Block, targets: list[tuple[Block, list[Value]]], selector: Value | None) -> None:
        """End ``before``, behind a loop: go to the target that the selector names."""
        enter = before.terminator
        assert enter is not None
        location = enter._location
        enter.erase()
        self._dispatch(before, targets, selector, location)

    def _dispatch(
        self, block: Block, targets: list[tuple[Block, list[Value]]], selector: Value | None, location: object
    ) -> None:
        """End ``block`` with branches to one of the targets: number 0 where an ``i1`` selector is false."""
        target, values = targets[0]
        if selector is None or len(targets) == 1:
            self.branch(block, target, values, location)
            return
        if selector.type is I1:
            others = self._step(*targets[1], location), self._step(target, values, location)
            Builder.at_end(block, location).create("cfg.cond_br", [selector], [], {}, [], list(others))
            return
        for number, (chosen, passed) in enumerate(targets[:-1]):
            builder = Builder.at_end(block, location)
            here = self.constant(number, INDEX)
            test = builder.create("index.cmp", [selector, here], [I1], {"predicate": "eq"}).results[0]
            last = number == len(targets) - 2
            following = self._step(*targets[-1], location) if last else self.new_block()
            then = self._step(chosen, passed, location)
            Builder.at_end(block, location).create("cfg.cond_br", [test], [], {}, [], [then, following])
            block = following

    def _step(self, target: Block, values: list[Value], location: object) -> Block:
        """A block to go to ``target`` through, where a conditional branch cannot pass its values."""
        if not target.arguments:
            return target
        made = self.new_block()
        self.branch(made, target, values, location)
        return made

    def _latch_decides(
        self, before: Block, head: Block, inside: set[Block], leaving: list[tuple[Block, int, Block]]
    ) -> None:
        """Any other loop: one latch gets whether to go on, where to leave to, and all values; it ends each round."""
        targets = list(dict.fromkeys(target for _, _, target in leaving))
        escaping = self._escaping(inside, head)
        exits = [[a.type for a in target.arguments] for target in targets]
        if any(t.values for types in exits for t in types) or any(a.type.values for a in head.arguments):
            raise self.unsupported(head)
        choose = _selector_type(len(targets))
        selectors = [choose] if choose is not None else []
        flat = [t for types in exits for t in types]
        types = [I1, *selectors, *(a.type for a in head.arguments), *flat, *(v.type for v in escaping)]
        edges = [(b, i, s) for b in self.region.blocks if b in inside for i, s in enumerate(b.successors)]
        dominated = {
            (value, source): _dominates(head, owner if isinstance(owner, Block) else owner.parent, source)  # type: ignore[arg-type, union-attr]
            for value in escaping
            for owner in (value.owner,)
            for source, _, _ in leaving
        }
        latch = self.new_block(types)
        for source, index, target in edges:
            if target is not head and target in inside:
                continue
            leaves = target is not head
            ender = source.terminator
            assert ender is not None
            location = ender._location

            def values(
                passed: list[Value],
                source: Block = source,
                target: Block = target,
                leaves: bool = leaves,
            ) -> list[Value]:
                out = [self.constant(not leaves, I1)]
                if choose is not None:
                    number = targets.index(target) if leaves else 0
                    out.append(self.constant(bool(number) if choose is I1 else number, choose))
                out += head.arguments if leaves else passed
                for candidate in targets:
                    if leaves and candidate is target:
                        out += passed
                    else:
                        out += [self.filler(a.type, head) for a in candidate.arguments]
                for value in escaping:
                    known = leaves and dominated[value, source]
                    out.append(value if known else self.filler(value.type, head))
                return out

            self.redirect(source, index, latch, values)
        self.collapse(head, latch)
        enter, end = before.terminator, head.terminator
        assert enter is not None and end is not None
        again, *passed = end.operand_group("arguments")
        location = end._location
        chosen, passed = passed[: len(selectors)], passed[len(selectors) :]
        count = len(head.arguments)
        builder = Builder.before(enter)
        fillers = [self.constant(bool(0) if choose is I1 else 0, choose)] if choose is not None else []
        inits = list(enter.operand_group("arguments"))
        rest = passed[count:]
        inits += [*fillers, *(self.filler(v.type, head) for v in rest)]
        first, second = Block(), Block()
        forwarded = [*passed[:count], *chosen, *rest]
        loop = builder.create(
            "scf.while",
            inits,
            [v.type for v in forwarded],
            {},
            [Region([first]), Region([second])],
            result_names=[*(a.name for a in head.arguments), *(None for _ in fillers), *(None for _ in rest)],
        )
        carried = [first.add_argument(v.type) for v in forwarded]
        rounds = [second.add_argument(v.type) for v in forwarded]
        results = list(loop.results)
        first_escape = count + len(fillers) + len(flat)
        body = {head}
        for value, result in zip(escaping, results[first_escape:], strict=True):
            self._replace_outside(value, result, body)
        for argument, value in zip(list(head.arguments), carried, strict=False):
            argument.replace_all_uses_with(value)
            value.name = argument.name
        # The branch passed the head's arguments on where the loop ends: they are carried values now.
        again, *passed = end.operand_group("arguments")
        chosen, passed = passed[: len(selectors)], passed[len(selectors) :]
        forwarded = [*passed[:count], *chosen, *passed[count:]]
        end.erase()
        self._move(head, first)
        self.region.blocks.remove(latch)
        Builder.at_end(first, location).create("scf.condition", {"condition": again, "values": forwarded})
        Builder.at_end(second, location).create("scf.yield", rounds)
        at = count + len(fillers)
        out: list[tuple[Block, list[Value]]] = []
        for target in targets:
            out.append((target, results[at : at + len(target.arguments)]))
            at += len(target.arguments)
        self._leave(before, out, results[count] if fillers else None)

    # Branches

    def collapse(self, entry: Block, end: Block) -> None:
        """Make one block of everything between ``entry`` and ``end``, to which all ways lead; there is no cycle."""
        while True:
            ender = entry.terminator
            assert ender is not None
            if ender.name == "cfg.br":
                target = ender.successors[0]
                if target is end:
                    return
                self.splice(entry, target, ender)
                continue
            self._branch(entry, ender, end)

    def _branch(self, entry: Block, ender: Operation, end: Block) -> None:
        """Turn a conditional branch into an ``scf.if``, followed by one branch."""
        condition = ender.operand("condition")
        location = ender._location
        first, second = ender.successors
        if first is second:
            ender.erase()
            self.branch(entry, first, [], location)
            return
        arms = [self._arm(entry, target, end) for target in (first, second)]
        meeting = self._meeting(entry, arms)
        # Meeting in several blocks leads the edges over steps: the arms may have begun anew.
        ways: list[tuple[Block | None, list[Value]]] = []
        for target in ender.successors:
            if target is meeting:
                ways.append((None, []))
                continue
            self.collapse(target, meeting)
            back = target.terminator
            assert back is not None
            values = list(back.operand_group("arguments"))
            back.erase()
            ways.append((target, values))
        ender.erase()
        builder = Builder.at_end(entry, location)
        results = self._if(builder, condition, ways, meeting)
        self.branch(entry, meeting, results, location)

    def _arm(self, entry: Block, target: Block, end: Block) -> set[Block]:
        """The blocks that are reached only over the edge to ``target``."""
        if target is end or target.predecessors != [entry]:
            return set()
        others = _reachable(entry, target, end)
        return {b for b in _reachable(target, end) if b not in others}

    def _meeting(self, entry: Block, arms: list[set[Block]]) -> Block:
        """The block where the arms meet; made where they go on in several."""
        ender = entry.terminator
        assert ender is not None
        edges: list[tuple[Block, int, Block]] = []
        for number, arm in enumerate(arms):
            if not arm:
                edges.append((entry, number, ender.successors[number]))
                continue
            edges += [
                (b, i, s) for b in self.region.blocks if b in arm for i, s in enumerate(b.successors) if s not in arm
            ]
        targets = list(dict.fromkeys(target for _, _, target in edges))
        if len(targets) == 1:
            return targets[0]
        if any(a.type.values for target in targets for a in target.arguments):
            raise self.unsupported(entry)
        choose = _selector_type(len(targets))
        assert choose is not None
        types = [choose, *(a.type for target in targets for a in target.arguments)]
        meeting = self.new_block(types, [None, *(a.name for target in targets for a in target.arguments)])
        location = ender._location
        for source, index, target in edges:

            def values(passed: list[Value], target: Block = target) -> list[Value]:
                number = targets.index(target)
                out = [self.constant(bool(number) if choose is I1 else number, choose)]
                for candidate in targets:
                    if candidate is target:
                        out += passed
                    else:
                        out += [self.filler(a.type, entry) for a in candidate.arguments]
                return out

            self.redirect(source, index, meeting, values)
        at = 1
        out: list[tuple[Block, list[Value]]] = []
        for target in targets:
            out.append((target, list(meeting.arguments[at : at + len(target.arguments)])))
            at += len(target.arguments)
        self._dispatch(meeting, out, meeting.arguments[0], location)
        return meeting

    def _if(
        self, builder: Builder, condition: Value, ways: list[tuple[Block | None, list[Value]]], meeting: Block
    ) -> list[Value]:
        """An ``scf.if`` of the two ways; gives the values that the block where they meet gets."""
        (then, yes), (otherwise, no) = ways
        empty = all(block is None or block.first is None for block, _ in ways)
        if empty:
            for block in (then, otherwise):
                if block is not None:
                    self.region.blocks.remove(block)
            return [_choice(builder, condition, a, b) for a, b in zip(yes, no, strict=True)]
        regions = []
        # A value that both ways pass need not come out of the branch.
        outgoing = [i for i, (a, b) in enumerate(zip(yes, no, strict=True)) if a is not b]
        for block, values in ways:
            made = block if block is not None else Block()
            if block is not None:
                self.region.blocks.remove(block)
                made.label, made.label_written = None, False
            if block is None and not outgoing:
                regions.append(Region())
                continue
            Builder.at_end(made, builder.location).create("scf.yield", [values[i] for i in outgoing])
            regions.append(Region([made]))
        if not regions[0].blocks:
            inside = Block()
            Builder.at_end(inside, builder.location).create("scf.yield", [])
            regions[0] = Region([inside])
        made_if = builder.create(
            "scf.if",
            [condition],
            [yes[i].type for i in outgoing],
            {},
            regions,
            result_names=[meeting.arguments[i].name for i in outgoing],
        )
        results = iter(made_if.results)
        return [a if a is b else next(results) for a, b in zip(yes, no, strict=True)]


def _selector_type(count: int) -> Type | None:
    """What tells ``count`` targets apart: nothing for one, ``i1`` for two, else ``index``."""
    return None if count < 2 else I1 if count == 2 else INDEX


def _choice(builder: Builder, condition: Value, yes: Value, no: Value) -> Value:
    """``condition ? yes : no`` without a branch."""
    if yes is no:
        return yes
    if yes.type is I1 and constant_of(yes) is True and constant_of(no) is False:
        return condition
    if yes.type is I1 and constant_of(yes) is False and constant_of(no) is True:
        return builder.create("scalar.xori", [condition, builder.constant(True, I1)], [I1]).results[0]
    return builder.create("scf.select", [condition, yes, no], [yes.type]).results[0]
