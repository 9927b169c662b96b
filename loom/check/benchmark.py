"""Benchmarks: the correctness gate, then measurements, comparisons and artifact bundles.

A row of work is one sample of one benchmark. Nothing is measured that has not passed its case first, and a simulator
gives no time: its rows carry executed and static instruction counts, and say why the time is unavailable.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loom.check import requirements
from loom.check.execute import Files, SampleResult, Scope, ValueFailure, kind_of, prepare, run_sample
from loom.check.executor import Executor, RunOptions
from loom.check.issues import Issue, from_defect, from_error
from loom.check.measure import Measurement, Policy, Sampler, compare, ring_size, run_alone, run_interleaved
from loom.check.parameters import assignment, sample_count
from loom.check.plan import MAX_SAMPLES, BenchmarkPlan, benchmarks, plan_benchmark
from loom.check.profile import Profile, ProfileRequest
from loom.check.tensor import Tensor
from loom.diagnostics import ExitCode, LoomError
from loom.ir import Module

if TYPE_CHECKING:
    from loom.check.device_executor import CompiledEntry


@dataclass(slots=True)
class Request:
    """What is to be measured and how."""

    benchmark_names: tuple[str, ...] = ()
    case_names: tuple[str, ...] = ()
    sample: int = -1
    max_samples: int = MAX_SAMPLES
    policy: Policy = field(default_factory=Policy)
    compare: tuple[str, ...] = ()
    interleave: str = "round_robin"
    repetitions: int = 2
    dry_run: bool = False
    require_measurement: bool = False
    bundle_dir: Path | None = None
    bundle_policy: str = "minimal"
    artifact_manifest: str = "none"
    compile_report: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """What of a compile's report its row holds; None for nothing."""
    sample_compilation: str = "once"
    profile: ProfileRequest | None = None


