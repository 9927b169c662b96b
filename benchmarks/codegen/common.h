// What the kernels share. Built for one processor, without device libraries.
typedef unsigned u32;
typedef unsigned long u64;
typedef float f8 __attribute__((ext_vector_type(8)));
typedef half h16 __attribute__((ext_vector_type(16)));
typedef int i4 __attribute__((ext_vector_type(4)));
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()
#define ITEM_X __builtin_amdgcn_workitem_id_x()
#define ITEM_Y __builtin_amdgcn_workitem_id_y()
#define BARRIER()                                            \
  do {                                                       \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local"); \
    __builtin_amdgcn_s_barrier();                            \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local"); \
  } while (0)
#define KERNEL(x, y) __kernel __attribute__((reqd_work_group_size(x, y, 1))) void
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
