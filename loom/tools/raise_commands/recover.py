"""``loom-raise recover``: what a lifted kernel's instructions say about its source."""

from __future__ import annotations

import argparse

from loom.tools.common import print_json, read_text

HELP = """Read a lifted kernel (prepared Low) and say what its instructions mean for the source that replaces it.

For each of the six questions of a workload's README: loops, memory accesses, exchanges between lanes, barriers, matrix
and packed instructions, block by block with their lines, and the source operations that say the same."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("oracle", metavar="FILE", help="what 'loom-raise lift' wrote")
    parser.add_argument("--kernel", metavar="NAME", help="which kernel (default: the only one)")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom import parse
    from loom.raising.recover.anatomy import LOOP_SOURCE, anatomy

    found = anatomy(parse(read_text(args.oracle), args.oracle), args.kernel)
    if args.json:
        print_json(found.to_json())
        return 0
    print(f"@{found.kernel}")
    for head, blocks in found.loops.items():
        print(f"  loop at ^{head}: {len(blocks)} blocks; in source: {LOOP_SOURCE}")
    questions: dict[str, list[str]] = {}
    for finding in found.findings:
        keys = ", ".join(f"{count} {key}" for key, count in sorted(finding.keys.items()))
        place = f"^{finding.block}" + (f" in loop ^{finding.loop}" if finding.loop else "")
        pattern = finding.pattern
        line = f"  line {finding.line:4}  {pattern.meaning}: {keys} ({place}); in source: {pattern.source}"
        questions.setdefault(pattern.question, []).append(line)
    for question, lines in questions.items():
        print(question)
        print("\n".join(lines))
    return 0
