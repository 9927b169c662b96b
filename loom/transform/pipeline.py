"""The default pipeline up to the target: which passes run, in which order, and for which target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loom.diagnostics import error
from loom.ir import Module, Operation
from loom.transform.link import find_symbol, link
from loom.transform.passes import PASSES, PassContext, run_passes
from loom.transform.rejection import rejection
from loom.transform.selection import target_of_record, usable
from loom.transform.target import TargetConfiguration

#: Sanitizers that are checks compiled into the kernel; ``race`` is the device's to watch.
SANITIZERS = ("access", "value", "operation")

DEFAULT_PIPELINE: tuple[str, ...] = (
    "specialize", "simplify", "inline", "specialize", "simplify", "check-reach", "early-exit", "unroll",
    "pipeline-loops", "use-facts", "simplify", "hoist", "share-loads", "check-accesses", "check-assumptions",
    "check-operations", "guard-asserts", "simplify",
)  # fmt: skip


@dataclass(slots=True)
class PipelineOptions:
    """What the pipeline is asked for.

    Attributes:
        target: The target to compile for; None takes the root's own, and ``default_target`` where it names none.
        default_target: What a kernel without a target is compiled for.
        root: Symbol or export name; None keeps every kernel.
        config: Config bindings by key.
        libraries: Modules to link against.
        passes: Pass names; the default pipeline when None.
        dump_before: Passes before which the module's text is kept; ``all`` for each.
        dump_after: The same, after.
        sanitizer: Checks to compile in: ``access``, ``value``, ``operation``; ``all`` for each.
    """

    target: TargetConfiguration | None = None
    default_target: TargetConfiguration | None = None
    root: str | None = None
    config: Mapping[str, object] = field(default_factory=dict)
    libraries: Sequence[Module] = ()
    passes: Sequence[str] | None = None
    dump_before: Sequence[str] = ()
    dump_after: Sequence[str] = ()
    sanitizer: frozenset[str] = frozenset()


@dataclass(slots=True)
class PipelineResult:
    """The specialised module, the target it is for, the dumps asked for, and how often each pass changed something."""

    module: Module
    target: TargetConfiguration
    dumps: dict[str, str]
    changed: dict[str, int]


def run_default_pipeline(module: Module, options: PipelineOptions) -> PipelineResult:
    """Link, specialise, inline and optimise a copy of ``module`` for one root (or all its kernels).

    Behind it every ``kernel.def`` has a single structured block, no calls, no config values, no templates; Low
    helpers that ``low.invoke`` names are still there.

    Raises:
        LoomError: whatever a pass refuses; ``PASS/002`` for a dump of a pass that does not run; ``TARGET/005`` when the
            root's target and the asked one exclude each other, ``TARGET/006`` when neither names one.
    """
    copy = module.clone()
    context = PassContext(
        target=choose_target(copy, options),
        roots=(options.root,) if options.root is not None else (),
        config=options.config,
        libraries=options.libraries,
        dump_before=frozenset(options.dump_before),
        dump_after=frozenset(options.dump_after),
        sanitizer=frozenset(SANITIZERS) if "all" in options.sanitizer else options.sanitizer,
    )
    passes = tuple(options.passes) if options.passes is not None else DEFAULT_PIPELINE
    for name in sorted((context.dump_before | context.dump_after) - {"all", *passes}):
        raise error(
            f"pass '{name}' is not in this pipeline, so there is nothing to dump",
            "PASS/002",
            hint=f"passes: {', '.join(dict.fromkeys(passes))}, or 'all'",
        )
    link(copy, context)
    run_passes(copy, passes, context)
    return PipelineResult(copy, context.target, context.dumps, context.changed)


def choose_target(module: Module, options: PipelineOptions) -> TargetConfiguration:
    """The target of a compilation: the asked one, checked against what the root names, else the root's, else the
    default.
    """
    root = _root(module, options.root)
    name = root.attributes.get("target") if root is not None else None
    record = module.symbol(str(name)) if name is not None else None
    if record is None or record.name == "target.decl":
        chosen = options.target or options.default_target
        if chosen is None:
            raise error(
                "no target is named",
                "TARGET/006",
                root.location if root is not None else None,
                hint="give --target=family:selector, or target(@t) on the kernel",
            )
        return chosen
    own = target_of_record(record)
    if options.target is None:
        return own
    if not usable(record, options.target):
        raise rejection(
            root or record,
            f"it is written for {own.family}:{own.selector}, "
            f"which {options.target.family}:{options.target.selector} does not satisfy",
            "TARGET/005",
            "choose a target that satisfies the kernel's own, or change target(..)",
        )
    return options.target


def _root(module: Module, name: str | None) -> Operation | None:
    if name is not None:
        symbol = find_symbol(module, name)
        return module.symbol(symbol) if symbol is not None else None
    for op in module.operations:
        if op.name in ("kernel.def", "low.kernel.def"):
            return op
    return None


def parse_pipeline(text: str, module: Module | None = None) -> tuple[str, ...] | None:
    """Parse ``--pipeline=default|@symbol|pass,pass``; None stands for the default pipeline.

    ``@symbol`` names a ``pass.pipeline`` of ``module``; without a module its name is not looked up.

    Raises:
        LoomError: ``PASS/001`` for a name that is no pass, ``PASS/003`` for a symbol that is no pipeline, ``PASS/004``
            for a ``pass.run`` that cannot run here.
    """
    if text == "default":
        return None
    if text.startswith("@"):
        return _named_pipeline(text[1:], module) if module is not None else ()
    names = tuple(part.strip() for part in text.split(","))
    for name in names:
        if name not in PASSES:
            raise error(f"unknown pass '{name}'", "PASS/001", hint=f"passes: {', '.join(PASSES)}")
    return names


def _named_pipeline(name: str, module: Module) -> tuple[str, ...]:
    record = module.symbol(name)
    if record is None or record.name != "pass.pipeline":
        known = ", ".join(f"@{op.symbol}" for op in module.operations if op.name == "pass.pipeline")
        raise error(
            f"--pipeline=@{name} names no pass.pipeline",
            "PASS/003",
            hint=f"pipelines of this module: {known or 'none'}",
        )
    names = []
    for op in record.body().operations:
        if op.definition.is_terminator:
            break
        wanted = str(op.attributes["pass"])
        if wanted not in PASSES:
            raise rejection(op, f"unknown pass '{wanted}'", "PASS/004", f"passes: {', '.join(PASSES)}")
        if op.attributes.get("attributes"):
            raise rejection(op, f"pass '{wanted}' takes no options", "PASS/004", f"write pass.run<{wanted}>")
        names.append(wanted)
    return tuple(names)
