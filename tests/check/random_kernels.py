"""Random small kernels whose behaviour is defined for every input.

A program is a list of steps, each a few integers; every choice is taken modulo what is possible, so any list makes a valid
program and a shorter list a smaller one. Values live in two pools (i32 and f32); each step adds a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

LANES = 64
Step = tuple[int, int, int, int]

#: Steps of a program: (operation, first operand, second operand, third operand or constant).
programs: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(st.integers(0, 255), st.integers(0, 15), st.integers(0, 15), st.integers(-40, 90)),
    min_size=1,
    max_size=14,
)


@dataclass
class Builder:
    """The text of one kernel under construction."""

    name: str
    lines: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=lambda: ["%a", "%b", "%item_word"])
    floats: list[str] = field(default_factory=lambda: ["%x", "%y"])
    count: int = 0
    shared: bool = False
    float_tile: bool = False
    backward: str = ""

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def word(self, place: int) -> str:
        return self.words[-1 - place % len(self.words)]

    def real(self, place: int) -> str:
        return self.floats[-1 - place % len(self.floats)]

    def constant(self, value: int, kind: str = "i32") -> str:
        return self.emit(f"scalar.constant {value if kind == 'i32' else float(value)} : {kind}")


def _binary(name: str) -> Callable[[Builder, int, int, int], None]:
    def step(b: Builder, i: int, j: int, k: int) -> None:
        b.words.append(b.emit(f"scalar.{name} {b.word(i)}, {b.word(j)} : i32"))

    return step


def _shift(name: str) -> Callable[[Builder, int, int, int], None]:
    def step(b: Builder, i: int, j: int, k: int) -> None:
        amount = b.emit(f"scalar.andi {b.word(j)}, {b.constant(31)} : i32")
        b.words.append(b.emit(f"scalar.{name} {b.word(i)}, {amount} : i32"))

    return step


def _division(name: str) -> Callable[[Builder, int, int, int], None]:
    def step(b: Builder, i: int, j: int, k: int) -> None:
        small = b.emit(f"scalar.andi {b.word(j)}, {b.constant(0x7FFF)} : i32")
        divisor = b.emit(f"scalar.ori {small}, {b.constant(1)} : i32")
        b.words.append(b.emit(f"scalar.{name} {b.word(i)}, {divisor} : i32"))

    return step


def _constant_operand(name: str) -> Callable[[Builder, int, int, int], None]:
    def step(b: Builder, i: int, j: int, k: int) -> None:
        b.words.append(b.emit(f"scalar.{name} {b.word(i)}, {b.constant(k)} : i32"))

    return step


def _unary(name: str) -> Callable[[Builder, int, int, int], None]:
    def step(b: Builder, i: int, j: int, k: int) -> None:
        b.words.append(b.emit(f"scalar.{name} {b.word(i)} : i32"))

    return step


def _float_binary(name: str) -> Callable[[Builder, int, int, int], None]:
    def step(b: Builder, i: int, j: int, k: int) -> None:
        b.floats.append(b.emit(f"scalar.{name} {b.real(i)}, {b.real(j)} : f32"))

    return step


def _float_unary(name: str) -> Callable[[Builder, int, int, int], None]:
    def step(b: Builder, i: int, j: int, k: int) -> None:
        b.floats.append(b.emit(f"scalar.{name} {b.real(i)} : f32"))

    return step


def _fma(b: Builder, i: int, j: int, k: int) -> None:
    b.floats.append(b.emit(f"scalar.fmaf {b.real(i)}, {b.real(j)}, {b.real(k)} : f32"))


def _copysign(b: Builder, i: int, j: int, k: int) -> None:
    """The sign of a NaN that an operation makes is not specified: such a sign is replaced by plus."""
    one = b.constant(1, "f32")
    ordered = b.emit(f"scalar.cmpf ord, {b.real(j)}, {one} : f32")
    sign = b.emit(f"scf.select {ordered}, {b.real(j)}, {one} : f32")
    b.floats.append(b.emit(f"scalar.copysignf {b.real(i)}, {sign} : f32"))


def _select(b: Builder, i: int, j: int, k: int) -> None:
    predicate = ("eq", "ne", "slt", "sle", "ult", "uge")[k % 6]
    condition = b.emit(f"scalar.cmpi {predicate}, {b.word(i)}, {b.word(j)} : i32")
    b.words.append(b.emit(f"scf.select {condition}, {b.word(j)}, {b.word(k)} : i32"))


def _float_select(b: Builder, i: int, j: int, k: int) -> None:
    predicate = ("olt", "ole", "oeq", "ugt", "uno", "one")[k % 6]
    condition = b.emit(f"scalar.cmpf {predicate}, {b.real(i)}, {b.real(j)} : f32")
    b.floats.append(b.emit(f"scf.select {condition}, {b.real(j)}, {b.real(k)} : f32"))


def _to_float(b: Builder, i: int, j: int, k: int) -> None:
    name = "sitofp" if k % 2 else "uitofp"
    b.floats.append(b.emit(f"scalar.{name} {b.word(i)} : i32 to f32"))


def _to_word(b: Builder, i: int, j: int, k: int) -> None:
    low, high = b.constant(-1000, "f32"), b.constant(1000, "f32")
    held = b.emit(f"scalar.clampf<number> {b.real(i)}, {low}, {high} : f32")
    ordered = b.emit(f"scalar.cmpf ord, {held}, {held} : f32")
    safe = b.emit(f"scf.select {ordered}, {held}, {low} : f32")
    b.words.append(b.emit(f"scalar.fptosi {safe} : f32 to i32"))


def _narrow(b: Builder, i: int, j: int, k: int) -> None:
    kind = ("i8", "i16")[k % 2]
    short = b.emit(f"scalar.trunci {b.word(i)} : i32 to {kind}")
    b.words.append(b.emit(f"scalar.{'extsi' if j % 2 else 'extui'} {short} : {kind} to i32"))


def _half(b: Builder, i: int, j: int, k: int) -> None:
    short = b.emit(f"scalar.fptrunc {b.real(i)} : f32 to f16")
    b.floats.append(b.emit(f"scalar.extf {short} : f16 to f32"))


def _branch(b: Builder, i: int, j: int, k: int) -> None:
    condition = b.emit(f"scalar.cmpi slt, {b.word(i)}, {b.word(j)} : i32")
    name, left, right = b.fresh(), b.fresh(), b.fresh()
    b.lines += [
        f"  {name} = scf.if {condition} -> (i32) {{",
        f"    {left} = scalar.addi {b.word(k)}, {b.word(j)} : i32",
        f"    scf.yield {left} : i32",
        "  } else {",
        f"    {right} = scalar.xori {b.word(i)}, {b.word(k)} : i32",
        f"    scf.yield {right} : i32",
        "  }",
    ]
    b.words.append(name)


def _loop(b: Builder, i: int, j: int, k: int) -> None:
    """A loop whose trip count, 0 to 7, differs from lane to lane."""
    low = b.emit(f"scalar.andi {b.word(i)}, {b.constant(7)} : i32")
    trips = b.emit(f"index.cast {low} : i32 to index")
    name, carried, counter, word, following = (b.fresh() for _ in range(5))
    b.lines += [
        f"  {name} = scf.for {counter} = [%zero to {trips} step %one]({carried} = {b.word(j)} : i32) -> (i32) {{",
        f"    {word} = index.cast {counter} : index to i32",
        f"    {following} = scalar.fmai {carried}, {b.word(k)}, {word} : i32",
        f"    scf.yield {following} : i32",
        "  }",
    ]
    b.words.append(name)


def _exchange(b: Builder, i: int, j: int, k: int) -> None:
    """Through workgroup memory to another lane, with barriers."""
    if not b.shared:
        b.lines += [
            f"  %bytes = index.constant {4 * LANES} : offset",
            "  %store = buffer.alloca<workgroup> align(16) %bytes : buffer",
            f"  %tile = buffer.view %store[%origin] : buffer -> view<{LANES}xi32>",
        ]
        b.shared = True
    barrier = "  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)"
    turn = b.emit(f"index.constant {k % LANES} : index")
    other = b.emit(f"index.xori %item, {turn} : index")
    b.lines += [barrier, f"  view.store {b.word(i)}, %tile[%item] : i32, view<{LANES}xi32>", barrier]
    b.words.append(b.emit(f"view.load %tile[{other}] : view<{LANES}xi32> -> i32"))


def _shuffle(b: Builder, i: int, j: int, k: int) -> None:
    width = b.constant(1 << (1 + k % 5))
    offset = b.emit(f"scalar.subi {width}, {b.constant(1)} : i32")
    name, valid = b.fresh(), b.fresh()
    b.lines.append(f"  {name}, {valid} = kernel.subgroup.shuffle<xor> {b.word(i)}, {offset}, {width} : i32, i32, i32")
    b.words.append(name)


def _reduce(b: Builder, i: int, j: int, k: int) -> None:
    kind = ("addi", "maxsi", "minui", "xori", "andi", "ori")[k % 6]
    size = 1 << (1 + j % 5)
    b.words.append(b.emit(f"kernel.subgroup.reduce<{kind}> {b.word(i)} {{cluster_size = {size}}} : i32"))


def _scan(b: Builder, i: int, j: int, k: int) -> None:
    direction, mode = ("forward", "reverse")[j % 2], ("inclusive", "exclusive")[k % 2]
    b.words.append(b.emit(f"kernel.subgroup.scan<addi> {b.word(i)} {{direction = {direction}, mode = {mode}}} : i32"))


def _ballot(b: Builder, i: int, j: int, k: int) -> None:
    condition = b.emit(f"scalar.cmpi sgt, {b.word(i)}, {b.word(j)} : i32")
    b.words.append(b.emit(f"kernel.subgroup.vote.ballot {condition} : i1 -> i32"))


def _vector(b: Builder, i: int, j: int, k: int) -> None:
    made = b.emit(f"vector.from_elements {b.word(i)}, {b.word(j)}, {b.word(k)}, {b.word(i + j)} : vector<4xi32>")
    moved = b.emit(f"vector.shuffle<[{k % 4}, {j % 4}, 0, 3]> {made} : vector<4xi32>")
    total = b.emit(f"vector.muli {made}, {moved} : vector<4xi32>")
    b.words.append(b.emit(f"vector.reduce<addi> {total}, {b.word(j)} : vector<4xi32>, i32"))


def _bytes(b: Builder, i: int, j: int, k: int) -> None:
    left, right, acc = (b.emit(f"vector.from_elements {b.word(p)} : vector<1xi32>") for p in (i, j, k))
    first, second = (b.emit(f"vector.bitcast {v} : vector<1xi32> to vector<4xi8>") for v in (left, right))
    signs = ("s8s8", "u8u8")[k % 2]
    dot = b.emit(f"vector.dot4i<{signs}> {first}, {second}, {acc} : vector<4xi8>, vector<4xi8>, vector<1xi32>")
    b.words.append(b.emit(f"vector.extract {dot}[0] : vector<1xi32> -> i32"))


def _pipelined(b: Builder, i: int, j: int, k: int) -> None:
    """A loop whose loads run up to three turns ahead; its trip count, 0 to 7, differs from lane to lane or does not."""
    low = b.emit(f"scalar.andi {b.word(i)}, {b.constant(7)} : i32") if k % 2 else b.constant(k % 8)
    trips = b.emit(f"index.cast {low} : i32 to index")
    depth = b.emit(f"index.constant {1 + j % 4} : index")
    last = b.emit(f"index.constant {LANES - 1} : index")
    name, carried, counter, place, held, loaded, following = (b.fresh() for _ in range(7))
    b.lines += [
        f"  {name} = scf.for {counter} = [%zero to {trips} step %one]({carried} = {b.word(j)} : i32) -> (i32) "
        f"pipeline({depth}) {{",
        f"    {place} = index.add %item, {counter} : index",
        f"    {held} = index.andi {place}, {last} : index",
        f"    {loaded} = view.load %wv[{k % 2}, {held}] : view<2x{LANES}xi32> -> i32",
        f"    {following} = scalar.fmai {carried}, {b.word(i)}, {loaded} : i32",
        f"    scf.yield {following} : i32",
        "  }",
    ]
    b.words.append(name)


def _float_tile(b: Builder) -> None:
    """Workgroup memory for floats, one element a lane."""
    if not b.float_tile:
        b.lines += [
            f"  %float_bytes = index.constant {4 * LANES} : offset",
            "  %float_store = buffer.alloca<workgroup> align(16) %float_bytes : buffer",
            f"  %floats = buffer.view %float_store[%origin] : buffer -> view<{LANES}xf32>",
        ]
        b.float_tile = True


_BARRIER = "  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)"


def _float_atomic_own(b: Builder, i: int, j: int, k: int) -> None:
    """An atomic on the lane's own element, in workgroup or global memory: any value, and the old one comes back."""
    kind = ("addf", "minimumf", "maximumf", "minnumf", "maxnumf", "xchgf")[k % 6]
    if k % 4 < 2:
        _float_tile(b)
        view, scope = "%floats", "workgroup"
        b.lines.append(_BARRIER)
    else:
        view, scope = "%ro", "device"
    first, second = b.real(i), b.real(j)
    if kind.endswith("numf"):  # of zeros that differ in sign either may come out: make both positive
        zero = b.constant(0, "f32")
        first, second = (b.emit(f"scalar.addf {value}, {zero} : f32") for value in (first, second))
    b.lines.append(f"  view.store {first}, {view}[%item] : f32, view<{LANES}xf32>")
    if j % 2:
        old = b.emit(
            f"view.atomic.rmw<{kind}> {second}, {view}[%item] "
            f"{{ordering = relaxed, scope = {scope}}} : f32, view<{LANES}xf32> -> f32"
        )
        b.floats.append(old)
    else:
        b.lines.append(
            f"  view.atomic.reduce<{kind}> {second}, {view}[%item] "
            f"{{ordering = relaxed, scope = {scope}}} : f32, view<{LANES}xf32>"
        )
    b.floats.append(b.emit(f"view.load {view}[%item] : view<{LANES}xf32> -> f32"))


