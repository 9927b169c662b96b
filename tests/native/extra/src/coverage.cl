// Kernels that reach what the other suites do not: f64, i64, divergence, scratch, calls, scans, histograms, atomics.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef unsigned u32;
typedef unsigned long u64;
#define KERNEL(n) __kernel __attribute__((reqd_work_group_size(n, 1, 1))) void
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define BARRIER()                                       \
  do {                                                  \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                       \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)

KERNEL(128) double_math(__global const double* x, __global const double* y, __global double* z, u32 n) {
  u32 i = GROUP * 128 + LOCAL;
  if (i >= n) return;
  double a = x[i], b = y[i];
  z[i] = __builtin_fma(a, b, a / b) + __builtin_floor(a) - __builtin_elementwise_max(a, b);
}

KERNEL(128) long_math(__global const long* x, __global const long* y, __global long* z, u32 n) {
  u32 i = GROUP * 128 + LOCAL;
  if (i >= n) return;
  long a = x[i], b = y[i];
  u32 s = (u32)b & 63;
  z[i] = a * b + (a << s) - (b >> (s >> 1)) + (long)((u64)a >> 7) + (a < b ? a ^ b : a & b) + (a % ((b & 1023) + 1));
}

KERNEL(128) single_division(__global const float* x, __global const float* y, __global float* z, u32 n) {
  u32 i = GROUP * 128 + LOCAL;
  if (i >= n) return;
  z[i] = x[i] / y[i];
}

KERNEL(128) integer_division(__global const int* x, __global const int* y, __global int* z, u32 n) {
  u32 i = GROUP * 128 + LOCAL;
  if (i >= n) return;
  int b = y[i];
  z[i] = b ? x[i] / b * 3 + x[i] % b : -1;
}

KERNEL(64) collatz(__global const u32* x, __global u32* steps, u32 n) {
  u32 i = GROUP * 64 + LOCAL;
  if (i >= n) return;
  u32 v = x[i], count = 0;
  while (v != 1) {
    if (v & 1) {
      if (v > 0x50000000u) break;
      v = 3 * v + 1;
    } else {
      v >>= 1;
    }
    count++;
  }
  steps[i] = count;
}

KERNEL(64) scratch_sort(__global const int* x, __global int* y, u32 n) {
  u32 i = GROUP * 64 + LOCAL;
  if (i >= n) return;
  volatile int v[16];
  for (int k = 0; k < 16; k++) v[k] = x[i * 16 + k];
  for (int a = 1; a < 16; a++) {
    int key = v[a], b = a - 1;
    while (b >= 0 && v[b] > key) { v[b + 1] = v[b]; b--; }
    v[b + 1] = key;
  }
  for (int k = 0; k < 16; k++) y[i * 16 + k] = v[k];
}

__attribute__((noinline)) static u32 mix(u32 a, u32 b) { return (a ^ (b * 2654435761u)) + (a >> 3); }
__attribute__((noinline)) static u32 twice(u32 a, u32 b) { return mix(mix(a, b), b + 1); }
KERNEL(64) calls(__global const u32* x, __global u32* y, u32 n) {
  u32 i = GROUP * 64 + LOCAL;
  if (i >= n) return;
  u32 v = x[i];
  for (u32 k = 0; k < (i & 3) + 1; k++) v = twice(v, k);
  y[i] = v;
}

KERNEL(256) scan(__global const u32* x, __global u32* y, u32 n) {
  __local u32 s[256];
  u32 t = LOCAL, i = GROUP * 256 + t;
  s[t] = i < n ? x[i] : 0;
  BARRIER();
  for (u32 d = 1; d < 256; d <<= 1) {
    u32 v = t >= d ? s[t - d] : 0;
    BARRIER();
    s[t] += v;
    BARRIER();
  }
  if (i < n) y[i] = s[t];
}

