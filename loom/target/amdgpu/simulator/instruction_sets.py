"""Sets of instructions that the translation treats alike, by LLVM's mnemonic."""

from __future__ import annotations

NO_EFFECT = frozenset(
    [
        "s_nop", "s_waitcnt", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_lgkmcnt", "s_waitcnt_expcnt",
        "s_waitcnt_depctr", "s_delay_alu", "s_clause", "s_sleep", "s_sleep_var", "s_sendmsg", "s_inst_prefetch",
        "s_set_inst_prefetch_distance", "s_icache_inv", "s_dcache_inv", "s_dcache_wb", "s_gl1_inv",
        "buffer_gl0_inv", "buffer_gl1_inv", "buffer_inv", "buffer_wbl2", "buffer_wbinvl1", "buffer_wbinvl1_vol",
        "global_inv", "global_wb", "global_wbinv", "s_ttracedata", "s_ttracedata_imm", "s_setprio", "s_wait_idle",
        "s_wait_event", "s_sethalt", "s_setkill", "s_incperflevel", "s_decperflevel", "s_wait_loadcnt",
        "s_wait_storecnt", "s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_expcnt", "s_wait_dscnt", "s_wait_kmcnt",
        "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt", "s_wait_alu", "s_version", "s_barrier_signal",
        "s_prefetch_inst", "s_prefetch_inst_pc_rel", "s_prefetch_data", "s_buffer_prefetch_data",
        "s_prefetch_data_pc_rel", "v_nop", "s_dcache_inv_vol", "s_dcache_wb_vol", "s_dcache_discard",
        "s_dcache_discard_x2", "v_pipeflush", "s_wakeup", "s_set_gpr_idx_off", "s_singleuse_vdst",
        "ds_nop", "v_clrexcp",
    ]
)  # fmt: skip
"""Instructions that change no value a program can see."""

NOP_CLASSES = frozenset(
    [
        "s_nop", "s_delay_alu", "s_clause", "v_nop", "s_sleep", "s_inst_prefetch", "s_set_inst_prefetch_distance",
        "s_setprio", "ds_nop",
    ]
)  # fmt: skip
"""Instructions that counts list as no-ops; waits are listed apart."""

ENDS_BLOCK = frozenset(
    [
        "s_branch", "s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done", "s_setpc_b64", "s_swappc_b64",
        "s_call_b64", "s_barrier", "s_barrier_wait", "s_trap", "s_code_end",
    ]
)  # fmt: skip
"""Instructions behind which a new block starts, besides branches."""

SYSTEM = frozenset(
    [
        "s_round_mode", "s_denorm_mode", "s_setreg_b32", "s_setreg_imm32_b32", "s_getpc_b64", "s_getreg_b32",
        "s_memtime", "s_memrealtime", "s_get_shader_cycles_u64", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64",
        "s_movrels_b32", "s_movrels_b64", "s_movreld_b32", "s_movreld_b64", "s_movrelsd_2_b32", "v_movrels_b32",
        "v_movreld_b32", "v_movrelsd_b32", "v_movrelsd_2_b32", "v_swaprel_b32", "lds_direct_load", "ds_direct_load",
        "s_barrier_signal_isfirst",
    ]
)  # fmt: skip
"""Instructions about the wave itself, which the translation carries out without a semantic operation."""

LANE_EXCHANGES = frozenset(["ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32"])
"""LDS instructions that only move values between lanes."""
