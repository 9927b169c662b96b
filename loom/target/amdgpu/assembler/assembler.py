"""The assembler proper: sections, symbols, directives, layout."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from loom.diagnostics import Location, error
from loom.target.amdgpu.assembler import macros
from loom.target.amdgpu.assembler.expressions import Cursor, Unresolved, failure, float_bits, tokenize, unquote
from loom.target.amdgpu.assembler.instructions import InstructionParser
from loom.target.amdgpu.assembler.kernel_directives import is_known, make_descriptor
from loom.target.amdgpu.assembler.macros import Line, Macro
from loom.target.amdgpu.code_object import ABI_V5, ABI_V6, CodeObject, Kernel, layout_addresses, with_entry_offsets
from loom.target.amdgpu.descriptor import SIZE as DESCRIPTOR_SIZE
from loom.target.amdgpu.encoder import encoder
from loom.target.amdgpu.machine import BranchTarget, Literal, MachineInstruction
from loom.target.amdgpu.processors import Processor
from loom.target.amdgpu.processors import processor as find_processor

_EXPANSION_LIMIT = 2_000_000
_SIZE_LIMIT = 1 << 28
_SECTION_STRIDE = 1 << 40
_DATA = {
    ".byte": 1,
    ".short": 2,
    ".hword": 2,
    ".2byte": 2,
    ".value": 2,
    ".long": 4,
    ".int": 4,
    ".4byte": 4,
    ".word": 2,
    ".quad": 8,
    ".8byte": 8,
}
_FLOAT_DATA = {".float": 32, ".single": 32, ".double": 64, ".half": 16}
_IGNORED = frozenset(
    (
        ".file",
        ".loc",
        ".ident",
        ".addrsig",
        ".addrsig_sym",
        ".local",
        ".hidden",
        ".protected",
        ".internal",
        ".cfi_startproc",
        ".cfi_endproc",
        ".cfi_sections",
        ".altmacro",
        ".noaltmacro",
        ".amdgpu_hsa_kernel",
        ".amdhsa_code_object_version",
        ".previous",
        ".popsection",
        ".reloc",
    )
)


@dataclass(slots=True)
class _Section:
    name: str
    index: int
    data: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class _Label:
    section: _Section
    offset: int


@dataclass(slots=True)
class _Fixup:
    """Bytes that depend on labels: made again when all labels are known."""

    section: _Section
    offset: int
    make: Callable[[], bytes]


class _Assembler:
    def __init__(self, source: str, file_name: str, processor: str | None, wave_size: int | None) -> None:
        self.file_name = file_name
        self.raw_lines = source.split("\n")
        self.lines = macros.strip_comments(source, file_name)
        self.target: Processor | None = find_processor(processor) if processor is not None else None
        self.xnack: str | None = None
        self.sramecc: str | None = None
        self.wave_size = wave_size
        if wave_size is None and re.search(r"\.amdhsa_wavefront_size32\s+0\b", source):
            self.wave_size = 64
        self.parser: InstructionParser | None = None
        self.sections: dict[str, _Section] = {}
        self.section = self._section(".text")
        self.labels: dict[str, _Label] = {}
        self.values: dict[str, int] = {}
        self.local_counts: dict[str, int] = {}
        self.functions: set[str] = set()
        self.sizes: dict[str, tuple[str, Location, int, int]] = {}
        self.macros: dict[str, Macro] = {}
        self.fixups: list[_Fixup] = []
        self.kernels: list[tuple[str, dict[str, tuple[int, Location]], Location]] = []
        self.metadata: dict[str, Any] = {}
        self.abi_version: int | None = None
        self.layout: tuple[int, int] | None = None
        self.expanded = 0

    def _section(self, name: str) -> _Section:
        return self.sections.setdefault(name, _Section(name, len(self.sections)))

    # Symbols

    def lookup(self, name: str) -> int:
        """Value of a symbol; labels are addresses in their section's own range until the layout is known."""
        if name == ".":
            return self._address(_Label(self.section, len(self.section.data)))
        if name in self.values:
            return self.values[name]
        label = self.labels.get(name)
        if label is None:
            raise Unresolved(name)
        return self._address(label)

    def _address(self, label: _Label) -> int:
        if self.layout is not None:
            base = {".text": self.layout[1], ".rodata": self.layout[0] + DESCRIPTOR_SIZE * len(self.kernels)}.get(
                label.section.name
            )
            if base is not None:
                return base + label.offset
        return (label.section.index + 1) * _SECTION_STRIDE + label.offset

    def lookup_number(self, name: str) -> int:
        """Value of a symbol that is a number, not a place; what instructions are parsed with."""
        if name in self.values:
            return self.values[name]
        raise Unresolved(name)

    def evaluate(self, cursor: Cursor) -> int:
        """An expression that must have a value now."""
        column = cursor.token.column
        try:
            return cursor.expression(self.lookup)
        except Unresolved as missing:
            raise failure(f"'{missing.name}' has no value yet", cursor.location, column, "ASM/009") from None

    # Driving

    def run(self) -> CodeObject:
        self.process(self.lines)
        return self.finish()

    def process(self, lines: list[Line]) -> None:
        index = 0
        while index < len(lines):
            line = lines[index]
            self.expanded += 1
            if self.expanded > _EXPANSION_LIMIT:
                raise error(f"the source expands to more than {_EXPANSION_LIMIT} lines", "ASM/014", line.location)
            index = self._line(lines, index, line)

    def _line(self, lines: list[Line], index: int, line: Line) -> int:
        text = line.text
        while True:
            match = re.match(r"\s*(?:([A-Za-z_.$][\w.$]*)|(\d+))\s*:(?!:)\s*", text)
            if match is None or (match[1] or "") in ("v", "s"):
                break
            self._define(match[1], match[2], line.location, match.start(1 if match[1] else 2))
            text = " " * match.end() + text[match.end() :]
        if not text.strip():
            return index + 1
        text = re.sub(r"(?<![\w.])(\d+)([bf])(?!\w)", self._local_name, text) if re.search(r"\d[bf]", text) else text
        column = len(text) - len(text.lstrip())
        word = text.split(None, 1)[0]
        lowered = word.lower()
        block = _BLOCKS.get(lowered)
        if block is not None:
            return block(self, lines, index, line, text)
        macro = self.macros.get(word)
        if macro is not None:
            body = macros.expand(macro, macros.split_arguments(text.strip()[len(word) :].strip()), line)
            self.process(body)
            return index + 1
        match = re.match(r"\s*([A-Za-z_.$][\w.$]*)\s*=(?!=)\s*", text)
        if match is not None:
            self._assign(match[1], Cursor(tokenize(text, line.location, match.end()), line.location))
            return index + 1
        if lowered.startswith("."):
            self._directive(
                lowered, Cursor(tokenize(text, line.location, column + len(word)), line.location), line, column
            )
            return index + 1
        self._instruction(text, line.location, column)
        return index + 1

    def _local_name(self, match: re.Match[str]) -> str:
        count = self.local_counts.get(match[1], 0) + (match[2] == "f")
        return f".Llocal.{match[1]}.{count}"

    def _define(self, name: str | None, number: str | None, location: Location, column: int) -> None:
        if number is not None:
            self.local_counts[number] = self.local_counts.get(number, 0) + 1
            name = f".Llocal.{number}.{self.local_counts[number]}"
        assert name is not None
        if name in self.labels or name in self.values:
            raise failure(f"'{name}' is defined already", location, column, "ASM/015")
        self.labels[name] = _Label(self.section, len(self.section.data))

    def _assign(self, name: str, cursor: Cursor) -> None:
        value = self.evaluate(cursor)
        if name in self.labels:
            raise cursor.fail(f"'{name}' is a label", "ASM/015")
        self.values[name] = value
        self._end(cursor)

    @staticmethod
    def _end(cursor: Cursor) -> None:
        if not cursor.done:
            raise cursor.fail(f"unexpected '{cursor.token.text}'")

    # Instructions

    def _instruction(self, text: str, location: Location, column: int) -> None:
        target = self._target(location)
        if self.parser is None:
            self.parser = InstructionParser(target.name, self.wave_size or target.wave_sizes[0])
        instruction, deferred = self.parser.parse(text, location, self.lookup_number, column)
        section, offset = self.section, len(self.section.data)
        coder = encoder(target.name, self.parser.wave_size)
        labels = [operand for operand in instruction.operands if isinstance(operand, BranchTarget)]
        first = instruction
        if labels and labels[0].label is not None:
            first = self._branch(instruction, 0)
        code = coder.encode(first)
        if instruction.form is None:
            instruction.form = coder.choose(first)
        if labels and labels[0].label is not None:
            name = labels[0].label

            def make_branch() -> bytes:
                label = self.labels.get(name)
                if label is None:
                    raise error(f"'{name}' is not defined", "ASM/009", location)
                if label.section is not section:
                    raise error(f"'{name}' is in another section", "ASM/009", location)
                return coder.encode(self._branch(instruction, label.offset - offset - 4))

            self.fixups.append(_Fixup(section, offset, make_branch))
        elif deferred:

            def make_literal() -> bytes:
                operands = list(instruction.operands)
                try:
                    for index, later in deferred.items():
                        address = self._address(_Label(section, offset + len(code) - 4))
                        operands[index] = Literal(later.evaluate(self.lookup, address))
                except Unresolved as missing:
                    raise error(f"'{missing.name}' is not defined", "ASM/009", location) from None
                return coder.encode(replace(instruction, operands=tuple(operands)))

            self.fixups.append(_Fixup(section, offset, make_literal))
        section.data += code

    @staticmethod
    def _branch(instruction: MachineInstruction, offset: int) -> MachineInstruction:
        operands = tuple(BranchTarget(None, offset) if isinstance(o, BranchTarget) else o for o in instruction.operands)
        return replace(instruction, operands=operands)

    def _target(self, location: Location) -> Processor:
        if self.target is None:
            raise error(
                "the processor is not known",
                "ASM/013",
                location,
                hint="begin with .amdgcn_target or name it on the command line",
            )
        return self.target

    # Directives

    def _directive(self, name: str, cursor: Cursor, line: Line, column: int) -> None:
        if name in _IGNORED:
            if name == ".amdhsa_code_object_version":
                self._version(cursor)
            return
        if name in _DATA:
            self._data(_DATA[name], cursor)
        elif name in _FLOAT_DATA:
            self._floats(_FLOAT_DATA[name], cursor)
        elif name in (".text", ".rodata", ".data", ".bss"):
            self.section = self._section(name)
        elif name in (".section", ".pushsection"):
            self.section = self._section(self._name(cursor))
        elif name in (".globl", ".global", ".weak"):
            self._name(cursor)
        elif name == ".type":
            symbol = self._name(cursor)
            if any(token.text in ("function", "@function", "STT_FUNC") for token in cursor.tokens):
                self.functions.add(symbol)
        elif name == ".size":
            symbol = self._name(cursor)
            cursor.expect(",")
            rest = line.text[cursor.token.column :]
            self.sizes[symbol] = (rest, line.location, cursor.token.column, len(self.section.data))
        elif name in (".set", ".equ", ".equiv"):
            symbol = self._name(cursor)
            cursor.expect(",")
            self._assign(symbol, cursor)
        elif name in (".p2align", ".p2alignl", ".p2alignw", ".balign", ".balignl", ".balignw", ".align"):
            self._align(name, cursor)
        elif name in (".fill", ".space", ".skip", ".zero"):
            self._fill(name, cursor)
        elif name in (".ascii", ".asciz", ".string"):
            self._strings(name != ".ascii", cursor)
        elif name == ".amdgcn_target":
            self._set_target(cursor)
        elif name in (".error", ".err"):
            text = cursor.token.text if cursor.token.kind == "string" else '".err"'
            raise failure(unquote(text).decode("utf-8", "replace"), line.location, column, "ASM/016")
        elif name == ".purgem":
            self.macros.pop(self._name(cursor), None)
        elif name == ".org":
            target = self.evaluate(cursor)
            offset = target - (self.section.index + 1) * _SECTION_STRIDE if target >= _SECTION_STRIDE else target
            self._pad(offset - len(self.section.data), b"\0", cursor)
        else:
            raise failure(f"unknown directive '{name}'", line.location, column, "ASM/017")

    def _name(self, cursor: Cursor) -> str:
        token = cursor.next()
        if token.kind == "string":
            return unquote(token.text).decode("utf-8", "replace")
        if token.kind != "name":
            cursor.at -= token.kind != "end"
            raise cursor.fail("expected a name")
        return token.text

    def _version(self, cursor: Cursor) -> None:
        value = self.evaluate(cursor)
        versions = {4: 2, 5: ABI_V5, 6: ABI_V6}
        if value not in versions:
            raise cursor.fail(f"code object version {value}; 4, 5 and 6 are known", "ASM/010")
        self.abi_version = versions[value]

    def _set_target(self, cursor: Cursor) -> None:
        column = cursor.token.column
        text = self._name(cursor)
        match = re.fullmatch(r"amdgcn-(?:amd|unknown|)-amdhsa-(?:unknown)?-?([\w-]+)((?::\w+[+-])*)", text)
        if match is None:
            raise failure(f"'{text}' is no amdhsa target", cursor.location, column, "ASM/013")
        target = find_processor(match[1].lstrip("-"))
        if self.target is not None and self.target is not target:
            raise failure(
                f"the source is for {target.name}, not {self.target.name}", cursor.location, column, "ASM/013"
            )
        self.target = target
        for setting in match[2].split(":")[1:]:
            value = "on" if setting.endswith("+") else "off"
            if setting[:-1] == "xnack":
                self.xnack = value
            elif setting[:-1] == "sramecc":
                self.sramecc = value

    def _data(self, size: int, cursor: Cursor) -> None:
        while True:
            section, offset = self.section, len(self.section.data)
            start = cursor.at
            location = cursor.location
            try:
                value = cursor.expression(self.lookup)
                later = value >= _SECTION_STRIDE and size >= 4
            except Unresolved:
                later, value = True, 0
            if later:
                cursor.at = start
                while cursor.token.text != "," and not cursor.done:
                    cursor.next()
                tokens = [*cursor.tokens[start : cursor.at], cursor.tokens[-1]]

                def make(tokens: list[Any] = tokens, size: int = size, location: Location = location) -> bytes:
                    try:
                        value = Cursor(tokens, location).expression(self.lookup)
                    except Unresolved as missing:
                        raise error(f"'{missing.name}' is not defined", "ASM/009", location) from None
                    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")

                self.fixups.append(_Fixup(section, offset, make))
                value = 0
            elif not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
                raise cursor.fail(f"{value} does not fit {size} bytes", "ASM/018")
            self.section.data += (value & (1 << 8 * size) - 1).to_bytes(size, "little")
            if not cursor.accept(","):
                break
        self._end(cursor)

    def _floats(self, width: int, cursor: Cursor) -> None:
        while True:
            sign = "-" if cursor.accept("-") else ""
            token = cursor.next()
            if token.kind not in ("float", "number"):
                raise failure("expected a number", cursor.location, token.column)
            self.section.data += float_bits(sign + token.text, width).to_bytes(width // 8, "little")
            if not cursor.accept(","):
                break
        self._end(cursor)

    def _align(self, name: str, cursor: Cursor) -> None:
        value = self.evaluate(cursor)
        power = name.startswith(".p2align")
        if (power and not 0 <= value <= 16) or (not power and (value < 0 or value & (value - 1) or value > 65536)):
            raise cursor.fail(f"{value} is no alignment", "ASM/018")
        alignment = (1 << value if power else value) or 1
        width = {"l": 4, "w": 2}.get(name[-1] if name[-1] in "lw" else "", 1)
        pattern: bytes | None = None
        most = alignment
        if cursor.accept(",") and cursor.token.text != ",":
            pattern = (
                (self.evaluate(cursor) & (1 << 8 * width) - 1).to_bytes(width, "little") if not cursor.done else None
            )
        if cursor.accept(","):
            most = self.evaluate(cursor)
        missing = -len(self.section.data) % alignment
        if missing > most:
            return
        if pattern is None:
            pattern = b"\x00\x00\x80\xbf" if self.section.name == ".text" and missing % 4 == 0 else b"\0"
        self._pad(missing, pattern, cursor)

    def _pad(self, count: int, pattern: bytes, cursor: Cursor) -> None:
        if count < 0 or len(self.section.data) + count > _SIZE_LIMIT:
            raise cursor.fail(f"cannot add {count} bytes here", "ASM/018")
        self.section.data += (pattern * (count // len(pattern) + 1))[:count]

    def _fill(self, name: str, cursor: Cursor) -> None:
        count = self.evaluate(cursor)
        size, value = 1, 0
        if name == ".fill":
            if cursor.accept(","):
                size = self.evaluate(cursor)
            if cursor.accept(","):
                value = self.evaluate(cursor)
        elif cursor.accept(","):
            value = self.evaluate(cursor)
        self._end(cursor)
        if not 0 <= size <= 8:
            raise cursor.fail(f"a fill unit of {size} bytes", "ASM/018")
        self._pad(max(count, 0) * size, (value & (1 << 8 * max(size, 1)) - 1).to_bytes(max(size, 1), "little"), cursor)

    def _strings(self, terminated: bool, cursor: Cursor) -> None:
        while True:
            token = cursor.next()
            if token.kind != "string":
                raise failure("expected a string", cursor.location, token.column)
            self.section.data += unquote(token.text) + (b"\0" if terminated else b"")
            if not cursor.accept(","):
                break
        self._end(cursor)

    # Blocks

    def _macro(self, lines: list[Line], index: int, line: Line, text: str) -> int:
        macro = macros.parse_header(text, line.location)
        macro.body, index = macros.collect(lines, index + 1, (".macro",), (".endm", ".endmacro"))
        self.macros[macro.name] = macro
        return index

    def _repeat(self, lines: list[Line], index: int, line: Line, text: str) -> int:
        word = text.split(None, 1)[0].lower()
        column = text.lower().index(word) + len(word)
        body, following = macros.collect(lines, index + 1, (".rept", ".rep", ".irp", ".irpc"), (".endr",))
        if word in (".rept", ".rep"):
            count = self.evaluate(Cursor(tokenize(text, line.location, column), line.location))
            for _ in range(count):
                self.process(body)
            return following
        arguments = macros.split_arguments(text[column:].strip())
        if not arguments:
            raise failure(f"{word} needs a name", line.location, column, "ASM/012")
        name, values = arguments[0], arguments[1:]
        if word == ".irpc":
            values = list("".join(values).strip('"'))
        for value in values:
            self.process([Line(macros.substitute(item.text, {name: value}, [name]), item.location) for item in body])
        return following

    def _condition(self, lines: list[Line], index: int, line: Line, text: str) -> int:
        openers = tuple(name for name in _BLOCKS if name.startswith(".if"))
        body, following = macros.collect(lines, index + 1, openers, (".endif",))
        branches: list[tuple[str, Line, list[Line]]] = [(text, line, [])]
        depth = 0
        for item in body:
            words = item.text.split(None, 1)
            word = words[0].lower() if words else ""
            depth += (word in openers) - (word == ".endif")
            if depth == 0 and word in (".else", ".elseif"):
                branches.append((item.text, item, []))
            else:
                branches[-1][2].append(item)
        for condition, where, part in branches:
            if self._holds(condition, where):
                self.process(part)
                break
        return following

    def _holds(self, text: str, line: Line) -> bool:
        word = text.split(None, 1)[0].lower()
        start = text.lower().index(word) + len(word)
        rest = text[start:].strip()
        if word == ".else":
            return True
        if word in (".ifdef", ".ifndef", ".ifnotdef"):
            return (rest in self.values or rest in self.labels) == (word == ".ifdef")
        if word in (".ifb", ".ifnb"):
            return (not rest) == (word == ".ifb")
        if word in (".ifc", ".ifnc", ".ifeqs", ".ifnes"):
            parts = [part.strip().strip('"') for part in rest.split(",", 1)]
            return (len(parts) == 2 and parts[0] == parts[1]) == (word in (".ifc", ".ifeqs"))
        value = self.evaluate(Cursor(tokenize(text, line.location, start), line.location))
        comparisons = {
            ".ifeq": value == 0,
            ".ifge": value >= 0,
            ".ifgt": value > 0,
            ".ifle": value <= 0,
            ".iflt": value < 0,
        }
        return comparisons.get(word, value != 0)

    def _stray(self, lines: list[Line], index: int, line: Line, text: str) -> int:
        word = text.split()[0]
        raise failure(f"'{word}' closes nothing", line.location, text.index(word), "ASM/011")

    def _kernel(self, lines: list[Line], index: int, line: Line, text: str) -> int:
        target = self._target(line.location)
        words = text.split()
        if len(words) != 2:
            raise failure(".amdhsa_kernel takes the kernel's name", line.location, 0, "ASM/010")
        values: dict[str, tuple[int, Location]] = {}
        index += 1
        while index < len(lines):
            item = lines[index]
            index += 1
            stripped = item.text.strip()
            if not stripped:
                continue
            word = stripped.split(None, 1)[0].lower()
            column = len(item.text) - len(item.text.lstrip())
            if word == ".end_amdhsa_kernel":
                self.kernels.append((words[1], values, line.location))
                return index
            name = word.removeprefix(".amdhsa_")
            if not word.startswith(".amdhsa_") or not is_known(name, target):
                raise failure(f"unknown directive '{word}' for {target.name}", item.location, column, "ASM/010")
            if name in values:
                raise failure(f"'{word}' stands here twice", item.location, column, "ASM/010")
            cursor = Cursor(tokenize(item.text, item.location, column + len(word)), item.location)
            values[name] = (self.evaluate(cursor), Location(self.file_name, item.location.line, column + 1))
            self._end(cursor)
        raise failure("'.amdhsa_kernel' is not closed by '.end_amdhsa_kernel'", line.location, 0, "ASM/011")

    def _yaml(self, lines: list[Line], index: int, line: Line, text: str) -> int:
        import yaml

        start = line.location.line
        for end in range(start, len(self.raw_lines)):
            if self.raw_lines[end].strip() == ".end_amdgpu_metadata":
                break
        else:
            raise failure("'.amdgpu_metadata' is not closed by '.end_amdgpu_metadata'", line.location, 0, "ASM/011")
        try:
            value = yaml.safe_load("\n".join(self.raw_lines[start:end]))
        except yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None)
            where = start + mark.line + 1 if mark is not None else start
            message = getattr(problem, "problem", None) or str(problem)
            raise error(
                f"the metadata is no valid YAML: {message}", "ASM/019", Location(self.file_name, where, 1)
            ) from None
        if not isinstance(value, dict):
            raise failure("the metadata is not a map", line.location, 0, "ASM/019")
        self.metadata = value
        while index < len(lines) and lines[index].location.line <= end:
            index += 1
        return index + 1

    # The end

    def finish(self) -> CodeObject:
        """Lay out, resolve, and make the code object."""
        target = self._target(Location(self.file_name, max(len(self.raw_lines), 1), 1))
        for name in self.sections:
            if (
                name not in (".text", ".rodata")
                and self.sections[name].data
                and not name.startswith((".AMDGPU", ".note", ".debug", ".comment"))
            ):
                raise error(
                    f"contents of section '{name}' have no place in the code object: .text and .rodata have",
                    "ASM/020",
                    Location(self.file_name, 1),
                )
        entries = self.metadata.get("amdhsa.kernels", [])
        by_symbol = (
            {str(e.get(".symbol", f"{e.get('.name')}.kd")): e for e in entries if isinstance(e, dict)}
            if isinstance(entries, list)
            else {}
        )
        rest = {key: value for key, value in self.metadata.items() if key != "amdhsa.kernels"}
        text = self.sections[".text"]
        kernels = []
        for name, values, location in self.kernels:
            label = self.labels.get(name)
            if label is None or label.section is not text:
                raise error(f"the kernel's code '{name}' is not defined in .text", "ASM/009", location)
            descriptor = make_descriptor(values, target, location, self.xnack in (None, "on"))
            kernels.append(
                Kernel(
                    name,
                    bytes(self._size_of(name, label)),
                    descriptor,
                    by_symbol.get(f"{name}.kd", {}),
                    label.offset,
                    target.generation,
                )
            )
        kernels.sort(key=lambda item: (item.offset, item.name))
        default = ABI_V6 if target.is_generic else ABI_V5
        rodata = self.sections.get(".rodata")
        result = CodeObject(
            processor=target.name,
            kernels=tuple(kernels),
            text=bytes(text.data),
            xnack=self.xnack or ("any" if target.xnack else None),
            sramecc=self.sramecc or ("any" if target.sramecc else None),
            metadata=rest,
            abi_version=self.abi_version or default,
            constants=bytes(rodata.data) if rodata is not None else b"",
        )
        self.layout = layout_addresses(result)
        for fixup in self.fixups:
            code = fixup.make()
            fixup.section.data[fixup.offset : fixup.offset + len(code)] = code
        finished = tuple(
            replace(item, code=bytes(text.data[item.offset : item.offset + len(item.code)])) for item in kernels
        )
        result = replace(
            result, kernels=finished, text=bytes(text.data), constants=bytes(rodata.data) if rodata is not None else b""
        )
        return with_entry_offsets(result)

    def _size_of(self, name: str, label: _Label) -> int:
        entry = self.sizes.get(name)
        if entry is None:
            others = [
                other.offset
                for key, other in self.labels.items()
                if key in self.functions and other.offset > label.offset
            ]
            return min(others, default=len(label.section.data)) - label.offset
        rest, location, column, here = entry
        current = self.lookup

        def lookup(symbol: str) -> int:
            if symbol == ".":
                return self._address(_Label(label.section, here))
            return current(symbol)

        try:
            size = Cursor(tokenize(" " * column + rest, location, column), location).expression(lookup)
        except Unresolved as missing:
            raise failure(f"'{missing.name}' is not defined", location, column, "ASM/009") from None
        if not 0 <= size <= len(label.section.data) - label.offset:
            raise failure(f"the size of '{name}', {size}, does not fit its section", location, column, "ASM/018")
        return size


_Block = Callable[[_Assembler, list[Line], int, Line, str], int]
_BLOCKS: dict[str, _Block] = {
    ".macro": _Assembler._macro,
    **dict.fromkeys((".rept", ".rep", ".irp", ".irpc"), _Assembler._repeat),
    **dict.fromkeys(
        (
            ".if",
            ".ifdef",
            ".ifndef",
            ".ifnotdef",
            ".ifb",
            ".ifnb",
            ".ifc",
            ".ifnc",
            ".ifeqs",
            ".ifnes",
            ".ifeq",
            ".ifne",
            ".ifge",
            ".ifgt",
            ".ifle",
            ".iflt",
        ),
        _Assembler._condition,
    ),
    **dict.fromkeys(
        (".endif", ".else", ".elseif", ".endr", ".endm", ".endmacro", ".end_amdhsa_kernel", ".end_amdgpu_metadata"),
        _Assembler._stray,
    ),
    ".amdhsa_kernel": _Assembler._kernel,
    ".amdgpu_metadata": _Assembler._yaml,
}


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
        return _Assembler(source, file_name, processor, wave_size).run()
    except RecursionError:
        raise error("macros nest too deeply", "ASM/014", Location(file_name, 1)) from None
