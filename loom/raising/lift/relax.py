"""Relax a lifted kernel: give its registers, then its order, to the backend.

``allocation``: physical registers become virtual ones. Instructions and their order stay, except for what only makes
sense with fixed registers: waits, nops, delay hints and clauses go (the emitter derives its own), dual-issue pairs are
split into their halves (their register bank rules bind registers), encoding choices are left open.
``schedule``: in addition the order within blocks is the scheduler's.
"""

from __future__ import annotations

from loom.diagnostics import error
from loom.ir import Attribute, Operation, RegisterType, Value, Word
from loom.ir.registry import lookup
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.tables import find_row

#: Instructions without effect on values that the emitter makes again where they are needed.
_DERIVED = frozenset(("s_nop", "s_delay_alu", "s_clause", "s_set_inst_prefetch_distance", "s_inst_prefetch"))
_DERIVED_PREFIXES = ("s_waitcnt", "s_wait_loadcnt", "s_wait_storecnt", "s_wait_samplecnt", "s_wait_bvhcnt")
_DERIVED_MORE = frozenset(("s_wait_expcnt", "s_wait_dscnt", "s_wait_kmcnt", "s_wait_xcnt", "s_wait_alu"))

#: Branches that are ops land where control goes anyway.
_NO_BRANCH = ("s_branch", "s_cbranch_")

#: Gives back the registers of a wave before it ends; the emitter knows best whether that is allowed.
_RELEASE = "s_sendmsg"
_DEALLOC_VGPRS = 3

_BY_NUMBER = ("finds its register by a number in M0", "keep what is indexed in memory or LDS")

#: Classes of which one register exists: they stay what they are.
_SPECIAL = frozenset(("amdgpu.exec", "amdgpu.scc", "amdgpu.m0", "amdgpu.flat_scratch", "amdgpu.xnack_mask"))

#: Instructions that stay right only while code and registers are where they were, by the beginning of their names.
_IN_PLACE = {
    "s_getpc_b64": ("reads the place of the code", "keep data that the kernel reads in a buffer argument"),
    "s_movrel": _BY_NUMBER,
    "v_movrel": _BY_NUMBER,
    "v_swaprel": _BY_NUMBER,
}


def _virtual(type_: RegisterType) -> RegisterType:
    """The type without a physical location; the high half of VCC is a scalar register like any other."""
    if type_.register_class in _SPECIAL:
        return type_
    if type_.register_class == "amdgpu.vcc":
        return RegisterType("amdgpu.sgpr", type_.units) if type_.location else type_
    if type_.register_class == "amdgpu.ttmp":
        return RegisterType("amdgpu.sgpr", type_.units)
    return type_.at(None)


def _mnemonic(op: Operation) -> str:
    return str(op.attributes["key"]).removeprefix("amdgpu.")


def _derived(op: Operation, mnemonic: str) -> bool:
    if mnemonic in _DERIVED or mnemonic in _DERIVED_MORE or mnemonic.startswith((*_DERIVED_PREFIXES, *_NO_BRANCH)):
        return True
    if mnemonic == _RELEASE:
        immediates = op.attributes.get("immediates")
        return isinstance(immediates, dict) and immediates.get("simm16") == _DEALLOC_VGPRS
    return False


def relax(kernel: Operation, generation: str, what: str) -> None:
    """Relax a lifted ``low.kernel.def`` in place.

    Args:
        kernel: The kernel, ``allocation(fixed) schedule(locked)``.
        generation: Instruction table of its target.
        what: ``allocation`` or ``schedule`` (which includes the former).

    Raises:
        LoomError: ``LIFT/010`` for a kernel that is not fixed, ``LIFT/011`` for one whose code must stay where it is.
    """
    if kernel.attributes.get("allocation") != "fixed":
        raise error(f"@{kernel.symbol} has no fixed allocation to relax", "LIFT/010", kernel.location)
    for block in kernel.regions[0].blocks:
        for op in block.operations:
            if op.name == "low.op":
                mnemonic = _mnemonic(op)
                _check_free_of_place(op, mnemonic, str(kernel.symbol))
                if _derived(op, mnemonic):
                    op.erase()
                    continue
                _open_encoding(op)
                if "." in mnemonic and what == "schedule":
                    _split_pair(op, mnemonic, generation)
            elif op.name == "low.live_in" and str(op.attributes["key"]).startswith("amdgpu.undefined."):
                _define(op)
    for block in kernel.regions[0].blocks:
        for argument in block.arguments:
            _retype(argument)
        for op in block.operations:
            for result in op.results:
                _retype(result)
    kernel.attributes["allocation"] = Word("virtual")
    kernel.attributes["schedule"] = Word("locked" if what == "allocation" else "free")
    _relax_layout(kernel)


def _check_free_of_place(op: Operation, mnemonic: str, kernel: str) -> None:
    found = next((reason for start, reason in _IN_PLACE.items() if mnemonic.startswith(start)), None)
    if found is None and mnemonic == "v_swap_b16" and type_location(op.results[0]) == type_location(op.results[-1]):
        found = ("exchanges the halves of one register", "write v_alignbit_b32 of the register with itself by 16")
    if found is not None:
        what, hint = found
        raise error(f"@{kernel} cannot be relaxed: {mnemonic} {what}", "LIFT/011", op.location, hint=hint)


def _retype(value: Value) -> None:
    type_ = value.type
    if isinstance(type_, RegisterType):
        virtual = _virtual(type_)
        if virtual is not type_:
            value.retype(virtual)


