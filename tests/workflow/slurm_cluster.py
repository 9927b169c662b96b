"""A Slurm cluster of one node, in a folder of its own: munged, slurmctld, slurmd. Needs root, but no systemd."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo")


def absent() -> list[str]:
    """Which of the needed programs are not installed."""
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"
    return [command for command in COMMANDS if shutil.which(command, path=path) is None]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _configuration(folder: Path) -> str:
    host = socket.gethostname().split(".")[0]
    return f"""ClusterName=loom
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={_free_port()}
SlurmdPort={_free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/builtin
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ReturnToService=2
MinJobAge=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """Start a cluster; yield the environment in which its commands work; stop it at the end."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    os.chmod(folder, 0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    (folder / "slurm.conf").write_text(_configuration(folder))
    # Commands within a job look for the cluster where an installation has it: the executor drops SLURM_* variables.
    installed = Path("/etc/slurm/slurm.conf")
    placed = not installed.exists()
    if placed:
        installed.parent.mkdir(parents=True, exist_ok=True)
        installed.unlink(missing_ok=True)
        installed.symlink_to(folder / "slurm.conf")
    environment = {
        **os.environ,
        "PATH": os.environ.get("PATH", "") + os.pathsep + "/usr/sbin",
        "SLURM_CONF": str(folder / "slurm.conf"),
    }
    started: list[subprocess.Popen[bytes]] = []

    def start(*command: str) -> None:
        log = open(folder / f"{command[0]}.out", "wb")  # noqa: SIM115  (the daemon keeps it)
        started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))

    try:
        start(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={folder}/munge.socket",
            f"--pid-file={folder}/munged.pid",
            f"--seed-file={folder}/munged.seed",
            f"--log-file={folder}/munged.log",
        )
        _await(lambda: (folder / "munge.socket").exists(), folder)
        start("slurmctld", "-D")
        start("slurmd", "-D")
        _await(lambda: _idle(environment), folder)
        yield environment
    finally:
        if placed:
            installed.unlink(missing_ok=True)
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _idle(environment: dict[str, str]) -> bool:
    found = subprocess.run(
        ["sinfo", "--noheader", "--format=%T"], env=environment, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() in ("idle", "mixed", "allocated")


def _await(ready: object, folder: Path, seconds: float = 30.0) -> None:
    assert callable(ready)
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            logs = [f"== {path.name}\n{path.read_text(errors='replace')[-2000:]}" for path in folder.glob("*.log")]
            logs += [f"== {path.name}\n{path.read_text(errors='replace')[-2000:]}" for path in folder.glob("*.out")]
            raise RuntimeError("the cluster does not start\n" + "\n".join(logs))
        time.sleep(0.2)
