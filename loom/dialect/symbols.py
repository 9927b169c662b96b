"""What a module must satisfy as a whole: symbols, calls and their signatures, benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from loom.dialect.rules.checks import in_domain
from loom.ir import (
    BufferType,
    FloatType,
    IndexType,
    IntegerType,
    Module,
    OffsetType,
    Operation,
    RegisterType,
    SymbolRef,
    TensorType,
    Type,
    Value,
    VectorType,
    bit_width,
)
from loom.ir.verifier import Verifier


class SymbolChecker:
    """Checks every reference of one module against its symbol table."""

    def __init__(self, module: Module, verifier: Verifier) -> None:
        self.module = module
        self.verifier = verifier
        self.table: dict[str, Operation] = {}

    def run(self) -> None:
        """Check definitions, then references."""
        for op in self.module.body.operations:
            name = op.symbol
            if name is None:
                continue
            first = self.table.get(name)
            if first is not None:
                self.verifier.report(
                    op, "SYMBOL/002", f"@{name} is already defined", notes=[f"first defined at {first.location}"]
                )
            else:
                self.table[name] = op
        for op in self.module.body.operations:
            self._references(op, op)
            if op.regions:
                for region in op.regions:
                    for block in region.blocks:
                        self._block(block, op)

    def _block(self, block: Any, top: Operation) -> None:
        for op in block.operations:
            handler = _HANDLERS.get(op.definition.name)
            if handler is not None:
                handler(self, op, top)
            for region in op.regions:
                for inner in region.blocks:
                    self._block(inner, top)

    def _references(self, op: Operation, top: Operation) -> None:
        target = op.attributes.get("target")
        if isinstance(target, SymbolRef):
            self.find(op, str(target), _TARGETS, "a target")
        handler = _HANDLERS.get(op.definition.name)
        if handler is not None:
            handler(self, op, top)

    def find(self, op: Operation, name: str, kinds: Sequence[str], what: str) -> Operation | None:
        """Return the symbol's op when it exists and is one of the kinds; report otherwise."""
        found = self.table.get(name)
        if found is None:
            from loom.ir.suggest import did_you_mean

            self.verifier.report(
                op,
                "SYMBOL/001",
                f"@{name} is neither defined nor declared in this module",
                did_you_mean(name, self.table) or "declare what another module defines",
            )
            return None
        if found.definition.name not in kinds:
            self.verifier.report(op, "SYMBOL/003", f"@{name} is a {found.definition.name}, not {what}")
            return None
        return found

    def signature(
        self, op: Operation, callee: Operation, arguments: Sequence[Value], results: Sequence[Type] | None
    ) -> bool:
        """Compare a call with the callee's signature, its dimensions bound to the arguments.

        Checks have tensors where functions have buffers; a call from a check passes one for the other, like a launch.
        """
        parameters = callee.regions[0].blocks[0].arguments
        accepts = _launchable if _in_check(op) else _same
        if not self._arguments(op, callee, parameters, arguments, "arguments", accepts):
            return False
        if results is None:
            return True
        expected: Any = callee.attributes.get("result_types", ())
        mapping = dict(zip(parameters, arguments, strict=True))
        named: Any = callee.attributes.get("result_values") or ()
        if len(named) == len(op.results):
            mapping.update((n, r) for n, r in zip(named, op.results, strict=True) if n is not None)
        bound = [t.substitute(mapping) for t in expected]
        if len(bound) != len(results) or not all(
            _compatible(a, b, mapping) for a, b in zip(bound, results, strict=True)
        ):
            self.verifier.report(
                op,
                "SYMBOL/004",
                f"@{callee.symbol} gives ({_text(expected)}), the call says ({_text(results)})",
            )
            return False
        return True

    def _arguments(
        self,
        op: Operation,
        callee: Operation,
        parameters: Sequence[Value],
        arguments: Sequence[Value],
        what: str,
        accepts: Callable[[Type, Type], bool],
    ) -> bool:
        if len(parameters) != len(arguments):
            self.verifier.report(
                op,
                "SYMBOL/004",
                f"@{callee.symbol} takes {len(parameters)} {what[:-1] if len(parameters) == 1 else what}, "
                f"{len(arguments)} given",
            )
            return False
        mapping: dict[Value, Value] = {}
        for p, a in zip(parameters, arguments, strict=True):
            mapping[p] = a
            if not accepts(p.type.substitute(mapping), a.type):
                self.verifier.report(op, "SYMBOL/004", f"%{p.name} of @{callee.symbol} is {p.type}, {a.type} is given")
                return False
        return True

    # One handler a kind of reference

    def call(self, op: Operation, top: Operation) -> None:
        """func.call"""
        callee = self.find(op, str(op.attributes["callee"]), ("func.def", "func.decl"), "a function")
        if callee is None:
            return
        self.signature(op, callee, op.operands, [r.type for r in op.results])
        if op.attributes.get("pure") and not callee.attributes.get("pure"):
            self.verifier.report(op, "SYMBOL/006", f"@{callee.symbol} is not pure, but it is called as pure")
        elif top.attributes.get("pure") and top.definition.has_trait("function") and not op.attributes.get("pure"):
            self.verifier.report(
                op,
                "SYMBOL/006",
                f"@{top.symbol} is pure; it can call only pure functions",
                "write func.call pure @f(…) for a pure function",
            )

    def apply(self, op: Operation, top: Operation) -> None:
        """template.apply"""
        family = self.find(op, str(op.attributes["family"]), ("template.decl",), "a template family")
        if family is not None:
            self.signature(op, family, op.operands, [r.type for r in op.results])

    def template_call(self, op: Operation, top: Operation) -> None:
        """template.call"""
        callee = self.find(
            op, str(op.attributes["callee"]), ("template.def", "template.ukernel"), "a template implementation"
        )
        if callee is not None:
            self.signature(op, callee, op.operands, [r.type for r in op.results])

    def implementation(self, op: Operation, top: Operation) -> None:
        """template.def and template.ukernel"""
        family = self.find(op, str(op.attributes["family"]), ("template.decl",), "a template family")
        if family is None:
            return
        mine = op.regions[0].blocks[0].arguments
        theirs = family.regions[0].blocks[0].arguments
        if len(mine) != len(theirs):
            self.verifier.report(
                op, "SYMBOL/005", f"@{family.symbol} takes {len(theirs)} arguments, @{op.symbol} takes {len(mine)}"
            )
            return
        mapping = dict(zip(theirs, mine, strict=True))
        results: Any = op.attributes.get("result_types", ())
        wanted: Any = family.attributes.get("result_types", ())
        if [a.type.substitute(mapping) for a in theirs] != [a.type for a in mine] or [
            t.substitute(mapping) for t in wanted
        ] != list(results):
            self.verifier.report(
                op,
                "SYMBOL/005",
                f"the signature of @{op.symbol} differs from that of its family @{family.symbol}: "
                f"({_text([a.type for a in mine])}) -> ({_text(results)}), "
                f"not ({_text([a.type for a in theirs])}) -> ({_text(wanted)})",
            )

    def launch(self, op: Operation, top: Operation) -> None:
        """kernel.launch"""
        kinds = ("kernel.def", "kernel.decl", "low.kernel.def")
        callee = self.find(op, str(op.attributes["callee"]), kinds, "a kernel")
        if callee is None:
            return
        if callee.name == "low.kernel.def":
            return
        workload, parameters = (r.blocks[0].arguments for r in callee.regions)
        if self._arguments(op, callee, workload, op.operand_group("workload"), "workload values", _same):
            self._arguments(op, callee, parameters, op.operand_group("arguments"), "launch arguments", _launchable)

    def program_launch(self, op: Operation, top: Operation) -> None:
        """command.program.launch"""
        kinds = ("command.program.def", "command.program.decl")
        callee = self.find(op, str(op.attributes["callee"]), kinds, "a command program")
        if callee is None:
            return
        count: Any = callee.attributes.get("workload_count", 0)
        values = callee.regions[0].blocks[0].arguments
        if self._arguments(op, callee, values[:count], op.operand_group("workload"), "workload values", _same):
            self._arguments(op, callee, values[count:], op.operand_group("arguments"), "arguments", _launchable)

    def configuration(self, op: Operation, top: Operation) -> None:
        """config.get"""
        key = self.find(op, str(op.attributes["key"]), ("config.decl", "config.def"), "a configuration value")
        if key is not None and key.attributes["type"] is not op.results[0].type:
            self.verifier.report(
                op, "SYMBOL/004", f"@{key.symbol} is {key.attributes['type']}, read here as {op.results[0].type}"
            )

    def global_access(self, op: Operation, top: Operation) -> None:
        """global.load and global.store"""
        kinds = ("global.variable",) if op.name == "global.store" else ("global.variable", "global.constant")
        found = self.find(
            op, str(op.attributes["global"]), kinds, "a global variable" if len(kinds) == 1 else "a global"
        )
        type_ = op.results[0].type if op.results else op.operands[0].type
        if found is not None and found.attributes["type"] is not type_:
            self.verifier.report(
                op, "SYMBOL/004", f"@{found.symbol} is {found.attributes['type']}, accessed here as {type_}"
            )

    def comparison(self, op: Operation, top: Operation) -> None:
        """check.compare and check.invoke"""
        for name in ("target", "oracle"):
            symbol = op.attributes.get(name)
            if symbol is None:
                continue
            callee = self.find(op, str(symbol), ("func.def", "func.decl"), "a function")
            if callee is None:
                continue
            results = [r.type for r in op.results] if op.name == "check.invoke" else None
            if not self.signature(op, callee, op.operands, results):
                continue
            if op.name == "check.compare":
                sides: Any = op.attributes.get("bindings", ())
                given = op.regions[0].blocks[0].arguments
                gives: Any = callee.attributes.get("result_types", ())
                for side in ("actual", "expected"):
                    bound = [a.type for a, s in zip(given, sides, strict=False) if s == side]
                    if sides and bound != list(gives):
                        self.verifier.report(
                            op,
                            "SYMBOL/004",
                            f"@{callee.symbol} gives ({_text(gives)}), {side}({_text(bound)}) binds it",
                        )
                        break

    def oracle_call(self, op: Operation, top: Operation) -> None:
        """check.oracle.call"""
        self.find(op, str(op.attributes["callee"]), _CALLABLE, "something that can be called")

    def benchmark(self, op: Operation, top: Operation) -> None:
        """check.benchmark"""
        case = self.find(op, str(op.attributes["case"]), ("check.case",), "a case")
        if case is None:
            return
        parameters = {
            str(p.attributes["name"]): p
            for p in case.regions[0].blocks[0].operations
            if p.definition.has_trait("parameter") and p.attributes.get("name") is not None
        }
        assigned: Any = op.attributes.get("attributes", {})
        for name, value in assigned.items():
            parameter = parameters.get(name)
            if parameter is None:
                from loom.ir.suggest import did_you_mean

                self.verifier.report(
                    op,
                    "CHECK/002",
                    f"@{case.symbol} has no parameter '{name}'",
                    did_you_mean(name, parameters)
                    or (f"it has {', '.join(parameters)}" if parameters else "none of its parameters has a name"),
                )
            elif isinstance(value, int | float) and not in_domain(parameter, value):
                self.verifier.report(op, "CHECK/003", f"{value} is not a value of the parameter '{name}'")

    def low_call(self, op: Operation, top: Operation) -> None:
        """low.func.call"""
        callee = self.find(op, str(op.attributes["callee"]), ("low.func.def", "low.func.decl"), "a Low function")
        if callee is not None:
            self.signature(op, callee, op.operands, [r.type for r in op.results])

    def invoke(self, op: Operation, top: Operation) -> None:
        """low.invoke"""
        callee = self.find(op, str(op.attributes["callee"]), ("low.func.def", "low.func.decl"), "a Low function")
        if callee is None:
            return
        if top.definition.has_trait("low"):
            self.verifier.report(op, "LOW/009", "low.invoke stands in source functions; Low code uses low.func.call")
            return
        if callee.attributes.get("inlining") == "noinline":
            self.verifier.report(op, "LOW/009", f"@{callee.symbol} is 'noinline'; helpers are always inlined")
        if callee.attributes.get("allocation", "virtual") != "virtual":
            self.verifier.report(op, "LOW/009", f"@{callee.symbol} must have virtual allocation to be inlined")
        for inner in callee.walk():
            if inner.name in ("low.resource", "low.live_in"):
                self.verifier.report(op, "LOW/009", f"@{callee.symbol} contains {inner.name}; a helper cannot")
                break
        parameters = callee.regions[0].blocks[0].arguments
        wanted: Any = callee.attributes.get("result_types", ())
        for what, theirs, mine in (
            ("arguments", [p.type for p in parameters], [v.type for v in op.operands]),
            ("results", list(wanted), [r.type for r in op.results]),
        ):
            if len(theirs) != len(mine):
                self.verifier.report(op, "SYMBOL/004", f"@{callee.symbol} has {len(theirs)} {what}, {len(mine)} given")
                return
            for register, source in zip(theirs, mine, strict=True):
                if isinstance(register, RegisterType) and not register_fits(register, source):
                    self.verifier.report(
                        op, "SYMBOL/004", f"{source} does not travel in {register}", _register_hint(source)
                    )
                    return


