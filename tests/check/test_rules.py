"""Every rule of the check language has a case in the corpus that shows it, and that case passes.

The table is the list of the rules, in the order in which the language reference states them; what cannot be seen in a
passing case (an order of samples, a reason for a skip) is asserted here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loom.check.execute import Files
from loom.check.executor import ReferenceExecutor, RunOptions
from loom.check.plan import benchmarks, plan_benchmark
from loom.check.testing import Selection, run_tests
from loom.text import parse_module

CHECKS = Path(__file__).resolve().parents[1] / "corpus" / "checks"
APPENDIX = CHECKS.parent / "appendix"

#: Rule → file and case, scenario or benchmark.
RULES = {
    "an unregistered provider skips": ("rules", "skipped_unregistered"),
    "a provider that cannot answer skips": ("rules", "skipped"),
    "an unmet requirement skips": ("rules", "skipped_unsatisfied"),
    "a matched predicate skips": ("rules", "skipped_matched"),
    "a requirement that is met runs": ("rules", "enough_memory"),
    "requirements are evaluated before values": ("rules", "skipped_unregistered"),
    "requirements are evaluated in source order": ("rules", "skipped_unsatisfied"),
    "the first parameter varies fastest": ("rules", "parameters"),
    "a case without parameters is one sample": ("rules", "random_words"),
    "choice keeps its order": ("rules", "unnamed"),
    "seed counts up": ("rules", "parameters"),
    "linear steps by one without a step": ("rules", "unnamed"),
    "linear steps of integers": ("rules", "parameters"),
    "linear steps of floats": ("rules", "float_range"),
    "po2 lies within its bounds": ("rules", "powers"),
    "a parameter may have no name": ("rules", "unnamed"),
    "values, then calls and launches, then expectations": ("phases", "interleaved"),
    "calls and launches run in source order": ("phases", "interleaved"),
    "launches write their tensors in place": ("phases", "storage"),
    "every generator has storage of its own": ("phases", "storage"),
    "a tensor view aliases its base": ("phases", "storage"),
    "a tensor view may change shape": ("rules", "aliases"),
    "dynamic extents take parameter values": ("phases", "extents"),
    "a launch passes the whole tensor": ("phases", "extents"),
    "results of calls are arguments of later ones": ("phases", "calls_and_launches"),
    "fill on integers, within the signed range": ("rules", "integers"),
    "fill on floats takes integers and floats": ("rules", "rounding"),
    "narrow floats go through f32": ("rules", "rounding"),
    "f8E4M3 saturates": ("rules", "rounding"),
    "iota on integers is exact": ("rules", "integers"),
    "iota has a period": ("rules", "aliases"),
    "iota on floats is made in f64": ("rules", "rounding"),
    "uniform integers include both bounds": ("rules", "integers"),
    "the words of the generator": ("rules", "random_words"),
    "uniform floats": ("rules", "random_words"),
    "equal generators give equal tensors": ("rules", "random"),
    "files are read": ("rules", "random_words"),
    "equal takes -0 for +0": ("rules", "zeros"),
    "bitwise compares bytes": ("phases", "extents"),
    "close is inclusive": ("rules", "closeness"),
    "close is relative to what is expected": ("rules", "closeness"),
    "close on scalars": ("rules", "closeness"),
    "equal infinities match": ("rules", "closeness"),
    "NaNs match only where asked for": ("rules", "zeros"),
    "shape, static and dynamic": ("rules", "parameters"),
    "events are counted": ("rules", "enough_memory"),
    "expectation providers": ("rules", "closeness"),
    "oracle of float matrices": ("rules", "oracle"),
    "oracle of integer matrices": ("rules", "integer_oracle"),
    "oracle of tiled matrices": ("rules", "tiled_oracle"),
    "a benchmark pins parameters": ("rules", "pinned"),
    "a benchmark is named after its case": ("phases", "extents"),
    "parameters that are not pinned expand": ("phases", "one_size"),
    "configure repeats all trials": ("rules", "configured"),
    "configuration entropy is shared": ("rules", "configured"),
    "a trial repeats its body": ("rules", "trials"),
    "a scenario holds several trials": ("rules", "trials"),
    "invoke only runs": ("rules", "trials"),
    "compare with another function": ("rules", "trials"),
    "compare with the reference executor": ("rules", "configured"),
    "reading entropy changes nothing": ("rules", "trials"),
    "forks have names": ("rules", "trials"),
}


def outcome(stem: str, selection: Selection | None = None) -> dict[str, Any]:
    path = CHECKS / f"{stem}.loom"
    module = parse_module(path.read_text(), str(path))
    options = RunOptions()
    files = Files(CHECKS, CHECKS)
    return run_tests(module, lambda: ReferenceExecutor(module, options), options, files, selection).to_json()


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    return {stem: outcome(stem) for stem in ("rules", "phases")}


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_has_a_case(rule: str, documents: dict[str, dict[str, Any]]) -> None:
    stem, name = RULES[rule]
    document = documents[stem]
    samples = [sample for sample in document["samples"] if sample["case"] == name]
    skips = [skip for skip in document["skipped_cases"] if skip["case"] == name]
    module = parse_module((CHECKS / f"{stem}.loom").read_text(), stem)
    plans = [plan_benchmark(op, module) for op in benchmarks(module)]
    assert samples or skips or name in {plan.name for plan in plans if not hasattr(plan, "code")}
    assert all(sample["passed"] for sample in samples)
    assert bool(skips) == name.startswith("skipped")


def test_every_case_of_the_rules_shows_one(documents: dict[str, dict[str, Any]]) -> None:
    shown = {(stem, name) for stem, name in RULES.values()}
    for stem, document in documents.items():
        names = {sample["case"] for sample in document["samples"]} | {s["case"] for s in document["skipped_cases"]}
        assert {(stem, name) for name in names} <= shown


def test_reasons_of_skips(documents: dict[str, dict[str, Any]]) -> None:
    found = {skip["case"]: (skip["reason_code"], skip["provider"]) for skip in documents["rules"]["skipped_cases"]}
    assert found == {
        "skipped": ("provider_unavailable", "hal.vulkan.feature"),
        "skipped_unregistered": ("provider_not_registered", "no.such.provider"),
        "skipped_unsatisfied": ("requirement_not_satisfied", "device.memory"),
        "skipped_matched": ("skip_predicate_matched", "device.memory"),
    }
    (matched,) = [skip for skip in documents["rules"]["skipped_cases"] if skip["case"] == "skipped_matched"]
    assert matched["message"] == "there is always a byte"


def parameters(documents: dict[str, dict[str, Any]], stem: str, case: str) -> list[dict[str, Any]]:
    samples = [sample for sample in documents[stem]["samples"] if sample["case"] == case]
    assert [sample["sample_ordinal"] for sample in samples] == list(range(len(samples)))
    return [sample["parameters"] for sample in samples]


def test_orders_of_samples(documents: dict[str, dict[str, Any]]) -> None:
    """Written out by hand: sample n takes value n mod c of a parameter with c values, and n div c goes on."""
    assert parameters(documents, "rules", "parameters") == [
        {"n": n, "p": p, "seed": seed} for seed in (7, 8) for p in (16, 32) for n in (1, 3, 5)
    ]
    assert parameters(documents, "rules", "float_range") == [{"x": 0.5}, {"x": 0.75}, {"x": 1.0}]
    assert parameters(documents, "rules", "powers") == [{"p": p, "q": 1} for p in (4, 8, 16, 32)]
    assert parameters(documents, "rules", "unnamed") == [{"n": n, "flag": f} for f in (0.5, 2.0) for n in (-1, 0, 1)]
    assert parameters(documents, "phases", "extents") == [
        {"count": count, "step": step} for step in (-1, 1000000) for count in (1, 4, 7)
    ]


def test_the_product_is_capped() -> None:
    document = outcome("rules", Selection(("parameters",), max_samples=5))
    assert [sample["sample_ordinal"] for sample in document["samples"]] == [0, 1, 2, 3, 4]
    document = outcome("rules", Selection(("parameters",), sample=11))
    assert [sample["parameters"] for sample in document["samples"]] == [{"n": 5, "p": 32, "seed": 8}]


def test_samples_of_scenarios(documents: dict[str, dict[str, Any]]) -> None:
    found = {
        name: [(s["configuration"], s["trial"], s["trial_ordinal"]) for s in documents["rules"]["samples"] if s["case"] == name]
        for name in ("configured", "trials")
    }  # fmt: skip
    assert found["configured"] == [(c, 0, n) for c in (0, 1) for n in (0, 1, 2)]
    assert found["trials"] == [(0, 0, n) for n in (0, 1)] + [(0, 1, n) for n in range(4)]


def test_benchmarks_of_the_rules() -> None:
    """Pinned parameters have one value; the others expand, and the default name is the case's without ``_case``."""
    plans = {}
    for path in (CHECKS / "rules.loom", CHECKS / "phases.loom", APPENDIX / "01_axpy.loom"):
        module = parse_module(path.read_text(), str(path))
        for op in benchmarks(module):
            plan = plan_benchmark(op, module)
            assert not hasattr(plan, "code")
            plans[plan.name] = [list(domain.values) for domain in plan.domains()]
    assert plans == {
        "pinned": [[3], [16], [7, 8]],
        "extents": [[1, 4, 7], [-1, 1000000]],
        "one_size": [[4], [-1, 1000000]],
        "axpy_tail": [[300]],
    }
