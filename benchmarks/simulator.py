"""Simulator throughput and cold start, one thread: the three kernels its goals are stated for, and compile time.

    python benchmarks/simulator.py [--json]

Seconds are wall-clock of the launch call: the first run with an empty cache (translation, compilation, execution),
then the fastest of
several warm ones; processor time beside it, for machines that do other things too. Wave-instructions count an
instruction once a wave, with and without no-ops and waits.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
NATIVE = Path(__file__).resolve().parents[1] / "tests" / "native"

#: Seconds of the fastest public emulator on such a machine (warm), by kernel.
PUBLIC_EMULATOR = {"saxpy_asm": 1.36, "sgemm_pipe_asm": 0.36, "softmax_bfly": 3.6}


def launches() -> list[tuple[str, str, list[Any], tuple[int, ...], tuple[int, ...]]]:
    rng = np.random.default_rng(0)
    f32, u32 = np.float32, np.uint32
    n = 1 << 20
    x, y = (rng.standard_normal(n).astype(f32) for _ in range(2))
    a, b = (rng.standard_normal((256, 256)).astype(f32) for _ in range(2))
    m = rng.standard_normal((1024, 1024)).astype(f32)
    size = u32(256)
    return [
        ("asm/gfx1100/saxpy_asm.hsaco", "saxpy_asm", [x, y, f32(2), u32(n)], (4096,), (256,)),
        ("asm/gfx1100/sgemm_pipe_asm.hsaco", "sgemm_pipe_asm", [a, b, a.copy(), size, size, size], (4, 4), (256,)),
        ("clang/gfx1100/softmax.O3.hsaco", "softmax_bfly", [m, np.zeros_like(m), u32(1024)], (1024,), (256,)),
    ]


def measure(repetitions: int) -> list[dict[str, Any]]:
    from loom.device.amdgpu_sim import SimulatorDevice
    from loom.device.protocol import Completed
    from tests.target.amdgpu.simulator.native_suite import pack

    rows = []
    for file, kernel, arguments, groups, size in launches():
        device = SimulatorDevice(threads=1)
        executable = device.load((NATIVE / file).read_bytes())
        addresses = []
        for value in arguments:
            if isinstance(value, np.ndarray):
                buffer = device.allocate(value.nbytes)
                device.write(buffer, value.tobytes())
                addresses.append(buffer.address)
        kernarg = pack(arguments, addresses)
        seconds = []
        processor = []
        for _ in range(repetitions + 1):
            start, used = time.perf_counter(), time.process_time()
            outcome = device.launch(executable, kernel, groups, size, kernarg)
            seconds.append(time.perf_counter() - start)
            processor.append(time.process_time() - used)
            assert isinstance(outcome, Completed) and outcome.counts is not None
        warm = min(seconds[1:])
        counts = outcome.counts
        rows.append(
            {
                "kernel": kernel,
                "first_seconds": seconds[0],
                "warm_seconds": warm,
                "warm_processor_seconds": min(processor[1:]),
                "wave_instructions": counts.instructions,
                "useful_wave_instructions": counts.useful_instructions,
                "wave_instructions_per_second": counts.instructions / warm,
                "times_faster_than_public_emulator": PUBLIC_EMULATOR[kernel] / warm,
            }
        )
        device.close()
    return rows


KERNEL = """
    .amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
    .amdhsa_code_object_version 5
    .text
    .globl long_kernel
    .p2align 8
    .type long_kernel,@function
long_kernel:
{body}
    s_endpgm
.Lend:
    .size long_kernel, .Lend-long_kernel
    .section .rodata,"a",@progbits
    .p2align 6
    .amdhsa_kernel long_kernel
        .amdhsa_next_free_vgpr 128
        .amdhsa_next_free_sgpr 32
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_group_segment_fixed_size 32768
        .amdhsa_wavefront_size32 1
        .amdhsa_float_denorm_mode_32 3
    .end_amdhsa_kernel
    .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: long_kernel
    .symbol: long_kernel.kd
    .kernarg_segment_size: 40
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 32768
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 32
    .vgpr_count: 128
    .max_flat_workgroup_size: 256
    .args: []
...
    .end_amdgpu_metadata
"""


def synthetic(instructions: int) -> bytes:
    """A code object of that many instructions: the body of sgemm_pipe_asm again and again, no branches or barriers."""
    from loom.device.amdgpu_sim import SimulatorDevice
    from loom.target.amdgpu.assembler import assemble
    from loom.target.amdgpu.code_object import write

    device = SimulatorDevice(threads=1)
    handle = device.load((NATIVE / "asm/gfx1100/sgemm_pipe_asm.hsaco").read_bytes()).handle
    code = handle.kernel("sgemm_pipe_asm").code
    device.close()
    body = [str(i) for i in code if i.row.issue_class not in ("branch",) and "barrier" not in i.row.mnemonic]
    body = [line for line in body if not line.startswith("s_endpgm")]
    lines = [f"    {body[n % len(body)]}" for n in range(instructions - 1)]
    return write(assemble(KERNEL.format(body="\n".join(lines)), "long_kernel.s", "gfx1100"))


def compile_time(instructions: int) -> dict[str, Any]:
    """Translate and compile a synthetic kernel, then once more from the cache; processor seconds and memory of all
    processes. ``decode_seconds``: loading and decoding, which a cached kernel needs, too.
    """
    from loom.device.amdgpu_sim import SimulatorDevice

    data = synthetic(instructions)
    row: dict[str, Any] = {"instructions": instructions}
    for name in ("cold", "cached"):
        device = SimulatorDevice(threads=1)
        start = time.perf_counter()
        handle = device.load(data).handle
        kernel = handle.kernel("long_kernel")
        row["decode_seconds"] = time.perf_counter() - start
        assert len(kernel.code) == instructions
        before, start = processor_seconds(), time.perf_counter()
        handle.compiled(kernel, True, False)
        row[f"{name}_seconds"] = time.perf_counter() - start
        row[f"{name}_processor_seconds"] = processor_seconds() - before
        device.close()
    row["peak_megabytes_of_the_compiler"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return row


def processor_seconds() -> float:
    return sum(
        resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--repetitions", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["LOOM_CACHE_DIR"] = cache
        document = {
            "kernels": measure(options.repetitions),
            "compile": [compile_time(n) for n in (300, 1000, 4000, 17000)],
        }
    if options.json:
        print(json.dumps(document, indent=1))
        return
    for row in document["kernels"]:
        print(
            f"{row['kernel']:16} first {row['first_seconds'] * 1e3:8.1f} ms   "
            f"warm {row['warm_seconds'] * 1e3:7.2f} ms ({row['warm_processor_seconds'] * 1e3:.2f} ms of processor)   "
            f"{row['wave_instructions_per_second'] / 1e6:6.0f} M wave-instructions/s   "
            f"{row['wave_instructions']} executed, {row['useful_wave_instructions']} without no-ops   "
            f"{row['times_faster_than_public_emulator']:.0f} times the public emulator"
        )
    for row in document["compile"]:
        print(
            f"{row['instructions']:6} instructions: cold {row['cold_seconds'] * 1e3:7.0f} ms "
            f"({row['cold_processor_seconds'] * 1e3:.0f} ms of processor), "
            f"cached {row['cached_seconds'] * 1e3:6.0f} ms ({row['cached_processor_seconds'] * 1e3:.0f} ms), "
            f"loaded and decoded in {row['decode_seconds'] * 1e3:.0f} ms, "
            f"compiler at most {row['peak_megabytes_of_the_compiler']:.0f} MB"
        )


if __name__ == "__main__":
    main()
