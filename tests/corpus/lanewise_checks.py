"""The lanewise programs of ``tests/corpus/checks``, scalar and vector, and the values they must give: every integer and
float operation and the conversions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.corpus.check_values import FLOAT_BITS, HERE, from_bits, store, to_bfloat, to_bits, wrap

LANES = 64

INTEGER_DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


# --- integers ---------------------------------------------------------------------------------------------------------


def integer_inputs(bits: int) -> tuple[list[int], list[int], list[int]]:
    """Operand, second operand (never zero, never -1 beside the least value), shift count."""
    generator = np.random.default_rng(bits)
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    special = [0, 1, -1, 2, -2, low, high, low + 1, high - 1, 7, -7, 100, -100]
    first = special + [int(x) for x in generator.integers(low, high, LANES - len(special), endpoint=True)]
    second = [x or 3 for x in reversed(first)]
    second = [5 if a == low and b == -1 else b for a, b in zip(first, second, strict=True)]
    return first, second, [i % bits for i in range(LANES)]


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def integer_table(bits: int) -> dict[str, tuple[str, Callable[[int, int, int], int]]]:
    """Name → (operands, function of operand, second operand, shift count)."""
    u = (1 << bits) - 1
    return {
        "addi": ("ab", lambda a, b, s: a + b),
        "subi": ("ab", lambda a, b, s: a - b),
        "muli": ("ab", lambda a, b, s: a * b),
        "divsi": ("ab", lambda a, b, s: truncated(a, b)),
        "divui": ("ab", lambda a, b, s: (a & u) // (b & u)),
        "remsi": ("ab", lambda a, b, s: a - b * truncated(a, b)),
        "remui": ("ab", lambda a, b, s: (a & u) % (b & u)),
        "ceildivsi": ("ab", lambda a, b, s: -((-a) // b)),
        "ceildivui": ("ab", lambda a, b, s: -((-(a & u)) // (b & u))),
        "floordivsi": ("ab", lambda a, b, s: a // b),
        "minsi": ("ab", lambda a, b, s: min(a, b)),
        "maxsi": ("ab", lambda a, b, s: max(a, b)),
        "minui": ("ab", lambda a, b, s: min(a & u, b & u)),
        "maxui": ("ab", lambda a, b, s: max(a & u, b & u)),
        "andi": ("ab", lambda a, b, s: a & b),
        "ori": ("ab", lambda a, b, s: a | b),
        "xori": ("ab", lambda a, b, s: a ^ b),
        "shli": ("as", lambda a, b, s: a << s),
        "shrsi": ("as", lambda a, b, s: a >> s),
        "shrui": ("as", lambda a, b, s: (a & u) >> s),
        "rotli": ("as", lambda a, b, s: ((a & u) << s) | ((a & u) >> (bits - s))),
        "rotri": ("as", lambda a, b, s: ((a & u) >> s) | ((a & u) << (bits - s))),
        "negi": ("a", lambda a, b, s: -a),
        "absi": ("a", lambda a, b, s: abs(a)),
        "ctlzi": ("a", lambda a, b, s: bits - (a & u).bit_length()),
        "cttzi": ("a", lambda a, b, s: ((a & u) & -(a & u)).bit_length() - 1 if a else bits),
        "ctpopi": ("a", lambda a, b, s: (a & u).bit_count()),
        "signi": ("a", lambda a, b, s: (a > 0) - (a < 0)),
        "fmai": ("abs", lambda a, b, s: a * b + s),
    }


PREDICATES: dict[str, Callable[[int, int, int], bool]] = {
    "eq": lambda a, b, u: a == b,
    "ne": lambda a, b, u: a != b,
    "slt": lambda a, b, u: a < b,
    "sle": lambda a, b, u: a <= b,
    "sgt": lambda a, b, u: a > b,
    "sge": lambda a, b, u: a >= b,
    "ult": lambda a, b, u: (a & u) < (b & u),
    "ule": lambda a, b, u: (a & u) <= (b & u),
    "ugt": lambda a, b, u: (a & u) > (b & u),
    "uge": lambda a, b, u: (a & u) >= (b & u),
}


class Program:
    """A kernel of 64 results a row, as scalar ops (64 workitems) or as vector ops (16 workitems of 4 lanes)."""

    def __init__(self, name: str, kinds: dict[str, str], rows: dict[str, tuple[str, int]], vector: bool) -> None:
        self.name, self.vector = name, vector
        self.rows = rows
        self.kinds = kinds
        self.body: list[str] = []

    def type(self, kind: str) -> str:
        return f"vector<4x{kind}>" if self.vector else kind

    def dialect(self) -> str:
        return "vector" if self.vector else "scalar"

    def text(self, checks: list[str]) -> str:
        workitems = 16 if self.vector else 64
        buffers = ", ".join(f"%{n}_buffer: buffer" for n in [*self.kinds, *self.rows])
        lines = [
            f"kernel.def @{self.name}() {{",
            "  %one = index.constant 1 : index",
            f"  %lanes = index.constant {workitems} : index",
            "  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index",
            f"}} launch({buffers}) {{",
            "  %item = kernel.workitem.id<x> : index",
            "  %origin = index.constant 0 : offset",
        ]
        if self.vector:
            lines += ["  %four = index.constant 4 : index", "  %at = index.mul %item, %four : index"]
        else:
            lines += ["  %zero = index.constant 0 : index", "  %at = index.add %item, %zero : index"]
        op = "vector.load" if self.vector else "view.load"
        for name, kind in self.kinds.items():
            view = f"view<{LANES}x{kind}>"
            lines.append(f"  %{name}_view = buffer.view %{name}_buffer[%origin] : buffer -> {view}")
            lines.append(f"  %{name} = {op} %{name}_view[%at] : {view} -> {self.type(kind)}")
        for name, (kind, count) in self.rows.items():
            lines.append(
                f"  %{name}_view = buffer.view %{name}_buffer[%origin] : buffer -> view<{count}x{LANES}x{kind}>"
            )
        lines += self.body
        lines += ["  kernel.return", "}", "", *checks]
        return "\n".join(lines) + "\n"

    def put(self, output: str, row: int, value: str) -> None:
        kind, count = self.rows[output]
        op = "vector.store" if self.vector else "view.store"
        self.body.append(
            f"  {op} {value}, %{output}_view[{row}, %at] : {self.type(kind)}, view<{count}x{LANES}x{kind}>"
        )


def case(
    name: str,
    kernel: str,
    inputs: dict[str, str],
    outputs: dict[str, tuple[str, int, str]],
    files: str | None = None,
) -> list[str]:
    """A case that reads inputs and expected rows from files. ``outputs``: name → (kind, rows, expectation clause)."""
    lines = [f"check.case public @{name} {{"]
    for key, kind in inputs.items():
        lines.append(
            f'  %{key} = check.file.read.npy path("{files or kernel_files(kernel)}_{key}.npy") : tensor<{LANES}x{kind}>'
        )
    for key, (kind, rows, _) in outputs.items():
        fill = "0" if kind.startswith("i") else "0.0"
        lines.append(f"  %{key} = check.generate.fill value({fill}) : tensor<{rows}x{LANES}x{kind}>")
        path = f"{files or kernel_files(kernel)}_{key}.npy"
        lines.append(f'  %{key}_expected = check.file.read.npy path("{path}") : tensor<{rows}x{LANES}x{kind}>')
    names = ", ".join(f"%{key}" for key in [*inputs, *outputs])
    types = [f"tensor<{LANES}x{kind}>" for kind in inputs.values()]
    types += [f"tensor<{rows}x{LANES}x{kind}>" for kind, rows, _ in outputs.values()]
    lines.append(f"  kernel.launch @{kernel}({names}) : ({', '.join(types)})")
    for key, (kind, rows, clause) in outputs.items():
        op, _, rest = clause.partition(" ")
        tail = f" {rest}" if rest else ""
        lines.append(
            f"  check.expect.{op} actual(%{key}) expected(%{key}_expected){tail} : tensor<{rows}x{LANES}x{kind}>"
        )
    return [*lines, "  check.return", "}"]


def kernel_files(kernel: str) -> str:
    """Scalar and vector programs share their values."""
    return kernel.removeprefix("vector_").removeprefix("scalar_")


def write_integers(kind: str) -> None:
    bits = int(kind[1:])
    dtype = INTEGER_DTYPES[kind]
    a, b, s = integer_inputs(bits)
    table = integer_table(bits)
    rows = np.array(
        [[wrap(f(x, y, z), bits) for x, y, z in zip(a, b, s, strict=True)] for _, f in table.values()], dtype
    )
    u = (1 << bits) - 1
    compares = np.array([[int(f(x, y, u)) for x, y in zip(a, b, strict=True)] for f in PREDICATES.values()], np.int8)
    name = f"integers_{kind}"
    for key, values in (("a", a), ("b", b), ("s", s)):
        store(f"{name}_{key}.npy", np.array(values, dtype))
    store(f"{name}_out.npy", rows)
    store(f"{name}_flags.npy", compares)
    for vector in (False, True):
        kernel = f"{'vector' if vector else 'scalar'}_{name}"
        outputs = {"out": (kind, len(table)), "flags": ("i8", len(PREDICATES))}
        program = Program(kernel, {"a": kind, "b": kind, "s": kind}, outputs, vector)
        d = program.dialect()
        for row, (op, (operands, _)) in enumerate(table.items()):
            listed = ", ".join(f"%{x}" for x in operands)
            program.body.append(f"  %r{row} = {d}.{op} {listed} : {program.type(kind)}")
            program.put("out", row, f"%r{row}")
        for row, predicate in enumerate(PREDICATES):
            arrow = " -> vector<4xi1>" if vector else ""
            program.body.append(f"  %c{row} = {d}.cmpi {predicate}, %a, %b : {program.type(kind)}{arrow}")
            program.body.append(f"  %f{row} = {d}.extui %c{row} : {program.type('i1')} to {program.type('i8')}")
            program.put("flags", row, f"%f{row}")
        checks = case(
            f"{kernel}_case",
            kernel,
            {"a": kind, "b": kind, "s": kind},
            {"out": (kind, len(table), "equal"), "flags": ("i8", len(PREDICATES), "equal")},
        )
        (HERE / f"{kernel}.loom").write_text(program.text(checks))


# --- floats -----------------------------------------------------------------------------------------------------------


def float_inputs(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Finite values of many sizes with signed zeros, infinities and a NaN, as bits."""
    generator = np.random.default_rng(len(kind) + ord(kind[0]))
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 0.49999997, 1e-6, 3.0]
    rest = generator.normal(size=LANES - len(special)) * np.exp2(generator.integers(-6, 6, LANES - len(special)))
    a = np.concatenate([special, rest])
    b = np.concatenate([rest[:20], special, rest[20:]])[:LANES]
    c = generator.normal(size=LANES) * 3.0
    return to_bits(a, kind), to_bits(b, kind), to_bits(c, kind)


