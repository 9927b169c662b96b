"""Run one tool on named files in a folder of its own, through the action cache."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loom import __version__
from loom.diagnostics import Diagnostic, ExitCode, LoomError, Severity, error
from loom.store.actions import Action, Store, relative_command
from loom.store.canonical import sha256
from loom.store.journal import Journal
from loom.store.records import Record
from loom.store.source_hash import ROOT, source_hash

#: Console name → the module whose sources are the tool's. A subcommand of loom-raise is its own module.
_MODULES = {
    "loom-compile": "loom.tools.loom_compile",
    "iree-run-loom": "loom.tools.iree_run_loom",
    "iree-test-loom": "loom.tools.iree_test_loom",
    "iree-benchmark-loom": "loom.tools.iree_benchmark_loom",
    "loom-compile-report": "loom.tools.loom_compile_report",
    "loom-stage": "loom.tools.loom_stage",
}

_STDERR_KEPT = 4000

#: What a step's output may depend on besides its inputs: nothing of the machine's language, nothing of its clock.
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "0"}


def tool_module(command: tuple[str, ...]) -> str:
    """The module whose source closure stands for a command's tool."""
    if command[0] == "loom-raise":
        return f"loom.tools.raise_commands.{command[1]}"
    return _MODULES[command[0]]


def python_command(command: tuple[str, ...]) -> list[str]:
    """The command as this interpreter runs it, whatever is on the PATH."""
    module = "loom.tools.loom_raise" if command[0] == "loom-raise" else _MODULES[command[0]]
    return [sys.executable, "-m", module, *command[1:]]


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that a step reads: its bytes, the hash that stands for its meaning, and where it came from."""

    data: bytes
    key: str
    origin: str = ""


def by_bytes(data: bytes, origin: str = "") -> InputFile:
    """An input whose every byte matters."""
    return InputFile(data, sha256(data), origin)


def by_meaning(data: bytes, origin: str = "") -> InputFile:
    """A ``.loom`` source: comments and SSA names do not matter. Text that does not parse stands for itself."""
    return InputFile(data, semantic_hash(data, origin), origin)


def semantic_hash(data: bytes, origin: str = "") -> str:
    """The semantic hash of a ``.loom`` text, or the hash of its bytes where it cannot be read."""
    from loom import parse

    try:
        return sha256(b"module " + parse(data.decode("utf-8"), origin or "input.loom").semantic_hash().encode())
    except (LoomError, UnicodeDecodeError):
        return sha256(data)


@dataclass(frozen=True, slots=True)
class Step:
    """A command, its inputs by file name, and what it leaves.

    ``outputs`` are file names, or folder names ending in ``/`` of which every file counts; ``stdout`` names the file
    that keeps the standard output. ``answers`` are the exit codes that are results (a fault, a rejection); any other
    ends the stage.
    """

    stage: str
    name: str
    command: tuple[str, ...]
    inputs: Mapping[str, InputFile]
    outputs: tuple[str, ...]
    stdout: str | None = None
    answers: frozenset[int] = frozenset({0})
    evidence_class: str = "none"
    form: str | None = None
    exactly: bool = True
    configuration: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step's record, its id, and whether it executed now."""

    record: Record
    id: str
    executed: bool

    @property
    def exit_code(self) -> int:
        """The tool's exit code."""
        return int(self.record.deterministic["exit_code"])

    @property
    def outputs(self) -> Mapping[str, str]:
        """File name → blob."""
        outputs: Mapping[str, str] = self.record.deterministic["outputs"]
        return outputs

    @property
    def message(self) -> str:
        """The first line of what the tool said, for results that are not success."""
        return str(self.record.deterministic["result"].get("message", ""))


def action_of(step: Step) -> Action:
    """The action-cache entry of a step."""
    return Action(
        step.command[0] if step.command[0] != "loom-raise" else " ".join(step.command[:2]),
        source_hash(tool_module(step.command)),
        relative_command(step.command),
        {name: file.key for name, file in sorted(step.inputs.items())},
        {**step.configuration, "outputs": list(step.outputs), "stdout": step.stdout or ""},
    )


def run_step(store: Store, step: Step, workload: str, identity: str) -> StepResult:
    """Return what a step gives, from the action cache or by running its tool.

    Raises ``LADDER/001`` where the tool ends with an exit code that is no result, with the tool's own words and, for
    2, 3 and 4, its exit code; such an end is never cached. Damage in the store is reported as a warning and repaired
    by running again.
    """
    action = action_of(step)
    journal = Journal(store.root)
    warnings: list[Diagnostic] = []
    cached = store.lookup(action, warnings)
    _warn(warnings)
    if cached is not None:
        if cached.deterministic["identity"] != identity:
            cached = _under_identity(store, cached, workload, identity, step)
        journal.append(workload, step.form, step.stage, step.name, False, 0.0)
        return StepResult(cached, cached.id, False)
    started = time.time()
    code, produced, stderr = execute(python_command(step.command), step.inputs, step.outputs, step.stdout, step.answers)
    seconds = time.time() - started
    record = _make_record(store, step, action, workload, identity, code, produced, stderr, started, seconds)
    name = store.commit(action, record)
    journal.append(workload, step.form, step.stage, step.name, True, seconds)
    return StepResult(record, name, True)


