	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.amdhsa_code_object_version 5
	.text
	.globl op_vector_32
	.p2align 8
	.type op_vector_32,@function
op_vector_32:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 448, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_mov_b32 v11, 0
	v_xor3_b32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:0
	v_xnor_b32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:8
	v_not_b32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:16
	v_alignbit_b32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:24
	v_bfi_b32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:32
	v_bfm_b32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:40
	v_bcnt_u32_b32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:48
	v_max_u32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:56
	v_min_u32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:64
	v_min_i32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:72
	v_max3_u32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:80
	v_min3_u32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:88
	v_max3_i32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:96
	v_min3_i32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:104
	v_med3_u32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:112
	v_med3_i32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:120
	v_maxmin_u32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:128
	v_minmax_u32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:136
	v_maxmin_i32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:144
	v_minmax_i32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:152
	v_add_nc_i32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:160
	v_sub_nc_i32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:168
	v_add_nc_i32 v10, v2, v4 clamp
	global_store_b32 v8, v10, s[10:11] offset:176
	v_mul_hi_i32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:184
	v_mul_i32_i24 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:192
	v_mul_hi_i32_i24 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:200
	v_mul_hi_u32_u24 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:208
	v_mad_i32_i24 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:216
	v_sad_u8 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:224
	v_sad_hi_u8 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:232
	v_msad_u8 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:240
	v_sad_u32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:248
	v_sad_u16 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:256
	v_lerp_u8 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:264
	v_clz_i32_u32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:272
	v_ctz_i32_b32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:280
	v_cls_i32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:288
	v_cvt_f32_ubyte0 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:296
	v_cvt_f32_ubyte1 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:304
	v_cvt_f32_ubyte2 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:312
	v_cvt_f32_ubyte3 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:320
	v_cvt_off_f32_i4 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:328
	v_cvt_pk_i16_i32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:336
	v_cvt_pk_u16_u32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:344
	v_mov_b32 v10, 0
	v_sat_pk_u8_i16 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:352
	v_dot8_u32_u4 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:360
	v_dot8_i32_iu4 v10, v2, v4, v6 neg_lo:[1,1,0]
	global_store_b32 v8, v10, s[10:11] offset:368
	v_mov_b32 v10, v4
	v_mov_b32 v12, v2
	v_swap_b32 v10, v12
	global_store_b32 v8, v10, s[10:11] offset:376
	v_mov_b32_dpp v10, v2 row_share:3 row_mask:0xf bank_mask:0xf
	global_store_b32 v8, v10, s[10:11] offset:384
	v_mov_b32 v10, v4
	v_mov_b32_dpp v10, v2 row_shl:1 row_mask:0xf bank_mask:0xf
	global_store_b32 v8, v10, s[10:11] offset:392
	v_mov_b32 v10, v4
	v_mov_b32_dpp v10, v2 row_xmask:1 row_mask:0x1 bank_mask:0x5
	global_store_b32 v8, v10, s[10:11] offset:400
	v_mov_b32 v10, v4
	v_mov_b32_dpp v10, v2 row_ror:4 row_mask:0xf bank_mask:0xf fi:1
	global_store_b32 v8, v10, s[10:11] offset:408
	v_add3_u32_e64_dpp v10, v2, v4, v6 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
	global_store_b32 v8, v10, s[10:11] offset:416
	v_add3_u32_e64_dpp v10, v2, v4, v6 dpp8:[7,6,5,4,3,2,1,0]
	global_store_b32 v8, v10, s[10:11] offset:424
	s_mov_b32 m0, 0
	s_nop 0
	v_mov_b32 v11, v4
	s_mov_b32 m0, 1
	s_nop 0
	v_movrels_b32 v10, v10
	global_store_b32 v8, v10, s[10:11] offset:432
	s_mov_b32 m0, 2
	v_mov_b32 v12, v6
	v_movreld_b32 v10, v2
	v_mov_b32 v10, v12
	global_store_b32 v8, v10, s[10:11] offset:440
	s_endpgm
.Lop_vector_32_end:
	.size op_vector_32, .Lop_vector_32_end-op_vector_32
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_vector_32
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_vector_64
	.p2align 8
	.type op_vector_64,@function
op_vector_64:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 64, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_qsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	v_mqsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]
	global_store_b64 v8, v[10:11], s[10:11] offset:8
	v_mov_b32 v16, v6
	v_mov_b32 v17, v7
	v_mov_b32 v18, v2
	v_mov_b32 v19, v3
	v_mqsad_u32_u8 v[10:13], v[2:3], v4, v[16:19]
	global_store_b32 v8, v10, s[10:11] offset:16
	global_store_b32 v8, v11, s[10:11] offset:24
	global_store_b32 v8, v12, s[10:11] offset:32
	global_store_b32 v8, v13, s[10:11] offset:40
	v_mad_i64_i32 v[10:11], s30, v2, v4, v[6:7]
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	v_subrev_co_u32 v10, vcc_lo, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:56
	s_endpgm
.Lop_vector_64_end:
	.size op_vector_64, .Lop_vector_64_end-op_vector_64
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_vector_64
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_vector_16
	.p2align 8
	.type op_vector_16,@function
op_vector_16:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 296, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_mov_b32 v10, 0
	v_add_nc_u16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:0
	v_mov_b32 v10, 0
	v_add_nc_i16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:8
	v_mov_b32 v10, 0
	v_sub_nc_i16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:16
	v_mov_b32 v10, 0
	v_and_b16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:24
	v_mov_b32 v10, 0
	v_or_b16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:32
	v_mov_b32 v10, 0
	v_xor_b16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:40
	v_mov_b32 v10, 0
	v_not_b16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:48
	v_mov_b32 v10, 0
	v_lshlrev_b16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:56
	v_mov_b32 v10, 0
	v_lshrrev_b16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:64
	v_mov_b32 v10, 0
	v_ashrrev_i16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:72
	v_mov_b32 v10, 0
	v_max_i16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:80
	v_mov_b32 v10, 0
	v_min_i16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:88
	v_mov_b32 v10, 0
	v_max_u16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:96
	v_mov_b32 v10, 0
	v_min_u16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:104
	v_mov_b32 v10, 0
	v_mad_u16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:112
	v_mov_b32 v10, 0
	v_mad_i16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:120
	v_mov_b32 v10, 0
	v_max3_u16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:128
	v_mov_b32 v10, 0
	v_min3_u16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:136
	v_mov_b32 v10, 0
	v_med3_u16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:144
	v_mov_b32 v10, 0
	v_max3_i16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:152
	v_mov_b32 v10, 0
	v_min3_i16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:160
	v_mov_b32 v10, 0
	v_med3_i16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:168
	v_mad_u32_u16 v10, v2.l, v4.l, v6
	global_store_b32 v8, v10, s[10:11] offset:176
	v_mad_i32_i16 v10, v2.l, v4.l, v6
	global_store_b32 v8, v10, s[10:11] offset:184
	v_cvt_u32_u16 v10, v2.h
	global_store_b32 v8, v10, s[10:11] offset:192
	v_cvt_i32_i16 v10, v2.l
	global_store_b32 v8, v10, s[10:11] offset:200
	v_mov_b32 v10, v4
	v_swap_b16 v10.l, v10.h
	global_store_b32 v8, v10, s[10:11] offset:208
	v_pk_add_i16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:216
	v_pk_sub_i16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:224
	v_pk_sub_u16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:232
	v_pk_mad_i16 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:240
	v_pk_mul_lo_u16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:248
	v_pk_max_u16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:256
	v_pk_min_u16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:264
	v_pk_min_i16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:272
	v_pk_lshlrev_b16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:280
	v_pk_lshrrev_b16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:288
	s_endpgm
.Lop_vector_16_end:
	.size op_vector_16, .Lop_vector_16_end-op_vector_16
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_vector_16
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_single
	.p2align 8
	.type op_single,@function
op_single:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 224, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_ceil_f32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:0
	v_floor_f32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:8
	v_rndne_f32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:16
	v_fract_f32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:24
	v_min_f32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:32
	v_mul_dx9_zero_f32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:40
	v_mul_f32 v10, -|v2|, v4 mul:4
	global_store_b32 v8, v10, s[10:11] offset:48
	v_add_f32 v10, |v2|, -v4 clamp div:2
	global_store_b32 v8, v10, s[10:11] offset:56
	v_fmaak_f32 v10, v2, v4, 0x41200000
	global_store_b32 v8, v10, s[10:11] offset:64
	v_mov_b32 v10, v6
	v_fmac_dx9_zero_f32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:72
	v_fma_dx9_zero_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:80
	v_min3_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:88
	v_med3_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:96
	v_maxmin_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:104
	v_minmax_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:112
	v_mullit_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:120
	v_cubeid_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:128
	v_cubesc_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:136
	v_cubetc_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:144
	v_cubema_f32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:152
	v_cvt_f64_f32 v[10:11], v2
	global_store_b64 v8, v[10:11], s[10:11] offset:160
	v_cvt_floor_i32_f32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:168
	v_cvt_nearest_i32_f32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:176
	v_cvt_pk_i16_f32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:184
	v_cvt_pk_u16_f32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:192
	v_cvt_pk_norm_i16_f32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:200
	v_cvt_pk_norm_u16_f32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:208
	v_cvt_pk_rtz_f16_f32 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:216
	s_endpgm
.Lop_single_end:
	.size op_single, .Lop_single_end-op_single
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_single
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_single_1
	.p2align 8
	.type op_single_1,@function
op_single_1:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 4, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_rsq_f32 v10, |v2|
	global_store_b32 v8, v10, s[10:11] offset:0
	s_endpgm
.Lop_single_1_end:
	.size op_single_1, .Lop_single_1_end-op_single_1
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_single_1
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_single_2
	.p2align 8
	.type op_single_2,@function
op_single_2:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 12, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_log_f32 v10, |v2|
	global_store_b32 v8, v10, s[10:11] offset:0
	v_sin_f32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:4
	v_cos_f32 v10, v2
	global_store_b32 v8, v10, s[10:11] offset:8
	s_endpgm
.Lop_single_2_end:
	.size op_single_2, .Lop_single_2_end-op_single_2
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_single_2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_half
	.p2align 8
	.type op_half,@function