def exact_fma(a: float, b: float, c: float) -> float:
    """a*b + c before the rounding to the type: rational where finite (float64 would round first)."""
    from fractions import Fraction

    if not all(map(math.isfinite, (a, b, c))):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    # Round to odd in 60 bits: a second rounding to 53 bits or fewer then equals one rounding.
    shift = 60 - (abs(exact.numerator).bit_length() - exact.denominator.bit_length())
    scaled = exact * Fraction(2) ** shift
    whole = int(scaled)
    if scaled != whole and whole % 2 == 0:
        whole += 1 if exact > 0 else -1
    return whole, shift  # type: ignore[return-value]


def round_pair(pair: Any, kind: str) -> int:
    """An odd-rounded (integer, shift) → bits of the type by exact rational comparison of neighbours."""
    if not isinstance(pair, tuple):
        return int(to_bits(np.array([pair]), kind)[0])
    from fractions import Fraction

    whole, shift = pair
    value = Fraction(whole) / Fraction(2) ** shift
    guess = int(to_bits(np.array([float(value)]), kind)[0])
    magnitude_mask = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": (1 << 63) - 1}[kind]
    best: tuple[Any, int] | None = None
    for code in (guess - 1, guess, guess + 1):
        if code & magnitude_mask == magnitude_mask or code < 0:
            continue
        number = from_bits(np.array([code], FLOAT_BITS[kind]), kind)[0]
        if not math.isfinite(number):
            continue
        key = (abs(Fraction(float(number)) - value), code & 1)
        if best is None or key < best[0]:
            best = (key, code)
    return best[1] if best is not None else guess


