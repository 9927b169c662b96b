"""A form that ``workload.yaml`` launches otherwise than its source states is refused, and both places are named."""

from __future__ import annotations

from pathlib import Path

import pytest

import loom
from loom.raising.ladder.geometry import check_launch
from loom.store.workload import load_workload
from tests.workflow.trees import Tree, make_tree

WORKLOAD = "workloads/saxpy/workload.yaml"
SOURCE = "workloads/saxpy/raised/elementwise.loom"
SIZE = "workgroup_size: [256, 1, 1]"
GROUPS = 'workgroups: ["cdiv(n, 256)", 1, 1]'


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path / "tree", "saxpy")


def _change(tree: Tree, name: str, old: str, new: str) -> int:
    """Replace a text that stands there once; gives its line."""
    path = tree.root / name
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        (WORKLOAD, SIZE, "workgroup_size: [128, 1, 1]", ["workgroup_size 128,1,1 on shape 'million'", "256,1,1"]),
        # 1,048,576 elements: 2,048 groups of 512, 4,096 of 256.
        (
            WORKLOAD,
            GROUPS,
            'workgroups: ["cdiv(n, 512)", 1, 1]',
            ["workgroups 2048,1,1 on shape 'million'", "4096,1,1"],
        ),
        (WORKLOAD, "workload: [n]", "workload: [256]", ["workgroups 4096,1,1 on shape 'million'", "states 1,1,1"]),
        (WORKLOAD, "workload: [n]", "workload: [n, n]", ["takes 1 workload values, not 2"]),
        (WORKLOAD, 'root: "@saxpy"', 'root: "@other"', ["has no kernel @other"]),
        (
            SOURCE,
            "%lanes = index.constant 256",
            "%lanes = index.constant 64",
            ["workgroups 4096,1,1", "states 16387,1,1"],
        ),
        # Right for a million elements and wrong for the 256 of the next shape.
        (WORKLOAD, GROUPS, 'workgroups: ["max(cdiv(n, 256), 2)", 1, 1]', ["2,1,1 on shape 'block'", "states 1,1,1"]),
    ],
)
def test_another_launch_is_refused(tree: Tree, name: str, old: str, new: str, words: list[str]) -> None:
    _change(tree, name, old, new)
    done = tree.stage("run", "saxpy", "raise", "--form=elementwise")
    assert done.returncode == 2, done.stderr
    for word in ("form 'elementwise'", "WORKLOAD/008", *words):
        assert word in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tree.root / "results/workloads/saxpy/forms/elementwise/raise.json").exists()


def test_both_places_are_named(tree: Tree) -> None:
    line = _change(tree, WORKLOAD, SIZE, "workgroup_size: [64, 1, 1]")
    stderr = tree.stage("run", "saxpy", "raise", "--form=elementwise").stderr
    source = (tree.root / SOURCE).read_text()
    region = source[: source.index("kernel.launch.config")].count("\n") + 1
    assert f"workload.yaml:{line}:" in stderr
    assert f"elementwise.loom:{region}:3" in stderr


def test_a_launch_of_the_forms_own(tree: Tree) -> None:
    """A form may be cut otherwise than the native kernel: then it says so, and its source agrees."""
    _change(tree, SOURCE, "%lanes = index.constant 256", "%lanes = index.constant 128")
    _change(tree, SOURCE, "%pad = index.constant 255", "%pad = index.constant 127")
    own = 'launch: {workgroups: ["cdiv(n, 128)", 1, 1], workgroup_size: [128, 1, 1]}'
    _change(tree, WORKLOAD, "    workload: [n]\n", f"    workload: [n]\n    {own}\n")
    workload = load_workload(tree.root / WORKLOAD)
    module = loom.parse((tree.root / SOURCE).read_text(), SOURCE)
    check_launch(workload, workload.form("elementwise"), module)


@pytest.mark.parametrize("name", ["pkswap", "reduce", "saxpy", "sgemm", "softmax", "wmma"])
def test_the_kept_workloads_agree(repository: Path, name: str) -> None:
    workload = load_workload(repository / "workloads" / name / "workload.yaml")
    assert workload.forms
    for form in workload.forms:
        check_launch(workload, form, loom.parse((workload.folder / form.source).read_text(), form.source))