op_half:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 232, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_mov_b32 v10, 0
	v_ceil_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:0
	v_mov_b32 v10, 0
	v_trunc_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:8
	v_mov_b32 v10, 0
	v_rndne_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:16
	v_mov_b32 v10, 0
	v_fract_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:24
	v_mov_b32 v10, 0
	v_frexp_mant_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:32
	v_mov_b32 v10, 0
	v_frexp_exp_i16_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:40
	v_mov_b32 v10, 0
	v_max_f16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:48
	v_mov_b32 v10, 0
	v_min_f16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:56
	v_mov_b32 v10, 0
	v_mul_f16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:64
	v_mov_b32 v10, 0
	v_sub_f16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:72
	v_mov_b32 v10, 0
	v_subrev_f16 v10.l, v2.l, v4.l
	global_store_b16 v8, v10, s[10:11] offset:80
	v_mov_b32 v10, 0
	v_ldexp_f16 v10.l, v2.l, 3
	global_store_b16 v8, v10, s[10:11] offset:88
	v_mov_b32 v10, 0
	v_fmaak_f16 v10.l, v2.l, v4.l, 0x4200
	global_store_b16 v8, v10, s[10:11] offset:96
	v_mov_b32 v10, 0
	v_fmamk_f16 v10.l, v2.l, 0x4200, v4.l
	global_store_b16 v8, v10, s[10:11] offset:104
	v_mov_b32 v10, 0
	v_fma_f16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:112
	v_mov_b32 v10, 0
	v_max3_f16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:120
	v_mov_b32 v10, 0
	v_min3_f16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:128
	v_mov_b32 v10, 0
	v_med3_f16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:136
	v_mov_b32 v10, 0
	v_maxmin_f16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:144
	v_mov_b32 v10, 0
	v_minmax_f16 v10.l, v2.l, v4.l, v6.l
	global_store_b16 v8, v10, s[10:11] offset:152
	v_mov_b32 v10, 0
	v_cvt_i16_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:160
	v_mov_b32 v10, 0
	v_cvt_u16_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:168
	v_mov_b32 v10, 0
	v_cvt_norm_i16_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:176
	v_mov_b32 v10, 0
	v_cvt_norm_u16_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:184
	v_cvt_pk_norm_i16_f16 v10, v2.l, v4.l
	global_store_b32 v8, v10, s[10:11] offset:192
	v_cvt_pk_norm_u16_f16 v10, v2.l, v4.l
	global_store_b32 v8, v10, s[10:11] offset:200
	v_mov_b32 v10, v6
	v_pk_fmac_f16 v10, v2, v4
	global_store_b32 v8, v10, s[10:11] offset:208
	v_mov_b32 v10, 0
	v_fma_mixlo_f16 v10, v2, v4, v6 op_sel_hi:[1,1,1]
	global_store_b16 v8, v10, s[10:11] offset:216
	v_mov_b32 v10, 0
	v_fma_mixhi_f16 v10, v2, v4, v6 op_sel:[1,0,1] op_sel_hi:[1,1,1]
	global_store_b32 v8, v10, s[10:11] offset:224
	s_endpgm
.Lop_half_end:
	.size op_half, .Lop_half_end-op_half
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_half
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_half_1
	.p2align 8
	.type op_half_1,@function
op_half_1:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 6, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_mov_b32 v10, 0
	v_exp_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:0
	v_mov_b32 v10, 0
	v_log_f16 v10.l, |v2.l|
	global_store_b16 v8, v10, s[10:11] offset:2
	v_mov_b32 v10, 0
	v_rsq_f16 v10.l, |v2.l|
	global_store_b16 v8, v10, s[10:11] offset:4
	s_endpgm
.Lop_half_1_end:
	.size op_half_1, .Lop_half_1_end-op_half_1
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_half_1
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_half_2
	.p2align 8
	.type op_half_2,@function
op_half_2:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 4, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_mov_b32 v10, 0
	v_sin_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:0
	v_mov_b32 v10, 0
	v_cos_f16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:2
	s_endpgm
.Lop_half_2_end:
	.size op_half_2, .Lop_half_2_end-op_half_2
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_half_2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_small_half
	.p2align 8
	.type op_small_half,@function
op_small_half:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 40, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_dot2_f32_f16 v10, v2, v4, 1.0
	global_store_b32 v8, v10, s[10:11] offset:0
	v_mov_b32 v10, 0
	v_dot2_f16_f16 v10.l, v2, v4, v6.l
	global_store_b16 v8, v10, s[10:11] offset:8
	v_mov_b32 v10, 0
	v_cvt_f16_i16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:16
	v_mov_b32 v10, 0
	v_cvt_f16_u16 v10.l, v2.l
	global_store_b16 v8, v10, s[10:11] offset:24
	v_mov_b32 v10, 0
	v_div_fixup_f16 v10.l, v2.l, 1.0, v2.l
	global_store_b16 v8, v10, s[10:11] offset:32
	s_endpgm
.Lop_small_half_end:
	.size op_small_half, .Lop_small_half_end-op_small_half
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_small_half
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_bfloat
	.p2align 8
	.type op_bfloat,@function
op_bfloat:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 16, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_dot2_f32_bf16 v10, v2, v4, 1.0
	global_store_b32 v8, v10, s[10:11] offset:0
	v_mov_b32 v10, 0
	v_dot2_bf16_bf16 v10.l, v2, v4, v6.l
	global_store_b16 v8, v10, s[10:11] offset:8
	s_endpgm
.Lop_bfloat_end:
	.size op_bfloat, .Lop_bfloat_end-op_bfloat
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_bfloat
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_double_ops
	.p2align 8
	.type op_double_ops,@function
op_double_ops:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 104, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_ceil_f64 v[10:11], v[2:3]
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	v_trunc_f64 v[10:11], v[2:3]
	global_store_b64 v8, v[10:11], s[10:11] offset:8
	v_rndne_f64 v[10:11], v[2:3]
	global_store_b64 v8, v[10:11], s[10:11] offset:16
	v_fract_f64 v[10:11], v[2:3]
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	v_frexp_mant_f64 v[10:11], v[2:3]
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	v_frexp_exp_i32_f64 v10, v[2:3]
	global_store_b32 v8, v10, s[10:11] offset:40
	v_ldexp_f64 v[10:11], v[2:3], -5
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	v_min_f64 v[10:11], v[2:3], v[4:5]
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	v_cvt_f32_f64 v10, v[2:3]
	global_store_b32 v8, v10, s[10:11] offset:64
	v_cvt_i32_f64 v10, v[2:3]
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cvt_u32_f64 v10, |v[2:3]|
	global_store_b32 v8, v10, s[10:11] offset:80
	v_cvt_f64_i32 v[10:11], v2
	global_store_b64 v8, v[10:11], s[10:11] offset:88
	v_cvt_f64_u32 v[10:11], v2
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	s_endpgm
.Lop_double_ops_end:
	.size op_double_ops, .Lop_double_ops_end-op_double_ops
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_double_ops
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_double_ops_1
	.p2align 8
	.type op_double_ops_1,@function
op_double_ops_1:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 8, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_rsq_f64 v[10:11], |v[2:3]|
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	s_endpgm
.Lop_double_ops_1_end:
	.size op_double_ops_1, .Lop_double_ops_1_end-op_double_ops_1
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_double_ops_1
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_double_ops_2
	.p2align 8
	.type op_double_ops_2,@function
op_double_ops_2:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 8, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_sqrt_f64 v[10:11], |v[2:3]|
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	s_endpgm
.Lop_double_ops_2_end:
	.size op_double_ops_2, .Lop_double_ops_2_end-op_double_ops_2
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_double_ops_2
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_f16
	.p2align 8
	.type op_compare_f16,@function
op_compare_f16:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 272, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_f_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_f_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_lt_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_eq_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_le_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_gt_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_lg_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lg_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	v_cmp_ge_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:96
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:104
	v_cmp_o_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:112
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_o_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:120
	v_cmp_u_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:128
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_u_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:136
	v_cmp_nge_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:144
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nge_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:152
	v_cmp_nlg_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:160
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nlg_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:168
	v_cmp_ngt_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:176
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ngt_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:184
	v_cmp_nle_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:192
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nle_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:200
	v_cmp_neq_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:208
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_neq_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:216
	v_cmp_nlt_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:224
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nlt_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:232
	v_cmp_t_f16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:240
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_t_f16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:248
	v_cmp_class_f16 vcc_lo, v2.l, v6.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:256
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_class_f16 v2.l, v6.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:264
	s_endpgm
.Lop_compare_f16_end:
	.size op_compare_f16, .Lop_compare_f16_end-op_compare_f16
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_f16
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_f32
	.p2align 8
	.type op_compare_f32,@function
op_compare_f32:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 272, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_f_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_f_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_lt_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_eq_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_le_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_gt_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_lg_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lg_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	v_cmp_ge_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:96
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:104
	v_cmp_o_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:112
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_o_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:120
	v_cmp_u_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:128
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_u_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:136
	v_cmp_nge_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:144
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nge_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:152
	v_cmp_nlg_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:160
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nlg_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:168
	v_cmp_ngt_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:176
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ngt_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:184
	v_cmp_nle_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:192
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nle_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:200
	v_cmp_neq_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:208
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_neq_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:216
	v_cmp_nlt_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:224
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nlt_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:232
	v_cmp_t_f32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:240
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_t_f32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:248
	v_cmp_class_f32 vcc_lo, v2, v6
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:256
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_class_f32 v2, v6
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:264
	s_endpgm
.Lop_compare_f32_end:
	.size op_compare_f32, .Lop_compare_f32_end-op_compare_f32
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_f32
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_f64
	.p2align 8
	.type op_compare_f64,@function
op_compare_f64:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 272, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_f_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_f_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_lt_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_eq_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_le_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_gt_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_lg_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lg_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	v_cmp_ge_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:96
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:104
	v_cmp_o_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:112
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_o_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:120
	v_cmp_u_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:128
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_u_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:136
	v_cmp_nge_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:144
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nge_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:152
	v_cmp_nlg_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:160
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nlg_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:168
	v_cmp_ngt_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:176
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ngt_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:184
	v_cmp_nle_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:192
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nle_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:200
	v_cmp_neq_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:208
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_neq_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:216
	v_cmp_nlt_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:224
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_nlt_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:232
	v_cmp_t_f64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:240
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_t_f64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:248
	v_cmp_class_f64 vcc_lo, v[2:3], v6
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:256
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_class_f64 v[2:3], v6
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:264
	s_endpgm
