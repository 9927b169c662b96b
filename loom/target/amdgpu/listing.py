"""A code object as assembly source that assembles to the same code, descriptors and metadata."""

from __future__ import annotations

from typing import Any

from loom.diagnostics import LoomError
from loom.target.amdgpu.assembler.instructions import parse_instruction
from loom.target.amdgpu.code_object import CODE_END, CodeObject, Kernel
from loom.target.amdgpu.decoder import decode_code
from loom.target.amdgpu.encoder import encoder
from loom.target.amdgpu.kernel_descriptor import FIELDS
from loom.target.amdgpu.machine import BranchTarget, MachineInstruction, MachineProgram
from loom.target.amdgpu.printer import print_instruction

_HIDDEN_FIELDS = frozenset(
    (
        "granulated_workitem_vgpr_count",
        "granulated_wavefront_sgpr_count",
        "granulated_accum_offset",
        "granulated_lds_size",
        "priority",
    )
)
_LABEL_PREFIX = ".L"


def print_code_object(code_object: CodeObject, kernel: str | None = None, *, addresses: bool = True) -> str:
    """Assembly source of a code object, or of one of its kernels.

    Instructions that the text cannot name exactly (don't-care bits as found, for example) stand as ``.long`` words
    with the text
    behind them. ``addresses`` adds ``// offset: words`` to every line.

    Raises:
        LoomError: what decoding raises; ``OBJECT/006`` for an unknown kernel.
    """
    kernels = code_object.kernels if kernel is None else (code_object.kernel(kernel),)
    lines = [
        f'\t.amdgcn_target "{code_object.target_id}"',
        f"\t.amdhsa_code_object_version {code_object.abi_version + 2}",
        "\t.text",
    ]
    fill = CODE_END[kernels[0].generation] if kernels else 0
    for item in kernels:
        lines += [
            f"\t.globl {item.name}",
            f"\t.p2alignl 8, 0x{fill:08x}",
            f"\t.type {item.name},@function",
            f"{item.name}:",
        ]
        lines += _kernel_lines(code_object, item, addresses)
        lines += [
            f"{_LABEL_PREFIX}{item.name}_end:",
            f"\t.size {item.name}, {_LABEL_PREFIX}{item.name}_end-{item.name}",
            "",
        ]
    for item in kernels:
        lines += _descriptor_lines(item)
    lines += _metadata_lines(code_object, kernels)
    return "\n".join(lines) + "\n"


def _kernel_lines(code_object: CodeObject, kernel: Kernel, addresses: bool) -> list[str]:
    program = decode_code(kernel.code, code_object.processor, kernel.wave_size, kernel.name)
    return program_lines(program, kernel.code, addresses)


def program_lines(program: MachineProgram, code: bytes, addresses: bool) -> list[str]:
    """The lines of a decoded program, without symbol and directives."""
    targets = {
        operand.label
        for instruction in program.instructions()
        for operand in instruction.operands
        if isinstance(operand, BranchTarget) and operand.label is not None
    }

    def label(target: BranchTarget) -> str:
        if target.label is not None:
            return f"{_LABEL_PREFIX}{program.kernel}_{target.label}"
        return str(target.offset)

    lines = []
    coder = encoder(program.processor, program.wave_size)
    known: dict[bytes, bool] = {}
    for block in program.blocks:
        if block.label in targets:
            lines.append(f"{_LABEL_PREFIX}{program.kernel}_{block.label}:")
        for instruction in block.instructions:
            words = code[instruction.pc : instruction.pc + instruction.size]
            exact = known.get(words)
            if exact is None:
                exact = known[words] = _is_exact(instruction, words, program, coder)
            text = print_instruction(instruction, labels=label)
            shown = " ".join(f"{int.from_bytes(words[at : at + 4], 'little'):08X}" for at in range(0, len(words), 4))
            if not exact:
                longs = ", ".join(f"0x{word.lower()}" for word in shown.split())
                lines.append(f"\t.long {longs:<54} // {instruction.pc:06X}: {text}")
            elif addresses:
                lines.append(f"\t{text:<60} // {instruction.pc:06X}: {shown}")
            else:
                lines.append(f"\t{text}")
    return lines


def _is_exact(instruction: MachineInstruction, words: bytes, program: MachineProgram, coder: Any) -> bool:
    """Whether the text assembles to the very bytes."""
    if any(isinstance(operand, BranchTarget) for operand in instruction.operands):
        return instruction.raw == 0 and all(
            o.label is not None for o in instruction.operands if isinstance(o, BranchTarget)
        )
    try:
        parsed = parse_instruction(print_instruction(instruction), program.processor, program.wave_size)
        return bool(coder.encode(parsed) == words)
    except LoomError:
        return False


def _descriptor_lines(kernel: Kernel) -> list[str]:
    descriptor, generation = kernel.descriptor, kernel.generation
    gfx9 = generation == "gfx9.4"
    lines = ['\t.section .rodata,"a",@progbits', "\t.p2align 6", f"\t.amdhsa_kernel {kernel.name}"]
    for name in ("group_segment_fixed_size", "private_segment_fixed_size", "kernarg_size"):
        lines.append(f"\t\t.amdhsa_{name} {getattr(descriptor, name)}")
    lines.append(f"\t\t.amdhsa_next_free_vgpr {kernel.allocated_vgprs}")
    # gfx9.4 adds six registers for VCC, XNACK and flat scratch to the number given.
    sgprs = (
        (descriptor.field("granulated_wavefront_sgpr_count", generation) + 1) * 8 - 6
        if gfx9
        else min(kernel.sgpr_count, 106)
    )
    lines.append(f"\t\t.amdhsa_next_free_sgpr {sgprs}")
    if gfx9:
        lines.append(f"\t\t.amdhsa_accum_offset {(descriptor.field('granulated_accum_offset', generation) + 1) * 4}")
    for name in FIELDS[generation]:
        if name in _HIDDEN_FIELDS or (
            gfx9 and name in ("wavefront_size32", "user_sgpr_private_segment_buffer", "user_sgpr_flat_scratch_init")
        ):
            continue
        if not gfx9 and name in ("user_sgpr_private_segment_buffer", "user_sgpr_flat_scratch_init"):
            continue
        if not gfx9 and name.startswith("user_sgpr_kernarg_preload"):
            continue
        lines.append(f"\t\t.amdhsa_{name} {descriptor.field(name, generation)}")
    return [*lines, "\t.end_amdhsa_kernel", ""]


def _metadata_lines(code_object: CodeObject, kernels: tuple[Kernel, ...]) -> list[str]:
    import yaml

    document = {"amdhsa.kernels": [item.metadata for item in kernels if item.metadata], **code_object.metadata}
    if not code_object.metadata and not document["amdhsa.kernels"]:
        return []
    text = yaml.safe_dump(document, sort_keys=True, default_flow_style=False).rstrip("\n")
    return ["\t.amdgpu_metadata", "---", *text.split("\n"), "...", "\t.end_amdgpu_metadata"]