def _open_encoding(op: Operation) -> None:
    """Leave the choice between short and long encodings open; forms that mean something stay."""
    op.attributes.pop("raw", None)
    form = op.attributes.get("form")
    if form in ("e32", "e64", "vopd"):
        del op.attributes["form"]


def _define(op: Operation) -> None:
    """Replace a register that nothing wrote by a constant: its value cannot matter to a correct kernel."""
    result = op.results[0]
    if not result.has_uses:
        op.erase()
        return
    assert isinstance(result.type, RegisterType)
    vector = result.type.register_class in ("amdgpu.vgpr", "amdgpu.agpr")
    key, slot = ("v_mov_b32", "src0") if vector else ("s_mov_b32", "ssrc0")
    definition = lookup("low.op")
    assert definition is not None
    register_class = "amdgpu.vgpr" if vector else result.type.register_class
    made = Operation(
        definition,
        (),
        (RegisterType(register_class, 1, result.type.location),),
        {"key": Word(f"amdgpu.{key}"), "immediates": {slot: 0}},
    )
    made.comments = ("// undefined in the original",)
    made.results[0].name = result.name
    assert op.parent is not None
    anchor = op.next
    while anchor is not None and anchor.name == "low.live_in":
        anchor = anchor.next
    op.parent.insert_before(anchor, made)
    result.replace_all_uses_with(made.results[0])
    op.erase()


def _half_row(mnemonic: str, generation: str) -> InstructionRow:
    name = mnemonic.replace("v_dual_", "v_", 1)
    row = find_row(generation, name)
    if row is None:
        raise error(f"{generation} has no instruction {name}", "LIFT/012")
    return row


def _split_pair(op: Operation, mnemonic: str, generation: str) -> None:
    """Turn a dual-issue pair into two instructions; both halves keep reading what stood there before the pair."""
    immediates = op.attributes.get("immediates")
    table: dict[str, Attribute] = dict(immediates) if isinstance(immediates, dict) else {}
    x_table = {k: v for k, v in table.items() if not k.startswith("y_")}
    y_table = {k[2:]: v for k, v in table.items() if k.startswith("y_")}
    x_name, y_name = mnemonic.split(".")
    literal = x_table.get("literal", y_table.get("literal"))
    taken = [0]
    definition = op.definition
    halves: list[tuple[InstructionRow, dict[str, Attribute], list[Value], Value | None]] = []
    state = [v for v in op.operands if v.type.register_class in ("amdgpu.exec", "amdgpu.vcc")]  # type: ignore[attr-defined]
    for name, half in ((x_name, x_table), (y_name, y_table)):
        row = _half_row(name, generation)
        operands: list[Value] = []
        for slot in row.slots:
            if slot.is_use and slot.name not in half and slot.type != "mask":
                operands.append(op.operands[taken[0]])
                taken[0] += 1
        if any(value == "literal" for value in half.values()) or "literal" in half:
            assert literal is not None
            half["literal"] = literal
        halves.append((row, half, operands, None))
    rest = op.operands[taken[0] :]
    masks = [v for v in rest if v in state]
    through = [v for v in rest if v not in state]
    assert op.parent is not None
    for position, (row, half, operands, _) in enumerate(halves):
        result = op.results[position]
        vcc = [v for v in masks if v.type.register_class == "amdgpu.vcc"]  # type: ignore[attr-defined]
        execution = [v for v in masks if v.type.register_class == "amdgpu.exec"]  # type: ignore[attr-defined]
        values = list(operands)
        if any(slot.is_use and slot.type == "mask" for slot in row.slots):
            values += vcc[:1]
        values += execution[:1]
        attributes: dict[str, Attribute] = {"key": Word(f"amdgpu.{row.mnemonic}")}
        if any(slot.role == "def_use" for slot in row.slots):
            attributes["ties"] = (0,)  # the accumulator is the first slot
        else:
            wanted = type_location(result)
            old = [v for v in through if type_location(v) == wanted]
            if old:
                attributes["ties"] = (len(values),)
                values.append(old[0])
        if half:
            attributes["immediates"] = half
        assert isinstance(result.type, RegisterType)
        made = Operation(definition, values, (result.type,), attributes, location=op.location)
        made.results[0].name = result.name
        if position == 0:
            made.comments = op.comments
        op.parent.insert_before(op, made)
        result.replace_all_uses_with(made.results[0])
    op.erase()


def type_location(value: Value) -> tuple[str, int | None]:
    """Register class and first physical register of a value."""
    assert isinstance(value.type, RegisterType)
    return value.type.register_class, value.type.location


def _relax_layout(kernel: Operation) -> None:
    """Replace the descriptor as found by the modes that the code depends on."""
    layout = kernel.attributes.get("abi_layout")
    if not isinstance(layout, dict):
        return
    relaxed = dict(layout)
    descriptor = relaxed.pop("descriptor", None)
    if isinstance(descriptor, dict):
        rsrc1 = descriptor.get("compute_pgm_rsrc1", 0)
        assert isinstance(rsrc1, int)
        relaxed["modes"] = {
            "dx10_clamp": (rsrc1 >> 21) & 1,
            "float_mode": (rsrc1 >> 12) & 0xFF,
            "group_segment_fixed_size": descriptor.get("group_segment_fixed_size", 0),
            "ieee_mode": (rsrc1 >> 23) & 1,
            "private_segment_fixed_size": descriptor.get("private_segment_fixed_size", 0),
        }
    kernel.attributes["abi_layout"] = relaxed