.Lop_compare_f64_end:
	.size op_compare_f64, .Lop_compare_f64_end-op_compare_f64
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_f64
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_i16
	.p2align 8
	.type op_compare_i16,@function
op_compare_i16:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 96, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_lt_i16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_i16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_eq_i16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_i16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_le_i16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_i16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_gt_i16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_i16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_ne_i16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ne_i16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_ge_i16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_i16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	s_endpgm
.Lop_compare_i16_end:
	.size op_compare_i16, .Lop_compare_i16_end-op_compare_i16
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_i16
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_u16
	.p2align 8
	.type op_compare_u16,@function
op_compare_u16:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 96, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_lt_u16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_u16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_eq_u16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_u16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_le_u16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_u16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_gt_u16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_u16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_ne_u16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ne_u16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_ge_u16 vcc_lo, v2.l, v4.l
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_u16 v2.l, v4.l
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	s_endpgm
.Lop_compare_u16_end:
	.size op_compare_u16, .Lop_compare_u16_end-op_compare_u16
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_u16
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_i32
	.p2align 8
	.type op_compare_i32,@function
op_compare_i32:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 128, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_f_i32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_f_i32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_lt_i32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_i32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_eq_i32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_i32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_le_i32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_i32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_gt_i32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_i32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_ne_i32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ne_i32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	v_cmp_ge_i32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:96
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_i32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:104
	v_cmp_t_i32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:112
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_t_i32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:120
	s_endpgm
.Lop_compare_i32_end:
	.size op_compare_i32, .Lop_compare_i32_end-op_compare_i32
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_i32
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_u32
	.p2align 8
	.type op_compare_u32,@function
op_compare_u32:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 128, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_f_u32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_f_u32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_lt_u32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_u32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_eq_u32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_u32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_le_u32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_u32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_gt_u32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_u32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_ne_u32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ne_u32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	v_cmp_ge_u32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:96
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_u32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:104
	v_cmp_t_u32 vcc_lo, v2, v4
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:112
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_t_u32 v2, v4
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:120
	s_endpgm
.Lop_compare_u32_end:
	.size op_compare_u32, .Lop_compare_u32_end-op_compare_u32
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_u32
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_i64
	.p2align 8
	.type op_compare_i64,@function
op_compare_i64:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 128, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_f_i64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_f_i64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_lt_i64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_i64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_eq_i64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_i64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_le_i64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_i64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_gt_i64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_i64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_ne_i64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ne_i64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	v_cmp_ge_i64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:96
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_i64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:104
	v_cmp_t_i64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:112
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_t_i64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:120
	s_endpgm
.Lop_compare_i64_end:
	.size op_compare_i64, .Lop_compare_i64_end-op_compare_i64
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_i64
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_compare_u64
	.p2align 8
	.type op_compare_u64,@function
op_compare_u64:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 128, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_cmp_f_u64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_f_u64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:8
	v_cmp_lt_u64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_lt_u64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:24
	v_cmp_eq_u64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:32
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_eq_u64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:40
	v_cmp_le_u64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_le_u64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:56
	v_cmp_gt_u64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_gt_u64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:72
	v_cmp_ne_u64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:80
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ne_u64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:88
	v_cmp_ge_u64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:96
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_ge_u64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:104
	v_cmp_t_u64 vcc_lo, v[2:3], v[4:5]
	v_cndmask_b32 v10, 0, 1, vcc_lo
	global_store_b32 v8, v10, s[10:11] offset:112
	s_mov_b32 s30, exec_lo
	v_mov_b32 v10, 0
	v_cmpx_t_u64 v[2:3], v[4:5]
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, s30
	global_store_b32 v8, v10, s[10:11] offset:120
	s_endpgm
.Lop_compare_u64_end:
	.size op_compare_u64, .Lop_compare_u64_end-op_compare_u64
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_compare_u64
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_scalar_32
	.p2align 8
	.type op_scalar_32,@function
op_scalar_32:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 856, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_readfirstlane_b32 s20, v2
	v_readfirstlane_b32 s21, v3
	v_readfirstlane_b32 s22, v4
	v_readfirstlane_b32 s23, v5
	v_readfirstlane_b32 s24, v6
	v_readfirstlane_b32 s25, v7
	s_mov_b64 s[30:31], 0
	s_abs_i32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:0
	global_store_b32 v8, v12, s[10:11] offset:8
	s_mov_b64 s[30:31], 0
	s_absdiff_i32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:16
	global_store_b32 v8, v12, s[10:11] offset:24
	s_mov_b64 s[30:31], 0
	s_bcnt0_i32_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:32
	global_store_b32 v8, v12, s[10:11] offset:40
	s_mov_b64 s[30:31], 0
	s_brev_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:48
	s_mov_b64 s[30:31], 0
	s_clz_i32_u32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:56
	s_mov_b64 s[30:31], 0
	s_cls_i32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:64
	s_mov_b64 s[30:31], 0
	s_not_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:72
	global_store_b32 v8, v12, s[10:11] offset:80
	s_mov_b64 s[30:31], 0
	s_quadmask_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:88
	global_store_b32 v8, v12, s[10:11] offset:96
	s_mov_b64 s[30:31], 0
	s_wqm_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:104
	global_store_b32 v8, v12, s[10:11] offset:112
	s_mov_b64 s[30:31], 0
	s_sext_i32_i8 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:120
	s_mov_b64 s[30:31], 0
	s_sext_i32_i16 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:128
	s_mov_b64 s[30:31], 0
	s_mov_b32 s30, s22
	s_bitset0_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:136
	s_mov_b64 s[30:31], 0
	s_mov_b32 s30, s22
	s_bitset1_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:144
	s_mov_b64 s[30:31], 0
	s_bfm_b32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:152
	s_mov_b64 s[30:31], 0
	s_lshl1_add_u32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:160
	global_store_b32 v8, v12, s[10:11] offset:168
	s_mov_b64 s[30:31], 0
	s_lshl3_add_u32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:176
	global_store_b32 v8, v12, s[10:11] offset:184
	s_mov_b64 s[30:31], 0
	s_lshl4_add_u32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:192
	global_store_b32 v8, v12, s[10:11] offset:200
	s_mov_b64 s[30:31], 0
	s_max_i32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:208
	global_store_b32 v8, v12, s[10:11] offset:216
	s_mov_b64 s[30:31], 0
	s_min_i32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:224
	global_store_b32 v8, v12, s[10:11] offset:232
	s_mov_b64 s[30:31], 0
	s_mul_hi_i32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:240
	s_mov_b64 s[30:31], 0
	s_nand_b32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:248
	global_store_b32 v8, v12, s[10:11] offset:256
	s_mov_b64 s[30:31], 0
	s_nor_b32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:264
	global_store_b32 v8, v12, s[10:11] offset:272
	s_mov_b64 s[30:31], 0
	s_xnor_b32 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:280
	global_store_b32 v8, v12, s[10:11] offset:288
	s_mov_b64 s[30:31], 0
	s_pack_ll_b32_b16 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:296
	s_mov_b64 s[30:31], 0
	s_pack_lh_b32_b16 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:304
	s_mov_b64 s[30:31], 0
	s_pack_hl_b32_b16 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:312
	s_mov_b64 s[30:31], 0
	s_pack_hh_b32_b16 s30, s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:320
	s_mov_b64 s[30:31], 0
	s_cmp_lt_u32 s20, s22
	s_subb_u32 s30, s20, s24
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:328
	global_store_b32 v8, v12, s[10:11] offset:336
	s_mov_b64 s[30:31], 0
	s_mov_b32 s30, s24
	s_cmp_lt_u32 s20, s22
	s_cmov_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:344
	s_mov_b64 s[30:31], 0
	s_mov_b32 s30, s24
	s_cmp_lt_u32 s20, s22
	s_cmovk_i32 s30, -5
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:352
	s_mov_b64 s[30:31], 0
	s_movk_i32 s30, -300
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:360
	s_mov_b64 s[30:31], 0
	s_mov_b32 s30, s20
	s_mulk_i32 s30, -3
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:368
	s_mov_b64 s[30:31], 0
	s_movk_i32 s30, 7
	s_mov_b32 s40, s20
	s_mov_b32 s41, s22
	s_mov_b32 m0, 1
	s_movrels_b32 s30, s40
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:376
	s_mov_b64 s[30:31], 0
	s_mov_b32 m0, 3
	s_movreld_b32 s40, s22
	s_mov_b32 s30, s43
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:384
	s_mov_b64 s[30:31], 0
	s_getreg_b32 s30, hwreg(HW_REG_MODE, 4, 4)
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:392
	s_mov_b64 s[30:31], 0
	s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0x5
	s_getreg_b32 s30, hwreg(HW_REG_MODE, 0, 4)
	s_round_mode 0x0
	s_denorm_mode 0xf
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:400
	s_mov_b64 s[30:31], 0
	s_movk_i32 s33, 0
	s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s33
	s_getreg_b32 s30, hwreg(HW_REG_MODE, 0, 2)
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:408
	s_mov_b64 s[30:31], 0
	s_sleep 0x0
	s_setprio 0x1
	s_setprio 0x0
	s_icache_inv
	s_wait_idle
	s_incperflevel 0x0
	s_decperflevel 0x0
	s_wakeup
	v_nop
	ds_nop
	s_waitcnt_vmcnt null, 0x0
	s_waitcnt_lgkmcnt null, 0x0
	s_waitcnt_expcnt null, 0x0
	s_mov_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:416
	s_mov_b64 s[30:31], 0
	s_cmp_eq_u32 0, 0
	s_mov_b32 s30, src_scc
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:424
	s_mov_b64 s[30:31], 0
	s_cmp_eq_i32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:432
	global_store_b32 v8, v12, s[10:11] offset:440
	s_mov_b64 s[30:31], 0
	s_cmp_lg_i32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:448
	global_store_b32 v8, v12, s[10:11] offset:456
	s_mov_b64 s[30:31], 0
	s_cmp_gt_i32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:464
	global_store_b32 v8, v12, s[10:11] offset:472
	s_mov_b64 s[30:31], 0
	s_cmp_ge_i32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:480
	global_store_b32 v8, v12, s[10:11] offset:488
	s_mov_b64 s[30:31], 0
	s_cmp_lt_i32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:496
	global_store_b32 v8, v12, s[10:11] offset:504
	s_mov_b64 s[30:31], 0
	s_cmp_le_i32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:512
	global_store_b32 v8, v12, s[10:11] offset:520
	s_mov_b64 s[30:31], 0
	s_cmp_eq_u32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:528
	global_store_b32 v8, v12, s[10:11] offset:536
	s_mov_b64 s[30:31], 0
	s_cmp_lg_u32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:544
	global_store_b32 v8, v12, s[10:11] offset:552
	s_mov_b64 s[30:31], 0
	s_cmp_gt_u32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:560
	global_store_b32 v8, v12, s[10:11] offset:568
	s_mov_b64 s[30:31], 0
	s_cmp_ge_u32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:576
	global_store_b32 v8, v12, s[10:11] offset:584
	s_mov_b64 s[30:31], 0
	s_cmp_lt_u32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:592
	global_store_b32 v8, v12, s[10:11] offset:600
	s_mov_b64 s[30:31], 0
	s_cmp_le_u32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:608
	global_store_b32 v8, v12, s[10:11] offset:616
	s_mov_b64 s[30:31], 0
	s_cmpk_eq_i32 s20, -1
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:624
	global_store_b32 v8, v12, s[10:11] offset:632
	s_mov_b64 s[30:31], 0
	s_cmpk_lg_i32 s20, -1
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:640
	global_store_b32 v8, v12, s[10:11] offset:648
	s_mov_b64 s[30:31], 0
	s_cmpk_gt_i32 s20, -1
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:656
	global_store_b32 v8, v12, s[10:11] offset:664
	s_mov_b64 s[30:31], 0
	s_cmpk_ge_i32 s20, -1
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:672
	global_store_b32 v8, v12, s[10:11] offset:680
	s_mov_b64 s[30:31], 0
	s_cmpk_lt_i32 s20, -1
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:688
	global_store_b32 v8, v12, s[10:11] offset:696
	s_mov_b64 s[30:31], 0
	s_cmpk_le_i32 s20, -1
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:704
	global_store_b32 v8, v12, s[10:11] offset:712
	s_mov_b64 s[30:31], 0
	s_cmpk_eq_u32 s20, 0x1f
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:720
	global_store_b32 v8, v12, s[10:11] offset:728
	s_mov_b64 s[30:31], 0
	s_cmpk_lg_u32 s20, 0x1f
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:736
	global_store_b32 v8, v12, s[10:11] offset:744
	s_mov_b64 s[30:31], 0
	s_cmpk_gt_u32 s20, 0x1f
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:752
	global_store_b32 v8, v12, s[10:11] offset:760
	s_mov_b64 s[30:31], 0
	s_cmpk_ge_u32 s20, 0x1f
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:768
	global_store_b32 v8, v12, s[10:11] offset:776
	s_mov_b64 s[30:31], 0
	s_cmpk_lt_u32 s20, 0x1f
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:784
	global_store_b32 v8, v12, s[10:11] offset:792
	s_mov_b64 s[30:31], 0
	s_cmpk_le_u32 s20, 0x1f
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:800
	global_store_b32 v8, v12, s[10:11] offset:808
	s_mov_b64 s[30:31], 0
	s_bitcmp0_b32 s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:816
	global_store_b32 v8, v12, s[10:11] offset:824
	s_mov_b64 s[30:31], 0
	s_movk_i32 s30, 1
	v_cmp_eq_u32 vcc_lo, v0, v0
	s_cbranch_vccnz .Lvccnz_op_scalar_32_104
	s_movk_i32 s30, 0
	.Lvccnz_op_scalar_32_104:
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:832
	s_mov_b64 s[30:31], 0
	s_movk_i32 s30, 1
	v_cmp_ne_u32 vcc_lo, v0, v0
	s_cbranch_vccz .Lvccz_op_scalar_32_105
	s_movk_i32 s30, 0
	.Lvccz_op_scalar_32_105:
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:840
	s_mov_b64 s[30:31], 0
	s_movk_i32 s30, 3
	s_call_b64 s[40:41], .Lcalled_op_scalar_32_106
	s_branch .Lback_op_scalar_32_106
	.Lcalled_op_scalar_32_106:
	s_add_u32 s30, s30, s20
	s_setpc_b64 s[40:41]
	.Lback_op_scalar_32_106:
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b32 v8, v10, s[10:11] offset:848
	s_endpgm
