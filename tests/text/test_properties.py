"""Properties over generated programs and literals."""

from __future__ import annotations

import contextlib
import math
import struct

from hypothesis import given, settings
from hypothesis import strategies as st

import loom
from loom.diagnostics import LoomError
from loom.ir import F32, I8, I32, INDEX, Builder, Module, Value, VectorType
from loom.ir.attributes import format_float, format_string
from loom.ir.verifier import check
from loom.text.literals import StringError, parse_float, parse_string
from loom.text.type_text import TypeTextError, parse_structured

NAMES = st.one_of(st.none(), st.from_regex(r"\A[A-Za-z_$][A-Za-z0-9_$-]{0,6}\Z").filter(lambda s: not s.endswith("-")))
BINARY = ["addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxui", "shli", "divsi"]


@st.composite
def programs(draw: st.DrawFn) -> Module:
    """A valid module: a function of nested loops and conditionals over integers, with arbitrary names."""
    module = loom.parse("func.def @f(%a: i32, %b: i32, %c: i1, %n: index) -> (i32) {\n  func.return %a : i32\n}\n")
    function = module.symbol("f")
    assert function is not None
    body = function.body()
    ender = body.last
    assert ender is not None
    scopes: list[list[Value]] = [list(body.arguments[:2])]
    condition, extent = body.arguments[2:]
    builders = [Builder.before(ender)]
    for _ in range(draw(st.integers(0, 25))):
        kind = draw(st.sampled_from(["op", "op", "op", "constant", "if", "for", "close"]))
        builder = builders[-1]
        visible = [v for scope in scopes for v in scope]
        name = draw(NAMES)
        if kind == "op":
            op = draw(st.sampled_from(BINARY))
            pair = [draw(st.sampled_from(visible)) for _ in range(2)]
            made = builder.create(f"scalar.{op}", pair, result_names=(name,))
            scopes[-1].append(made.results[0])
        elif kind == "constant":
            value = draw(st.integers(-(1 << 31), (1 << 32) - 1))
            scopes[-1].append(builder.constant(value, I32, name))
        elif kind == "close" and len(builders) > 1:
            Builder.at_end(builders.pop().block).create("scf.yield")  # type: ignore[arg-type]
            scopes.pop()
        elif kind == "if":
            made = builder.create("scf.if", [condition], [])
            builders.append(Builder.at_end(made.body()))
            scopes.append([])
        elif kind == "for":
            made = builder.create("scf.for", {"lower": extent, "upper": extent, "step": extent}, [])
            made.body().add_argument(INDEX, name)
            builders.append(Builder.at_end(made.body()))
            scopes.append([])
    while len(builders) > 1:
        Builder.at_end(builders.pop().block).create("scf.yield")  # type: ignore[arg-type]
    return module


@given(programs())
@settings(max_examples=120, deadline=None)
def test_built_programs_verify_and_survive_printing(module: Module) -> None:
    assert check(module) == []
    text = loom.print_module(module)
    again = loom.parse(text)
    assert check(again) == []
    assert loom.print_module(again) == text
    assert again.semantic_hash() == module.semantic_hash()
    assert loom.print_module(module.clone()) == text


@given(programs(), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_the_semantic_hash_sees_meaning_only(module: Module, pick: int) -> None:
    before = module.semantic_hash()
    operations = list(module.walk())
    for op in operations:
        for r in op.results:
            r.name = f"renamed{pick}"
        op.comments = ("// a comment",)
        op.location = None
    assert module.semantic_hash() == before
    constants = [op for op in operations if op.name == "scalar.constant"]
    if constants:
        chosen = constants[pick % len(constants)]
        chosen.attributes["value"] = (int(chosen.attributes["value"]) + 1) % (1 << 31)  # type: ignore[arg-type]
        assert module.semantic_hash() != before


@given(st.text())
def test_strings_survive(text: str) -> None:
    if any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        return
    assert parse_string(format_string(text)) == text


@given(st.text())
def test_string_tokens_give_text_or_an_error(body: str) -> None:
    with contextlib.suppress(StringError):
        parse_string(f'"{body}"')


@given(st.floats())
def test_floats_survive(value: float) -> None:
    text = format_float(value)
    back = parse_float(text)
    assert back is not None
    if math.isnan(value):
        assert math.isnan(back)
    else:
        assert struct.pack("<d", back) == struct.pack("<d", value)
        assert math.isinf(value) or "." in text or "e" in text


@given(st.lists(st.integers(0, 1 << 40), min_size=1, max_size=6), st.sampled_from([I8, I32, F32, INDEX]))
def test_vector_types_survive(dims: list[int], element: object) -> None:
    made = VectorType(tuple(dims), element)  # type: ignore[arg-type]

    def no_values(name: str) -> Value:
        raise AssertionError(name)

    assert parse_structured(str(made), no_values, {}) is made


@given(st.text(alphabet="vectorwg<>x0123456789[]%,# =align()f32i8@.&", max_size=60))
def test_type_texts_give_a_type_or_an_error(body: str) -> None:
    for keyword in ("vector", "view", "tensor", "reg", "pool"):
        with contextlib.suppress(TypeTextError):
            parse_structured(f"{keyword}<{body}>", lambda name: Value(INDEX, name=name), {})


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_parses_or_gives_diagnostics(text: str) -> None:
    try:
        module = loom.parse(text)
    except LoomError as failure:
        assert failure.diagnostics
    else:
        loom.print_module(module)


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_parse_or_give_diagnostics(data: bytes) -> None:
    try:
        loom.parse(data)
    except LoomError as failure:
        assert failure.diagnostics
