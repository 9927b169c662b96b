"""A fuzz target: mutated modules go through parser, verifier and printer; nothing but diagnostics may come out.

    python -m tests.text.fuzz [--count N] [--seed N]

Prints one JSON line with counts, and the first failing text when there is one.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import time
import traceback
from dataclasses import dataclass, field

import loom
from loom.diagnostics import LoomError
from loom.ir.codes import CODES
from loom.ir.verifier import check
from tests.text.corpus import VALID, invalid_cases

_TOKEN = re.compile(r"[%@#^]?[\w.$-]+|\s+|.", re.DOTALL)
_LARGEST = 1800
_SPICE = (
    "%", "@", "#", "^", "{", "}", "(", ")", "[", "]", "<", ">", "->", ",", ":", "=", "|", '"', "\\", "\0", "é", "//", "loc(",
    "0x", "-1", "1e999", "nan", "99999999999999999999", "vector<", "view<[%n]xf32>", "reg<a.b x2 @ 4>", "asm", "else", "do",
    "where", "%0", "\n", "\n\n", "tensor<0x0xf32>", "index", "i1", "scf.yield", "func.return", "low.return", "^bb0:", "as",
)  # fmt: skip


@dataclass
class Outcome:
    """What a run saw."""

    modules: int = 0
    valid: int = 0
    parse_errors: int = 0
    verify_errors: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    codes: set[str] = field(default_factory=set)
    failure: str | None = None
    text: str | None = None


def seeds() -> list[str]:
    """Return small modules: the invalid cases, and the valid programs cut at their symbols."""
    texts = [case.text for case in invalid_cases()]
    for path in VALID:
        text = path.read_text(encoding="utf-8")
        texts.extend(part for part in text.split("\n\n") if part.strip())
        if len(text) <= 2 * _LARGEST:
            texts.extend([text] * 8)
    return [t for t in texts if len(t) <= 2 * _LARGEST]


def _class(token: str) -> str:
    first = token[0]
    return "a" if first.isalpha() else "0" if first.isdigit() else first if first in "%@#^" else "other"


def mutate(text: str, words: list[str], classes: dict[str, list[str]], rng: random.Random) -> str:
    """Change a text in a few places."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3, 5))):
        if not tokens:
            break
        i = rng.randrange(len(tokens))
        kind = rng.randrange(14)
        if kind >= 8:
            # A token of the same kind: the text is likely to parse, and to mean something else.
            while not tokens[i].strip() and any(t.strip() for t in tokens):
                i = rng.randrange(len(tokens))
            tokens[i] = rng.choice(classes[_class(tokens[i])])
        elif kind == 0:
            del tokens[i]
        elif kind == 1:
            tokens.insert(i, rng.choice(words))
        elif kind == 2:
            tokens[i] = rng.choice(words)
        elif kind == 3:
            tokens[i] = rng.choice(_SPICE)
        elif kind == 4:
            tokens.insert(i, rng.choice(_SPICE))
        elif kind == 5:
            j = rng.randrange(len(tokens))
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind == 6:
            j = min(len(tokens), i + rng.randrange(1, 12))
            tokens[i:i] = tokens[i:j]
        else:
            del tokens[i : i + rng.randrange(1, 12)]
    return "".join(tokens)


def attempt(text: str, outcome: Outcome) -> None:
    """Put one text through everything; assertion errors and other exceptions are failures."""
    outcome.modules += 1
    try:
        module = loom.parse(text, "fuzz.loom")
    except LoomError as failure:
        outcome.parse_errors += 1
        outcome.codes.update(d.code for d in failure.diagnostics)
        assert 1 <= len(failure.diagnostics) <= 20
        assert all(d.location is not None and d.code in CODES for d in failure.diagnostics)
        return
    problems = check(module)
    outcome.codes.update(d.code for d in problems)
    assert all(d.code in CODES for d in problems)
    printed = loom.print_module(module)
    again = loom.parse(printed, "printed.loom")
    assert loom.print_module(again) == printed, "printing is no fixed point"
    assert again.semantic_hash() == module.semantic_hash()
    assert sorted(d.code for d in check(again)) == sorted(d.code for d in problems)
    if problems:
        outcome.verify_errors += 1
    else:
        outcome.valid += 1


#: A module of a few hundred lines takes milliseconds; after this much processor time it hangs.
HANG_SECONDS = 60.0


def _hang(signum: int, frame: object) -> None:
    raise TimeoutError(f"no answer after {HANG_SECONDS} s of processor time")


def run(count: int, seed: int) -> Outcome:
    """Try ``count`` mutated modules; stop at the first failure."""
    rng = random.Random(seed)
    pool = seeds()
    words = sorted({t for text in pool for t in _TOKEN.findall(text) if t.strip()} | {" "})
    classes: dict[str, list[str]] = {}
    for word in words:
        classes.setdefault(_class(word), []).append(word)
    outcome = Outcome()
    signal.signal(signal.SIGVTALRM, _hang)
    begin = time.monotonic()
    for _ in range(count):
        text = mutate(rng.choice(pool), words, classes, rng)
        start = time.monotonic()
        # Processor time, so that a busy machine is not taken for a hang.
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG_SECONDS)
        try:
            attempt(text, outcome)
        except Exception:
            outcome.failure = traceback.format_exc(limit=-4)
            outcome.text = text
            break
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        outcome.slowest = max(outcome.slowest, time.monotonic() - start)
    outcome.seconds = time.monotonic() - begin
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    outcome = run(arguments.count, arguments.seed)
    shown = {k: v for k, v in vars(outcome).items() if k not in ("codes", "text", "failure")}
    print(json.dumps({**shown, "codes": len(outcome.codes)}))
    if outcome.failure is not None:
        print(outcome.text)
        print(outcome.failure)
        raise SystemExit(1)


if __name__ == "__main__":
    main()
