"""Rules about Low code: registers, instructions, schedule markers, live-ins and resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loom.dialect.rules.functions import signature_types
from loom.dialect.rules.values import Report, check_predicates
from loom.ir import Block, Operation, RegisterType, StorageType, Type, Value
from loom.ir.suggest import did_you_mean
from loom.ir.targets import Descriptor, DescriptorOperand, DescriptorSet, descriptor_families, descriptor_set


def low_parent(op: Operation) -> Operation | None:
    """Return the Low function or kernel around an op."""
    parent = op.parent_op
    while parent is not None and not parent.definition.has_trait("low"):
        parent = parent.parent_op
    return parent


def set_of(function: Operation | None) -> DescriptorSet | None:
    """Return the descriptor set of a Low function, None when it names none that is known."""
    if function is None:
        return None
    key = function.attributes.get("descriptor_set")
    return descriptor_set(str(key)) if key is not None else None


def _registers(op: Operation, report: Report) -> None:
    """Arguments and results are registers, the set is known, its classes hold the registers."""
    for t in signature_types(op):
        if not isinstance(t, RegisterType):
            report("LOW/010", f"values of @{op.symbol} are registers, not {t}")
            return
    key = op.attributes.get("descriptor_set")
    if key is None:
        if "signature" not in op.attributes:
            report("LOW/001", f"@{op.symbol} names no descriptor set", "write target<set.key>(@t)")
        return
    found = descriptor_set(str(key))
    if found is None:
        if str(key).partition(".")[0] in descriptor_families():
            report("LOW/001", f"unknown descriptor set '{key}'")
        return
    classes = found.register_classes
    allocation = op.attributes.get("allocation", "virtual")
    checked: set[Type] = set()
    for holder, value in _values(op):
        t = value.type
        if not isinstance(t, RegisterType) or t in checked:
            continue
        checked.add(t)
        known = classes.get(t.register_class)
        if known is None:
            report(
                "LOW/005",
                f"{found.name} has no register class '{t.register_class}'",
                did_you_mean(t.register_class, classes),
            )
        elif t.location is not None and (known.special or t.location + t.units > known.count):
            report("LOW/005", f"{t} lies outside of the {known.count} registers of {t.register_class}")
        elif allocation == "fixed" and t.location is None and not known.special:
            report(
                "LOW/011",
                f"allocation(fixed) needs a location for every register; {t} has none"
                + (f" ({holder.name})" if holder is not None else ""),
                f"write reg<{t.register_class} @ N>",
            )


def _values(op: Operation) -> list[tuple[Operation | None, Value]]:
    found: list[tuple[Operation | None, Value]] = []
    for region in op.regions:
        for block in region.blocks:
            found.extend((None, a) for a in block.arguments)
            for inner in block.operations:
                found.extend((inner, r) for r in inner.results)
    return found


def low_function(op: Operation, report: Report) -> None:
    """A function on registers."""
    where: Any = op.attributes.get("where", ())
    check_predicates(where, signature_types(op), report)
    _registers(op, report)
    if op.regions[0].blocks[0].first is not None:
        _body(op, report)


def low_kernel(op: Operation, report: Report) -> None:
    """A kernel on registers: extents, live-ins, resources."""
    low_function(op, report)
    if op.attributes.get("linkage") and not op.attributes.get("export"):
        report("OP/024", "'linkage' needs 'export'")
    for name in ("workgroup_size", "workgroup_count", "cluster_size"):
        sizes: Any = op.attributes.get(name)
        if sizes is not None and len(sizes) != 3:
            report("OP/006", f"'{name}' takes x, y and z, not {len(sizes)} values")


def _body(op: Operation, report: Report) -> None:
    seen: dict[str, Operation] = {}
    indices: list[int] = []
    resources: list[Operation] = []
    locked = op.attributes.get("schedule") == "locked"
    for block in op.regions[0].blocks:
        for inner in block.operations:
            if locked and inner.regions:
                report("LOW/008", f"@{op.symbol} is schedule(locked); it may have blocks, but not {inner.name}")
                locked = False
            if inner.name == "low.live_in":
                key = str(inner.attributes["key"])
                if key in seen:
                    report("LOW/007", f"@{op.symbol} has two live-ins of {key}", at=inner)
                seen[key] = inner
            elif inner.name == "low.resource":
                index = inner.attributes.get("index")
                if isinstance(index, int):
                    indices.append(index)
                    resources.append(inner)
    wrong = [n for n, i in enumerate(indices) if i >= len(indices) or i in indices[:n]]
    if wrong:
        report(
            "LOW/007",
            f"the resource indices of @{op.symbol} are {sorted(indices)}; they must be 0 to "
            f"{len(indices) - 1}, each once",
            at=resources[wrong[0]],
        )
    packed = [k for k in seen if ".workitem_id.packed" in k]
    plain = [k for k in seen if ".workitem_id." in k and k not in packed]
    if packed and plain:
        report("LOW/007", f"@{op.symbol} mixes {packed[0]} and {plain[0]}")
    _schedule(op, report)


def _schedule(op: Operation, report: Report) -> None:
    """Scopes nest, agree at joins, and are closed at every exit."""
    depths: dict[Block, int] = {op.regions[0].blocks[0]: 0}
    work = [op.regions[0].blocks[0]]
    while work:
        block = work.pop()
        depth = depths[block]
        for inner in block.operations:
            if inner.name == "low.schedule.begin":
                depth += 1
            elif inner.name == "low.schedule.end":
                depth -= 1
                if depth < 0:
                    report("LOW/008", f"a scope of @{op.symbol} is ended that was not begun")
                    return
            elif inner.name == "low.return" and depth:
                report("LOW/008", f"@{op.symbol} returns inside of {depth} open ordering scope(s)")
                return
        for target in block.successors:
            known = depths.get(target)
            if known is None:
                depths[target] = depth
                work.append(target)
            elif known != depth:
                report("LOW/008", f"^{target.label} is reached with {known} and with {depth} open ordering scopes")
                return


def schedule_marker(op: Operation, report: Report) -> None:
    """Markers of phases and scopes stand in blocks of a function body only."""
    holder = op.parent_op
    if op.name == "low.schedule.fence":
        if low_parent(op) is None:
            report("LOW/008", f"{op.name} stands in Low code", "source code has scf.schedule.fence")
        return
    if holder is None or holder.name not in ("low.func.def", "low.kernel.def"):
        report("LOW/008", f"{op.name} stands in the blocks of a Low function only")


def low_return(op: Operation, report: Report) -> None:
    """A kernel gives nothing, a function what its signature says."""
    function = op.parent_op
    if function is None:
        return
    given = tuple(v.type for v in op.operand_group("values"))
    expected: Any = function.attributes.get("result_types", ())
    if len(given) != len(expected) or any(
        not (isinstance(a, RegisterType) and isinstance(b, RegisterType) and a.at(None) is b.at(None))
        for a, b in zip(given, expected, strict=True)
    ):
        say = ", ".join(map(str, expected))
        report("OP/014", f"@{function.symbol} gives ({say}), this returns ({', '.join(map(str, given))})")


def _takes(declared_classes: Sequence[str], units: int, type_: Type) -> bool:
    if not isinstance(type_, RegisterType):
        return False
    if type_.register_class not in declared_classes:
        return False
    return type_.units == units or _single(type_.register_class)


def _single(register_class: str) -> bool:
    """Registers that exist once have no unit count of their own."""
    return register_class.rpartition(".")[2] in ("vcc", "exec", "scc", "m0", "null", "mode", "vccz", "execz")


def _operands_fit(declared: Sequence[DescriptorOperand], types: Sequence[Type], extra: int) -> bool:
    """Whether the types are the declared operands in order, optional ones left out, and up to ``extra`` more."""
    reachable = {0}
    for operand in declared:
        following: set[int] = set()
        for at in reachable:
            if operand.optional:
                following.add(at)
            if at < len(types) and _takes(operand.register_classes, operand.units, types[at]):
                following.add(at + 1)
        reachable = following
        if not reachable:
            return False
    return any(0 <= len(types) - at <= extra for at in reachable)


def _immediate_fits(value: Any, bits: int, words: Sequence[str], values: Sequence[int]) -> bool:
    if words and isinstance(value, str):
        return value in words
    if values:
        return value in values
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -(1 << max(bits - 1, 0)) <= value < (1 << bits)
    return isinstance(value, float | tuple | str)


def low_op(op: Operation, report: Report) -> None:
    """The instruction exists in the function's set; operands, results and immediates are its."""
    found = set_of(low_parent(op))
    if found is None:
        if low_parent(op) is None:
            report("OP/008", f"{op.name} belongs in a Low function or kernel")
        return
    key = str(op.attributes["key"])
    descriptor = found.lookup(key)
    if descriptor is None:
        report(
            "LOW/002",
            f"{found.name} has no instruction '{key}'",
            found.elsewhere(key.partition(".")[2]) or did_you_mean(key.partition(".")[2], found.mnemonics()),
        )
        return
    listed = found.by_mnemonic(descriptor.mnemonic) if descriptor.mnemonic is not None else None
    _instruction(op, descriptor, listed or descriptor, report)


