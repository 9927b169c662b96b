"""``--compile-report`` and ``--compile-report-output``, which every command that compiles has."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from loom.diagnostics import error
from loom.tools.common import json_text, write_output

#: What ``--compile-report`` takes.
REPORTS = ("none", "summary", "details", "text-summary", "text-details")


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two flags."""
    add = parser.add_argument
    add("--compile-report", choices=REPORTS, default="none", help="what to report of each compile")
    add("--compile-report-output", default="stderr", metavar="stderr|-|FILE", help="where the report goes")


def keep_apart(args: argparse.Namespace) -> None:
    """Refuse to write the report behind the command's own document on stdout: neither could be read then.

    Raises ``TOOL/001``. ``args.output`` is where the document goes, None or ``-`` for stdout.
    """
    if args.compile_report != "none" and args.compile_report_output == "-" and args.output in (None, "-"):
        raise error(
            "--compile-report-output=- would mix the report with the document on stdout",
            "TOOL/001",
            hint="send one of them elsewhere: --output=FILE, or --compile-report-output=FILE",
        )


def wants_rows(mode: str) -> bool:
    """Whether the compile must collect the rows of a detailed report."""
    return mode.endswith("details")


def report_document(document: dict[str, Any], mode: str) -> dict[str, Any]:
    """The whole report, or its summary."""
    from loom.report.summary import summary_of

    return document if wants_rows(mode) else summary_of(document)


def report_text(document: dict[str, Any], mode: str) -> str:
    """The report in the asked form."""
    from loom.report.show import render_text

    if mode.startswith("text"):
        return render_text(document, details=wants_rows(mode))
    return json_text(report_document(document, mode))


def write_text(place: str, text: str) -> None:
    """Write to stderr, stdout (``-``) or a file."""
    if place == "stderr":
        print(text, file=sys.stderr, end="")
    else:
        write_output(place, text)


def write_reports(documents: Sequence[dict[str, Any]], args: argparse.Namespace) -> None:
    """Write what ``--compile-report`` asks for: one document, or a list of them where several kernels were compiled on
    their own. Nothing where nothing was compiled, which is said."""
    mode = args.compile_report
    if mode == "none":
        return
    if not documents:
        print("no compile report: nothing was compiled", file=sys.stderr)
    elif mode.startswith("text"):
        write_text(args.compile_report_output, "\n".join(report_text(document, mode) for document in documents))
    elif len(documents) == 1:
        write_text(args.compile_report_output, report_text(documents[0], mode))
    else:
        listed = [report_document(document, mode) for document in documents]
        write_text(args.compile_report_output, json_text(listed))
