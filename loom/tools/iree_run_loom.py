"""``iree-run-loom``: compile one kernel, launch it on buffers given as text, print or check the result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loom.diagnostics import ExitCode, error
from loom.tools.common import make_parser, read_text, report, run_tool, write_output
from loom.tools.compile_reports import add_report_arguments, wants_rows, write_reports

if TYPE_CHECKING:
    from loom.ir import Module, Operation
    from loom.raising.buffers import TypedBuffer
    from loom.raising.execution import NullPointer, ScalarValue
    from loom.target.amdgpu.compile import Compilation, CompiledKernel

DESCRIPTION = """Compile one kernel of a Loom module, launch it on buffers given as text, print or check the results.

Buffers are SHAPExTYPE=VALUES (64xf32=0, 4xi32=1,2,3,4) or SHAPExTYPE=@file.npy, one flag a buffer, in binding order.
With --expected-kernel-buffer the results are compared instead of printed; the exit code is 1 where they differ."""

#: How a pointer that is null is written, and an expectation that is left out; both words are IREE's for both.
NULL = ("(null)", "(ignored)")

ONE_WORKGROUP = "'@{}' states no workgroup_count: running one workgroup"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags, older synonyms included."""
    parser.add_argument("file", metavar="FILE", help="a .loom module, or - for stdin")
    parser.add_argument(
        "--device",
        default=None,
        help="amdgpu, amdgpu-sim, amdgpu-hip, or reference (interpret the module as it is written)",
    )
    parser.add_argument("--backend", dest="backend", default=None, help=argparse.SUPPRESS)
    parser.add_argument(
        "--root", "--function", dest="root", default=None, metavar="@K", help="kernel to run (default: the only one)"
    )
    parser.add_argument("--target", default=None, metavar="FAMILY:SELECTOR", help="for example amdgpu:gfx1100")
    parser.add_argument(
        "--pipeline",
        default="default",
        help="default, none (the module is prepared Low and is emitted as it stands), @symbol or a pass list",
    )
    parser.add_argument("--config", action="append", default=[], metavar="KEY=VALUE", help="set a config value")
    parser.add_argument("--config-file", action="append", default=[], metavar="FILE", help="JSON with config values")
    parser.add_argument(
        "--kernel-input-buffer",
        "--binding",
        "--input",
        dest="buffers",
        action="append",
        default=[],
        metavar="SHAPExTYPE[=VALUES]",
        help="a buffer, in binding order; (null) for a null pointer",
    )
    parser.add_argument(
        "--kernel-input-value",
        "--constant",
        dest="values",
        action="append",
        default=[],
        metavar="TYPE=VALUE",
        help="a direct argument, in argument order: i32=5, f32=1.5, u64=0x10",
    )
    parser.add_argument(
        "--expected-kernel-buffer",
        "--expected-binding",
        "--expected-output",
        dest="expected",
        action="append",
        default=[],
        metavar="SHAPExTYPE=VALUES",
        help="what a buffer must hold afterwards, one flag a buffer; (ignored) leaves one out",
    )
    parser.add_argument(
        "--expected-kernel-buffer-tolerance",
        dest="tolerance",
        default="0,0",
        metavar="ATOL,RTOL",
        help="float elements agree where |a - e| <= ATOL + RTOL * |e| (default 0,0)",
    )
    parser.add_argument("--workgroup-count", default=None, metavar="X[,Y[,Z]]", help="work-groups to launch")
    parser.add_argument("--dynamic-lds", type=int, default=None, metavar="BYTES", help="LDS added to the kernel's own")
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="-|FILE|@FILE.npy",
        help="where results go: text to a file, or one @file.npy for each buffer, in order",
    )
    parser.add_argument(
        "--output-max-element-count", type=int, default=1024, metavar="N", help="elements printed of a buffer"
    )
    parser.add_argument("--sanitizer", default="none", help="none, all, access, value, operation, race, joined by |")
    parser.add_argument(
        "--sanitizer-reporting",
        choices=("default", "trap", "report-only"),
        default="default",
        help="what a finding does",
    )
    add_report_arguments(parser)
    parser.add_argument("--emit-target-artifact", default=None, metavar="FILE", help="also write the code object")
    parser.add_argument("--emit-hal-executable", dest="emit_target_artifact", help=argparse.SUPPRESS)
    parser.add_argument("--emit-only", action="store_true", help="compile and write artifacts, do not run")
    parser.add_argument("--probe-hal", action="store_true", help="only say whether the device is there")
    parser.add_argument("--module-name", default=None, help=argparse.SUPPRESS)


