"""What executes after which change, counted in action-cache misses on a tree of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from loom.store.actions import Store
from loom.store.maintenance import verify
from tests.workflow.trees import Tree, make_tree

FORM = "workloads/saxpy/raised/elementwise.loom"


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The saxpy ladder, run once from scratch; tests that spoil it work on copies."""
    tree = make_tree(tmp_path_factory.mktemp("migrated"), "saxpy")
    done = tree.snakemake()
    assert done.returncode == 0, done.stderr[-4000:]
    return tree


@pytest.fixture
def tree(migrated: Tree, tmp_path: Path) -> Iterator[Tree]:
    """A copy of the migrated tree, times of files included."""
    shutil.copytree(migrated.root, tmp_path / "tree", symlinks=True)
    yield Tree(tmp_path / "tree")


def rerun(tree: Tree) -> list[tuple[str, str | None, str, str]]:
    """Run the workflow again; return what executed."""
    mark = tree.mark()
    done = tree.snakemake()
    assert done.returncode == 0, done.stderr[-4000:]
    return tree.executed(mark)


def stages(executed: list[tuple[str, str | None, str, str]]) -> set[str]:
    return {stage for _, _, stage, _ in executed}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_ladder_of_saxpy(migrated: Tree) -> None:
    rows = {row["form"]: row for row in migrated.verdict()["rows"]}
    assert list(rows) == ["oracle", "relaxed_allocation", "relaxed_schedule", "elementwise"]
    assert rows["oracle"]["bytes_equal"] == "passed" and rows["oracle"]["class"] == "identical"
    assert {row["numerically_equal"] for row in rows.values()} == {"passed"}
    assert {row["physical"] for row in rows.values()} == {"unavailable"}
    assert rows["elementwise"]["bytes_equal"] == "different"
    # 4096 workgroups of 8 waves, and the instructions of the .s file: 17, of which two are waits, one a nop and two
    # hints (s_clause, s_sendmsg counts).
    native = rows["oracle"]["executed"]["native"]
    assert native == rows["oracle"]["executed"]["form"]
    assert native % (4096 * 8) == 0 and 10 <= native // (4096 * 8) <= 17
    acceptance = migrated.verdict()["acceptance"]["saxpy"]
    assert acceptance["gates"]["numerical"]["status"] == "passed"
    assert acceptance["gates"]["physical"] == {
        "status": "unavailable",
        "reason": "the device is a simulator: it counts what executes and has no clock",
    }
    assert (migrated.root / "results/report/index.html").is_file()
    assert verify(Store(migrated.root / "results/store")).sound


def test_nothing_changed_executes_nothing(tree: Tree) -> None:
    assert rerun(tree) == []


def test_a_comment_executes_nothing(tree: Tree) -> None:
    path = tree.root / FORM
    path.write_text("// Another comment.\n" + path.read_text().replace("%sum", "%result"))
    assert rerun(tree) == []
    assert [line for line in tree.steps() if not line["executed"]], "the stages ran and asked the cache"


def test_an_edited_form_executes_its_own_stages(tree: Tree) -> None:
    edit(
        tree.root / FORM,
        "%one = index.constant 1 : index\n",
        "%one = index.constant 1 : index\n  %two = index.constant 2 : index\n",
    )
    executed = rerun(tree)
    assert {form for _, form, _, _ in executed} == {"elementwise"}
    assert stages(executed) <= {"raise", "compare", "benchmark", "accept"}
    assert ("saxpy", "elementwise", "raise", "compile") in executed


def test_a_deleted_results_folder_is_written_again_from_the_store(tree: Tree) -> None:
    before = json.loads((tree.root / "results/workloads/saxpy/accept.json").read_text())
    shutil.rmtree(tree.root / "results/workloads")
    assert rerun(tree) == []
    assert json.loads((tree.root / "results/workloads/saxpy/accept.json").read_text()) == before


def test_a_hand_edited_oracle_is_refused(tree: Tree) -> None:
    path = tree.root / "workloads/saxpy/oracle.loom"
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*text[:5], "// better\n", *text[5:]]))
    done = tree.stage("run", "saxpy", "oracle")
    assert done.returncode == 2
    assert "LADDER/006" in done.stderr and "oracle.loom:6:1" in done.stderr and "loom-raise lift" in done.stderr
    assert tree.snakemake().returncode == 1


def test_a_changed_native_artifact_runs_its_dependents(tree: Tree) -> None:
    path = tree.root / "workloads/saxpy/native/saxpy_asm.hsaco"
    data = bytearray(path.read_bytes())
    assert data[12:16] == bytes(4)  # padding of the ELF identification: the same program in another file
    data[15] = 1
    path.write_bytes(data)
    executed = rerun(tree)
    assert {step for _, _, _, step in executed} >= {"capture", "execute_native", "lift_oracle"}
    # What is lifted is the same text, so nothing below it moves.
    assert not [step for step in executed if step[3] in ("emit_oracle", "compile", "test")]


def test_a_changed_workload_makes_other_evidence(tree: Tree) -> None:
    edit(tree.root / "workloads/saxpy/workload.yaml", "seed: 11", "seed: 13")
    executed = rerun(tree)
    assert {"capture", "oracle", "relaxed", "raise", "compare", "accept"} <= stages(executed)
    assert not [step for step in executed if step[3] in ("compile", "test", "emit_oracle")]


