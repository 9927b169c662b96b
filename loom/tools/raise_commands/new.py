"""``loom-raise new``: scaffold a workload from a native kernel."""

from __future__ import annotations

import argparse
from pathlib import Path

from loom.diagnostics import error
from loom.tools.common import read_bytes, write_output

HELP = """Scaffold a workload from a native kernel.

The folder gets workload.yaml (ABI, launch, shapes), the native artifact, an editable source skeleton with a case and
benchmarks, and a README with the six questions. What the metadata does not tell is a guess, and is listed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--from", dest="source", required=True, metavar="FILE", help="the native code object")
    parser.add_argument("--kernel", metavar="NAME", help="which kernel (default: the only one)")
    parser.add_argument("--name", metavar="NAME", help="the workload's name (default: the kernel's)")
    parser.add_argument("--output", metavar="DIR", help="where it goes (default: workloads/NAME)")
    parser.add_argument("--force", action="store_true", help="write into a folder that holds a workload already")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.raising.resources import processor_of
    from loom.raising.scaffold import choose_kernel, scaffold, workload_name
    from loom.store.workload import load_workload

    code = read_bytes(args.source)
    kernel = choose_kernel(code, args.kernel)
    name = args.name or workload_name(kernel)
    if name != workload_name(name):
        raise error(f"'{name}' is no workload name", "NEW/003", hint="lower-case letters, digits and _")
    folder = Path(args.output or f"workloads/{name}")
    if (folder / "workload.yaml").exists() and not args.force:
        raise error(f"'{folder}' holds a workload already", "NEW/004", hint="--force writes over it")
    made = scaffold(Path(args.source), code, kernel, name, processor_of(code))
    for relative, data in made.files.items():
        write_output(str(folder / relative), data)
    load_workload(folder / "workload.yaml")
    print(f"{folder}: {', '.join(made.files)}")
    print("left to you:")
    for line in made.todo:
        print(f"  {line}")
    print(
        f"then: loom-raise lift {folder}/native/{Path(args.source).name} --kernel={kernel}"
        f" --workload={folder}/workload.yaml --output={folder}/oracle.loom"
    )
    return 0
