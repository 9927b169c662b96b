"""For ops that have no lowering here, the nearest form that has one."""

from __future__ import annotations

_NEAREST = {
    "kernel.async.cluster.gather": "use kernel.async.gather: every workgroup reads for itself",
    "kernel.async.tensor.": "use kernel.async.copy between views with static extents",
    "kernel.tensor.lds.descriptor": "use kernel.async.copy between views with static extents",
    "global.": "pass the value as a kernel argument, or bind it with config.def",
    "llvmir.": "write a low.func.def with the instruction, and call it with low.invoke",
    "pool.": "use buffer.alloca, or a buffer argument of the kernel",
    "sanitizer.assert.value": "run the pass check-assumptions, as the default pipeline does",
    "kernel.launch": "launch from a check.case; a kernel cannot launch another",
    "command.": "launch from a check.case; the compiler takes kernels only",
    "check.": "leave checks outside of kernels",
    "cfg.": "write the branches as scf.if, scf.for or scf.while",
}


def nearest_form(name: str) -> str:
    """What to write instead of the op ``name``."""
    for prefix, nearest in _NEAREST.items():
        if name.startswith(prefix):
            return nearest
    return "write it with scalar, vector, view, scf and kernel ops"
