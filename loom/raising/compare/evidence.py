"""What one program has shown: its code, its runs, its compiler evidence; read from a folder of files.

A folder holds ``run.json`` (device, and a run for each shape), ``outputs/SHAPE.BUFFER.bin``, and where they exist
``code.hsaco`` and ``resources.json`` (instruction bytes by hash, registers, LDS, scratch).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loom.diagnostics import error


@dataclass(frozen=True, slots=True)
class Metric:
    """A number by which two programs are compared; a smaller one is better.

    ``about`` is the question that a worse value raises; a metric without one is shown and never judged. ``slack`` is
    a difference that does not count: registers are allocated in granules.
    """

    name: str
    unit: str
    about: str
    per_shape: bool
    slack: float = 0.0


#: In the order in which they are shown. Executed counts come first: they are what the hardware would do.
METRICS = (
    Metric("executed instructions", "instructions", "scheduling", True),
    Metric("executed waits", "instructions", "waits", True),
    Metric("global bytes read", "bytes", "memory_traffic", True),
    Metric("global bytes written", "bytes", "memory_traffic", True),
    Metric("local bytes read", "bytes", "memory_traffic", True),
    Metric("local bytes written", "bytes", "memory_traffic", True),
    Metric("vector registers", "registers", "allocation", False, 8.0),
    Metric("scalar registers", "registers", "", False),
    Metric("local memory", "bytes", "allocation", False, 512.0),
    Metric("scratch", "bytes", "allocation", False),
    Metric("code", "bytes", "", False),
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One program's evidence. ``runs`` maps shape names to run documents; ``outputs`` maps (shape, buffer) to bytes."""

    identity: str
    device: Mapping[str, Any]
    runs: Mapping[str, Mapping[str, Any]]
    outputs: Mapping[tuple[str, str], bytes]
    resources: Mapping[str, Any]

    def outcome(self, shape: str) -> str:
        """``completed``, ``faulted`` or ``absent``."""
        run = self.runs.get(shape)
        return str(run["outcome"]) if run else "absent"

    def metric(self, name: str, shape: str | None) -> float | None:
        """A metric's value, ``None`` where this program has none."""
        if shape is None:
            value = self.resources.get(name)
            return float(value) if value is not None else None
        counts = self.runs.get(shape, {}).get("counts")
        if counts is None:
            return None
        if name == "executed instructions":
            return float(counts["useful_instructions"] or counts["instructions"])
        if name == "executed waits":
            return float(counts["by_class"].get("wait", 0))
        space, _, direction = name.partition(" bytes ")
        kinds = {"global": ("global", "flat", "buffer"), "local": ("lds",)}[space]
        table = counts["bytes_read" if direction == "read" else "bytes_written"]
        return float(sum(amount for key, amount in table.items() if key.partition(".")[0] in kinds))


def load_evidence(folder: Path) -> Evidence:
    """Read a folder of evidence. Raises ``COMPARE/001`` where its ``run.json`` is absent or names outputs that are
    not there.
    """
    run_file = folder / "run.json"
    if not run_file.is_file():
        raise error(f"'{folder}' holds no run.json", "COMPARE/001", hint="run the program on the workload first")
    document = json.loads(run_file.read_text(encoding="utf-8"))
    outputs: dict[tuple[str, str], bytes] = {}
    runs = {}
    for run in document["runs"]:
        runs[run["shape"]] = run
        for name in run["outputs"]:
            path = folder / "outputs" / f"{run['shape']}.{name}.bin"
            if not path.is_file():
                raise error(f"'{path}' is absent", "COMPARE/001")
            outputs[run["shape"], name] = path.read_bytes()
    resources_file = folder / "resources.json"
    resources = json.loads(resources_file.read_text(encoding="utf-8")) if resources_file.is_file() else {}
    return Evidence(document["identity"], document["device"], runs, outputs, resources)
