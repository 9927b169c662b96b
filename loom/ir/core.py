"""The object model: values, operations, blocks, regions, modules.

Operations of a block form a doubly linked list, so inserting, moving and erasing cost the same anywhere; iterating
is safe against erasing the current operation. A value knows its users; a type that names values is known to them
too, so that replacing a value also rewrites the types that mention it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from loom.diagnostics import Location
from loom.ir.attributes import Attribute
from loom.ir.recursion import collection_paused
from loom.ir.types import Type

if TYPE_CHECKING:
    from loom.ir.definition import OpDefinition


class Value:
    """An operation's result or a block's argument."""

    __slots__ = ("dim_types", "index", "name", "owner", "type", "type_users", "users")

    def __init__(
        self, type_: Type, owner: Operation | Block | None = None, index: int = 0, name: str | None = None
    ) -> None:
        self.type = type_
        self.owner = owner
        self.index = index
        self.name = name
        self.users: dict[Operation, int] = {}
        self.dim_types: dict[Any, Any] | None = None
        self.type_users: dict[Value, None] | None = None
        if type_ is not None and type_.values:
            self._register_type(type_)

    def _register_type(self, type_: Type) -> None:
        for named in type_.values:
            if named.type_users is None:
                named.type_users = {}
            named.type_users[self] = None

    def retype(self, type_: Type) -> None:
        """Give the value another type, keeping track of the values the types name."""
        for named in self.type.values if self.type is not None else ():
            if named.type_users is not None:
                named.type_users.pop(self, None)
        self.type = type_
        if type_.values:
            self._register_type(type_)

    @property
    def uses(self) -> list[tuple[Operation, int]]:
        """All uses as (operation, operand index), in no particular order of operations."""
        return [(op, i) for op in self.users for i, v in enumerate(op.operands) if v is self]

    @property
    def has_uses(self) -> bool:
        """Whether any operand, or any other value's type, refers to this value."""
        return bool(self.users) or bool(self.type_users)

    @property
    def defining_op(self) -> Operation | None:
        """The operation whose result this is; None for a block argument."""
        return self.owner if isinstance(self.owner, Operation) else None

    @property
    def is_block_argument(self) -> bool:
        """Whether a block owns this value."""
        return isinstance(self.owner, Block)

    @property
    def block(self) -> Block | None:
        """The block in which the value is defined."""
        return self.owner if self.owner is None or isinstance(self.owner, Block) else self.owner.parent

    def replace_all_uses_with(self, other: Value) -> None:
        """Make every user, and every type that names this value, refer to ``other``."""
        if other is self:
            return
        for op in list(self.users):
            for i, v in enumerate(op.operands):
                if v is self:
                    op.set_operand(i, other)
        if self.type_users:
            for user in list(self.type_users):
                if user is not self:
                    user.retype(user.type.substitute({self: other}))

    def __repr__(self) -> str:
        return f"<Value %{self.name or '?'}: {self.type}>"


