"""The table of semantic operations, and how operand words, modifiers and lane routing surround an operation's
expression.

An operation is declared with a signature and a function that builds its expression::

    define("v_add_f32", "f32 = f32 f32", lambda c, a, b: fadd(c, a, b))

The signature lists results, then ``=``, then inputs, in the order of the instruction's operand slots; state that no
slot
names follows after ``|``. Types:

``i16 i32 i64 f16 f32 f64``   a scalar; two 32-bit words where it has 64 bits
``v2i16 v2f16``               a pair (low, high) of one word, after ``op_sel`` and the halves' negation
``v2f32``                     a pair of two words, after ``op_sel`` (packed single precision)
``i32xN``                     a list of N words
``mask``                      one bit a lane, an integer as wide as the wave
``scc``                       the scalar condition, ``i1``
``exec`` ``vcc``              the execution mask and VCC, as wide as the wave
``m0``                        ``i32``

:func:`assemble` applies what every instruction shares: DPP lane routing, half selection, ``neg`` and ``abs`` before,
output
modifier and clamp after. The NumPy and the LLVM back end both evaluate its result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loom.low.semantics.expression import (
    Expr,
    arg,
    bitcast,
    const,
    halves,
    icmp,
    lane_bit,
    select,
    shuffle,
    trunc,
    zext,
)
from loom.low.semantics.floats import apply_clamp, apply_output_modifier, fabs, fneg


@dataclass(frozen=True, slots=True)
class Mode:
    """The floating-point mode: rounding 0 nearest even, 1 up, 2 down, 3 zero; denormals bit 0 inputs kept, bit 1
    results kept. ``fnuz``: 8-bit floats have no infinities and one NaN (gfx942), instead of the OCP formats.
    ``fp16_overflow``: results of 16 bits and less stop at the largest number instead of overflowing.
    """

    round32: int = 0
    round64: int = 0
    denorm32: int = 3
    denorm64: int = 3
    dx10_clamp: bool = True
    ieee: bool = True
    fnuz: bool = False
    fp16_overflow: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What an expression may depend on besides its inputs: wave size, floating-point mode, modifiers of the
    instruction.
    """

    wave: int
    mode: Mode = Mode()
    modifiers: Mapping[str, int] = field(default_factory=dict)
    generation: str = "gfx11"

    def modifier(self, name: str) -> int:
        """A modifier's value, 0 when it is absent."""
        return self.modifiers.get(name, 0)

    @property
    def mask_type(self) -> str:
        """The integer type with one bit a lane."""
        return f"i{self.wave}"


@dataclass(frozen=True, slots=True)
class Operation:
    """A semantic operation: its signature and the function that builds its expression."""

    name: str
    results: tuple[str, ...]
    inputs: tuple[str, ...]
    state: tuple[str, ...]
    state_results: tuple[str, ...]
    build: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Assembled:
    """An operation applied to operand words.

    ``results`` holds for each result its words (a lane mask or ``scc`` is one value); ``write_mask`` is a lane-wise
    ``i1`` of the lanes whose
    vector results are written in addition to EXEC, or None for all.
    """

    operation: Operation
    results: tuple[tuple[Expr, ...], ...]
    state_results: tuple[Expr, ...]
    write_mask: Expr | None


OPERATIONS: dict[str, Operation] = {}


def define(names: str, signature: str, build: Callable[..., Any]) -> None:
    """Add one operation under each of ``names`` (separated by blanks). See the module's text for the signature."""
    left, _, right = signature.partition("=")
    explicit, _, implicit = right.partition("|")
    results, _, state_results = left.partition("|")
    for name in names.split():
        if name in OPERATIONS:
            raise ValueError(f"semantic operation {name} is declared twice")
        OPERATIONS[name] = Operation(
            name,
            tuple(results.split()),
            tuple(explicit.split()),
            tuple(implicit.split()),
            tuple(state_results.split()),
            build,
        )


def words_of(type_: str, wave: int) -> int:
    """Number of input values of a signature type: 32-bit words, 1 for masks."""
    if "x" in type_:
        return int(type_.split("x")[1])
    return 2 if type_ in ("i64", "f64", "v2f32") else 1


