"""Facts and proofs: chosen examples, and soundness against evaluating random index programs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import loom
from loom.ir import Module, Operation, Value
from loom.ir.facts import FactAnalysis, facts_of, linear_of, prove


def values_of(text: str) -> dict[str, Value]:
    module = loom.parse(text)
    loom.verify(module)
    found: dict[str, Value] = {}
    for op in module.walk():
        for region in op.regions:
            for block in region.blocks:
                found.update({a.name or "": a for a in block.arguments})
        found.update({r.name or "": r for r in op.results})
    return found


def body(text: str, arguments: str = "%a: index, %b: index", where: str = "") -> dict[str, Value]:
    return values_of(f"func.def @f({arguments}){where} {{\n{text}\n  func.return\n}}\n")


def test_ranges_of_arithmetic() -> None:
    v = body(
        """
  %x = index.assume %a [range(%a, 0, 63), mul(%a, 4)] : index
  %c = index.constant 16 : index
  %y = index.mul %x, %c : index
  %z = index.madd %x, %c, %c : index
  %q = index.div %z, %c : index
  %r = index.rem %z, %c : index
  %m = index.min %x, %b : index
  %s = index.shli %x, %c : index
  %t = index.andi %b, %c : index
"""
    )
    assert (facts_of(v["x"]).low, facts_of(v["x"]).high, facts_of(v["x"]).multiple_of) == (0, 63, 4)
    assert (facts_of(v["y"]).high, facts_of(v["y"]).multiple_of) == (63 * 16, 64)
    assert (facts_of(v["z"]).low, facts_of(v["z"]).high, facts_of(v["z"]).multiple_of) == (16, 63 * 16 + 16, 16)
    assert (facts_of(v["q"]).low, facts_of(v["q"]).high) == (1, 64)
    assert (facts_of(v["r"]).low, facts_of(v["r"]).high) == (0, 15)
    assert facts_of(v["m"]).high == 63
    assert facts_of(v["s"]).high == 63 << 16
    assert (facts_of(v["t"]).low, facts_of(v["t"]).high) == (0, 16)


def test_loops_bound_their_variables() -> None:
    v = body(
        """
  %zero = index.constant 0 : index
  %four = index.constant 4 : index
  %n = index.assume %a [range(%a, 1, 100)] : index
  %end = index.constant 30 : index
  scf.for %i = [%zero to %n step %four] {
  }
  scf.for %j = [%zero to %end step %four] {
  }
  %sum = scf.for %k = [%zero to %end step %four](%s = %four : index) -> (index) {
    %t = index.add %s, %four : index
    scf.yield %t : index
  }
"""
    )
    assert (facts_of(v["i"]).low, facts_of(v["i"]).high, facts_of(v["i"]).multiple_of) == (0, 96, 4)
    assert facts_of(v["j"]).high == 28
    assert (facts_of(v["sum"]).low, facts_of(v["sum"]).high, facts_of(v["sum"]).multiple_of) == (4, 36, 4)
    assert prove("lt", [v["i"], v["n"]]) is True
    assert prove("ult", [v["i"], v["n"]]) is True
    assert prove("ge", [v["i"], v["n"]]) is False


def test_a_whole_number_of_steps_ends_a_step_early() -> None:
    v = body(
        """
  %zero = index.constant 0 : index
  %sixteen = index.constant 16 : index
  %one = index.constant 1 : index
  %n = index.assume %a [mul(%a, 16), range(%a, 16, 65536)] : index
  scf.for %i = [%zero to %n step %sixteen] {
    scf.for %j = [%zero to %sixteen step %one] {
      %at = index.add %i, %j : index
    }
  }
"""
    )
    assert prove("lt", [v["at"], v["n"]]) is True
    assert prove("ge", [v["at"], 0]) is True


def test_conditions_hold_inside_their_regions() -> None:
    text = """
  %live = index.cmp ult, %a, %n : index
  scf.if %live {
    %inside = index.add %a, %one : index
  } else {
    %outside = index.add %a, %one : index
  }
