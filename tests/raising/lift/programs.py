"""Small gfx1100 programs for lift tests: instructions by mnemonic, registers as assembly writes them."""

from __future__ import annotations

import re

from loom.raising.lift.native import NativeKernel
from loom.target.amdgpu.abi import KernargEntry
from loom.target.amdgpu.decoder import decode_code
from loom.target.amdgpu.encoder import encode
from loom.target.amdgpu.kernel_descriptor import KernelDescriptor
from loom.target.amdgpu.machine import (
    OFF,
    BranchTarget,
    Immediate,
    Inline,
    Literal,
    MachineBlock,
    MachineInstruction,
    MachineProgram,
    Operand,
    Register,
)
from loom.target.amdgpu.tables import find_row

_NAMES = {
    "vcc_lo": Register("vcc", 0, 1),
    "exec_lo": Register("exec", 0, 1),
    "m0": Register("m0"),
    "null": Register("null"),
    "off": OFF,
}


def operand(text: str | int) -> Operand:
    if isinstance(text, int):
        return Inline.integer(text) or Literal(text & 0xFFFFFFFF)
    if text.startswith("literal:"):
        return Literal(int(text[8:], 0))
    if text in _NAMES:
        return _NAMES[text]
    if text.startswith("#"):
        return Immediate(int(text[1:], 0))
    if text.startswith("@"):
        return BranchTarget(text[1:])
    match = re.fullmatch(r"([vs])(?:(\d+)|\[(\d+):(\d+)\])", text)
    assert match, text
    bank = {"v": "vgpr", "s": "sgpr"}[match[1]]
    if match[2]:
        return Register(bank, int(match[2]))
    return Register(bank, int(match[3]), int(match[4]) - int(match[3]) + 1)


def instruction(line: str) -> MachineInstruction:
    """``v_add_f32 v0, v1, v2 offset=4`` as an instruction; the encoder picks the form."""
    mnemonic, _, rest = line.strip().partition(" ")
    words = re.findall(r"[vs]\[\d+:\d+\]|[^\s,]+", rest)
    modifiers = {k: int(v) for k, v in (w.split("=") for w in words if "=" in w)}
    operands = [operand(int(w, 0) if re.fullmatch(r"-?(0x)?[0-9a-f]+", w) else w) for w in words if "=" not in w]
    row = find_row("gfx11", mnemonic)
    assert row is not None, mnemonic
    assert len(operands) == len(row.slots), f"{mnemonic}: {[s.name for s in row.slots]}"
    return MachineInstruction(row, None, tuple(operands), modifiers)


def assemble(text: str) -> bytes:
    """Lines of instructions and ``label:`` as bytes."""
    blocks = [MachineBlock("entry")]
    for line in text.strip().splitlines():
        line = line.split("//")[0].strip()
        if line.endswith(":"):
            blocks.append(MachineBlock(line[:-1]))
        elif line:
            blocks[-1].instructions.append(instruction(line))
    return encode(MachineProgram("k", "gfx1100", 32, blocks))


def program(text: str) -> MachineProgram:
    """Lines of instructions and ``label:`` as a decoded program."""
    code = assemble(text)
    decoded = decode_code(code, "gfx1100", 32, "k")
    decoded.code_size = len(code)
    return decoded


def native(text: str) -> NativeKernel:
    """A kernel with one buffer argument and work-group id x in s2."""
    decoded = program(text)
    code = encode(decoded)
    descriptor = KernelDescriptor(
        kernarg_size=8,
        compute_pgm_rsrc1=0x60AF0003,
        compute_pgm_rsrc2=0x84,
        kernel_code_properties=0x408,
    )
    arguments = [KernargEntry(0, 8, "global_buffer", "out")]
    return NativeKernel("k", "gfx1100", 32, code, descriptor.to_bytes(), decoded, arguments, 8, 8, (32, 1, 1), {})
