#include "common.h"
KERNEL(256, 1) saxpy(__global const float *restrict x, __global float *restrict y, u32 n, float a) {
  u32 i = GROUP_X * 256 + ITEM_X;
  if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]);
}
