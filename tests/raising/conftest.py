"""A small workload for the tests of what is concluded from evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loom.store.workload import Workload, load_workload
from tests.raising.workloads import DOUBLE


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """``DOUBLE``, read from a file."""
    path = tmp_path / "workload.yaml"
    path.write_text(json.dumps(DOUBLE))
    return load_workload(path, check_files=False)
