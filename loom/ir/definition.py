"""What a declaration of an op says. Parser, printer, verifier, builder and the reference pages are driven by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from loom.ir.attributes import Attribute
from loom.ir.types import Type

if TYPE_CHECKING:
    from loom.ir.core import Operation


@dataclass(frozen=True, slots=True)
class TypeConstraint:
    """Which types an operand or result may have; ``description`` completes "must be …"."""

    description: str
    accepts: Callable[[Type], bool]


@dataclass(frozen=True, slots=True)
class OperandDef:
    """A declared operand. ``count`` is ``one``, ``optional`` or ``any``."""

    name: str
    constraint: TypeConstraint
    count: str = "one"


# How the type of a result follows from the op: the name of an operand it equals, or a function of operands and
# attributes.
Inference: TypeAlias = "str | Type | Callable[[Operation], Type | None]"


@dataclass(frozen=True, slots=True)
class ResultDef:
    """A declared result. ``infer`` tells its type where the text need not."""

    name: str
    constraint: TypeConstraint
    count: str = "one"
    infer: Inference | None = None


@dataclass(frozen=True, slots=True)
class AttributeDef:
    """A declared attribute.

    ``kind``: ``int float number bool string word symbol type encoding dict flags ints indices predicates any``.
    ``words`` lists an enum's members (or the flags'); ``default`` is what an absent attribute means and is never
    printed.
    """

    name: str
    kind: str
    optional: bool = False
    words: tuple[str, ...] = ()
    default: Attribute = None
    minimum: int | None = None
    maximum: int | None = None
    power_of_two: bool = False


@dataclass(frozen=True, slots=True)
class RegionDef:
    """A declared region.

    ``terminators`` are the op names that may end its blocks; ``implicit`` is the one that is added when none is
    written. ``isolated``: no value from outside is visible. ``blocks``: ``one`` or ``any`` (CFG).
    """

    name: str
    terminators: tuple[str, ...]
    implicit: str | None = None
    isolated: bool = False
    blocks: str = "one"
    optional: bool = False


@dataclass(slots=True, eq=False)
class OpDefinition:
    """The declaration of one op.

    ``format`` is a picture of the text behind the op's name (see ``loom/text/format.py``). ``traits``: ``pure``,
    ``terminator``, ``commutative``, ``constant``, ``convergent``, ``symbol``, ``module_level``, ``reads``, ``writes``.
    ``same`` lists groups of operands/results/… of equal type. ``fold(op, constants)`` gets a Python value or None
    per operand and returns a list with one Python value, one :class:`~loom.ir.core.Value` or None per result, or
    None. ``verify(op, report)`` calls ``report(code, message, hint)``. ``canonical`` names the op an older spelling
    turns into.
    """

    name: str
    tier: str
    doc: str
    operands: tuple[OperandDef, ...] = ()
    results: tuple[ResultDef, ...] = ()
    attributes: tuple[AttributeDef, ...] = ()
    regions: tuple[RegionDef, ...] = ()
    successors: str = ""
    format: str = ""
    traits: frozenset[str] = frozenset()
    same: tuple[tuple[str, ...], ...] = ()
    parents: tuple[str, ...] = ()
    fold: Callable[[Operation, Sequence[Any]], Sequence[Any] | None] | None = None
    facts: Callable[..., Any] | None = None
    verify: Callable[[Operation, Callable[..., None]], object] | None = None
    example: str = ""
    operand_positions: Mapping[str, int] = field(init=False)
    result_positions: Mapping[str, int] = field(init=False)
    region_positions: Mapping[str, int] = field(init=False)
    attribute_table: Mapping[str, AttributeDef] = field(init=False)
    variadic_operand: int | None = field(init=False)
    needs_segments: bool = field(init=False)
    is_terminator: bool = field(init=False)
    is_pure: bool = field(init=False)
    compiled: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.operand_positions = {o.name: i for i, o in enumerate(self.operands)}
        self.result_positions = {r.name: i for i, r in enumerate(self.results)}
        self.region_positions = {r.name: i for i, r in enumerate(self.regions)}
        self.attribute_table = {a.name: a for a in self.attributes}
        groups = [i for i, o in enumerate(self.operands) if o.count != "one"]
        self.needs_segments = len(groups) > 1
        self.variadic_operand = groups[0] if len(groups) == 1 else None
        self.is_terminator = "terminator" in self.traits
        self.is_pure = "pure" in self.traits
        self.compiled = {}

    @property
    def dialect(self) -> str:
        """The first part of the name."""
        return self.name.split(".", 1)[0]

    def has_trait(self, trait: str) -> bool:
        """Whether the declaration has the trait."""
        return trait in self.traits