def _misfit(op: Operation, listed: Descriptor, report: Report) -> None:
    """Say what an instruction takes: by the operand that does not fit where their number is right."""
    name = listed.mnemonic or listed.key
    required = [o for o in listed.operands if not o.optional]
    if len(required) <= len(op.operands) <= len(listed.operands):
        for declared, value in zip(listed.operands, op.operands, strict=False):
            if not _takes(declared.register_classes, declared.units, value.type):
                shape = _shape(declared.register_classes, declared.units)
                report(
                    "LOW/003",
                    f"operand '{declared.name}' of {name} must be {shape}, not {value.type}",
                    focus=f"%{value.name}" if value.name else None,
                )
                return
    say = ", ".join(f"{o.name}: {_shape(o.register_classes, o.units)}" for o in listed.operands) or "no operands"
    report("LOW/003", f"{name} takes ({say}); it has ({', '.join(str(v.type) for v in op.operands)})")


def _instruction(op: Operation, descriptor: Descriptor, listed: Descriptor, report: Report) -> None:
    types = [v.type for v in op.operands]
    results = [r.type for r in op.results]
    ties: Any = op.attributes.get("ties")
    tied = sum(t is not None for t in ties) if isinstance(ties, tuple) else 0
    if not _operands_fit(descriptor.operands, types, tied):
        _misfit(op, listed, report)
        return
    position = 0
    for declared in descriptor.results:
        if position < len(results) and _takes(declared.register_classes, declared.units, results[position]):
            position += 1
        elif not declared.special and not _null(results, position):
            say = ", ".join(_shape(r.register_classes, r.units) for r in listed.results)
            report("LOW/003", f"{listed.mnemonic or listed.key} gives {say}; it has ({', '.join(map(str, results))})")
            return
        elif not declared.special:
            position += 1
    if position != len(results):
        report("LOW/003", f"{descriptor.key} has {len(results)} results here, more than it gives")
        return
    if isinstance(ties, tuple):
        for result, tie in zip(op.results, ties, strict=False):
            if tie is not None and not (0 <= tie < len(op.operands)):
                report("LOW/003", f"a tie of {descriptor.key} names an operand that is not there")
            elif tie is not None and _unplaced(op.operands[tie].type) is not _unplaced(result.type):
                report(
                    "LOW/003",
                    f"result {result.index} of {descriptor.key} reuses an operand of type "
                    f"{op.operands[tie].type}, not {result.type}",
                )
    immediates: Any = op.attributes.get("immediates") or {}
    declared_immediates = {i.name: i for i in descriptor.immediates}
    slots = {o.name for o in descriptor.operands}
    for name, value in immediates.items():
        immediate = declared_immediates.get(name)
        if immediate is None:
            if name in slots or name.removeprefix("y_") in slots:
                continue
            report("LOW/004", f"{descriptor.key} has no immediate '{name}'", did_you_mean(name, declared_immediates))
        elif not _immediate_fits(value, immediate.bits, immediate.words, immediate.values):
            report("LOW/004", f"'{name}' of {descriptor.key} takes {immediate.bits} bits; {value} does not fit")
    for immediate in descriptor.immediates:
        if immediate.default is None and immediate.name not in immediates:
            report("LOW/004", f"{descriptor.key} needs the immediate '{immediate.name}'")
            return


