"""Which implementation of a template family a ``template.apply`` means."""

from __future__ import annotations

from loom.ir import EncodingAttribute, Module, Operation, Predicate, Ref, Value
from loom.ir.facts import prove
from loom.transform.rejection import rejection
from loom.transform.target import TargetConfiguration, resolve_target


def select_implementation(module: Module, apply: Operation, target: TargetConfiguration) -> Operation:
    """Choose the ``template.def`` for an apply site (section 3.1 of the language reference).

    Candidates of the family with identical types → usable target → every ``where`` provable → every ``requires``
    provable → highest priority; no priority ranks lowest.

    Raises:
        LoomError: ``SELECT/001`` when no candidate survives (with the reason for each), ``SELECT/002`` when two
            survive with
            equal priority.
    """
    family = str(apply.attributes["family"])
    arguments = apply.operand_group("arguments")
    rejected: list[str] = []
    survivors: list[tuple[int, Operation]] = []
    for candidate in module.operations:
        if candidate.name != "template.def" or str(candidate.attributes.get("family")) != family:
            continue
        reason = why_not(module, candidate, arguments, apply, target)
        if reason is not None:
            rejected.append(f"@{candidate.symbol}: {reason}")
            continue
        priority = candidate.attributes.get("priority")
        survivors.append((priority if isinstance(priority, int) else -1, candidate))
    if not survivors:
        raise rejection(
            apply,
            f"no implementation of @{family} can be selected here",
            "SELECT/001",
            "add an implementation whose conditions hold here, or facts that prove them",
            notes=rejected or ("the family has no implementation",),
        )
    best = max(priority for priority, _ in survivors)
    winners = [candidate for priority, candidate in survivors if priority == best]
    if len(winners) > 1:
        names = ", ".join(f"@{w.symbol}" for w in winners)
        raise rejection(
            apply,
            f"{names} all implement @{family} here with equal priority",
            "SELECT/002",
            "give one of them a higher priority(..), or conditions that exclude each other",
        )
    return winners[0]


def why_not(
    module: Module, candidate: Operation, arguments: list[Value], apply: Operation, target: TargetConfiguration
) -> str | None:
    """Why a candidate cannot be used at an apply site, or None when it can."""
    parameters = candidate.body("body").arguments
    mapping = dict(zip(parameters, arguments, strict=False))
    if len(parameters) != len(arguments) or any(
        p.type.substitute(mapping) is not a.type for p, a in zip(parameters, arguments, strict=True)
    ):
        return "its argument types differ"
    declared = candidate.attributes.get("result_types") or ()
    assert isinstance(declared, tuple)
    if [str(t) for t in declared] != [str(r.type) for r in apply.results]:
        return "its result types differ"
    name = candidate.attributes.get("target")
    if name is not None:
        record = module.symbol(str(name))
        if record is None or not usable(record, target):
            return f"target @{name} is not satisfied by {target.family}:{target.selector}"
    for predicate in _tuple(candidate.attributes.get("where")):
        assert isinstance(predicate, Predicate)
        verdict = prove_for(predicate, arguments, apply)
        if verdict is not True:
            state = "is false" if verdict is False else "is not proven"
            return f"where {predicate_text(predicate, arguments)} {state}"
    for requirement in _tuple(candidate.attributes.get("requires")):
        assert isinstance(requirement, EncodingAttribute)
        if not has_capability(requirement, target):
            return f"requires {requirement}"
    return None


def usable(record: Operation, target: TargetConfiguration) -> bool:
    """Whether code for a target record may be used by a kernel of ``target``."""
    family = record.name.split(".", 1)[0]
    selector = str(record.attributes.get("selector", ""))
    if record.name == "target.decl":
        return False
    if not target.can_use(family, selector):
        return False
    size = record.attributes.get("subgroup_size")
    return size is None or size == target.subgroup_size


def has_capability(requirement: EncodingAttribute, target: TargetConfiguration) -> bool:
    """Whether the target is known to have a capability such as ``#target.subgroup.size<32>``."""
    known = target.capabilities.get(requirement.family)
    if known is None:
        return False
    return not requirement.parameters or requirement.parameters[0][1] == known


def prove_for(predicate: Predicate, arguments: list[Value], site: Operation) -> bool | None:
    """Prove a signature's predicate for the values of a call: True, False, or None when neither follows."""
    if predicate.name == "finite" or any(isinstance(a, float) for a in predicate.arguments):
        return None
    values = [arguments[a.index] if isinstance(a, Ref) else int(a) for a in predicate.arguments]
    return prove(predicate.name, values, site)


def predicate_text(predicate: Predicate, arguments: list[Value]) -> str:
    """A predicate as the user wrote it, with the names of the values at the call."""
    shown = [
        f"%{arguments[a.index].name or a.index}" if isinstance(a, Ref) and a.index < len(arguments) else str(a)
        for a in predicate.arguments
    ]
    return f"{predicate.name}({', '.join(shown)})"


def _tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else ()


def target_of_record(record: Operation) -> TargetConfiguration:
    """Resolve the target that a target record (``amdgpu.target<…> @t {…}``) stands for."""
    overrides = {k: v for k, v in record.attributes.items() if k not in ("selector", "sym_name") and v is not None}
    return resolve_target(record.name.split(".", 1)[0], str(record.attributes["selector"]), overrides, record.location)
