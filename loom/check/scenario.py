"""Scenarios: randomized trials that run a function on the target and compare it with the reference executor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loom.check.entropy import Entropy, as_signed, scenario_stream, trial_stream
from loom.check.execute import Files, SampleResult, Scope, ValueFailure, kind_of
from loom.check.executor import Executor, ReferenceExecutor, Value
from loom.check.issues import Issue, from_defect, from_error
from loom.check.plan import EXPECTATIONS, VALUE_SOURCES
from loom.check.tensor import Storage, Tensor
from loom.diagnostics import LoomError
from loom.ir import Operation
from loom.ir import Value as SsaValue

_ENTROPY = frozenset({"check.entropy.fork", "check.entropy.read"})
_CONFIGURATION = frozenset({"check.literal", "check.trial"}) | _ENTROPY


@dataclass(slots=True)
class ScenarioPlan:
    """A scenario: its configuration ops, its trials, and what is wrong with it."""

    op: Operation
    name: str
    configurations: int
    setup: list[Operation] = field(default_factory=list)
    trials: list[Operation] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)

    def samples(self) -> Iterator[tuple[int, int, int, int]]:
        """(ordinal, configuration, trial index, trial ordinal) in execution order."""
        ordinal = 0
        for configuration in range(self.configurations):
            for index, trial in enumerate(self.trials):
                for number in range(_count(trial)):
                    yield ordinal, configuration, index, number
                    ordinal += 1

    @property
    def sample_count(self) -> int:
        """All repetitions of all trials."""
        return self.configurations * sum(_count(trial) for trial in self.trials)


def _count(trial: Operation) -> int:
    count: Any = trial.attributes["count"]
    return int(count)


def plan_scenario(op: Operation) -> ScenarioPlan:
    """Sort a scenario's ops; misplaced ones become planning issues."""
    configurations: Any = op.attributes.get("configurations")
    plan = ScenarioPlan(op, op.symbol or "?", int(configurations or 1))
    for inner in op.body().operations:
        if inner.definition.is_terminator:
            break
        if inner.name == "check.trial":
            plan.trials.append(inner)
            _check_trial(plan, inner)
        elif inner.name in _CONFIGURATION:
            plan.setup.append(inner)
        else:
            plan.issues.append(
                Issue(
                    "planning",
                    "CHECK/001",
                    f"'{inner.name}' has no place in the configuration of a scenario",
                    inner.location,
                    "it holds check.literal, check.entropy.fork and check.entropy.read; tensors belong to trials",
                )
            )
    if not plan.trials:
        plan.issues.append(Issue("planning", "CHECK/007", f"scenario '@{plan.name}' has no trial", op.location))
    return plan


def _check_trial(plan: ScenarioPlan, trial: Operation) -> None:
    terminator = trial.body().last
    if terminator is None or terminator.name not in ("check.compare", "check.invoke"):
        plan.issues.append(
            Issue("planning", "CHECK/007", "a trial ends in check.compare or check.invoke", trial.location)
        )


class _CompareScope(Scope):
    """Expectations of a comparison: tensors of the trial are the target's copy as actual, the oracle's as expected."""

    target_copies: dict[SsaValue, Value]
    oracle_copies: dict[SsaValue, Value]

    def lookup(self, name: SsaValue, role: str) -> Value:
        copies = self.target_copies if role == "actual" else self.oracle_copies
        return copies[name] if name in copies else self.values[name]


def _copies(values: Mapping[SsaValue, Value]) -> dict[SsaValue, Value]:
    """Disjoint copies of a trial's tensors; tensors that share a storage share the copy."""
    storages: dict[int, Storage] = {}
    copies: dict[SsaValue, Value] = {}
    for name, value in values.items():
        if not isinstance(value, Tensor):
            continue
        storage = value.storage
        if id(storage) not in storages:
            storages[id(storage)] = Storage(storage.data.copy(), storage.name)
        copies[name] = Tensor(storages[id(storage)], value.shape, value.form, value.offset, value.name)
    return copies


