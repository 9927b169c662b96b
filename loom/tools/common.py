"""What every command line shares: exit codes, rendered diagnostics, JSON output and progress on a terminal."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from loom.diagnostics import Diagnostic, ExitCode, Location, LoomError, Severity, error, render_json, render_text

#: What a shell reports for a process that ended by SIGINT (128 + 2).
INTERRUPTED = 130

#: What a full disk or a broken one says when something is written to it: stdout has no file name that would tell.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

_LARGEST_EXCERPT_FILE = 32 * 1024 * 1024


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Knows the terminal's width by itself: argparse would load the compression modules of ``shutil`` for it."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        try:
            width = int(columns) if columns.isdigit() and int(columns) else os.get_terminal_size().columns
        except (OSError, ValueError, AttributeError):
            width = 80
        super().__init__(prog, width=max(width, 40) - 2)


class ArgumentParser(argparse.ArgumentParser):
    """An argparse parser with whole option names only, and whose refusals are diagnostics with exit code 2."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("allow_abbrev", False)
        kwargs.setdefault("formatter_class", _HelpFormatter)
        super().__init__(*args, **kwargs)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line with ``TOOL/001`` and a pointer to ``--help``."""
        raise error(message, "TOOL/001", hint=f"see '{self.prog} --help'")


def make_parser(prog: str, description: str) -> ArgumentParser:
    """Return a parser with the options that every command has: ``--version`` and ``--diagnostic-format``."""
    from loom import __version__

    parser = ArgumentParser(prog=prog, description=description)
    parser.add_argument("--version", action="version", version=f"{prog} {__version__}")
    add_diagnostic_format(parser)
    return parser


def add_diagnostic_format(parser: argparse.ArgumentParser) -> None:
    """Add ``--diagnostic-format``; :func:`run_tool` reads it from the raw command line, so usage errors obey it too."""
    parser.add_argument(
        "--diagnostic-format",
        choices=("text", "json"),
        default="text",
        help="how diagnostics are written to stderr (default: text)",
    )


def _wanted_format(argv: Sequence[str]) -> str:
    """Find ``--diagnostic-format`` before the command line is parsed."""
    for position, word in enumerate(argv):
        if word == "--":
            break
        if word == "--diagnostic-format" and position + 1 < len(argv):
            return argv[position + 1]
        if word.startswith("--diagnostic-format="):
            return word.partition("=")[2]
    return "text"


def _sources_of(diagnostics: Sequence[Diagnostic]) -> dict[str, str]:
    """Read the files that diagnostics point into, so that lines and carets can be shown."""
    sources: dict[str, str] = {}
    for diagnostic in diagnostics:
        location = diagnostic.location
        if location is None or not location.line or location.file in sources:
            continue
        try:
            if os.path.getsize(location.file) <= _LARGEST_EXCERPT_FILE:
                sources[location.file] = Path(location.file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError):
            continue
    return sources


def report(diagnostics: Sequence[Diagnostic], diagnostic_format: str = "text") -> None:
    """Write diagnostics to stderr."""
    if not diagnostics:
        return
    if diagnostic_format == "json":
        print(render_json(diagnostics), file=sys.stderr)
    else:
        print(render_text(diagnostics, _sources_of(diagnostics)), file=sys.stderr)


def _diagnostic_of_os_error(failure: OSError) -> Diagnostic:
    """A file that cannot be read or written is the user's to mend, not an internal error."""
    name = failure.filename if isinstance(failure.filename, str) else None
    reason = failure.strerror or str(failure)
    message = f"cannot use '{name}': {reason}" if name else reason
    return Diagnostic(message, "TOOL/002", None, Severity.ERROR, "check the path and its permissions")


def _silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's flush at exit does not fail once more."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):
        pass


