#!/bin/sh
# Rebuilds the objects of this folder with clang 22 (Debian's llvm-toolchain-22).
set -e
cd "$(dirname "$0")"
build() {
  clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -nogpulib -mcode-object-version=5 \
    -Xclang -finclude-default-header -ffp-contract=off "$@"
}
for level in O0 O2; do
  build -mcpu=gfx1100 -$level -o gfx1100-w32.$level.hsaco src/coverage.cl
  build -mcpu=gfx1100 -mwavefrontsize64 -$level -o gfx1100-w64.$level.hsaco src/coverage.cl
done
build -mcpu=gfx1201 -O2 -o gfx1201.O2.hsaco src/coverage.cl
build -mcpu=gfx942 -O2 -o gfx942.O2.hsaco src/coverage.cl
for processor in gfx942 gfx950 gfx1201; do
  build -mcpu=$processor -O2 -o $processor-mma.O2.hsaco ../clang/src/mma.cl
done
build -mcpu=gfx1100 -O2 -o gfx1100-matrix.O2.hsaco src/matrix.cl

# Many instructions of one family each; the text is made from the definitions that the kernels are checked against.
(cd ../../.. && python -m tests.target.amdgpu.simulator.op_suite) > src/ops.s
llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx1100 -mattr=+wavefrontsize32 -filetype=obj -o ops.o src/ops.s
ld.lld-22 -shared -o gfx1100-ops.hsaco ops.o
rm ops.o