def minimum(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b == 0:
        return a if math.copysign(1, a) < 0 else b
    return min(a, b)


def maximum(a: float, b: float) -> float:
    return -minimum(-a, -b)


def number_choice(function: Callable[[float, float], float]) -> Callable[[float, float, float], float]:
    def apply(a: float, b: float, c: float) -> float:
        if math.isnan(a):
            return b
        return a if math.isnan(b) else function(a, b)

    return apply


def quiet(function: Callable[..., float]) -> Callable[..., float]:
    """NaN in, NaN out; NumPy's rules for zeros and infinities."""

    def apply(*arguments: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*[np.float64(x) for x in arguments]))

    return apply


def half_away(x: float) -> float:
    if not math.isfinite(x):
        return x
    whole = math.floor(abs(x))
    return math.copysign(whole + (1 if abs(x) - whole >= 0.5 else 0), x)


#: Exactly rounded operations.
EXACT: dict[str, tuple[str, Callable[[float, float, float], float]]] = {
    "addf": ("ab", quiet(lambda a, b, c: a + b)),
    "subf": ("ab", quiet(lambda a, b, c: a - b)),
    "mulf": ("ab", quiet(lambda a, b, c: a * b)),
    "divf": ("ab", quiet(lambda a, b, c: a / b)),
    "minimumf": ("ab", lambda a, b, c: minimum(a, b)),
    "maximumf": ("ab", lambda a, b, c: maximum(a, b)),
    "minnumf": ("ab", number_choice(min)),
    "maxnumf": ("ab", number_choice(max)),
    "copysignf": ("ab", lambda a, b, c: math.copysign(a, b)),
    "negf": ("a", lambda a, b, c: -a),
    "absf": ("a", lambda a, b, c: abs(a)),
    "sqrtf": ("a", quiet(lambda a, b, c: np.sqrt(a))),
    "ceilf": ("a", quiet(lambda a, b, c: np.ceil(a))),
    "floorf": ("a", quiet(lambda a, b, c: np.floor(a))),
    "truncf": ("a", quiet(lambda a, b, c: np.trunc(a))),
    "roundf": ("a", lambda a, b, c: half_away(a)),
    "roundevenf": ("a", quiet(lambda a, b, c: np.rint(a))),
    "fmaf": ("abc", lambda a, b, c: exact_fma(a, b, c)),
}

