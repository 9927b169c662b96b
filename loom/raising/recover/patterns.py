"""Patterns of instructions, the question of a workload's README that each belongs to, and what says the same in
source."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """Instructions whose key matches ``key`` say ``meaning``; ``source`` would say it for the compiler."""

    key: re.Pattern[str]
    question: str
    meaning: str
    source: str


def _pattern(key: str, question: str, meaning: str, source: str) -> Pattern:
    return Pattern(re.compile(rf"^{key}$"), question, meaning, source)


#: The first that matches counts. Keys are instruction names without the family's prefix.
PATTERNS = (
    _pattern(
        r"v_(wmma|swmmac|mfma|smfmac)_.*",
        "fragment representation",
        "matrix instruction",
        "vector.fragment.load, vector.mma, vector.fragment.store",
    ),
    _pattern(r"v_dot\d.*", "fragment representation", "dot product of packed parts", "vector.dot2f, vector.dot4i"),
    _pattern(r"v_pk_.*", "fragment representation", "packed halves", "a vector<2xf16> or vector<2xi16> operation"),
    _pattern(r"(v_perm_b32|v_alignb(it|yte)_b32)", "fragment representation", "bytes change places", "vector.shuffle"),
    _pattern(
        r"(ds_(bpermute|permute|swizzle).*|v_permlane.*|v_(read|write)(first)?lane.*|.*_dpp(8|16)?)",
        "synchronization",
        "exchange between lanes",
        "kernel.subgroup.reduce, .scan, .shuffle, .broadcast",
    ),
    _pattern(r"s_barrier.*", "synchronization", "barrier", "kernel.barrier, or a kernel.workgroup collective"),
    _pattern(r"(buffer_gl\d_inv|global_(inv|wb).*)", "synchronization", "cache made visible", "the barrier's ordering"),
    _pattern(
        r"(global|flat|buffer|ds)_(atomic|add|min|max|cmpst|and|or|xor).*",
        "synchronization",
        "atomic",
        "view.atomic.reduce, .rmw",
    ),
    _pattern(r"(global|flat|buffer|scratch)_load_.*", "memory traffic", "global load", "view.load, vector.load"),
    _pattern(r"(global|flat|buffer|scratch)_store_.*", "output ownership", "global store", "view.store, vector.store"),
    _pattern(r"ds_(load|read)_?.*", "memory traffic", "local load", "view.load from buffer.alloca<workgroup>"),
    _pattern(r"ds_(store|write)_?.*", "resource lifetime", "local store", "view.store to buffer.alloca<workgroup>"),
    _pattern(r"s_(buffer_)?load_.*", "memory traffic", "uniform load", "a kernel argument, or a uniform view.load"),
    _pattern(r"s_wait.*", "dependency latency", "wait", "nothing: waits follow from who uses what"),
    _pattern(
        r"(s_(and|andn2|and_not1|or)_saveexec.*|v_cmpx_.*)",
        "output ownership",
        "lanes masked off",
        "scf.if, masked access",
    ),
    _pattern(r"v_(fma|fmac|mad|dual_fmac)_?.*", "dependency latency", "multiply-add", "scalar.fmaf, vector.fmaf"),
    _pattern(
        r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_.*", "dependency latency", "long-latency function", "scalar.expf<afn> …"
    ),
    _pattern(r"(v_div_scale|v_div_fmas|v_div_fixup)_.*", "dependency latency", "exact division", "scalar.divf"),
)


def classify(key: str) -> Pattern | None:
    """The pattern of an instruction key such as ``amdgpu.global_load_b32``; ``None`` for plain arithmetic."""
    name = key.partition(".")[2] or key
    for part in name.split("."):
        for pattern in PATTERNS:
            if pattern.key.match(part):
                return pattern
    return None
