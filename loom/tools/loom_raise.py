"""``loom-raise``: the evidence side of a migration, a subcommand each."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from loom.diagnostics import ExitCode, error
from loom.tools.common import ArgumentParser, add_diagnostic_format, make_parser, run_tool
from loom.tools.raise_commands import COMMANDS

DESCRIPTION = "Raise native kernels, step by measured step, into source for the default compiler pipeline."


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, (_, text) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: loom-raise COMMAND [ARGUMENT ...]",
            "",
            DESCRIPTION,
            "",
            "commands:",
            *lines,
            "",
            "'loom-raise COMMAND --help' explains a command.",
            "Exit codes: 0 success, 1 the evidence says no, 2 bad usage or input, 3 device or capability unavailable,",
            "4 internal error.",
        ]
    )


def _load(name: str) -> Any:
    """Import the module of a subcommand."""
    from loom.target import register_targets

    register_targets()
    return importlib.import_module(COMMANDS[name][0])


def run(argv: Sequence[str]) -> int:
    """Find the subcommand, parse its arguments and run it."""
    arguments = list(argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_overview(), file=sys.stdout if arguments else sys.stderr)
        return int(ExitCode.SUCCESS if arguments else ExitCode.BAD_INPUT)
    name = arguments[0]
    if name == "--version":
        make_parser("loom-raise", DESCRIPTION).parse_args(arguments[:1])
    if name not in COMMANDS:
        import difflib

        close = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f"did you mean '{close[0]}'?" if close else f"commands: {' '.join(COMMANDS)}"
        raise error(f"no command '{name}'", "TOOL/001", hint=hint)
    module = _load(name)
    parser = ArgumentParser(prog=f"loom-raise {name}", description=module.HELP)
    add_diagnostic_format(parser)
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(arguments[1:])))


def main() -> int:
    """Entry point of the console script."""
    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())