#: Elementary functions; finite moderate arguments only (operand ``c``).
ELEMENTARY: dict[str, Callable[[float], float]] = {
    "expf": math.exp,
    "exp2f": lambda x: 2.0**x,
    "expm1f": math.expm1,
    "logisticf": lambda x: 1.0 / (1.0 + math.exp(-x)),
    "siluf": lambda x: x / (1.0 + math.exp(-x)),
    "softplusf": lambda x: math.log1p(math.exp(x)),
    "sinf": math.sin,
    "cosf": math.cos,
    "tanhf": math.tanh,
    "erff": math.erf,
    "sinturnsf": lambda x: math.sin(2.0 * math.pi * (x - round(x))),
    "costurnsf": lambda x: math.cos(2.0 * math.pi * (x - round(x))),
}
#: The same for positive arguments (|c| + 0.5).
POSITIVE: dict[str, Callable[[float], float]] = {
    "logf": math.log,
    "log2f": math.log2,
    "log10f": math.log10,
    "log1pf": math.log1p,
    "rsqrtf": lambda x: 1.0 / math.sqrt(x),
}

FLOAT_PREDICATES: dict[str, Callable[[float, float], bool]] = {
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: a < b or a > b,
    "ord": lambda a, b: a == a and b == b,
    "ueq": lambda a, b: not (a < b or a > b),
    "ugt": lambda a, b: not a <= b,
    "uge": lambda a, b: not a < b,
    "ult": lambda a, b: not a >= b,
    "ule": lambda a, b: not a > b,
    "une": lambda a, b: a != b,
    "uno": lambda a, b: a != a or b != b,
}
CLOSE = {kind: f"{bound:.17g}" for kind, bound in {"f16": 0.002, "bf16": 0.02, "f32": 1e-6, "f64": 1e-14}.items()}


