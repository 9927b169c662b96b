"""Lines per second for parse and verify, and for print; cold time of the command line.

    python benchmarks/parse.py [--lines N] [--repeat N]

The input is made of the corpus programs, repeated with other symbol names until it has the wanted number of lines. The
public C tool answers on a 100-line file in about 2 ms; the output says how many times slower ours is.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOAL_LINES_PER_SECOND = 40_000
GOAL_COLD_SECONDS = 0.25
PUBLIC_TOOL_SECONDS = 0.002


def corpus_text(lines: int) -> str:
    """Return a module of about that many lines, from the appendix programs that need no target."""
    names = ("01_axpy", "02_row_softmax", "03_tiled_matmul", "04_lane_exchange", "09_packet_math", "11_histogram")
    programs = [(ROOT / "tests/corpus/appendix" / f"{n}.loom").read_text(encoding="utf-8") for n in names]
    parts: list[str] = []
    count = 0
    copy = 0
    while count < lines:
        program = programs[copy % len(programs)]
        parts.append(re.sub(r"@([a-z_]\w*)", rf"@\1_{copy}", program))
        count += program.count("\n") + 1
        copy += 1
    return "\n".join(parts)


def best_of(
    repeat: int, clock: Callable[[], float], function: Callable[..., object], *arguments: object
) -> tuple[float, object]:
    """Return the least time of several runs by a clock, and the last result."""
    best = float("inf")
    result: object = None
    for _ in range(repeat):
        start = clock()
        result = function(*arguments)
        best = min(best, clock() - start)
    return best, result


def measure(lines: int, repeat: int) -> dict[str, object]:
    """Measure everything. Throughput is per second of processor time, the command's time is wall time."""
    import loom

    text = corpus_text(lines)
    count = text.count("\n") + 1

    def load() -> object:
        module = loom.parse(text, "benchmark.loom")
        loom.verify(module)
        return module

    parse_seconds, _ = best_of(repeat, time.process_time, loom.parse, text, "benchmark.loom")
    load_seconds, module = best_of(repeat, time.process_time, load)
    print_seconds, _ = best_of(repeat, time.process_time, loom.print_module, module)
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.loom"
        small.write_text("\n".join(corpus_text(90).split("\n")), encoding="utf-8")
        small_lines = small.read_text(encoding="utf-8").count("\n") + 1
        command = [sys.executable, "-m", "loom.tools.loom_format", "--check", str(small)]
        subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
        cold_seconds, _ = best_of(
            repeat, time.perf_counter, lambda: subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
        )
    return {
        "lines": count,
        "parse_lines_per_second": round(count / parse_seconds),
        "parse_and_verify_lines_per_second": round(count / load_seconds),
        "print_lines_per_second": round(count / print_seconds),
        "goal_lines_per_second": GOAL_LINES_PER_SECOND,
        "cold_command_lines": small_lines,
        "cold_command_seconds": round(cold_seconds, 4),
        "goal_cold_seconds": GOAL_COLD_SECONDS,
        "public_tool_seconds": PUBLIC_TOOL_SECONDS,
        "times_slower_than_public_tool": round(cold_seconds / PUBLIC_TOOL_SECONDS),
    }


def main() -> None:
    """Print the measurements as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.lines, arguments.repeat), indent=2))


if __name__ == "__main__":
    main()
