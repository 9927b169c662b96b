"""The ABI step: live-ins, resources and arguments become registers at the kernel's entry, and scalar loads of the
kernarg segment.
"""

from __future__ import annotations

from typing import cast

from loom.ir import Block, RegisterType, Value
from loom.ir import Operation as IrOperation
from loom.low.code import ENTRY, Instruction, Ref, Traits, VirtualRegister
from loom.target.amdgpu.abi import LIVE_IN_CLASSES, EntryState, KernargLayout, entry_state, layout_kernarg
from loom.target.amdgpu.build_state import BuildState
from loom.target.amdgpu.foreign_abi import foreign_kernarg
from loom.target.amdgpu.machine import OFF, Inline, Literal
from loom.target.amdgpu.operation import row_traits
from loom.transform.rejection import rejection

ENTRY_TRAITS = Traits(latency=1, issue="entry", side_effects=True)
KERNARG_KEY = "amdgpu.kernarg_segment_ptr"
_IDS = ("amdgpu.workitem_id.x", "amdgpu.workitem_id.y", "amdgpu.workitem_id.z")


class EntryBuilder:
    """Builds what stands in front of a kernel's own instructions.

    Attributes:
        instructions: What was built: the entry itself, which defines the registers that the hardware sets, then the
            instructions that take values out of them.
    """

    def __init__(self, state: BuildState) -> None:
        self.state = state
        self.instructions: list[Instruction] = []

    def build(self, block: Block) -> tuple[KernargLayout, EntryState]:
        """Give the live-ins, resources and arguments of a kernel with the entry block ``block`` their registers.

        Raises:
            LoomError: ``BACKEND/005`` for a live-in and ``BACKEND/006`` for a resource that breaks the rules.
        """
        live_ins: dict[str, IrOperation] = {}
        resources: dict[int, IrOperation] = {}
        for op in block.parent.walk() if block.parent is not None else ():
            name = op.name
            if name == "low.live_in":
                key = str(op.attributes.get("key") or "")
                if key in live_ins:
                    raise rejection(op, f"live-in {key} is taken twice", "BACKEND/005", "use the first result")
                if key not in LIVE_IN_CLASSES and not self.state.fixed:
                    known = ", ".join(sorted(LIVE_IN_CLASSES))
                    raise rejection(op, f"unknown live-in '{key}'", "BACKEND/005", f"known: {known}")
                live_ins[key] = op
            elif name == "low.resource":
                index = int(cast(int, op.attributes.get("index", 0)))
                kind = str(op.attributes.get("kind") or op.attributes.get("resource_kind") or "hal_binding")
                if kind not in ("hal_binding", "native_pointer"):
                    missing = f"a {kind} has no meaning in an AMDGPU kernel"
                    raise rejection(op, missing, "BACKEND/006", "use low.resource<hal_binding>")
                if index in resources:
                    missing = f"resource index {index} is taken twice"
                    raise rejection(op, missing, "BACKEND/006", "use the first result, or the next free index")
                resources[index] = op
        packed = {k for k in live_ins if "workitem_id.packed." in k}
        if packed and any(k in live_ins for k in _IDS):
            raise rejection(
                live_ins[next(iter(packed))],
                "packed and unpacked workitem ids cannot be mixed",
                "BACKEND/005",
                "take all ids from the packed register, or none",
            )
        if resources and sorted(resources) != list(range(len(resources))):
            hole = next(i for i in range(len(resources) + 1) if i not in resources)
            raise rejection(
                self.state.op,
                f"resource index {hole} is missing",
                "BACKEND/006",
                "number the resources from 0, without a hole",
            )
        arguments = [(a.name or f"arg{i}", cast(RegisterType, a.type).units) for i, a in enumerate(block.arguments)]
        kernarg = layout_kernarg([resources[i].results[0].name or f"binding{i}" for i in sorted(resources)], arguments)
        kernarg = foreign_kernarg(self.state.op.attributes, self.state.op.location) or kernarg
        keys = set(live_ins)
        if (resources or block.arguments) and not self.state.fixed:
            keys.add(KERNARG_KEY)
        entry = entry_state(self.state.generation, sorted(keys))
        head = Instruction(ENTRY, "entry", traits=ENTRY_TRAITS, location=self.state.op.location)
        self.instructions.append(head)
        if self.state.fixed:
            for argument in block.arguments:
                head.defs.append(self.state.define(argument))
            for op in live_ins.values():
                head.defs.append(self.state.define(op.results[0]))
            return kernarg, entry
        made: dict[tuple[str, int], VirtualRegister] = {}
        for key in sorted(keys):
            bank, index, units = entry.registers.get(key, ("sgpr", 0, 1))
            register = made.get((bank, index))
            if register is None:
                single = bank in ("m0", "exec")
                register = made[bank, index] = self.state.code.new_register(
                    f"amdgpu.{bank}",
                    self.state.mask_units if bank == "exec" else units,
                    key.removeprefix("amdgpu.").replace(".", "_"),
                    None if single else index,
                )
                head.defs.append((register, 0, register.units))
            units = register.units
            ref: Ref = (register, 0, units)
            if key in live_ins:
                self._bind_live_in(key, live_ins[key], ref, entry)
        if resources or block.arguments:
            bank, index, _ = entry.registers[KERNARG_KEY]
            pointer = made[bank, index]
            values = [(resources[i].results[0], 8 * i, 2) for i in sorted(resources)]
            offset = 8 * len(resources)
            for argument in block.arguments:
                units = cast(RegisterType, argument.type).units
                values.append((argument, offset, units))
                offset += 4 * units
            self._load_kernarg(pointer, values, kernarg.size)
        return kernarg, entry

    def _bind_live_in(self, key: str, op: IrOperation, ref: Ref, entry: EntryState) -> None:
        """Give a live-in's result its register, or the instructions that take it out of a packed one."""
        result = op.results[0]
        location = op.location
        if key in _IDS and entry.packed_workitem_ids:
            target = self.state.define(result)
            axis = _IDS.index(key)
            if axis == 0:
                made = self.state.row_instruction("v_and_b32", [target], [ref], {"src0": Literal(0x3FF)}, location)
            else:
                made = self.state.row_instruction(
                    "v_bfe_u32",
                    [target],
                    [ref],
                    {"src1": _inline(10 * axis), "src2": _inline(10)},
                    location,
                )
            self.state.added_abi += 1
            self.instructions.append(made)
        elif key in ("amdgpu.workgroup_id.y", "amdgpu.workgroup_id.z") and entry.group_ids_in_ttmp:
            target = self.state.define(result)
            if key.endswith("y"):
                made = self.state.row_instruction("s_and_b32", [target], [ref], {"ssrc1": Literal(0xFFFF)}, location)
            else:
                made = self.state.row_instruction("s_lshr_b32", [target], [ref], {"ssrc1": _inline(16)}, location)
            self.state.added_abi += 1
            self.instructions.append(made)
        elif entry.group_ids_in_ttmp and key == "amdgpu.workgroup_id.x":
            target = self.state.define(result)
            self.state.added_abi += 1
            self.instructions.append(self.state.row_instruction("s_mov_b32", [target], [ref], {}, location))
        else:
            self.state.refs[result] = ref
            ref[0].name = result.name or ref[0].name

    def _load_kernarg(self, pointer: VirtualRegister, values: list[tuple[Value, int, int]], size: int) -> None:
        """Load what is used of the kernarg segment with as few scalar loads as alignment of the parts allows."""
        used = [(value, offset, units) for value, offset, units in values if value.has_uses]
        for value, _, _ in values:
            if not value.has_uses:
                self.state.refs.pop(value, None)
        position = 0
        while position < len(used):
            start = used[position][1]
            best = (1, position + 1, used[position][2])
            end_at = position
            while end_at < len(used):
                value, offset, units = used[end_at]
                words = (offset - start) // 4
                if units == 2 and words % 2:
                    break
                # A hole of more than two unused words is not worth loading.
                if end_at > position and offset - (used[end_at - 1][1] + 4 * used[end_at - 1][2]) > 8:
                    break
                total = words + units
                width = 1 << (total - 1).bit_length()
                if total > 16:
                    break
                if start + 4 * width <= size or width == total:
                    best = (width, end_at + 1, total)
                end_at += 1
            width, stop, _total = best
            if width < used[position][2]:
                width = used[position][2]
            tuple_register = self.state.code.new_register("amdgpu.sgpr", width, used[position][0].name)
            made = self.state.row_instruction(
                f"s_load_b{32 * width}",
                [(tuple_register, 0, width)],
                [(pointer, 0, 2)],
                {"soffset": OFF},
                self.state.op.location,
                offset=start,
            )
            made.traits = row_traits(made.payload.row, True, False)
            made.address = None
            self.state.added_abi += 1
            self.instructions.append(made)
            for value, offset, units in used[position:stop]:
                self.state.refs[value] = (tuple_register, (offset - start) // 4, units)
            position = stop


def _inline(value: int) -> Inline:
    found = Inline.integer(value)
    assert found is not None
    return found
