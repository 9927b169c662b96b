"""Directives that have a body: macros, repetitions, conditions, kernel descriptors, metadata."""

from __future__ import annotations

from collections.abc import Callable

from loom.diagnostics import Location, error
from loom.target.amdgpu.assembler import macros
from loom.target.amdgpu.assembler.assembly import Assembly, end_of_line
from loom.target.amdgpu.assembler.expressions import Cursor, failure, tokenize
from loom.target.amdgpu.assembler.kernel_directives import is_known
from loom.target.amdgpu.assembler.macros import Line


def _macro(assembly: Assembly, lines: list[Line], index: int, line: Line, text: str) -> int:
    macro = macros.parse_header(text, line.location)
    macro.body, index = macros.collect(lines, index + 1, (".macro",), (".endm", ".endmacro"))
    assembly.macros[macro.name] = macro
    return index


def _repeat(assembly: Assembly, lines: list[Line], index: int, line: Line, text: str) -> int:
    word = text.split(None, 1)[0].lower()
    column = text.lower().index(word) + len(word)
    body, following = macros.collect(lines, index + 1, (".rept", ".rep", ".irp", ".irpc"), (".endr",))
    if word in (".rept", ".rep"):
        count = assembly.evaluate(Cursor(tokenize(text, line.location, column), line.location))
        for _ in range(count):
            assembly.process(body)
        return following
    arguments = macros.split_arguments(text[column:].strip())
    if not arguments:
        raise failure(f"{word} needs a name", line.location, column, "ASM/012")
    name, values = arguments[0], arguments[1:]
    if word == ".irpc":
        values = list("".join(values).strip('"'))
    for value in values:
        assembly.process([Line(macros.substitute(item.text, {name: value}, [name]), item.location) for item in body])
    return following


def _condition(assembly: Assembly, lines: list[Line], index: int, line: Line, text: str) -> int:
    openers = tuple(name for name in BLOCKS if name.startswith(".if"))
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
        if _holds(assembly, condition, where):
            assembly.process(part)
            break
    return following


def _holds(assembly: Assembly, text: str, line: Line) -> bool:
    word = text.split(None, 1)[0].lower()
    start = text.lower().index(word) + len(word)
    rest = text[start:].strip()
    if word == ".else":
        return True
    if word in (".ifdef", ".ifndef", ".ifnotdef"):
        return (rest in assembly.values or rest in assembly.labels) == (word == ".ifdef")
    if word in (".ifb", ".ifnb"):
        return (not rest) == (word == ".ifb")
    if word in (".ifc", ".ifnc", ".ifeqs", ".ifnes"):
        parts = [part.strip().strip('"') for part in rest.split(",", 1)]
        return (len(parts) == 2 and parts[0] == parts[1]) == (word in (".ifc", ".ifeqs"))
    value = assembly.evaluate(Cursor(tokenize(text, line.location, start), line.location))
    comparisons = {
        ".ifeq": value == 0,
        ".ifge": value >= 0,
        ".ifgt": value > 0,
        ".ifle": value <= 0,
        ".iflt": value < 0,
    }
    return comparisons.get(word, value != 0)


def _stray(assembly: Assembly, lines: list[Line], index: int, line: Line, text: str) -> int:
    word = text.split()[0]
    raise failure(f"'{word}' closes nothing", line.location, text.index(word), "ASM/011")


def _kernel(assembly: Assembly, lines: list[Line], index: int, line: Line, text: str) -> int:
    target = assembly.known_target(line.location)
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
            assembly.kernels.append((words[1], values, line.location))
            return index
        name = word.removeprefix(".amdhsa_")
        if not word.startswith(".amdhsa_") or not is_known(name, target):
            raise failure(f"unknown directive '{word}' for {target.name}", item.location, column, "ASM/010")
        if name in values:
            raise failure(f"'{word}' stands here twice", item.location, column, "ASM/010")
        cursor = Cursor(tokenize(item.text, item.location, column + len(word)), item.location)
        values[name] = (assembly.evaluate(cursor), Location(assembly.file_name, item.location.line, column + 1))
        end_of_line(cursor)
    raise failure("'.amdhsa_kernel' is not closed by '.end_amdhsa_kernel'", line.location, 0, "ASM/011")


def _yaml(assembly: Assembly, lines: list[Line], index: int, line: Line, text: str) -> int:
    import yaml

    start = line.location.line
    for end in range(start, len(assembly.raw_lines)):
        if assembly.raw_lines[end].strip() == ".end_amdgpu_metadata":
            break
    else:
        raise failure("'.amdgpu_metadata' is not closed by '.end_amdgpu_metadata'", line.location, 0, "ASM/011")
    try:
        value = yaml.safe_load("\n".join(assembly.raw_lines[start:end]))
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = start + mark.line + 1 if mark is not None else start
        message = getattr(problem, "problem", None) or str(problem)
        raise error(
            f"the metadata is no valid YAML: {message}", "ASM/019", Location(assembly.file_name, where, 1)
        ) from None
    if not isinstance(value, dict):
        raise failure("the metadata is not a map", line.location, 0, "ASM/019")
    assembly.metadata = value
    while index < len(lines) and lines[index].location.line <= end:
        index += 1
    return index + 1


Block = Callable[[Assembly, list[Line], int, Line, str], int]
BLOCKS: dict[str, Block] = {
    ".macro": _macro,
    **dict.fromkeys((".rept", ".rep", ".irp", ".irpc"), _repeat),
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
        _condition,
    ),
    **dict.fromkeys(
        (".endif", ".else", ".elseif", ".endr", ".endm", ".endmacro", ".end_amdhsa_kernel", ".end_amdgpu_metadata"),
        _stray,
    ),
    ".amdhsa_kernel": _kernel,
    ".amdgpu_metadata": _yaml,
}
"""By the word that opens them, or that closes one."""
