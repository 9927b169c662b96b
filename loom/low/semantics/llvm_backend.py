"""The LLVM back end: emits semantic expressions as LLVM IR text over ``<wave x type>`` vectors.

Text, because building IR objects costs several times more than parsing text. :func:`compile_template` turns an
expression into text once;
each use only substitutes the names of its inputs and a prefix for its temporaries.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from loom.low.semantics.expression import Expr, topological

TYPES = {
    "i1": "i1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "f16": "half", "f32": "float", "f64": "double",
}  # fmt: skip

_SHORT = {"i1": "i1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "f16": "f16", "f32": "f32", "f64": "f64"}

_SAME = {
    "add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl", "lshr": "lshr",
    "ashr": "ashr", "fadd": "fadd", "fsub": "fsub", "fmul": "fmul", "fdiv": "fdiv",
}  # fmt: skip
_CAST = frozenset(("trunc", "zext", "sext", "bitcast", "fpext", "fptrunc", "sitofp", "uitofp", "fptosi", "fptoui"))
_INTRINSIC = {
    "umin": "umin", "umax": "umax", "smin": "smin", "smax": "smax", "fma": "fma", "sqrt": "sqrt", "floor": "floor",
    "ceil": "ceil", "ftrunc": "trunc", "rint": "rint", "ctpop": "ctpop", "bitreverse": "bitreverse",
}  # fmt: skip
_COUNT_ZEROS = frozenset(("ctlz", "cttz"))


def llvm_type(type_: str, lane: bool, wave: int) -> str:
    """LLVM's spelling of a value's type."""
    return f"<{wave} x {TYPES[type_]}>" if lane else TYPES[type_]


def constant_text(type_: str, pattern: int) -> str:
    """A scalar constant of ``type_`` with the given bits, as LLVM writes it."""
    if type_ == "i1":
        return "true" if pattern & 1 else "false"
    if type_ == "f16":
        return f"0xH{pattern:04X}"
    if type_ == "f32":
        # LLVM writes single precision as the double that equals it; a NaN keeps its payload in the double's upper bits.
        if pattern & 0x7F800000 == 0x7F800000:
            fraction = (pattern & 0x7FFFFF) << 29
            return f"0x{((pattern >> 31) << 63) | (0x7FF << 52) | fraction:016X}"
        (number,) = struct.unpack("<f", struct.pack("<I", pattern))
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if type_ == "f64":
        return f"0x{pattern:016X}"
    width = int(type_[1:])
    return str(pattern - (1 << width) if pattern >> (width - 1) else pattern)


@dataclass(frozen=True, slots=True)
class Template:
    """IR text with holes: ``~`` starts every temporary's name, ``$name$`` stands for an input.

    ``results`` are the names, or constants, that hold the roots; ``result_lane`` tells which are lane-wise;
    ``declarations`` are
    the intrinsics used; ``size`` counts instructions.
    """

    text: str
    results: tuple[str, ...]
    result_lane: tuple[bool, ...]
    declarations: frozenset[str]
    size: int

    def instantiate(self, prefix: str, inputs: Sequence[tuple[str, str]]) -> tuple[str, list[str]]:
        """The text and result names for one use. ``inputs`` pairs argument names with SSA names or constants."""
        text = self.text
        results = list(self.results)
        for name, value in inputs:
            hole = f"${name}$"
            text = text.replace(hole, value)
            results = [value if r == hole else r for r in results]
        return text.replace("~", prefix), [r.replace("~", prefix) for r in results]


def compile_template(roots: Sequence[Expr], wave: int, hardware_fma: bool = True) -> Template:
    """Emit ``roots`` as a template. Without ``hardware_fma`` fused multiply-adds call ``@loom.fma.*`` of the run-time
    module.
    """
    emitter = _Emitter(wave, hardware_fma)
    for item in topological(list(roots)):
        emitter.emit(item)
    return Template(
        "".join(emitter.lines),
        tuple(emitter.names[id(r)] for r in roots),
        tuple(r.lane for r in roots),
        frozenset(emitter.declarations),
        len(emitter.lines),
    )


class _Emitter:
    def __init__(self, wave: int, hardware_fma: bool) -> None:
        self.wave = wave
        self.hardware_fma = hardware_fma
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.declarations: set[str] = set()
        self._splats: dict[int, str] = {}
        self._known: dict[tuple[object, ...], str] = {}
        self._count = 0

    def emit(self, item: Expr) -> None:
        if item.op == "arg":
            self.names[id(item)] = f"${item.attr}$"
        elif item.op == "const":
            self.names[id(item)] = constant_text(item.type, item.attr)
        else:
            self.names[id(item)] = self._emit_node(item)

    def _line(self, text: str) -> str:
        key = (text,)
        found = self._known.get(key)
        if found is not None:
            return found
        self._count += 1
        name = f"%~{self._count}"
        self.lines.append(f"  {name} = {text}\n")
        self._known[key] = name
        return name

    def _type(self, item: Expr, lane: bool) -> str:
        return llvm_type(item.type, lane, self.wave)

    def _value(self, item: Expr, lane: bool) -> str:
        """The name of an operand in a node that is lane-wise (``lane``) or uniform; broadcasts where needed."""
        name = self.names[id(item)]
        if not lane or item.lane:
            return name
        if item.op == "const":
            return f"splat ({TYPES[item.type]} {name})"
        found = self._splats.get(id(item))
        if found is None:
            kind = self._type(item, True)
            one = self._line(f"insertelement {kind} poison, {TYPES[item.type]} {name}, i64 0")
            found = self._line(f"shufflevector {kind} {one}, {kind} poison, <{self.wave} x i32> zeroinitializer")
            self._splats[id(item)] = found
        return found

    def _call(self, name: str, item: Expr, extra: str = "") -> str:
        lane = item.lane
        kind = self._type(item, lane)
        suffix = f"v{self.wave}{_SHORT[item.type]}" if lane else _SHORT[item.type]
        values = [self._value(a, lane) for a in item.args]
        parameters = ", ".join([kind] * len(values)) + (", i1" if extra else "")
        self.declarations.add(f"declare {kind} @llvm.{name}.{suffix}({parameters})")
        return self._line(f"call {kind} @llvm.{name}.{suffix}({', '.join(f'{kind} {v}' for v in values)}{extra})")

    def _emit_node(self, item: Expr) -> str:
        op = item.op
        lane = item.lane
        if op in _SAME:
            a, b = item.args
            return self._line(f"{_SAME[op]} {self._type(item, lane)} {self._value(a, lane)}, {self._value(b, lane)}")
        if op in _CAST:
            (a,) = item.args
            return self._line(f"{op} {self._type(a, lane)} {self._value(a, lane)} to {self._type(item, lane)}")
        if op in ("icmp", "fcmp"):
            a, b = item.args
            return self._line(f"{op} {item.attr} {self._type(a, lane)} {self._value(a, lane)}, {self._value(b, lane)}")
        if op == "select":
            c, a, b = item.args
            # A uniform condition may stay scalar; LLVM selects whole vectors by an i1.
            condition = f"{self._type(c, c.lane)} {self.names[id(c)]}"
            kind = self._type(item, lane)
            return self._line(f"select {condition}, {kind} {self._value(a, lane)}, {kind} {self._value(b, lane)}")
        if op == "fma" and not self.hardware_fma:
            kind = self._type(item, lane)
            suffix = f"v{self.wave}{_SHORT[item.type]}" if lane else _SHORT[item.type]
            self.declarations.add(f"declare {kind} @loom.fma.{suffix}({kind}, {kind}, {kind})")
            values = ", ".join(f"{kind} {self._value(a, lane)}" for a in item.args)
            return self._line(f"call {kind} @loom.fma.{suffix}({values})")
        if op in _INTRINSIC:
            return self._call(_INTRINSIC[op], item)
        if op in _COUNT_ZEROS:
            return self._call(op, item, ", i1 false")
        return self._emit_lane_node(item)

    def _emit_lane_node(self, item: Expr) -> str:
        op = item.op
        wave = self.wave
        kind = self._type(item, item.lane)
        if op == "lane":
            return "<" + ", ".join(f"i32 {i}" for i in range(wave)) + ">"
        if op == "splat":
            return self._value(item.args[0], True)
        if op == "ballot":
            return self._line(f"bitcast <{wave} x i1> {self._value(item.args[0], True)} to i{wave}")
        if op == "lane_bit":
            return self._line(f"bitcast i{wave} {self.names[id(item.args[0])]} to <{wave} x i1>")
        if op == "shuffle":
            source = self._value(item.args[0], True)
            sources = ", ".join(f"i32 {s}" for s in item.attr)
            return self._line(f"shufflevector {kind} {source}, {kind} poison, <{wave} x i32> <{sources}>")
        if op == "read_lane":
            vector = self._type(item.args[0], True)
            index = self.names[id(item.args[1])]
            return self._line(f"extractelement {vector} {self._value(item.args[0], True)}, i32 {index}")
        if op == "permute":
            suffix = f"v{wave}{_SHORT[item.type]}"
            self.declarations.add(f"declare {kind} @loom.permute.{suffix}({kind}, <{wave} x i32>)")
            values = [self._value(a, True) for a in item.args]
            return self._line(f"call {kind} @loom.permute.{suffix}({kind} {values[0]}, <{wave} x i32> {values[1]})")
        raise NotImplementedError(op)