def _float_atomic_shared(b: Builder, i: int, j: int, k: int) -> None:
    """Many lanes on one element: small whole numbers, whose sum, minimum and maximum depend on no order."""
    _float_tile(b)
    kind = ("addf", "minimumf", "maxnumf")[k % 3]
    small = b.emit(f"scalar.andi {b.word(i)}, {b.constant(1023)} : i32")
    value = b.emit(f"scalar.sitofp {small} : i32 to f32")
    mask = b.emit(f"index.constant {(0, 1, 3, 7)[j % 4]} : index")
    place = b.emit(f"index.andi %item, {mask} : index")
    start = b.constant(500, "f32")
    b.lines += [
        _BARRIER,
        f"  view.store {start}, %floats[%item] : f32, view<{LANES}xf32>",
        _BARRIER,
        f"  view.atomic.reduce<{kind}> {value}, %floats[{place}] "
        f"{{ordering = relaxed, scope = workgroup}} : f32, view<{LANES}xf32>",
        _BARRIER,
    ]
    b.floats.append(b.emit(f"view.load %floats[{place}] : view<{LANES}xf32> -> f32"))


def _backwards(b: Builder, i: int, j: int, k: int) -> None:
    """The input through a view that runs from its last element to its first, one element or a vector at a time."""
    b.backward = b.backward or b.emit("index.constant -1 : index")
    layout = b.emit(f"encoding.layout.strided [{b.backward}] : encoding<layout>")
    end = b.emit(f"index.constant {4 * (LANES - 1 + (k % 2) * LANES)} : offset")
    kind = f"view<{LANES}xi32, {layout}>"
    view = b.emit(f"buffer.view %words[{end}] : buffer -> {kind}")
    if j % 2:
        b.words.append(b.emit(f"view.load {view}[%item] : {kind} -> i32"))
        return
    limit = b.emit(f"index.constant {LANES - 4} : index")
    place = b.emit(f"index.min %item, {limit} : index")
    four = b.emit(f"vector.load {view}[{place}] : {kind} -> vector<4xi32>")
    b.words.append(b.emit(f"vector.extract {four}[{k % 4}] : vector<4xi32> -> i32"))