.Lop_scalar_32_end:
	.size op_scalar_32, .Lop_scalar_32_end-op_scalar_32
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_scalar_32
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_scalar_64
	.p2align 8
	.type op_scalar_64,@function
op_scalar_64:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 304, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_readfirstlane_b32 s20, v2
	v_readfirstlane_b32 s21, v3
	v_readfirstlane_b32 s22, v4
	v_readfirstlane_b32 s23, v5
	v_readfirstlane_b32 s24, v6
	v_readfirstlane_b32 s25, v7
	s_mov_b64 s[30:31], 0
	s_bcnt0_i32_b64 s30, s[20:21]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	global_store_b32 v8, v12, s[10:11] offset:8
	s_mov_b64 s[30:31], 0
	s_brev_b64 s[30:31], s[20:21]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:16
	s_mov_b64 s[30:31], 0
	s_clz_i32_u64 s30, s[20:21]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	s_mov_b64 s[30:31], 0
	s_cls_i32_i64 s30, s[20:21]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	s_mov_b64 s[30:31], 0
	s_not_b64 s[30:31], s[20:21]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:40
	global_store_b32 v8, v12, s[10:11] offset:48
	s_mov_b64 s[30:31], 0
	s_quadmask_b64 s[30:31], s[20:21]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	global_store_b32 v8, v12, s[10:11] offset:64
	s_mov_b64 s[30:31], 0
	s_wqm_b64 s[30:31], s[20:21]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:72
	global_store_b32 v8, v12, s[10:11] offset:80
	s_bitreplicate_b64_b32 s[30:31], s20
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:88
	s_mov_b64 s[30:31], 0
	s_mov_b64 s[30:31], s[22:23]
	s_bitset0_b64 s[30:31], s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	s_mov_b64 s[30:31], 0
	s_mov_b64 s[30:31], s[22:23]
	s_bitset1_b64 s[30:31], s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	s_mov_b64 s[30:31], 0
	s_bfm_b64 s[30:31], s20, s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:112
	s_mov_b64 s[30:31], 0
	s_bfe_u64 s[30:31], s[20:21], s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	s_mov_b64 s[30:31], 0
	s_bfe_i64 s[30:31], s[20:21], s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:128
	s_mov_b64 s[30:31], 0
	s_ashr_i64 s[30:31], s[20:21], s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:136
	s_mov_b64 s[30:31], 0
	s_lshr_b64 s[30:31], s[20:21], s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:144
	global_store_b32 v8, v12, s[10:11] offset:152
	s_mov_b64 s[30:31], 0
	s_nand_b64 s[30:31], s[20:21], s[22:23]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:160
	global_store_b32 v8, v12, s[10:11] offset:168
	s_mov_b64 s[30:31], 0
	s_nor_b64 s[30:31], s[20:21], s[22:23]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:176
	global_store_b32 v8, v12, s[10:11] offset:184
	s_mov_b64 s[30:31], 0
	s_xnor_b64 s[30:31], s[20:21], s[22:23]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:192
	global_store_b32 v8, v12, s[10:11] offset:200
	s_mov_b64 s[30:31], 0
	s_cmp_lt_u32 s20, s22
	s_cselect_b64 s[30:31], s[20:21], s[22:23]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:208
	s_mov_b64 s[30:31], 0
	s_mov_b64 s[30:31], s[24:25]
	s_cmp_lt_u32 s20, s22
	s_cmov_b64 s[30:31], s[20:21]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:216
	s_mov_b64 s[30:31], 0
	s_cmp_eq_u64 s[20:21], s[22:23]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:224
	global_store_b32 v8, v12, s[10:11] offset:232
	s_mov_b64 s[30:31], 0
	s_cmp_lg_u64 s[20:21], s[22:23]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:240
	global_store_b32 v8, v12, s[10:11] offset:248
	s_mov_b64 s[30:31], 0
	s_bitcmp0_b64 s[20:21], s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:256
	global_store_b32 v8, v12, s[10:11] offset:264
	s_mov_b64 s[30:31], 0
	s_bitcmp1_b64 s[20:21], s22
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:272
	global_store_b32 v8, v12, s[10:11] offset:280
	s_mov_b64 s[30:31], 0
	s_mov_b64 s[42:43], s[22:23]
	s_mov_b32 m0, 2
	s_movrels_b64 s[30:31], s[40:41]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:288
	s_mov_b64 s[30:31], 0
	s_mov_b32 m0, 2
	s_movreld_b64 s[40:41], s[20:21]
	s_mov_b64 s[30:31], s[42:43]
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, s30
	v_mov_b32 v11, s31
	v_mov_b32 v12, s32
	global_store_b64 v8, v[10:11], s[10:11] offset:296
	s_endpgm
.Lop_scalar_64_end:
	.size op_scalar_64, .Lop_scalar_64_end-op_scalar_64
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_scalar_64
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_execution_masks
	.p2align 8
	.type op_execution_masks,@function
