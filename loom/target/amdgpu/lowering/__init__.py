"""Lowering of source kernels to Low for AMDGPU; the door is :func:`lower_kernel`. docs/lowering.md states the form of
the result.
"""

from __future__ import annotations

from loom.target.amdgpu.lowering.kernel import lower_kernel

__all__ = ["lower_kernel"]
