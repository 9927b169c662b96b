"""The workflow's own rules: configuration, planning, lint, dispatch."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from tests.workflow.trees import CONFIG, Tree, make_tree


def spent() -> float:
    """Seconds of processor time of all children that ended: what a busy machine does not change."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path / "tree", "saxpy")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("device: amdgpu-sim", "devise: amdgpu-sim"), ["unknown key 'devise'", "did you mean 'device'"]),
        (("device: amdgpu-sim", "device: gpu"), ["device is 'gpu'", "amdgpu-sim, amdgpu-hip"]),
        (("select: all", "select: [sxapy]"), ["no workload 'sxapy'", "saxpy"]),
        (("tolerance: 1.25", "tolerance: 0.5"), ["tolerance"]),
        (("min_time_ms: 1", "min_time: 1"), ["unknown key 'min_time'", "min_time_ms"]),
        (("results: results\n", ""), ["lacks the key 'results'"]),
        (("results: results", "results: [1"), ["not YAML"]),
    ],
)
def test_a_wrong_configuration_names_the_key_and_what_is_allowed(
    tree: Tree, change: tuple[str, str], words: list[str]
) -> None:
    assert change[0] in CONFIG
    (tree.root / "config/config.yaml").write_text(CONFIG.replace(*change))
    done = tree.stage("plan")
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    if "not YAML" not in words:
        workflow = tree.snakemake("--dry-run")
        assert workflow.returncode == 2
        for word in words:
            assert word in workflow.stderr
        assert "Traceback" not in workflow.stderr


def test_the_command_line_may_choose_workloads(tree: Tree) -> None:
    done = tree.run(
        sys.executable,
        "-m",
        "snakemake",
        "--profile=workflow/profiles/local",
        "--dry-run",
        "--config",
        "workloads={folder: workloads, select: [nothing]}",
        "--",
        "evidence",
    )
    assert done.returncode == 2 and "no workload 'nothing'" in done.stderr


def test_an_absent_device_is_exit_code_3(tree: Tree) -> None:
    (tree.root / "config/config.yaml").write_text(CONFIG.replace("amdgpu-sim", "amdgpu-hip"))
    done = tree.stage("run", "saxpy", "capture")
    assert done.returncode == 3, done.stderr
    assert tree.steps() == []


def test_unknown_stages_and_workloads_are_bad_usage(tree: Tree) -> None:
    for arguments in (["run", "saxpy", "capturing"], ["run", "nothing", "capture"], ["run", "saxpy", "raise"]):
        done = tree.stage(*arguments)
        assert done.returncode == 2, arguments
        assert "Traceback" not in done.stderr


def test_planning_all_workloads_takes_less_than_three_seconds(repository: Path, tmp_path: Path) -> None:
    names = [path.parent.name for path in (repository / "workloads").glob("*/workload.yaml")]
    assert len(names) >= 6
    tree = make_tree(tmp_path / "all", *names)
    best = 99.0
    for _ in range(3):
        started = spent()
        done = tree.snakemake("--dry-run", "--quiet")
        best = min(best, spent() - started)
        assert done.returncode == 0, done.stderr
    assert best < 3.0


def test_the_workflow_is_lint_clean(tree: Tree) -> None:
    done = tree.run(sys.executable, "-m", "snakemake", "--lint")
    assert done.returncode == 0, done.stderr
    assert "Congratulations" in done.stdout + done.stderr


@pytest.mark.parametrize("profile", ["local", "slurm", "cluster-generic"])
def test_every_profile_plans(tree: Tree, profile: str) -> None:
    done = tree.run(
        sys.executable, "-m", "snakemake", f"--profile=workflow/profiles/{profile}", "--dry-run", "--", "evidence"
    )
    assert done.returncode == 0, done.stderr


def test_gpu_stages_ask_for_a_gpu(tree: Tree) -> None:
    (tree.root / "config/config.yaml").write_text(CONFIG.replace("amdgpu-sim", "amdgpu-hip"))
    done = tree.run(
        sys.executable, "-m", "snakemake", "--profile=workflow/profiles/local", "-n", "--quiet=host", "--", "evidence"
    )
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert "gpu=1" in text
