"""The workload description that the tests of comparison, acceptance and report share."""

from __future__ import annotations

from typing import Any

DOUBLE: dict[str, Any] = {
    "schema": "loom.workload.v0",
    "name": "double",
    "title": "y = 2 x",
    "semantic_cut": "every element doubled",
    "target": "amdgpu:gfx1100",
    "native": {"artifact": "k.hsaco", "kernel": "k", "sources": [], "provenance": "hand"},
    "parameters": {"n": 4},
    "arguments": [{"name": "y", "kind": "buffer", "type": "f32", "shape": ["n"]}],
    "launch": {"workgroups": [1, 1, 1], "workgroup_size": [32, 1, 1]},
    "outputs": {"y": {"policy": "bitwise"}},
    "shapes": [
        {"name": "big", "kind": "production", "case": "@c", "benchmark": "@b"},
        {"name": "odd", "kind": "tail", "parameters": {"n": 3}, "case": "@c", "benchmark": "@t"},
    ],
    "timing_boundary": "dispatch_complete",
    "forms": [],
}
