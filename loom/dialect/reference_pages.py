"""The generated reference: one page a dialect, made of the op declarations.

    python -m loom.dialect.reference_pages docs/reference

A test compares the committed pages with what the declarations give now.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from loom.dialect.examples import EXAMPLES
from loom.ir import OpDefinition, all_definitions
from loom.ir.attributes import PREDICATES
from loom.ir.codes import CODES
from loom.ir.definition import AttributeDef

TITLES = {
    "scalar": "Scalar arithmetic",
    "index": "Coordinates and byte counts",
    "vector": "Vectors",
    "view": "Views",
    "buffer": "Buffers",
    "scf": "Structured control flow",
    "cfg": "Blocks and branches",
    "func": "Functions",
    "module": "Modules",
    "template": "Templates",
    "kernel": "Kernels",
    "check": "Checks and benchmarks",
    "config": "Configuration",
    "encoding": "Encodings",
    "target": "Targets",
    "low": "Low code",
    "global": "Globals",
    "command": "Command programs",
    "pass": "Pass pipelines",
    "pool": "Pools",
    "llvmir": "LLVM IR",
    "sanitizer": "Sanitizer checks",
}
# Families whose target records are described on the page of targets.
_TARGET_FAMILIES = ("amdgpu", "x86", "spirv", "vm", "wasm", "ireevm", "test")
_TRAITS = {
    "pure": "pure",
    "commutative": "commutative",
    "terminator": "ends a block",
    "convergent": "all work items of its scope take part",
    "reads": "reads memory",
    "writes": "writes memory",
    "atomic": "atomic",
    "module_level": "module level",
    "symbol": "defines or declares a symbol",
    "device": "device code only",
    "allocates": "gives new storage",
    "barrier": "orders memory",
}


def _kind(a: AttributeDef) -> str:
    if a.kind in ("word", "flags"):
        listed = " ".join(f"`{w}`" for w in a.words)
        return f"{'flags of' if a.kind == 'flags' else 'one of'} {listed}"
    names = {
        "int": "integer",
        "keyword": "the word itself",
        "bare": "word",
        "symbol_name": "symbol",
        "ints": "integers",
        "sizes": "x, y, z",
        "indices": "index list",
        "dict": "dictionary",
        "extra": "any further keys",
        "any": "any value",
        "internal": "kept in memory",
    }
    text = names.get(a.kind, a.kind.replace("_", " "))
    bounds = []
    if a.minimum is not None:
        bounds.append(f"≥ {a.minimum}")
    if a.maximum is not None:
        bounds.append(f"≤ {a.maximum}")
    if a.power_of_two:
        bounds.append("power of two")
    return f"{text} ({', '.join(bounds)})" if bounds else text


def _count(count: str) -> str:
    return {"one": "", "optional": " (optional)", "any": " (any number)"}[count]


def example_of(definition: OpDefinition) -> str:
    """Return an op's example: the declaration's, or the one kept beside."""
    return definition.example or EXAMPLES.get(definition.name, "")


def op_section(definition: OpDefinition) -> str:
    """Return the section of one op."""
    lines = [f"### {definition.name}", "", f"Tier {definition.tier}. {definition.doc}", ""]
    example = example_of(definition)
    if example:
        lines += ["```loom", example, "```", ""]
    if definition.format:
        lines += [f"Form: `{definition.name}{definition.format}`", ""]
    rows: list[tuple[str, str, str]] = []
    for o in definition.operands:
        rows.append((f"`%{o.name}`", "operand" + _count(o.count), o.constraint.description))
    for r in definition.results:
        rows.append((f"`{r.name}`", "result" + _count(r.count), r.constraint.description))
    for a in definition.attributes:
        default = f", default `{a.default}`" if a.default is not None else ""
        rows.append((f"`{a.name}`", "attribute" + (" (optional)" if a.optional else ""), _kind(a) + default))
    for g in definition.regions:
        ends = f"ends in {' or '.join(f'`{t}`' for t in g.terminators)}" if g.terminators else "signature only"
        rows.append((f"`{g.name}`", "region" + (" (optional)" if g.optional else ""), ends))
    if rows:
        lines += ["| Name | Part | Must be |", "| --- | --- | --- |"]
        lines += [f"| {a} | {b} | {c} |" for a, b, c in rows]
        lines.append("")
    notes = [_TRAITS[t] for t in sorted(definition.traits) if t in _TRAITS]
    for group in definition.same:
        notes.append("one type for " + ", ".join(f"`{n}`" for n in group))
    if definition.parents:
        notes.append("inside of " + ", ".join(f"`{p}`" for p in definition.parents))
    if definition.fold is not None:
        notes.append("folds constants")
    if notes:
        lines += ["; ".join(notes).capitalize() + ".", ""]
    return "\n".join(lines)


def page_of(dialect: str, definitions: Iterable[OpDefinition]) -> str:
    """Return a dialect's page."""
    listed = list(definitions)
    head = f"# {TITLES[dialect]}\n\nGenerated from the op declarations; do not edit. {len(listed)} ops.\n\n"
    return head + "\n".join(op_section(d) for d in listed).rstrip() + "\n"


def _index(groups: dict[str, list[OpDefinition]]) -> str:
    lines = [
        "# Language reference",
        "",
        "Generated from the op declarations; do not edit. In a form, `%x` is an operand, `~x` a type, `$x` an",
        "attribute, `@x` the inside of an index list, `&x` a region, `{}` the dictionary of the attributes that stand",
        "nowhere else, and `(? ?)` encloses what may be left out.",
        "",
        "| Page | Ops |",
        "| --- | --- |",
    ]
    lines += [f"| [{TITLES[d]}]({d}.md) | {len(groups[d])} |" for d in TITLES]
    lines += ["", f"Together {sum(len(v) for v in groups.values())} ops. [Diagnostics](diagnostics.md)", ""]
    lines += ["## Predicates", "", "| Predicate | Arguments | Meaning |", "| --- | --- | --- |"]
    lines += [f"| `{n}` | {count} | {meaning} |" for n, (count, meaning) in PREDICATES.items()]
    return "\n".join(lines) + "\n"


def _diagnostics() -> str:
    lines = [
        "# Diagnostics of the language",
        "",
        "Generated; do not edit. Codes are stable.",
        "",
        "| Code | Meaning |",
        "| --- | --- |",
    ]
    lines += [f"| `{code}` | {meaning} |" for code, meaning in CODES.items()]
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Return all pages, file name → text."""
    groups: dict[str, list[OpDefinition]] = {d: [] for d in TITLES}
    for definition in all_definitions():
        dialect = definition.dialect
        if dialect in _TARGET_FAMILIES or definition.name == "llvmir.target":
            dialect = "target"
        groups[dialect].append(definition)
    made = {f"{d}.md": page_of(d, found) for d, found in groups.items()}
    made["README.md"] = _index(groups)
    made["diagnostics.md"] = _diagnostics()
    return made


def write_pages(folder: Path) -> list[str]:
    """Write the pages that differ; remove pages that are no longer made. Return the names of what changed."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    changed = [n for n, text in made.items() if not (folder / n).exists() or (folder / n).read_text("utf-8") != text]
    for name in changed:
        (folder / name).write_text(made[name], encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.name not in made:
            path.unlink()
            changed.append(path.name)
    return changed


if __name__ == "__main__":
    for changed_page in write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reference")):
        print(changed_page)
