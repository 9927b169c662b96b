"""``iree-benchmark-loom``: gate the benchmarks of a module on their cases, then measure them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from loom.diagnostics import Diagnostic, LoomError, error
from loom.tools.common import Progress, json_text, make_parser, read_text, report, run_tool, write_output
from loom.tools.compile_reports import report_document, write_reports
from loom.tools.iree_test_loom import (
    add_shared_arguments,
    compile_reports,
    open_executor,
    run_options,
    source_files,
)

if TYPE_CHECKING:
    from loom.check.benchmark import BenchmarkRun, Request
    from loom.check.executor import Executor
    from loom.check.issues import Issue
    from loom.check.profile import ProfileRequest

DESCRIPTION = """Measure the benchmarks of a Loom module.

A benchmark runs its correctness case first and is measured only where that passes. A simulator gives no times: rows
then carry instruction counts and say 'unavailable', and with --require-measurement the exit code is 3. On
--device=reference times are host times and are labelled so.
Exit code 0: done; 1: a gate failed; 2: bad input or an unknown benchmark; 3: device or required time unavailable."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_shared_arguments(parser)
    add = parser.add_argument
    add("--benchmark", action="append", default=[], metavar="@B", help="only this benchmark (repeat)")
    add("--output", default=None, metavar="FILE", help="write there instead of stdout")
    add("--output-format", choices=("snapshot", "jsonl"), default="snapshot", help="one document, or JSON lines")
    add(
        "--measure",
        choices=("case_end_to_end", "dispatch_complete"),
        default="case_end_to_end",
        help="inputs, calls and results together (default), or the launches alone",
    )
    add("--iterations", type=int, default=10, metavar="N", help="batches at least (default 10)")
    add("--warmup-iterations", type=int, default=2, metavar="N", help="repetitions before the first (default 2)")
    add("--batch-size", type=int, default=1, metavar="N", help="repetitions timed together (default 1)")
    add("--min-time-ms", type=float, default=0.0, metavar="MS", help="measure at least this long")
    add("--warmup-time-ms", type=float, default=0.0, metavar="MS", help="warm up at least this long")
    add("--max-batches", type=int, default=1000, metavar="N", help="batches at most (default 1000)")
    add("--stable-p90-to-p50-ppm", type=int, default=0, metavar="PPM", help="go on until p90 is this near the median")
    add("--input-ring-count", type=int, default=0, metavar="N", help="input sets used in turn (0: by size)")
    add("--input-ring-min-bytes", type=int, default=33554432, metavar="BYTES", help="size of the ring (default 32 MiB)")
    add(
        "--sample-compilation",
        choices=("once", "per_sample", "both"),
        default="once",
        help="compile kernels once for all samples, for each sample with its values as facts, or measure both ways",
    )
    add("--compare", default=None, metavar="@A,@B", help="benchmarks to compare; the first is the baseline")
    add("--interleave", default="round_robin", metavar="ABABA|round_robin", help="order of batches when comparing")
    add("--repetitions", type=int, default=2, metavar="N", help="times a comparison is repeated")
    add("--require-measurement", action="store_true", help="exit 3 where a time is unavailable")
    add(
        "--profile-final-batch",
        nargs="?",
        const="true",
        choices=("true", "false"),
        default=None,
        help="replay one batch under the device's counters (implied by the other profile flags)",
    )
    add("--profile-data", default=None, metavar="FAMILY,..", help="families of profiling data, such as counters")
    add("--profile-counter", action="append", default=[], metavar="NAME", help="only these counters (repeat)")
    add("--profile-artifacts-dir", default=None, metavar="DIR", help="write the replays there as JSON")
    add("--artifact-bundle-dir", default=None, metavar="DIR", help="write a folder of artifacts for each row")
    add(
        "--artifact-bundle-policy",
        choices=("minimal", "debug", "full"),
        default="minimal",
        help="code objects (default), with source and reports, or with the gate's outcome as well",
    )
    add(
        "--artifact-manifest",
        choices=("none", "summary", "details", "analysis"),
        default="none",
        help="a manifest of each kernel in debug and full bundles",
    )


_POSITIVE = ("iterations", "batch_size", "max_batches", "repetitions")
_NOT_NEGATIVE = (
    "warmup_iterations",
    "min_time_ms",
    "warmup_time_ms",
    "stable_p90_to_p50_ppm",
    "input_ring_count",
    "input_ring_min_bytes",
)


def _request(args: argparse.Namespace) -> Request:
    from pathlib import Path

    from loom.check.benchmark import Request
    from loom.check.measure import Policy, interleave_order

    for names, least in ((_POSITIVE, 1), (_NOT_NEGATIVE, 0)):
        for name in names:
            if getattr(args, name) < least:
                raise error(f"--{name.replace('_', '-')} must be at least {least}", "TOOL/001")
    compared = tuple(name.strip().removeprefix("@") for name in (args.compare or "").split(",") if name.strip())
    if args.compare is not None:
        if len(compared) < 2 or len(set(compared)) != len(compared):
            raise error("--compare takes two or more different benchmarks", "TOOL/001", hint="--compare=@a,@b")
        try:
            interleave_order(args.interleave, len(compared))
        except ValueError as problem:
            raise error(f"--interleave: {problem}", "TOOL/001") from None
        if args.benchmark or args.case:
            raise error("--compare names the benchmarks itself: leave --benchmark and --case out", "TOOL/001")
        if args.sample_compilation == "both":
            raise error("--compare takes one --sample-compilation, once or per_sample", "TOOL/001")
    policy = Policy(
        args.measure,
        args.iterations,
        args.warmup_iterations,
        args.batch_size,
        args.min_time_ms,
        args.warmup_time_ms,
        args.max_batches,
        args.stable_p90_to_p50_ppm,
        args.input_ring_count,
        args.input_ring_min_bytes,
    )
    return Request(
        tuple(name.removeprefix("@") for name in args.benchmark),
        tuple(name.removeprefix("@") for name in args.case),
        args.sample,
        args.max_samples_per_case,
        policy,
        compared,
        args.interleave,
        args.repetitions,
        args.dry_run,
        args.require_measurement,
        Path(args.artifact_bundle_dir) if args.artifact_bundle_dir else None,
        args.artifact_bundle_policy,
        args.artifact_manifest,
        _embedded_report(args),
        args.sample_compilation,
        _profile(args),
    )