def input_names(operation: Operation, wave: int) -> list[list[str]]:
    """The argument names of each input's words: ``a0``, ``a0w1``; state follows under its own name."""
    names = []
    for index, type_ in enumerate(operation.inputs):
        count = words_of(type_, wave)
        names.append([f"a{index}" if w == 0 else f"a{index}w{w}" for w in range(count)])
    return names


def assemble(
    operation: Operation,
    context: Context,
    lane_inputs: Sequence[bool],
    input_halves: Sequence[int | None] = (),
    result_halves: Sequence[int | None] = (),
    typed_words: bool = False,
) -> Assembled:
    """Build the whole expression of an instruction.

    ``lane_inputs`` tells for each input whether its words are lane-wise; ``input_halves`` gives the half-register a
    16-bit input names
    (None: ``op_sel`` decides); ``result_halves`` the same for results. Argument names are those of
    :func:`input_names`; a 16-bit
    result merges into the argument ``old0`` (the result register's previous word), and lane routing may read
    ``exec``. With
    ``typed_words`` single-precision inputs and results are ``f32`` values, else all words are ``i32``.
    """
    names = input_names(operation, context.wave)
    write_mask: Expr | None = None
    values: list[Any] = []
    exec_mask = arg("exec", context.mask_type, False)
    # Modifier bits count source operands: an input that is only the old destination comes first and has none.
    offset = 1 if _destination_first(operation) else 0
    for index, type_ in enumerate(operation.inputs):
        lane = lane_inputs[index]
        raw_type = context.mask_type if type_ == "mask" else "f32" if typed_words and type_ == "f32" else "i32"
        words = [arg(n, raw_type, lane) for n in names[index]]
        source = index - offset
        if source == 0 and ("dpp_ctrl" in context.modifiers or "dpp8" in context.modifiers):
            words, write_mask = _route(words, context, exec_mask)
        if source == 0 and "src0_sel" in context.modifiers:
            words = [_sdwa_source(words[0], context, "src0_sel", 0)]
        if source == 1 and "src1_sel" in context.modifiers:
            words = [_sdwa_source(words[0], context, "src1_sel", 1)]
        half = input_halves[index] if index < len(input_halves) else None
        values.append(_typed(type_, words, source, half, context))
    state_types = {"scc": "i1", "m0": "i32", "exec": context.mask_type, "vcc": context.mask_type}
    state = [arg(s, state_types[s], False) for s in operation.state]
    produced = operation.build(context, *values, *state)
    if not isinstance(produced, tuple) or (
        len(operation.results) == 1 and operation.results[0].startswith("v2") and not operation.state_results
    ):
        produced = (produced,)
    results: list[tuple[Expr, ...]] = []
    for index, type_ in enumerate(operation.results):
        half = result_halves[index] if index < len(result_halves) else None
        if typed_words and type_ == "f32":
            results.append((_finish_float(produced[index], context),))
        else:
            scalar = operation.name.startswith(("s_", "v_s_"))
            results.append(_result_words(type_, produced[index], half, context, index, scalar))
    return Assembled(operation, tuple(results), tuple(produced[len(operation.results) :]), write_mask)


def _destination_first(operation: Operation) -> bool:
    return operation.name in ACCUMULATING


#: Operations whose first input is the old value of the destination (``v_fmac_f32``): modifiers do not apply to it.
ACCUMULATING: set[str] = set()