def _triple(text: str, flag: str) -> tuple[int, int, int]:
    words = text.replace("x", ",").split(",")
    if not 1 <= len(words) <= 3 or not all(word.strip().isdecimal() and int(word) > 0 for word in words):
        raise error(f"{flag}: '{text}' is no work-group count", "TOOL/001", hint="for example 16,1,1")
    counts = [int(word) for word in words] + [1, 1]
    return counts[0], counts[1], counts[2]


def _tolerance(text: str) -> tuple[float, float]:
    words = text.split(",")
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 2 or any(not number >= 0 for number in numbers):
        raise error(
            f"--expected-kernel-buffer-tolerance: '{text}' is no tolerance", "TOOL/001", hint="for example 1e-5,0"
        )
    return numbers[0], numbers[1] if len(numbers) == 2 else 0.0


def _device_name(args: argparse.Namespace) -> str:
    if args.device is not None:
        return str(args.device)
    if args.backend is not None:
        return {"amdgpu-hal": "amdgpu", "hal": "amdgpu"}.get(args.backend, str(args.backend))
    return "amdgpu"


def _kernels(module: Module) -> list[Operation]:
    return [op for op in module.operations if op.name in ("kernel.def", "low.kernel.def")]


def _find_kernel(module: Module, root: str | None) -> Operation:
    """The kernel of that symbol or export name; the only one where no name is given."""
    found = _kernels(module)
    names = [f"@{op.symbol}" for op in found]
    if root is None:
        if len(found) == 1:
            return found[0]
        what = "no kernel" if not found else f"{len(found)} kernels"
        raise error(
            f"the module has {what}", "TOOL/005", hint=f"choose with --root: {', '.join(names)}" if found else None
        )
    wanted = root.removeprefix("@")
    for op in found:
        if wanted in (op.symbol, op.attributes.get("export")):
            return op
    raise error(f"the module has no kernel '@{wanted}'", "TOOL/005", hint=f"kernels: {', '.join(names) or 'none'}")


def compile_kernel(args: argparse.Namespace, module: Module, kernel: Operation) -> tuple[Compilation, CompiledKernel]:
    """Compile the kernel as the flags say."""
    from loom.target.amdgpu.compile import CompileOptions, compile_module
    from loom.tools.options import read_config
    from loom.transform.target import parse_target_selector, resolve_target

    target = None if args.target is None else resolve_target(*parse_target_selector(args.target))
    sanitizer = frozenset(word for word in args.sanitizer.split("|") if word and word != "none")
    options = CompileOptions(
        target=target,
        pipeline=args.pipeline,
        root=str(kernel.symbol),
        config=read_config(args.config, args.config_file),
        sanitizer=sanitizer,
        report=wants_rows(args.compile_report),
    )
    compilation = compile_module(module, options)
    return compilation, compilation.kernels[0]