def _warn(warnings: list[Diagnostic]) -> None:
    from loom.diagnostics import render_text

    if warnings:
        print(render_text(warnings), file=sys.stderr)


def _under_identity(store: Store, cached: Record, workload: str, identity: str, step: Step) -> Record:
    """The same action asked for by another workload: the same facts, filed under its own identity."""
    deterministic = {
        **cached.deterministic,
        "identity": identity,
        "workload": workload,
        "form": step.form,
        "stage": f"{step.stage}.{step.name}",
    }
    record = Record(deterministic, cached.observed)
    store.records.put(record)
    return record


def execute(
    command: list[str],
    inputs: Mapping[str, InputFile],
    outputs: tuple[str, ...],
    stdout: str | None,
    answers: frozenset[int],
) -> tuple[int, dict[str, bytes], str]:
    """Run a command in a fresh folder that holds ``inputs``; return exit code, output files and stderr.

    Raises ``LADDER/001`` for an exit code outside ``answers`` and ``LADDER/002`` for a successful command that leaves
    out an output.
    """
    folder = Path(tempfile.mkdtemp(prefix="loom-step-"))
    try:
        for name, file in inputs.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
        environment = {**os.environ, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(_python_path())}
        process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        stderr = process.stderr.decode("utf-8", "replace").replace(str(folder) + os.sep, "")
        if process.returncode not in answers:
            raise _failed(command, process.returncode, stderr)
        produced: dict[str, bytes] = {}
        if stdout is not None:
            produced[stdout] = process.stdout
        for name in outputs:
            produced.update(_collect(folder, name, process.returncode, command))
        return process.returncode, produced, stderr
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _python_path() -> list[str]:
    """The tree that this process runs from comes first, so that a step never mixes two trees."""
    return [str(ROOT.parent), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]


def _collect(folder: Path, name: str, code: int, command: list[str]) -> dict[str, bytes]:
    path = folder / name
    if name.endswith("/"):
        files = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else []
        found = {str(item.relative_to(folder)): item.read_bytes() for item in files}
    else:
        found = {name: path.read_bytes()} if path.is_file() else {}
    if not found and code == 0:
        raise error(
            f"{' '.join(command[2:])} succeeded without writing '{name}'", "LADDER/002", exit_code=ExitCode.INTERNAL
        )
    return found


def _failed(command: list[str], code: int, stderr: str) -> LoomError:
    words = [line for line in stderr.strip().splitlines() if line.strip()]
    ended = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    known = {int(item) for item in ExitCode}
    return LoomError(
        Diagnostic(f"{' '.join(command[2:])}: {ended}", "LADDER/001", severity=Severity.ERROR, notes=tuple(words[:12])),
        ExitCode(code) if code in known and code != 0 else ExitCode.INTERNAL,
    )


def _make_record(
    store: Store,
    step: Step,
    action: Action,
    workload: str,
    identity: str,
    code: int,
    produced: Mapping[str, bytes],
    stderr: str,
    started: float,
    seconds: float,
) -> Record:
    outputs = {name: store.blobs.put(data) for name, data in sorted(produced.items())}
    result: dict[str, Any] = {"status": "ok" if code == 0 else "answered"}
    if code != 0:
        result["message"] = next((line for line in stderr.splitlines() if line.strip()), "")
    deterministic = {
        "schema": "loom.record.v0",
        "stage": f"{step.stage}.{step.name}",
        "workload": workload,
        "identity": identity,
        "form": step.form,
        "tool": {"name": action.tool, "version": __version__, "source_hash": action.tool_hash},
        "command": list(step.command),
        "configuration": dict(action.configuration),
        "device": _device(produced),
        "inputs": dict(action.inputs),
        "outputs": outputs,
        "evidence_class": step.evidence_class,
        "reproduces": "exactly" if step.exactly else "within_spread",
        "exit_code": code,
        "result": result,
    }
    observed = {
        "inputs": {
            name: {"blob": store.blobs.put(file.data), "origin": file.origin} for name, file in step.inputs.items()
        },
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(seconds, 3),
        "host": {"machine": platform.machine(), "system": platform.system(), "python": platform.python_version()},
        "stderr": stderr[-_STDERR_KEPT:],
    }
    return Record(deterministic, observed)


def _device(produced: Mapping[str, bytes]) -> dict[str, Any] | None:
    """The device identity that a run wrote down, if this step ran anything."""
    for name, data in produced.items():
        if name.rpartition("/")[2] == "run.json":
            device = json.loads(data).get("device")
            return device if isinstance(device, dict) else None
    return None
