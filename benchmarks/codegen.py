"""Code quality beside clang: the same kernels from Loom source and from OpenCL C, run on the simulator.

    python benchmarks/codegen.py [--kernel NAME] [--json FILE] [--times]

Both programs of a pair get the same inputs and must give the right result (NumPy) before anything is counted.
``executed`` counts
instructions a wave on the simulator, those without effect on values (waits, nops, delay hints, clauses) included;
``useful`` leaves
them out. ``bytes`` is what the lanes moved from and to device memory.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import loom
from loom.device.protocol import Completed
from loom.device.registry import open_device
from loom.target.amdgpu.code_object import read
from loom.target.amdgpu.compile import CompileOptions, compile_module
from loom.target.amdgpu.decoder import decode_program
from loom.transform.target import resolve_target

HERE = Path(__file__).parent / "codegen"
PROCESSOR = "gfx1100"
LIMIT = 1.15
"""Ratio to clang up to which executed instructions and VGPRs are as intended."""


@dataclass
class Case:
    """One kernel: buffers in argument order, scalars behind them, and what each buffer holds afterwards."""

    name: str
    groups: tuple[int, int, int]
    size: tuple[int, int, int]
    buffers: list[np.ndarray]
    scalars: list[Any]
    expected: dict[int, np.ndarray]
    tolerance: float = 0.0
    note: str = ""


def cases() -> list[Case]:
    """The kernels with seeded inputs."""
    rng = np.random.default_rng(7)

    def f32(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    result = []
    x, y = f32(5000), f32(5000)
    a = np.float32(1.25)
    result.append(Case("saxpy", (20, 1, 1), (256, 1, 1), [x, y], [np.uint32(5000), a], {1: a * x + y}, 1e-6))
    m = f32(8, 1000)
    e = np.exp(m - m.max(axis=1, keepdims=True))
    result.append(
        Case(
            "softmax",
            (8, 1, 1),
            (256, 1, 1),
            [m, np.zeros_like(m)],
            [np.uint32(1000)],
            {1: e / e.sum(axis=1, keepdims=True)},
            1e-5,
        )
    )
    r = f32(4 * 1024)
    result.append(
        Case(
            "reduce",
            (4, 1, 1),
            (256, 1, 1),
            [r, np.zeros(4, np.float32)],
            [],
            {1: r.reshape(4, 1024).sum(axis=1)},
            1e-3,
        )
    )
    p, q = f32(64, 96), f32(96, 64)
    result.append(
        Case(
            "sgemm",
            (4, 4, 1),
            (16, 16, 1),
            [p, q, np.zeros((64, 64), np.float32)],
            [np.uint32(64), np.uint32(96)],
            {2: p @ q},
            1e-4,
        )
    )
    u, v = rng.integers(-128, 128, (256, 64), np.int8), rng.integers(-128, 128, (256, 64), np.int8)
    result.append(
        Case(
            "dot8",
            (4, 1, 1),
            (64, 1, 1),
            [u, v, np.zeros(256, np.int32)],
            [],
            {2: (u.astype(np.int32) * v.astype(np.int32)).sum(axis=1, dtype=np.int32)},
        )
    )
    h, k = rng.standard_normal((32, 64)).astype(np.float16), rng.standard_normal((32, 64)).astype(np.float16)
    result.append(
        Case(
            "wmma",
            (2, 2, 1),
            (32, 1, 1),
            [h, k, np.zeros((32, 32), np.float32)],
            [np.uint32(32), np.uint32(64)],
            {2: h.astype(np.float32) @ k.astype(np.float32).T},
            1e-2,
        )
    )
    n, w = f32(6, 1000), f32(1000)
    scale = 1 / np.sqrt((n * n).mean(axis=1, keepdims=True) + np.float32(1e-5))
    result.append(
        Case(
            "rmsnorm",
            (6, 1, 1),
            (256, 1, 1),
            [n, w, np.zeros_like(n)],
            [np.uint32(1000), np.float32(1 / 1000), np.float32(1e-5)],
            {2: n * scale * w},
            1e-4,
        )
    )
    keys = rng.integers(0, 1 << 31, 4 * 1024, np.int32)
    result.append(
        Case(
            "histogram",
            (4, 1, 1),
            (256, 1, 1),
            [keys, np.zeros(256, np.int32)],
            [],
            {1: np.bincount(keys & 255, minlength=256).astype(np.int32)},
        )
    )
    return result


@dataclass
class Measured:
    """Static and executed counts of one program."""

    instructions: int = 0
    vgprs: int = 0
    sgprs: int = 0
    waits: int = 0
    executed: int = 0
    useful: int = 0
    bytes_moved: int = 0
    classes: dict[str, int] = field(default_factory=dict)


def clang(name: str) -> bytes:
    """The OpenCL C kernel, compiled and linked by clang and lld."""
    compiler = shutil.which("clang-22") or shutil.which("clang")
    linker = shutil.which("ld.lld-22") or shutil.which("ld.lld")
    if compiler is None or linker is None:
        raise SystemExit("clang and ld.lld are needed for the comparison")
    with tempfile.TemporaryDirectory() as directory:
        made, linked = Path(directory) / "k.o", Path(directory) / "k.hsaco"
        subprocess.run(
            [
                compiler,
                "-x",
                "cl",
                "-cl-std=CL2.0",
                "-target",
                "amdgcn-amd-amdhsa",
                f"-mcpu={PROCESSOR}",
                "-O3",
                "-nogpulib",
                "-mcode-object-version=5",
                "-Xclang",
                "-finclude-default-header",
                "-w",
                "-c",
                str(HERE / f"{name}.cl"),
                "-o",
                str(made),
            ],
            check=True,
        )
        subprocess.run([linker, "-shared", str(made), "-o", str(linked)], check=True)
        return linked.read_bytes()


def ours(name: str) -> bytes:
    """The Loom kernel through the default pipeline, every check of the compiler on."""
    module = loom.parse((HERE / f"{name}.loom").read_text(), f"{name}.loom")
    loom.verify(module)
    return compile_module(module, CompileOptions(target=resolve_target("amdgpu", PROCESSOR), check=True)).code_object


def measure(code_object: bytes, case: Case) -> Measured:
    """Run a program on the case's inputs, check the results and count."""
    device = open_device("amdgpu-sim", lambda line: None)
    try:
        executable = device.load(code_object)
        info = executable.kernels[case.name]
        held = []
        for array in case.buffers:
            buffer = device.allocate(max(array.nbytes, 4))
            device.write(buffer, array.tobytes())
            held.append(buffer)
        kernarg = bytearray(info.kernarg_size)
        addresses = iter(held)
        scalars = iter(case.scalars)
        for argument in info.arguments:
            if argument.kind == "global_buffer":
                raw = next(addresses).address.to_bytes(8, "little")
            elif argument.kind == "by_value":
                raw = next(scalars).tobytes().ljust(argument.size, b"\0")
            else:
                continue
            kernarg[argument.offset : argument.offset + len(raw)] = raw
        outcome = device.launch(executable, case.name, case.groups, case.size, bytes(kernarg))
        if not isinstance(outcome, Completed) or outcome.counts is None:
            raise SystemExit(f"{case.name}: {outcome}")
        for index, expected in case.expected.items():
            actual = np.frombuffer(device.read(held[index]), expected.dtype)[: expected.size].reshape(expected.shape)
            if case.tolerance:
                np.testing.assert_allclose(actual, expected, rtol=case.tolerance, atol=case.tolerance)
            else:
                np.testing.assert_array_equal(actual, expected)
    finally:
        device.close()
    counts = outcome.counts
    kernel = read(code_object).kernel(case.name)
    program = decode_program(code_object, case.name)
    listed = list(program.instructions())
    moved = sum(
        value
        for table in (counts.bytes_read, counts.bytes_written)
        for key, value in table.items()
        if not key.startswith(("lds", "constant"))
    )
    return Measured(
        instructions=len(listed),
        vgprs=kernel.vgpr_count,
        sgprs=kernel.sgpr_count,
        waits=sum(i.row.mnemonic.startswith("s_wait") for i in listed),
        executed=counts.instructions,
        useful=counts.useful_instructions,
        bytes_moved=moved,
        classes=dict(counts.by_class),
    )