def _unplaced(type_: Type) -> Type:
    return type_.at(None) if isinstance(type_, RegisterType) else type_


def _null(results: Sequence[Type], position: int) -> bool:
    t = results[position] if position < len(results) else None
    return isinstance(t, RegisterType) and _single(t.register_class)


def _shape(classes: Sequence[str], units: int) -> str:
    return "|".join(classes) + (f" x{units}" if units != 1 else "")


def low_copy(op: Operation, report: Report) -> None:
    """Class and unit count stay; sources of another class are moves between banks of the same size."""
    source, made = op.operands[0].type, op.results[0].type
    assert isinstance(source, RegisterType) and isinstance(made, RegisterType)
    if source.units != made.units:
        report("LOW/006", f"{op.name} keeps the number of units; {source} and {made} differ")


def low_slice(op: Operation, report: Report) -> None:
    """The units lie inside of the source."""
    source, made = op.operands[0].type, op.results[0].type
    unit = op.attributes["unit"]
    assert isinstance(source, RegisterType) and isinstance(made, RegisterType) and isinstance(unit, int)
    if source.register_class != made.register_class:
        report("LOW/006", f"a slice of {source} has its class; {made} differs")
    elif unit + made.units > source.units:
        report("LOW/006", f"units {unit} to {unit + made.units - 1} are outside of {source}")


