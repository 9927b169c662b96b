"""What facts decide: comparisons whose outcome is proven, minima and maxima whose winner is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loom.ir import Builder, Module, Operation, Value
from loom.ir.facts import FactAnalysis
from loom.transform.folding import constant_of
from loom.transform.passes import PassContext

# The facts room names signed comparisons without a letter; unsigned ones keep it.
_COMPARISONS = {"slt": "lt", "sle": "le", "sgt": "gt", "sge": "ge"}


def use_facts(module: Module, context: PassContext) -> int:
    """Replace what facts decide in every kernel and function; return the number of replacements."""
    count = 0
    for symbol in module.operations:
        if symbol.name not in ("kernel.def", "func.def"):
            continue
        analysis = FactAnalysis()
        for region in symbol.regions:
            for op in region.walk():
                rule = _RULES.get(op.name)
                if rule is None or op.parent is None or not op.results[0].has_uses:
                    continue
                value = rule(op, analysis)
                if value is not None:
                    op.results[0].replace_all_uses_with(value)
                    count += 1
    return count


def _compare(op: Operation, analysis: FactAnalysis) -> Value | None:
    a, b = op.operands
    if constant_of(a) is not None and constant_of(b) is not None:
        return None
    predicate = str(op.attributes["predicate"])
    verdict = analysis.prove(_COMPARISONS.get(predicate, predicate), [a, b], op)
    if verdict is None:
        return None
    return Builder.before(op).constant(verdict, op.results[0].type)


def _smaller(op: Operation, analysis: FactAnalysis) -> Value | None:
    return _winner(op, analysis, "le")


def _larger(op: Operation, analysis: FactAnalysis) -> Value | None:
    return _winner(op, analysis, "ge")


def _winner(op: Operation, analysis: FactAnalysis, predicate: str) -> Value | None:
    a, b = op.operands
    if analysis.prove(predicate, [a, b], op) is True:
        return a
    if analysis.prove(predicate, [b, a], op) is True:
        return b
    return None


def _remainder(op: Operation, analysis: FactAnalysis) -> Value | None:
    """``x rem n`` is x for 0 <= x < n."""
    a, b = op.operands
    if analysis.facts_of(a).non_negative and analysis.prove("lt", [a, b], op) is True:
        return a
    return None


_RULES: Mapping[str, Callable[[Operation, FactAnalysis], Value | None]] = {
    "index.cmp": _compare,
    "scalar.cmpi": _compare,
    "index.min": _smaller,
    "index.max": _larger,
    "scalar.minsi": _smaller,
    "scalar.maxsi": _larger,
    "index.rem": _remainder,
}