"""
    v = body("  %one = index.constant 1 : index\n  %n = index.assume %b [range(%b, 0, 65536)] : index\n" + text)
    inside, outside = v["inside"].defining_op, v["outside"].defining_op
    assert prove("lt", [v["a"], v["n"]], at=inside) is True
    assert prove("ge", [v["a"], 0], at=inside) is True
    assert prove("le", [v["inside"], v["n"]], at=inside) is True
    assert prove("lt", [v["a"], v["n"]], at=outside) is None
    assert prove("lt", [v["a"], v["n"]]) is None


def test_assumptions_hold_for_their_results_only() -> None:
    v = body("  %x = index.assume %a [le(%a, %b), min(%a, 0)] : index\n")
    assert prove("le", [v["x"], v["b"]]) is True
    assert prove("le", [v["a"], v["b"]]) is None
    assert prove("ge", [v["a"], 0]) is None
    assert prove("eq", [v["x"], v["a"]]) is True


def test_signature_predicates_are_facts() -> None:
    v = body("", "%n: index, %m: index", " where [range(%n, 1, 32), le(%m, %n), mul(%m, 8), pow2(%n)]")
    assert (facts_of(v["n"]).low, facts_of(v["n"]).high, facts_of(v["n"]).power_of_two) == (1, 32, True)
    assert facts_of(v["m"]).high == 32
    assert prove("le", [v["m"], v["n"]]) is True
    assert prove("mul", [v["m"], 4]) is True
    assert prove("mul", [v["m"], 16]) is None
    assert prove("pow2", [v["n"]]) is True
    assert prove("range", [v["n"], 0, 32]) is True
    assert prove("range", [v["n"], 40, 50]) is False


def test_equal_linear_forms_are_equal() -> None:
    v = body(
        """
  %c = index.constant 3 : index
  %x = index.madd %a, %c, %b : index
  %y = index.mul %a, %c : index
  %z = index.add %b, %y : index
  %w = index.add %z, %c : index
