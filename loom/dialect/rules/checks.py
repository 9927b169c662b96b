"""Rules about cases, scenarios and benchmarks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from loom.dialect.rules.values import Report, generated_problem, literal_problem
from loom.ir import (
    INDEX,
    FloatType,
    IndexType,
    IntegerType,
    OffsetType,
    OpaqueType,
    Operation,
    TensorType,
    Type,
    bit_width,
)

ENTROPY = OpaqueType("check.entropy")
_CONFIGURATION_OPS = ("check.literal", "check.entropy.fork", "check.entropy.read", "check.trial", "check.return")


def _allowed(op: Operation) -> bool:
    definition = op.definition
    traits = definition.traits
    return (
        "check" in traits
        or op.name in ("kernel.launch", "func.call", "command.program.launch")
        or definition.is_terminator
        or (
            "pure" in traits
            and "device" not in traits
            and definition.dialect in ("scalar", "index", "encoding", "config", "scf")
        )
    )


def check_case(op: Operation, report: Report) -> None:
    """Only what a case can run; parameter names are unique."""
    names: set[str] = set()
    for inner in op.regions[0].blocks[0].operations:
        if not _allowed(inner) or inner.name == "check.trial":
            report("CHECK/001", f"{inner.name} cannot stand in a check.case")
            return
        if inner.definition.has_trait("parameter"):
            name = inner.attributes.get("name")
            if isinstance(name, str):
                if name in names:
                    report("CHECK/004", f"two parameters of @{op.symbol} have the name '{name}'")
                names.add(name)


def scenario(op: Operation, report: Report) -> None:
    """Configuration holds literals and entropy only; there is a trial."""
    block = op.regions[0].blocks[0]
    if block.arguments and [a.type for a in block.arguments] != [INDEX, ENTROPY]:
        report("CHECK/007", "configure takes (index, check.entropy)")
    trials = 0
    for inner in block.operations:
        if inner.name not in _CONFIGURATION_OPS:
            report("CHECK/001", f"{inner.name} cannot stand in the configuration of a scenario")
            return
        trials += inner.name == "check.trial"
    if not trials:
        report("CHECK/007", f"scenario @{op.symbol} has no trial")


def trial(op: Operation, report: Report) -> None:
    """Arguments are the trial's number and its entropy; only what a trial can run."""
    block = op.regions[0].blocks[0]
    if [a.type for a in block.arguments] != [INDEX, ENTROPY]:
        report("CHECK/007", "a trial takes (index, check.entropy)")
        return
    for inner in block.operations:
        if not _allowed(inner) or inner.definition.has_trait("expectation") or inner.definition.has_trait("parameter"):
            report("CHECK/001", f"{inner.name} cannot stand in a trial")
            return


def compare(op: Operation, report: Report) -> None:
    """The region holds expectations only; its bindings come in pairs."""
    sides: Any = op.attributes.get("bindings", ())
    block = op.regions[0].blocks[0]
    if len(sides) != len(block.arguments):
        report("OP/015", f"{op.name} has {len(block.arguments)} bindings and {len(sides)} sides")
    for inner in block.operations:
        if not inner.definition.has_trait("expectation") and not inner.definition.is_terminator:
            report("CHECK/001", f"{inner.name} is no expectation; a comparison holds only those")
            return


def _in_range(value: Any, type_: Type) -> bool:
    if isinstance(type_, IntegerType):
        half = 1 << (type_.width - 1)
        return bool(-half <= value < half)
    return True


def choice(op: Operation, report: Report) -> None:
    """At least one value; each is one of the type."""
    values: Any = op.attributes["values"]
    type_ = op.results[0].type
    if not values:
        report("CHECK/005", "a choice needs a value")
    for value in values:
        problem = literal_problem(value, type_)
        if problem is not None:
            report("OP/016", problem)
            return


def range_values(op: Operation) -> Sequence[int | float] | range | None:
    """Return the values of a range parameter in order (integers as a range); None for an unlisted float range."""
    low, high, step = op.attributes["lower"], op.attributes["upper"], op.attributes.get("step")
    if op.attributes["mode"] == "po2":
        assert isinstance(low, int) and isinstance(high, int)
        first = max(low, 1)
        power = 1 << (first - 1).bit_length()
        values = []
        while power <= high:
            values.append(power)
            power *= 2
        return values
    if all(isinstance(x, int) for x in (low, high)) and (step is None or isinstance(step, int)):
        return range(low, high + 1, 1 if step is None else step)  # type: ignore[arg-type, operator]
    return None