def expected_exact(kind: str, op: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    function = EXACT[op][1]
    triples = list(zip(from_bits(a, kind), from_bits(b, kind), from_bits(c, kind), strict=True))
    if op == "fmaf":
        return np.array([round_pair(function(*map(float, t)), kind) for t in triples], FLOAT_BITS[kind])
    if kind == "f64" or op not in ("addf", "subf", "mulf", "divf", "sqrtf"):
        return to_bits(np.array([function(*map(float, t)) for t in triples]), kind)
    if kind == "f32":  # one rounding needs the operation in the type itself
        with np.errstate(all="ignore"):
            x, y = a.view(np.float32), b.view(np.float32)
            operation: Any = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}.get(op)
            return (np.sqrt(x) if operation is None else operation(x, y)).view(np.uint32)
    return to_bits(np.array([function(*map(float, t)) for t in triples]), kind)


def write_floats(kind: str) -> None:
    a, b, c = float_inputs(kind)
    p = to_bits(np.abs(from_bits(c, kind)) + 0.5, kind)
    name = f"floats_{kind}"
    exact = np.stack([expected_exact(kind, op, a, b, c) for op in EXACT])
    wide_c, wide_p = from_bits(c, kind), from_bits(p, kind)
    near = [to_bits(np.array([f(float(x)) for x in wide_c]), kind) for f in ELEMENTARY.values()]
    near += [to_bits(np.array([f(float(x)) for x in wide_p]), kind) for f in POSITIVE.values()]
    pairs = list(zip(from_bits(a, kind), from_bits(b, kind), strict=True))
    flags = np.array([[int(f(x, y)) for x, y in pairs] for f in FLOAT_PREDICATES.values()], np.int8)
    view = {"f16": np.float16, "f32": np.float32, "f64": np.float64}.get(kind)

    def as_file(bits: np.ndarray) -> np.ndarray:
        return bits if view is None else bits.view(view)

    for key, values in (("a", a), ("b", b), ("c", c), ("p", p), ("exact", exact), ("near", np.stack(near))):
        store(f"{name}_{key}.npy", as_file(values))
    store(f"{name}_flags.npy", flags)
    parts = {
        "exact": ({"a": kind, "b": kind, "c": kind}, kind, len(EXACT), "close atol(0.0) rtol(0.0) nan(same)"),
        "near": (
            {"c": kind, "p": kind},
            kind,
            len(near),
            f"close atol({CLOSE[kind]}) rtol({CLOSE[kind]}) nan(different)",
        ),
        "flags": ({"a": kind, "b": kind}, "i8", len(FLOAT_PREDICATES), "equal"),
    }
    for vector in (False, True):
        text = []
        for part, (inputs, result, rows, clause) in parts.items():
            kernel = f"{'vector' if vector else 'scalar'}_{name}_{part}"
            program = Program(kernel, inputs, {part: (result, rows)}, vector)
            write_float_rows(program, part, kind)
            checks = case(f"{kernel}_case", kernel, inputs, {part: (result, rows, clause)}, name)
            text.append(program.text(checks))
        (HERE / f"{'vector' if vector else 'scalar'}_{name}.loom").write_text("\n".join(text))


def write_float_rows(program: Program, part: str, kind: str) -> None:
    """The body of one of the three kernels of a float type."""
    d, type_ = program.dialect(), program.type(kind)
    if part == "exact":
        for row, (op, (operands, _)) in enumerate(EXACT.items()):
            listed = ", ".join(f"%{x}" for x in operands)
            program.body.append(f"  %e{row} = {d}.{op} {listed} : {type_}")
            program.put("exact", row, f"%e{row}")
    elif part == "near":
        for row, op in enumerate([*ELEMENTARY, *POSITIVE]):
            operand = "%c" if op in ELEMENTARY else "%p"
            program.body.append(f"  %n{row} = {d}.{op} {operand} : {type_}")
            program.put("near", row, f"%n{row}")
    else:
        for row, predicate in enumerate(FLOAT_PREDICATES):
            arrow = " -> vector<4xi1>" if program.vector else ""
            program.body.append(f"  %c{row} = {d}.cmpf {predicate}, %a, %b : {type_}{arrow}")
            program.body.append(f"  %f{row} = {d}.extui %c{row} : {program.type('i1')} to {program.type('i8')}")
            program.put("flags", row, f"%f{row}")


# --- conversions ------------------------------------------------------------------------------------------------------