def low_concat(op: Operation, report: Report) -> None:
    """One class; unit counts add up."""
    made = op.results[0].type
    assert isinstance(made, RegisterType)
    total = 0
    for v in op.operands:
        t = v.type
        assert isinstance(t, RegisterType)
        if t.register_class != made.register_class:
            report("LOW/006", f"{t} cannot be a part of {made}")
            return
        total += t.units
    if total != made.units:
        report("LOW/006", f"the parts have {total} units, {made} has {made.units}")


def low_live_in(op: Operation, report: Report) -> None:
    """The key is one of the target's."""
    function = low_parent(op)
    if function is None:
        report("OP/008", f"{op.name} belongs in a Low function or kernel")
        return
    found = set_of(function)
    if found is None:
        return
    keys = list(found.live_ins())
    key = str(op.attributes["key"])
    if keys and key not in keys and ".undefined." not in key:  # what nobody set: only lifted code reads it
        report("LOW/007", f"unknown live-in '{key}'", did_you_mean(key, keys))
        return
    classes = found.live_ins()
    made = op.results[0].type
    assert isinstance(made, RegisterType)
    if isinstance(classes, Mapping) and key in classes and function.attributes.get("allocation") is None:
        register_class, units = classes[key]
        if (made.register_class, made.units) != (register_class, units):
            wanted = RegisterType(register_class, units)
            report("LOW/007", f"the live-in '{key}' arrives in {wanted}, not in {made}", f"write {wanted}")


def low_resource(op: Operation, report: Report) -> None:
    """A static or a dynamic extent, not both."""
    if "extent" in op.attributes and op.optional_operand("extent_value") is not None:
        report("OP/024", "'extent = …' and 'extent(%n)' exclude one another")
    function = low_parent(op)
    if function is None:
        report("OP/008", f"{op.name} belongs in a Low function or kernel")
        return
    made = op.results[0].type
    assert isinstance(made, RegisterType)
    if str(function.attributes.get("descriptor_set")).startswith("amdgpu.") and (
        made.register_class != "amdgpu.sgpr" or made.units != 2
    ):
        report("LOW/007", f"a resource is an address in reg<amdgpu.sgpr x2>, not {made}", "write reg<amdgpu.sgpr x2>")


def low_spill(op: Operation, report: Report) -> None:
    """Spills go to private storage."""
    t = op.operand("storage").type
    if isinstance(t, StorageType) and t.space == "workgroup":
        report("LOW/010", f"{op.name} uses private storage, not {t}")
