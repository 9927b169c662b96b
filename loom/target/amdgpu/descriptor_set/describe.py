"""An instruction as the parser and the verifier of Low text see it: operands, results, immediates, effects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loom.ir.targets import Descriptor, DescriptorImmediate, DescriptorOperand, DescriptorResult
from loom.target.amdgpu.descriptor_set.variants import Variant
from loom.target.amdgpu.instruction import InstructionRow, OperandSlot

_MEMORY_WORDS = ("alias", "invariant", "volatile", "message")
"""What a memory instruction may say besides its modifiers (docs/lowering.md)."""


def _classes_of(slot: OperandSlot) -> tuple[str, ...]:
    order = ("vgpr", "agpr", "sgpr", "vcc", "exec", "m0", "ttmp", "scc")
    return tuple(f"amdgpu.{kind}" for kind in order if kind in slot.kinds)


def _registers(slot: OperandSlot) -> bool:
    return bool(_classes_of(slot))


def _part(slot: OperandSlot) -> str | None:
    return "low16" if slot.type in ("f16", "bf16", "i16", "u16", "b16") and "vgpr" in slot.kinds else None


_STATE_RESULTS = ("s_cmp", "s_cmpk", "s_bitcmp")
"""Scalar instructions whose asm form names SCC as its result; other writers of SCC leave it unnamed."""


_STATE_READERS = ("s_cselect", "s_addc", "s_subb", "s_add_co_ci", "v_div_fmas")
"""Instructions whose asm form names the state it reads."""


def _unit_choices(row: InstructionRow, slot: OperandSlot) -> tuple[int, ...]:
    """Register counts an operand may have: lane masks depend on the wave, vector addresses on the scalar one beside
    them."""
    if slot.type == "mask":
        return (1, 2)
    if slot.name == "vaddr" and slot.units == 2 and row.memory is not None and row.memory.space in ("global", "buffer"):
        return (2, 1)
    return (max(1, slot.units),)


def _table_immediates(row: InstructionRow, known: set[str]) -> Iterator[DescriptorImmediate]:
    """What the table form may say besides: the literal's bits, halves of 16-bit registers, absent results."""
    if any("literal" in slot.kinds for slot in row.slots):
        yield DescriptorImmediate("literal", 32, False, default=0)
    for slot in row.slots:
        if _part(slot) is not None:
            yield DescriptorImmediate(f"{slot.name}_half", 1, default=0)
        if slot.is_def and slot.name not in known:
            yield DescriptorImmediate(slot.name, 32, default=0, words=("null", "off"))


def describe(name: str, row: InstructionRow, variant: Variant | None, with_row: bool, asm: bool) -> Descriptor:
    """The descriptor of an instruction.

    Args:
        name: The mnemonic as it was asked for.
        row: Its row.
        variant: What the name means in the reference form, if it has such a meaning.
        with_row: Whether the name is a mnemonic of the table itself, without a suffix.
        asm: The asm view, which has exactly the results that the reference's text names. The view by key takes the
            table form too: sources may be immediates, state may be results.
    """
    operands, results, immediates = _slots(row, variant, with_row, asm, name)
    results += _state_results(row, variant, asm, name)
    operands += _state_operands(row, variant, asm)
    immediates += _named_immediates(variant, asm)
    implied = {modifier for modifier, _ in variant.modifiers} if variant is not None else set()
    immediates += [
        DescriptorImmediate(m.name, m.width, m.signed, default=m.default)
        for m in row.modifiers
        if m.name != "lds" and m.name not in implied  # loads into LDS have mnemonics of their own
    ]
    if not asm:
        immediates += _table_immediates(row, {i.name for i in immediates})
        if row.mnemonic.startswith("s_barrier"):
            # What the barrier publishes; docs/lowering.md.
            immediates.append(DescriptorImmediate("memory", words=("workgroup", "global", "all"), default="all"))
        if row.memory is not None:
            immediates += [DescriptorImmediate(word, 1, default=0) for word in _MEMORY_WORDS]
    return Descriptor(
        f"amdgpu.{name}",
        name,
        tuple(operands),
        tuple(results),
        tuple(immediates),
        tuple(row.implicit_uses),
        tuple(row.implicit_defs),
        _effects(row, variant),
    )


