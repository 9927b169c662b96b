#include "common.h"
KERNEL(256, 1) softmax(__global const float *restrict x, __global float *restrict y, u32 columns) {
  __local float part[256];
  u32 t = ITEM_X;
  __global const float *in = x + (u64)GROUP_X * columns;
  __global float *out = y + (u64)GROUP_X * columns;
  float m = -__builtin_inff();
  for (u32 c = t; c < columns; c += 256) m = __builtin_fmaxf(m, in[c]);
  part[t] = m;
  BARRIER();
  for (u32 d = 128; d > 0; d >>= 1) {
    if (t < d) part[t] = __builtin_fmaxf(part[t], part[t + d]);
    BARRIER();
  }
  m = part[0];
  BARRIER();
  float s = 0;
  for (u32 c = t; c < columns; c += 256) s += __builtin_amdgcn_exp2f((in[c] - m) * 1.44269504f);
  part[t] = s;
  BARRIER();
  for (u32 d = 128; d > 0; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    BARRIER();
  }
  float scale = __builtin_amdgcn_rcpf(part[0]);
  for (u32 c = t; c < columns; c += 256) out[c] = __builtin_amdgcn_exp2f((in[c] - m) * 1.44269504f) * scale;
}