def _far(b: Builder, i: int, j: int, k: int) -> None:
    """Strides beyond 4 GiB that nearly cancel: element (n, n) of strides (S, 1 - S) is element n."""
    stride = (1 << 30) + 3 + (k << 20)
    first, second = b.emit(f"index.constant {stride} : index"), b.emit(f"index.constant {1 - stride} : index")
    layout = b.emit(f"encoding.layout.strided [{first}, {second}] : encoding<layout>")
    kind = f"view<{LANES}x{LANES}xi32, {layout}>"
    view = b.emit(f"buffer.view %words[%origin] : buffer -> {kind}")
    low = b.emit(f"scalar.andi {b.word(i)}, {b.constant(LANES - 1)} : i32")
    place = b.emit(f"index.cast {low} : i32 to index")
    b.words.append(b.emit(f"view.load {view}[{place}, {place}] : {kind} -> i32"))


def _wide_index(b: Builder, i: int, j: int, k: int) -> None:
    """Coordinates around and beyond 2^32, brought back into a word."""
    wide = b.emit(f"index.cast {b.word(i)} : i32 to index")
    factor = b.emit(f"index.constant {(1 << 31) - 1 - k if j % 2 else (1 << 32) + k} : index")
    low = b.emit(f"index.constant {(1 << 30) - 1} : index")
    held = b.emit(f"index.andi {wide}, {low} : index")
    product = b.emit(f"index.madd {held}, {factor}, {wide} : index")
    if j % 3 == 0:
        part = b.emit(f"index.constant {29 + k % 5} : index")
        result = b.emit(f"index.shrui {product}, {part} : index")
    elif j % 3 == 1:
        clean = b.emit(f"index.max {product}, %zero : index")
        divisor = b.emit(f"index.constant {(1 << 32) - 5 if k % 2 else 1_000_003} : index")
        result = b.emit(f"index.{'div' if k % 3 else 'rem'} {clean}, {divisor} : index")
    else:
        other = b.emit(f"index.constant {(1 << 32) * (k % 3) + k} : index")
        less = b.emit(f"index.cmp {'slt' if k % 2 else 'ult'}, {product}, {other} : index")
        result = b.emit(f"scf.select {less}, {product}, {other} : index")
    b.words.append(b.emit(f"index.cast {result} : index to i32"))


