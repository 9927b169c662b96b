"""The oracle kept beside every workload is what lifting its native kernel gives, and emits the native bytes."""

from pathlib import Path

import pytest

from loom.store.workload import load_workload
from loom.tools.loom_raise import run

WORKLOADS = sorted((Path(__file__).parents[3] / "workloads").glob("*/workload.yaml"))


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.parent.name)
def test_the_kept_oracle_is_the_lift(path, tmp_path):
    workload = load_workload(path)
    output = tmp_path / "oracle.loom"
    flags = [f"--kernel={workload.kernel}", f"--workload={path}", f"--output={output}", "--verify"]
    assert run(["lift", str(workload.artifact), *flags]) == 0
    assert output.read_text() == (path.parent / "oracle.loom").read_text()
