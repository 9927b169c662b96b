"""Planning: from a ``check.case`` to its parameters, requirements, value sources, actions and expectations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loom.check import parameters as parameter_values
from loom.check.issues import Issue
from loom.check.parameters import Domain, ParameterError
from loom.ir import FloatType, Module, Operation

VALUE_SOURCES = frozenset(
    {
        "check.literal",
        "check.generate.fill",
        "check.generate.iota",
        "check.generate.random.uniform",
        "check.tensor.view",
        "check.file.read.npy",
    }
)
ACTIONS = frozenset({"kernel.launch", "func.call", "check.oracle.call"})
EXPECTATIONS = frozenset(
    {
        "check.expect.equal",
        "check.expect.bitwise",
        "check.expect.close",
        "check.expect.shape",
        "check.expect",
        "check.expect.event",
    }
)
REQUIREMENTS = frozenset({"check.requires", "check.skip_if"})
OUTPUTS = frozenset({"check.file.write.npy"})

#: Samples that a case expands to at most, by default.
MAX_SAMPLES = 4096


def extra_attributes(op: Operation) -> dict[str, Any]:
    """The free-form attributes of a check op."""
    extra = op.attributes.get("attributes")
    return dict(extra) if isinstance(extra, dict) else {}


@dataclass(slots=True)
class Parameter:
    """A parameter of a case: its op, its domain, and the name a benchmark pins it by (None: it has none)."""

    op: Operation
    domain: Domain
    name: str | None

    @property
    def label(self) -> str:
        """The name shown to people: the given name, else the SSA name."""
        return self.name or self.op.results[0].name or "?"


@dataclass(slots=True)
class CasePlan:
    """A case, taken apart. ``issues`` is not empty where it cannot be run."""

    op: Operation
    name: str
    parameters: list[Parameter] = field(default_factory=list)
    requirements: list[Operation] = field(default_factory=list)
    values: list[Operation] = field(default_factory=list)
    actions: list[Operation] = field(default_factory=list)
    expectations: list[Operation] = field(default_factory=list)
    outputs: list[Operation] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)

    @property
    def sample_count(self) -> int:
        """Samples of the full product."""
        return parameter_values.sample_count([parameter.domain for parameter in self.parameters])

    @property
    def launches(self) -> list[Operation]:
        """The kernel launches among the actions."""
        return [op for op in self.actions if op.name == "kernel.launch"]


def _planning(op: Operation, code: str, message: str, hint: str | None = None) -> Issue:
    return Issue("planning", code, message, op.location, hint)


def _domain(op: Operation) -> Domain:
    attributes: Mapping[str, Any] = op.attributes
    if op.name == "check.param.choice":
        return parameter_values.choice(list(attributes["values"]))
    if op.name == "check.param.seed":
        return parameter_values.seeds(int(attributes["base"]), int(attributes["count"]))
    low, high, step = attributes["lower"], attributes["upper"], attributes.get("step")
    is_float = isinstance(op.results[0].type, FloatType)
    if str(attributes["mode"]) == "po2":
        if is_float:
            raise ParameterError("a range of powers of two needs an integer or index type")
        return parameter_values.powers_of_two(int(low), int(high))
    if is_float:
        return parameter_values.linear(float(low), float(high), None if step is None else float(step), True)
    return parameter_values.linear(int(low), int(high), None if step is None else int(step), False)


def plan_case(op: Operation) -> CasePlan:
    """Sort a case's ops into phases and compute its parameter domains; problems become planning issues."""
    plan = CasePlan(op, op.symbol or "?")
    seen: set[str] = set()
    for inner in op.body().operations:
        if inner.definition.is_terminator:
            break
        if inner.name.startswith("check.param."):
            _add_parameter(plan, inner, seen)
        elif inner.name in REQUIREMENTS:
            plan.requirements.append(inner)
        elif inner.name in ACTIONS:
            plan.actions.append(inner)
        elif inner.name in EXPECTATIONS:
            plan.expectations.append(inner)
        elif inner.name in OUTPUTS:
            plan.outputs.append(inner)
        elif inner.name in VALUE_SOURCES or _is_host_scalar(inner):
            plan.values.append(inner)
        else:
            plan.issues.append(_planning(inner, "CHECK/001", f"'{inner.name}' has no place in a check.case"))
    _check_phases(plan)
    return plan


