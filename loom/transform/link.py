"""Linking: declarations find their definitions, and what the roots do not reach goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from loom.diagnostics import error
from loom.ir import Module, Operation, SymbolRef
from loom.transform.passes import PassContext
from loom.transform.rejection import rejection

_CHECK = frozenset({"check.case", "check.scenario", "check.benchmark"})


def link(module: Module, context: PassContext) -> int:
    """Resolve declarations in the context's libraries, prune to what its roots reach; return symbols added and
    removed.
    """
    added = resolve_declarations(module, context.libraries)
    roots = context.roots or tuple(
        op.symbol for op in module.operations if op.name in ("kernel.def", "low.kernel.def") and op.symbol
    )
    return added + prune(module, roots)


def symbol_references(op: Operation) -> Iterator[str]:
    """Yield every symbol that ``op``, or anything inside, refers to."""

    def inside(value: Any) -> Iterator[str]:
        if isinstance(value, SymbolRef):
            yield str(value)
        elif isinstance(value, tuple):
            for v in value:
                yield from inside(v)
        elif isinstance(value, dict):
            for v in value.values():
                yield from inside(v)

    for inner in op.walk():
        for key, value in inner.attributes.items():
            if key != "sym_name":
                yield from inside(value)


def is_declaration(op: Operation) -> bool:
    """Whether the op only states a dependency."""
    return "declaration" in op.definition.traits


def is_exported(op: Operation) -> bool:
    """Whether other modules may link against the symbol."""
    return bool(op.attributes.get("public")) or op.attributes.get("export") is not None


def resolve_declarations(module: Module, libraries: Sequence[Module]) -> int:
    """Replace declarations by the one exported definition that the libraries have, with all that it reaches.

    A template family's declaration stays; implementations of the family are taken from every library.

    Raises:
        LoomError: ``LINK/001`` when two libraries export the same symbol, ``LINK/003`` when a library's symbol
            clashes with
            another definition of the module, ``LINK/004`` for a definition of another signature.
    """
    if not libraries:
        return 0
    exported: dict[str, Operation] = {}
    for library in libraries:
        for op in library.operations:
            symbol = op.symbol
            if symbol is None or is_declaration(op) or not is_exported(op) or op.name in _CHECK:
                continue
            if symbol in exported:
                raise rejection(
                    op,
                    "more than one library exports it",
                    "LINK/001",
                    "leave one of the libraries out, or make one definition private",
                    notes=(f"the other definition: {exported[symbol].location}",),
                )
            exported[symbol] = op
    added = 0
    pending = True
    while pending:
        pending = False
        table = module.symbols
        for symbol, op in list(table.items()):
            if is_declaration(op) and op.name != "template.decl" and symbol in exported:
                definition = exported[symbol]
                _check_signature(op, definition)
                op.erase()
                added += _copy_with_reach(module, definition)
                pending = True
                break
        if pending:
            continue
        families = {s for s, op in table.items() if op.name == "template.decl"}
        for definition in exported.values():
            if (
                definition.name == "template.def"
                and str(definition.attributes.get("family")) in families
                and definition.symbol not in table
            ):
                added += _copy_with_reach(module, definition)
                pending = True
    return added


def _check_signature(declaration: Operation, definition: Operation) -> None:
    def shape(op: Operation) -> tuple[Any, ...]:
        region = op.regions[-1]
        arguments = tuple(str(a.type) for a in region.blocks[0].arguments) if region.blocks else ()
        return arguments, tuple(str(t) for t in op.attributes.get("result_types") or ())  # type: ignore[union-attr]

    if shape(declaration) != shape(definition):
        raise rejection(
            declaration,
            "its definition has another signature",
            "LINK/004",
            "declare it with the signature of the definition",
            notes=(f"the definition: {definition.location}",),
        )


def _copy_with_reach(module: Module, definition: Operation) -> int:
    """Copy a definition and the symbols of its own module that it needs."""
    library = definition.module
    assert library is not None
    source = library.symbols
    work = [definition]
    added = 0
    while work:
        op = work.pop()
        symbol = op.symbol
        existing = module.symbol(symbol) if symbol else None
        if existing is not None:
            if is_declaration(existing) and not is_declaration(op):
                existing.erase()
            elif _same(existing, op):
                continue
            else:
                raise rejection(
                    existing,
                    "a library brings another definition of this symbol",
                    "LINK/003",
                    "rename one of the two",
                    notes=(f"the library's definition: {op.location}",),
                )
        module.body.append(op.clone())
        added += 1
        for name in symbol_references(op):
            target = source.get(name)
            if target is not None and module.symbol(name) is None:
                work.append(target)
    return added


def _same(a: Operation, b: Operation) -> bool:
    from loom.transform.simplify import attribute_key

    return (
        a.name == b.name
        and not a.regions
        and not b.regions
        and attribute_key(a.attributes) == attribute_key(b.attributes)
    )


def prune(module: Module, roots: Sequence[str]) -> int:
    """Erase every symbol that neither a root nor a ``retain`` symbol reaches; return how many.

    Config definitions and implementations of reached template families count as reached.

    Raises:
        LoomError: ``LINK/002`` for a root the module does not define.
    """
    table = module.symbols
    reached: set[str] = set()
    work: list[str] = []
    for root in roots:
        found = find_symbol(module, root)
        if found is None:
            known = ", ".join(f"@{s}" for s, op in table.items() if op.regions)
            raise error(
                f"no symbol @{root.removeprefix('@')} in {module.filename}",
                "LINK/002",
                hint=f"defined: {known or 'none'}",
            )
        work.append(found)
    work += [s for s, op in table.items() if op.attributes.get("retain")]
    implementations: dict[str, list[str]] = {}
    for symbol, op in table.items():
        if op.name in ("template.def", "template.ukernel"):
            implementations.setdefault(str(op.attributes.get("family")), []).append(symbol)
    while work:
        name = work.pop()
        if name in reached or name not in table:
            continue
        reached.add(name)
        work.extend(symbol_references(table[name]))
        work.extend(implementations.get(name, ()))
    removed = 0
    for op in module.operations:
        name_of = op.symbol
        if name_of is None or (name_of not in reached and op.name not in ("config.def", "config.decl")):
            op.erase()
            removed += 1
    return removed


def find_symbol(module: Module, name: str) -> str | None:
    """Find a symbol by its name (``@`` optional) or by its export name."""
    name = name.removeprefix("@")
    table = module.symbols
    if name in table:
        return name
    for symbol, op in table.items():
        if op.attributes.get("export") == name:
            return symbol
    return None
