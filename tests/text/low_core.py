"""The descriptor set ``test.low.core``: a small machine for tests of the Low text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loom.ir.targets import (
    Descriptor,
    DescriptorImmediate,
    DescriptorOperand,
    DescriptorResult,
    DescriptorSet,
    RegisterClass,
)

R = ("test.r",)


def _operands(*names: str) -> tuple[DescriptorOperand, ...]:
    return tuple(DescriptorOperand(n, R, 2 if n == "pointer" else 1) for n in names)


_RESULT = (DescriptorResult("result", R),)
_OFFSET = (DescriptorImmediate("offset", 12, False, default=0),)
DESCRIPTORS = (
    Descriptor("test.add", "add", _operands("lhs", "rhs"), _RESULT),
    Descriptor(
        "test.add_carry",
        "add_carry",
        _operands("lhs", "rhs"),
        (DescriptorResult("result", R), DescriptorResult("carry", ("test.flag",))),
    ),
    Descriptor("test.constant", "constant", (), _RESULT, (DescriptorImmediate("value", 32, False, positional=True),)),
    Descriptor(
        "test.shift_left",
        "shift_left",
        _operands("value"),
        _RESULT,
        (DescriptorImmediate("count", 5, positional=True),),
    ),
    Descriptor("test.load", "load", _operands("address", "pointer"), _RESULT, _OFFSET, effects=frozenset(["read"])),
    Descriptor(
        "test.store", "store", _operands("address", "value", "pointer"), (), _OFFSET, effects=frozenset(["write"])
    ),
    Descriptor("test.any", "any", _operands("value"), (DescriptorResult("result", ("test.r", "test.w")),)),
    Descriptor(
        "test.accumulate",
        "accumulate",
        _operands("acc", "lhs", "rhs"),
        (DescriptorResult("result", R, tied_operand="acc"),),
    ),
    Descriptor("test.mode", "mode", (), (), (DescriptorImmediate("kind", words=("fast", "exact"), positional=True),)),
    Descriptor("test.hidden", None, _operands("value"), _RESULT),
)


class LowCore:
    """Implements :class:`loom.ir.targets.DescriptorSet`."""

    name = "test.low.core"
    register_classes: Mapping[str, RegisterClass] = {
        "test.r": RegisterClass("test.r", 16),
        "test.w": RegisterClass("test.w", 8, 64),
        "test.flag": RegisterClass("test.flag", 1, 1, special=True, spillable=False),
    }

    def lookup(self, key: str) -> Descriptor | None:
        return next((d for d in DESCRIPTORS if d.key == key), None)

    def by_mnemonic(self, mnemonic: str) -> Descriptor | None:
        return next((d for d in DESCRIPTORS if d.mnemonic == mnemonic), None)

    def mnemonics(self) -> Iterable[str]:
        return [d.mnemonic for d in DESCRIPTORS if d.mnemonic is not None]

    def elsewhere(self, mnemonic: str) -> str | None:
        return None

    def live_ins(self) -> Iterable[str]:
        return ["test.lane", "test.group", "test.workitem_id.packed", "test.workitem_id.x"]


def provide(name: str) -> DescriptorSet | None:
    """Return the set; registered as ``tests.text.low_core:provide``."""
    return LowCore() if name == "test.low.core" else None