def _evaluate(scope: Scope, op: Operation) -> None:
    """Run one op of a configuration or trial body."""
    if op.name == "check.entropy.fork":
        entropy: Entropy = scope.values[op.operands[0]]
        scope.values[op.results[0]] = entropy.fork(str(op.attributes["name"]))
    elif op.name == "check.entropy.read":
        entropy = scope.values[op.operand("entropy")]
        entries = op.index_list("indices")
        places = [entry if isinstance(entry, int) else int(scope.number(entry)) for entry in entries]
        for place in places[:-1]:
            entropy = entropy.at(place)
        scope.set(op.results[0], np.array([as_signed(entropy.read(places[-1]))], np.int64))
    elif op.name in EXPECTATIONS or op.regions:
        raise ValueFailure(Issue("planning", "CHECK/001", f"'{op.name}' has no place here", op.location))
    else:
        scope.evaluate(op)


def run_trial(
    plan: ScenarioPlan,
    ordinal: int,
    configuration: int,
    index: int,
    number: int,
    executor: Executor,
    files: Files,
    config: Mapping[str, Any],
    module: Any,
    oracle: ReferenceExecutor,
) -> SampleResult:
    """Run one repetition of one trial in one configuration."""
    result = SampleResult(
        plan.name, ordinal, {}, extra={"configuration": configuration, "trial": index, "trial_ordinal": number}
    )
    scope = _CompareScope(executor, files, config, module)
    scope.target_copies, scope.oracle_copies = {}, {}
    executor.events.clear()
    stream = scenario_stream(plan.name)
    arguments = plan.op.body().arguments
    if len(arguments) == 2:
        scope.set(arguments[0], np.array([configuration], np.int64))
        scope.values[arguments[1]] = stream
    trial = plan.trials[index]
    body = trial.body()
    place, entropy = body.arguments
    scope.set(place, np.array([number], np.int64))
    scope.values[entropy] = trial_stream(stream, configuration, index, number)
    terminator = body.last
    assert terminator is not None
    try:
        for op in [*plan.setup, *(op for op in body.operations if op is not terminator)]:
            _evaluate(scope, op)
        _finish(scope, terminator, executor, oracle, result)
    except ValueFailure as failure:
        result.issues.append(failure.issue)
    except LoomError as failure:
        result.issues.extend(from_error(failure, kind_of(failure), terminator.location))
    except Exception as failure:
        result.issues.append(from_defect(failure, terminator.location))
    result.launches = scope.launches
    return result


def _finish(
    scope: _CompareScope, op: Operation, executor: Executor, oracle: ReferenceExecutor, result: SampleResult
) -> None:
    names = op.operand_group("arguments")
    values = [(name, scope.values[name]) for name in names]
    scope.target_copies = _copies(scope.values)
    target = str(op.attributes["target"])
    actual = executor.call(op, target, [scope.target_copies.get(name, value) for name, value in values])
    if op.name == "check.invoke":
        return
    scope.oracle_copies = _copies(scope.values)
    second = str(op.attributes.get("oracle") or target)
    expected = oracle.call(op, second, [scope.oracle_copies.get(name, value) for name, value in values])
    block = op.body()
    for argument, value in zip(block.arguments, _bound(op, actual, expected), strict=True):
        scope.set(argument, value)
    for inner in block.operations:
        if inner.definition.is_terminator:
            break
        if inner.name in EXPECTATIONS:
            issue = scope.expectation(inner)
            if issue is not None:
                result.issues.append(issue)
        elif inner.name in VALUE_SOURCES:
            scope.evaluate(inner)
        else:
            raise ValueFailure(
                Issue("planning", "CHECK/001", f"'{inner.name}' has no place in check.compare", inner.location)
            )


def _bound(op: Operation, actual: Sequence[Value], expected: Sequence[Value]) -> list[Value]:
    """Values of the region's arguments: ``actual`` ones are the target's results in order, ``expected`` the
    oracle's."""
    bindings: Any = op.attributes.get("bindings") or ()
    sides = {"actual": iter(actual), "expected": iter(expected)}
    count = len(op.body().arguments)
    words = [str(word) for word in bindings]
    if len(words) != count:  # one word a side: its results in order
        words = ["actual"] * len(actual) + ["expected"] * len(expected)
    return [next(sides[word]) for word in words]
