"""``loom-raise reproduce``: re-execute a recorded result and compare."""

from __future__ import annotations

import argparse
from pathlib import Path

from loom.diagnostics import ExitCode
from loom.tools.common import print_json

HELP = """Re-execute a recorded result from the store and compare it with the record.

Deterministic steps must agree bit for bit, measurements within the recorded spread. Exit code 1: they do not."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("id", help="a record's id, or a prefix of it ('loom-raise store ls' lists them)")
    parser.add_argument("--store", default="results/store", metavar="DIR", help="the store (default: results/store)")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.raising.reproduce import reproduce
    from loom.store.actions import Store

    result = reproduce(Store(Path(args.store)), args.id)
    if args.json:
        print_json(result.to_json())
    else:
        facts = result.record.deterministic
        print(f"{result.record.id}\n{facts['workload']}: {facts['stage']}\n$ {' '.join(facts['command'])}")
        print(f"exit code: recorded {facts['exit_code']}, now {result.exit_code}")
        for name in result.matching:
            print(f"  same       {name}")
        for name, (old, new) in result.differing.items():
            print(f"  different  {name}: recorded {(old or 'absent')[:12]}, now {(new or 'absent')[:12]}")
        for note in result.notes:
            print(f"note: {note}")
        print("reproduced" if result.reproduced else "not reproduced")
    return int(ExitCode.SUCCESS if result.reproduced else ExitCode.EVIDENCE_FAILED)
