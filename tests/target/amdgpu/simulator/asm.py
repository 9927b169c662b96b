"""Small kernels from assembly text, through LLVM MC and lld, for tests that need particular instructions."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Outcome

_TEMPLATE = """
\t.amdgcn_target "amdgcn-amd-amdhsa--{processor}"
\t.amdhsa_code_object_version 5
\t.text
\t.globl k
\t.p2align 8
\t.type k,@function
k:
{body}
.Lend:
\t.size k, .Lend-k
\t.section .rodata,"a",@progbits
\t.p2align 6
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr {vgprs}
\t\t.amdhsa_next_free_sgpr {sgprs}
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
{directives}
\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--{processor}
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 64
    .kernarg_segment_align: 16
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: {scratch}
    .wavefront_size: {wave}
    .sgpr_count: {sgprs}
    .vgpr_count: {vgprs}
    .max_flat_workgroup_size: 1024
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }}
      - {{ .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }}
{hidden}
...
\t.end_amdgpu_metadata
"""


def source(
    body: str, processor: str = "gfx1100", wave: int = 32, vgprs: int = 32, lds: int = 0, scratch: int = 0,
    directives: Sequence[str] = (), hidden: str = "", accumulators_from: int = 32, sgprs: int = 40,
) -> str:  # fmt: skip
    """Assembly text of a kernel ``k(in, out)`` with kernarg pointer s[0:1] first."""
    lines = list(directives)
    if processor not in ("gfx942", "gfx950"):
        lines.append(f".amdhsa_wavefront_size32 {int(wave == 32)}")
    else:
        lines.append(f".amdhsa_accum_offset {accumulators_from}")
    lines += [f".amdhsa_group_segment_fixed_size {lds}", f".amdhsa_private_segment_fixed_size {scratch}"]
    return _TEMPLATE.format(
        processor=processor, body=body, vgprs=vgprs, lds=lds, scratch=scratch, wave=wave, hidden=hidden,
        sgprs=sgprs,
        directives="\n".join(f"\t\t{line}" for line in lines),
    )  # fmt: skip


@lru_cache(maxsize=512)
def link(text: str, processor: str, features: str, mc: str, lld: str) -> bytes:
    """Assemble and link."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "k.s").write_text(text, encoding="utf-8")
        subprocess.run(
            [mc, "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", f"-mattr={features}", "-filetype=obj", "-o",
             str(path / "k.o"), str(path / "k.s")],
            check=True, capture_output=True,
        )  # fmt: skip
        subprocess.run(
            [lld, "-shared", "-o", str(path / "k.hsaco"), str(path / "k.o")], check=True, capture_output=True
        )
        return (path / "k.hsaco").read_bytes()


class Assembler:
    """Builds and runs kernels; ``oracle`` is the fixture that finds LLVM's tools."""

    def __init__(self, oracle: Callable[[str], str]) -> None:
        self.mc = oracle("llvm-mc-22")
        self.lld = oracle("ld.lld-22")

    def build(self, body: str, processor: str = "gfx1100", wave: int = 32, **options: Any) -> bytes:
        """A code object of one kernel."""
        features = (
            ""
            if processor in ("gfx942", "gfx950")
            else ("+wavefrontsize32" if wave == 32 else "+wavefrontsize64,-wavefrontsize32")
        )
        return link(source(body, processor, wave, **options), processor, features, self.mc, self.lld)

    def run(
        self, body: str, inputs: np.ndarray, outputs: int, *, processor: str = "gfx1100", wave: int = 32,
        groups: tuple[int, ...] = (1,), size: tuple[int, ...] | None = None, dynamic_lds: int = 0,
        device_options: dict[str, Any] | None = None, **options: Any,
    ) -> tuple[Outcome, np.ndarray]:  # fmt: skip
        """Run the kernel; gives the outcome and ``outputs`` words."""
        code = self.build(body, processor, wave, **options)
        device = SimulatorDevice(**{"threads": 1, **(device_options or {})})
        executable = device.load(code)
        a = device.allocate(inputs.nbytes, "in")
        device.write(a, inputs.tobytes())
        b = device.allocate(4 * outputs, "out")
        kernarg = a.address.to_bytes(8, "little") + b.address.to_bytes(8, "little")
        outcome = device.launch(executable, "k", groups, size or (wave,), kernarg, dynamic_lds)
        result = np.frombuffer(device.read(b), dtype=np.uint32).copy()
        device.close()
        return outcome, result
