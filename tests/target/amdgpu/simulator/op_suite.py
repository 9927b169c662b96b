"""The kernels of :mod:`op_families` as assembly text, and as cases.

    python -m tests.target.amdgpu.simulator.op_suite > tests/native/extra/src/ops.s

A kernel takes x, y, z and one buffer of results; 64 lanes a workgroup. ``tests/native/extra/build.sh`` assembles it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.target.amdgpu.simulator.native_suite import Case, Launch
from tests.target.amdgpu.simulator.op_families import FAMILIES, Family, Op, u64
from tests.target.amdgpu.simulator.op_memory import MEMORY_FAMILIES
from tests.target.amdgpu.simulator.op_scalar import SCALAR_FAMILIES

OBJECT = "extra/gfx1100-ops.hsaco"
_LANES = 64

_HEAD = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
\t.amdhsa_code_object_version 5
\t.text
"""
_PROLOGUE = """\t.globl {name}
\t.p2align 8
\t.type {name},@function
{name}:
\ts_load_b256 s[4:11], s[0:1], 0x0
\tv_lshl_add_u32 v0, s2, 6, v0
\tv_lshlrev_b32 v1, 3, v0
\tv_mul_u32_u24 v8, {stride}, v0
\ts_waitcnt lgkmcnt(0)
\tglobal_load_b64 v[2:3], v1, s[4:5]
\tglobal_load_b64 v[4:5], v1, s[6:7]
\tglobal_load_b64 v[6:7], v1, s[8:9]
\ts_waitcnt vmcnt(0)
"""
_SCALARS = "".join(f"\tv_readfirstlane_b32 s{20 + k}, v{2 + k}\n" for k in range(6))
_END = """\ts_endpgm
.L{name}_end:
\t.size {name}, .L{name}_end-{name}
\t.section .rodata,"a",@progbits
\t.p2align 6
\t.amdhsa_kernel {name}
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_next_free_sgpr 56
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t\t.amdhsa_wavefront_size32 1
\t\t.amdhsa_group_segment_fixed_size {lds}
\t\t.amdhsa_private_segment_fixed_size {scratch}
\t\t.amdhsa_float_denorm_mode_32 3
\t.end_amdhsa_kernel
\t.text
"""
_METADATA = """  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: {scratch}
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
"""
_ARGUMENT = "      - {{ .offset: {offset}, .size: 8, .value_kind: global_buffer, .address_space: global }}\n"


@dataclass(frozen=True)
class Kernel:
    """A family, or those of its operations whose results are alike: exact ones, or of one type with a tolerance."""

    name: str
    family: Family
    ops: tuple[Op, ...]
    kind: Any
    tolerance: float

    @property
    def slots(self) -> list[tuple[Op, int, Any, Any]]:
        """Every result: operation, register, type, definition."""
        return [(op, register, kind, define) for op in self.ops for register, kind, define in op.results]


def kernels() -> list[Kernel]:
    """All kernels, in the order of the file."""
    made = []
    for family in [*FAMILIES, *SCALAR_FAMILIES, *MEMORY_FAMILIES]:
        groups: dict[tuple[Any, float], list[Op]] = {}
        for op in family.ops:
            kind = op.results[0][1] if op.tolerance else u64
            groups.setdefault((kind, op.tolerance), []).append(op)
        for number, ((kind, tolerance), ops) in enumerate(groups.items()):
            suffix = f"_{number}" if number else ""
            made.append(Kernel(f"op_{family.name}{suffix}", family, tuple(ops), kind, tolerance))
    return made


def assembly() -> str:
    """The source of all kernels."""
    text = [_HEAD]
    metadata = []
    for kernel in kernels():
        family = kernel.family
        sizes = {"name": kernel.name, "lds": family.lds, "scratch": family.scratch}
        item = np.dtype(kernel.kind).itemsize
        text.append(_PROLOGUE.format(name=kernel.name, stride=item * len(kernel.slots)))
        if family.scalar:
            text.append(_SCALARS)
        text += [f"\t{line.strip()}\n" for line in family.before.split(";") if line.strip()]
        slot = 0
        for op in kernel.ops:
            text += [f"\t{line.strip()}\n" for line in op.text.replace("%=", f"_{kernel.name}_{slot}").split(";")]
            for register, kind, _ in op.results:
                bits = 8 * np.dtype(kind).itemsize
                data = f"v[{register}:{register + 1}]" if bits == 64 else f"v{register}"
                text.append(f"\tglobal_store_b{bits} v8, {data}, s[10:11] offset:{item * slot}\n")
                slot += 1
        text.append(_END.format(**sizes))
        metadata.append(_METADATA.format(**sizes) + "".join(_ARGUMENT.format(offset=8 * k) for k in range(4)))
    text.append(
        "\t.amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--gfx1100\namdhsa.kernels:\n"
        + "".join(metadata)
        + "...\n\t.end_amdgpu_metadata\n"
    )
    return "".join(text)


def _make(kernel: Kernel) -> Any:
    def make(n: int, rng: Any) -> Launch:
        count = _LANES * n
        x, y, z = kernel.family.inputs(rng, count)
        slots = kernel.slots
        expected = np.zeros((count, len(slots)), kernel.kind)
        arguments = (x, y, z)
        if kernel.family.scalar:
            arguments = tuple(w.reshape(-1, 32)[:, :1].repeat(32, axis=1).reshape(-1) for w in arguments)
        with np.errstate(all="ignore"):
            for number, (_, _, kind, define) in enumerate(slots):
                values = np.ascontiguousarray(np.broadcast_to(define(*arguments), (count,)))
                if values.dtype != np.dtype(kind):
                    values = _converted(values, kind)
                if kernel.tolerance:
                    expected[:, number] = values
                else:
                    bits = np.dtype(f"u{np.dtype(kind).itemsize}")
                    expected[:, number] = values.view(bits).astype(u64)
        out = np.zeros_like(expected)
        return Launch([x, y, z, out], (n,), (_LANES,), {3: expected}, kernel.tolerance)

    return make


def _converted(values: Any, kind: Any) -> Any:
    """Integers wrap to the type's width; everything else is converted."""
    if values.dtype.kind in "iub" and np.dtype(kind).kind in "iu":
        return values.astype(u64).astype(np.dtype(f"u{np.dtype(kind).itemsize}")).view(kind)
    if values.dtype.kind == "f" and np.dtype(kind).kind in "iu":
        return values.astype(np.int64).astype(u64).astype(np.dtype(f"u{np.dtype(kind).itemsize}")).view(kind)
    return values.astype(kind)


CASES = [Case(OBJECT, kernel.name, _make(kernel), (1, 3)) for kernel in kernels()]


if __name__ == "__main__":
    print(assembly(), end="")
