"""Loom: raise native kernel schedules into maintained source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loom.ir.registry import register_dialect

if TYPE_CHECKING:
    from loom.ir.core import Module

__version__ = "0.1.0"

for _prefix, _module in {
    "scalar": "scalar",
    "index": "index",
    "vector": "vector",
    "view": "view",
    "buffer": "buffer",
    "scf": "scf",
    "cfg": "cfg",
    "func": "func",
    "module": "modules",
    "template": "template",
    "kernel": "kernel",
    "check": "check",
    "config": "config",
    "encoding": "encoding",
    "low": "low",
    "target": "target",
    "amdgpu": "target",
    "x86": "target",
    "spirv": "target",
    "vm": "target",
    "wasm": "target",
    "ireevm": "target",
    "test": "target",
    "llvmir": "target",
    "global": "records",
    "command": "records",
    "pass": "records",
    "pool": "records",
    "sanitizer": "records",
}.items():
    register_dialect(_prefix, f"loom.dialect.{_module}")
register_dialect("llvmir", "loom.dialect.records")
register_dialect("vector", "loom.dialect.vector_lanewise")

from loom.target import register_targets as _register_targets  # noqa: E402  (targets build on the registries above)

_register_targets()


def parse(text: str | bytes, filename: str = "<text>") -> Module:
    """Parse Loom text into a module; see :func:`loom.text.parser.parse`."""
    from loom.text.parser import parse as parse_text

    return parse_text(text, filename)


def print_module(module: Module, *, locations: bool = False) -> str:
    """Return a module's canonical text; see :func:`loom.text.printer.print_module`."""
    from loom.text.printer import print_module as print_text

    return print_text(module, locations=locations)


def verify(module: Module) -> None:
    """Check a module; raise ``LoomError`` with what is wrong; see :func:`loom.ir.verifier.verify`."""
    from loom.ir.verifier import verify as verify_module

    verify_module(module)