"""
    )
    assert prove("eq", [v["x"], v["z"]]) is True
    assert prove("eq", [v["x"], v["w"]]) is False
    assert prove("lt", [v["x"], v["w"]]) is True
    assert dict(linear_of(v["w"]).terms) == {v["a"]: 3, v["b"]: 1}
    assert linear_of(v["w"]).constant == 3


def test_launch_facts() -> None:
    v = values_of((Path(__file__).parents[1] / "corpus/appendix/11_histogram.loom").read_text("utf-8"))
    assert (facts_of(v["item"]).low, facts_of(v["item"]).high) == (0, 63)
    assert facts_of(v["key"]).high == 3


def test_long_chains_cost_no_exponential_time() -> None:
    lines = ["  %x0 = index.add %a, %b : index"]
    lines += [f"  %x{i} = index.add %x{i - 1}, %x{i - 1} : index" for i in range(1, 200)]
    v = body("\n".join(lines))
    assert facts_of(v["x199"]).multiple_of >= 1
    assert prove("eq", [v["x199"], v["x198"]]) is None


OPS = ["add", "sub", "mul", "min", "max", "div", "rem", "andi", "ori", "xori", "shli", "shrui"]


def evaluate(op: Operation, environment: dict[Value, int]) -> int | None:
    """Evaluate one op by its own definition; None when its conditions do not hold."""
    name = op.name.removeprefix("index.")
    a = [environment[v] for v in op.operands]
    wrap = lambda x: (x + (1 << 63)) % (1 << 64) - (1 << 63)  # noqa: E731
    if name == "constant":
        return int(op.attributes["value"])  # type: ignore[arg-type]
    if name in ("div", "rem") and not (a[0] >= 0 and a[1] > 0):
        return None
    if name in ("shli", "shrui") and not 0 <= a[1] < 64:
        return None
    table = {
        "add": lambda: a[0] + a[1],
        "sub": lambda: a[0] - a[1],
        "mul": lambda: a[0] * a[1],
        "madd": lambda: a[0] * a[1] + a[2],
        "min": lambda: min(a),
        "max": lambda: max(a),
        "div": lambda: a[0] // a[1],
        "rem": lambda: a[0] % a[1],
        "andi": lambda: a[0] & a[1],
        "ori": lambda: a[0] | a[1],
        "xori": lambda: a[0] ^ a[1],
        "shli": lambda: a[0] << a[1],
        "shrui": lambda: (a[0] % (1 << 64)) >> a[1],
    }
    return wrap(table[name]())


def random_program(rng: random.Random) -> str:
    low, multiple = rng.randrange(0, 50), rng.choice([1, 2, 4, 16])
    lines = [
        f"  %x = index.assume %a [range(%a, {low}, {low + rng.randrange(0, 300)}), mul(%a, {multiple})] : index",
        f"  %y = index.assume %b [range(%b, {-rng.randrange(0, 40)}, {rng.randrange(0, 90)})] : index",
    ]
    names = ["x", "y"]
    for i in range(rng.randrange(1, 10)):
        if rng.random() < 0.3:
            lines.append(f"  %c{i} = index.constant {rng.choice([0, 1, 2, 3, 4, 5, 8, 16, 100, -7])} : index")
            names.append(f"c{i}")
        op = rng.choice(OPS)
        p, q = rng.choice(names), rng.choice(names)
        if rng.random() < 0.1:
            lines.append(f"  %v{i} = index.madd %{p}, %{q}, %{rng.choice(names)} : index")
        else:
            lines.append(f"  %v{i} = index.{op} %{p}, %{q} : index")
        names.append(f"v{i}")
    return "func.def @f(%a: index, %b: index) {\n" + "\n".join(lines) + "\n  func.return\n}\n"


def inputs_of(module: Module, rng: random.Random) -> dict[Value, int] | None:
    function = module.symbol("f")
    assert function is not None
    environment: dict[Value, int] = {}
    for op in function.body().operations:
        if op.name == "index.assume":
            (bound, *rest) = op.attributes["predicates"]  # type: ignore[misc]
            low, high = bound.arguments[1:]  # type: ignore[union-attr]
            multiple = rest[0].arguments[1] if rest else 1  # type: ignore[union-attr]
            choices = [n for n in range(low, high + 1) if n % multiple == 0]
            if not choices:
                return None
            environment[op.operands[0]] = environment[op.results[0]] = rng.choice(
                [choices[0], choices[-1], rng.choice(choices)]
            )
        elif op.results:
            value = evaluate(op, environment)
            if value is None:
                return None
            environment[op.results[0]] = value
    return environment


@given(st.integers(0, 1 << 40))
@settings(max_examples=300, deadline=None)
def test_facts_and_proofs_are_sound(seed: int) -> None:
    rng = random.Random(seed)
    module = loom.parse(random_program(rng))
    runs = [e for e in (inputs_of(module, rng) for _ in range(6)) if e is not None]
    if not runs:
        return
    analysis = FactAnalysis()
    values = list(runs[0])
    for value in values:
        facts = analysis.facts_of(value)
        for environment in runs:
            actual = environment[value]
            # Facts of an assumption's source are the source's own; the environment obeys the assumption.
            assert facts.low <= actual <= facts.high
            assert actual % facts.multiple_of == 0 if facts.multiple_of else actual == 0
            if facts.power_of_two:
                assert actual > 0 and actual & (actual - 1) == 0
    for _ in range(20):
        a, b = rng.choice(values), rng.choice([*values, rng.randrange(-5, 200)])
        predicate = rng.choice(["eq", "ne", "lt", "le", "gt", "ge", "ult", "ule"])
        answer = prove(predicate, [a, b], analysis=analysis)
        if answer is None:
            continue
        for environment in runs:
            x = environment[a]
            y = environment[b] if isinstance(b, Value) else b
            if predicate[0] == "u":
                x, y = x % (1 << 64), y % (1 << 64)
            truth = {
                "eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y,
                "ult": x < y, "ule": x <= y,
            }[predicate]  # fmt: skip
            assert truth is answer, f"{predicate} {a} {b}: {x} {y} is {truth}, proven {answer}"


@pytest.mark.parametrize("predicate", ["eq", "lt", "le"])
def test_plain_integers_can_be_compared(predicate: str) -> None:
    assert prove(predicate, [3, 3]) is (predicate != "lt")


def test_casts_and_signed_arithmetic_are_seen_through() -> None:
    v = body(
        """
  %i = index.cast %x : i32 to index
  %j = index.cast %y : i32 to index
  %c = scalar.cmpi slt, %x, %y : i32
  %one = scalar.constant 1 : i32
  %z = scalar.addi<nsw> %x, %one : i32
  %w = scalar.addi %x, %one : i32
  %k = index.cast %z : i32 to index
  scf.if %c {
    %inside = index.add %i, %i : index
  }