KERNEL(256) histogram(__global const u32* x, __global u32* bins, u32 n) {
  __local u32 s[64];
  u32 t = LOCAL;
  if (t < 64) s[t] = 0;
  BARRIER();
  for (u32 i = GROUP * 256 + t; i < n; i += 1024)
    __opencl_atomic_fetch_add((__local atomic_uint*)&s[x[i] & 63], 1u, memory_order_relaxed, memory_scope_work_group);
  BARRIER();
  if (t < 64) __opencl_atomic_fetch_add((__global atomic_uint*)&bins[t], s[t], memory_order_relaxed, memory_scope_device);
}

KERNEL(64) atomics(__global u32* a, __global u64* b, __global const u32* x, __global u32* old, u32 n) {
  u32 i = GROUP * 64 + LOCAL;
  if (i >= n) return;
  u32 v = x[i];
#define A(k) ((__global atomic_uint*)&a[k])
  __opencl_atomic_fetch_min(A(0), v, memory_order_relaxed, memory_scope_device);
  __opencl_atomic_fetch_max(A(1), v, memory_order_relaxed, memory_scope_device);
  __opencl_atomic_fetch_and(A(2), v, memory_order_relaxed, memory_scope_device);
  __opencl_atomic_fetch_or(A(3), v, memory_order_relaxed, memory_scope_device);
  __opencl_atomic_fetch_xor(A(4), v, memory_order_relaxed, memory_scope_device);
  __opencl_atomic_fetch_sub(A(5), v, memory_order_relaxed, memory_scope_device);
  old[i] = __opencl_atomic_fetch_add(A(6), 1u, memory_order_relaxed, memory_scope_device);
  u32 expected = i;
  __opencl_atomic_compare_exchange_strong(A(7), &expected, i + 1, memory_order_relaxed, memory_order_relaxed, memory_scope_device);
  __opencl_atomic_fetch_add((__global atomic_ulong*)&b[0], (u64)v << 20, memory_order_relaxed, memory_scope_device);
  __opencl_atomic_fetch_max((__global atomic_ulong*)&b[1], (u64)v << 30, memory_order_relaxed, memory_scope_device);
}

KERNEL(64) float_atomic(__global float* sum, __global const float* x, u32 n) {
  u32 i = GROUP * 64 + LOCAL;
  if (i < n) __builtin_amdgcn_global_atomic_fadd_f32(sum, x[i]);
}

// A generic pointer: the aperture decides at run time between LDS, scratch and memory.
KERNEL(64) generic_pointer(__global int* x, __global int* y, u32 n) {
  __local int s[64];
  int own[2] = {3, 5};
  u32 t = LOCAL, i = GROUP * 64 + t;
  if (i >= n) return;
  s[t] = (int)t * 7;
  BARRIER();
  volatile int* p = t % 3 == 0 ? (volatile int*)&s[t ^ 1] : t % 3 == 1 ? (volatile int*)&x[i] : (volatile int*)&own[t & 1];
  int v = *p;
  *p = v + 1;
  y[i] = v + s[t & ~1u] * 0 + own[t & 1];
}

KERNEL(64) half_conversions(__global const float* x, __global half* h, __global short* s, __global uchar* b, u32 n) {
  u32 i = GROUP * 64 + LOCAL;
  if (i >= n) return;
  float v = x[i];
  h[i] = (half)v;
  s[i] = (short)v;
  b[i] = (uchar)(int)v;
}

__kernel void early_end(__global const int* x, __global int* y, u32 n) {
  __local int s[256];
  u32 t = LOCAL;
  s[t] = x[t];
  if (t >= 128) return; // whole waves end before the barrier
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  y[t] = s[t ^ 33] + (int)n;
}

__kernel void grid3(__global u32* y, u32 w, u32 h) {
  u32 gx = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  u32 gy = __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
  u32 gz = __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() + __builtin_amdgcn_workitem_id_z();
  y[(gz * h + gy) * w + gx] = gx + 1000 * gy + 1000000 * gz;
}

__kernel void dispatch_packet(__global u32* y) {
  __constant u32* p = (__constant u32*)__builtin_amdgcn_dispatch_ptr();
  if (LOCAL < 5) y[LOCAL] = p[LOCAL + 1];
}
