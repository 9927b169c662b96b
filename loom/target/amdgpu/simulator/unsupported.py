"""Instructions that are not simulated, each with its reason. Reaching one is a fault that says so."""

from __future__ import annotations

import re

_REASONS: tuple[tuple[str, str], ...] = (
    (
        r"^t?buffer_(load|store)_(d16_)?(hi_)?(format|d16)",
        "typed buffer formats convert image data; compute code uses plain loads",
    ),
    (
        r"^ds_(append|consume|ordered_count|bvh_stack|gws|(add|sub)_gs_reg)",
        "counters of the graphics pipeline and ray tracing",
    ),
    (r"^ds_condxchg32", "no compiler produces it, and its byte-wise exchange has no other use"),
    (r"^(lds|ds)_(direct|param)_load", "attribute interpolation of pixel shaders"),
    (r"^(image|exp|v_interp)", "image and pixel instructions of the graphics pipeline"),
    (r"^s_subvector_loop", "runs a wave64 in two halves; no compiler produces it"),
    (r"^s_rfe", "returns from a trap handler, which the simulator does not run"),
    (r"^s_sendmsghalt", "halts the wave for the driver"),
    (r"^v_(movrelsd|swaprel)|^s_movrelsd", "register-relative moves on both sides; no compiler produces them"),
    (r"^(v_swmmac|v_smfmac)", "sparse matrix operations"),
    (r"^v_mfma_.*(xf32|f8f6f4)|^v_mfma_ld", "matrix operations on reduced single precision and scaled formats"),
    (
        r"^s_(alloc_vgpr|get_barrier_state|barrier_(init|join|leave|signal_isfirst))",
        "named barriers and dynamic registers",
    ),
    (
        r"^(global|scratch)_(load|store)_block|_tr_b\d+$|ordered_add",
        "transposing and block transfers of gfx12 and gfx950",
    ),
    (r"^v_cvt_(sr|pk)_(fp8|bf8|bf16|f16)|^v_cvt_scalef32|^v_prng", "stochastic and scaled small-float conversions"),
    (r"^s_(buffer_|scratch_)?(atomic|store)|^s_scratch|^s_atc", "scalar stores and atomics of gfx9"),
    (r"^(global|buffer|scratch)_load_lds", "loads from memory straight into LDS"),
)
"""Patterns of mnemonics and why they are left out."""


def reason_unsupported(mnemonic: str) -> str | None:
    """Why an instruction is not simulated, or None when it should be."""
    for pattern, reason in _REASONS:
        if re.search(pattern, mnemonic):
            return reason
    return None
