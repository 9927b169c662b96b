"""Every arithmetic row of every generation through the translator, in each of its forms, against the NumPy evaluation of its
operation.

The semantic operations themselves are tested in tests/low/semantics; here it is the way from an instruction's slots to the operation
and back: register classes, widths, lane masks, destinations, EXEC.
"""

from __future__ import annotations

import ctypes
import re
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
from loom.target.amdgpu.simulator.instruction_sets import NO_EFFECT, SYSTEM
from loom.target.amdgpu.simulator.runtime import runtime_text
from loom.target.amdgpu.tables import table

VGPRS, AGPRS = 160, 16
WAVES = {"gfx11": 32, "gfx12": 32, "gfx9.4": 64}
EXEC = {32: 0x0FF0FFFF, 64: 0x0FF0FFFF_F00F7FFF}
#: Instructions that write all lanes whatever EXEC says.
ALL_LANES = ("v_writelane_b32", "v_mfma", "v_smfmac")
#: Matrix operations whose host code takes seconds to compile: in the long sweep only.
LARGE = re.compile(r"mfma.*(32x32x(16|32|64)_|16x16x(64|128)_|16x16x32_[bf]8)|smfmac|swmmac")


def rows(generation: str) -> list[InstructionRow]:
    return [
        r for r in table(generation).rows()
        if r.memory is None and find_operation(r.semantic, WAVES[generation], generation) is not None
        and r.issue_class not in ("branch", "wait", "message") and r.mnemonic not in NO_EFFECT | SYSTEM
        and "addk" not in r.mnemonic and ("exec_b64" not in r.mnemonic or generation == "gfx9.4")
    ]  # fmt: skip


class Places:
    """A register of its own for each operand: vectors from v8, scalars from s8."""

    def __init__(self, wave: int) -> None:
        self.wave, self.vector, self.scalar = wave, 8, 8

    def __call__(self, slot: OperandSlot) -> Operand:
        units = slot.units_for(self.wave)
        if "vgpr" in slot.kinds:
            self.vector += units + (self.vector & 1)
            return Register("vgpr", self.vector - units, units)
        if "sgpr" in slot.kinds:
            self.scalar += units + (self.scalar & 1)
            return Register("sgpr", self.scalar - units, units)
        if "agpr" in slot.kinds:
            return Register("agpr", 4, units)
        if "vcc" in slot.kinds:
            return Register("vcc", 0, units)
        if "exec" in slot.kinds:
            return Register("exec", 0, units)
        return Immediate(5)


def build(batch: list[MachineInstruction], generation: str) -> Library:
    """One function for each instruction: state block in, state block changed."""
    wave = WAVES[generation]
    lines: list[str] = []
    values = BlockValues(lines, wave, False)
    emitter = Emitter(values, generation, VGPRS, AGPRS, has_hardware_fma())
    for number, instruction in enumerate(batch):
        lines.append(f"define void @row{number}(ptr noalias %st) {{\n")
        values.prefix = f"r{number}."
        values.reset(False)
        emitter.mode = Mode()
        emitter.commit(emitter.compute(instruction))
        values.flush()
        lines.append("  ret void\n}\n")
    attributes = 'attributes #0 = { "prefer-vector-width"="512" nounwind }\n'
    text = (
        "".join(sorted(f"{d}\n" for d in emitter.declarations))
        + "".join(emitter.functions)
        + "".join(lines)
        + attributes
    )
    return Library([compile_text(text), compile_text(runtime_text(wave))], [f"row{n}" for n in range(len(batch))])


