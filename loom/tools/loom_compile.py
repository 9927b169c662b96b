"""``loom-compile``: a module's kernels to a code object, with reports, manifest, listings and IR dumps."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loom.diagnostics import ExitCode, error
from loom.tools.common import json_text, make_parser, read_text, report, run_tool, write_output
from loom.tools.compile_reports import add_report_arguments, wants_rows, write_reports, write_text

if TYPE_CHECKING:
    import argparse

    from loom.target.amdgpu.compile import Compilation

DESCRIPTION = """Compile the kernels of a Loom module.

--pipeline=none runs no pass: the kernels must be prepared Low. A kernel with allocation(fixed) is encoded as it
stands, one with
allocation(virtual) is allocated and given the waits and nops that it needs; the manifest lists what was added."""

FORMATS = ("amdgpu-hsaco", "low-text", "listing")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags, older synonyms included."""
    add = parser.add_argument
    add("file", metavar="FILE", help="a .loom module, or - for stdin")
    add("--root", "--function", dest="root", metavar="@K", help="kernel to compile (default: every kernel)")
    add(
        "--format",
        "--backend",
        dest="format",
        default="amdgpu-hsaco",
        help=f"what to write: {', '.join(FORMATS)} (default: amdgpu-hsaco)",
    )
    add("--target", metavar="FAMILY:SELECTOR", help="for example amdgpu:gfx1100")
    add("--pipeline", default="default", help="default, none, or a comma-separated pass list")
    add("--library", action="append", default=[], metavar="FILE", help="module to resolve declarations in (repeat)")
    add("--config", action="append", default=[], metavar="KEY=VALUE", help="bind a config value (repeat)")
    add("--config-file", action="append", default=[], metavar="FILE", help="JSON with config values (repeat)")
    add("--output", default=None, metavar="FILE", help="where the artifact goes (- for stdout)")
    add("--emit-target-artifact", default=None, metavar="FILE", help="also write the code object here")
    add(
        "--artifact-manifest",
        choices=("none", "summary", "details", "analysis"),
        default="none",
        help="write a manifest of the artifact",
    )
    add("--emit-artifact-manifest", default=None, metavar="FILE", help="where the manifest goes (default: stderr)")
    add_report_arguments(parser)
    add("--dump-before", action="append", default=[], metavar="PASS", help="print the module before a pass (or 'all')")
    add("--dump-after", action="append", default=[], metavar="PASS", help="print the module after a pass (or 'all')")
    add("--sanitizer", default="none", help="none, all, access, value, operation, race, joined by |")
    add("--verify", action="store_true", help="check allocation, waits and hazards of the result independently")


def compile_file(args: argparse.Namespace) -> Compilation:
    """Read, verify and compile the input as the flags say."""
    import loom
    from loom.target import register_targets
    from loom.target.amdgpu.compile import CompileOptions, compile_module
    from loom.tools.options import read_config
    from loom.transform.target import parse_target_selector, resolve_target

    register_targets()
    module = loom.parse(read_text(args.file), "<stdin>" if args.file == "-" else args.file)
    loom.verify(module)
    libraries = tuple(loom.parse(read_text(path), path) for path in args.library)
    target = None if args.target is None else resolve_target(*parse_target_selector(args.target))
    return compile_module(
        module,
        CompileOptions(
            target=target,
            pipeline=args.pipeline,
            root=args.root,
            config=read_config(args.config, args.config_file),
            libraries=libraries,
            report=wants_rows(args.compile_report) or args.format in ("low-text", "listing"),
            **({"check": True} if args.verify else {}),
            dump_before=tuple(args.dump_before),
            dump_after=tuple(args.dump_after),
            sanitizer=frozenset(word for word in args.sanitizer.split("|") if word and word != "none"),
        ),
    )


def run(argv: Sequence[str]) -> int:
    """Parse the command line and compile; returns the exit code."""
    parser = make_parser("loom-compile", DESCRIPTION)
    add_arguments(parser)
    args = parser.parse_args(list(argv))
    format_ = {"amdgpu-hal": "amdgpu-hsaco", "amdgpu": "amdgpu-hsaco"}.get(args.format, args.format)
    if format_ not in FORMATS:
        raise error(f"--format={args.format} is not built here", "TOOL/006", hint=f"formats: {', '.join(FORMATS)}")
    args.format = format_
    compilation = compile_file(args)
    report(compilation.diagnostics, args.diagnostic_format)
    if "SOURCE_DATE_EPOCH" in os.environ:
        # The convention of reproducible builds: what is written depends on the inputs alone.
        compilation.report.pop("compile_seconds", None)
    for name, text in compilation.dumps.items():
        print(f"// ----- {name}\n{text}", file=sys.stderr)
    if format_ == "amdgpu-hsaco":
        if args.output is not None or args.emit_target_artifact is None:
            if args.output is None and sys.stdout.isatty():
                raise error("a code object is not for a terminal", "TOOL/001", hint="give --output=FILE")
            write_output(args.output, compilation.code_object)
    elif format_ == "low-text":
        from loom.text.printer import print_module

        write_output(args.output, print_module(compilation.low_module))
    else:
        from loom.report.show import render_listing

        write_output(args.output, render_listing(compilation.report))
    if args.emit_target_artifact is not None:
        write_output(args.emit_target_artifact, compilation.code_object)
    if args.artifact_manifest != "none" or args.emit_artifact_manifest is not None:
        manifest = compilation.manifest
        if args.artifact_manifest == "analysis":
            manifest = {**manifest, "report": compilation.report}
        write_text(args.emit_artifact_manifest or "stderr", json_text(manifest))
    write_reports([compilation.report], args)
    return int(ExitCode.SUCCESS)


def main() -> int:
    """Entry point of the console script."""
    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())
