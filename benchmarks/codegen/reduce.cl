#include "common.h"
KERNEL(256, 1) reduce(__global const float *restrict x, __global float *restrict out) {
  __local float part[256];
  u32 t = ITEM_X;
  float sum = 0;
#pragma unroll
  for (u32 k = 0; k < 4; k++) sum += x[GROUP_X * 1024 + k * 256 + t];
  part[t] = sum;
  BARRIER();
#pragma unroll
  for (u32 d = 128; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    BARRIER();
  }
  if (t == 0) out[GROUP_X] = part[0];
}
