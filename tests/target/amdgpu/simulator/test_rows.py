"""Every arithmetic row of gfx11 through the translator, in each of its forms, against the NumPy evaluation of its operation.

The semantic operations themselves are tested in tests/low/semantics; here it is the way from an instruction's slots to the operation
and back: register classes, widths, lane masks, destinations, EXEC.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from loom.low.semantics.operation import Mode, words_of
from loom.low.semantics.table import evaluate, find_operation
from loom.target.amdgpu.instruction import InstructionRow, OperandSlot
from loom.target.amdgpu.machine import Immediate, MachineInstruction, Operand, Register
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.block import BlockValues
from loom.target.amdgpu.simulator.compile import Library, compile_text, has_hardware_fma
from loom.target.amdgpu.simulator.emit import Emitter
from loom.target.amdgpu.simulator.runtime import runtime_text
from loom.target.amdgpu.tables import table

WAVE = 32
VGPRS = 64
EXEC = 0x0FF0FFFF


def rows() -> list[InstructionRow]:
    return [
        r for r in table("gfx11").rows()
        if r.memory is None and find_operation(r.semantic, WAVE) is not None and r.issue_class not in ("branch", "wait", "message")
        and "addk" not in r.mnemonic and "exec_b64" not in r.mnemonic
    ]  # fmt: skip


def place(slot: OperandSlot, number: int) -> Operand:
    """A register of its own for each operand: vectors from v8, scalars from s8."""
    units = slot.units_for(WAVE)
    if "vgpr" in slot.kinds:
        return Register("vgpr", 8 + 8 * number, units)
    if "sgpr" in slot.kinds:
        return Register("sgpr", 8 + 8 * number, units)
    if "vcc" in slot.kinds:
        return Register("vcc", 0, 1)
    if "exec" in slot.kinds:
        return Register("exec", 0, 1)
    return Immediate(5)


def build(batch: list[MachineInstruction]) -> Library:
    """One function for each instruction: state block in, state block changed."""
    lines: list[str] = []
    values = BlockValues(lines, WAVE, False)
    emitter = Emitter(values, "gfx11", VGPRS, 0, has_hardware_fma())
    for number, instruction in enumerate(batch):
        lines.append(f"define void @row{number}(ptr noalias %st) {{\n")
        values.prefix = f"r{number}."
        values.reset(False)
        emitter.mode = Mode()
        emitter.commit(emitter.compute(instruction))
        values.flush()
        lines.append("  ret void\n}\n")
    text = "".join(sorted(f"{d}\n" for d in emitter.declarations)) + "".join(lines)
    return Library([compile_text(text), compile_text(runtime_text(WAVE))], [f"row{n}" for n in range(len(batch))])


def fresh_state(rng: np.random.Generator) -> np.ndarray:
    raw = np.zeros(L.VGPRS + VGPRS * WAVE * 4 + 128, np.uint8)
    words = raw[: L.VGPRS + VGPRS * WAVE * 4].view(np.uint32)
    numbers = (rng.standard_normal(len(words)) * 8).astype(np.float32).view(np.uint32)
    words[:] = np.where(rng.integers(0, 2, len(words)), numbers, rng.integers(0, 1 << 32, len(words), dtype=np.uint64))
    words[L.SGPRS // 4 + L.EXEC] = EXEC
    words[L.SCC // 4] = 1
    words[L.SGPRS // 4 + L.M0] = 3
    return raw


def run_row(library: Library, number: int, state: np.ndarray) -> np.ndarray:
    owner = np.zeros(len(state) + 64, np.uint8)
    start = -owner.ctypes.data % 64
    copy = owner[start : start + len(state)]
    copy[:] = state
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library.addresses[f"row{number}"])(copy.ctypes.data)
    return copy.copy()


def vector(state: np.ndarray, index: int) -> np.ndarray:
    at = L.VGPRS + index * WAVE * 4
    return state[at : at + WAVE * 4].view(np.uint32)


def scalar(state: np.ndarray, index: int) -> int:
    return int(state[L.SGPRS + 4 * index : L.SGPRS + 4 * index + 4].view(np.uint32)[0])


def value_of(operand: Operand, type_: str, state: np.ndarray) -> Any:
    count = words_of(type_, WAVE)
    if isinstance(operand, Immediate):
        parts: list[Any] = [operand.value, 0][:count]
    elif isinstance(operand, Register) and operand.bank == "vgpr":
        parts = [vector(state, operand.index + k).copy() for k in range(count)]
    else:
        assert isinstance(operand, Register)
        base = {"sgpr": 0, "vcc": L.VCC, "exec": L.EXEC}[operand.bank]
        parts = [scalar(state, base + operand.index + k) for k in range(count)]
    return parts if count > 1 else parts[0]


def expected(instruction: MachineInstruction, state: np.ndarray) -> np.ndarray:
    """The state behind the instruction, from NumPy."""
    row = instruction.row
    operation = find_operation(row.semantic, WAVE)
    assert operation is not None
    sources = [o for s, o in zip(row.slots, instruction.operands, strict=True) if s.is_use]
    results = [o for s, o in zip(row.slots, instruction.operands, strict=True) if s.is_def]
    if len(sources) < len(operation.inputs):
        # Rows that name neither VCC (dual conditional move) nor the old destination.
        sources = [*sources, Register("vcc", 0, 1)] if operation.inputs[-1] == "mask" else [results[0], *sources]
    inputs = [value_of(o, t, state) for o, t in zip(sources, operation.inputs, strict=True)]
    modifiers = {m.name: m.default for m in (instruction.encoding.modifiers if instruction.encoding else ())}
    if "dpp_ctrl" in modifiers or "dpp8" in modifiers:
        modifiers |= instruction.modifiers
    old = [vector(state, r.index) if isinstance(r, Register) and r.bank == "vgpr" else 0 for r in results]
    found = evaluate(
        row.semantic, inputs, exec_mask=EXEC, modifiers=modifiers, old=old,
        state={"scc": 1, "m0": 3, "vcc": scalar(state, L.VCC)},
    )  # fmt: skip
    after = state.copy()
    lanes = np.array([found["write_mask"] >> i & 1 for i in range(WAVE)], bool)
    if row.mnemonic == "v_writelane_b32":
        lanes[:] = True
    for register, words in zip(results, found["results"], strict=True):
        assert isinstance(register, Register)
        for k, word in enumerate(words):
            if register.bank == "vgpr":
                target = vector(after, register.index + k)
                target[:] = np.where(lanes, np.broadcast_to(word, (WAVE,)), target)
            else:
                base = {"sgpr": 0, "vcc": L.VCC, "exec": L.EXEC}[register.bank]
                at = L.SGPRS + 4 * (base + register.index + k)
                after[at : at + 4].view(np.uint32)[0] = int(word[0])
    for name, number in found["state"].items():
        at = L.SCC if name == "scc" else L.SGPRS + 4 * L.EXEC
        after[at : at + 4].view(np.uint32)[0] = number
    return after


def forms() -> list[tuple[InstructionRow, str]]:
    return [(r, e.form) for r in rows() for e in r.encodings]


@pytest.mark.parametrize("part", range(8))
def test_rows(part: int) -> None:
    chosen = forms()[part::8]
    rng = np.random.default_rng(part)
    batch = []
    for row, form in chosen:
        modifiers: dict[str, int] = {}
        if "dpp16" in form:
            modifiers = {"dpp_ctrl": 0x111, "row_mask": 15, "bank_mask": 15, "bound_ctrl": 0}
        elif "dpp8" in form:
            modifiers = {"dpp8": 0o76543210 ^ 0o11111111}
        operands = tuple(place(s, n) for n, s in enumerate(row.slots))
        tied = {s.name: o for s, o in zip(row.slots, operands, strict=True)}
        operands = tuple(tied[s.tied_to] if s.tied_to else o for s, o in zip(row.slots, operands, strict=True))
        batch.append(MachineInstruction(row, form, operands, modifiers))
    library = build(batch)
    wrong = []
    for number, instruction in enumerate(batch):
        state = fresh_state(rng)
        if "dpp" in (instruction.form or "") and not (
            isinstance(instruction.operands[-1], Register) or isinstance(instruction.operands[0], Register)
        ):
            continue
        got, want = run_row(library, number, state), expected(instruction, state)
        if not np.array_equal(got, want):
            wrong.append((instruction.mnemonic, instruction.form))
    assert len(batch) > 100
    assert wrong == []
