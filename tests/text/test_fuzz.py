"""Twenty-four thousand mutated modules: diagnostics only, no crash, no hang, printing a fixed point."""

from __future__ import annotations

from tests.text.fuzz import run

MODULES = 24_000


def test_mutated_modules_give_diagnostics_and_nothing_else() -> None:
    outcome = run(MODULES, seed=20)
    assert outcome.failure is None, f"{outcome.text}\n{outcome.failure}"
    assert outcome.modules == MODULES
    # The mutations reach all stages, and most kinds of diagnostics.
    assert outcome.valid > 500
    assert outcome.verify_errors > 1000
    assert len(outcome.codes) > 60