def register_fits(register: RegisterType, source: Type) -> bool:
    """Whether a source value may travel in a register of that type (by total width; families without a rule accept)."""
    family, _, kind = register.register_class.partition(".")
    if family != "amdgpu" or kind not in ("vgpr", "sgpr"):
        return True
    if isinstance(source, VectorType):
        if not source.is_static or isinstance(source.element, IndexType | OffsetType):
            return False
        return kind == "vgpr" and bit_width(source) == 32 * register.units
    if isinstance(source, BufferType):
        return kind == "sgpr" and register.units == 2
    if isinstance(source, IntegerType | FloatType):
        return max(source.width, 32) == 32 * register.units
    return isinstance(source, IndexType | OffsetType) and register.units in (1, 2)


def _register_hint(source: Type) -> str:
    """The register of a helper that a source value may travel in, or what to pass instead."""
    kinds = ("vgpr", "sgpr") if isinstance(source, IntegerType | FloatType) else ("vgpr",)
    if isinstance(source, BufferType):
        kinds = ("sgpr",)
    for units in range(1, 33):
        fitting = [r for r in (RegisterType(f"amdgpu.{kind}", units) for kind in kinds) if register_fits(r, source)]
        if fitting:
            return "declare it as " + " or ".join(str(register) for register in fitting)
    return "pass scalars, buffers, or vectors that fill whole 32-bit registers"


