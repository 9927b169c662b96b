"""The configuration of a run, checked: unknown keys and values are errors that name what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loom.diagnostics import Location, error
from loom.store.schema import load_yaml, validate

CONFIG_FILE = "config/config.yaml"


@dataclass(frozen=True, slots=True)
class Config:
    """A checked configuration. Paths are relative to the folder that holds ``config/``."""

    root: Path
    document: Mapping[str, Any]

    @property
    def results(self) -> Path:
        """The folder of everything that a run writes."""
        return self.root / str(self.document["results"])

    @property
    def workload_folder(self) -> Path:
        """The folder of the workloads."""
        return self.root / str(self.document["workloads"]["folder"])

    @property
    def device(self) -> str:
        """The concrete device that every run uses."""
        return str(self.document["device"])

    @property
    def tolerance(self) -> float:
        """Factor beyond which a compiler metric counts as worse."""
        return float(self.document["compiler"]["tolerance"])

    @property
    def workloads(self) -> list[str]:
        """Names of the chosen workloads, sorted. Raises ``CONFIG/001`` for a name that has no ``workload.yaml``."""
        folder = self.workload_folder
        there = sorted(path.parent.name for path in folder.glob("*/workload.yaml"))
        chosen = self.document["workloads"]["select"]
        if chosen == "all":
            return there
        for name in chosen:
            if name not in there:
                location = Location(str(self.root / CONFIG_FILE))
                raise error(
                    f"no workload '{name}' in '{folder}'", "CONFIG/001", location, hint=f"there are: {', '.join(there)}"
                )
        return sorted(chosen)


def check_config(document: Any, root: Path, locations: Any = None) -> Config:
    """Check a configuration that is loaded already (Snakemake merges files and command line)."""
    if not isinstance(document, dict):
        raise error("a configuration is a mapping", "SCHEMA/001", Location(str(root / CONFIG_FILE)))
    validate(document, "config", CONFIG_FILE, locations)
    return Config(root, document)


def load_config(root: Path) -> Config:
    """Read ``config/config.yaml`` below ``root``. Raises ``SCHEMA/001`` and ``SCHEMA/002`` with line and column."""
    document, locations = load_yaml(root / CONFIG_FILE)
    return check_config(document, root, locations)
