"""Steps: what parses and what prints one piece of an op's text, and the state that parsing fills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loom.ir.core import Operation
from loom.ir.definition import OpDefinition

if TYPE_CHECKING:
    from loom.text.parser import Parser
    from loom.text.printer import Printer

ParseStep = Callable[["Parser", "OpState"], None]
PrintStep = Callable[["Printer", Operation], None]


class OpState:
    """What has been read of one op so far. ``groups`` and ``types`` follow the declaration's operands and results."""

    __slots__ = (
        "attributes",
        "definition",
        "groups",
        "mark",
        "names",
        "regions",
        "scopes",
        "start",
        "successors",
        "types",
    )

    def __init__(self, definition: OpDefinition, names: list[str], start: int) -> None:
        self.definition = definition
        self.names = names
        self.start = start
        self.groups: list[Any] = [None] * len(definition.operands)
        self.types: list[Any] = [None] * len(definition.results)
        self.attributes: dict[str, Any] = {}
        self.regions: list[Any] = [None] * len(definition.regions)
        self.successors: list[Any] = []
        self.scopes: list[Any] = []
        self.mark = -1


@dataclass(frozen=True, slots=True)
class Directive:
    """A construct with code of its own. ``starts(token)``: whether it is there; ``present(op)``: whether to print it.

    ``arguments`` of ``make`` come from the format's parentheses; it returns the two steps.
    """

    make: Callable[[OpDefinition, tuple[str, ...]], tuple[ParseStep, PrintStep]]
    starts: Callable[[str], bool] = lambda token: True
    present: Callable[[Operation, tuple[str, ...]], bool] = lambda op, arguments: True
