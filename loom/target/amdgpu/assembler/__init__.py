"""LLVM's AMDGPU assembly language: text to code objects, without LLVM.

    assemble(source, file_name, processor=None)   → CodeObject
    parse_instruction(text, processor)            → MachineInstruction

Instructions in LLVM's syntax, labels, expressions, macros (``.macro .rept .irp .if .set``), data and alignment
directives, kernel descriptors
(``.amdhsa_kernel``) and metadata (``.amdgpu_metadata``). Errors are ``ASM/…`` diagnostics with line and column.
"""

from loom.target.amdgpu.assembler.assembler import assemble
from loom.target.amdgpu.assembler.instructions import parse_instruction

__all__ = ["assemble", "parse_instruction"]