op_execution_masks:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 192, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_readfirstlane_b32 s20, v2
	v_readfirstlane_b32 s21, v3
	v_readfirstlane_b32 s22, v4
	v_readfirstlane_b32 s23, v5
	v_readfirstlane_b32 s24, v6
	v_readfirstlane_b32 s25, v7
	v_mov_b32 v10, 0
	s_mov_b32 exec_lo, s22
	s_and_not0_saveexec_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, -1
	v_mov_b32 v12, s30
	v_mov_b32 v13, s32
	global_store_b32 v8, v10, s[10:11] offset:0
	global_store_b32 v8, v12, s[10:11] offset:8
	global_store_b32 v8, v13, s[10:11] offset:16
	v_mov_b32 v10, 0
	s_mov_b32 exec_lo, s22
	s_or_not0_saveexec_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, -1
	v_mov_b32 v12, s30
	v_mov_b32 v13, s32
	global_store_b32 v8, v10, s[10:11] offset:24
	global_store_b32 v8, v12, s[10:11] offset:32
	global_store_b32 v8, v13, s[10:11] offset:40
	v_mov_b32 v10, 0
	s_mov_b32 exec_lo, s22
	s_or_not1_saveexec_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, -1
	v_mov_b32 v12, s30
	v_mov_b32 v13, s32
	global_store_b32 v8, v10, s[10:11] offset:48
	global_store_b32 v8, v12, s[10:11] offset:56
	global_store_b32 v8, v13, s[10:11] offset:64
	v_mov_b32 v10, 0
	s_mov_b32 exec_lo, s22
	s_nand_saveexec_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, -1
	v_mov_b32 v12, s30
	v_mov_b32 v13, s32
	global_store_b32 v8, v10, s[10:11] offset:72
	global_store_b32 v8, v12, s[10:11] offset:80
	global_store_b32 v8, v13, s[10:11] offset:88
	v_mov_b32 v10, 0
	s_mov_b32 exec_lo, s22
	s_nor_saveexec_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, -1
	v_mov_b32 v12, s30
	v_mov_b32 v13, s32
	global_store_b32 v8, v10, s[10:11] offset:96
	global_store_b32 v8, v12, s[10:11] offset:104
	global_store_b32 v8, v13, s[10:11] offset:112
	v_mov_b32 v10, 0
	s_mov_b32 exec_lo, s22
	s_xnor_saveexec_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, -1
	v_mov_b32 v12, s30
	v_mov_b32 v13, s32
	global_store_b32 v8, v10, s[10:11] offset:120
	global_store_b32 v8, v12, s[10:11] offset:128
	global_store_b32 v8, v13, s[10:11] offset:136
	v_mov_b32 v10, 0
	s_mov_b32 exec_lo, s22
	s_and_not0_wrexec_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, -1
	v_mov_b32 v12, s30
	v_mov_b32 v13, s32
	global_store_b32 v8, v10, s[10:11] offset:144
	global_store_b32 v8, v12, s[10:11] offset:152
	global_store_b32 v8, v13, s[10:11] offset:160
	v_mov_b32 v10, 0
	s_mov_b32 exec_lo, s22
	s_and_not1_wrexec_b32 s30, s20
	s_cselect_b32 s32, 1, 0
	v_mov_b32 v10, 1
	s_mov_b32 exec_lo, -1
	v_mov_b32 v12, s30
	v_mov_b32 v13, s32
	global_store_b32 v8, v10, s[10:11] offset:168
	global_store_b32 v8, v12, s[10:11] offset:176
	global_store_b32 v8, v13, s[10:11] offset:184
	s_endpgm
.Lop_execution_masks_end:
	.size op_execution_masks, .Lop_execution_masks_end-op_execution_masks
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_execution_masks
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_scalar_loads
	.p2align 8
	.type op_scalar_loads,@function
op_scalar_loads:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 56, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_add3_u32 v10, v2, v4, v6
	global_store_b32 v8, v10, s[10:11] offset:0
	s_mov_b32 s36, s4
	s_mov_b32 s37, s5
	s_movk_i32 s38, 0x200
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x10
	s_buffer_load_b32 s40, s[36:39], s33 offset:0x10
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v10, s40
	global_store_b32 v8, v10, s[10:11] offset:8
	s_mov_b32 s36, s4
	s_mov_b32 s37, s5
	s_movk_i32 s38, 0x200
	s_mov_b32 s39, 0x31016000
	s_buffer_load_b64 s[40:41], s[36:39], 0x20
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v10, s41
	global_store_b32 v8, v10, s[10:11] offset:16
	s_mov_b32 s36, s4
	s_mov_b32 s37, s5
	s_movk_i32 s38, 0x200
	s_mov_b32 s39, 0x31016000
	s_buffer_load_b128 s[40:43], s[36:39], 0x20
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v10, s43
	global_store_b32 v8, v10, s[10:11] offset:24
	s_mov_b32 s36, s4
	s_mov_b32 s37, s5
	s_movk_i32 s38, 0x200
	s_mov_b32 s39, 0x31016000
	s_buffer_load_b256 s[40:47], s[36:39], 0x20
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v10, s47
	global_store_b32 v8, v10, s[10:11] offset:32
	s_load_b512 s[36:51], s[4:5], 0x40
	s_waitcnt lgkmcnt(0)
	s_dcache_inv
	s_gl1_inv
	v_mov_b32 v10, s51
	global_store_b32 v8, v10, s[10:11] offset:40
	s_movk_i32 s33, 0x40
	s_load_b32 s40, s[4:5], s33 offset:0x4
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v10, s40
	global_store_b32 v8, v10, s[10:11] offset:48
	s_endpgm
.Lop_scalar_loads_end:
	.size op_scalar_loads, .Lop_scalar_loads_end-op_scalar_loads
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_scalar_loads
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_atomics_lds
	.p2align 8
	.type op_atomics_lds,@function
op_atomics_lds:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 720, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_add_u32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_add_rtn_u32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:8
	global_store_b32 v8, v12, s[10:11] offset:16
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_add_u64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_add_rtn_u64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	global_store_b64 v8, v[12:13], s[10:11] offset:40
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_sub_u32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_sub_rtn_u32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	global_store_b32 v8, v12, s[10:11] offset:64
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_sub_u64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:72
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_sub_rtn_u64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	global_store_b64 v8, v[12:13], s[10:11] offset:88
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_inc_u32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_inc_rtn_u32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	global_store_b32 v8, v12, s[10:11] offset:112
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_inc_u64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_inc_rtn_u64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:128
	global_store_b64 v8, v[12:13], s[10:11] offset:136
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_dec_u32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:144
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_dec_rtn_u32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	global_store_b32 v8, v12, s[10:11] offset:160
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_dec_u64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:168
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_dec_rtn_u64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:176
	global_store_b64 v8, v[12:13], s[10:11] offset:184
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_i32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:192
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_rtn_i32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:200
	global_store_b32 v8, v12, s[10:11] offset:208
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_i64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:216
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_rtn_i64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:224
	global_store_b64 v8, v[12:13], s[10:11] offset:232
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_i32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:240
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_rtn_i32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:248
	global_store_b32 v8, v12, s[10:11] offset:256
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_i64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:264
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_rtn_i64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:272
	global_store_b64 v8, v[12:13], s[10:11] offset:280
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_u32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:288
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_rtn_u32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:296
	global_store_b32 v8, v12, s[10:11] offset:304
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_u64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:312
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_rtn_u64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:320
	global_store_b64 v8, v[12:13], s[10:11] offset:328
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_u32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:336
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_rtn_u32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:344
	global_store_b32 v8, v12, s[10:11] offset:352
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_u64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:360
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_rtn_u64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:368
	global_store_b64 v8, v[12:13], s[10:11] offset:376
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_and_b32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:384
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_and_rtn_b32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:392
	global_store_b32 v8, v12, s[10:11] offset:400
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_and_b64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:408
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_and_rtn_b64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:416
	global_store_b64 v8, v[12:13], s[10:11] offset:424
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_or_b32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:432
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_or_rtn_b32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:440
	global_store_b32 v8, v12, s[10:11] offset:448
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_or_b64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:456
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_or_rtn_b64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:464
	global_store_b64 v8, v[12:13], s[10:11] offset:472
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_xor_b32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:480
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_xor_rtn_b32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:488
	global_store_b32 v8, v12, s[10:11] offset:496
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_xor_b64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:504
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_xor_rtn_b64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:512
	global_store_b64 v8, v[12:13], s[10:11] offset:520
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_rsub_u32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:528
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_rsub_rtn_u32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:536
	global_store_b32 v8, v12, s[10:11] offset:544
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_rsub_u64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:552
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_rsub_rtn_u64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:560
	global_store_b64 v8, v[12:13], s[10:11] offset:568
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_mskor_b32 v14, v4, v6
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:576
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_mskor_rtn_b32 v12, v14, v4, v6
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:584
	global_store_b32 v8, v12, s[10:11] offset:592
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_mskor_b64 v14, v[4:5], v[6:7]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:600
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_mskor_rtn_b64 v[12:13], v14, v[4:5], v[6:7]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:608
	global_store_b64 v8, v[12:13], s[10:11] offset:616
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_cmpstore_b32 v14, v6, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:624
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_cmpstore_rtn_b32 v12, v14, v6, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:632
	global_store_b32 v8, v12, s[10:11] offset:640
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_cmpstore_b64 v14, v[6:7], v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:648
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_cmpstore_rtn_b64 v[12:13], v14, v[6:7], v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:656
	global_store_b64 v8, v[12:13], s[10:11] offset:664
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_storexchg_rtn_b32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:672
	global_store_b32 v8, v12, s[10:11] offset:680
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_storexchg_rtn_b64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:688
	global_store_b64 v8, v[12:13], s[10:11] offset:696
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_wrap_rtn_b32 v12, v14, v4, v6
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:704
	global_store_b32 v8, v12, s[10:11] offset:712
	s_endpgm
.Lop_atomics_lds_end:
	.size op_atomics_lds, .Lop_atomics_lds_end-op_atomics_lds
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_atomics_lds
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_atomics_global
	.p2align 8
	.type op_atomics_global,@function
