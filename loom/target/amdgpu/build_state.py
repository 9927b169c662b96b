"""What the steps of building a kernel share: the code so far, and which register holds which value."""

from __future__ import annotations

from loom.diagnostics import Location
from loom.ir import Operation as IrOperation
from loom.ir import RegisterType, Value
from loom.low.code import Instruction, LowCode, Ref, VirtualRegister
from loom.target.amdgpu.machine import Operand
from loom.target.amdgpu.operation import row_instruction
from loom.transform.rejection import rejection


class BuildState:
    """A kernel that is being built.

    Attributes:
        op: The ``low.kernel.def``.
        mask_units: Registers of a lane mask.
        fixed: Whether the text gives every register, and the ABI step does nothing.
        refs: Where each value is.
        added_abi: Instructions that stand for what the text says without an instruction of its own.
    """

    def __init__(self, op: IrOperation, generation: str, processor: str, wave_size: int) -> None:
        self.op = op
        self.generation = generation
        self.processor = processor
        self.wave_size = wave_size
        self.mask_units = wave_size // 32
        self.code = LowCode(
            op.symbol or "kernel",
            str(op.attributes.get("allocation") or "virtual"),
            str(op.attributes.get("schedule") or "free"),
        )
        self.fixed = self.code.allocation == "fixed"
        self.refs: dict[Value, Ref] = {}
        self.added_abi = 0

    def register(self, value: Value) -> VirtualRegister:
        """The register of a value, made on first sight."""
        found = self.refs.get(value)
        if found is not None:
            return found[0]
        type_ = value.type
        if not isinstance(type_, RegisterType):
            raise rejection(
                value.defining_op or self.op,
                f"%{value.name or '?'} is not a register",
                "BACKEND/003",
                "hold values in reg<…>, or compile with --pipeline=default",
            )
        units = type_.units
        if type_.register_class in ("amdgpu.vcc", "amdgpu.exec"):
            units = self.mask_units
        made = self.code.new_register(type_.register_class, units, value.name, type_.location)
        self.refs[value] = (made, 0, units)
        return made

    def define(self, value: Value) -> Ref:
        """Reference to the whole register of a value that is defined."""
        register = self.register(value)
        return register, 0, register.units

    def use(self, value: Value, op: IrOperation) -> Ref:
        """Reference to an operand's value."""
        found = self.refs.get(value)
        if found is None:
            if value.is_block_argument or value.defining_op is not None:
                self.register(value)
                return self.refs[value]
            raise rejection(
                op, f"%{value.name or '?'} has no register", "BACKEND/003", "define it before its use, in this kernel"
            )
        return found

    def row_instruction(
        self,
        mnemonic: str,
        defs: list[Ref],
        uses: list[Ref],
        fixed: dict[str, Operand],
        location: Location | None,
        **modifiers: int,
    ) -> Instruction:
        """An instruction of a table row; see :func:`loom.target.amdgpu.operation.row_instruction`."""
        return row_instruction(self.generation, self.processor, mnemonic, defs, uses, fixed, modifiers, location)
