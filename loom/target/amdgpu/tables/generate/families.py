"""Families of instructions and modifiers that probing and the rules treat alike."""

from __future__ import annotations

import re

VOP3SD = re.compile(
    r"^v_(add|sub|subrev)_co_(ci_)?u32$|^v_(addc|subb|subbrev)_co_u32$|^v_div_scale_f(32|64)$|^v_mad_(co_)?[iu]64_[iu]32$"
)
MATRIX = re.compile(r"^v_(mfma|smfmac|accvgpr)_")
DS_TWO = re.compile(r"^ds_\w*(2addr|read2|write2|wrxchg2)")

# Modifiers whose bits make sense only together, so that flipping one of them proves nothing about the others.
WHOLE_MODIFIERS = frozenset(
    (
        "dpp_ctrl",
        "dpp8",
        "fi8",
        "dst_sel",
        "dst_unused",
        "src0_sel",
        "src1_sel",
        "format",
        "scope",
        "th",
        "row_mask",
        "bank_mask",
        "cbsz",
        "abid",
        "blgp",
        "glc",
        "sc0",
    )
)


def is_atomic(mnemonic: str) -> bool:
    """Whether a vector memory instruction is an atomic that may return the old value."""
    return re.match(r"^(global|flat|buffer|scratch)_atomic_", mnemonic) is not None
