"""Tokens of Loom text, found by one regular expression, and the places they stand at.

Tokens are plain strings; what kind one is shows in its first character. Where a token stands is computed only when
somebody asks, from the line it is on, so that text without errors costs nothing for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from loom.diagnostics import Location, error

_IDENTIFIER = r"[A-Za-z_$](?:[\w$]|-(?!>))*+"
_DOTTED = rf"{_IDENTIFIER}(?:\.{_IDENTIFIER})*+"
# A type that names its parts inside <…> is one token when it stands on one line; dimension lists follow rules of
# their own.
_TYPE = r"(?:vector|view|tensor|tile|reg|encoding|low\.storage|pool|group)<(?:[^<>\"]++|<[^<>\"]*+>)*+>"
_TOKEN = re.compile(
    r"[ \t\r]*+("
    rf"%(?:{_IDENTIFIER}|\d++)"
    r"|[,:()\[\]{}=<>|]"
    rf"|{_TYPE}"
    rf"|{_DOTTED}"
    r"|-?0[xX][0-9a-fA-F]++|-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+|-inf\b|-nan\b|->"
    rf"|@{_DOTTED}|#{_DOTTED}|\^[\w$][\w$-]*+"
    r"|//.*"
    r'|"(?:[^"\\]|\\.)*+"'
    r"|[^ \t\r]"
    r")",
    re.ASCII,
)
_FIND = _TOKEN.findall

END = "\0end"


class Source:
    """A file's text with its tokens.

    ``tokens`` ends with three end marks, so that looking a few tokens ahead never leaves the list. ``trivia`` maps a
    token's index to what stood before it: whether a blank line comes first, and the comment lines (``""`` for a
    blank line among them).
    """

    __slots__ = ("_line_texts", "filename", "first_tokens", "text", "token_lines", "tokens", "trivia")

    def __init__(self, text: str, filename: str) -> None:
        # Editors count every line end, and a comment ends at any of them; a byte order mark is no part of the text.
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = text.removeprefix("\ufeff")
        self.text = text
        self.filename = filename
        tokens: list[str] = []
        self.tokens = tokens
        self.trivia: dict[int, tuple[bool, tuple[str, ...]]] = {}
        # first_tokens[i] is the index of the first token on line token_lines[i] (zero-based), for lines that have
        # tokens.
        first: list[int] = []
        lines_with: list[int] = []
        self.first_tokens = first
        self.token_lines = lines_with
        lines = text.split("\n")
        self._line_texts = lines
        blank = False
        comments: list[str] = []
        find = _FIND
        count = 0
        for number, line in enumerate(lines):
            found = find(line)
            if not found:
                if comments:
                    if comments[-1]:
                        comments.append("")
                else:
                    blank = True
                continue
            last = found[-1]
            comment = None
            if last[0] == "/" and last[:2] == "//":
                comment = last[2:].rstrip()
                found.pop()
                if not found:
                    comments.append("//" + comment)
                    continue
            if blank or comments:
                self.trivia[count] = (blank, tuple(comments))
                blank = False
                comments = []
            first.append(count)
            lines_with.append(number)
            tokens += found
            count += len(found)
            if comment is not None:
                comments.append("//" + comment)
        while comments and not comments[-1]:
            comments.pop()
        if comments:
            self.trivia[count] = (blank, tuple(comments))
        tokens += (END, END, END)

    @property
    def end(self) -> int:
        """Index of the first end mark."""
        return len(self.tokens) - 3

    def line_of(self, index: int) -> int:
        """Return the zero-based line of a token."""
        at = bisect_right(self.first_tokens, index) - 1
        return self.token_lines[at] if at >= 0 else 0

    def line_end(self, index: int) -> int:
        """Return the index of the first token behind the line that the token ``index`` stands on."""
        at = bisect_right(self.first_tokens, index)
        return self.first_tokens[at] if at < len(self.first_tokens) else self.end

    def starts_line(self, index: int) -> bool:
        """Whether the token is the first on its line."""
        at = bisect_right(self.first_tokens, index) - 1
        return at >= 0 and self.first_tokens[at] == index

    def _column_range(self, index: int) -> tuple[int, int, int]:
        at = bisect_right(self.first_tokens, index) - 1
        number = self.token_lines[at]
        skip = index - self.first_tokens[at]
        for i, match in enumerate(_TOKEN.finditer(self._line_texts[number])):
            if i == skip:
                return number, match.start(1), match.end(1)
        raise IndexError(index)

    def span(self, start: int, end: int | None = None) -> Location:
        """Return the location from token ``start`` through token ``end - 1`` (one token when ``end`` is None)."""
        if not self.first_tokens:
            return Location(self.filename, 1, 1, 1, 1)
        if start >= self.end:
            line, _, stop = self._column_range(self.end - 1)
            return Location(self.filename, line + 1, stop + 1, line + 1, stop + 1)
        line, column, stop = self._column_range(start)
        end_line = line
        last = min(self.end, end if end is not None else start + 1) - 1
        if last > start:
            end_line, _, stop = self._column_range(last)
        return Location(self.filename, line + 1, column + 1, end_line + 1, stop + 1)

    def slice(self, start: int, end: int) -> str:
        """Return the source text from token ``start`` through token ``end - 1``, lines joined by spaces."""
        line, column, _ = self._column_range(start)
        last_line, _, stop = self._column_range(end - 1)
        if line == last_line:
            return self._line_texts[line][column:stop]
        middle = (t.split("//")[0] for t in self._line_texts[line + 1 : last_line])
        return " ".join((self._line_texts[line][column:].split("//")[0], *middle, self._line_texts[last_line][:stop]))


def decode(data: bytes, filename: str) -> str:
    """Decode a file's bytes as UTF-8; raise ``LoomError`` (``LEX/001``) at the first byte that is not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as failure:
        before = data[: failure.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise error(
            f"the file is not UTF-8: byte 0x{data[failure.start]:02x} at offset {failure.start}",
            "LEX/001",
            Location(filename, line, column, line, column + 1),
            hint="save the file as UTF-8",
        ) from None
