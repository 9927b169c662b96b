"""Makes the instruction tables ``gfx11.json``, ``gfx12.json`` and ``gfx9_4.json``, which stand beside this package.

    python -m loom.target.amdgpu.tables.generate [--wheel FILE] [--output DIRECTORY] [GENERATION…]

Two sources of facts:

* AMD's machine-readable instruction set data as the ``tinygrad`` wheel on PyPI carries it (:mod:`.wheel`): which
  opcodes exist under which name, the operand types and sizes. It holds RDNA 3.5, RDNA 4 and CDNA 4.
* LLVM MC 22 (:mod:`.llvm`): LLVM's mnemonics, operand order and operand classes, which bits are don't-care, and which
  processor has what. It is asked by decoding probes: every opcode of every format (:mod:`.enumeration`), then every bit
  flipped (:mod:`.bits`), then every source code in every source field (:mod:`.sources`).

What neither says (operand roles, implicit registers, memory effects, counters, issue class, semantic name) comes from
rules by name (:mod:`.columns`, :mod:`.families`). :mod:`.rows` puts the rows together, :mod:`.document` the file. The
result depends on these inputs only; a test regenerates it and compares.
"""