def test_a_title_is_no_evidence(tree: Tree) -> None:
    edit(tree.root / "workloads/saxpy/workload.yaml", 'title: "y', 'title: "Y')
    assert rerun(tree) == []


def test_a_divergence_stops_nothing_and_is_packed(tree: Tree) -> None:
    edit(tree.root / FORM, "scalar.fmaf %factor, %a, %b : f32", "scalar.fmaf %factor, %b, %a : f32")
    done = tree.snakemake()
    assert done.returncode == 0, done.stderr[-4000:]
    row = next(row for row in tree.verdict()["rows"] if row["form"] == "elementwise")
    assert row["class"] == "semantic_divergence" and row["numerically_equal"] == "failed"
    packet = json.loads((tree.root / "results/workloads/saxpy/forms/elementwise/packet.json").read_text())["packet"]
    assert set(packet) >= {"module", "command", "values", "references", "evidence"}
    assert packet["values"]["output"] == "y" and packet["values"]["first"]
    assert packet["references"]["last_passing_form"] == "relaxed_schedule"
    store = Store(tree.root / "results/store")
    minimal = store.blobs.get(packet["module"]["blob"]).decode()
    assert packet["module"]["operations"] < packet["module"]["reduced_from"]
    assert "check.case" not in minimal and "kernel.def" in minimal
    for _ in range(2):
        verdict = tree.stage("verdict")
        assert verdict.returncode == 1
        lines = [line for line in verdict.stderr.splitlines() if line.startswith("failed:")]
        assert any("saxpy elementwise: semantic_divergence" in line for line in lines)


def test_a_rejected_form_stops_nothing(tree: Tree) -> None:
    edit(tree.root / FORM, "scalar.fmaf %factor, %a, %b : f32", "scalar.fmaf %factor, %a : f32")
    done = tree.snakemake()
    assert done.returncode == 0, done.stderr[-4000:]
    row = next(row for row in tree.verdict()["rows"] if row["form"] == "elementwise")
    assert row["class"] == "unavailable" and "elementwise" in tree.stage("verdict").stderr


def test_a_killed_run_is_taken_up_again(migrated: Tree, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", "saxpy")
    command = [sys.executable, "-m", "snakemake", "--profile=workflow/profiles/local", "--cores=2", "--", "evidence"]
    process = subprocess.Popen(
        command,
        cwd=tree.root,
        env=tree.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not tree.steps() and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = len(tree.steps())
    assert done >= 1
    assert verify(Store(tree.root / "results/store")).sound
    tree.run(sys.executable, "-m", "snakemake", "--unlock")
    assert rerun(tree)
    assert verify(Store(tree.root / "results/store")).sound
    again = tree.verdict()["rows"]
    assert again == migrated.verdict()["rows"]


def test_two_trees_give_the_same_records(migrated: Tree, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "some" / "other" / "place", "saxpy")
    assert other.snakemake().returncode == 0
    left, right = (Store(tree.root / "results/store") for tree in (migrated, other))
    mine = {name for name in left.records if left.records.get(name).deterministic["stage"] != "benchmark.benchmark"}
    theirs = {name for name in right.records if right.records.get(name).deterministic["stage"] != "benchmark.benchmark"}
    assert mine == theirs


def test_evidence_that_was_imported_is_not_executed_again(migrated: Tree, tmp_path: Path) -> None:
    archive = tmp_path / "evidence.tar"
    done = migrated.run(sys.executable, "-m", "loom.tools.loom_raise", "store", "export", str(archive))
    assert done.returncode == 0, done.stderr
    other = make_tree(tmp_path / "other", "saxpy")
    done = other.run(sys.executable, "-m", "loom.tools.loom_raise", "store", "import", str(archive))
    assert done.returncode == 0, done.stderr
    assert rerun(other) == []


def test_every_record_can_be_reproduced(migrated: Tree) -> None:
    store = Store(migrated.root / "results/store")
    seen = set()
    for name in store.records:
        stage = store.records.get(name).deterministic["stage"]
        if stage in seen:
            continue
        seen.add(stage)
        done = migrated.run(sys.executable, "-m", "loom.tools.loom_raise", "reproduce", name, "--json")
        assert done.returncode == 0, f"{stage}: {done.stdout}{done.stderr}"
        assert json.loads(done.stdout)["reproduced"] is True
    assert {"capture.execute_native", "oracle.emit_oracle", "raise.compile", "raise.test", "accept.accept"} <= seen


@pytest.mark.full
def test_a_changed_tool_invalidates_what_it_made(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", "saxpy", package=True)
    assert tree.snakemake().returncode == 0
    gates = tree.root / "loom/raising/accept/gates.py"
    gates.write_text(gates.read_text() + "\n# another version\n")
    assert {step for _, _, _, step in rerun(tree)} == {"accept"}
    reduce = tree.root / "loom/tools/raise_commands/reduce.py"
    reduce.write_text(reduce.read_text() + "\n# another version\n")
    assert rerun(tree) == []