""",
        "%x: i32, %y: i32",
    )
    inside = v["inside"].defining_op
    assert prove("lt", [v["i"], v["j"]], at=inside) is True
    assert prove("le", [v["k"], v["j"]], at=inside) is True
    assert prove("lt", [v["i"], v["j"]]) is None
    assert prove("lt", [v["x"], v["z"]]) is True
    assert prove("lt", [v["x"], v["w"]]) is None
    assert (facts_of(v["i"]).low, facts_of(v["i"]).high) == (-(1 << 31), (1 << 31) - 1)


def test_finite_floats() -> None:
    v = body(
        """
  %c = scalar.constant 1.5 : f32
  %d = scalar.constant inf : f32
  %e = scalar.assume %x [finite(%x)] : f32
""",
        "%x: f32",
    )
    assert [prove("finite", [v[n]]) for n in "cdex"] == [True, False, True, None]


def test_sign_extending_a_bit_gives_zero_or_minus_one() -> None:
    v = body("  %w = scalar.extsi %p : i1 to i32\n  %u = scalar.extui %p : i1 to i32\n", "%p: i1")
    assert (facts_of(v["w"]).low, facts_of(v["w"]).high) == (-1, 0)
    assert (facts_of(v["u"]).low, facts_of(v["u"]).high) == (0, 1)


def signed8(number: int) -> int:
    return (number + 128) % 256 - 128


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


#: What each op gives on i8, None where nothing is defined.
EIGHT_BITS: dict[str, Callable[..., int | None]] = {
    "addi": lambda a, b: signed8(a + b),
    "subi": lambda a, b: signed8(a - b),
    "muli": lambda a, b: signed8(a * b),
    "fmai": lambda a, b, c: signed8(a * b + c),
    "minsi": min,
    "maxsi": max,
    "andi": lambda a, b: signed8((a & 255) & (b & 255)),
    "ori": lambda a, b: signed8((a & 255) | (b & 255)),
    "xori": lambda a, b: signed8((a & 255) ^ (b & 255)),
    "shli": lambda a, b: signed8(a << b) if 0 <= b < 8 else None,
    "shrui": lambda a, b: signed8((a & 255) >> b) if 0 <= b < 8 else None,
    "shrsi": lambda a, b: a >> b if 0 <= b < 8 else None,
    "divsi": lambda a, b: toward_zero(a, b) if b and (a, b) != (-128, -1) else None,
    "remsi": lambda a, b: a - toward_zero(a, b) * b if b and (a, b) != (-128, -1) else None,
    "absi": lambda a: signed8(abs(a)),
    "ctlzi": lambda a: 8 - (a & 255).bit_length(),
    "cttzi": lambda a: ((a & 255) & -(a & 255)).bit_length() - 1 if a & 255 else 8,
    "ctpopi": lambda a: (a & 255).bit_count(),
}


@pytest.mark.parametrize("name", EIGHT_BITS)
def test_every_rule_covers_every_value_of_eight_bits(name: str) -> None:
    rng = random.Random(name)
    function = EIGHT_BITS[name]
    count = 3 if name == "fmai" else 1 if name in ("absi", "ctlzi", "cttzi", "ctpopi") else 2
    for _ in range(60):
        spans = []
        for _ in range(count):
            low = rng.choice([-128, -100, -9, -1, 0, 1, 2, 7, 60, rng.randrange(-128, 127)])
            spans.append((low, min(127, low + rng.choice([0, 1, 3, 8, 20]))))
        text = "".join(
            f"  %x{i} = scalar.assume %a{i} [range(%a{i}, {low}, {high})] : i8\n" for i, (low, high) in enumerate(spans)
        )
        operands = ", ".join(f"%x{i}" for i in range(count))
        v = body(f"{text}  %r = scalar.{name} {operands} : i8", ", ".join(f"%a{i}: i8" for i in range(count)))
        facts = facts_of(v["r"])
        for values in itertools.product(*(range(low, high + 1) for low, high in spans)):
            found = function(*values)
            if found is None:
                continue
            assert facts.low <= found <= facts.high, (name, values, found, facts)
            assert found % facts.multiple_of == 0 if facts.multiple_of else found == 0, (name, values, found, facts)


def test_sums_and_differences_of_a_loop_are_bounded_by_its_trips() -> None:
    v = body(
        """  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %ten = index.constant 10 : index
  %d = index.assume %a [range(%a, -3, 2)] : index
  %up, %down = scf.for %i = [%zero to %ten step %one](%s = %zero : index, %t = %ten : index) -> (index, index) {
    %s2 = index.add %s, %d : index
    %t2 = index.sub %t, %d : index
    scf.yield %s2, %t2 : index, index
  }
  %k = scf.switch %b -> (index) {
    case 0 {
      scf.yield %ten : index
    }
    default {
      scf.yield %d : index
    }
  }