op_atomics_global:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 640, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_add_u32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_add_u32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:8
	global_store_b32 v8, v12, s[10:11] offset:16
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_add_u64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_add_u64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	global_store_b64 v8, v[12:13], s[10:11] offset:40
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_sub_u32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_sub_u32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	global_store_b32 v8, v12, s[10:11] offset:64
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_sub_u64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:72
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_sub_u64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	global_store_b64 v8, v[12:13], s[10:11] offset:88
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_inc_u32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_inc_u32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	global_store_b32 v8, v12, s[10:11] offset:112
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_inc_u64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_inc_u64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:128
	global_store_b64 v8, v[12:13], s[10:11] offset:136
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_dec_u32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:144
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_dec_u32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	global_store_b32 v8, v12, s[10:11] offset:160
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_dec_u64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:168
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_dec_u64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:176
	global_store_b64 v8, v[12:13], s[10:11] offset:184
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_i32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:192
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_i32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:200
	global_store_b32 v8, v12, s[10:11] offset:208
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_i64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:216
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_i64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:224
	global_store_b64 v8, v[12:13], s[10:11] offset:232
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_i32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:240
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_i32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:248
	global_store_b32 v8, v12, s[10:11] offset:256
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_i64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:264
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_i64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:272
	global_store_b64 v8, v[12:13], s[10:11] offset:280
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_u32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:288
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_u32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:296
	global_store_b32 v8, v12, s[10:11] offset:304
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_u64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:312
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_u64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:320
	global_store_b64 v8, v[12:13], s[10:11] offset:328
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_u32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:336
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_u32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:344
	global_store_b32 v8, v12, s[10:11] offset:352
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_u64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:360
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_u64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:368
	global_store_b64 v8, v[12:13], s[10:11] offset:376
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_and_b32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:384
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_and_b32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:392
	global_store_b32 v8, v12, s[10:11] offset:400
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_and_b64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:408
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_and_b64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:416
	global_store_b64 v8, v[12:13], s[10:11] offset:424
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_or_b32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:432
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_or_b32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:440
	global_store_b32 v8, v12, s[10:11] offset:448
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_or_b64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:456
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_or_b64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:464
	global_store_b64 v8, v[12:13], s[10:11] offset:472
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_xor_b32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:480
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_xor_b32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:488
	global_store_b32 v8, v12, s[10:11] offset:496
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_xor_b64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:504
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_xor_b64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:512
	global_store_b64 v8, v[12:13], s[10:11] offset:520
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_swap_b32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:528
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_swap_b32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:536
	global_store_b32 v8, v12, s[10:11] offset:544
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_swap_b64 v1, v[4:5], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:552
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_swap_b64 v[12:13], v1, v[4:5], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:560
	global_store_b64 v8, v[12:13], s[10:11] offset:568
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_cmpswap_b32 v1, v[20:21], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:576
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_cmpswap_b32 v12, v1, v[20:21], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:584
	global_store_b32 v8, v12, s[10:11] offset:592
	v_mov_b32 v20, v6
	v_mov_b32 v21, v7
	v_mov_b32 v22, v4
	v_mov_b32 v23, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_cmpswap_b64 v1, v[20:23], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:600
	v_mov_b32 v20, v6
	v_mov_b32 v21, v7
	v_mov_b32 v22, v4
	v_mov_b32 v23, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_cmpswap_b64 v[12:13], v1, v[20:23], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:608
	global_store_b64 v8, v[12:13], s[10:11] offset:616
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_csub_u32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:624
	global_store_b32 v8, v12, s[10:11] offset:632
	s_endpgm
.Lop_atomics_global_end:
	.size op_atomics_global, .Lop_atomics_global_end-op_atomics_global
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_atomics_global
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_atomics_flat
	.p2align 8
	.type op_atomics_flat,@function
op_atomics_flat:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 624, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_add_u32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_add_u32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:8
	global_store_b32 v8, v12, s[10:11] offset:16
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_add_u64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_add_u64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	global_store_b64 v8, v[12:13], s[10:11] offset:40
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_sub_u32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_sub_u32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	global_store_b32 v8, v12, s[10:11] offset:64
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_sub_u64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:72
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_sub_u64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	global_store_b64 v8, v[12:13], s[10:11] offset:88
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_inc_u32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_inc_u32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	global_store_b32 v8, v12, s[10:11] offset:112
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_inc_u64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_inc_u64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:128
	global_store_b64 v8, v[12:13], s[10:11] offset:136
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_dec_u32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:144
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_dec_u32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	global_store_b32 v8, v12, s[10:11] offset:160
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_dec_u64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:168
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_dec_u64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:176
	global_store_b64 v8, v[12:13], s[10:11] offset:184
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_i32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:192
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_i32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:200
	global_store_b32 v8, v12, s[10:11] offset:208
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_i64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:216
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_i64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:224
	global_store_b64 v8, v[12:13], s[10:11] offset:232
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_i32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:240
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_i32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:248
	global_store_b32 v8, v12, s[10:11] offset:256
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_i64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:264
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_i64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:272
	global_store_b64 v8, v[12:13], s[10:11] offset:280
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_u32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:288
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_u32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:296
	global_store_b32 v8, v12, s[10:11] offset:304
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_u64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:312
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_u64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:320
	global_store_b64 v8, v[12:13], s[10:11] offset:328
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_u32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:336
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_u32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:344
	global_store_b32 v8, v12, s[10:11] offset:352
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_u64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:360
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_u64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:368
	global_store_b64 v8, v[12:13], s[10:11] offset:376
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_and_b32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:384
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_and_b32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:392
	global_store_b32 v8, v12, s[10:11] offset:400
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_and_b64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:408
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_and_b64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:416
	global_store_b64 v8, v[12:13], s[10:11] offset:424
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_or_b32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:432
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_or_b32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:440
	global_store_b32 v8, v12, s[10:11] offset:448
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_or_b64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:456
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_or_b64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:464
	global_store_b64 v8, v[12:13], s[10:11] offset:472
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_xor_b32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:480
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_xor_b32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:488
	global_store_b32 v8, v12, s[10:11] offset:496
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_xor_b64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:504
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_xor_b64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:512
	global_store_b64 v8, v[12:13], s[10:11] offset:520
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_swap_b32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:528
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_swap_b32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:536
	global_store_b32 v8, v12, s[10:11] offset:544
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_swap_b64 v[16:17], v[4:5]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:552
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_swap_b64 v[12:13], v[16:17], v[4:5] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:560
	global_store_b64 v8, v[12:13], s[10:11] offset:568
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_cmpswap_b32 v[16:17], v[20:21]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:576
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_cmpswap_b32 v12, v[16:17], v[20:21] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:584
	global_store_b32 v8, v12, s[10:11] offset:592
	v_mov_b32 v20, v6
	v_mov_b32 v21, v7
	v_mov_b32 v22, v4
	v_mov_b32 v23, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_cmpswap_b64 v[16:17], v[20:23]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:600
	v_mov_b32 v20, v6
	v_mov_b32 v21, v7
	v_mov_b32 v22, v4
	v_mov_b32 v23, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_cmpswap_b64 v[12:13], v[16:17], v[20:23] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:608
	global_store_b64 v8, v[12:13], s[10:11] offset:616
	s_endpgm
.Lop_atomics_flat_end:
	.size op_atomics_flat, .Lop_atomics_flat_end-op_atomics_flat
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_atomics_flat
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_atomics_buffer
	.p2align 8
	.type op_atomics_buffer,@function
op_atomics_buffer:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 640, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_add_u32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_add_u32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:8
	global_store_b32 v8, v12, s[10:11] offset:16
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_add_u64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_add_u64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	global_store_b64 v8, v[12:13], s[10:11] offset:40
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_sub_u32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_sub_u32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	global_store_b32 v8, v12, s[10:11] offset:64
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_sub_u64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:72
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_sub_u64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	global_store_b64 v8, v[12:13], s[10:11] offset:88
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_inc_u32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_inc_u32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	global_store_b32 v8, v12, s[10:11] offset:112
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_inc_u64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_inc_u64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:128
	global_store_b64 v8, v[12:13], s[10:11] offset:136
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_dec_u32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:144
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_dec_u32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	global_store_b32 v8, v12, s[10:11] offset:160
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_dec_u64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:168
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_dec_u64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:176
	global_store_b64 v8, v[12:13], s[10:11] offset:184
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_i32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:192
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_i32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:200
	global_store_b32 v8, v12, s[10:11] offset:208
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_i64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:216
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_i64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:224
	global_store_b64 v8, v[12:13], s[10:11] offset:232
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_i32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:240
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_i32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:248
	global_store_b32 v8, v12, s[10:11] offset:256
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_i64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:264
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_i64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:272
	global_store_b64 v8, v[12:13], s[10:11] offset:280
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_u32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:288
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_u32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:296
	global_store_b32 v8, v12, s[10:11] offset:304
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_u64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:312
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_u64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:320
	global_store_b64 v8, v[12:13], s[10:11] offset:328
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_u32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:336
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_u32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:344
	global_store_b32 v8, v12, s[10:11] offset:352
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_u64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:360
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_u64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:368
	global_store_b64 v8, v[12:13], s[10:11] offset:376
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_and_b32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:384
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_and_b32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:392
	global_store_b32 v8, v12, s[10:11] offset:400
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_and_b64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:408
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_and_b64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:416
	global_store_b64 v8, v[12:13], s[10:11] offset:424
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_or_b32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:432
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_or_b32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:440
	global_store_b32 v8, v12, s[10:11] offset:448
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_or_b64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:456
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_or_b64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:464
	global_store_b64 v8, v[12:13], s[10:11] offset:472
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_xor_b32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:480
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_xor_b32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:488
	global_store_b32 v8, v12, s[10:11] offset:496
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_xor_b64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:504
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_xor_b64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:512
	global_store_b64 v8, v[12:13], s[10:11] offset:520
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_swap_b32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:528
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_swap_b32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:536
	global_store_b32 v8, v12, s[10:11] offset:544
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_swap_b64 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:552
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_swap_b64 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:560
	global_store_b64 v8, v[12:13], s[10:11] offset:568
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_cmpswap_b32 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:576
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_cmpswap_b32 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:584
	global_store_b32 v8, v12, s[10:11] offset:592
	v_mov_b32 v20, v6
	v_mov_b32 v21, v7
	v_mov_b32 v22, v4
	v_mov_b32 v23, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_cmpswap_b64 v[20:23], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:600
	v_mov_b32 v20, v6
	v_mov_b32 v21, v7
	v_mov_b32 v22, v4
	v_mov_b32 v23, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_cmpswap_b64 v[20:23], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:608
	global_store_b64 v8, v[12:13], s[10:11] offset:616
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_csub_u32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:624
	global_store_b32 v8, v12, s[10:11] offset:632
	s_endpgm
.Lop_atomics_buffer_end:
	.size op_atomics_buffer, .Lop_atomics_buffer_end-op_atomics_buffer
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_atomics_buffer
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_atomics_single
	.p2align 8
	.type op_atomics_single,@function