def parameter_range(op: Operation, report: Report) -> None:
    """Bounds and step of the type, step positive, at least one value."""
    type_ = op.results[0].type
    low, high, step = op.attributes["lower"], op.attributes["upper"], op.attributes.get("step")
    for value in (low, high, *(() if step is None else (step,))):
        problem = literal_problem(value, type_)
        if problem is not None:
            report("OP/016", problem)
            return
    assert isinstance(low, int | float) and isinstance(high, int | float)
    if op.attributes["mode"] == "po2":
        if isinstance(type_, FloatType):
            report("OP/002", f"powers of two are integers, not {type_}")
            return
        if step is not None:
            report("OP/024", "powers of two have no step")
            return
    elif isinstance(type_, FloatType) and step is None:
        report("OP/024", "a range of floats needs a step")
        return
    if isinstance(step, int | float) and step <= 0:
        report("OP/006", f"the step must be positive, not {step}")
        return
    values = range_values(op)
    if high < low or (values is not None and not values):
        report("CHECK/005", f"no value lies between {low} and {high}")


def iota(op: Operation, report: Report) -> None:
    """Every element of a static integer tensor lies in the signed range."""
    type_ = op.results[0].type
    assert isinstance(type_, TensorType)
    offset, step = op.attributes["offset"], op.attributes["step"]
    element = type_.element
    for value in (offset, step):
        problem = generated_problem(value, element)
        if problem is not None:
            report("OP/016", problem)
            return
    if not isinstance(element, IntegerType) or not isinstance(offset, int) or not isinstance(step, int):
        return
    count = type_.element_count if type_.is_static else 1
    period = op.attributes.get("period")
    if isinstance(period, int):
        count = min(count, period)
    last = offset + max(count - 1, 0) * step
    if element.width > 1 and not (_in_range(offset, element) and _in_range(last, element)):
        report("CHECK/006", f"elements from {offset} to {last} do not lie in the signed range of {element}")


def uniform(op: Operation, report: Report) -> None:
    """Bounds of the element type, lower not above upper."""
    type_ = op.results[0].type
    assert isinstance(type_, TensorType)
    low, high = op.attributes["lower"], op.attributes["upper"]
    for value in (low, high):
        problem = generated_problem(value, type_.element)
        if problem is not None:
            report("OP/016", problem)
            return
    assert isinstance(low, int | float) and isinstance(high, int | float)
    if high < low:
        report("CHECK/005", f"the range from {low} to {high} is empty")


def tensor_view(op: Operation, report: Report) -> None:
    """The part lies inside of the whole."""
    whole, part = op.operands[0].type, op.results[0].type
    offset = op.attributes["offset"]
    assert isinstance(whole, TensorType) and isinstance(part, TensorType) and isinstance(offset, int)
    size = max(bit_width(part.element) // 8, 1)
    if offset % size:
        report("OP/006", f"the offset {offset} is not a multiple of the element's {size} bytes")
    elif whole.is_static and part.is_static and offset * 8 + bit_width(part) > bit_width(whole):
        report("OP/019", f"{part} at byte {offset} ends behind {whole}")


def close(op: Operation, report: Report) -> None:
    """Tolerances are finite and not negative; the values are floats."""
    for name in ("atol", "rtol"):
        value = op.attributes[name]
        if not isinstance(value, int | float) or math.isnan(value) or value < 0 or math.isinf(value):
            report("OP/006", f"'{name}' must be a finite number of at least 0, not {value}")
    t = op.operands[0].type
    element = t.element if isinstance(t, TensorType) else t
    if not isinstance(element, FloatType):
        report("OP/002", f"check.expect.close compares floats, not {t}", "check.expect.equal compares integers")


def shape(op: Operation, report: Report) -> None:
    """One extent an axis."""
    t = op.operand("value").type
    dims: Any = op.attributes["dims"]
    assert isinstance(t, TensorType)
    if len(dims) != t.rank:
        report("OP/018", f"{t} has {t.rank} axes, {len(dims)} extents listed")


def benchmark(op: Operation, report: Report) -> None:
    """What can be said without the case: assigned values are numbers."""
    assigned: Any = op.attributes.get("attributes", {})
    for name, value in assigned.items():
        if not isinstance(value, int | float):
            report("CHECK/003", f"'{name}' is a parameter; its value is a number, not {value!r}")


def in_domain(parameter: Operation, value: Any) -> bool:
    """Whether a benchmark may give the parameter this value (floats: within 1e-9 * step + 1e-12)."""
    type_ = parameter.results[0].type
    if literal_problem(value, type_) is not None:
        return False
    if parameter.name == "check.param.choice":
        values: Any = parameter.attributes["values"]
        if isinstance(type_, FloatType):
            return any(float(v) == float(value) for v in values)
        return bool(value in values)
    if parameter.name == "check.param.seed":
        base, count = parameter.attributes["base"], parameter.attributes["count"]
        assert isinstance(base, int) and isinstance(count, int)
        return bool(base <= value < base + count)
    if isinstance(type_, IntegerType | IndexType | OffsetType):
        domain = range_values(parameter)
        return domain is not None and bool(value in domain)
    low, high, step = (parameter.attributes[n] for n in ("lower", "upper", "step"))
    assert isinstance(low, int | float) and isinstance(high, int | float) and isinstance(step, int | float)
    tolerance = 1e-9 * step + 1e-12
    nearest = round((value - low) / step)
    count = math.floor((high - low) / step) + 1
    return bool(0 <= nearest < count and abs(low + nearest * step - value) <= tolerance)
