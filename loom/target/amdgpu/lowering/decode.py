"""``vector.decode`` and ``vector.encode``: block formats of the ggml library, affine formats, small floats.

Formats and arithmetic follow the public struct layouts of ggml (``block_q4_0``, ``block_q8_0``, ``block_q4_K`` …):
bytes of the record at fixed places, values = scale * (field - offset) and the like, computed in single precision.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loom.ir import EncodingAttribute, FloatType, Operation, Value
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.conversions import convert_element
from loom.target.amdgpu.lowering.emitter import Operand
from loom.target.amdgpu.lowering.floats import floats
from loom.target.amdgpu.lowering.scalars import float_words
from loom.target.amdgpu.lowering.values import Words, element_bits, element_of, lane_count

_RECORD = re.compile(r"^(?:ggml[._])?(q\d_[0Kk])$")

# format → (values a record, bytes a record, payload bytes beside a separate scale or 0).
RECORDS: dict[str, tuple[int, int, int]] = {
    "q4_0": (32, 18, 16),
    "q8_0": (32, 34, 32),
    "q4_K": (256, 144, 0),
    "q5_K": (256, 176, 0),
    "q6_K": (256, 210, 0),
}
_FLOATS = {"f8e4m3fn": "f8E4M3", "f8e5m2": "f8E5M2", "f16": "f16", "bf16": "bf16", "f32": "f32"}


@dataclass(slots=True)
class Payload:
    """The bytes of an encoded payload, as words."""

    lw: Lowering
    words: Words

    def field(self, bit: int, width: int, signed: bool = False) -> Operand:
        """``width`` bits from bit ``bit`` of the little-endian stream."""
        i = self.lw.i
        word, offset = bit // 32, bit % 32
        if offset + width <= 32:
            return i.bit_field(self.words[word], offset, width, signed)
        low = i.shr(self.words[word], offset)
        joined = i.or_(low, i.shl(self.words[word + 1], 32 - offset))
        return i.bit_field(joined, 0, width, signed)

    def byte(self, index: int, signed: bool = False) -> Operand:
        """One byte."""
        return self.field(8 * index, 8, signed)

    def half(self, index: int) -> Words:
        """Two bytes from byte ``index`` as a half, widened to single precision."""
        return floats(self.lw).to_f32((self.field(8 * index, 16),), "f16")


def _record_name(family: str) -> str | None:
    found = _RECORD.match(family)
    if found is None:
        return None
    name = found.group(1).replace("k", "K")
    return name if name in RECORDS else None


def _auxiliary(lw: Lowering, op: Operation) -> dict[str, Value]:
    found = dict(lw.encoding(op.operand("schema")).operands)
    keys = op.attributes.get("auxiliary_keys")
    if isinstance(keys, tuple):
        found.update(zip((str(k) for k in keys), op.operand_group("auxiliary"), strict=True))
    return found


def _number(lw: Lowering, field: Operand, signed: bool) -> Words:
    """An integer field as single precision."""
    return (lw.e.op("v_cvt_f32_i32" if signed else "v_cvt_f32_u32", field)[0],)


def _schema(lw: Lowering, op: Operation) -> EncodingAttribute:
    attribute = lw.encoding(op.operand("schema")).attribute
    if attribute is None:
        raise lw.reject(op, "its schema has no family", 50, "define it with encoding.define #family<…>")
    return attribute


def _decode(lw: Lowering, op: Operation) -> None:
    attribute = _schema(lw, op)
    result = op.results[0]
    count = lane_count(result.type)
    auxiliary = _auxiliary(lw, op)
    payload = Payload(lw, lw.words(op.operand("payload")))
    name = _record_name(attribute.family)
    if name is not None:
        values = _decode_record(lw, op, name, payload, count, auxiliary)
    else:
        values = _decode_affine(lw, op, attribute, payload, count, auxiliary)
    f = floats(lw)
    element = element_of(result.type)
    if isinstance(element, FloatType):
        lw.set_elements(result, [f.convert(v, "f32", element.name) for v in values])
    else:
        from loom.ir import F32

        lw.set_elements(result, [convert_element(lw, "fptosi", v, F32, element) for v in values])


def scales(lw: Lowering, op: Operation, value: Value, groups: int, bits_are: str) -> list[Words]:
    """One single-precision factor a group: floats, or integers that hold a float's bits or an e8m0 exponent."""
    f, i = floats(lw), lw.i
    element = element_of(value.type)
    out: list[Words] = []
    for words in lw.elements(value):
        if isinstance(element, FloatType):
            out.append(f.to_f32(words, element.name))
        elif bits_are == "e8m0":
            # 2^(b - 127): the byte is the exponent field; zero is the subnormal 2^-127.
            exponent = i.zero_extend(words[0], 8)
            tiny = lw.t.compare32("eq", exponent, 0, signed=False)
            out.append((lw.t.select_word(tiny, 0x00400000, i.shl(exponent, 23)),))
        else:
            out.append(f.to_f32(words, bits_are))
    if len(out) == groups:
        return out
    if groups % len(out):
        raise lw.reject(
            op,
            f"{len(out)} scales do not divide {groups} groups",
            51,
            f"pass one scale, or one for each of the {groups} groups",
        )
    return [s for s in out for _ in range(groups // len(out))]


def _decode_record(
    lw: Lowering, op: Operation, name: str, payload: Payload, count: int, auxiliary: dict[str, Value]
) -> list[Words]:
    values, size, split = RECORDS[name]
    if count % values:
        raise lw.reject(
            op, f"{name} decodes multiples of {values} values, not {count}", 52, f"decode {values} values at a time"
        )
    blocks = count // values
    f = floats(lw)
    out: list[Words] = []
    separate = "scale" in auxiliary
    if separate and not split:
        raise lw.reject(op, f"{name} keeps its scales in the record", 52, "pass the whole record as payload")
    given = scales(lw, op, auxiliary["scale"], blocks, "f16") if separate else []
    for block in range(blocks):
        base = block * (split if separate else size)
        if name in ("q4_0", "q8_0"):
            scale = given[block] if separate else payload.half(base)
            start = base if separate else base + 2
            for k in range(32):
                if name == "q8_0":
                    number = _number(lw, payload.byte(start + k, signed=True), True)
                else:
                    nibble = payload.field(8 * (start + k % 16) + (4 if k >= 16 else 0), 4)
                    number = f.op("add", "f32", _number(lw, nibble, False), float_words(-8.0, "f32"))
                out.append(f.op("mul", "f32", number, scale))
        elif name in ("q4_K", "q5_K"):
            out += _k_block(lw, payload, base, name == "q5_K")
        else:
            out += _q6_block(lw, payload, base)
    return out


def _six_bits(lw: Lowering, payload: Payload, start: int, group: int) -> tuple[Operand, Operand]:
    """Scale and minimum of a group of 32, six bits each out of twelve bytes."""
    i = lw.i
    if group < 4:
        return payload.field(8 * (start + group), 6), payload.field(8 * (start + 4 + group), 6)
    k = group - 4
    scale = i.or_(payload.field(8 * (start + 8 + k), 4), i.shl(payload.field(8 * (start + k) + 6, 2), 4))
    minimum = i.or_(payload.field(8 * (start + 8 + k) + 4, 4), i.shl(payload.field(8 * (start + 4 + k) + 6, 2), 4))
    return scale, minimum


def _k_block(lw: Lowering, payload: Payload, base: int, five: bool) -> list[Words]:
    f, i = floats(lw), lw.i
    d, dmin = payload.half(base), payload.half(base + 2)
    quants = base + (48 if five else 16)
    out: list[Words] = []
    for group in range(8):
        scale, minimum = _six_bits(lw, payload, base + 4, group)
        factor = f.op("mul", "f32", d, _number(lw, scale, False))
        drop = f.neg(f.op("mul", "f32", dmin, _number(lw, minimum, False)), "f32")
        for k in range(32):
            field = payload.field(8 * (quants + 32 * (group // 2) + k) + 4 * (group % 2), 4)
            if five:
                field = i.or_(field, i.shl(payload.field(8 * (base + 16 + k) + group, 1), 4))
            out.append(f.op("fma", "f32", factor, _number(lw, field, False), drop))
    return out


def _q6_block(lw: Lowering, payload: Payload, base: int) -> list[Words]:
    f, i = floats(lw), lw.i
    d = payload.half(base + 208)
    factors = [f.op("mul", "f32", d, _number(lw, payload.byte(base + 192 + s, signed=True), True)) for s in range(16)]
    out: list[Words] = []
    for half in range(2):
        for place in range(4):
            for k in range(32):
                low = payload.field(8 * (base + 64 * half + 32 * (place & 1) + k) + (4 if place >= 2 else 0), 4)
                high = payload.field(8 * (base + 128 + 32 * half + k) + 2 * place, 2)
                number = f.op("add", "f32", _number(lw, i.or_(low, i.shl(high, 4)), False), float_words(-32.0, "f32"))
                index = 128 * half + 32 * place + k
                out.append(f.op("mul", "f32", factors[index // 16], number))
    return out


def _format(lw: Lowering, op: Operation, attribute: EncodingAttribute) -> tuple[str, int]:
    """Element format and width."""
    element = attribute.family.removeprefix("encoding.")
    if element == "matrix_operand":
        element = str(attribute.parameter("element_format"))
    found = re.match(r"^([iu])(\d+)$", element)
    if found is not None:
        return element, int(found.group(2))
    if element == "f4e2m1fn":
        return element, 4
    if element in _FLOATS:
        return element, {"f8E4M3": 8, "f8E5M2": 8, "f16": 16, "bf16": 16, "f32": 32}[_FLOATS[element]]
    raise lw.reject(
        op,
        f"no element format '{element}' is known",
        53,
        "known: iN, uN, f4e2m1fn, " + ", ".join(_FLOATS) + "; records " + ", ".join(RECORDS),
    )


def _affine(
    lw: Lowering, op: Operation, attribute: EncodingAttribute, auxiliary: dict[str, Value], count: int
) -> tuple[list[Words] | None, list[Words] | None]:
    """Factor and addend of every value, None where there is none."""
    kind = str(attribute.parameter("affine") or "none")
    if kind == "none":
        return None, None
    f = floats(lw)
    bits_are = "e8m0" if str(attribute.parameter("scale_format") or "") == "e8m0" else "f32"
    group = attribute.parameter("scale_group_elements")

    def spread(key: str) -> list[Words]:
        if key not in auxiliary:
            raise lw.reject(
                op, f"affine={kind} needs the operand '{key}'", 54, f"give {{{key} = %value : …}} behind the schema"
            )
        groups = count // int(group) if group else 1  # type: ignore[arg-type]
        groups = max(groups, lane_count(auxiliary[key].type))
        found = scales(lw, op, auxiliary[key], groups, bits_are if key == "scale" else "f32")
        return [s for s in found for _ in range(count // groups)]

    factor = spread("scale")
    if kind == "scale_only":
        return factor, None
    if kind == "scale_plus_min":
        return factor, spread("minimum")
    if kind == "scale_plus_bias":
        return factor, spread("bias")
    if kind == "scale_plus_zero_point":
        return factor, [
            f.neg(f.op("mul", "f32", z, s), "f32") for z, s in zip(spread("zero_point"), factor, strict=True)
        ]
    raise lw.reject(op, f"affine={kind} is not known", 54, "use scale_only, scale_plus_min or none")


def _decode_affine(
    lw: Lowering, op: Operation, attribute: EncodingAttribute, payload: Payload, count: int, auxiliary: dict[str, Value]
) -> list[Words]:
    f = floats(lw)
    element, bits = _format(lw, op, attribute)
    big_endian = str(attribute.parameter("payload_packing") or "") == "big_endian_nibbles"
    if count * bits > 32 * len(payload.words):
        held = 32 * len(payload.words) // bits
        raise lw.reject(
            op, f"the payload holds {held} values, not {count}", 55, f"decode to a vector of {held} elements"
        )
    factor, addend = _affine(lw, op, attribute, auxiliary, count)
    out: list[Words] = []
    for k in range(count):
        place = k * bits
        if big_endian and bits == 4:
            place ^= 4
        if element[0] in "iu" and element[1:].isdigit():
            number = _number(lw, payload.field(place, bits, element[0] == "i"), element[0] == "i")
        elif element == "f4e2m1fn":
            number = _e2m1(lw, payload.field(place, 4))
        else:
            number = f.to_f32((payload.field(place, bits),), _FLOATS[element])
        if factor is not None and addend is not None:
            number = f.op("fma", "f32", number, factor[k], addend[k])
        elif factor is not None:
            number = f.op("mul", "f32", number, factor[k])
        out.append(number)
    return out


def _e2m1(lw: Lowering, code: Operand) -> Words:
    """Sign, two exponent bits, one mantissa bit: place them in a float and scale by the difference of the biases."""
    i = lw.i
    moved = i.shl(i.and_(code, 7), 22)
    magnitude = floats(lw).op("mul", "f32", (moved,), float_words(2.0**126, "f32"))
    return (i.or_(magnitude[0], i.shl(i.and_(code, 8), 28)),)


def _encode(lw: Lowering, op: Operation) -> None:
    attribute = _schema(lw, op)
    auxiliary = _auxiliary(lw, op)
    source, result = op.operand("payload"), op.results[0]
    element = element_of(source.type)
    f, i = floats(lw), lw.i
    numbers = lw.elements(source)
    if isinstance(element, FloatType):
        numbers = [f.convert(n, element.name, "f32") for n in numbers]
    else:
        numbers = [_number(lw, i.sign_extend(n[0], element_bits(element)), True) for n in numbers]
    name = _record_name(attribute.family)
    count = len(numbers)
    if name is not None:
        if "scale" not in auxiliary or not RECORDS[name][2] or count % 32:
            raise lw.reject(
                op,
                f"{name} is encoded with a scale beside the payload, 32 values a block",
                56,
                "pass {scale = %s : vector<Nxf16>}, one for every 32 values",
            )
        given = scales(lw, op, auxiliary["scale"], count // 32, "f16")
        quotient = [f.divide(n, given[k // 32], "f32") for k, n in enumerate(numbers)]
        if name == "q8_0":
            fields = [(_integer_code(lw, q, -128, 127), 8) for q in quotient]
        else:
            shifted = [f.op("add", "f32", q, float_words(8.0, "f32")) for q in quotient]
            codes = [_integer_code(lw, q, 0, 15) for q in shifted]
            fields = []
            for block in range(count // 32):
                for k in range(16):
                    fields += [(codes[32 * block + k], 4), (codes[32 * block + 16 + k], 4)]
        _set_fields(lw, result, fields)
        return
    format_, bits = _format(lw, op, attribute)
    factor, addend = _affine(lw, op, attribute, auxiliary, count)
    fields = []
    for k, number in enumerate(numbers):
        if addend is not None:
            number = f.op("sub", "f32", number, addend[k])
        if factor is not None:
            number = f.divide(number, factor[k], "f32")
        fields.append((_code(lw, format_, bits, number), bits))
    if str(attribute.parameter("payload_packing") or "") == "big_endian_nibbles" and bits == 4:
        fields = [fields[k ^ 1] if (k ^ 1) < len(fields) else fields[k] for k in range(len(fields))]
    _set_fields(lw, result, fields)


def _integer_code(lw: Lowering, number: Words, low: int, high: int) -> Operand:
    """Rounded to nearest even and held between bounds; NaN gives zero."""
    f = floats(lw)
    rounded = f.op("rint", "f32", number)
    held = f.op(
        "min", "f32", f.op("max", "f32", rounded, float_words(float(low), "f32")), float_words(float(high), "f32")
    )
    held = lw.t.select(lw.t.compare_float("uno", number[0], number[0], "f32"), (0,), held)
    return lw.e.op("v_cvt_i32_f32", held[0])[0]


def _code(lw: Lowering, element: str, bits: int, number: Words) -> Operand:
    f, i = floats(lw), lw.i
    if element[0] in "iu" and element[1:].isdigit():
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if element[0] == "i" else (0, (1 << bits) - 1)
        return _integer_code(lw, number, low, high)
    if element == "f4e2m1fn":
        # Thresholds half-way between neighbours; ties go to the even code.
        magnitude = f.abs(number, "f32")
        code: Operand = 0
        for limit, inclusive in (
            (0.25, False),
            (0.75, True),
            (1.25, False),
            (1.75, True),
            (2.5, False),
            (3.5, True),
            (5.0, False),
        ):
            above = lw.t.compare_float("oge" if inclusive else "ogt", magnitude[0], float_words(limit, "f32")[0], "f32")
            code = i.add(code, lw.t.as_word(above))
        return i.or_(code, i.shl(i.shr(number[0], 31), 3))
    kind = _FLOATS[element]
    if kind == "f8E5M2":
        largest = float_words(57344.0, "f32")
        clamped = f.op("min", "f32", f.op("max", "f32", number, float_words(-57344.0, "f32")), largest)
        number = lw.t.select(lw.t.compare_float("uno", number[0], number[0], "f32"), number, clamped)
    return f.from_f32(number, kind)[0]


def _set_fields(lw: Lowering, result: Value, fields: list[tuple[Operand, int]]) -> None:
    """Pack fields of given widths into the result's words."""
    i = lw.i
    total = element_bits(result.type) * lane_count(result.type)
    words: list[Operand] = [0] * max(1, -(-total // 32))
    bit = 0
    for value, width in fields:
        part = i.zero_extend(value, width) if width < 32 else value
        word, offset = bit // 32, bit % 32
        words[word] = i.or_(words[word], i.shl(part, offset))
        if offset + width > 32:
            words[word + 1] = i.or_(words[word + 1], i.shr(part, 32 - offset))
        bit += width
    lw.set(result, tuple(words))


HANDLERS: dict[str, Handler] = {"vector.decode": _decode, "vector.encode": _encode}