@dataclass(slots=True)
class WorkItem:
    """One sample of one benchmark and what became of it: state ``planned``, ``failed``, ``measured`` or
    ``unavailable``."""

    index: int
    benchmark: BenchmarkPlan
    ordinal: int
    values: list[Any]
    compilation: str = "once"
    state: str = "planned"
    gate: SampleResult | None = None
    measurement: Measurement | None = None
    unavailable: str | None = None
    static_counts: dict[str, dict[str, int]] = field(default_factory=dict)
    data_cache: dict[str, Any] = field(default_factory=dict)
    profile: Profile | None = None
    failure: Issue | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameter values by name."""
        labels = [parameter.label for parameter in self.benchmark.case.parameters]
        return dict(zip(labels, self.values, strict=True))

    @property
    def identity(self) -> dict[str, Any]:
        """The fields by which the rows about an item find each other."""
        sample_id = f"{self.benchmark.case.name}#{self.ordinal}"
        return {"candidate_id": self.candidate_id, "candidate_index": self.index, "sample_id": sample_id}

    @property
    def candidate_id(self) -> str:
        """A stable name of the row: benchmark, case, parameter values, and how it was compiled."""
        identity: list[Any] = [self.benchmark.name, self.benchmark.case.name, self.parameters]
        if self.compilation != "once":
            identity.append(self.compilation)
        text = json.dumps(identity, sort_keys=True)
        return f"{self.benchmark.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@dataclass(slots=True)
class BenchmarkRun:
    """Everything a run found."""

    module: str
    policy: Policy
    device: Mapping[str, Any] = field(default_factory=dict)
    items: list[WorkItem] = field(default_factory=list)
    failures: list[Issue] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    repetitions: list[dict[str, Any]] = field(default_factory=list)
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    compiles: list[dict[str, Any]] = field(default_factory=list)
    dry_run: bool = False
    bad_input: bool = False
    device_absent: bool = False
    require_measurement: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """0; 1 for a failed gate or an unplannable benchmark; 2 for unknown names; 3 for an absent device or required
        time; 4 for a defect of this program."""
        if self.bad_input:
            return ExitCode.BAD_INPUT
        if self.device_absent:
            return ExitCode.UNAVAILABLE
        if any(issue.kind == "internal" for issue in self.failures):
            return ExitCode.INTERNAL
        if self.failures or any(item.state == "failed" for item in self.items):
            return ExitCode.EVIDENCE_FAILED
        if self.require_measurement and any(item.state != "measured" for item in self.items):
            return ExitCode.UNAVAILABLE
        return ExitCode.SUCCESS


class _Workbench:
    """Runs the work items of a module against one executor."""

    def __init__(
        self, module: Module, executor: Executor, options: RunOptions, files: Files, request: Request, run: BenchmarkRun
    ) -> None:
        self.module, self.executor, self.options = module, executor, options
        self.files, self.request, self.run = files, request, run

    def gate(self, item: WorkItem) -> bool:
        """Run the sample once with its expectations; nothing is measured where it fails."""
        self.choose(item)
        item.gate = run_sample(
            item.benchmark.case, item.ordinal, item.values, self.executor, self.files, self.options.config, self.module
        )
        if item.gate.issues:
            item.state = "failed"
            return False
        for entry in self._entries(item):
            item.static_counts[entry.kernel] = dict(entry.static_counts)
        return True

    def _entries(self, item: WorkItem) -> list[CompiledEntry]:
        compiled: Mapping[str, CompiledEntry] = getattr(self.executor, "compiled", {})
        names = {launch.entry for launch in item.gate.launches} if item.gate is not None else set()
        return [entry for name, entry in compiled.items() if name in names or name.startswith("call.")]

    def choose(self, item: WorkItem) -> None:
        """Have kernels compiled as the item asks: once, or for the sample's values."""
        self.executor.specialize = item.compilation == "per_sample"

    def can_time(self) -> str | None:
        """Why this device gives no time, or None where it does."""
        identity = self.executor.identity()
        if identity.get("kind") == "simulator":
            return "the device is a functional simulator: its run time says nothing about hardware"
        return None

    def sampler(self, item: WorkItem) -> Sampler:
        """A sampler over a ring of prepared inputs."""
        first = self._prepared(item)
        input_bytes = sum(s.size for s in {id(t.storage): t.storage for t in _tensors(first)}.values())
        count = ring_size(self.request.policy, input_bytes)
        ring = [first, *(self._prepared(item) for _ in range(count - 1))]
        item.data_cache = {"input_bytes": input_bytes, "input_ring_count": count}
        actions = item.benchmark.case.actions
        dispatch_only = self.request.policy.measure == "dispatch_complete"
        import time

        def repetition(number: int) -> int | None:
            self.choose(item)
            scope = ring[number % count]
            scope.launches.clear()
            start = time.perf_counter_ns()
            for op in actions:
                scope.act(op)
            elapsed = time.perf_counter_ns() - start
            if not dispatch_only:
                return None
            durations = [launch.duration_ns for launch in scope.launches]
            if durations and all(duration is not None for duration in durations):
                return sum(duration for duration in durations if duration is not None)
            return elapsed if self.executor.identity().get("timing") == "host" else None

        return Sampler(self.request.policy, repetition)

    def profile(self, item: WorkItem) -> None:
        """Replay one batch of a gated item, apart from what was timed, and keep what the device counts."""
        request = self.request.profile
        if request is None:
            return
        item.profile = Profile(request, self.request.policy.batch_size)
        if not item.profile.begin(self.executor.identity()):
            return
        self.choose(item)
        scope = self._prepared(item)
        try:
            for _ in range(self.request.policy.batch_size):
                for op in item.benchmark.case.actions:
                    scope.act(op)
        except LoomError as failure:
            item.profile.fail(failure)
            return
        item.profile.finish(scope.launches)

    def _prepared(self, item: WorkItem) -> Scope:
        scope = Scope(self.executor, self.files, self.options.config, self.module)
        issues: list[Issue] = []
        if not prepare(scope, item.benchmark.case, item.values, issues):
            raise ValueFailure(issues[0])
        return scope

    def measure(self, items: list[WorkItem]) -> None:
        """Measure gated items, one after the other or interleaved where a comparison was asked for."""
        reason = self.can_time()
        if reason is not None:
            for item in items:
                item.state, item.unavailable = "unavailable", reason
            return
        if self.request.compare:
            self._compare(items)
            return
        for item in items:
            self.guarded(item, self._measure_alone)

    def guarded(self, item: WorkItem, step: Callable[[WorkItem], None]) -> None:
        """Take a step with an item; what goes wrong is its failure, and the others go on."""
        try:
            step(item)
            return
        except ValueFailure as problem:
            issue = problem.issue
        except LoomError as problem:
            issue = from_error(problem, kind_of(problem))[0]
        except OSError as problem:
            issue = Issue("file", "CHECK/063", f"cannot write '{problem.filename}': {problem.strerror or problem}")
        except Exception as problem:
            issue = from_defect(problem)
        item.state, item.measurement = "failed", None
        item.failure = item.failure or issue
        self.run.failures.append(issue)

    def _measure_alone(self, item: WorkItem) -> None:
        item.measurement = run_alone(self.sampler(item))
        item.state = "measured"
        self._settle(item)

    def _settle(self, item: WorkItem) -> None:
        assert item.measurement is not None
        if item.measurement.clock == "device_events" and self.executor.identity().get("timing") == "host":
            item.measurement.clock = "host_monotonic"

    def _compare(self, items: list[WorkItem]) -> None:
        """Interleave the compared benchmarks, sample by sample, ``repetitions`` times; the first is the baseline."""
        groups = [[item for item in items if item.benchmark.name == name] for name in self.request.compare]
        if not all(groups) or len({len(group) for group in groups}) != 1:
            counts = ", ".join(
                f"@{name} {len(group)}" for name, group in zip(self.request.compare, groups, strict=True)
            )
            issue = Issue(
                "planning",
                "CHECK/062",
                f"the compared benchmarks have different numbers of measurable samples: {counts}",
                None,
                "assign parameters until each has as many, or choose one with --sample",
            )
            self.run.failures.append(issue)
            for item in items:
                item.state, item.failure = "failed", issue
            return
        for row in zip(*groups, strict=True):
            self.guarded(row[0], partial(self._compare_row, row))

    def _compare_row(self, row: Sequence[WorkItem], _: WorkItem) -> None:
        """Measure one sample of all candidates in turn."""
        ratios: list[dict[str, Any]] = []
        for repetition in range(self.request.repetitions):
            measured = run_interleaved([self.sampler(item) for item in row], self.request.interleave)
            for item, measurement in zip(row, measured, strict=True):
                item.measurement, item.state = measurement, "measured"
                self._settle(item)
                self.run.repetitions.append(
                    {
                        "repetition": repetition,
                        **item.identity,
                        "work_item_index": item.index,
                        **measurement.to_json(self.request.policy),
                    }
                )
            for item, measurement in zip(row[1:], measured[1:], strict=True):
                ratios.append(
                    {
                        "repetition": repetition,
                        **item.identity,
                        "baseline": row[0].candidate_id,
                        "candidate": item.candidate_id,
                        "interleave": self.request.interleave,
                        **compare(measured[0], measurement),
                    }
                )
        self.run.comparisons.extend(ratios)

    def _artifact_manifest(self, entry: CompiledEntry) -> dict[str, Any]:
        """A kernel's manifest: what was emitted, with ``details`` its instructions by class, with ``analysis`` the
        report."""
        manifest = dict(entry.manifest)
        if self.request.artifact_manifest in ("details", "analysis"):
            manifest["static_instruction_counts"] = dict(entry.static_counts)
        if self.request.artifact_manifest == "analysis":
            manifest["report"] = entry.report
        return manifest

    def bundle(self, item: WorkItem) -> None:
        """Write the artifacts of a row: ``minimal`` code object and manifest, ``debug`` with source and report,
        ``full``
        with the gate's result as well."""
        if self.request.bundle_dir is None:
            return
        folder = self.request.bundle_dir / item.candidate_id
        folder.mkdir(parents=True, exist_ok=True)
        manifest: dict[str, Any] = {
            "candidate_id": item.candidate_id,
            "benchmark": item.benchmark.name,
            "case": item.benchmark.case.name,
            "sample_ordinal": item.ordinal,
            "parameters": item.parameters,
            "policy": self.request.bundle_policy,
            "device": dict(self.run.device),
            "files": {},
        }
        contents: dict[str, bytes] = {}
        for entry in self._entries(item):
            contents[f"{entry.kernel}.hsaco"] = entry.code_object
            manifest.setdefault("kernels", {})[entry.kernel] = entry.manifest
            if self.request.bundle_policy != "minimal":
                contents[f"{entry.kernel}.report.json"] = _json_bytes(entry.report)
                if self.request.artifact_manifest != "none":
                    contents[f"{entry.kernel}.manifest.json"] = _json_bytes(self._artifact_manifest(entry))
        if self.request.bundle_policy != "minimal":
            from loom.text import print_module

            contents["module.loom"] = print_module(self.module).encode()
        if self.request.bundle_policy == "full" and item.gate is not None:
            contents["gate.json"] = _json_bytes(item.gate.to_json())
        for name, data in contents.items():
            (folder / name).write_bytes(data)
            manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
        (folder / "manifest.json").write_bytes(_json_bytes(manifest))


