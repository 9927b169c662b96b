"""``loom-link``: join modules, resolve declarations, keep what the roots reach."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from loom.diagnostics import ExitCode, error
from loom.tools.common import make_parser, read_text, run_tool, write_output

if TYPE_CHECKING:
    from loom.ir import Module

DESCRIPTION = """Join modules into one that verifies on its own.

A declaration is resolved by an input's own definition or by the one exported (public) definition of a --library. With
roots only what they reach is kept, besides symbols marked 'retain'.

modes:
  link     resolve declarations and keep what the roots reach (default: every exported symbol and kernel is a root)
  merge    join the inputs and keep everything
  archive  as merge, but declarations may stay unresolved: the result is a library
  auto     link where --root is given, else merge
"""

MODES = ("auto", "link", "archive", "merge")


def run(argv: Sequence[str]) -> int:
    """Parse the command line and link."""
    parser = make_parser("loom-link", DESCRIPTION)
    add = parser.add_argument
    add("inputs", nargs="+", metavar="FILE", help="text module ('-' for stdin)")
    add("--library", action="append", default=[], metavar="FILE", help="module to resolve against (repeat)")
    add("--root", action="append", default=[], metavar="@SYMBOL", help="keep what this reaches (repeat)")
    add("--mode", choices=MODES, default="auto")
    add("--from", dest="source", choices=("auto", "text"), default="auto", help="input form")
    add("--to", choices=("text",), default="text", help="output form")
    add("--output", default="-", metavar="FILE", help="where the module goes (default: stdout)")
    add("--list-symbols", action="store_true", help="print the symbols and stop")
    add("--print-plan", action="store_true", help="print, as JSON, what comes from where, and stop")
    add("--print-config-schema", action="store_true", help="print the config keys as JSON Schema and stop")
    add(
        "--include-input-exports",
        "--include-exported-roots",
        action="store_true",
        help="exported symbols of the inputs are roots as well",
    )
    add("--require-resolved-config", action="store_true", help="refuse config keys without a value")
    add("--strip-check", action="store_true", help="drop check cases, scenarios and benchmarks")
    add("--allow-unresolved", action="store_true", help="let declarations stay without a definition")
    add("--verify", action="store_true", help="verify only: write nothing")
    add("--config", action="append", default=[], metavar="KEY=VALUE", help="bind a config value (repeat)")
    args = parser.parse_args(argv)

    import loom

    inputs = [loom.parse(read_text(path), path) for path in args.inputs]
    libraries = [loom.parse(read_text(path), path) for path in args.library]
    for module in (*inputs, *libraries):
        loom.verify(module)
    mode = args.mode if args.mode != "auto" else ("link" if args.root else "merge")
    linked, plan = link_modules(inputs, libraries, mode, args)
    if args.list_symbols:
        for op in linked.operations:
            if op.symbol is not None:
                print(f"@{op.symbol}\t{op.name}\t{plan.get(op.symbol, '')}")
        return int(ExitCode.SUCCESS)
    if args.print_plan:
        print(json.dumps({"mode": mode, "symbols": [{"symbol": s, "from": f} for s, f in plan.items()]}, indent=2))
        return int(ExitCode.SUCCESS)
    if args.print_config_schema:
        print(json.dumps(config_schema(linked), indent=2))
        return int(ExitCode.SUCCESS)
    if args.verify:
        return int(ExitCode.SUCCESS)
    write_output(args.output, loom.print_module(linked))
    return int(ExitCode.SUCCESS)


def link_modules(
    inputs: Sequence[Module], libraries: Sequence[Module], mode: str, args: Any
) -> tuple[Module, dict[str, str]]:
    """Join ``inputs`` and resolve them against ``libraries``; return the module and where each symbol came from."""
    import loom
    from loom.transform.link import is_declaration, is_exported, prune, resolve_declarations

    linked = merge(inputs)
    own = {op.symbol for op in linked.operations if op.symbol}
    if mode != "archive" or libraries:
        resolve_declarations(linked, libraries)
    if args.strip_check:
        for op in linked.operations:
            if op.name.startswith("check."):
                op.erase()
    if mode == "link":
        roots = list(args.root)
        if not roots or args.include_input_exports:
            roots += [
                op.symbol
                for op in linked.operations
                if op.symbol and (is_exported(op) or op.name in ("kernel.def", "low.kernel.def"))
                and op.symbol in own
            ]  # fmt: skip
        roots += [op.symbol for op in linked.operations if op.symbol and op.name.startswith("check.")]
        anonymous = [op.clone() for op in linked.operations if op.symbol is None and op.name == "check.benchmark"]
        prune(linked, roots)
        for op in anonymous:
            linked.body.append(op)
    if mode != "archive" and not args.allow_unresolved:
        unresolved = [
            op for op in linked.operations
            if is_declaration(op) and op.name not in ("template.decl", "config.decl", "target.decl")
            and not op.attributes.get("import_module")
        ]  # fmt: skip
        if unresolved:
            names = ", ".join(f"@{op.symbol}" for op in unresolved)
            raise error(
                f"no definition of {names}",
                "LINK/005",
                unresolved[0].location,
                hint="give the module that exports it with --library, or --allow-unresolved",
            )
    bind_config(linked, args.config, args.require_resolved_config)
    loom.verify(linked)
    plan = {op.symbol: str(op.location.file) if op.location else "" for op in linked.operations if op.symbol}
    return linked, plan


def merge(inputs: Sequence[Module]) -> Module:
    """Join modules: a declaration gives way to a definition, equal records are kept once, other doubles are errors.

    Raises:
        LoomError: ``LINK/006`` for a symbol that two inputs define.
    """
    from loom.ir import Module
    from loom.transform.link import is_declaration
    from loom.transform.simplify import attribute_key

    linked = Module(inputs[0].filename)
    for module in inputs:
        for op in module.operations:
            existing = linked.symbol(op.symbol) if op.symbol else None
            if existing is None:
                linked.body.append(op.clone())
            elif is_declaration(existing) and not is_declaration(op):
                existing.erase()
                linked.body.append(op.clone())
            elif is_declaration(op):
                continue
            elif (
                not op.regions and op.name == existing.name
                and attribute_key(op.attributes) == attribute_key(existing.attributes)
            ):  # fmt: skip
                continue
            else:
                raise error(
                    f"@{op.symbol} is defined by two inputs",
                    "LINK/006",
                    op.location,
                    notes=(f"the other definition: {existing.location}",),
                )
        linked.aliases.update(module.aliases)
    return linked


def bind_config(module: Module, bindings: Sequence[str], required: bool) -> None:
    """Turn ``KEY=VALUE`` bindings into ``config.def`` records in place of their declarations.

    Raises:
        LoomError: ``CONFIG/004`` for text without ``=``; ``CONFIG/001`` for a key without value where ``required``.
    """
    from loom.ir import Builder
    from loom.transform.specialize import convert_config

    values: dict[str, str] = {}
    for text in bindings:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise error(f"'{text}' is no binding", "CONFIG/004", hint="write --config=key=value")
        values[key] = value
    for op in list(module.operations):
        if op.name not in ("config.decl", "config.def") or op.symbol is None:
            continue
        if op.symbol in values:
            type_: Any = op.attributes["type"]
            value = convert_config(values[op.symbol], type_, op.symbol, op)
            Builder.before(op).create("config.def", (), (), {"sym_name": op.symbol, "value": value, "type": type_})
            op.erase()
        elif op.name == "config.decl" and required:
            raise error(
                f"config value '{op.symbol}' is not bound",
                "CONFIG/001",
                op.location,
                hint=f"give --config={op.symbol}=VALUE",
            )


def config_schema(module: Module) -> dict[str, Any]:
    """The module's config keys as a JSON Schema: types, defaults, bounds that the declaration states."""
    from loom.ir import FloatType, IntegerType, Predicate

    properties: dict[str, Any] = {}
    required: list[str] = []
    for op in module.operations:
        if op.name not in ("config.decl", "config.def") or op.symbol is None:
            continue
        type_ = op.attributes["type"]
        boolean = isinstance(type_, IntegerType) and type_.width == 1
        kind = "number" if isinstance(type_, FloatType) else "boolean" if boolean else "integer"
        entry: dict[str, Any] = {"type": kind, "description": str(type_)}
        if op.name == "config.def":
            value = op.attributes["value"]
            if isinstance(value, bool | int | float):
                entry["default"] = value
        else:
            required.append(op.symbol)
        where = op.attributes.get("where")
        for predicate in where if isinstance(where, tuple) else ():
            assert isinstance(predicate, Predicate)
            numbers = [a for a in predicate.arguments if isinstance(a, int | float)]
            if predicate.name == "range":
                entry["minimum"], entry["maximum"] = numbers
            elif predicate.name == "mul":
                entry["multipleOf"] = numbers[0]
            elif predicate.name in ("min", "ge"):
                entry["minimum"] = numbers[0]
            elif predicate.name in ("max", "le"):
                entry["maximum"] = numbers[0]
        properties[op.symbol] = entry
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": required,
    }


def main() -> int:
    """Entry point of the console script."""
    return run_tool(run)


if __name__ == "__main__":
    sys.exit(main())