"""
    )
    # Ten trips of -3 to 2.
    assert (facts_of(v["up"]).low, facts_of(v["up"]).high) == (-30, 20)
    assert (facts_of(v["down"]).low, facts_of(v["down"]).high) == (10 - 20, 10 + 30)
    assert (facts_of(v["k"]).low, facts_of(v["k"]).high) == (-3, 10)


def carried(following: str, start: str = "0") -> tuple[int, int]:
    """Bounds of a value that a loop of unknown length carries, from ``start`` on, made anew by ``following``."""
    v = body(
        f"""
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %three = index.constant 3 : index
  %start = index.constant {start} : index
  %last = scf.for %i = [%zero to %a step %one](%cur = %start : index) -> (index) {{
    {following}
    scf.yield %next : index
  }}
"""
    )
    analysis = FactAnalysis()
    # From whichever end it is asked, the answer is the same.
    either = [analysis.facts_of(v["next"]), FactAnalysis().facts_of(v["last"]), FactAnalysis().facts_of(v["cur"])]
    assert {(f.low, f.high) for f in either[1:]} == {
        (analysis.facts_of(v["cur"]).low, analysis.facts_of(v["cur"]).high)
    }
    return either[1].low, either[1].high


def test_values_that_a_loop_carries_are_bounded_by_induction() -> None:
    """The buffer numbers of double and triple buffering, halving and masking: sets that a trip maps into itself."""
    assert carried("%next = index.xori %cur, %one : index") == (0, 1)
    assert carried("%next = index.xori %cur, %three : index", "2") == (0, 3)
    assert carried("%next = index.shrui %cur, %one : index", "100") == (0, 100)
    assert carried("%up = index.add %cur, %one : index\n    %next = index.rem %up, %three : index") == (0, 2)
    assert carried("%up = index.add %cur, %one : index\n    %next = index.andi %up, %three : index") == (0, 3)


def test_values_that_grow_have_no_bound_by_induction() -> None:
    low, high = carried("%next = index.mul %cur, %three : index", "1")
    assert high == (1 << 63) - 1
    low, high = carried("%next = index.sub %one, %cur : index", "5")
    assert low <= -4 and high >= 5, "5, -4, 5, …"
