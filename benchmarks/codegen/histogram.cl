#include "common.h"
// 256 bins counted in local memory, then added to the global ones.
KERNEL(256, 1) histogram(__global const u32 *restrict keys, __global u32 *restrict bins) {
  __local u32 part[256];
  u32 t = ITEM_X;
  part[t] = 0;
  BARRIER();
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    u32 key = keys[GROUP_X * 1024 + k * 256 + t] & 255;
    __scoped_atomic_fetch_add(&part[key], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  }
  BARRIER();
  __scoped_atomic_fetch_add(&bins[t], part[t], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
