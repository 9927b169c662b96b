"""The assembler's loop: a line is labels, a block, a macro, an assignment, a directive or an instruction."""

from __future__ import annotations

import re
from dataclasses import replace

from loom.diagnostics import Location, error
from loom.target.amdgpu.assembler import macros
from loom.target.amdgpu.assembler.assembly import Assembly, Fixup, Label
from loom.target.amdgpu.assembler.blocks import BLOCKS
from loom.target.amdgpu.assembler.directives import directive
from loom.target.amdgpu.assembler.expressions import Cursor, Unresolved, tokenize
from loom.target.amdgpu.assembler.instructions import InstructionParser
from loom.target.amdgpu.assembler.macros import Line
from loom.target.amdgpu.assembler.output import finish
from loom.target.amdgpu.code_object import CodeObject
from loom.target.amdgpu.encoder import encoder
from loom.target.amdgpu.machine import BranchTarget, Literal, MachineInstruction

_EXPANSION_LIMIT = 2_000_000


def assemble(
    source: str, file_name: str = "<text>", processor: str | None = None, wave_size: int | None = None
) -> CodeObject:
    """Assemble a source file into a code object; write it with :func:`loom.target.amdgpu.code_object.write`.

    Args:
        source: The text.
        file_name: Its name, for diagnostics.
        processor: Needed if the source has no ``.amdgcn_target``; must agree with it otherwise.
        wave_size: 32 or 64; by default what ``.amdhsa_wavefront_size32`` says, else the processor's default.

    Raises:
        LoomError: ``ASM/…`` and ``ENCODE/…`` with line and column.
    """
    try:
        return _run(Assembly(source, file_name, processor, wave_size, process))
    except RecursionError:
        raise error("macros nest too deeply", "ASM/014", Location(file_name, 1)) from None


def _run(assembly: Assembly) -> CodeObject:
    process(assembly, assembly.lines)
    return finish(assembly)


def process(assembly: Assembly, lines: list[Line]) -> None:
    """Assemble lines in order; a block takes as many as it has."""
    index = 0
    while index < len(lines):
        line = lines[index]
        assembly.expanded += 1
        if assembly.expanded > _EXPANSION_LIMIT:
            raise error(f"the source expands to more than {_EXPANSION_LIMIT} lines", "ASM/014", line.location)
        index = _line(assembly, lines, index, line)


def _line(assembly: Assembly, lines: list[Line], index: int, line: Line) -> int:
    text = line.text
    while True:
        match = re.match(r"\s*(?:([A-Za-z_.$][\w.$]*)|(\d+))\s*:(?!:)\s*", text)
        if match is None or (match[1] or "") in ("v", "s"):
            break
        assembly.define(match[1], match[2], line.location, match.start(1 if match[1] else 2))
        text = " " * match.end() + text[match.end() :]
    if not text.strip():
        return index + 1
    text = re.sub(r"(?<![\w.])(\d+)([bf])(?!\w)", assembly.local_name, text) if re.search(r"\d[bf]", text) else text
    column = len(text) - len(text.lstrip())
    word = text.split(None, 1)[0]
    lowered = word.lower()
    block = BLOCKS.get(lowered)
    if block is not None:
        return block(assembly, lines, index, line, text)
    macro = assembly.macros.get(word)
    if macro is not None:
        body = macros.expand(macro, macros.split_arguments(text.strip()[len(word) :].strip()), line)
        assembly.process(body)
        return index + 1
    match = re.match(r"\s*([A-Za-z_.$][\w.$]*)\s*=(?!=)\s*", text)
    if match is not None:
        assembly.assign(match[1], Cursor(tokenize(text, line.location, match.end()), line.location))
        return index + 1
    if lowered.startswith("."):
        directive(
            assembly, lowered, Cursor(tokenize(text, line.location, column + len(word)), line.location), line, column
        )
        return index + 1
    _instruction(assembly, text, line.location, column)
    return index + 1


def _instruction(assembly: Assembly, text: str, location: Location, column: int) -> None:
    target = assembly.known_target(location)
    if assembly.parser is None:
        assembly.parser = InstructionParser(target.name, assembly.wave_size or target.wave_sizes[0])
    instruction, deferred = assembly.parser.parse(text, location, assembly.lookup_number, column)
    section, offset = assembly.section, len(assembly.section.data)
    coder = encoder(target.name, assembly.parser.wave_size)
    labels = [operand for operand in instruction.operands if isinstance(operand, BranchTarget)]
    first = instruction
    if labels and labels[0].label is not None:
        first = _branch(instruction, 0)
    code = coder.encode(first)
    if instruction.form is None:
        instruction.form = coder.choose(first)
    if labels and labels[0].label is not None:
        name = labels[0].label

        def make_branch() -> bytes:
            label = assembly.labels.get(name)
            if label is None:
                raise error(f"'{name}' is not defined", "ASM/009", location)
            if label.section is not section:
                raise error(f"'{name}' is in another section", "ASM/009", location)
            return coder.encode(_branch(instruction, label.offset - offset - 4))

        assembly.fixups.append(Fixup(section, offset, make_branch))
    elif deferred:

        def make_literal() -> bytes:
            operands = list(instruction.operands)
            try:
                for index, later in deferred.items():
                    address = assembly.address(Label(section, offset + len(code) - 4))
                    operands[index] = Literal(later.evaluate(assembly.lookup, address))
            except Unresolved as missing:
                raise error(f"'{missing.name}' is not defined", "ASM/009", location) from None
            return coder.encode(replace(instruction, operands=tuple(operands)))

        assembly.fixups.append(Fixup(section, offset, make_literal))
    section.data += code


def _branch(instruction: MachineInstruction, offset: int) -> MachineInstruction:
    operands = tuple(BranchTarget(None, offset) if isinstance(o, BranchTarget) else o for o in instruction.operands)
    return replace(instruction, operands=operands)
