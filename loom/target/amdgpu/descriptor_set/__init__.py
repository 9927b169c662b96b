"""Descriptor sets: what Low text may say of AMDGPU instructions, joined with the instruction table.

Two spellings lead to one row:

* **Table form** (lifted code, lowering): LLVM's mnemonic; registers in slot order, constants as immediates named after
  their slot (docs/lift.md).
* **Reference form** (section 5.7 of the language reference): the public mnemonics, where a suffix says which source is
  an immediate (``v_add_f32_lit``, ``v_lshlrev_b32_src0_inline``), which address parts there are (``_saddr``,
  ``_vaddr``, ``_offset_only``), or which register is written (``s_mov_b32_m0``).

    names       every accepted spelling of a mnemonic, its row, and the spelling that is printed
    variants    what the suffixes of the reference form mean
    constants   numbers in the text as operands of the machine
    resolution  ``low.op`` to rows with constants in place, in either form
    unknown     where an instruction exists that a set does not have
    describe    a row as parser and verifier see it
    sets        the sets themselves, one for a generation
"""
