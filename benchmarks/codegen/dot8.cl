#include "common.h"
// Each item: the signed dot product of 64 bytes with 64 bytes.
KERNEL(64, 1) dot8(__global const i4 *restrict a, __global const i4 *restrict b, __global int *restrict c) {
  u32 i = GROUP_X * 64 + ITEM_X;
  int sum = 0;
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    i4 p = a[i * 4 + k], q = b[i * 4 + k];
#pragma unroll
    for (u32 w = 0; w < 4; w++) sum = __builtin_amdgcn_sudot4(true, p[w], true, q[w], sum, false);
  }
  c[i] = sum;
}
