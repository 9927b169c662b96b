"""``loom-format``: print modules canonically, or say which files are not."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from loom.diagnostics import Diagnostic, ExitCode, LoomError, error, render_json, render_text
from loom.tools.common import make_parser, read_bytes, run_tool, write_output

DESCRIPTION = """Print Loom modules in canonical form.

Each file is read and verified on its own. Without --check and --in-place the canonical text goes to --output.
Exit codes: 0 all is well, 1 with --check some file is not canonical, 2 some file is invalid or cannot be read.
"""


def canonical_text(data: bytes, filename: str) -> str:
    """Return the canonical text of a file's bytes; raise ``LoomError`` when it is not a valid module."""
    import loom

    module = loom.parse(data, filename)
    loom.verify(module)
    return loom.print_module(module)


def _replace(path: str, text: str) -> None:
    """Replace a file atomically, keeping its permissions; a link's target is replaced, not the link."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
        if not mode & 0o222:
            raise error(f"'{path}' is read-only", "TOOL/004", hint="allow writing, or use --output")
        with open(temporary, "wb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except OSError as failure:
        temporary.unlink(missing_ok=True)
        raise error(f"cannot write '{path}': {failure.strerror or failure}", "TOOL/004") from None


def run(argv: Sequence[str]) -> int:
    """Parse the command line and format."""
    parser = make_parser("loom-format", DESCRIPTION)
    add = parser.add_argument
    add("files", nargs="*", default=["-"], metavar="FILE", help="text module ('-' or none: stdin)")
    add("--check", action="store_true", help="list the files that are not canonical; write nothing")
    add("--in-place", action="store_true", help="rewrite files that are valid and not canonical")
    add("--from", dest="source", choices=("auto", "text"), default="auto", help="input form")
    add("--to", choices=("text",), default="text", help="output form")
    add("--output", default="-", metavar="FILE", help="where the text goes (default: stdout)")
    arguments = parser.parse_args(argv)
    if arguments.check and arguments.in_place:
        raise error("--check and --in-place exclude one another", "TOOL/001")
    if (arguments.check or arguments.in_place) and arguments.output != "-":
        raise error("--output has no use with --check or --in-place", "TOOL/001")
    if arguments.in_place and "-" in arguments.files:
        raise error("--in-place needs files, not stdin", "TOOL/001")

    diagnostics: list[Diagnostic] = []
    sources: dict[str, str] = {}
    texts: list[str] = []
    different: list[str] = []
    for path in arguments.files:
        name = "<stdin>" if path == "-" else path
        try:
            data = read_bytes(path)
            sources[name] = data.decode("utf-8", "replace")
            text = canonical_text(data, name)
            if arguments.check or arguments.in_place:
                if data != text.encode("utf-8"):
                    if arguments.in_place:
                        _replace(path, text)
                    different.append(name)
            else:
                texts.append(text)
        except LoomError as failure:
            diagnostics.extend(failure.diagnostics)
    if diagnostics:
        if arguments.diagnostic_format == "json":
            print(render_json(diagnostics), file=sys.stderr)
        else:
            print(render_text(diagnostics, sources), file=sys.stderr)
    if arguments.check:
        for name in different:
            print(name)
    elif not arguments.in_place and texts and (not diagnostics or arguments.output == "-"):
        write_output(arguments.output, "\n".join(texts))
    if diagnostics:
        return int(ExitCode.BAD_INPUT)
    return int(ExitCode.EVIDENCE_FAILED if arguments.check and different else ExitCode.SUCCESS)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the command."""
    return run_tool(run, argv)


if __name__ == "__main__":
    sys.exit(main())