def _typed(type_: str, words: list[Expr], source: int, half: int | None, context: Context) -> Any:
    neg = source >= 0 and context.modifier("neg") >> source & 1
    absolute = source >= 0 and context.modifier("abs") >> source & 1
    if type_ == "mask":
        return words[0]
    if type_ in ("i16", "f16"):
        if half is None:
            half = context.modifier("op_sel") >> (source if source >= 0 else 3) & 1
        low, high = halves(words[0])
        value = high if half else low
        return _modify(bitcast(value, type_), neg, absolute) if type_ == "f16" else value
    if type_ in ("i32", "f32"):
        return _modify(bitcast(words[0], type_), neg, absolute) if type_ == "f32" else words[0]
    if type_ in ("i64", "f64"):
        wide = zext(words[0], "i64") | (zext(words[1], "i64") << 32)
        return _modify(bitcast(wide, type_), neg, absolute) if type_ == "f64" else wide
    if type_ in ("v2i16", "v2f16", "v2f32"):
        parts = list(halves(words[0])) if type_ != "v2f32" else list(words)
        if source < 0:
            return tuple(
                parts if type_ == "v2i16" else (bitcast(p, "f16" if type_ == "v2f16" else "f32") for p in parts)
            )
        low = parts[context.modifier("op_sel") >> source & 1]
        high = parts[context.modifiers.get("op_sel_hi", 7) >> source & 1]
        if type_ == "v2i16":
            return (low, high)
        kind = "f16" if type_ == "v2f16" else "f32"
        return (
            _modify(bitcast(low, kind), context.modifier("neg_lo") >> source & 1, 0),
            _modify(bitcast(high, kind), context.modifier("neg_hi") >> source & 1, 0),
        )
    return words


def _modify(value: Expr, neg: int, absolute: int) -> Expr:
    if absolute:
        value = fabs(value)
    return fneg(value) if neg else value


def _result_words(
    type_: str, value: Any, half: int | None, context: Context, index: int, scalar: bool
) -> tuple[Expr, ...]:
    if type_ in ("f16", "f32", "f64"):
        value = _finish_float(value, context)
    if type_ in ("v2f16", "v2f32"):
        value = tuple(_finish_float(v, context) for v in value)
    if type_ in ("i16", "f16"):
        if half is None:
            half = context.modifier("op_sel") >> 3 & 1
        short = zext(bitcast(value, "i16"), "i32")
        if scalar:
            # A scalar register has no halves of its own: the upper bits become zero.
            return (short,)
        if context.generation == "gfx9.4" and not half:
            # Up to gfx9, a 16-bit result clears the upper half of its register; later generations keep it.
            return (short,)
        old = arg(f"old{index}", "i32", True)
        return (((old & 0xFFFF) | (short << 16)) if half else ((old & -65536) | short),)
    if type_ in ("i32", "f32"):
        word = bitcast(value, "i32")
        if "dst_sel" in context.modifiers:
            word = _sdwa_result(word, context, index)
        return (word,)
    if type_ in ("i64", "f64"):
        return halves(bitcast(value, "i64"))
    if type_ in ("v2i16", "v2f16"):
        low, high = (zext(bitcast(v, "i16"), "i32") for v in value)
        return (low | (high << 16),)
    if type_ == "v2f32":
        return tuple(bitcast(v, "i32") for v in value)
    if "x" in type_:
        return tuple(bitcast(v, "i32") for v in value)
    return (value,)


def _finish_float(value: Expr, context: Context) -> Expr:
    value = apply_output_modifier(value, context.modifier("omod"))
    return apply_clamp(value, context.mode.dx10_clamp) if context.modifier("clamp") else value


# Data-parallel primitives: which lane each lane reads (AMD RDNA3 ISA, "DPP controls").


def dpp_sources(control: int, wave: int) -> list[int | None]:
    """The source lane of every lane for a 16-lane-row control value, None where no lane stands (out of the row, or
    the wave).
    """
    sources: list[int | None] = []
    for lane in range(wave):
        row, position = lane & ~15, lane & 15
        source: int | None
        if control < 0x100:
            source = (lane & ~3) | (control >> (2 * (lane & 3)) & 3)
        elif 0x101 <= control <= 0x10F:
            target = position + (control & 15)
            source = row + target if target < 16 else None
        elif 0x111 <= control <= 0x11F:
            target = position - (control & 15)
            source = row + target if target >= 0 else None
        elif 0x121 <= control <= 0x12F:
            source = row + ((position - (control & 15)) & 15)
        elif control == 0x130:  # wave_shl:1 (gfx9)
            source = lane + 1 if lane + 1 < wave else None
        elif control == 0x134:  # wave_rol:1
            source = (lane + 1) % wave
        elif control == 0x138:  # wave_shr:1
            source = lane - 1 if lane else None
        elif control == 0x13C:  # wave_ror:1
            source = (lane - 1) % wave
        elif control == 0x140:  # row_mirror
            source = row + 15 - position
        elif control == 0x141:  # row_half_mirror
            source = (lane & ~7) + 7 - (lane & 7)
        elif control == 0x142:  # row_bcast:15 (gfx9): the last lane of a row to the whole next row
            source = row - 1 if lane >= 16 else None
        elif control == 0x143:  # row_bcast:31 (gfx9): lane 31 to the upper rows
            source = 31 if lane >= 32 else None
        elif 0x150 <= control <= 0x15F:  # row_share, row_newbcast
            source = row + (control & 15)
        elif 0x160 <= control <= 0x16F:  # row_xmask
            source = row + (position ^ (control & 15))
        else:
            raise ValueError(f"DPP control {control:#x} has no meaning")
        sources.append(source)
    return sources


