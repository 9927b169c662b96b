#include "common.h"
// y = x * rsqrt(mean(x^2) + eps) * w, one group a row.
KERNEL(256, 1) rmsnorm(__global const float *restrict x, __global const float *restrict w, __global float *restrict y,
                       u32 columns, float inverse, float epsilon) {
  __local float part[256];
  u32 t = ITEM_X;
  __global const float *in = x + (u64)GROUP_X * columns;
  __global float *out = y + (u64)GROUP_X * columns;
  float s = 0;
  for (u32 c = t; c < columns; c += 256) s = __builtin_fmaf(in[c], in[c], s);
  part[t] = s;
  BARRIER();
  for (u32 d = 128; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    BARRIER();
  }
  float scale = __builtin_amdgcn_rsqf(__builtin_fmaf(part[0], inverse, epsilon));
  for (u32 c = t; c < columns; c += 256) out[c] = in[c] * scale * w[c];
}
