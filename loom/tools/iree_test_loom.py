"""``iree-test-loom``: run the cases and scenarios of a module and print what happened as JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loom.diagnostics import ExitCode, LoomError, error
from loom.tools.common import Progress, make_parser, print_json, read_text, report, run_tool
from loom.tools.compile_reports import add_report_arguments, keep_apart, wants_rows, write_reports

if TYPE_CHECKING:
    from loom.check.executor import Executor, RunOptions
    from loom.check.testing import Tolerated
    from loom.ir import Module

DESCRIPTION = """Run the check cases and scenarios of a Loom module.

Prints a loom.test.v0 JSON document on stdout, complete whatever fails. Exit code 0: all samples passed or were skipped;
1: a sample failed or a case cannot be run as written; 2: bad input; 3: the device is absent.
Without --device, functions run on the reference executor and cases that launch kernels are reported as planning
issues."""


def add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags that the test and the benchmark command have in common."""
    parser.add_argument("file", metavar="FILE", help="a .loom module, or - for stdin")
    parser.add_argument("--device", default=None, help="reference, amdgpu, amdgpu-sim or amdgpu-hip")
    parser.add_argument("--case", action="append", default=[], metavar="@C", help="only this case (repeat)")
    parser.add_argument("--sample", type=int, default=-1, metavar="N", help="only sample N of each case (-1: all)")
    parser.add_argument(
        "--max-samples-per-case", type=int, default=4096, metavar="N", help="samples of a case at most (default 4096)"
    )
    parser.add_argument("--library", action="append", default=[], metavar="FILE", help="a module to link (repeat)")
    parser.add_argument("--target", default=None, metavar="FAMILY:SELECTOR", help="for example amdgpu:gfx1151")
    parser.add_argument("--config", action="append", default=[], metavar="KEY=VALUE", help="set a config value")
    parser.add_argument("--config-file", action="append", default=[], metavar="FILE", help="JSON with config values")
    parser.add_argument("--pipeline", default="default", help="default, none, @symbol or a pass list")
    parser.add_argument("--sanitizer", default="none", help="none, all, access, value, operation, race, joined by |")
    parser.add_argument(
        "--sanitizer-reporting",
        choices=("default", "trap", "report-only"),
        default="default",
        help="count findings that the case expects and fail on others (default), fail on all, or count all",
    )
    add_report_arguments(parser)
    parser.add_argument("--file-output-dir", default=None, metavar="DIR", help="where check.file.write.npy writes")
    parser.add_argument(
        "--operation-budget", type=int, default=None, metavar="N", help="operations after which a launch is endless"
    )
    parser.add_argument("--dry-run", action="store_true", help="plan only: print what would run")


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_shared_arguments(parser)
    parser.add_argument(
        "--xfail", action="append", default=[], metavar="@C[:CODE,..]", help="case must fail, with these issue codes"
    )
    parser.add_argument(
        "--allow-failure", action="append", default=[], metavar="@C[:CODE,..]", help="case may fail with these codes"
    )
    parser.add_argument("--output", default=None, metavar="FILE", help="write the document there instead of stdout")


def run_options(args: argparse.Namespace) -> RunOptions:
    """What the flags ask of compiling and running. Raises :class:`LoomError` for bad values and files."""
    import loom.target
    from loom.check.executor import RunOptions
    from loom.text import parse_module
    from loom.tools.options import read_config
    from loom.transform.pipeline import parse_pipeline
    from loom.transform.target import parse_target_selector, resolve_target

    loom.target.register_targets()
    keep_apart(args)
    if args.pipeline != "none":
        parse_pipeline(args.pipeline)  # a name that is no pass is bad usage, whether anything is compiled or not
    libraries = tuple(parse_module(read_text(path), path) for path in args.library)
    words = frozenset(word for word in args.sanitizer.split("|") if word and word != "none")
    unknown = words - {"all", "access", "value", "operation", "race"}
    if unknown:
        raise error(
            f"--sanitizer: unknown check '{min(unknown)}'",
            "TOOL/001",
            hint="none, or all, access, value, operation, race joined by |",
        )
    if args.max_samples_per_case <= 0:
        raise error("--max-samples-per-case must be positive", "TOOL/001")
    if args.sample < -1:
        raise error(f"--sample={args.sample} is no sample", "TOOL/001", hint="they count from 0; -1 means all of them")
    if args.operation_budget is not None and args.operation_budget <= 0:
        raise error("--operation-budget must be positive", "TOOL/001")
    return RunOptions(
        read_config(args.config, args.config_file),
        libraries,
        None if args.target is None else resolve_target(*parse_target_selector(args.target)),
        args.pipeline,
        words,
        args.sanitizer_reporting,
        args.operation_budget,
        wants_rows(args.compile_report),
    )