def _json_bytes(value: Any) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True, default=str) + "\n").encode()


def _tensors(scope: Scope) -> list[Tensor]:
    return [value for value in scope.values.values() if isinstance(value, Tensor)]


def _plans(module: Module, request: Request, run: BenchmarkRun) -> list[BenchmarkPlan]:
    """The selected benchmarks; unknown names and unplannable ones become failures."""
    plans: list[BenchmarkPlan] = []
    for op in benchmarks(module):
        planned = plan_benchmark(op, module)
        if isinstance(planned, Issue):
            run.failures.append(planned)
        else:
            plans.append(planned)
    wanted = [*request.benchmark_names, *request.compare]
    names = [plan.name for plan in plans]
    for name in dict.fromkeys(wanted):
        if name not in names:
            hint = f"benchmarks: {', '.join('@' + n for n in names) or 'none'}"
            run.failures.append(Issue("planning", "CHECK/060", f"there is no benchmark '@{name}'", None, hint))
            run.bad_input = True
    if wanted:
        plans = [plan for plan in plans if plan.name in wanted]
    if request.case_names:
        known = {plan.case.name for plan in plans}
        for name in request.case_names:
            if name not in known:
                run.failures.append(Issue("planning", "CHECK/050", f"no benchmark selects a case '@{name}'"))
                run.bad_input = True
        plans = [plan for plan in plans if plan.case.name in request.case_names]
    usable = []
    for plan in plans:
        if plan.issues:
            run.failures.extend(plan.issues)
        else:
            usable.append(plan)
    return usable