def fresh_state(rng: np.random.Generator, wave: int) -> np.ndarray:
    raw = np.zeros(L.VGPRS + (VGPRS + AGPRS) * wave * 4 + 128, np.uint8)
    words = raw[: L.VGPRS + (VGPRS + AGPRS) * wave * 4].view(np.uint32)
    numbers = (rng.standard_normal(len(words)) * 8).astype(np.float32).view(np.uint32)
    words[:] = np.where(rng.integers(0, 2, len(words)), numbers, rng.integers(0, 1 << 32, len(words), dtype=np.uint64))
    words[L.SGPRS // 4 + L.EXEC] = EXEC[wave] & 0xFFFFFFFF
    words[L.SGPRS // 4 + L.EXEC + 1] = EXEC[wave] >> 32
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


def vector(state: np.ndarray, index: int, wave: int) -> np.ndarray:
    at = L.VGPRS + index * wave * 4
    return state[at : at + wave * 4].view(np.uint32)


def scalar(state: np.ndarray, index: int, words: int = 1) -> int:
    return int.from_bytes(state[L.SGPRS + 4 * index : L.SGPRS + 4 * (index + words)].tobytes(), "little")


def place_of(register: Register) -> int:
    return register.index + (VGPRS if register.bank == "agpr" else 0)


VECTORS = ("vgpr", "agpr")
BASES = {"sgpr": 0, "vcc": L.VCC, "exec": L.EXEC}


def value_of(operand: Operand, type_: str, state: np.ndarray, wave: int) -> Any:
    count = words_of(type_, wave)
    if isinstance(operand, Immediate):
        parts: list[Any] = [operand.value, 0][:count]
    elif isinstance(operand, Register) and operand.bank in VECTORS:
        parts = [vector(state, place_of(operand) + k, wave).copy() for k in range(count)]
    else:
        assert isinstance(operand, Register)
        base = BASES[operand.bank]
        if type_ == "mask":
            return scalar(state, base + operand.index, wave // 32)
        parts = [scalar(state, base + operand.index + k) for k in range(count)]
    return parts if count > 1 or "x" in type_ else parts[0]


def put_scalar(state: np.ndarray, index: int, value: int, words: int) -> None:
    at = L.SGPRS + 4 * index
    state[at : at + 4 * words] = np.frombuffer(
        (value & ((1 << 32 * words) - 1)).to_bytes(4 * words, "little"), np.uint8
    )


def expected(instruction: MachineInstruction, state: np.ndarray, generation: str) -> np.ndarray:
    """The state behind the instruction, from NumPy."""
    row = instruction.row
    wave = WAVES[generation]
    operation = find_operation(row.semantic, wave, generation)
    assert operation is not None
    sources = [o for s, o in zip(row.slots, instruction.operands, strict=True) if s.is_use]
    results = [o for s, o in zip(row.slots, instruction.operands, strict=True) if s.is_def]
    mask_copy = None
    if operation.state_results == ("exec",) and not operation.results and results:
        mask_copy, results = results[0], []  # up to gfx9, V_CMPX writes a scalar result besides EXEC
    if len(sources) < len(operation.inputs):
        # Rows that name neither VCC (dual conditional move) nor the old destination.
        sources = [*sources, Register("vcc", 0, 1)] if operation.inputs[-1] == "mask" else [results[0], *sources]
    sources = sources[: len(operation.inputs)]  # trailing immediates are modifiers
    inputs = [value_of(o, t, state, wave) for o, t in zip(sources, operation.inputs, strict=True)]
    modifiers = {m.name: m.default for m in (instruction.encoding.modifiers if instruction.encoding else ())}
    modifiers |= instruction.modifiers
    old = [vector(state, place_of(r), wave) if isinstance(r, Register) and r.bank in VECTORS else 0 for r in results]
    found = evaluate(
        row.semantic, inputs, wave=wave, generation=generation, exec_mask=EXEC[wave], modifiers=modifiers, old=old,
        state={"scc": 1, "m0": 3, "vcc": scalar(state, L.VCC, wave // 32)},
    )  # fmt: skip
    after = state.copy()
    lanes = np.array([found["write_mask"] >> i & 1 for i in range(wave)], bool)
    if row.mnemonic.startswith(ALL_LANES):
        lanes[:] = True
    for type_, register, words in zip(operation.results, results, found["results"], strict=True):
        assert isinstance(register, Register)
        for k, word in enumerate(words):
            if register.bank in VECTORS:
                target = vector(after, place_of(register) + k, wave)
                target[:] = np.where(lanes, np.broadcast_to(word, (wave,)), target)
            else:
                count = wave // 32 if type_ == "mask" else 1
                put_scalar(after, BASES[register.bank] + register.index + k, int(word[0]), count)
    for name, number in found["state"].items():
        if name == "scc":
            after[L.SCC : L.SCC + 4].view(np.uint32)[0] = number
        else:
            put_scalar(after, L.VCC if name == "vcc" else L.EXEC, number, wave // 32)
            if mask_copy is not None:
                assert isinstance(mask_copy, Register)
                put_scalar(after, BASES[mask_copy.bank] + mask_copy.index, number, wave // 32)
    return after


def forms(generation: str) -> list[tuple[InstructionRow, str]]:
    return [(r, e.form) for r in rows(generation) for e in r.encodings if e.form != "vopd" or generation == "gfx11"]


def instruction_of(row: InstructionRow, form: str, wave: int) -> MachineInstruction:
    modifiers: dict[str, int] = {}
    if "dpp16" in form or form in ("dpp", "e64_dpp"):
        modifiers = {"dpp_ctrl": 0x111, "row_mask": 15, "bank_mask": 15, "bound_ctrl": 0}
    elif "dpp8" in form:
        modifiers = {"dpp8": 0o76543210 ^ 0o11111111}
    elif "sdwa" in form:
        fields = {m.name for m in (row.encoding(form) or row.encodings[0]).modifiers}
        modifiers = {
            n: v for n, v in {"src0_sel": 5, "src1_sel": 6, "dst_sel": 6, "dst_unused": 0}.items() if n in fields
        }
    place = Places(wave)
    operands = tuple(place(s) for s in row.slots)
    tied = {s.name: o for s, o in zip(row.slots, operands, strict=True)}
    return MachineInstruction(
        row,
        form,
        tuple(tied[s.tied_to] if s.tied_to else o for s, o in zip(row.slots, operands, strict=True)),
        modifiers,
    )


PARTS = 8


def check(generation: str, chosen: list[tuple[InstructionRow, str]], seed: int) -> None:
    wave = WAVES[generation]
    rng = np.random.default_rng(seed)
    batch = [instruction_of(row, form, wave) for row, form in chosen]
    library = build(batch, generation)
    wrong = []
    for number, instruction in enumerate(batch):
        state = fresh_state(rng, wave)
        got, want = run_row(library, number, state), expected(instruction, state, generation)
        if not np.array_equal(got, want):
            wrong.append((instruction.mnemonic, instruction.form))
    assert wrong == []


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("generation", WAVES)
def test_rows(generation: str, part: int) -> None:
    chosen = [(r, f) for r, f in forms(generation) if not LARGE.search(r.mnemonic)][part::PARTS]
    assert len(chosen) > 100
    check(generation, chosen, part)


#: One large matrix operation of each kind runs always.
QUICK = ("v_smfmac_f32_16x16x32_f16", "v_swmmac_f32_16x16x32_f16", "v_mfma_scale_f32_16x16x128_f8f6f4")


@pytest.mark.parametrize("generation", ["gfx12", "gfx9.4"])
def test_some_large_matrix_rows(generation: str) -> None:
    check(generation, [(r, f) for r, f in forms(generation) if r.mnemonic in QUICK], 1)


@pytest.mark.full
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("generation", ["gfx12", "gfx9.4"])
def test_large_matrix_rows(generation: str, part: int) -> None:
    chosen = [(r, f) for r, f in forms(generation) if LARGE.search(r.mnemonic)][part::4]
    assert chosen
    check(generation, chosen, part)