def _embedded_report(args: argparse.Namespace) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """What of a compile's report goes into its row."""
    if args.compile_report == "none":
        return None
    return lambda report: report_document(report, args.compile_report)


def _profile(args: argparse.Namespace) -> ProfileRequest | None:
    """What is to be profiled; None where nothing was asked for, or ``--profile-final-batch=false`` forbids it."""
    from loom.check.profile import DEFAULT_FAMILIES, FAMILIES, ProfileRequest

    named = [word.strip() for word in (args.profile_data or "").split(",") if word.strip()]
    for word in named:
        if word not in FAMILIES:
            raise error(
                f"--profile-data: there is no family '{word}'", "TOOL/001", hint=f"families: {', '.join(FAMILIES)}"
            )
    asked = args.profile_data or args.profile_counter or args.profile_artifacts_dir
    if args.profile_final_batch == "false" or not (args.profile_final_batch or asked):
        return None
    return ProfileRequest(tuple(named) or DEFAULT_FAMILIES, tuple(args.profile_counter))


def _write(outcome: BenchmarkRun, args: argparse.Namespace) -> None:
    from loom.check.benchmark_output import jsonl, snapshot

    text = jsonl(outcome) if args.output_format == "jsonl" else json_text(snapshot(outcome))
    write_output(args.output, text)
    if args.profile_artifacts_dir:
        replays = [
            {
                "candidate_id": item.candidate_id,
                "profile_replay": item.profile.replay(),
                "launches": item.profile.launches,
            }
            for item in outcome.items
            if item.profile is not None
        ]
        write_output(f"{args.profile_artifacts_dir}/profiles.json", json_text(replays))


def run(argv: Sequence[str]) -> int:
    """Parse the command line, run the benchmarks, print the document."""
    parser = make_parser("iree-benchmark-loom", DESCRIPTION)
    _arguments(parser)
    args = parser.parse_args(list(argv))
    from loom.check.benchmark import BenchmarkRun, run_benchmarks
    from loom.check.issues import from_error
    from loom.check.measure import Policy
    from loom.ir.verifier import verify
    from loom.text import parse_module

    name = "<stdin>" if args.file == "-" else args.file
    request = None
    try:
        request = _request(args)
        options = run_options(args)
        module = parse_module(read_text(args.file), name)
        verify(module)
    except LoomError as failure:
        broken = BenchmarkRun(name, request.policy if request is not None else Policy(), dry_run=args.dry_run)
        broken.failures.extend(from_error(failure, "planning"))
        _write(broken, args)
        raise
    opened: list[Executor] = []

    def open_device() -> Executor:
        opened.append(open_executor(args.device or "reference", module, options))
        return opened[-1]

    with Progress(None, "benchmarks") as progress:
        outcome = run_benchmarks(
            module,
            open_device,
            options,
            source_files(args),
            request,
            progress.update,
        )
    _write(outcome, args)
    if args.compile_report.startswith("text") or args.compile_report_output != "stderr":
        write_reports(compile_reports(opened), args)
    _summarize(outcome, args.diagnostic_format)
    return int(outcome.exit_code)


def _summarize(outcome: BenchmarkRun, diagnostic_format: str) -> None:
    """Failures as diagnostics, a line a skipped sample and a line a row, on stderr."""
    report([Diagnostic(i.message, i.code, i.location, hint=i.hint) for i in outcome.failures], diagnostic_format)
    if diagnostic_format == "json":
        return
    for row in outcome.skipped:
        print(f"@{row['benchmark']} sample {row['sample_ordinal']}: skipped: {row['message']}", file=sys.stderr)
    for item in outcome.items:
        print(f"@{item.benchmark.name} {_parameters(item.parameters)}: {_state(item)}", file=sys.stderr)
    for row in outcome.comparisons:
        print(f"{row['candidate']} against {row['baseline']}: ratio {row['ratio_p50']:.4f}", file=sys.stderr)


def _parameters(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "(no parameters)"


def _state(item: Any) -> str:
    from loom.check.measure import statistics

    if item.measurement is not None:
        clock = {"host_monotonic": "host time", "device_events": "device time"}[item.measurement.clock]
        return f"p50 {statistics(item.measurement.batches)['p50'] / 1000:.1f} us ({clock})"
    if item.gate is not None and item.gate.issues:
        return f"gate failed: {_placed(item.gate.issues[0])}"
    if item.failure is not None:
        return f"failed: {_placed(item.failure)}"
    if item.unavailable is not None:
        return f"time unavailable: {item.unavailable}"
    return str(item.state)


def _placed(issue: Issue) -> str:
    """An issue's place, message and code in one line."""
    place = issue.location
    where = f"{place.file}:{place.line}:{place.column}: " if place is not None else ""
    return f"{where}{issue.message} [{issue.code}]"


def main() -> int:
    """Entry point of the console script."""
    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())