def write_conversions() -> None:
    generator = np.random.default_rng(77)
    i32 = np.concatenate(
        [[0, 1, -1, 2**31 - 1, -(2**31), 16777217, 33554431], generator.integers(-(2**31), 2**31, LANES - 7)]
    ).astype(np.int32)
    f32 = np.concatenate(
        [[0.0, -0.0, 1.5, -1.5, 127.9, -128.9, 65504.0, 65519.0, 65520.0, 1e-7, 448.0, 449.0, 464.0, 465.0, -500.0],
         generator.normal(size=LANES - 15) * 60.0]
    ).astype(np.float32)  # fmt: skip
    small = np.clip(np.abs(f32), 0, 100).astype(np.float32)
    name = "conversions"
    store(f"{name}_x.npy", i32)
    store(f"{name}_y.npy", f32)
    store(f"{name}_z.npy", small)
    u32 = i32.view(np.uint32)
    rows: list[tuple[str, str, str, str, np.ndarray]] = [
        ("sitofp", "x", "i32", "f32", i32.astype(np.float32)),
        ("uitofp", "x", "i32", "f32", u32.astype(np.float32)),
        ("extsi", "x", "i32", "i64", i32.astype(np.int64)),
        ("extui", "x", "i32", "i64", u32.astype(np.int64)),
        ("trunci", "x", "i32", "i8", (u32 & 0xFF).astype(np.uint8).view(np.int8)),
        ("bitcast", "x", "i32", "f32", i32.view(np.float32)),
        ("fptosi", "z", "f32", "i32", small.astype(np.int32)),
        ("fptoui", "z", "f32", "i8", small.astype(np.int8)),
        ("extf", "y", "f32", "f64", f32.astype(np.float64)),
        ("fptrunc", "y", "f32", "f16", f32.astype(np.float16)),
        ("fptrunc", "y", "f32", "bf16", to_bfloat(f32.astype(np.float64))),
        ("fptrunc", "y", "f32", "f8E4M3", np.array([nearest_e4m3(float(v)) for v in f32], np.uint8)),
        ("fptrunc", "y", "f32", "f8E5M2", np.array([nearest_e5m2(float(v)) for v in f32], np.uint8)),
    ]
    for vector in (False, True):
        kernel = f"{'vector' if vector else 'scalar'}_{name}"
        outputs = {f"o{i}": (target, 1) for i, (_, _, _, target, _) in enumerate(rows)}
        program = Program(kernel, {"x": "i32", "y": "f32", "z": "f32"}, outputs, vector)
        d = program.dialect()
        for i, (op, operand, source, target, _) in enumerate(rows):
            program.body.append(f"  %r{i} = {d}.{op} %{operand} : {program.type(source)} to {program.type(target)}")
            program.put(f"o{i}", 0, f"%r{i}")
        checks = case(
            f"{kernel}_case",
            kernel,
            {"x": "i32", "y": "f32", "z": "f32"},
            {f"o{i}": (target, 1, "bitwise") for i, (_, _, _, target, _) in enumerate(rows)},
        )
        (HERE / f"{kernel}.loom").write_text(program.text(checks))
    for i, (_, _, _, _, values) in enumerate(rows):
        store(f"{name}_o{i}.npy", values.reshape(1, LANES))


def _nearest(value: float, decode: Callable[[int], float], codes: range) -> int:
    best = min(codes, key=lambda code: (abs(decode(code) - abs(value)), code & 1))
    return best | (0x80 if math.copysign(1.0, value) < 0 else 0)


def nearest_e4m3(value: float) -> int:
    """The nearest finite f8E4M3 code; larger values give the largest."""

    def number(code: int) -> float:
        exponent, mantissa = code >> 3, code & 7
        return mantissa * 2.0**-9 if exponent == 0 else (8 + mantissa) * 2.0 ** (exponent - 10)

    return _nearest(min(abs(value), 448.0) * math.copysign(1.0, value), number, range(0x7F))


def nearest_e5m2(value: float) -> int:
    """The nearest f8E5M2 code; from half a step above the largest on, infinity."""

    def number(code: int) -> float:
        exponent, mantissa = code >> 2, code & 3
        return mantissa * 2.0**-16 if exponent == 0 else (4 + mantissa) * 2.0 ** (exponent - 17)

    return _nearest(value, number, range(0x7D))


def write() -> None:
    """Write all of them."""
    for kind in INTEGER_DTYPES:
        write_integers(kind)
    for kind in FLOAT_BITS:
        write_floats(kind)
    write_conversions()