def _route(words: list[Expr], context: Context, exec_mask: Expr) -> tuple[list[Expr], Expr | None]:
    """Apply DPP to the first source. Gives the routed words and the lanes that may be written."""
    wave = context.wave
    if "dpp8" in context.modifiers:
        selectors = context.modifier("dpp8")
        sources: list[int | None] = [(i & ~7) | (selectors >> (3 * (i & 7)) & 7) for i in range(wave)]
        row_mask = bank_mask = 15
        bound_ctrl = True  # dpp8 reads zero from disabled lanes and always writes
    else:
        sources = dpp_sources(context.modifier("dpp_ctrl"), wave)
        row_mask = context.modifiers.get("row_mask", 15)
        bank_mask = context.modifiers.get("bank_mask", 15)
        bound_ctrl = bool(context.modifier("bound_ctrl"))
    fetch_inactive = bool(context.modifier("fi"))
    chosen = tuple(i if s is None else s for i, s in enumerate(sources))
    in_range = sum(1 << i for i, s in enumerate(sources) if s is not None)
    valid: Expr = const(context.mask_type, in_range)
    active = shuffle(zext(lane_bit(exec_mask), "i32"), chosen)
    source_active = icmp("ne", active, 0)
    everywhere = in_range == (1 << wave) - 1
    readable: Expr | None
    if fetch_inactive:
        readable = None if everywhere else lane_bit(valid)
    else:
        readable = source_active if everywhere else source_active & lane_bit(valid)
    routed = [shuffle(w, chosen) for w in words]
    enabled = sum(1 << i for i in range(wave) if row_mask >> (i >> 4 & 3) & 1 and bank_mask >> (i >> 2 & 3) & 1)
    write: Expr | None = None
    if enabled != (1 << wave) - 1:
        write = lane_bit(const(context.mask_type, enabled))
    if readable is not None:
        if bound_ctrl:
            routed = [select(readable, w, 0) for w in routed]
        else:
            write = readable if write is None else write & readable
    return routed, write


def _sdwa_source(word: Expr, context: Context, name: str, source: int) -> Expr:
    """Select a byte or half of a source (sub-dword addressing, gfx9): 0-3 bytes, 4-5 halves, 6 the whole."""
    selector = context.modifiers[name]
    signed = context.modifier("sext") >> source & 1
    if selector == 6:
        return word
    kind = "i8" if selector < 4 else "i16"
    shift = 8 * selector if selector < 4 else 16 * (selector - 4)
    part = trunc(word >> shift, kind)
    return Expr("sext", "i32", (part,)) if signed else zext(part, "i32")


def _sdwa_result(word: Expr, context: Context, index: int) -> Expr:
    selector = context.modifiers["dst_sel"]
    if selector == 6:
        return word
    size = 8 if selector < 4 else 16
    shift = 8 * selector if selector < 4 else 16 * (selector - 4)
    field_mask = ((1 << size) - 1) << shift
    placed = (word & ((1 << size) - 1)) << shift
    unused = context.modifier("dst_unused")
    if unused == 2:
        return (arg(f"old{index}", "i32", True) & (~field_mask & 0xFFFFFFFF)) | placed
    if unused == 1:
        top = shift + size
        if top < 32:
            extended = Expr("ashr", "i32", (placed << (32 - top), const("i32", 32 - top)))
            return extended
    return placed
