"""Rules about control flow: loops, conditionals, branches, returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loom.dialect.rules.values import Report
from loom.ir import Block, Operation, Type, Value


def _text(types: Sequence[Type]) -> str:
    return f"({', '.join(str(t) for t in types)})"


def _types(values: Sequence[Value]) -> list[Type]:
    return [v.type for v in values]


def _yields(op: Operation, block: Block, report: Report, what: str = "results") -> None:
    """The terminator's values have the op's result types."""
    ender = block.last
    if ender is None or not ender.definition.is_terminator:
        return
    values = ender.operand_group("values") if "values" in ender.definition.operand_positions else []
    if _types(values) != _types(op.results):
        report(
            "OP/014",
            f"{op.name} has {what} {_text(_types(op.results))}, but its {ender.name} gives {_text(_types(values))}",
            at=ender,
        )


def loop(op: Operation, report: Report) -> None:
    """Carried values, results, block arguments and yields agree; the step is positive where it is known."""
    inits = op.operand_group("inits")
    arguments = op.regions[0].blocks[0].arguments
    if _types(inits) != _types(op.results):
        report(
            "OP/014",
            f"{op.name} starts with {_text(_types(inits))} but gives {_text(_types(op.results))}",
            f"write -> {_text(_types(inits))} behind the carried values" if inits else "carry: (%acc = %init : T)",
        )
        return
    lower = op.operand("lower").type
    if not arguments or arguments[0].type is not lower:
        report("OP/015", f"the induction variable of {op.name} must have the bounds' type {lower}")
        return
    if _types(arguments[1:]) != _types(inits):
        report("OP/015", f"the region of {op.name} takes {_text(_types(arguments[1:]))}, not {_text(_types(inits))}")
        return
    _yields(op, op.regions[0].blocks[0], report, "carried values")
    step = op.operand("step").defining_op
    if step is not None and step.name == "index.constant":
        value = step.attributes["value"]
        if isinstance(value, int) and value <= 0:
            report("OP/006", f"the step of {op.name} must be positive, not {value}")
    if op.attributes.get("unroll") and op.optional_operand("unroll_factor") is not None:
        report("OP/024", "'unroll' and 'unroll(factor)' exclude one another")
    if "pipeline_depth" in op.definition.operand_positions:
        _pipeline(op, report)


def _pipeline(op: Operation, report: Report) -> None:
    depth = op.optional_operand("pipeline_depth")
    definer = depth.defining_op if depth is not None else None
    if definer is None or definer.name != "index.constant":
        return
    value = definer.attributes["value"]
    if not isinstance(value, int):
        return
    if not 1 <= value <= 65535:
        report("OP/006", f"the pipeline depth must be from 1 to 65535, not {value}")
    elif value > 1:
        for inner in op.regions[0].walk():
            if inner.name in ("scf.schedule.fence", "scf.while") or inner.attributes.get("volatile"):
                report("OP/024", f"a loop with pipeline depth {value} cannot contain {inner.name}")
                return


def conditional(op: Operation, report: Report) -> None:
    """With results both regions yield them."""
    if op.results and not op.regions[1].blocks:
        report("OP/014", f"{op.name} with results needs an else region")
        return
    for region in op.regions:
        if region.blocks:
            _yields(op, region.blocks[0], report)


def while_loop(op: Operation, report: Report) -> None:
    """Initial values, forwarded values, results and arguments agree in count and type."""
    inits = _types(op.operand_group("inits"))
    before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
    if inits != _types(op.results):
        report("OP/014", f"{op.name} starts with {_text(inits)} but gives {_text(_types(op.results))}")
        return
    for block, which in ((before, "first"), (after, "do")):
        if _types(block.arguments) != inits:
            report(
                "OP/015", f"the {which} region of {op.name} takes {_text(_types(block.arguments))}, not {_text(inits)}"
            )
            return
    _yields(op, before, report, "carried values")
    _yields(op, after, report, "carried values")


def switch(op: Operation, report: Report) -> None:
    """Keys are sorted and unique; every region yields the results."""
    keys: Any = op.attributes["keys"]
    if list(keys) != sorted(set(keys)):
        report("OP/023", f"the keys of {op.name} must be sorted and unique, not {list(keys)}")
    if len(op.regions) != len(keys) + 1:
        report("OP/013", f"{op.name} needs a region for each of its {len(keys)} keys and the default")
    for region in op.regions:
        _yields(op, region.blocks[0], report)


def lookup(op: Operation, report: Report) -> None:
    """Keys are sorted and unique; every row has the results' types."""
    keys: Any = op.attributes["keys"]
    if list(keys) != sorted(set(keys)):
        report("OP/023", f"the keys of {op.name} must be sorted and unique, not {list(keys)}")
    types = _types(op.results)
    rows = op.operand_group("rows")
    if len(rows) != len(keys) * len(types):
        report(
            "OP/025", f"{op.name} has rows of {len(types)} values; {len(rows)} values for {len(keys)} keys do not fit"
        )
        return
    if _types(op.operand_group("defaults")) != types:
        report("OP/003", f"the default row of {op.name} must be {_text(types)}")
    for n, key in enumerate(keys):
        row = _types(rows[n * len(types) : (n + 1) * len(types)])
        if row != types:
            report("OP/003", f"row {key} of {op.name} is {_text(row)}, not {_text(types)}")
            return


def branch_arguments(op: Operation, report: Report) -> None:
    """A branch hands over what its block takes."""
    given = op.operand_group("arguments") if "arguments" in op.definition.operand_positions else []
    expected = 1 if op.definition.successors == "one" else 2
    if len(op.successors) != expected:
        report("OP/011", f"{op.name} has {len(op.successors)} targets instead of {expected}")
        return
    for block in op.successors:
        if block.parent is not None and block is block.parent.blocks[0]:
            continue
        if _types(given) != _types(block.arguments):
            report(
                "OP/011",
                f"^{block.label} takes {_text(_types(block.arguments))}, the branch gives {_text(_types(given))}",
            )


def function_return(op: Operation, report: Report) -> None:
    """A return gives what the signature says."""
    function = op.parent_op
    if function is None:
        return
    expected: Any = function.attributes.get("result_types", ())
    values = op.operand_group("values")
    given = _types(values)
    named: Any = function.attributes.get("result_values") or ()
    # A named result is the value that is returned for it.
    bound = {n: v for n, v in zip(named, values, strict=False) if n is not None}
    if bound:
        expected = tuple(t.substitute(bound) for t in expected)
    if tuple(given) != tuple(expected):
        report("OP/014", f"@{function.symbol} gives {_text(expected)}, this returns {_text(given)}")