def _in_check(op: Operation) -> bool:
    """Whether the op is one of a case, scenario or trial (not of a function)."""
    parent = op.parent_op
    return parent is not None and parent.name.startswith("check.")


def _same(parameter: Type, argument: Type) -> bool:
    return parameter is argument


def _launchable(parameter: Type, argument: Type) -> bool:
    return parameter is argument or (isinstance(parameter, BufferType) and isinstance(argument, TensorType))


def _compatible(a: Type, b: Type, mapping: dict[Value, Value]) -> bool:
    if a is b:
        return True
    # Dimensions that name results of the callee stand for whatever the call's results are.
    return bool(a.values) and type(a) is type(b) and any(v not in mapping.values() for v in a.values)


def _text(types: Sequence[Type]) -> str:
    return ", ".join(str(t) for t in types)


_TARGETS = (
    *(f"{f}.target" for f in ("amdgpu", "x86", "spirv", "llvmir", "vm", "wasm", "ireevm", "test")),
    "target.decl",
    "target.generic",
)
_CALLABLE = ("func.def", "func.decl", "kernel.def", "kernel.decl", "low.kernel.def", "command.program.def")
_HANDLERS: dict[str, Callable[[SymbolChecker, Operation, Operation], None]] = {
    "func.call": SymbolChecker.call,
    "template.apply": SymbolChecker.apply,
    "template.call": SymbolChecker.template_call,
    "template.def": SymbolChecker.implementation,
    "template.ukernel": SymbolChecker.implementation,
    "kernel.launch": SymbolChecker.launch,
    "command.program.launch": SymbolChecker.program_launch,
    "config.get": SymbolChecker.configuration,
    "global.load": SymbolChecker.global_access,
    "global.store": SymbolChecker.global_access,
    "check.compare": SymbolChecker.comparison,
    "check.invoke": SymbolChecker.comparison,
    "check.oracle.call": SymbolChecker.oracle_call,
    "check.benchmark": SymbolChecker.benchmark,
    "low.func.call": SymbolChecker.low_call,
    "low.invoke": SymbolChecker.invoke,
}


def check_symbols(module: Module, verifier: Verifier) -> None:
    """Module check: symbols and references."""
    SymbolChecker(module, verifier).run()
