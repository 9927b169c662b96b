"""A tree of its own to migrate in: the workflow of this repository, chosen workloads, its own results."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]

CONFIG = """schema: loom.config.v0
workloads: {folder: workloads, select: all}
device: amdgpu-sim
results: results
compiler: {tolerance: 1.25}
measurement: {warmup_iterations: 1, min_time_ms: 1, max_batches: 2}
"""


@dataclass(frozen=True)
class Tree:
    """A folder with Snakefile, workflow, config, workloads."""

    root: Path

    def environment(self) -> dict[str, str]:
        """The environment of commands: this repository's package, or a copy's where the tree has one."""
        package = self.root if (self.root / "loom").is_dir() else REPOSITORY
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        return {**os.environ, "PYTHONPATH": str(package), "PATH": path}

    def run(self, *command: str, timeout: float = 900) -> subprocess.CompletedProcess[str]:
        """Run a command in the tree."""
        return subprocess.run(
            command, cwd=self.root, env=self.environment(), capture_output=True, text=True, timeout=timeout, check=False
        )

    def snakemake(self, *arguments: str, target: str = "evidence") -> subprocess.CompletedProcess[str]:
        """Run the workflow up to ``target``."""
        return self.run(
            sys.executable,
            "-m",
            "snakemake",
            "--profile=workflow/profiles/local",
            "--cores=2",
            *arguments,
            "--",
            target,
        )

    def stage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Call the stage tool."""
        return self.run(sys.executable, "-m", "loom.tools.loom_stage", *arguments)

    def verdict(self) -> dict[str, Any]:
        """The verdict as a document."""
        document = json.loads(self.stage("verdict", "--json").stdout)
        assert isinstance(document, dict)
        return document

    def steps(self, mark: int = 0) -> list[dict[str, Any]]:
        """Journal lines after a mark."""
        from loom.store.journal import Journal

        return list(Journal(self.root / "results" / "store").since(mark))

    def mark(self) -> int:
        """Where the journal ends now."""
        from loom.store.journal import Journal

        return Journal(self.root / "results" / "store").size()

    def executed(self, mark: int) -> list[tuple[str, str | None, str, str]]:
        """The steps that executed after a mark: (workload, form, stage, step), sorted."""
        return sorted(
            (
                (line["workload"], line["form"], line["stage"], line["step"])
                for line in self.steps(mark)
                if line["executed"]
            ),
            key=str,
        )


def make_tree(root: Path, *workloads: str, package: bool = False) -> Tree:
    """Lay out a tree with copies of this repository's workloads; with ``package`` with a copy of the package too."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copy(REPOSITORY / "Snakefile", root)
    shutil.copytree(REPOSITORY / "workflow", root / "workflow")
    (root / "config").mkdir()
    (root / "config" / "config.yaml").write_text(CONFIG)
    for name in workloads:
        shutil.copytree(REPOSITORY / "workloads" / name, root / "workloads" / name)
    if package:
        shutil.copytree(REPOSITORY / "loom", root / "loom", ignore=shutil.ignore_patterns("__pycache__"))
    return Tree(root)