class Operation:
    """One operation. Make them with :class:`loom.ir.Builder` or :meth:`create`; erase with :meth:`erase`.

    ``operands`` is flat; ``segments`` holds the size of every operand group in declaration order when the op
    declares an optional or variadic one, else None. Assign operands only through the methods, so that uses stay
    right.
    """

    __slots__ = (
        "_location",
        "_order",
        "attributes",
        "blank_before",
        "comments",
        "definition",
        "next",
        "operands",
        "parent",
        "previous",
        "regions",
        "result_segments",
        "results",
        "segments",
        "successors",
    )

    def __init__(
        self,
        definition: OpDefinition,
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
        location: Any = None,
        segments: tuple[int, ...] | None = None,
        result_segments: tuple[int, ...] | None = None,
    ) -> None:
        self.definition = definition
        self.operands: list[Value] = list(operands)
        for v in operands:
            users = v.users
            users[self] = users.get(self, 0) + 1
        self.results: list[Value] = [Value(t, self, i) for i, t in enumerate(result_types)]
        self.attributes: dict[str, Attribute] = attributes if attributes is not None else {}
        self.regions: list[Region] = list(regions)
        for region in regions:
            region.parent = self
        self.successors: list[Block] = list(successors)
        self._location = location
        self.segments = segments
        self.result_segments = result_segments
        self.parent: Block | None = None
        self.previous: Operation | None = None
        self.next: Operation | None = None
        self.comments: tuple[str, ...] = ()
        self.blank_before = False
        self._order = 0

    # Identity and place

    @property
    def name(self) -> str:
        """The full op name, ``scalar.addf``."""
        return self.definition.name

    @property
    def location(self) -> Location | None:
        """Where the op stands in the source, computed on first use."""
        location = self._location
        if location is None or location.__class__ is Location:
            return location
        source, start, end = location
        made: Location = source.span(start, end)
        self._location = made
        return made

    @location.setter
    def location(self, location: Location | None) -> None:
        self._location = location

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region holds this one; None at module level or when detached."""
        block = self.parent
        return block.parent.parent if block is not None and block.parent is not None else None

    @property
    def module(self) -> Module | None:
        """The module this operation is in."""
        op: Operation = self
        while True:
            block = op.parent
            if block is None or block.parent is None:
                return None
            if block.parent.parent is None:
                return block.parent.module
            op = block.parent.parent

    @property
    def symbol(self) -> str | None:
        """The symbol the op defines or declares, without ``@``."""
        name = self.attributes.get("sym_name")
        return name if isinstance(name, str) else None

    # Operands and results by declared name

    def operand_range(self, name: str) -> tuple[int, int]:
        """Return the half-open range of ``operands`` that the declared operand or group ``name`` covers."""
        definition = self.definition
        position = definition.operand_positions.get(name)
        if position is None:
            raise KeyError(f"{self.name} has no operand '{name}'")
        if self.segments is None:
            if definition.variadic_operand is None:
                return position, position + 1
            extra = len(self.operands) - len(definition.operands) + 1
            start = position if position <= definition.variadic_operand else position - 1 + extra
            return start, start + (extra if position == definition.variadic_operand else 1)
        start = sum(self.segments[:position])
        return start, start + self.segments[position]

    def operand(self, name: str) -> Value:
        """Return the single operand of that name; ``KeyError`` when it is undeclared or absent."""
        start, end = self.operand_range(name)
        if end != start + 1:
            raise KeyError(f"operand '{name}' of {self.name} has {end - start} values")
        return self.operands[start]

    def optional_operand(self, name: str) -> Value | None:
        """Return the operand of that name, or None when the op was written without it."""
        start, end = self.operand_range(name)
        return self.operands[start] if end > start else None

    def operand_group(self, name: str) -> list[Value]:
        """Return the values of the variadic operand of that name."""
        start, end = self.operand_range(name)
        return self.operands[start:end]

    def result(self, name: str | int = 0) -> Value:
        """Return the result of that declared name or index."""
        if isinstance(name, int):
            return self.results[name]
        return self.results[self.definition.result_positions[name]]

    def index_list(self, name: str) -> list[Value | int]:
        """Return a mixed index list with the values filled in: ``[%i, 0]`` → ``[Value, 0]``."""
        values = iter(self.operand_group(name))
        pattern = self.attributes[name]
        assert isinstance(pattern, tuple)
        return [next(values) if p is None else p for p in pattern]  # type: ignore[misc]

    def set_operand(self, index: int, value: Value) -> None:
        """Replace one operand."""
        self._drop_use(self.operands[index])
        self.operands[index] = value
        value.users[self] = value.users.get(self, 0) + 1

    def set_operands(self, values: Iterable[Value], segments: tuple[int, ...] | None = None) -> None:
        """Replace all operands; ``segments`` replaces the group sizes when the op has groups."""
        for v in self.operands:
            self._drop_use(v)
        self.operands = list(values)
        for v in self.operands:
            v.users[self] = v.users.get(self, 0) + 1
        if segments is not None:
            self.segments = segments

    def set_operand_group(self, name: str, values: Sequence[Value]) -> None:
        """Replace the values of one operand group, adjusting ``segments``."""
        start, end = self.operand_range(name)
        operands = [*self.operands[:start], *values, *self.operands[end:]]
        segments = self.segments
        if segments is not None:
            position = self.definition.operand_positions[name]
            segments = (*segments[:position], len(values), *segments[position + 1 :])
        self.set_operands(operands, segments)

    def _drop_use(self, value: Value) -> None:
        users = value.users
        count = users.get(self, 0)
        if count > 1:
            users[self] = count - 1
        else:
            users.pop(self, None)

    def add_result(self, type_: Type, name: str | None = None) -> Value:
        """Append a result; the caller keeps the op's declaration satisfied."""
        value = Value(type_, self, len(self.results), name)
        self.results.append(value)
        return value

    # Structure

    def region(self, name: str | int = 0) -> Region:
        """Return the region of that declared name or index."""
        if isinstance(name, int):
            return self.regions[name]
        return self.regions[self.definition.region_positions[name]]

    def body(self, name: str | int = 0) -> Block:
        """Return the entry block of a region."""
        return self.region(name).blocks[0]

    def walk(self) -> Iterator[Operation]:
        """Yield this operation and all inside, outer before inner; safe against erasing the one just yielded."""
        stack: list[Operation] = [self]
        while stack:
            op = stack.pop()
            if op.parent is None and op is not self:
                continue
            yield op
            if op.regions and (op.parent is not None or op is self):
                regions = op.regions
                inner = [o for region in regions for block in region.blocks for o in block.operations]
                stack.extend(reversed(inner))

    def remove(self) -> Operation:
        """Take the op out of its block without destroying it."""
        block = self.parent
        if block is not None:
            before, after = self.previous, self.next
            if before is None:
                block.first = after
            else:
                before.next = after
            if after is None:
                block.last = before
            else:
                after.previous = before
            block.count -= 1
            self.parent = self.previous = self.next = None
        return self

    def drop_uses(self) -> None:
        """Remove this op, and everything inside, from the users of other values."""
        for op in self.walk():
            for v in op.operands:
                v.users.pop(op, None)
            for r in op.results:
                for named in r.type.values if r.type is not None else ():
                    if named.type_users is not None:
                        named.type_users.pop(r, None)
            for region in op.regions:
                for block in region.blocks:
                    for a in block.arguments:
                        for named in a.type.values:
                            if named.type_users is not None:
                                named.type_users.pop(a, None)

    def erase(self) -> None:
        """Destroy the op. Its results must have no users outside of it."""
        for r in self.results:
            if r.users:
                raise ValueError(f"{self.name} still has users of %{r.name or r.index}")
        self.remove()
        self.drop_uses()
        self.operands = []

    def replace_with(self, values: Sequence[Value]) -> None:
        """Replace each result by the value at its position, then erase the op."""
        if len(values) != len(self.results):
            raise ValueError(f"{self.name} has {len(self.results)} results, {len(values)} replacements given")
        for old, new in zip(self.results, values, strict=True):
            if new.name is None:
                new.name = old.name
            old.replace_all_uses_with(new)
        self.erase()

    def move_before(self, other: Operation) -> None:
        """Move the op to stand right before ``other``."""
        self.remove()
        assert other.parent is not None
        other.parent.insert_before(other, self)

    def move_after(self, other: Operation) -> None:
        """Move the op to stand right after ``other``."""
        self.remove()
        assert other.parent is not None
        other.parent.insert_after(other, self)

    def is_before(self, other: Operation) -> bool:
        """Whether the op stands before ``other`` in the same block."""
        block = self.parent
        if block is None or other.parent is not block:
            raise ValueError("the operations are not in the same block")
        if not block.order_valid:
            for i, op in enumerate(block.operations):
                op._order = i
            block.order_valid = True
        return self._order < other._order

    def clone(
        self, mapping: dict[Value, Value] | None = None, block_mapping: dict[Block, Block] | None = None
    ) -> Operation:
        """Copy the op with its regions, detached.

        ``mapping`` gives replacements of values from outside and is extended by the copies of all values defined
        inside.
        """
        from loom.ir.cloning import clone_operation

        return clone_operation(self, {} if mapping is None else mapping, {} if block_mapping is None else block_mapping)

    def __repr__(self) -> str:
        return f"<Operation {self.name} at {self.location}>"