def _slots(
    row: InstructionRow, variant: Variant | None, with_row: bool, asm: bool, name: str
) -> tuple[list[DescriptorOperand], list[DescriptorResult], list[DescriptorImmediate]]:
    """What the slots of a row take and give."""
    constant = {entry[1] for entry in variant.immediates} if variant is not None else set()
    fixed = {slot for slot, _ in variant.fixed} if variant is not None else set()
    operands: list[DescriptorOperand] = []
    results: list[DescriptorResult] = []
    immediates: list[DescriptorImmediate] = []
    for slot in row.slots:
        if slot.name in fixed:
            if not asm:
                immediates.append(DescriptorImmediate(slot.name, 32, default=0))
            continue
        classes = _classes_of(slot)
        if not asm and "amdgpu.sgpr" in classes:
            classes = (*classes, "amdgpu.ttmp")  # named by the same codes
        choices = _unit_choices(row, slot)
        if slot.is_def:
            results += _slot_results(row, slot, classes, choices, asm, name)
        if slot.is_use and not (slot.name in constant and (asm or not with_row)):
            if not classes:
                if slot.name not in constant or not asm:
                    default = None if asm else 0
                    immediates.append(DescriptorImmediate(slot.name, 32, True, default=default, positional=True))
            elif asm:
                # What a load into the low half leaves of the high half need not be named.
                optional = "off" in slot.kinds or (slot.role == "def_use" and row.mnemonic.endswith("_d16"))
                operands.append(DescriptorOperand(slot.name, classes, choices[-1], _part(slot), False, optional))
            else:
                optional = not _strict(slot) or len(choices) > 1
                optional = optional or (slot.is_def and row.mnemonic.endswith("_d16"))
                operands += [DescriptorOperand(slot.name, classes, n, _part(slot), False, optional) for n in choices]
    return _resource_first(operands, asm), results, immediates


def _slot_results(
    row: InstructionRow, slot: OperandSlot, classes: tuple[str, ...], choices: tuple[int, ...], asm: bool, name: str
) -> list[DescriptorResult]:
    tied = slot.name if slot.role == "def_use" else None
    if not asm:
        loose = len(choices) > 1 or "null" in slot.kinds or "off" in slot.kinds
        # An atomic that is not asked for the old value gives none.
        loose = loose or (row.memory is not None and row.memory.kind == "atomic")
        return [DescriptorResult(slot.name, classes, n, _part(slot), loose, tied) for n in choices]
    shown = ("amdgpu.sgpr",) if "amdgpu.sgpr" in classes and "amdgpu.vgpr" not in classes else classes
    if "amdgpu.vgpr" in shown and not row.mnemonic.startswith(("v_mfma", "v_smfmac")):
        shown = ("amdgpu.vgpr",)  # accumulators must be asked for, by the written type
    if name.endswith(("_m0", "_m0_imm")):
        shown = ("amdgpu.m0",)
    return [DescriptorResult(slot.name, shown, max(choices), _part(slot), False, tied)]


def _resource_first(operands: list[DescriptorOperand], asm: bool) -> list[DescriptorOperand]:
    """Buffer instructions: the reference puts the resource before the vector address, LLVM behind it; keys take
    either order."""
    at = next((n for n, o in enumerate(operands) if o.name == "srsrc"), None)
    if at is None:
        return operands
    addresses = [o for o in operands if o.name == "vaddr"]
    if asm:
        operands = [o for o in operands if o.name != "vaddr"]
        at -= len(addresses)
    else:
        addresses = [replace(o, optional=True) for o in addresses]
    return [*operands[: at + 1], *addresses, *operands[at + 1 :]]


def _state_results(row: InstructionRow, variant: Variant | None, asm: bool, name: str) -> list[DescriptorResult]:
    written = (*row.implicit_defs, *(variant.state_defs if variant is not None else ()))
    named = row.mnemonic.startswith(_STATE_RESULTS) or "saveexec" in name or name == f"{row.mnemonic}_exec"
    return [
        DescriptorResult(state, (f"amdgpu.{state}",), 1, None, True)
        for state in ("scc", "vcc", "exec", "m0")
        if state in written and (not asm or (named and state == "scc"))
    ]