def compile_times(name: str) -> tuple[float, float]:
    """Milliseconds to compile: the best of five in process, and once as a command."""
    text = (HERE / f"{name}.loom").read_text()
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        module = loom.parse(text, f"{name}.loom")
        compile_module(module, CompileOptions(target=resolve_target("amdgpu", PROCESSOR)))
        best = min(best, time.process_time() - start)
    with tempfile.NamedTemporaryFile(suffix=".hsaco") as output:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "loom.tools.loom_compile", str(HERE / f"{name}.loom"), f"--output={output.name}"],
            check=True,
        )
        command = time.perf_counter() - start
    return 1000 * best, 1000 * command


COLUMNS: tuple[tuple[str, Callable[[Measured], int]], ...] = (
    ("insts", lambda m: m.instructions),
    ("executed", lambda m: m.executed),
    ("useful", lambda m: m.useful),
    ("VGPRs", lambda m: m.vgprs),
    ("SGPRs", lambda m: m.sgprs),
    ("waits", lambda m: m.waits),
    ("bytes", lambda m: m.bytes_moved),
)


def main() -> int:
    """Measure and print the table; exit code 1 where a ratio is beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", action="append", default=[], help="only this kernel (repeat)")
    parser.add_argument("--json", metavar="FILE", help="write all counts here as well")
    parser.add_argument("--times", action="store_true", help="compile times too")
    args = parser.parse_args()
    heads = "".join(f"{name:>17}" for name, _ in COLUMNS)
    print(f"{'kernel':10}{heads}   (Loom / clang)")
    rows = []
    missed = []
    for case in cases():
        if args.kernel and case.name not in args.kernel:
            continue
        loom_counts, clang_counts = measure(ours(case.name), case), measure(clang(case.name), case)
        cells = "".join(f"{get(loom_counts):>8} /{get(clang_counts):>7}" for _, get in COLUMNS)
        print(f"{case.name:10}{cells}", flush=True)
        for label, get in COLUMNS:
            ratio = get(loom_counts) / max(1, get(clang_counts))
            if label in ("executed", "VGPRs") and ratio > LIMIT:
                missed.append(f"{case.name}: {label} {ratio:.2f} times clang's")
        rows.append({"kernel": case.name, "loom": vars(loom_counts), "clang": vars(clang_counts)})
    if args.times:
        print(f"\n{'kernel':10}{'in process':>14}{'command':>12}")
        for case in cases():
            if args.kernel and case.name not in args.kernel:
                continue
            inside, command = compile_times(case.name)
            print(f"{case.name:10}{inside:>11.1f} ms{command:>9.0f} ms", flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=2) + "\n")
    for line in missed:
        print(line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