def _geometry(
    args: argparse.Namespace, kernel: CompiledKernel, prepared: bool
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    resources = kernel.resources
    size = resources.workgroup_size
    if size is None:
        raise error(
            f"kernel '@{kernel.symbol}' states no workgroup_size", "LAUNCH/005", hint="add workgroup_size(x, y, z)"
        )
    if args.workgroup_count is not None:
        return _triple(args.workgroup_count, "--workgroup-count"), size
    if resources.workgroup_count is None:
        if prepared:
            # Prepared Low has no workload that could decide the grid: without workgroup_count it is one workgroup.
            print(ONE_WORKGROUP.format(kernel.symbol), file=sys.stderr)
            return (1, 1, 1), size
        raise error(
            f"kernel '@{kernel.symbol}' states no work-group count, or one that depends on its workload",
            "LAUNCH/005",
            hint="give --workgroup-count=x,y,z",
        )
    return resources.workgroup_count, size


def _text(buffer: TypedBuffer, limit: int) -> str:
    count = min(buffer.count, max(limit, 0))
    words = [buffer.element_text(i) for i in range(count)]
    more = " ..." if count < buffer.count else ""
    return f"{buffer.type_text}={' '.join(words)}{more}"


def _by_binding(args: argparse.Namespace, results: Sequence[TypedBuffer]) -> list[TypedBuffer | None]:
    """The results in the order of the flags, None for a null pointer."""
    rest = iter(results)
    return [None if text in NULL else next(rest) for text in args.buffers]


def _write_results(args: argparse.Namespace, results: Sequence[TypedBuffer | None], quiet: bool) -> None:
    """Print buffers, or write them to the files of ``--output``."""
    files = [word for word in args.output if word.startswith("@")]
    texts = [word for word in args.output if not word.startswith("@")]
    real = [buffer for buffer in results if buffer is not None]
    if len(files) > len(real):
        raise error(f"{len(files)} output files for {len(real)} buffers", "TOOL/001")
    for name, buffer in zip(files, real, strict=False):
        import io

        import numpy

        stream = io.BytesIO()
        numpy.save(stream, buffer.storage().reshape(buffer.shape))
        write_output(name[1:], stream.getvalue())
    if texts or not (files or quiet):
        limit = args.output_max_element_count
        lines = [f"binding[{i}]: {'(null)' if b is None else _text(b, limit)}\n" for i, b in enumerate(results)]
        for name in texts or ["-"]:
            write_output(name, "".join(lines))


def _compare(args: argparse.Namespace, results: Sequence[TypedBuffer | None]) -> int:
    """Check the expected buffers; print the first differing elements of each that differs."""
    from loom.raising.buffers import compare_buffers, parse_buffer

    if len(args.expected) != len(results):
        raise error(
            f"{len(args.expected)} expected buffers for {len(results)} buffers",
            "TOOL/001",
            hint="one --expected-kernel-buffer for each buffer, in order; (ignored) leaves one out",
        )
    atol, rtol = _tolerance(args.tolerance)
    failed = 0
    for position, (text, actual) in enumerate(zip(args.expected, results, strict=True)):
        if text in NULL:
            continue
        if actual is None:
            raise error(
                f"buffer {position} is a null pointer: nothing can be expected of it", "TOOL/001", hint="(null)"
            )
        expected = parse_buffer(text, "--expected-kernel-buffer")
        found = compare_buffers(actual, expected, atol, rtol)
        if found.passed:
            continue
        failed += 1
        print(f"binding[{position}]: {found.mismatches} of {found.count} elements differ")
        for mismatch in found.first:
            index = ", ".join(map(str, mismatch.index))
            ulps = "" if mismatch.ulps is None else f" ({mismatch.ulps} ULP)"
            print(f"  [{index}] expected {mismatch.expected}, actual {mismatch.actual}{ulps}")
        if found.mismatches > len(found.first):
            print(f"  ... {found.mismatches - len(found.first)} more")
    if failed:
        print("FAILED: results differ from what was expected")
        return int(ExitCode.EVIDENCE_FAILED)
    print("SUCCESS: all results are as expected")
    return int(ExitCode.SUCCESS)


def _execute(
    args: argparse.Namespace, compilation: Compilation, kernel: CompiledKernel, prepared: bool
) -> Sequence[TypedBuffer]:
    from loom.device.registry import open_device, resolve_device
    from loom.raising.execution import execute, match_arguments, parse_scalar, require_completed

    buffers = _given_buffers(args)
    values: list[ScalarValue] = [parse_scalar(text, "--kernel-input-value") for text in args.values]
    workgroups, size = _geometry(args, kernel, prepared)
    options: dict[str, Any] = {}
    if {"race", "all"} & set(args.sanitizer.split("|")) and resolve_device(_device_name(args)) == "amdgpu-sim":
        options["sanitizers"] = ("race",)
    device = open_device(_device_name(args), lambda line: print(line, file=sys.stderr), **options)
    try:
        info = device.load(compilation.code_object).kernels[kernel.name]
        arguments = match_arguments(info, buffers, values)
        lds = args.dynamic_lds if args.dynamic_lds is not None else _dynamic_lds(kernel, compilation)
        execution = execute(device, compilation.code_object, kernel.name, arguments, workgroups, size, lds)
    finally:
        device.close()
    require_completed(execution, kernel.source_of)
    return execution.buffers


def _given_buffers(args: argparse.Namespace) -> list[TypedBuffer | NullPointer]:
    """The buffers of the command line, null pointers among them."""
    from loom.raising.buffers import parse_buffer
    from loom.raising.execution import NullPointer

    return [NullPointer() if text in NULL else parse_buffer(text, "--kernel-input-buffer") for text in args.buffers]


def _interpret(args: argparse.Namespace, module: Module, kernel: Operation) -> Sequence[TypedBuffer]:
    """Run on the NumPy interpreter, which takes the module as it is written."""
    from loom.raising.execution import parse_scalar
    from loom.raising.interpret import interpret
    from loom.tools.options import read_config
    from loom.transform.target import parse_target_selector, resolve_target

    if args.emit_only or args.emit_target_artifact or args.pipeline not in ("default", "none"):
        raise error(
            "--device=reference interprets the module as it is written",
            "TOOL/001",
            hint="leave --pipeline, --emit-target-artifact and --emit-only out; loom-compile does these",
        )
    low = kernel.name == "low.kernel.def"
    if low and args.workgroup_count is None and kernel.attributes.get("workgroup_count") is None:
        print(ONE_WORKGROUP.format(kernel.symbol), file=sys.stderr)
    return interpret(
        module,
        kernel,
        _given_buffers(args),
        [parse_scalar(text, "--kernel-input-value") for text in args.values],
        None if args.workgroup_count is None else _triple(args.workgroup_count, "--workgroup-count"),
        args.dynamic_lds,
        target=None if args.target is None else resolve_target(*parse_target_selector(args.target)),
        config=read_config(args.config, args.config_file),
        races=bool({"race", "all"}.intersection(args.sanitizer.split("|"))),
        unread=[place for place, text in enumerate(args.expected) if text in NULL],
    )


def _dynamic_lds(kernel: CompiledKernel, compilation: Compilation) -> int:
    """Dynamic LDS that a lifted kernel was captured with."""
    op = compilation.low_module.symbol(kernel.symbol)
    layout = op.attributes.get("abi_layout") if op is not None else None
    resources = layout.get("resources") if isinstance(layout, dict) else None
    value = resources.get("dynamic_lds", 0) if isinstance(resources, dict) else 0
    return value if isinstance(value, int) else 0


def run(argv: Sequence[str]) -> int:
    """Parse the command line and do what it says; returns the exit code."""
    parser = make_parser("iree-run-loom", DESCRIPTION)
    add_arguments(parser)
    args = parser.parse_args(list(argv))
    from loom import parse, verify

    if args.probe_hal:
        from loom.device.registry import resolve_device

        print("reference" if _device_name(args) == "reference" else resolve_device(_device_name(args)))
        return int(ExitCode.SUCCESS)
    module = parse(read_text(args.file), "<stdin>" if args.file == "-" else args.file)
    verify(module)
    kernel = _find_kernel(module, args.root)
    if _device_name(args) == "reference":
        write_reports([], args)
        results = _by_binding(args, _interpret(args, module, kernel))
        _write_results(args, results, quiet=bool(args.expected))
        return _compare(args, results) if args.expected else int(ExitCode.SUCCESS)
    compilation, compiled = compile_kernel(args, module, kernel)
    report(compilation.diagnostics, args.diagnostic_format)
    write_reports([compilation.report], args)
    if args.emit_target_artifact:
        write_output(args.emit_target_artifact, compilation.code_object)
    if args.emit_only:
        return int(ExitCode.SUCCESS)
    executed = _execute(args, compilation, compiled, prepared=kernel.name == "low.kernel.def")
    results = _by_binding(args, executed)
    _write_results(args, results, quiet=bool(args.expected))
    return _compare(args, results) if args.expected else int(ExitCode.SUCCESS)


def main() -> int:
    """Entry point of the console script."""
    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())
