"""``loom-raise doctor``: what this machine can do, and what can be done with a code object."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loom.diagnostics import ExitCode
from loom.tools.common import print_json, read_bytes

if TYPE_CHECKING:
    from loom.raising.doctor import KernelDiagnosis

HELP = """Without FILE: versions, devices with a self test each, and the tools that tests compare with.

With FILE: for every kernel whether it decodes, lifts to Low that emits the same bytes, and simulates, and why not. Exit
code 1: something does not work."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="code objects, offload bundles, fat binaries")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _print_machine(facts: dict[str, Any]) -> None:
    print(f"loom {facts['version']}, Python {facts['python']}, {facts['machine']}")
    for device in facts["devices"]:
        state = "works" if device["works"] else device["reason"]
        print(f"  device {device['name']:<12} {state}")
    for tool, present in facts["test_oracles"].items():
        print(f"  tests: {tool:<16} {'present' if present else 'absent: tests that compare with it do not run'}")


def _print_kernels(rows: Sequence[KernelDiagnosis]) -> None:
    for row in rows:
        count = "" if row.instructions is None else f", {row.instructions} instructions"
        print(f"{row.file}: {row.kernel} ({row.processor}{count})")
        for name, reason in (("decodes", row.decodes), ("lifts", row.lifts), ("simulates", row.simulates)):
            print(f"  {name:<10} {'yes' if reason is None else f'no: {reason}'}")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.raising.doctor import diagnose, machine

    if not args.files:
        facts = machine()
        if args.json:
            print_json(facts)
        else:
            _print_machine(facts)
        broken = any(device["present"] and not device["works"] for device in facts["devices"])
        return int(ExitCode.EVIDENCE_FAILED if broken else ExitCode.SUCCESS)
    rows = [row for name in args.files for row in diagnose(name, read_bytes(name))]
    if args.json:
        print_json({"kernels": [row.to_json() for row in rows]})
    else:
        _print_kernels(rows)
    return int(ExitCode.SUCCESS if all(row.works for row in rows) else ExitCode.EVIDENCE_FAILED)