op_atomics_single:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 384, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_add_f32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_add_rtn_f32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:8
	global_store_b32 v8, v12, s[10:11] offset:16
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_f32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_rtn_f32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	global_store_b32 v8, v12, s[10:11] offset:40
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_f32 v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_rtn_f32 v12, v14, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	global_store_b32 v8, v12, s[10:11] offset:64
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_cmpstore_f32 v14, v6, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:72
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_cmpstore_rtn_f32 v12, v14, v6, v4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	global_store_b32 v8, v12, s[10:11] offset:88
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_add_f32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_add_f32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	global_store_b32 v8, v12, s[10:11] offset:112
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_f32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_min_f32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:128
	global_store_b32 v8, v12, s[10:11] offset:136
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_f32 v1, v4, s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:144
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_max_f32 v12, v1, v4, s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	global_store_b32 v8, v12, s[10:11] offset:160
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_cmpswap_f32 v1, v[20:21], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:168
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_atomic_cmpswap_f32 v12, v1, v[20:21], s[8:9] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:176
	global_store_b32 v8, v12, s[10:11] offset:184
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_add_f32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:192
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_add_f32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:200
	global_store_b32 v8, v12, s[10:11] offset:208
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_f32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:216
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_min_f32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:224
	global_store_b32 v8, v12, s[10:11] offset:232
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_f32 v[16:17], v4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:240
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_max_f32 v12, v[16:17], v4 glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:248
	global_store_b32 v8, v12, s[10:11] offset:256
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_cmpswap_f32 v[16:17], v[20:21]
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:264
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_atomic_cmpswap_f32 v12, v[16:17], v[20:21] glc
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:272
	global_store_b32 v8, v12, s[10:11] offset:280
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_add_f32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:288
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_add_f32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:296
	global_store_b32 v8, v12, s[10:11] offset:304
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_f32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:312
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_min_f32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:320
	global_store_b32 v8, v12, s[10:11] offset:328
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_f32 v20, v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:336
	v_mov_b32 v20, v4
	v_mov_b32 v21, v5
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_max_f32 v20, v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:344
	global_store_b32 v8, v12, s[10:11] offset:352
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_cmpswap_f32 v[20:21], v1, s[36:39], 0 offen
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:360
	v_mov_b32 v20, v6
	v_mov_b32 v21, v4
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_atomic_cmpswap_f32 v[20:21], v1, s[36:39], 0 offen glc
	s_waitcnt vmcnt(0)
	v_mov_b32 v12, v20
	v_mov_b32 v13, v21
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:368
	global_store_b32 v8, v12, s[10:11] offset:376
	s_endpgm
.Lop_atomics_single_end:
	.size op_atomics_single, .Lop_atomics_single_end-op_atomics_single
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_atomics_single
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_atomics_double
	.p2align 8
	.type op_atomics_double,@function
op_atomics_double:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 72, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_f64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_min_rtn_f64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:8
	global_store_b64 v8, v[12:13], s[10:11] offset:16
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_f64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_max_rtn_f64 v[12:13], v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	global_store_b64 v8, v[12:13], s[10:11] offset:40
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_cmpstore_f64 v14, v[6:7], v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_cmpstore_rtn_f64 v[12:13], v14, v[6:7], v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	global_store_b64 v8, v[12:13], s[10:11] offset:64
	s_endpgm
.Lop_atomics_double_end:
	.size op_atomics_double, .Lop_atomics_double_end-op_atomics_double
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_atomics_double
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_widths_ds
	.p2align 8
	.type op_widths_ds,@function
op_widths_ds:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 160, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_load_u8 v10, v14 offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:0
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_load_i8 v10, v14 offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:8
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_load_u16 v10, v14 offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:16
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_load_i16 v10, v14 offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:24
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	v_mov_b32 v10, v4
	ds_load_u8_d16 v10, v14 offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:32
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	v_mov_b32 v10, v4
	ds_load_u8_d16_hi v10, v14 offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:40
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	v_mov_b32 v10, v4
	ds_load_i8_d16 v10, v14 offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:48
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	v_mov_b32 v10, v4
	ds_load_i8_d16_hi v10, v14 offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:56
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	v_mov_b32 v10, v4
	ds_load_u16_d16 v10, v14 offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:64
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	v_mov_b32 v10, v4
	ds_load_u16_d16_hi v10, v14 offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:72
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_store_b8 v14, v4 offset:3
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_store_b8_d16_hi v14, v4 offset:3
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:88
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_store_b16 v14, v4 offset:4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_store_b16_d16_hi v14, v4 offset:4
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_load_b64 v[20:21], v14
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v21
	global_store_b32 v8, v10, s[10:11] offset:112
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_store_b64 v14, v[4:5]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_load_b96 v[20:22], v14
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v22
	global_store_b32 v8, v10, s[10:11] offset:128
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_store_b96 v14, v[4:6]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:136
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_load_b128 v[20:23], v14
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v23
	global_store_b32 v8, v10, s[10:11] offset:144
	ds_store_b64 v14, v[2:3]
	ds_store_b64 v14, v[4:5] offset:8
	ds_store_b128 v14, v[4:7]
	ds_load_b64 v[10:11], v14
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	s_endpgm
.Lop_widths_ds_end:
	.size op_widths_ds, .Lop_widths_ds_end-op_widths_ds
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_widths_ds
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_widths_global
	.p2align 8
	.type op_widths_global,@function
op_widths_global:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 160, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_load_u8 v10, v1, s[8:9] offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:0
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_load_i8 v10, v1, s[8:9] offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:8
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_load_u16 v10, v1, s[8:9] offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:16
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_load_i16 v10, v1, s[8:9] offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:24
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	global_load_d16_u8 v10, v1, s[8:9] offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:32
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	global_load_d16_hi_u8 v10, v1, s[8:9] offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:40
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	global_load_d16_i8 v10, v1, s[8:9] offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:48
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	global_load_d16_hi_i8 v10, v1, s[8:9] offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:56
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	global_load_d16_b16 v10, v1, s[8:9] offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:64
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	global_load_d16_hi_b16 v10, v1, s[8:9] offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:72
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_store_b8 v1, v4, s[8:9] offset:3
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_store_d16_hi_b8 v1, v4, s[8:9] offset:3
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:88
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_store_b16 v1, v4, s[8:9] offset:4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_store_d16_hi_b16 v1, v4, s[8:9] offset:4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_load_b64 v[28:29], v22, s[8:9]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v29
	global_store_b32 v8, v10, s[10:11] offset:112
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	global_store_b64 v22, v[2:3], s[8:9]
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_load_b96 v[28:30], v22, s[8:9]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v30
	global_store_b32 v8, v10, s[10:11] offset:128
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	global_store_b96 v22, v[2:4], s[8:9]
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:136
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_load_b128 v[28:31], v22, s[8:9]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v31
	global_store_b32 v8, v10, s[10:11] offset:144
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	global_store_b128 v22, v[2:5], s[8:9]
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	s_endpgm
.Lop_widths_global_end:
	.size op_widths_global, .Lop_widths_global_end-op_widths_global
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_widths_global
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_widths_flat
	.p2align 8
	.type op_widths_flat,@function
op_widths_flat:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 160, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_load_u8 v10, v[16:17] offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:0
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_load_i8 v10, v[16:17] offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:8
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_load_u16 v10, v[16:17] offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:16
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_load_i16 v10, v[16:17] offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:24
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	flat_load_d16_u8 v10, v[16:17] offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:32
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	flat_load_d16_hi_u8 v10, v[16:17] offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:40
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	flat_load_d16_i8 v10, v[16:17] offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:48
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	flat_load_d16_hi_i8 v10, v[16:17] offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:56
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	flat_load_d16_b16 v10, v[16:17] offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:64
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	flat_load_d16_hi_b16 v10, v[16:17] offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:72
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_store_b8 v[16:17], v4 offset:3
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_store_d16_hi_b8 v[16:17], v4 offset:3
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:88
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_store_b16 v[16:17], v4 offset:4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_store_d16_hi_b16 v[16:17], v4 offset:4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	v_and_b32 v22, -16, v16
	v_mov_b32 v23, v17
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_load_b64 v[28:29], v[22:23]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v29
	global_store_b32 v8, v10, s[10:11] offset:112
	v_and_b32 v22, -16, v16
	v_mov_b32 v23, v17
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	flat_store_b64 v[22:23], v[2:3]
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	v_and_b32 v22, -16, v16
	v_mov_b32 v23, v17
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_load_b96 v[28:30], v[22:23]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v30
	global_store_b32 v8, v10, s[10:11] offset:128
	v_and_b32 v22, -16, v16
	v_mov_b32 v23, v17
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	flat_store_b96 v[22:23], v[2:4]
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:136
	v_and_b32 v22, -16, v16
	v_mov_b32 v23, v17
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	flat_load_b128 v[28:31], v[22:23]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v31
	global_store_b32 v8, v10, s[10:11] offset:144
	v_and_b32 v22, -16, v16
	v_mov_b32 v23, v17
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	flat_store_b128 v[22:23], v[2:5]
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	s_endpgm
.Lop_widths_flat_end:
	.size op_widths_flat, .Lop_widths_flat_end-op_widths_flat
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_widths_flat
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_widths_buffer
	.p2align 8
	.type op_widths_buffer,@function
op_widths_buffer:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 160, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_load_u8 v10, v1, s[36:39], 0 offen offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:0
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_load_i8 v10, v1, s[36:39], 0 offen offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:8
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_load_u16 v10, v1, s[36:39], 0 offen offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:16
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_load_i16 v10, v1, s[36:39], 0 offen offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:24
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	buffer_load_d16_u8 v10, v1, s[36:39], 0 offen offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:32
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	buffer_load_d16_hi_u8 v10, v1, s[36:39], 0 offen offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:40
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	buffer_load_d16_i8 v10, v1, s[36:39], 0 offen offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:48
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	buffer_load_d16_hi_i8 v10, v1, s[36:39], 0 offen offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:56
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	buffer_load_d16_b16 v10, v1, s[36:39], 0 offen offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:64
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	buffer_load_d16_hi_b16 v10, v1, s[36:39], 0 offen offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:72
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_store_b8 v4, v1, s[36:39], 0 offen offset:3
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_store_d16_hi_b8 v4, v1, s[36:39], 0 offen offset:3
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:88
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_store_b16 v4, v1, s[36:39], 0 offen offset:4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_store_d16_hi_b16 v4, v1, s[36:39], 0 offen offset:4
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_load_b64 v[28:29], v22, s[36:39], 0 offen
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v29
	global_store_b32 v8, v10, s[10:11] offset:112
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	buffer_store_b64 v[2:3], v22, s[36:39], 0 offen
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_load_b96 v[28:30], v22, s[36:39], 0 offen
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v30
	global_store_b32 v8, v10, s[10:11] offset:128
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	buffer_store_b96 v[2:4], v22, s[36:39], 0 offen
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:136
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	buffer_load_b128 v[28:31], v22, s[36:39], 0 offen
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v31
	global_store_b32 v8, v10, s[10:11] offset:144
	v_and_b32 v22, -16, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 exec_lo, 0x55555555
	buffer_store_b128 v[2:5], v22, s[36:39], 0 offen
	s_mov_b32 exec_lo, -1
	s_waitcnt_vscnt null, 0x0
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_load_b64 v[10:11], v1, s[8:9] glc
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	s_endpgm
.Lop_widths_buffer_end:
	.size op_widths_buffer, .Lop_widths_buffer_end-op_widths_buffer
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_widths_buffer
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_widths_scratch
	.p2align 8
	.type op_widths_scratch,@function
