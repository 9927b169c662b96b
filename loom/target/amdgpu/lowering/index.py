"""``index`` and ``offset`` arithmetic on 32- or 64-bit carriers."""

from __future__ import annotations

from loom.ir import IntegerType, OffsetType, Operation, Value
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.division import divide_unsigned, divide_unsigned64
from loom.target.amdgpu.lowering.emitter import Operand
from loom.target.amdgpu.lowering.integers import Pair
from loom.target.amdgpu.lowering.ranges import fits_signed, fits_unsigned
from loom.target.amdgpu.lowering.values import IndexValue, Truth, is_truth

_MODULAR = {
    "index.add": "add",
    "index.sub": "sub",
    "index.mul": "mul",
    "index.scale": "mul",
    "index.andi": "and",
    "index.ori": "or",
    "index.xori": "xor",
}
"""Ops whose low 32 bits depend on the operands' low 32 bits only."""


def _constant(lw: Lowering, op: Operation) -> None:
    number = op.attributes["value"]
    assert isinstance(number, int)
    lw.set(op.results[0], lw.index_constant(number))


def _known(lw: Lowering, op: Operation) -> bool:
    """Whether bounds leave one value; then it is a constant."""
    number = lw.ranges.constant(op.results[0])
    if number is None:
        return False
    lw.set(op.results[0], lw.index_constant(number))
    return True


