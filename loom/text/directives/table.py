"""Every construct by the name that formats call it by (``!name``)."""

from __future__ import annotations

from loom.text.directives import carried, cases, checks, low, operands, signatures, symbols
from loom.text.steps import Directive

DIRECTIVES: dict[str, Directive] = {
    name: directive
    for part in (signatures, carried, operands, cases, symbols, checks, low)
    for name, directive in part.DIRECTIVES.items()
}
