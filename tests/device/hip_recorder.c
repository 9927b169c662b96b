/* A stand-in for libamdhip64.so: every call goes to a function that the test registers, with its arguments as words.
   The structure below repeats the head of hipDeviceProp_t (R0600) of ROCm's hip_runtime_api.h. */
#include <stddef.h>
#include <stdint.h>

typedef int (*recorder)(const char *name, const uint64_t *arguments, int count);
static recorder record;

void hip_recorder_set(recorder function) { record = function; }

static int call(const char *name, const uint64_t *arguments, int count) {
  return record ? record(name, arguments, count) : 100; /* hipErrorNoDevice */
}

#define W(x) ((uint64_t)(uintptr_t)(x))
#define CALL(name, ...)                                                     \
  do {                                                                      \
    const uint64_t words[] = {__VA_ARGS__};                                 \
    return call(name, words, (int)(sizeof(words) / sizeof(words[0])));      \
  } while (0)

typedef struct {
  char name[256];
  struct { char bytes[16]; } uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem;
} properties;
_Static_assert(offsetof(properties, totalGlobalMem) == 288, "head of hipDeviceProp_t");

size_t hip_recorder_total_memory_offset(void) { return offsetof(properties, totalGlobalMem); }

int hipInit(unsigned flags) { CALL("hipInit", flags); }
int hipGetDeviceCount(int *count) { CALL("hipGetDeviceCount", W(count)); }
int hipSetDevice(int device) { CALL("hipSetDevice", (uint64_t)device); }
int hipRuntimeGetVersion(int *version) { CALL("hipRuntimeGetVersion", W(version)); }
int hipDriverGetVersion(int *version) { CALL("hipDriverGetVersion", W(version)); }
int hipGetDevicePropertiesR0600(void *out, int device) { CALL("hipGetDevicePropertiesR0600", W(out), (uint64_t)device); }
int hipMalloc(void **pointer, size_t size) { CALL("hipMalloc", W(pointer), size); }
int hipFree(void *pointer) { CALL("hipFree", W(pointer)); }
int hipMemcpy(void *to, const void *from, size_t size, int kind) { CALL("hipMemcpy", W(to), W(from), size, (uint64_t)kind); }
int hipModuleLoadData(void **module, const void *image) { CALL("hipModuleLoadData", W(module), W(image)); }
int hipModuleUnload(void *module) { CALL("hipModuleUnload", W(module)); }
int hipModuleGetFunction(void **function, void *module, const char *name) {
  CALL("hipModuleGetFunction", W(function), W(module), W(name));
}
int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra) {
  CALL("hipModuleLaunchKernel", W(f), gx, gy, gz, bx, by, bz, shared, W(stream), W(params), W(extra));
}
int hipDeviceSynchronize(void) { return call("hipDeviceSynchronize", 0, 0); }
int hipEventCreate(void **event) { CALL("hipEventCreate", W(event)); }
int hipEventRecord(void *event, void *stream) { CALL("hipEventRecord", W(event), W(stream)); }
int hipEventQuery(void *event) { CALL("hipEventQuery", W(event)); }
int hipEventElapsedTime(float *ms, void *start, void *stop) { CALL("hipEventElapsedTime", W(ms), W(start), W(stop)); }
int hipEventDestroy(void *event) { CALL("hipEventDestroy", W(event)); }
const char *hipGetErrorString(int status) { return status == 719 ? "unspecified launch failure" : "recorded error"; }
