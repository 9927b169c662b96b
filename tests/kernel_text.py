"""Assembly text of small gfx1100 kernels ``k``, with metadata that a test may choose."""

from __future__ import annotations

_TEMPLATE = """
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
\t.amdhsa_code_object_version 5
\t.text
\t.globl k
\t.p2align 8
\t.type k,@function
k:
{body}
\ts_endpgm
.Lend:
\t.size k, .Lend-k
\t.section .rodata,"a",@progbits
\t.p2align 6
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 8
\t\t.amdhsa_next_free_sgpr 16
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
{kernels}
...
\t.end_amdgpu_metadata
"""


def kernel_text(body: str, kernels: str) -> str:
    """A kernel of some instructions; ``kernels`` is the ``amdhsa.kernels`` entry of its metadata, as YAML."""
    return _TEMPLATE.format(body=body, kernels=kernels)


def metadata(*arguments: str) -> str:
    """The metadata of a kernel with these arguments, each a YAML map."""
    return f"""amdhsa.kernels:
  - {{ .name: k, .symbol: k.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
      .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 16, .vgpr_count: 8, .max_flat_workgroup_size: 1024,
      .args: [ {", ".join(arguments)} ] }}"""