def _state_operands(row: InstructionRow, variant: Variant | None, asm: bool) -> list[DescriptorOperand]:
    shown = ("scc", "vcc") if row.mnemonic.startswith(_STATE_READERS) else ()
    return [
        DescriptorOperand(state, (f"amdgpu.{state}",), 1, None, True, True)
        for state in ("scc", "vcc", "m0", "exec")
        if (state in row.implicit_uses or (state == "m0" and variant is not None and state in variant.state_uses))
        and (not asm or state in shown)
    ]


#: What a counter that is not named counts to: no wait.
_NOT_WAITED = {"vmcnt": 63, "lgkmcnt": 63, "expcnt": 7}


def _named_immediates(variant: Variant | None, asm: bool) -> list[DescriptorImmediate]:
    """The immediates that the reference form names."""
    found = []
    for name, _slot, how in variant.immediates if variant is not None else ():
        default = _NOT_WAITED.get(name) if how == "wait" else None
        if not asm and default is None:
            default = 0
        bits = 1 if how.startswith("bit") else 32
        if bits == 1:
            default = 0
        found.append(DescriptorImmediate(name, bits, True, default=default, positional=variant.positional))  # type: ignore[union-attr]
    return found


#: Effects of each kind of memory access.
_MEMORY_EFFECTS = {
    "load": ("read",),
    "store": ("write",),
    "atomic": ("read", "write"),
    "load_lds": ("read", "write"),
    "cache": ("barrier",),
}
_ORDERING = ("s_barrier", "s_wait", "s_sendmsg", "s_sleep", "s_nop", "s_setprio")


def _effects(row: InstructionRow, variant: Variant | None) -> frozenset[str]:
    kind = row.memory.kind if row.memory is not None else ""
    if variant is not None and ("lds", 1) in variant.modifiers:
        kind = "load_lds"
    effects = set(_MEMORY_EFFECTS.get(kind, ()))
    if row.issue_class == "branch":
        effects.add("control")
    if row.mnemonic.startswith(_ORDERING):
        effects.add("barrier")
    if (variant is not None and variant.state_defs) or "exec" in row.implicit_defs:
        effects.add("write")
    return frozenset(effects)


def _strict(slot: OperandSlot) -> bool:
    """Whether only a register can stand in a slot."""
    return not any(kind in slot.kinds for kind in ("inline", "literal", "imm", "off", "null"))


def describe_dual(name: str, first: InstructionRow, second: InstructionRow) -> Descriptor:
    """The descriptor of a dual-issue pair: what the X half has, then what the Y half has, immediates of Y under
    ``y_…``."""
    x = describe(name, first, None, True, False)
    y = describe(name, second, None, True, False)
    y_immediates = tuple(
        DescriptorImmediate(f"y_{i.name}", i.bits, i.signed, i.words, i.values, i.default) for i in y.immediates
    )
    # Slots of X, slots of Y, then the state that either reads.
    slots = tuple(o for o in (*x.operands, *y.operands) if not o.special)
    state = {o.name: o for o in (*x.operands, *y.operands) if o.special}
    ordered = tuple(state[key] for key in ("scc", "vcc", "m0", "exec") if key in state)
    return Descriptor(
        f"amdgpu.{name}",
        None,
        slots + ordered,
        x.results + y.results,
        x.immediates + y_immediates,
        tuple(dict.fromkeys((*x.implicit_reads, *y.implicit_reads))),
        tuple(dict.fromkeys((*x.implicit_writes, *y.implicit_writes))),
    )


def describe_buffer_descriptor(name: str) -> Descriptor:
    """The pseudo instructions that make a buffer's resource from its binding (section 5.4 of the reference)."""
    operands = [DescriptorOperand("binding", ("amdgpu.sgpr",), 2)]
    immediates = [DescriptorImmediate("cache_swizzle_stride", default=0)]
    if name.endswith("extent"):
        operands.append(DescriptorOperand("extent", ("amdgpu.sgpr",), 1))
    else:
        immediates.append(DescriptorImmediate("extent", default=None))
    return Descriptor(
        f"amdgpu.{name}",
        None,
        tuple(operands),
        (DescriptorResult("descriptor", ("amdgpu.sgpr",), 4),),
        tuple(immediates),
    )
