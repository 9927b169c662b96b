"""Compile a kernel written in the tests, run it on the simulator, and give back its buffers."""

from __future__ import annotations

import functools

import numpy as np

import loom
from loom.device.protocol import Completed
from loom.device.registry import open_device
from loom.target.amdgpu.compile import CompileOptions, compile_module
from loom.transform.target import resolve_target


def kernel(body: str, arguments: str, size=(64, 1, 1), groups=(1, 1, 1), helpers: str = "") -> str:
    """A module with one kernel ``@k``; ``body`` sees ``%item`` (workitem.id x) and ``%origin``."""
    sizes = "\n".join(f"  %s{k} = index.constant {v} : index" for k, v in enumerate(size))
    counts = "\n".join(f"  %g{k} = index.constant {v} : index" for k, v in enumerate(groups))
    return f"""{helpers}
kernel.def @k() {{
{sizes}
{counts}
  kernel.launch.config workgroups(%g0, %g1, %g2) workgroup_size(%s0, %s1, %s2) : index
}} launch({arguments}) {{
  %item = kernel.workitem.id<x> : index
  %origin = index.constant 0 : offset
{body}
  kernel.return
}}
"""


@functools.cache
def compiled(text: str, wave: int):
    target = resolve_target("amdgpu", "gfx1100", {"subgroup_size": wave})
    module = loom.parse(text, "<test>")
    loom.verify(module)
    return compile_module(module, CompileOptions(target=target, check=True))


def run(text: str, *arguments, wave: int = 32, groups=(1, 1, 1), size=(64, 1, 1)):
    """Run ``@k`` on copies of the arrays; scalars are NumPy scalars. Returns the buffers and the execution's counts."""
    compilation = compiled(text, wave)
    device = open_device("amdgpu-sim")
    try:
        executable = device.load(compilation.code_object)
        segment = b""
        buffers = []
        scalars = b""
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                buffer = device.allocate(max(1, argument.nbytes))
                device.write(buffer, argument.tobytes())
                buffers.append((buffer, argument))
                segment += int(buffer.address).to_bytes(8, "little")
            else:
                raw = argument.tobytes()
                scalars += raw + b"\0" * (-len(raw) % 4)
        outcome = device.launch(executable, compilation.kernels[0].name, groups, size, segment + scalars)
        assert isinstance(outcome, Completed), outcome
        results = [np.frombuffer(device.read(b), a.dtype)[: a.size].reshape(a.shape).copy() for b, a in buffers]
    finally:
        device.close()
    return results, outcome.counts


def low_text(text: str, wave: int = 32, selector: str = "gfx1100") -> str:
    """The Low text of the one kernel of a module."""
    from loom.target.amdgpu.lowering import lower_kernel
    from loom.text.printer import print_module
    from loom.transform.pipeline import PipelineOptions, run_default_pipeline

    target = resolve_target("amdgpu", selector, {"subgroup_size": wave})
    result = run_default_pipeline(loom.parse(text, "<test>"), PipelineOptions(target=target))
    op = next(o for o in result.module.operations if o.name == "kernel.def")
    lowered = lower_kernel(result.module, op, result.target)
    assert lowered.module is not None
    return print_module(lowered.module)
