"""The NumPy and the LLVM back end give the same bits for every operation, on random and on edge operands."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from loom.low.semantics.numpy_backend import evaluate_expressions
from loom.low.semantics.operation import Context, Mode, assemble, input_names
from loom.low.semantics.table import OPERATIONS
from tests.low.semantics.llvm_runner import run_batch

EDGES32 = np.array(
    [0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000,
     0x7FC00000, 0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0xFFFFFFFF, 0x3C003C00, 0x7C007C00, 0x7E01FC00, 0x00010001,
     0x80008000, 0x4B000000, 0xCF000000, 0x4F000000, 31, 32, 33, 0x3F7FFFFF],
    dtype=np.uint32,
)  # fmt: skip


def arguments_for(
    operation: Any, wave: int, rng: np.random.Generator, uniform: bool
) -> tuple[dict[str, Any], list[bool]]:
    arguments: dict[str, Any] = {}
    lanes = []
    for type_, names in zip(operation.inputs, input_names(operation, wave), strict=True):
        lane = not uniform and type_ != "mask"
        lanes.append(lane)
        for name in names:
            if type_ == "mask":
                arguments[name] = np.array([rng.integers(0, 1 << wave, dtype=np.uint64)])
                if wave == 32:
                    arguments[name] = arguments[name].astype(np.uint32)
                continue
            words = rng.integers(0, 1 << 32, wave, dtype=np.uint64).astype(np.uint32)
            # A third are edge values, a third ordinary numbers, so that every branch of an operation is met.
            pick = rng.integers(0, 3, wave)
            ordinary = (rng.standard_normal(wave) * 100).astype(np.float32).view(np.uint32)
            words = np.where(pick == 0, rng.choice(EDGES32, wave), np.where(pick == 1, ordinary, words))
            arguments[name] = words if lane else words[:1]
    mask_type = np.uint32 if wave == 32 else np.uint64
    arguments["exec"] = np.array([rng.integers(1, 1 << wave, dtype=np.uint64)]).astype(mask_type)
    arguments["vcc"] = np.array([rng.integers(0, 1 << wave, dtype=np.uint64)]).astype(mask_type)
    arguments["scc"] = np.array([rng.integers(0, 2)]).astype(np.uint8)
    arguments["m0"] = np.array([rng.integers(0, 1 << 32)]).astype(np.uint32)
    for k in range(4):
        arguments[f"old{k}"] = rng.integers(0, 1 << 32, wave, dtype=np.uint64).astype(np.uint32)
    return arguments, lanes


def is_scalar(name: str) -> bool:
    return name.startswith("s_")


def wave_of(name: str) -> int | None:
    if ".w" in name:
        return int(name.rsplit(".w", 1)[1])
    return None


NAMES = sorted(OPERATIONS)
MATRIX = re.compile("wmma|mfma|smfmac|swmmac|_tr_b|pk32|2xpk16")
CDNA = re.compile("v_mfma|v_smfmac|v_cvt_scalef32")
MODES = {
    "default": (Mode(), {}),
    "flush": (Mode(denorm32=0, denorm64=0), {}),
    "toward_zero": (Mode(round32=3, round64=3), {}),
    "clamp": (Mode(), {"clamp": 1}),
    "overflow": (Mode(fp16_overflow=True, fnuz=True), {"op_sel": 8}),
    "negated": (Mode(), {"neg": 5, "abs": 2, "neg_lo": 1, "neg_hi": 2, "op_sel": 5, "op_sel_hi": 2}),
}


def large(name: str) -> bool:
    """Matrix operations whose host code takes seconds to compile."""
    return re.search(r"32x32x(32|64)_|16x16x(64|128)_", name) is not None


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("variant", MODES)
def test_same_bits(wave: int, variant: str) -> None:
    names = compare_backends([n for n in NAMES if not large(n)], wave, variant)
    assert len(names) > 700


@pytest.mark.full
@pytest.mark.parametrize("part", range(4))
def test_large_matrices(part: int) -> None:
    assert compare_backends([n for n in NAMES if large(n)][part::4], 64, "default")


def compare_backends(chosen: list[str], wave: int, variant: str) -> list[str]:
    """Run operations through both back ends; gives the names of those that exist for the wave size."""
    mode, modifiers = MODES[variant]
    rng = np.random.default_rng(7 + wave)
    items = []
    names = []
    for name in chosen:
        own = wave_of(name)
        if own is not None and own != wave:
            continue
        if "exec_b" in name and not name.endswith(str(wave)):
            continue  # EXEC is as wide as the wave
        if CDNA.match(name) and wave == 32:
            continue  # CDNA has waves of 64 lanes only
        if variant != "default" and (MATRIX.search(name) or name in ("ds_permute_b32", "v_trig_preop_f64")):
            continue
        operation = OPERATIONS[name]
        arguments, lanes = arguments_for(operation, wave, rng, is_scalar(name))
        if name == "v_readlane_b32":
            lanes[1] = False
            arguments["a1"] = arguments["a1"][:1]
        if "permlane" in name and "var" not in name and len(lanes) == 4:
            lanes[2] = lanes[3] = False
            arguments["a2"], arguments["a3"] = arguments["a2"][:1], arguments["a3"][:1]
        if name == "v_writelane_b32":
            lanes[1] = lanes[2] = False
            arguments["a1"], arguments["a2"] = arguments["a1"][:1], arguments["a2"][:1]
        generation = "gfx12" if ".gfx12" in name else "gfx11"
        packed_source = variant == "negated" and name.startswith("v_cvt_scalef32")  # takes no negation
        modifiers = {"op_sel": 5} if packed_source else MODES[variant][1]
        built = assemble(operation, Context(wave, mode, modifiers, generation), lanes)
        items.append((built, arguments))
        names.append(name)
    differing = []
    for start in range(0, len(items), 150):
        batch = items[start : start + 150]
        for (built, arguments), name, compiled in zip(batch, names[start:], run_batch(batch, wave), strict=False):
            roots = [w for r in built.results for w in r] + list(built.state_results)
            if built.write_mask is not None:
                roots.append(built.write_mask)
            expected = evaluate_expressions(roots, arguments, wave)
            for root, want, got in zip(roots, expected, compiled, strict=True):
                count = wave if root.lane else 1
                reference = np.broadcast_to(want, (count,))
                if reference.dtype.kind == "f":
                    reference = np.ascontiguousarray(reference).view(got.dtype)
                if not np.array_equal(reference.astype(got.dtype), got):
                    differing.append(name)
    assert sorted(set(differing)) == []
    return names
