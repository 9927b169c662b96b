"""How fast kernels are lifted, and whether the time grows with their size only.

    python benchmarks/lift.py [FILE ...] [--json]

Processor time, so that a busy machine does not disturb. Without files: the objects under tests/native and the large
kernel under benchmarks/kernels. Times cover decoding, building SSA over physical registers, and naming; printing is
timed apart.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path

from loom import print_module
from loom.diagnostics import LoomError
from loom.raising.lift import lift
from loom.raising.lift.native import kernel_names

ROOT = Path(__file__).resolve().parents[1]


def measure(path: Path, kernel: str) -> dict[str, object]:
    data = path.read_bytes()
    gc.collect()  # what the kernel before has left is not this one's
    start = time.process_time()
    lifted = lift(data, kernel)
    seconds = time.process_time() - start
    start = time.process_time()
    text = print_module(lifted.module)
    printing = time.process_time() - start
    return {
        "file": path.name,
        "kernel": kernel,
        "instructions": lifted.instructions,
        "seconds": round(seconds, 4),
        "per_second": round(lifted.instructions / seconds),
        "print_seconds": round(printing, 4),
        "text_bytes": len(text),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    files = args.files
    if not files:
        files = [*sorted(ROOT.glob("tests/native/*/*/*.hsaco")), *sorted(ROOT.glob("benchmarks/kernels/*.hsaco"))]
    rows = []
    for path in files:
        for kernel in kernel_names(path.read_bytes()):
            try:
                measure(path, kernel)  # tables and caches warm
                rows.append(measure(path, kernel))
            except LoomError as failure:
                print(f"{path.name} {kernel}: {failure}", file=sys.stderr)
    rows.sort(key=lambda row: row["instructions"])
    if args.json:
        print(json.dumps(rows, indent=1))
        return 0
    print(f"{'instructions':>12} {'ms':>9} {'per second':>11} {'print ms':>9}  kernel")
    for row in rows:
        print(
            f"{row['instructions']:>12} {row['seconds'] * 1e3:>9.2f} {row['per_second']:>11,} "
            f"{row['print_seconds'] * 1e3:>9.2f}  {row['file']} {row['kernel']}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
