"""What a pass is, and how passes run: by name, over a module, with the facts of one compilation at hand."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from loom.diagnostics import error
from loom.ir import Module
from loom.transform.target import TargetConfiguration


@dataclass(slots=True)
class PassContext:
    """What passes may know besides the module.

    Attributes:
        target: The target that code is made for.
        roots: Symbols of the kernels or functions to keep; empty: every kernel.
        config: Config bindings by key, already parsed to Python values.
        libraries: Modules whose exported definitions resolve declarations.
        dump_before: Pass names before which the module's text is kept; ``all`` means each.
        dump_after: The same, after.
        dumps: ``before:PASS`` / ``after:PASS`` → text.
        changed: How often each pass changed something, for reports.
        sanitizer: Checks to compile in: ``access``, ``value``, ``operation``.
    """

    target: TargetConfiguration
    roots: tuple[str, ...] = ()
    config: Mapping[str, object] = field(default_factory=dict)
    libraries: Sequence[Module] = ()
    dump_before: frozenset[str] = frozenset()
    dump_after: frozenset[str] = frozenset()
    dumps: dict[str, str] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    sanitizer: frozenset[str] = frozenset()


PassFunction = Callable[[Module, PassContext], int]

# name → (implementation, one line of help). A pass returns how many changes it made.
PASSES: Mapping[str, tuple[str, str]] = {
    "link": ("loom.transform.link:link", "resolve declarations in libraries and drop what the roots do not reach"),
    "specialize": ("loom.transform.specialize:specialize", "replace config values and target facts by constants"),
    "inline": ("loom.transform.inline:inline", "select templates and inline every call"),
    "check-reach": ("loom.transform.uniform_reach:check_uniform_reach", "refuse barriers that some workitems miss"),
    "early-exit": ("loom.transform.early_exit:early_exit", "branch around what follows kernel.exit"),
    "simplify": ("loom.transform.simplify:simplify", "fold, share and drop: constants, equal operations, dead code"),
    "use-facts": ("loom.transform.proven:use_facts", "decide comparisons, minima and maxima that facts prove"),
    "unroll": ("loom.transform.unroll:unroll", "unroll loops that ask for it"),
    "pipeline-loops": ("loom.transform.software_pipeline:pipeline_loops", "let reads of pipelined loops run ahead"),
    "hoist": ("loom.transform.loop_invariant:hoist", "move what does not change in a loop before it"),
    "check-accesses": ("loom.transform.sanitize:check_accesses", "with --sanitizer=access: check unproven accesses"),
    "check-assumptions": (
        "loom.transform.sanitize:check_assumptions",
        "check assertions, and with --sanitizer=value assumes",
    ),
    "check-operations": ("loom.transform.sanitize:check_operations", "with --sanitizer=operation: divisors and shifts"),
    "guard-asserts": ("loom.transform.sanitize:guard_asserts", "branch around every kernel.assert"),
    "share-loads": ("loom.transform.memory:share_loads", "reuse values already loaded or stored in the same block"),
}


def load_pass(name: str) -> PassFunction:
    """Return the implementation of a pass.

    Raises:
        LoomError: ``PASS/001`` for a name that is no pass.
    """
    entry = PASSES.get(name)
    if entry is None:
        raise error(f"unknown pass '{name}'", "PASS/001", hint=f"passes: {', '.join(PASSES)}")
    module, function = entry[0].split(":")
    return cast(PassFunction, getattr(importlib.import_module(module), function))


def run_passes(module: Module, names: Sequence[str], context: PassContext) -> None:
    """Run passes in order, in place, keeping the dumps that the context asks for."""
    for name in names:
        function = load_pass(name)
        if name in context.dump_before or "all" in context.dump_before:
            context.dumps.setdefault(f"before:{name}", _text(module))
        changes = function(module, context)
        context.changed[name] = context.changed.get(name, 0) + changes
        if name in context.dump_after or "all" in context.dump_after:
            context.dumps[f"after:{name}"] = _text(module)


def _text(module: Module) -> str:
    from loom.text.printer import print_module

    return print_module(module)
