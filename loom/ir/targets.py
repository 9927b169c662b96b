"""How lower rooms reach targets without importing them: protocols, and registries of import strings.

A descriptor set tells the Low dialect which register classes and instructions a target has. The target's room
implements the protocol; it is imported when the first function that names one of its sets is met.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DescriptorOperand:
    """An operand of an instruction: its name, the register classes it takes and how many units of 32 bits.

    ``part`` is ``low16`` or ``high16`` where only half of the register is used. ``special`` marks an explicit
    operand in a register that exists once (scc, m0) or that the result replaces. ``optional`` operands may be left
    out (pass-through).
    """

    name: str
    register_classes: tuple[str, ...]
    units: int = 1
    part: str | None = None
    special: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class DescriptorResult:
    """A result of an instruction; ``tied_operand`` names the operand whose register it reuses."""

    name: str
    register_classes: tuple[str, ...]
    units: int = 1
    part: str | None = None
    special: bool = False
    tied_operand: str | None = None


@dataclass(frozen=True, slots=True)
class DescriptorImmediate:
    """An immediate of an instruction.

    ``bits`` and ``signed`` bound its value; ``words`` or ``values`` list an enumeration's members; ``default`` is
    None where it must be written; ``positional`` immediates follow the operands, the others are named in braces.
    """

    name: str
    bits: int = 32
    signed: bool = False
    words: tuple[str, ...] = ()
    values: tuple[int, ...] = ()
    default: int | str | None = None
    positional: bool = False


@dataclass(frozen=True, slots=True)
class Descriptor:
    """One instruction as the Low text sees it.

    ``mnemonic`` is its asm spelling, None for an instruction that only has the canonical form. ``effects``: subset
    of ``read``, ``write``, ``barrier``, ``control``.
    """

    key: str
    mnemonic: str | None
    operands: tuple[DescriptorOperand, ...] = ()
    results: tuple[DescriptorResult, ...] = ()
    immediates: tuple[DescriptorImmediate, ...] = ()
    implicit_reads: tuple[str, ...] = ()
    implicit_writes: tuple[str, ...] = ()
    effects: frozenset[str] = field(default_factory=frozenset)

    @property
    def is_pure(self) -> bool:
        """Whether the instruction only computes its results."""
        return not self.effects


@dataclass(frozen=True, slots=True)
class RegisterClass:
    """A register class: number of registers and whether it is a single special register."""

    name: str
    count: int
    unit_bits: int = 32
    special: bool = False
    spillable: bool = True


class DescriptorSet(Protocol):
    """What a target says about its instructions."""

    @property
    def name(self) -> str:
        """The key written in ``target<…>``."""
        ...

    @property
    def register_classes(self) -> Mapping[str, RegisterClass]:
        """Register classes by name."""
        ...

    def lookup(self, key: str) -> Descriptor | None:
        """Return the instruction of that key (any accepted spelling, with the family's prefix)."""
        ...

    def by_mnemonic(self, mnemonic: str) -> Descriptor | None:
        """Return the instruction of that asm mnemonic (any accepted spelling)."""
        ...

    def mnemonics(self) -> Iterable[str]:
        """All asm mnemonics, for suggestions."""
        ...

    def elsewhere(self, mnemonic: str) -> str | None:
        """Say where an instruction exists that the set does not have, as a hint; None where nothing is known."""
        ...

    def live_ins(self) -> Iterable[str]:
        """Keys that ``low.live_in`` accepts; a mapping also gives their register class and unit count."""
        ...


_PROVIDERS: dict[str, str] = {}
_SETS: dict[str, DescriptorSet | None] = {}
_SELECTORS: dict[str, str] = {}
_NAMES: dict[str, str] = {}


def register_descriptor_sets(family: str, provider: str, names: str | None = None) -> None:
    """Register a target family's provider: ``"module:function"``; it takes a set's name, returns it or None.

    ``names``: ``"module:attribute"`` with the names of the sets, for messages.
    """
    _PROVIDERS[family] = provider
    if names is not None:
        _NAMES[family] = names
    for name in [n for n in _SETS if n.partition(".")[0] == family]:
        del _SETS[name]


def descriptor_set(name: str) -> DescriptorSet | None:
    """Return the descriptor set of that name, importing its target; None when no target has it."""
    if name in _SETS:
        return _SETS[name]
    provider = _PROVIDERS.get(name.partition(".")[0])
    found: DescriptorSet | None = None
    if provider is not None:
        module, _, function = provider.partition(":")
        found = getattr(importlib.import_module(module), function)(name)
    _SETS[name] = found
    return found


def known_sets() -> list[str]:
    """Names of the descriptor sets of all families that say them."""
    found: list[str] = []
    for names in _NAMES.values():
        module, _, attribute = names.partition(":")
        found.extend(getattr(importlib.import_module(module), attribute))
    return found


def register_selectors(family: str, provider: str) -> None:
    """Register ``"module:function"``: a target record's selector → its descriptor set's name or None."""
    _SELECTORS[family] = provider


def set_of_selector(family: str, selector: str) -> str | None:
    """Return the name of the descriptor set that a target record of that selector stands for, None when unknown."""
    provider = _SELECTORS.get(family)
    if provider is None:
        return None
    module, _, function = provider.partition(":")
    found: str | None = getattr(importlib.import_module(module), function)(selector)
    return found


def descriptor_families() -> list[str]:
    """Target families with a provider."""
    return sorted(_PROVIDERS)