def _is_host_scalar(op: Operation) -> bool:
    """Whether the op computes scalars that the host can evaluate."""
    return op.name.split(".", 1)[0] in ("scalar", "index", "config") and not op.regions


def _add_parameter(plan: CasePlan, op: Operation, seen: set[str]) -> None:
    try:
        domain = _domain(op)
    except (ParameterError, ValueError, OverflowError) as problem:
        plan.issues.append(_planning(op, "CHECK/005", f"parameter without values: {problem}"))
        return
    name = op.attributes.get("name")
    label = str(name) if isinstance(name, str) else None
    if label is not None:
        if label in seen:
            plan.issues.append(_planning(op, "CHECK/004", f"a second parameter is named '{label}'"))
        seen.add(label)
    plan.parameters.append(Parameter(op, domain, label))


def _check_phases(plan: CasePlan) -> None:
    """Value sources come before all calls, so none may depend on what a call returns."""
    produced = {result for op in plan.actions for result in op.results}
    for op in plan.values:
        if any(operand in produced for operand in op.operands):
            plan.issues.append(
                _planning(
                    op,
                    "CHECK/008",
                    f"'{op.name}' depends on the result of a call: values are made before all calls",
                    "use the result in expectations or as an argument of a later call",
                )
            )


@dataclass(slots=True)
class BenchmarkPlan:
    """A benchmark: its case with some parameters pinned to one value."""

    op: Operation | None
    name: str
    case: CasePlan
    pinned: dict[int, Any] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)

    def domains(self) -> list[Domain]:
        """Parameter domains with the pinned ones reduced to their value."""
        return [
            Domain((self.pinned[i],)) if i in self.pinned else parameter.domain
            for i, parameter in enumerate(self.case.parameters)
        ]


def default_benchmark_name(case: str) -> str:
    """The case's name without a trailing ``_case``."""
    return case.removesuffix("_case")


def plan_benchmark(op: Operation, module: Module) -> BenchmarkPlan | Issue:
    """Resolve a benchmark's case and assignments; an unknown case is an issue of its own."""
    case_name = str(op.attributes["case"])
    case = module.symbol(case_name)
    if case is None or case.name != "check.case":
        return _planning(op, "CHECK/009", f"'@{case_name}' is not a check.case of this module")
    plan = plan_case(case)
    name = op.attributes.get("sym_name")
    benchmark = BenchmarkPlan(op, str(name) if name else default_benchmark_name(case_name), plan)
    benchmark.issues.extend(plan.issues)
    names = {parameter.name: i for i, parameter in enumerate(plan.parameters) if parameter.name is not None}
    for key, value in extra_attributes(op).items():
        position = names.get(key)
        if position is None:
            known = ", ".join(sorted(names)) or "none"
            benchmark.issues.append(
                _planning(
                    op,
                    "CHECK/002",
                    f"case '@{case_name}' has no parameter named '{key}'",
                    f"parameters that can be assigned: {known}",
                )
            )
            continue
        try:
            benchmark.pinned[position] = plan.parameters[position].domain.find(value)
        except (ParameterError, TypeError) as problem:
            benchmark.issues.append(_planning(op, "CHECK/003", f"parameter '{key}': {problem}"))
    return benchmark


def cases(module: Module) -> list[Operation]:
    """The cases of a module in source order."""
    return [op for op in module.operations if op.name == "check.case"]


def scenarios(module: Module) -> list[Operation]:
    """The scenarios of a module in source order."""
    return [op for op in module.operations if op.name == "check.scenario"]


def benchmarks(module: Module) -> list[Operation]:
    """The benchmarks of a module in source order."""
    return [op for op in module.operations if op.name == "check.benchmark"]
