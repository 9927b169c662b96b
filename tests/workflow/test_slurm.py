"""Jobs go through a real slurmctld, by both profiles that know how."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow.slurm_cluster import absent, cluster
from tests.workflow.trees import make_tree

pytestmark = pytest.mark.full


@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_a_workload_goes_through_slurm(tmp_path: Path, profile: str) -> None:
    missing = absent()
    if missing:
        pytest.skip(f"not verified here: {missing[0]} is absent")
    if os.geteuid() != 0:
        pytest.skip("not verified here: the daemons of a cluster need root")
    tree = make_tree(tmp_path / "tree", "saxpy")
    with cluster(tmp_path / "slurm") as environment:
        command = [
            sys.executable,
            "-m",
            "snakemake",
            f"--profile=workflow/profiles/{profile}",
            *(
                ["--slurm-status-command=squeue", "--slurm-init-seconds-before-status-checks=2"]
                if profile == "slurm"
                else []
            ),
            "--seconds-between-status-checks=2",
            "--",
            "results/workloads/saxpy/capture.json",
        ]
        done = subprocess.run(
            command,
            cwd=tree.root,
            env={
                **environment,
                **tree.environment(),
                "PATH": environment["PATH"],
                "SLURM_CONF": environment["SLURM_CONF"],
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        logs = [path.read_text(errors="replace") for path in (tree.root / ".snakemake").rglob("slurm_logs/**/*.log")]
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:] + "\n".join(logs)[-3000:]
        jobs = (tmp_path / "slurm" / "slurmctld.log").read_text()
        accepted = "_slurm_rpc_submit_batch_job" in jobs or "sched/builtin" in jobs
        assert accepted and "JobId=1" in jobs
    assert (tree.root / "results/workloads/saxpy/capture.json").is_file()