def _items(plans: list[BenchmarkPlan], request: Request, run: BenchmarkRun) -> None:
    for plan in plans:
        domains = plan.domains()
        count = sample_count(domains)
        if request.sample >= count:
            run.failures.append(
                Issue("planning", "CHECK/051", f"benchmark '@{plan.name}' has no sample {request.sample}")
            )
            run.bad_input = True
            continue
        ordinals = [request.sample] if request.sample >= 0 else range(min(count, request.max_samples))
        modes = ("once", "per_sample") if request.sample_compilation == "both" else (request.sample_compilation,)
        for ordinal in ordinals:
            for mode in modes:
                run.items.append(WorkItem(len(run.items), plan, ordinal, assignment(domains, ordinal), mode))


def run_benchmarks(
    module: Module,
    open_executor: Callable[[], Executor],
    options: RunOptions,
    files: Files,
    request: Request,
    progress: Callable[[int, str], None] | None = None,
) -> BenchmarkRun:
    """Plan, gate and measure. Problems are in the result, not raised."""
    run = BenchmarkRun(
        module.filename, request.policy, dry_run=request.dry_run, require_measurement=request.require_measurement
    )
    plans = _plans(module, request, run)
    _items(plans, request, run)
    if request.dry_run or not run.items:
        return run
    try:
        executor = open_executor()
    except LoomError as failure:
        run.failures.extend(from_error(failure, "execution"))
        run.device_absent = failure.exit_code == ExitCode.UNAVAILABLE
        return run
    try:
        run.device = executor.identity()
        bench = _Workbench(module, executor, options, files, request, run)
        passed = _gate_all(bench, executor, run, progress)
        bench.measure(passed)
        for item in passed:
            if item.state != "failed":
                bench.guarded(item, bench.profile)
            bench.guarded(item, bench.bundle)
        _collect(bench, run, request)
    finally:
        executor.close()
    return run


def _gate_all(
    bench: _Workbench, executor: Executor, run: BenchmarkRun, progress: Callable[[int, str], None] | None
) -> list[WorkItem]:
    passed: list[WorkItem] = []
    remaining: list[WorkItem] = []
    for item in run.items:
        skip = requirements.evaluate(item.benchmark.case.requirements, executor.surroundings())
        if skip is not None:
            run.skipped.append({"benchmark": item.benchmark.name, "sample_ordinal": item.ordinal, **skip.to_json()})
            continue
        remaining.append(item)
        if bench.gate(item):
            passed.append(item)
        if progress is not None:
            progress(len(remaining), item.benchmark.name)
    run.items = remaining
    for index, item in enumerate(run.items):
        item.index = index
    return passed


def _collect(bench: _Workbench, run: BenchmarkRun, request: Request) -> None:
    """Rows about compiles."""
    compiled: Mapping[str, CompiledEntry] = getattr(bench.executor, "compiled", {})
    for name, entry in compiled.items():
        row: dict[str, Any] = {
            "kernel": entry.kernel if "#" in name else name,
            "sample_compilation": "per_sample" if "#" in name else "once",
            "artifact_sha256": hashlib.sha256(entry.code_object).hexdigest(),
            "code_object_bytes": len(entry.code_object),
            "static_instruction_counts": dict(entry.static_counts),
        }
        if request.compile_report is not None:
            row["compile_report"] = request.compile_report(entry.report)
        run.compiles.append(row)
