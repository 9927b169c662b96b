"""``loom-raise reduce``: minimize a diverging module to the smallest one that still diverges."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from loom.diagnostics import ExitCode, error
from loom.tools.common import Progress, read_text, write_output

HELP = """Minimize a form that diverges from its native kernel.

The form is compiled by the default pipeline, run on one shape and compared with NATIVE, a folder that 'loom-raise
execute' wrote. Operations are taken away as long as the same divergence stays: a rejection with the same code, a fault
of the same kind, or the same wrong values. Exit code 1: the form does not diverge."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("source", metavar="FILE", help="the form's .loom source")
    parser.add_argument("--workload", required=True, metavar="FILE", help="workload.yaml")
    parser.add_argument("--form", required=True, metavar="NAME", help="name of the form")
    parser.add_argument("--native", required=True, metavar="DIR", help="the native kernel's evidence")
    parser.add_argument("--shape", metavar="NAME", help="shape to run (default: the smallest that diverges)")
    parser.add_argument("--device", default="amdgpu", metavar="NAME", help="device (default: amdgpu)")
    parser.add_argument("--budget", type=int, default=300, metavar="N", help="candidates to try (default: 300)")
    parser.add_argument("--output", metavar="FILE", help="where the module goes (default: stdout)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom import parse, print_module
    from loom.device.registry import open_device
    from loom.raising.compare.evidence import load_evidence
    from loom.raising.reduce.diverging import compile_form, divergence, predicate
    from loom.raising.reduce.minimize import keep_root, minimize
    from loom.store.workload import load_workload

    workload = load_workload(args.workload, check_files=False)
    form = workload.form(args.form)
    native = load_evidence(Path(args.native))
    text = read_text(args.source)
    module = parse(text, args.source)
    try:
        keep_root(module, form.root)
    except ValueError as failure:
        raise error(str(failure), "REDUCE/001") from None
    bare = print_module(module)
    device = open_device(args.device, lambda line: print(line, file=sys.stderr))
    try:
        names = [workload.shape(args.shape).name] if args.shape else _by_size(workload)
        for name in names:
            wanted = divergence(bare, workload, form, native, device, name, compile_form)
            if wanted is not None:
                break
        else:
            print(f"form '{form.name}' does not diverge", file=sys.stderr)
            return int(ExitCode.EVIDENCE_FAILED)
        with Progress(args.budget, "candidates") as progress:
            test = predicate(workload, form, native, device, name, wanted, compile_form)
            tried = 0

            def counted(candidate: str) -> bool:
                nonlocal tried
                tried += 1
                progress.update(tried)
                return test(candidate)

            found = minimize(bare, counted, args.budget)
    finally:
        device.close()
    write_output(args.output, found.text)
    print(
        f"{wanted.kind} ({wanted.detail}) on shape '{name}': {found.before} operations, {found.after} left,"
        f" {found.tried} candidates tried",
        file=sys.stderr,
    )
    return int(ExitCode.SUCCESS)


def _by_size(workload: object) -> list[str]:
    from loom.store.workload import Workload

    assert isinstance(workload, Workload)
    shapes = sorted(workload.shapes, key=lambda s: sum(a.bytes for a in s.arguments if a.kind == "buffer"))
    return [shape.name for shape in shapes]
