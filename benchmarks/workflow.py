"""Workflow overhead: from scratch, with nothing to do, after edits, and planning 1,000 workloads.

Run it with ``python benchmarks/workflow.py [--planning-only] [--synthetic=N] [--json=FILE]``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.workflow.trees import REPOSITORY, Tree, make_tree

ORIGIN = "  %origin = index.constant 0 : offset\n"


def timed(tree: Tree, *arguments: str) -> tuple[float, str]:
    """Seconds of a workflow run, and the end of what it said where it failed."""
    started = time.perf_counter()
    done = tree.snakemake(*arguments)
    seconds = time.perf_counter() - started
    return seconds, "" if done.returncode == 0 else done.stderr[-2000:]


def planning(folder: Path, count: int) -> dict[str, Any]:
    """Time of ``snakemake --dry-run`` for ``count`` copies of one workload."""
    tree = make_tree(folder / f"planning{count}")
    source = REPOSITORY / "workloads" / "saxpy"
    for index in range(count):
        name = f"saxpy_{index:04}"
        target = tree.root / "workloads" / name
        shutil.copytree(source, target)
        text = (target / "workload.yaml").read_text().replace("name: saxpy\n", f"name: {name}\n", 1)
        (target / "workload.yaml").write_text(text)
    seconds, said = timed(tree, "--dry-run", "--quiet")
    return {"workloads": count, "seconds": round(seconds, 2), "failed": said}


def incremental(folder: Path) -> dict[str, Any]:
    """A migration of every workload from scratch, again, and after edits; counts are action-cache misses."""
    names = sorted(path.parent.name for path in (REPOSITORY / "workloads").glob("*/workload.yaml"))
    tree = make_tree(folder / "migrate", *names)
    rows: dict[str, Any] = {}

    def measure(what: str) -> None:
        mark = tree.mark()
        seconds, said = timed(tree)
        steps = tree.steps(mark)
        executed = sum(1 for step in steps if step["executed"])
        rows[what] = {
            "seconds": round(seconds, 2),
            "steps_executed": executed,
            "steps_from_cache": len(steps) - executed,
            "failed": said,
        }

    measure("from scratch")
    measure("nothing changed")
    form = next((tree.root / "workloads" / names[0] / "raised").glob("*.loom"))
    form.write_text("// a comment\n" + form.read_text())
    measure("a comment in one form")
    text = form.read_text()
    form.write_text(text.replace(ORIGIN, ORIGIN + "  %unused = index.constant 1 : offset\n", 1))
    measure("one form edited")
    shutil.rmtree(tree.root / "results" / "workloads")
    measure("results/workloads deleted")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--planning-only", action="store_true")
    parser.add_argument("--synthetic", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="loom-workflow-") as name:
        folder = Path(name)
        result: dict[str, Any] = {"planning": [planning(folder, 6), planning(folder, args.synthetic)]}
        for row in result["planning"]:
            print(f"planning {row['workloads']:5} workloads: {row['seconds']:8.2f} s {row['failed']}")
        if not args.planning_only:
            result["migrate"] = incremental(folder)
            for what, row in result["migrate"].items():
                print(
                    f"{what:28} {row['seconds']:8.2f} s, {row['steps_executed']:4} steps executed,"
                    f" {row['steps_from_cache']:4} from the cache {row['failed']}"
                )
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
