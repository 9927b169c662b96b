#include "common.h"
// C = A * B, 16x16 tiles through local memory; all sizes are multiples of 16.
KERNEL(16, 16) sgemm(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
                     u32 n, u32 depth) {
  __local float at[16][16], bt[16][16];
  u32 tx = ITEM_X, ty = ITEM_Y, row = GROUP_Y * 16 + ty, col = GROUP_X * 16 + tx;
  float sum = 0;
  for (u32 k = 0; k < depth; k += 16) {
    at[ty][tx] = a[row * depth + k + tx];
    bt[ty][tx] = b[(k + ty) * n + col];
    BARRIER();
#pragma unroll
    for (u32 j = 0; j < 16; j++) sum = __builtin_fmaf(at[ty][j], bt[j][tx], sum);
    BARRIER();
  }
  c[row * n + col] = sum;
}
