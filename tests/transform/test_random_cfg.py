"""Random control flow graphs, made structured and run on the reference device, against a walk over the graph in Python.

Every block changes a word by its number and a value of a dominating block, and decides by the word where to go; a
budget that each block counts down ends every walk. Reducible and irreducible graphs occur, with loops that are left
from several places and to several places.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

import loom
from loom.check.execute import Files
from loom.check.executor import ReferenceExecutor, RunOptions
from loom.check.testing import run_tests
from loom.ir.dominance import immediate_dominators
from loom.transform.passes import PassContext, run_passes
from loom.transform.reduce_cfg import is_reducible
from tests.transform.conftest import TARGET

GRAPHS = int(os.environ.get("LOOM_RANDOM_GRAPHS", "150"))
MASK = 0xFFFFFFFF
BUDGET = 40
FILES = Files(Path(), Path())


@dataclass
class Graph:
    """Block k goes to ``then[k]`` or ``other[k]``; -1 ends. ``extra[k]`` is the dominating block whose word it adds."""

    then: list[int]
    other: list[int]
    bit: list[int]
    extra: list[int]

    def walk(self, word: int) -> int:
        """The result for a starting word."""
        budget = BUDGET
        block = 0
        last: dict[int, int] = {}
        while block >= 0:
            word = (word * 5 + block + 1) & MASK
            last[block] = word
            word = (word + last[self.extra[block]]) & MASK
            budget -= 1
            if budget <= 0:
                return word ^ 0x55
            block = self.then[block] if word >> self.bit[block] & 1 else self.other[block]
        return word

    def text(self) -> str:
        lines = [
            "func.def @f(%start: i32) -> (i32) {",
            "  %zero = scalar.constant 0 : i32",
            "  %one = scalar.constant 1 : i32",
            "  %five = scalar.constant 5 : i32",
            "  %mark = scalar.constant 85 : i32",
            f"  %budget = scalar.constant {BUDGET} : i32",
            "  cfg.br ^b0(%start: i32, %budget: i32)",
        ]
        for k, (then, other) in enumerate(zip(self.then, self.other, strict=True)):
            lines += [
                f"^b{k}(%in{k}: i32, %left{k}: i32):",
                f"  %p{k} = scalar.muli %in{k}, %five : i32",
                f"  %n{k} = scalar.constant {k + 1} : i32",
                f"  %w{k} = scalar.addi %p{k}, %n{k} : i32",
                f"  %x{k} = scalar.addi %w{k}, %w{self.extra[k]} : i32",
                f"  %c{k} = scalar.subi %left{k}, %one : i32",
                f"  %end{k} = scalar.cmpi sle, %c{k}, %zero : i32",
                f"  cfg.cond_br %end{k}, ^spent{k}, ^decide{k}",
                f"^spent{k}:",
                f"  %m{k} = scalar.xori %x{k}, %mark : i32",
                f"  func.return %m{k} : i32",
                f"^decide{k}:",
                f"  %s{k} = scalar.constant {self.bit[k]} : i32",
                f"  %h{k} = scalar.shrui %x{k}, %s{k} : i32",
                f"  %l{k} = scalar.andi %h{k}, %one : i32",
                f"  %d{k} = scalar.cmpi ne, %l{k}, %zero : i32",
                f"  cfg.cond_br %d{k}, ^then{k}, ^other{k}",
            ]
            for name, target in (("then", then), ("other", other)):
                lines.append(f"^{name}{k}:")
                ahead = f"cfg.br ^b{target}(%x{k}: i32, %c{k}: i32)"
                lines.append(f"  {ahead}" if target >= 0 else f"  func.return %x{k} : i32")
        return "\n".join([*lines, "}", ""])


def random_graph(seed: int) -> Graph:
    source = random.Random(seed)
    count = source.randint(2, 8)
    then, other = [], []
    for k in range(count):
        # Mostly forward, sometimes back: about a tenth of the graphs is irreducible.
        choices = [t for t in range(-1, count) if t > k or t == -1 or source.random() < 0.35]
        then.append(source.choice(choices))
        other.append(source.choice(choices))
    graph = Graph(then, other, [source.randint(0, 7) for _ in range(count)], list(range(count)))
    # A value of a block that dominates: it lives across the branches without being passed.
    module = loom.parse(graph.text())
    region = module.symbol("f").regions[0]  # type: ignore[union-attr]
    immediate = immediate_dominators(region)
    named = {block.label: block for block in region.blocks}
    for k in range(count):
        above, found = named[f"b{k}"], []
        while above in immediate and immediate[above] is not above:
            above = immediate[above]
            if above.label is not None and above.label.startswith("b") and above.label[1:].isdigit():
                found.append(int(above.label[1:]))
        if found and source.random() < 0.7:
            graph.extra[k] = source.choice(found)
    return graph


@pytest.mark.parametrize("first", range(0, GRAPHS, 10))
def test_random_graphs(first: int) -> None:
    for seed in range(first, first + 10):
        graph = random_graph(seed)
        words = [0, 1, 77, 123456789, 0x7FFFFFFF]
        text = graph.text()
        for word in words:
            found = graph.walk(word)
            signed = found - (1 << 32) if found >> 31 else found
            text += (
                f"check.case @c{word} {{\n  %x = check.literal value({word}) : i32\n"
                f"  %e = check.literal value({signed}) : i32\n  %r = func.call @f(%x) : (i32) -> (i32)\n"
                "  check.expect.equal actual(%r) expected(%e) : i32\n  check.return\n}\n"
            )
        module = loom.parse(text, f"graph{seed}.loom")
        loom.verify(module)
        run_passes(module, ["inline"], PassContext(target=TARGET))
        loom.verify(module)
        function = module.symbol("f")
        assert function is not None and len(function.regions[0].blocks) == 1
        assert "cfg." not in loom.print_module(module)
        options = RunOptions()
        document = run_tests(module, lambda m=module, o=options: ReferenceExecutor(m, o), options, FILES).to_json()
        assert [s for s in document["samples"] if not s["passed"]] == [], f"seed {seed}:\n{text}"
        assert document["sample_count"] == len(words)


def test_both_kinds_of_graphs_occur() -> None:
    kinds = [is_reducible(loom.parse(random_graph(seed).text()).symbol("f").regions[0]) for seed in range(60)]  # type: ignore[union-attr]
    assert 10 < sum(kinds) < 58
