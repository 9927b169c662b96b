"""The examples of docs/python-api.md run, one after the other, and print what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs/python-api.md"
_BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


def test_the_examples_print_what_the_page_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = _BLOCK.findall(text)
    assert len(blocks) >= 8
    session: dict[str, Any] = {}
    for number, (code, expected) in enumerate(blocks, 1):
        line = text[: text.index(code)].count("\n") + 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), session)
        assert printed.getvalue() == expected, f"example {number} on line {line}"