def open_executor(device: str | None, module: Module, options: RunOptions) -> Executor:
    """The executor of a device name; without one, the reference executor that refuses launches."""
    from loom.check.executor import HostExecutor, ReferenceExecutor

    if device is None:
        return HostExecutor(module, options)
    if device == "reference":
        return ReferenceExecutor(module, options)
    from loom.check.device_executor import open_executor as open_device_executor
    from loom.device.registry import check_name

    check_name(device, "reference")
    return open_device_executor(device, module, options, lambda line: print(line, file=sys.stderr))


def compile_reports(executors: Sequence[Executor]) -> list[dict[str, Any]]:
    """Reports of what the executors compiled, in the order of the compiles."""
    return [entry.report for executor in executors for entry in getattr(executor, "compiled", {}).values()]


def source_files(args: argparse.Namespace) -> Any:
    """Where the module's files are read and written."""
    from pathlib import Path

    from loom.check.execute import Files

    inputs = Path() if args.file == "-" else Path(args.file).parent
    return Files(inputs, Path(args.file_output_dir) if args.file_output_dir else inputs)


def _tolerated(args: argparse.Namespace) -> tuple[Tolerated, ...]:
    from loom.check.testing import Tolerated

    found = []
    for must_fail, entries in ((True, args.xfail), (False, args.allow_failure)):
        for entry in entries:
            name, _, codes = entry.partition(":")
            if not name.removeprefix("@"):
                raise error(f"'{entry}' names no case", "TOOL/001", hint="write @case or @case:CODE,CODE")
            listed = frozenset(code for code in codes.split(",") if code)
            found.append(Tolerated(name.removeprefix("@"), listed, must_fail))
    return tuple(found)


def run(argv: Sequence[str]) -> int:
    """Parse the command line, run the checks, print the document."""
    parser = make_parser("iree-test-loom", DESCRIPTION)
    _arguments(parser)
    args = parser.parse_args(list(argv))
    from loom.check.issues import from_error
    from loom.check.testing import Selection, TestRun, run_tests

    name = "<stdin>" if args.file == "-" else args.file
    try:
        from loom.ir.verifier import verify
        from loom.text import parse_module

        options = run_options(args)
        module = parse_module(read_text(args.file), name)
        verify(module)
        selection = Selection(
            tuple(case.removeprefix("@") for case in args.case),
            args.sample,
            args.max_samples_per_case,
            args.dry_run,
            _tolerated(args),
        )
    except LoomError as failure:
        broken = TestRun(name, dry_run=args.dry_run)
        broken.planning.extend(from_error(failure, "planning"))
        print_json(broken.to_json(), args.output)
        raise
    opened: list[Executor] = []

    def open_device() -> Executor:
        opened.append(open_executor(args.device, module, options))
        return opened[-1]

    with Progress(None, "samples") as progress:
        outcome = run_tests(
            module,
            open_device,
            options,
            source_files(args),
            selection,
            progress.update,
        )
    print_json(outcome.to_json(), args.output)
    write_reports(compile_reports(opened), args)
    _summarize(outcome, args.diagnostic_format)
    return int(outcome.exit_code)


def _summarize(outcome: Any, diagnostic_format: str) -> None:
    """Diagnostics of planning issues, a line a skip and an issue of a sample (hints once), and the count, on stderr."""
    from loom.diagnostics import Diagnostic

    report(
        [Diagnostic(issue.message, issue.code, issue.location, hint=issue.hint) for issue in outcome.planning],
        diagnostic_format,
    )
    if diagnostic_format == "json":
        return
    for row in outcome.skipped:
        print(f"SKIPPED @{row['case']}: {row['message']} [{row['reason_code']}]", file=sys.stderr)
    advised: set[str] = set()
    for sample in outcome.samples:
        if not sample["passed"] and "tolerated" not in sample:
            for issue in sample["issues"]:
                place = issue.get("location")
                where = f"{place['file']}:{place['line']}:{place['column']}: " if place else ""
                print(
                    f"FAILED @{sample['case']} sample {sample['sample_ordinal']}: {where}{issue['message']}"
                    f" [{issue['code']}]",
                    file=sys.stderr,
                )
                hint = issue.get("hint")
                if hint and hint not in advised:
                    advised.add(hint)
                    print(f"  hint: {hint}", file=sys.stderr)
    if outcome.dry_run:
        print(f"{sum(case['sample_count'] for case in outcome.planned)} samples planned, none run", file=sys.stderr)
        return
    total, failed = len(outcome.samples), outcome.failed
    skipped = f", {len(outcome.skipped)} cases skipped" if outcome.skipped else ""
    left = f", {outcome.samples_left_out} left out by --max-samples-per-case" if outcome.samples_left_out else ""
    print(f"{total - failed} of {total} samples passed{skipped}{left}", file=sys.stderr)


def main() -> int:
    """Entry point of the console script."""
    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())


__all__ = ["ExitCode", "add_shared_arguments", "main", "open_executor", "run", "run_options", "source_files"]