STEPS: tuple[Callable[[Builder, int, int, int], None], ...] = (
    *(_binary(name) for name in ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")),
    *(_shift(name) for name in ("shli", "shrsi", "shrui", "rotli", "rotri")),
    *(_division(name) for name in ("divui", "remui", "divsi", "remsi", "floordivsi", "ceildivui")),
    *(_constant_operand(name) for name in ("addi", "muli", "xori")),
    *(_unary(name) for name in ("negi", "absi", "ctpopi", "ctlzi", "cttzi", "signi")),
    *(_float_binary(name) for name in ("addf", "subf", "mulf", "divf", "minimumf", "maximumf")),
    *(_float_unary(name) for name in ("negf", "absf", "sqrtf", "floorf", "ceilf", "truncf", "roundevenf", "roundf")),
    _fma,
    _copysign,
    _select,
    _float_select,
    _to_float,
    _to_word,
    _narrow,
    _half,
    _branch,
    _loop,
    _exchange,
    _shuffle,
    _reduce,
    _scan,
    _ballot,
    _vector,
    _bytes,
    _pipelined,
    _float_atomic_own,
    _float_atomic_shared,
    _backwards,
    _far,
    _wide_index,
)


def kernel_text(name: str, program: Sequence[Step]) -> str:
    """The kernel ``@name`` of a program: reads a, b (i32) and x, y (f32), writes its last word and float of every lane."""
    builder = Builder(name)
    for operation, i, j, k in program:
        STEPS[operation % len(STEPS)](builder, i, j, k)
    body = "\n".join(builder.lines)
    return f"""kernel.def @{name}() {{
  %one = index.constant 1 : index
  %lanes = index.constant {LANES} : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
}} launch(%words: buffer, %reals: buffer, %word_out: buffer, %real_out: buffer) {{
  %item = kernel.workitem.id<x> : index
  %item_word = index.cast %item : index to i32
  %origin = index.constant 0 : offset
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %wv = buffer.view %words[%origin] : buffer -> view<2x{LANES}xi32>
  %rv = buffer.view %reals[%origin] : buffer -> view<2x{LANES}xf32>
  %wo = buffer.view %word_out[%origin] : buffer -> view<{LANES}xi32>
  %ro = buffer.view %real_out[%origin] : buffer -> view<{LANES}xf32>
  %a = view.load %wv[0, %item] : view<2x{LANES}xi32> -> i32
  %b = view.load %wv[1, %item] : view<2x{LANES}xi32> -> i32
  %x = view.load %rv[0, %item] : view<2x{LANES}xf32> -> f32
  %y = view.load %rv[1, %item] : view<2x{LANES}xf32> -> f32
{body}
  view.store {builder.words[-1]}, %wo[%item] : i32, view<{LANES}xi32>
  view.store {builder.floats[-1]}, %ro[%item] : f32, view<{LANES}xf32>
  kernel.return
}}
"""
