#include "common.h"
// One wave: C[16x16] = A[16xK] * B[Kx16] in half precision, B stored by columns.
KERNEL(32, 1) wmma(__global const half *restrict a, __global const half *restrict b, __global float *restrict c,
                   u32 n, u32 depth) {
  u32 l = ITEM_X & 15, h = ITEM_X >> 4;
  __global const half *ap = a + (GROUP_Y * 16 + l) * depth;
  __global const half *bp = b + (GROUP_X * 16 + l) * depth;
  f8 sum = {};
  for (u32 k = 0; k < depth; k += 16) {
    h16 x = *(__global const h16 *)(ap + k), y = *(__global const h16 *)(bp + k);
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, sum);
  }
#pragma unroll
  for (u32 r = 0; r < 8; r++) c[(GROUP_Y * 16 + 2 * r + h) * n + GROUP_X * 16 + l] = sum[r];
}
