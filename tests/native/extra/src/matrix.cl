// Matrix operations of gfx11 with 16-bit and 4-bit operands, and inline assembly.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef unsigned u32;
typedef half h16 __attribute__((ext_vector_type(16)));
typedef short s16 __attribute__((ext_vector_type(16)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i8v __attribute__((ext_vector_type(8)));
#define KERNEL(n) __kernel __attribute__((reqd_work_group_size(n, 1, 1))) void
#define LOCAL __builtin_amdgcn_workitem_id_x()

// One 16 x 16 product; the result's low and high halves come from two accumulations.
KERNEL(32) wmma_half(__global const h16* a, __global const h16* b, __global h16* c) {
  h16 acc = {};
  acc = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a[LOCAL], b[LOCAL], acc, false);
  acc = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(b[LOCAL], a[LOCAL], acc, true);
  c[LOCAL] = acc;
}
KERNEL(32) wmma_bfloat(__global const s16* a, __global const s16* b, __global s16* c) {
  s16 acc = {};
  acc = __builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32(a[LOCAL], b[LOCAL], acc, false);
  acc = __builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32(b[LOCAL], a[LOCAL], acc, true);
  c[LOCAL] = acc;
}
KERNEL(32) wmma_nibbles(__global const i2* a, __global const i2* b, __global i8v* c) {
  i8v acc = {};
  c[LOCAL] = __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(true, a[LOCAL], false, b[LOCAL], acc, false);
}

KERNEL(64) inline_asm(__global const u32* x, __global u32* y) {
  u32 t = LOCAL, v = x[t], r, s;
  __asm__ volatile("v_perm_b32 %0, %2, %3, 0x00010203\n\tv_alignbyte_b32 %1, %2, %3, 1" : "=&v"(r), "=v"(s) : "v"(v), "v"(t));
  u32 d;
  __asm__ volatile("v_mov_b32_dpp %0, %1 row_xmask:5 row_mask:0xf bank_mask:0xf\n\ts_nop 1" : "=&v"(d) : "v"(v));
  y[t] = r + s * 3 + d * 5;
}