def run_tool(body: Callable[[Sequence[str]], int], argv: Sequence[str] | None = None) -> int:
    """Run a command's body and turn everything that leaves it into an exit code.

    ``body`` takes the arguments without the program name and returns an exit code. :class:`LoomError` is rendered to
    stderr and gives its own exit code; an ``OSError`` with a file name, or of a full disk behind stdout, is bad input
    (2); a closed pipe behind stdout is success; too little memory is a capability that is absent (3); an interrupt
    ends the process at once (130 in a shell); everything else is one line ``internal error`` and 4, with a traceback
    only where ``LOOM_DEBUG=1`` is set.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    diagnostic_format = _wanted_format(arguments)
    with _interrupts_end_the_process():
        return _run_body(body, arguments, diagnostic_format)


@contextmanager
def _interrupts_end_the_process() -> Iterator[None]:
    """Leave SIGINT to the system inside the block.

    Python looks at signals between its own instructions only: not while compiled code runs, as that of a simulated
    kernel or of LLVM does for minutes. And an exception that unwinds past such code in other threads would take away
    the memory it works on. Files are replaced as a whole, so nothing is half written.
    """
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _run_body(body: Callable[[Sequence[str]], int], arguments: Sequence[str], diagnostic_format: str) -> int:
    try:
        code = int(body(arguments))
        if sys.stdout is not None:  # it is None where the caller closed it
            sys.stdout.flush()
        return code
    except LoomError as failure:
        report(failure.diagnostics, diagnostic_format)
        return int(failure.exit_code)
    except BrokenPipeError:
        _silence_stdout()
        return int(ExitCode.SUCCESS)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as leaving:
        if leaving.code is None:
            return int(ExitCode.SUCCESS)
        if isinstance(leaving.code, int):
            return leaving.code
        print(leaving.code, file=sys.stderr)
        return int(ExitCode.BAD_INPUT)
    except OSError as failure:
        if isinstance(failure.filename, str):
            report([_diagnostic_of_os_error(failure)], diagnostic_format)
            return int(ExitCode.BAD_INPUT)
        if failure.errno in _NO_ROOM:
            _silence_stdout()
            message = f"cannot write the output: {failure.strerror}"
            report(
                [Diagnostic(message, "TOOL/004", None, Severity.ERROR, "make room and try again")], diagnostic_format
            )
            return int(ExitCode.BAD_INPUT)
        return _internal_error(failure, diagnostic_format)
    except MemoryError as failure:
        detail = f": {failure}" if str(failure) else ""
        report([Diagnostic(f"there is not enough memory{detail}", "TOOL/005")], diagnostic_format)
        return int(ExitCode.UNAVAILABLE)
    except Exception as failure:
        return _internal_error(failure, diagnostic_format)


def _internal_error(failure: BaseException, diagnostic_format: str) -> int:
    if os.environ.get("LOOM_DEBUG") == "1":
        import traceback

        traceback.print_exception(failure)
    detail = " ".join(str(failure).split())[:300]
    message = f"internal error: {type(failure).__name__}" + (f": {detail}" if detail else "")
    report(
        [Diagnostic(message, "INTERNAL/001", None, Severity.ERROR, "set LOOM_DEBUG=1 for a traceback")],
        diagnostic_format,
    )
    return int(ExitCode.INTERNAL)


def read_text(path: str) -> str:
    """Read UTF-8 text from a file, or from stdin for ``-``.

    Raises ``TOOL/003`` (exit code 2) for a file that is absent, unreadable or not UTF-8; then it names the line of the
    first bad byte.
    """
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as failure:
        line = data.count(b"\n", 0, failure.start) + 1
        message = f"not UTF-8 text: byte 0x{data[failure.start]:02x}"
        raise error(message, "TOOL/003", Location(path, line, 1), hint="is this a text file?") from None


def read_bytes(path: str) -> bytes:
    """Read a file, or stdin for ``-``. Raises ``TOOL/003`` (exit code 2) naming the path and the reason."""
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        return Path(path).read_bytes()
    except OSError as failure:
        raise error(f"cannot read '{path}': {failure.strerror or failure}", "TOOL/003") from None


def write_output(path: str | None, data: bytes | str) -> None:
    """Write a result to ``path`` by way of a temporary file beside it, or to stdout for ``None`` or ``-``.

    Text is written as UTF-8. Raises ``TOOL/004`` (exit code 2) where the place cannot be written; an old file stays.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    if path is None or path == "-":
        if sys.stdout is None:
            raise error("standard output is closed", "TOOL/004", hint="name a file with --output")
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
        return
    write_file(path, raw)


def write_file(path: str, data: bytes | memoryview) -> None:
    """Write a file by way of a temporary one beside it; folders on the way are made, devices and pipes written through.

    Raises ``TOOL/004`` (exit code 2) where the place cannot be written; an old file stays, and nothing else remains.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        try:
            with open(target, "wb") as stream:
                stream.write(data)
        except OSError as failure:
            raise error(f"cannot write '{path}': {failure.strerror or failure}", "TOOL/004") from None
        return
    target = Path(os.path.realpath(path))  # what a link names is replaced, not the link
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        os.replace(temporary, target)
    except FileExistsError:  # of mkdir, where a file stands
        raise error(f"cannot write '{path}': '{target.parent}' is no folder", "TOOL/004") from None
    except OSError as failure:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise error(f"cannot write '{path}': {failure.strerror or failure}", "TOOL/004") from None


def check_writable(path: str) -> None:
    """Raise ``TOOL/004`` (exit code 2) for a file that :func:`write_file` could not write, before work is spent."""
    target = Path(os.path.realpath(path))
    reason = None
    if target.is_dir():
        reason = "Is a directory"
    elif target.exists():
        reason = None if os.access(target, os.W_OK) else "Permission denied"
    else:
        folder = next(parent for parent in target.parents if parent.exists())
        if not folder.is_dir():
            reason = f"'{folder}' is no folder"
        elif not os.access(folder, os.W_OK | os.X_OK):
            reason = f"'{folder}' cannot be written"
    if reason is not None:
        raise error(f"cannot write '{path}': {reason}", "TOOL/004")


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Give errors that leave the block without a location the file ``path``."""
    try:
        yield
    except LoomError as failure:
        named = [d if d.location is not None else replace(d, location=Location(path)) for d in failure.diagnostics]
        raise LoomError(named, failure.exit_code) from None


def json_text(document: object) -> str:
    """A document as indented JSON with a final newline; NaN and infinities are refused, they are not JSON."""
    import json

    return json.dumps(document, indent=2, sort_keys=False, allow_nan=False) + "\n"


def print_json(document: Mapping[str, object] | Sequence[object], path: str | None = None) -> None:
    """Write one JSON document to ``path`` or stdout; with it nothing else may be printed there."""
    write_output(path, json_text(document))


class Progress:
    """A one-line progress message on stderr, shown only where stderr is a terminal and never on stdout."""

    def __init__(self, total: int | None = None, label: str = "") -> None:
        self._total = total
        self._label = label
        self._width = 0
        self._shown = sys.stderr.isatty()

    def update(self, done: int, text: str = "") -> None:
        """Replace the line by ``label done/total text``."""
        if not self._shown:
            return
        count = f"{done}/{self._total}" if self._total is not None else str(done)
        line = " ".join(word for word in (self._label, count, text) if word)[:120]
        print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(line)

    def close(self) -> None:
        """Erase the line."""
        if self._shown and self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