class OperationList:
    """View of a block's operations: iterable (safe against erasing the current one), sized, indexable."""

    __slots__ = ("_block",)

    def __init__(self, block: Block) -> None:
        self._block = block

    def __iter__(self) -> Iterator[Operation]:
        op = self._block.first
        while op is not None:
            following = op.next
            yield op
            op = following

    def __reversed__(self) -> Iterator[Operation]:
        op = self._block.last
        while op is not None:
            following = op.previous
            yield op
            op = following

    def __len__(self) -> int:
        return self._block.count

    def __bool__(self) -> bool:
        return self._block.first is not None

    def __getitem__(self, index: int) -> Operation:
        steps, source = (index, iter(self)) if index >= 0 else (-index - 1, reversed(self))
        for i, op in enumerate(source):
            if i == steps:
                return op
        raise IndexError(index)

    def __contains__(self, op: object) -> bool:
        return isinstance(op, Operation) and op.parent is self._block


class Block:
    """A list of operations with arguments and, where written or needed, a label."""

    __slots__ = (
        "arguments",
        "blank_before",
        "comments",
        "count",
        "first",
        "label",
        "label_written",
        "last",
        "location",
        "order_valid",
        "parent",
    )

    def __init__(self, argument_types: Sequence[Type] = (), label: str | None = None) -> None:
        self.arguments: list[Value] = [Value(t, self, i) for i, t in enumerate(argument_types)]
        self.label = label
        self.label_written = False
        self.parent: Region | None = None
        self.first: Operation | None = None
        self.last: Operation | None = None
        self.count = 0
        self.order_valid = False
        self.comments: tuple[str, ...] = ()
        self.blank_before = False
        self.location: Any = None

    @property
    def operations(self) -> OperationList:
        """The operations in order."""
        return OperationList(self)

    @property
    def terminator(self) -> Operation | None:
        """The last operation when its declaration says it ends blocks."""
        last = self.last
        return last if last is not None and last.definition.is_terminator else None

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region holds the block."""
        return self.parent.parent if self.parent is not None else None

    @property
    def successors(self) -> list[Block]:
        """Blocks the terminator may branch to."""
        return list(self.last.successors) if self.last is not None else []

    @property
    def predecessors(self) -> list[Block]:
        """Blocks of the same region whose terminator may branch here."""
        if self.parent is None:
            return []
        return [b for b in self.parent.blocks if b.last is not None and self in b.last.successors]

    def add_argument(self, type_: Type, name: str | None = None) -> Value:
        """Append an argument."""
        value = Value(type_, self, len(self.arguments), name)
        self.arguments.append(value)
        return value

    def erase_argument(self, index: int) -> None:
        """Remove an argument without users; later arguments move down."""
        value = self.arguments.pop(index)
        if value.users:
            raise ValueError(f"block argument %{value.name} still has users")
        for named in value.type.values:
            if named.type_users is not None:
                named.type_users.pop(value, None)
        for i, a in enumerate(self.arguments):
            a.index = i

    def append(self, op: Operation) -> Operation:
        """Add a detached op at the end."""
        op.parent = self
        last = self.last
        op.previous = last
        op.next = None
        if last is None:
            self.first = op
        else:
            last.next = op
            op._order = last._order + 1
        self.last = op
        self.count += 1
        return op

    def insert_before(self, anchor: Operation | None, op: Operation) -> Operation:
        """Insert a detached op before ``anchor``; None appends."""
        if anchor is None:
            return self.append(op)
        op.parent = self
        op.next = anchor
        op.previous = anchor.previous
        if anchor.previous is None:
            self.first = op
        else:
            anchor.previous.next = op
        anchor.previous = op
        self.count += 1
        self.order_valid = False
        return op

    def insert_after(self, anchor: Operation, op: Operation) -> Operation:
        """Insert a detached op after ``anchor``."""
        return self.insert_before(anchor.next, op)

    def split_before(self, op: Operation, label: str | None = None) -> Block:
        """Move ``op`` and all after it to a new block right behind this one, and return that block."""
        new = Block(label=label)
        region = self.parent
        assert region is not None and op.parent is self
        new.parent = region
        region.blocks.insert(region.blocks.index(self) + 1, new)
        current: Operation | None = op
        while current is not None:
            following = current.next
            current.remove()
            new.append(current)
            current = following
        return new

    def __repr__(self) -> str:
        return f"<Block ^{self.label or '?'} with {self.count} operations>"


class Region:
    """A list of blocks; the first is the entry."""

    __slots__ = ("blocks", "module", "parent", "trailing_comments")

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        self.blocks: list[Block] = []
        # Comments before the closing brace.
        self.trailing_comments: tuple[str, ...] = ()
        self.parent: Operation | None = None
        self.module: Module | None = None
        for b in blocks:
            self.add_block(b)

    @property
    def entry(self) -> Block:
        """The entry block."""
        return self.blocks[0]

    def add_block(self, block: Block | None = None) -> Block:
        """Append a block (a new one when None)."""
        block = Block() if block is None else block
        block.parent = self
        self.blocks.append(block)
        return block

    def walk(self) -> Iterator[Operation]:
        """Yield all operations inside, outer before inner."""
        for block in list(self.blocks):
            for op in block.operations:
                yield from op.walk()


class Module:
    """A source file's worth of symbols."""

    __slots__ = ("alias_comments", "aliases", "body", "filename", "region", "source", "trailing_comments")

    def __init__(self, filename: str = "<module>") -> None:
        self.filename = filename
        self.region = Region()
        self.region.module = self
        self.body = self.region.add_block()
        self.aliases: dict[str, Attribute] = {}
        self.alias_comments: dict[str, tuple[str, ...]] = {}
        self.source: Any = None
        self.trailing_comments: tuple[str, ...] = ()

    @property
    def operations(self) -> OperationList:
        """The module-level operations in order."""
        return self.body.operations

    @property
    def symbols(self) -> dict[str, Operation]:
        """Symbol name → the operation that defines or declares it; of duplicates the first."""
        table: dict[str, Operation] = {}
        for op in self.body.operations:
            name = op.attributes.get("sym_name")
            if isinstance(name, str):
                table.setdefault(name, op)
        return table

    def symbol(self, name: str) -> Operation | None:
        """Return the operation of that symbol (``@`` optional), or None."""
        name = name.removeprefix("@")
        for op in self.body.operations:
            if op.attributes.get("sym_name") == name:
                return op
        return None

    def walk(self) -> Iterator[Operation]:
        """Yield every operation, outer before inner."""
        for op in self.body.operations:
            yield from op.walk()

    def clone(self) -> Module:
        """Copy the module."""
        copy = Module(self.filename)
        copy.aliases = dict(self.aliases)
        copy.alias_comments = dict(self.alias_comments)
        copy.source = self.source
        copy.trailing_comments = self.trailing_comments
        with collection_paused():
            for op in self.body.operations:
                copy.body.append(op.clone())
        return copy

    def semantic_hash(self) -> str:
        """Return the SHA-256 (hex) of the canonical text without comments, blank lines, SSA names and locations."""
        import hashlib

        return hashlib.sha256(_semantic_text(self).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"<Module {self.filename} with {len(self.body.operations)} symbols>"


_SEMANTIC_PRINTER: list[Callable[[Module], str]] = []


def register_semantic_printer(printer: Callable[[Module], str]) -> None:
    """Give the function that :meth:`Module.semantic_hash` hashes the text of; the printer's room calls this."""
    _SEMANTIC_PRINTER[:] = [printer]


def _semantic_text(module: Module) -> str:
    if not _SEMANTIC_PRINTER:
        import importlib

        importlib.import_module("loom.text.printer")
    return _SEMANTIC_PRINTER[0](module)
