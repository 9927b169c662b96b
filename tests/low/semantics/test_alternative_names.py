"""Operations that are others under another name, or on scalar registers: the same bits as the one that has values of its own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from loom.low.semantics.operation import OPERATIONS, words_of
from loom.low.semantics.table import evaluate

#: Names of gfx9, gfx12 or older assemblers, and the names under which the other tests know the operation.
SAME = {
    "s_add_co_u32": "s_add_u32", "s_add_co_i32": "s_add_i32", "s_add_co_ci_u32": "s_addc_u32", "s_sub_co_u32": "s_sub_u32",
    "s_sub_co_i32": "s_sub_i32", "s_sub_co_ci_u32": "s_subb_u32", "s_addk_co_i32": "s_addk_i32", "s_add_nc_u64": "s_add_u64",
    "s_sub_nc_u64": "s_sub_u64", "s_flbit_i32_b32": "s_clz_i32_u32", "s_flbit_i32_b64": "s_clz_i32_u64", "s_flbit_i32": "s_cls_i32",
    "s_flbit_i32_i64": "s_cls_i32_i64", "s_ff0_i32_b32": "s_ctz_not_i32_b32", "s_ff0_i32_b64": "s_ctz_not_i32_b64",
    "s_ff1_i32_b32": "s_ctz_i32_b32", "s_ff1_i32_b64": "s_ctz_i32_b64",
    **{
        f"s_{old}{tail}_b{bits}": f"s_{new}{tail}_b{bits}"
        for bits in (32, 64) for tail in ("", "_saveexec", "_wrexec")
        for old, new in (("andn1", "and_not0"), ("andn2", "and_not1"), ("orn1", "or_not0"), ("orn2", "or_not1"))
        if f"s_{old}{tail}_b{bits}" in OPERATIONS
    },
    "v_add_u16": "v_add_nc_u16", "v_add_i16": "v_add_nc_i16", "v_add_u32": "v_add_nc_u32", "v_add_i32": "v_add_nc_i32",
    "v_sub_u16": "v_sub_nc_u16", "v_sub_i16": "v_sub_nc_i16", "v_sub_u32": "v_sub_nc_u32", "v_sub_i32": "v_sub_nc_i32",
    "v_subrev_u32": "v_subrev_nc_u32", "v_addc_co_u32": "v_add_co_ci_u32", "v_subb_co_u32": "v_sub_co_ci_u32",
    "v_subbrev_co_u32": "v_subrev_co_ci_u32", "v_mad_co_u64_u32": "v_mad_u64_u32", "v_mad_co_i64_i32": "v_mad_i64_i32",
    "v_mul_lo_i32": "v_mul_lo_u32", "v_mad_legacy_u16": "v_mad_u16", "v_mad_legacy_i16": "v_mad_i16",
    "v_ffbh_u32": "v_clz_i32_u32", "v_ffbh_i32": "v_cls_i32", "v_ffbl_b32": "v_ctz_i32_b32",
    "v_cvt_flr_i32_f32": "v_cvt_floor_i32_f32", "v_cvt_rpi_i32_f32": "v_cvt_nearest_i32_f32",
    "v_cvt_pknorm_i16_f32": "v_cvt_pk_norm_i16_f32", "v_cvt_pknorm_u16_f32": "v_cvt_pk_norm_u16_f32",
    "v_cvt_pknorm_i16_f16": "v_cvt_pk_norm_i16_f16", "v_cvt_pknorm_u16_f16": "v_cvt_pk_norm_u16_f16",
    "v_cvt_pkrtz_f16_f32": "v_cvt_pk_rtz_f16_f32", "v_fma_legacy_f16": "v_fma_f16", "v_mad_legacy_f16": "v_mad_f16",
    "v_madak_f32": "v_mad_f32", "v_madak_f16": "v_mad_f16", "v_fma_dx9_zero_f32": "v_fma_legacy_f32",
    "v_fmac_dx9_zero_f32": "v_fmac_legacy_f32", "v_mul_dx9_zero_f32": "v_mul_legacy_f32",
    "v_mad_mix_f32": "v_fma_mix_f32", "v_mad_mixlo_f16": "v_fma_mixlo_f16", "v_mad_mixhi_f16": "v_fma_mixhi_f16",
    "v_dot2c_f32_f16": "v_dot2acc_f32_f16", "v_dot2c_f32_bf16": "v_dot2acc_f32_bf16",
    "v_div_fixup_legacy_f16": "v_div_fixup_f16",
    "v_exp_legacy_f32": "v_exp_f32", "v_log_legacy_f32": "v_log_f32", "v_rcp_iflag_f32": "v_rcp_f32",
    **{f"v_{p}_tru_f{n}": f"v_{p}_t_f{n}" for p in ("cmp", "cmpx") for n in (16, 32, 64)},
    **{
        f"v_{name}_num_{kind}": f"v_{name}_{kind}"
        for name in ("max3", "min3", "maxmin", "minmax", "med3") for kind in ("f16", "f32")
    },
}  # fmt: skip

#: Scalar floating point (gfx11.5, gfx12) and the vector operation that it repeats.
SCALAR = {
    **{
        f"s_{name}_{kind}": f"v_{name}_{kind}"
        for kind in ("f16", "f32")
        for name in ("add", "sub", "mul", "min", "max", "min_num", "max_num", "minimum", "maximum", "fmac", "ceil", "floor", "trunc", "rndne")
    },
    "s_fmaak_f32": "v_fmaak_f32", "s_fmamk_f32": "v_fmamk_f32", "s_cvt_f16_f32": "v_cvt_f16_f32", "s_cvt_f32_f16": "v_cvt_f32_f16",
    "s_cvt_f32_i32": "v_cvt_f32_i32", "s_cvt_f32_u32": "v_cvt_f32_u32", "s_cvt_i32_f32": "v_cvt_i32_f32",
    "s_cvt_u32_f32": "v_cvt_u32_f32", "s_cvt_pk_rtz_f16_f32": "v_cvt_pk_rtz_f16_f32",
    **{f"v_s_{name}_{kind}": f"v_{name}_{kind}" for kind in ("f16", "f32") for name in ("exp", "log", "rcp", "rsq", "sqrt")},
}  # fmt: skip

EDGES = [0, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x7F7FFFFF,
         0x00800000, 0x007FFFFF, 0x3C003C00, 0x7C00FC00, 0x7E017C01, 0x00018001, 31, 32, 0x42280000]  # fmt: skip


def words(rng: np.random.Generator, count: int) -> np.ndarray:
    ordinary = (rng.standard_normal(count) * 100).astype(np.float32).view(np.uint32)
    random = rng.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32)
    pick = rng.integers(0, 3, count)
    return np.where(pick == 0, rng.choice(np.array(EDGES, np.uint32), count), np.where(pick == 1, ordinary, random))


def inputs_of(name: str, rng: np.random.Generator, uniform: bool, wave: int) -> list[Any]:
    result: list[Any] = []
    for type_ in OPERATIONS[name].inputs:
        if type_ == "mask":
            result.append(int(rng.integers(0, 1 << wave, dtype=np.uint64)))
            continue
        count = words_of(type_, wave)
        parts: list[Any] = [int(words(rng, 1)[0]) if uniform else words(rng, wave) for _ in range(count)]
        result.append(parts if count > 1 else parts[0])
    return result


def outcome(name: str, inputs: list[Any], wave: int, state: dict[str, int]) -> tuple[list[list[int]], dict[str, int]]:
    old = [np.full(wave, 0x13572468, np.uint32)] * 2
    found = evaluate(
        name, inputs, wave=wave, exec_mask=0xF0FF0FFF if wave == 32 else 0xF0FF0FFF_3FF0FFFF, state=state, old=old
    )
    return [[np.broadcast_to(w, (wave,)).tolist() for w in r] for r in found["results"]], found["state"]


@pytest.mark.parametrize("name", SAME)
def test_other_name(name: str) -> None:
    twin = SAME[name]
    assert OPERATIONS[name].inputs == OPERATIONS[twin].inputs and OPERATIONS[name].results == OPERATIONS[twin].results
    rng = np.random.default_rng(1)
    wave = 64 if "exec_b64" in name else 32
    for _ in range(12):
        inputs = inputs_of(name, rng, name.startswith("s_"), wave)
        state = {"scc": int(rng.integers(2)), "vcc": int(rng.integers(0, 1 << 32)), "m0": 0}
        assert outcome(name, inputs, wave, state) == outcome(twin, inputs, wave, state)


@pytest.mark.parametrize("name", SCALAR)
def test_scalar_float(name: str) -> None:
    """One value instead of one a lane; a half stands in the low bits, zero-extended."""
    twin = SCALAR[name]
    rng = np.random.default_rng(2)
    short = OPERATIONS[name].results[0] == "f16"
    for _ in range(6):
        lanes = inputs_of(name, rng, False, 32)
        want = evaluate(twin, lanes, old=[0])["results"][0][0]
        for lane in range(0, 32, 3):
            got = evaluate(name, [int(v[lane]) for v in lanes])["results"][0][0]
            expected = int(np.broadcast_to(want, (32,))[lane])
            assert int(got[0]) == (expected & 0xFFFF if short else expected), (name, [hex(int(v[lane])) for v in lanes])


def test_upper_half() -> None:
    """s_cvt_hi_f32_f16"""
    for word, want in ((0x3C000000, 1.0), (0xC0007E00, -2.0), (0x00011234, 2.0**-24)):
        got = evaluate("s_cvt_hi_f32_f16", [word])["results"][0][0]
        assert got.view(np.float32)[0] == np.float32(want)


def test_nothing() -> None:
    """v_nop v_pipeflush: no result."""
    for name in ("v_nop", "v_pipeflush"):
        assert evaluate(name, [])["results"] == []


def test_swapped_operands_of_gfx9() -> None:
    """v_madmk_f32 v_madmk_f16: the constant is the second factor; the addend comes last."""
    rng = np.random.default_rng(3)
    for kind in ("f32", "f16"):
        a, k, b = inputs_of(f"v_madmk_{kind}", rng, False, 32)
        got = evaluate(f"v_madmk_{kind}", [a, k, b], old=[0])["results"][0][0]
        assert (got == evaluate(f"v_mad_{kind}", [a, k, b], old=[0])["results"][0][0]).all()


def test_names_are_not_compared_with_themselves() -> None:
    for name, twin in {**SAME, **SCALAR}.items():
        assert name != twin and not re.search(r"legacy_f16$", twin)
