"""A test run: which samples to run, and the ``loom.test.v0`` document that tells what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from loom.check import requirements
from loom.check.execute import Files, SampleResult, run_sample
from loom.check.executor import Executor, ReferenceExecutor, RunOptions
from loom.check.issues import Issue, from_defect, from_error
from loom.check.parameters import assignment, assignments
from loom.check.plan import MAX_SAMPLES, CasePlan, cases, plan_case, scenarios
from loom.check.scenario import ScenarioPlan, plan_scenario, run_trial
from loom.diagnostics import ExitCode, Location, LoomError
from loom.ir import Module, Operation

SCHEMA = "loom.test.v0"


@dataclass(frozen=True, slots=True)
class Tolerated:
    """A case whose failure is expected (``must_fail``) or allowed, with the issue codes it may have (empty: any)."""

    case: str
    codes: frozenset[str]
    must_fail: bool


@dataclass(slots=True)
class Selection:
    """Which cases and samples to run: all for an empty ``case_names`` and ``sample`` -1."""

    case_names: tuple[str, ...] = ()
    sample: int = -1
    max_samples: int = MAX_SAMPLES
    dry_run: bool = False
    tolerated: tuple[Tolerated, ...] = ()


@dataclass(slots=True)
class TestRun:
    """The outcome of a run."""

    module: str
    device: Mapping[str, Any] = field(default_factory=dict)
    case_count: int = 0
    samples: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    planning: list[Issue] = field(default_factory=list)
    planned: list[dict[str, Any]] = field(default_factory=list)
    failed: int = 0
    tolerated_failures: int = 0
    samples_left_out: int = 0
    """Samples that the limit of samples in a case kept from running."""
    unavailable: bool = False
    bad_input: bool = False
    dry_run: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """0; 1 for a failed sample or an unplannable case; 2 for names that do not exist; 3 for an absent device;
        4 where a sample met a defect of this program."""
        if self.bad_input:
            return ExitCode.BAD_INPUT
        kinds = [issue.kind for issue in self.planning]
        kinds += [issue["kind"] for sample in self.samples for issue in sample["issues"]]
        if "internal" in kinds:
            return ExitCode.INTERNAL
        if self.unavailable:
            return ExitCode.UNAVAILABLE
        return ExitCode.EVIDENCE_FAILED if self.failed or self.planning else ExitCode.SUCCESS

    def to_json(self) -> dict[str, Any]:
        """The ``loom.test.v0`` document."""
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "module": self.module,
            "device": dict(self.device),
            "case_count": self.case_count,
            "sample_count": len(self.samples),
            "failed_sample_count": self.failed,
            "skipped_case_count": len(self.skipped),
            "planning_issue_count": len(self.planning),
            "samples": self.samples,
            "skipped_cases": self.skipped,
            "planning_issues": [issue.to_json() for issue in self.planning],
        }
        if self.tolerated_failures:
            document["tolerated_failure_count"] = self.tolerated_failures
        if self.samples_left_out:
            document["left_out_sample_count"] = self.samples_left_out
        if self.dry_run:
            document["dry_run"] = True
            document["planned_cases"] = self.planned
        return document


def _selected(names: Iterable[str], wanted: tuple[str, ...]) -> list[str]:
    return [name for name in names if not wanted or name in wanted]


def run_tests(
    module: Module,
    executor: Callable[[], Executor],
    options: RunOptions,
    files: Files,
    selection: Selection | None = None,
    progress: Callable[[int, str], None] | None = None,
) -> TestRun:
    """Plan and run the selected cases and scenarios. Problems of the module's checks are in the result, not raised.

    ``executor`` opens the device; it is called when the first sample needs it.
    """
    chosen = selection or Selection()
    run = TestRun(module.filename, dry_run=chosen.dry_run)
    case_plans = [plan_case(op) for op in cases(module)]
    scenario_plans = [plan_scenario(op) for op in scenarios(module)]
    known = {plan.name for plan in case_plans} | {plan.name for plan in scenario_plans}
    for name in dict.fromkeys([*chosen.case_names, *(tolerated.case for tolerated in chosen.tolerated)]):
        if name not in known:
            hint = f"cases: {', '.join('@' + k for k in sorted(known)) or 'none'}"
            run.planning.append(Issue("planning", "CHECK/050", f"there is no case '@{name}'", None, hint))
            run.bad_input = True
    runner = _Runner(module, executor, options, files, chosen, run, progress)
    for plan in case_plans:
        if _selected([plan.name], chosen.case_names):
            run.case_count += 1
            runner.guarded(plan.name, plan.op, partial(runner.case, plan))
    for scenario in scenario_plans:
        if _selected([scenario.name], chosen.case_names):
            run.case_count += 1
            runner.guarded(scenario.name, scenario.op, partial(runner.scenario, scenario))
    runner.close()
    return run


class _Runner:
    """Runs plans against one executor and enters the outcomes."""

    def __init__(
        self,
        module: Module,
        executor: Callable[[], Executor],
        options: RunOptions,
        files: Files,
        selection: Selection,
        run: TestRun,
        progress: Callable[[int, str], None] | None,
    ) -> None:
        self.module, self.options, self.files = module, options, files
        self.selection, self.run, self.progress = selection, run, progress
        self._open = executor
        self._executor: Executor | None = None
        self._refused: LoomError | None = None

    def executor(self) -> Executor:
        """The executor, opened on first use."""
        if self._refused is not None:
            raise self._refused
        if self._executor is None:
            try:
                self._executor = self._open()
            except LoomError as failure:
                self._refused = failure
                raise
            self.run.device = self._executor.identity()
        return self._executor

    def close(self) -> None:
        """Release the device."""
        if self._executor is not None:
            self._executor.close()

    def guarded(self, name: str, op: Operation, step: Callable[[], None]) -> None:
        """Run a case or scenario; a defect of this program outside of its samples is an issue, and the others go on."""
        try:
            step()
        except Exception as failure:
            self._unplannable(name, [from_defect(failure, op.location)])

    def _device(self) -> Executor | None:
        try:
            return self.executor()
        except LoomError as failure:
            if not any(issue.code == failure.diagnostics[0].code for issue in self.run.planning):
                self.run.planning.extend(from_error(failure, "execution"))
            self.run.unavailable = failure.exit_code == ExitCode.UNAVAILABLE
            return None

    def case(self, plan: CasePlan) -> None:
        """Run the samples of a case."""
        if plan.issues:
            self._unplannable(plan.name, plan.issues)
            return
        if self.selection.dry_run:
            self._plan_only(plan.name, plan.sample_count, [parameter.label for parameter in plan.parameters])
            return
        device = self._device()
        if device is None:
            return
        skip = requirements.evaluate(plan.requirements, device.surroundings())
        if skip is not None:
            self.run.skipped.append({"case": plan.name, **skip.to_json()})
            return
        domains = [parameter.domain for parameter in plan.parameters]
        if self.selection.sample >= 0:
            if self.selection.sample >= plan.sample_count:
                self._no_sample(plan.name, plan.sample_count)
                return
            numbered = [(self.selection.sample, assignment(domains, self.selection.sample))]
        else:
            numbered = list(assignments(domains, self.selection.max_samples))
            self.run.samples_left_out += plan.sample_count - len(numbered)
        for ordinal, values in numbered:
            result = run_sample(plan, ordinal, values, device, self.files, self.options.config, self.module)
            self._enter(result, plan.op.location)

    def scenario(self, plan: ScenarioPlan) -> None:
        """Run the trials of a scenario."""
        if plan.issues:
            self._unplannable(plan.name, plan.issues)
            return
        if self.selection.dry_run:
            self._plan_only(plan.name, plan.sample_count, [])
            return
        device = self._device()
        if device is None:
            return
        if self.selection.sample >= plan.sample_count:
            self._no_sample(plan.name, plan.sample_count)
            return
        oracle = ReferenceExecutor(self.module, self.options)
        for done, (ordinal, configuration, index, number) in enumerate(plan.samples()):
            if self.selection.sample >= 0:
                if ordinal != self.selection.sample:
                    continue
            elif done >= self.selection.max_samples:
                self.run.samples_left_out += plan.sample_count - done
                break
            self._enter(
                run_trial(
                    plan,
                    ordinal,
                    configuration,
                    index,
                    number,
                    device,
                    self.files,
                    self.options.config,
                    self.module,
                    oracle,
                ),
                plan.op.location,
            )

    def _unplannable(self, name: str, issues: list[Issue]) -> None:
        for issue in issues:
            issue.details = {**issue.details, "case": name}
        self.run.planning.extend(issues)

    def _no_sample(self, name: str, count: int) -> None:
        self.run.planning.append(
            Issue("planning", "CHECK/051", f"case '@{name}' has {count} samples, none numbered {self.selection.sample}")
        )

    def _plan_only(self, name: str, count: int, labels: list[str]) -> None:
        limited = 1 if self.selection.sample >= 0 else min(count, self.selection.max_samples)
        self.run.planned.append({"case": name, "sample_count": limited, "parameters": labels})

    def _enter(self, result: SampleResult, place: Location | None) -> None:
        record = result.to_json()
        tolerated = next((t for t in self.selection.tolerated if t.case == result.case), None)
        failed = not result.passed
        if tolerated is not None:
            codes = {issue.code for issue in result.issues}
            excused = failed and (not tolerated.codes or codes <= tolerated.codes)
            if excused:
                record["tolerated"] = "xfail" if tolerated.must_fail else "allow-failure"
                self.run.tolerated_failures += 1
                failed = False
            elif not failed and tolerated.must_fail:
                record["passed"] = False
                unexpected = Issue("expectation", "CHECK/052", "the case was expected to fail and passed", place)
                record["issues"] = [unexpected.to_json()]
                failed = True
        if failed:
            self.run.failed += 1
        self.run.samples.append(record)
        if self.progress is not None:
            self.progress(len(self.run.samples), result.case)