op_widths_scratch:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 160, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_load_u8 v10, off, off offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:0
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_load_i8 v10, off, off offset:1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:8
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_load_u16 v10, off, off offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:16
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_load_i16 v10, off, off offset:2
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:24
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	scratch_load_d16_u8 v10, off, off offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:32
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	scratch_load_d16_hi_u8 v10, off, off offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:40
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	scratch_load_d16_i8 v10, off, off offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:48
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	scratch_load_d16_hi_i8 v10, off, off offset:3
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:56
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	scratch_load_d16_b16 v10, off, off offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:64
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	v_mov_b32 v10, v4
	scratch_load_d16_hi_b16 v10, off, off offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:72
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_store_b8 off, v4, off offset:3
	s_waitcnt_vscnt null, 0x0
	scratch_load_b64 v[10:11], v26, off
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:80
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_store_d16_hi_b8 off, v4, off offset:3
	s_waitcnt_vscnt null, 0x0
	scratch_load_b64 v[10:11], v26, off
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:88
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_store_b16 off, v4, off offset:4
	s_waitcnt_vscnt null, 0x0
	scratch_load_b64 v[10:11], v26, off
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:96
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_store_d16_hi_b16 off, v4, off offset:4
	s_waitcnt_vscnt null, 0x0
	scratch_load_b64 v[10:11], v26, off
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:104
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_load_b64 v[20:21], off, off
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v21
	global_store_b32 v8, v10, s[10:11] offset:112
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_store_b64 off, v[4:5], off
	s_waitcnt_vscnt null, 0x0
	scratch_load_b64 v[10:11], v26, off
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:120
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_load_b96 v[20:22], off, off
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v22
	global_store_b32 v8, v10, s[10:11] offset:128
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_store_b96 off, v[4:6], off
	s_waitcnt_vscnt null, 0x0
	scratch_load_b64 v[10:11], v26, off
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:136
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_load_b128 v[20:23], off, off
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_mov_b32 v10, v23
	global_store_b32 v8, v10, s[10:11] offset:144
	scratch_store_b64 off, v[2:3], off
	scratch_store_b64 off, v[4:5], s33
	s_waitcnt_vscnt null, 0x0
	scratch_store_b128 off, v[4:7], off
	s_waitcnt_vscnt null, 0x0
	scratch_load_b64 v[10:11], v26, off
	s_waitcnt vmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:152
	s_endpgm
.Lop_widths_scratch_end:
	.size op_widths_scratch, .Lop_widths_scratch_end-op_widths_scratch
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_widths_scratch
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 64
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_lds_pairs
	.p2align 8
	.type op_lds_pairs,@function
op_lds_pairs:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 80, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	ds_store_2addr_b64 v14, v[2:3], v[4:5] offset0:0 offset1:1
	ds_load_2addr_b64 v[10:13], v14 offset0:1 offset1:0
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:0
	global_store_b64 v8, v[12:13], s[10:11] offset:8
	ds_store_2addr_b32 v14, v2, v4 offset0:0 offset1:2
	ds_storexchg_2addr_rtn_b32 v[12:13], v14, v6, v7 offset0:2 offset1:0
	ds_load_2addr_b32 v[10:11], v14 offset0:0 offset1:2
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[12:13], s[10:11] offset:16
	global_store_b64 v8, v[10:11], s[10:11] offset:24
	ds_store_2addr_b64 v14, v[2:3], v[4:5] offset1:1
	ds_storexchg_2addr_rtn_b64 v[10:13], v14, v[6:7], v[2:3] offset0:1 offset1:0
	ds_load_b64 v[20:21], v14 offset:8
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v10, v20
	v_mov_b32 v11, v21
	global_store_b64 v8, v[10:11], s[10:11] offset:32
	global_store_b64 v8, v[12:13], s[10:11] offset:40
	v_lshrrev_b32 v22, 2, v14
	ds_store_2addr_stride64_b32 v22, v2, v4 offset0:8 offset1:9
	ds_load_2addr_stride64_b32 v[10:11], v22 offset0:9 offset1:8
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:48
	v_lshrrev_b32 v22, 1, v14
	ds_store_2addr_stride64_b64 v22, v[2:3], v[4:5] offset0:4 offset1:5
	ds_load_2addr_stride64_b64 v[10:13], v22 offset0:5 offset1:4
	s_waitcnt lgkmcnt(0)
	global_store_b64 v8, v[10:11], s[10:11] offset:56
	global_store_b64 v8, v[12:13], s[10:11] offset:64
	s_mov_b32 m0, 0x1000
	s_nop 0
	ds_store_addtid_b32 v2 offset:16
	ds_load_addtid_b32 v10 offset:16
	s_waitcnt lgkmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:72
	s_endpgm
.Lop_lds_pairs_end:
	.size op_lds_pairs, .Lop_lds_pairs_end-op_lds_pairs
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_lds_pairs
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.globl op_addresses
	.p2align 8
	.type op_addresses,@function
op_addresses:
	s_load_b256 s[4:11], s[0:1], 0x0
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 3, v0
	v_mul_u32_u24 v8, 48, v0
	s_waitcnt lgkmcnt(0)
	global_load_b64 v[2:3], v1, s[4:5]
	global_load_b64 v[4:5], v1, s[6:7]
	global_load_b64 v[6:7], v1, s[8:9]
	s_waitcnt vmcnt(0)
	v_and_b32 v14, 63, v0
	v_lshlrev_b32 v14, 4, v14
	v_mov_b32 v17, s9
	v_add_co_u32 v16, vcc_lo, s8, v1
	v_add_co_ci_u32_e64 v17, null, 0, v17, vcc_lo
	s_mov_b32 s36, s8
	s_mov_b32 s37, s9
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31016000
	s_movk_i32 s33, 0x8
	v_mov_b32 v26, 0
	v_lshrrev_b32 v27, 3, v1
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	v_add_nc_u32 v22, 32, v1
	global_load_b32 v10, v22, s[8:9] offset:-32 slc
	s_waitcnt vmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:0
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	global_load_b32 v10, v[16:17], off offset:4
	s_waitcnt vmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:8
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 s40, s36
	s_or_b32 s41, s37, 0x80000
	s_mov_b32 s42, s38
	s_mov_b32 s43, s39
	buffer_load_b32 v10, v27, s[40:43], 0 idxen
	s_waitcnt vmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:16
	global_store_b64 v1, v[2:3], s[8:9]
	s_waitcnt_vscnt null, 0x0
	s_mov_b32 s40, s36
	s_or_b32 s41, s37, 0x80000
	s_mov_b32 s42, s38
	s_mov_b32 s43, s39
	v_mov_b32 v22, v27
	v_mov_b32 v23, 4
	buffer_load_b32 v10, v[22:23], s[40:43], 0 idxen offen
	s_waitcnt vmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:24
	s_mov_b32 s40, s4
	s_mov_b32 s41, s5
	s_mov_b32 s42, s38
	s_mov_b32 s43, s39
	buffer_load_b32 v10, off, s[40:43], 0 offset:8
	s_waitcnt vmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:32
	scratch_store_b32 v26, v2, s33 offset:4
	s_waitcnt_vscnt null, 0x0
	scratch_load_b32 v10, off, s33 offset:4
	s_waitcnt vmcnt(0)
	global_store_b32 v8, v10, s[10:11] offset:40
	s_endpgm
.Lop_addresses_end:
	.size op_addresses, .Lop_addresses_end-op_addresses
	.section .rodata,"a",@progbits
	.p2align 6
	.amdhsa_kernel op_addresses
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 56
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_wavefront_size32 1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 64
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: op_vector_32
    .symbol: op_vector_32.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_vector_64
    .symbol: op_vector_64.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_vector_16
    .symbol: op_vector_16.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_single
    .symbol: op_single.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_single_1
    .symbol: op_single_1.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_single_2
    .symbol: op_single_2.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_half
    .symbol: op_half.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_half_1
    .symbol: op_half_1.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_half_2
    .symbol: op_half_2.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_small_half
    .symbol: op_small_half.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_bfloat
    .symbol: op_bfloat.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_double_ops
    .symbol: op_double_ops.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_double_ops_1
    .symbol: op_double_ops_1.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_double_ops_2
    .symbol: op_double_ops_2.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_f16
    .symbol: op_compare_f16.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_f32
    .symbol: op_compare_f32.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_f64
    .symbol: op_compare_f64.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_i16
    .symbol: op_compare_i16.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_u16
    .symbol: op_compare_u16.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_i32
    .symbol: op_compare_i32.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_u32
    .symbol: op_compare_u32.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_i64
    .symbol: op_compare_i64.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_compare_u64
    .symbol: op_compare_u64.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_scalar_32
    .symbol: op_scalar_32.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_scalar_64
    .symbol: op_scalar_64.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_execution_masks
    .symbol: op_execution_masks.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_scalar_loads
    .symbol: op_scalar_loads.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_atomics_lds
    .symbol: op_atomics_lds.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_atomics_global
    .symbol: op_atomics_global.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_atomics_flat
    .symbol: op_atomics_flat.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_atomics_buffer
    .symbol: op_atomics_buffer.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_atomics_single
    .symbol: op_atomics_single.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_atomics_double
    .symbol: op_atomics_double.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_widths_ds
    .symbol: op_widths_ds.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_widths_global
    .symbol: op_widths_global.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_widths_flat
    .symbol: op_widths_flat.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_widths_buffer
    .symbol: op_widths_buffer.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_widths_scratch
    .symbol: op_widths_scratch.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 64
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_lds_pairs
    .symbol: op_lds_pairs.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 8192
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
  - .name: op_addresses
    .symbol: op_addresses.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 64
    .wavefront_size: 32
    .sgpr_count: 56
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global }
...
	.end_amdgpu_metadata