def _modular(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    if _known(lw, op):
        return
    name = _MODULAR[op.name]
    a, b = op.operands
    if lw.index_words(result) == 1:
        x, y = lw.word(a), lw.word(b)
        if name == "mul" and fits_unsigned(lw.interval(a), 24) and fits_unsigned(lw.interval(b), 24):
            name = "mul24"
        elif name == "add" and lw.interval(a)[0] >= 0 and lw.interval(b)[0] >= 0 and _disjoint_bits(lw, a, b):
            name = "or"
        lw.set_index(result, (lw.i.binary(name, x, y),))
        return
    lw.set_index(result, _pair_operation(lw, name, a, b))


def _disjoint_bits(lw: Lowering, a: Value, b: Value) -> bool:
    """Whether one operand's multiple covers the other's bits, so that a sum is an or."""
    for x, y in ((a, b), (b, a)):
        multiple = lw.ranges.multiple(x)
        power = multiple & -multiple if multiple else 0
        if power > 1 and lw.interval(y)[1] < power:
            return True
    return False


def _pair_operation(lw: Lowering, name: str, a: Value, b: Value) -> Pair:
    x, y = lw.index_pair(a), lw.index_pair(b)
    if name == "add":
        return lw.i.add64(x, y)
    if name == "sub":
        return lw.i.sub64(x, y)
    if name == "mul":
        if (
            fits_unsigned(lw.interval(a))
            and fits_unsigned(lw.interval(b))
            and not (isinstance(x[0], int) or isinstance(y[0], int))
        ):
            return lw.i.multiply_wide(x[0], y[0])
        return lw.i.mul64(x, y)
    return lw.i.bitwise64(name, x, y)


def _madd(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    if _known(lw, op):
        return
    a, b, c = op.operands
    if lw.index_words(result) == 1:
        name = "mul24" if fits_unsigned(lw.interval(a), 24) and fits_unsigned(lw.interval(b), 24) else "mul"
        product = lw.i.binary(name, lw.word(a), lw.word(b))
        lw.set_index(result, (lw.i.add(product, lw.word(c)),))
        return
    product64 = _pair_operation(lw, "mul", a, b)
    lw.set_index(result, lw.i.add64(product64, lw.index_pair(c)))


def _shift(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    if _known(lw, op):
        return
    a, b = op.operands
    name = {"index.shli": "shl", "index.shrui": "shr", "index.shrsi": "sar"}[op.name]
    source = lw.interval(a)
    if name == "shl" and lw.index_words(result) == 1 and fits_unsigned(lw.interval(b), 5):
        lw.set_index(result, (lw.i.shl(lw.word(a), lw.word(b)),))
        return
    if name != "shl" and fits_unsigned(source) and fits_unsigned(lw.interval(b), 5):
        lw.set_index(result, (lw.i.shr(lw.word(a), lw.word(b)),))
        return
    if name == "sar" and fits_signed(source) and fits_unsigned(lw.interval(b), 5):
        lw.set_index(result, (lw.i.sar(lw.word(a), lw.word(b)),))
        return
    lw.set_index(result, lw.i.shift64(name, lw.index_pair(a), lw.word(b)))


def _rotate(lw: Lowering, op: Operation) -> None:
    a, amount = lw.index_pair(op.operands[0]), lw.word(op.operands[1])
    left = op.name.endswith("rotli")
    amount = lw.i.and_(amount, 63)
    back = lw.i.and_(lw.i.sub(64, amount), 63)
    first = lw.i.shift64("shl" if left else "shr", a, amount)
    second = lw.i.shift64("shr" if left else "shl", a, back)
    # A rotation by zero gives the value twice; or-ing it with itself is harmless.
    lw.set_index(op.results[0], lw.i.bitwise64("or", first, second))


def _extreme(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    if _known(lw, op):
        return
    a, b = op.operands
    least = op.name == "index.min"
    if fits_unsigned(lw.interval(a)) and fits_unsigned(lw.interval(b)):
        lw.set_index(result, (lw.i.binary("min_u" if least else "max_u", lw.word(a), lw.word(b)),))
        return
    if fits_signed(lw.interval(a)) and fits_signed(lw.interval(b)):
        lw.set_index(result, (lw.i.binary("min_s" if least else "max_s", lw.word(a), lw.word(b)),))
        return
    x, y = lw.index_pair(a), lw.index_pair(b)
    truth = lw.t.compare64("lt", x, y, signed=True)
    chosen = lw.t.select(truth, x, y) if least else lw.t.select(truth, y, x)
    lw.set_index(result, chosen)


def _divide(lw: Lowering, op: Operation) -> None:
    result = op.results[0]
    if _known(lw, op):
        return
    a, b = op.operands
    quotient = op.name == "index.div"
    divisor = lw.ranges.constant(b)
    if fits_unsigned(lw.interval(a)) and fits_unsigned(lw.interval(b)):
        q, r = divide_unsigned(lw, lw.word(a), divisor if divisor is not None else lw.word(b), quotient, not quotient)
        word: Operand = q if quotient else r
        if not lw.is_divergent(result):
            word = lw.e.to_scalar(word) if isinstance(word, Value) else word
        lw.set_index(result, (word,))
        return
    q64, r64 = divide_unsigned64(lw, lw.index_pair(a), lw.index_pair(b), not quotient, divisor)
    pair = q64 if quotient else r64
    if not lw.is_divergent(result):
        pair = (
            lw.e.to_scalar(pair[0]) if isinstance(pair[0], Value) else pair[0],
            lw.e.to_scalar(pair[1]) if isinstance(pair[1], Value) else pair[1],
        )
    lw.set_index(result, pair)


def compare_index(lw: Lowering, predicate: str, a: Value, b: Value) -> Truth:
    """A comparison of two index or offset values."""
    x, y = lw.interval(a), lw.interval(b)
    unsigned = predicate[0] == "u"
    name = predicate if predicate in ("eq", "ne") else predicate[1:]
    decided = _decide(predicate, x, y)
    if decided is not None:
        return lw.t.constant(decided)
    if fits_unsigned(x) and fits_unsigned(y):
        return lw.t.compare32(name, lw.word(a), lw.word(b), signed=False)
    if fits_signed(x) and fits_signed(y):
        # Sign extension keeps the order of unsigned numbers too.
        return lw.t.compare32(name, lw.word(a), lw.word(b), signed=not unsigned)
    return lw.t.compare64(name, lw.index_pair(a), lw.index_pair(b), signed=not unsigned)


def _decide(predicate: str, x: tuple[int, int], y: tuple[int, int]) -> bool | None:
    """The outcome when bounds leave only one."""
    if predicate in ("ult", "ule", "ugt", "uge"):
        if x[0] < 0 or y[0] < 0:
            return None
        predicate = "s" + predicate[1:]
    if predicate == "slt":
        return True if x[1] < y[0] else False if x[0] >= y[1] else None
    if predicate == "sle":
        return True if x[1] <= y[0] else False if x[0] > y[1] else None
    if predicate == "sgt":
        return True if x[0] > y[1] else False if x[1] <= y[0] else None
    if predicate == "sge":
        return True if x[0] >= y[1] else False if x[1] < y[0] else None
    if x[1] < y[0] or y[1] < x[0]:
        return predicate == "ne"
    if x == y and x[0] == x[1]:
        return predicate == "eq"
    return None


def _compare(lw: Lowering, op: Operation) -> None:
    lw.set(op.results[0], compare_index(lw, str(op.attributes["predicate"]), op.operands[0], op.operands[1]))


def _cast(lw: Lowering, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    from_type, to_type = source.type, result.type
    if isinstance(to_type, IntegerType):
        if to_type.width == 64:
            lw.set(result, tuple(lw.index_pair(source)))
        elif is_truth(to_type):
            lw.set(result, lw.t.from_bit(lw.i.and_(lw.word(source), 1)))
        else:
            lw.set(result, (lw.word(source),))
        return
    if _known(lw, op):
        return
    if isinstance(from_type, IntegerType):
        words = lw.words(source)
        if len(words) == 2:
            lw.set_index(result, words)
            return
        word = words[0]
        width = from_type.width
        if width == 1:
            lw.set(result, IndexValue((word,)))
            return
        if isinstance(to_type, OffsetType) or lw.interval(source)[0] >= 0:
            word = lw.i.zero_extend(word, width) if width < 32 else word
            lw.set(result, IndexValue((word,)))
            return
        word = lw.i.sign_extend(word, width) if width < 32 else word
        lw.set(result, IndexValue((word,), signed=lw.interval(result)[0] < 0))
        return
    found = lw.get(source)
    assert isinstance(found, IndexValue)
    lw.set_index(result, found.words if lw.index_words(result) == 1 else lw.extend_index(found))


def _assume(lw: Lowering, op: Operation) -> None:
    for value, result in zip(op.operand_group("values"), op.results, strict=True):
        found = lw.get(value)
        if isinstance(found, IndexValue):
            number = lw.ranges.constant(result)
            if number is not None:
                lw.set(result, lw.index_constant(number))
            else:
                lw.set_index(result, found.words if lw.index_words(result) == 1 else lw.extend_index(found))
        else:
            lw.set(result, found)


def _count_bits(lw: Lowering, op: Operation) -> None:
    from loom.target.amdgpu.lowering.bits import count64

    pair = lw.index_pair(op.operands[0])
    lw.set(op.results[0], IndexValue((count64(lw, op.name.rsplit(".", 1)[-1], pair),)))


HANDLERS: dict[str, Handler] = {
    "index.constant": _constant,
    **{name: _modular for name in _MODULAR},
    "index.madd": _madd,
    "index.shli": _shift,
    "index.shrui": _shift,
    "index.shrsi": _shift,
    "index.rotli": _rotate,
    "index.rotri": _rotate,
    "index.min": _extreme,
    "index.max": _extreme,
    "index.div": _divide,
    "index.rem": _divide,
    "index.cmp": _compare,
    "index.cast": _cast,
    "index.assume": _assume,
    "index.ctlzi": _count_bits,
    "index.cttzi": _count_bits,
    "index.ctpopi": _count_bits,
}
