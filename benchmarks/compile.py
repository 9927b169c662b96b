"""Compile time in process: the kernels of benchmarks/codegen, and one kernel at growing size.

    python benchmarks/compile.py [--json FILE] [--profile SIZE] [--relaxed]

Milliseconds of processor time, the best of five, from text to code object. The growing kernel is a register tile of a
matrix product whose loop is unrolled: loads, fused multiply-adds and stores. ``exponent`` is the growth of time with
instructions between two rows (1 is linear). Goals: 60 ms for the small kernels, 800 ms for 1,900 instructions.

``--relaxed`` measures lifted kernels instead, whose registers, then order, are the backend's: the growing kernel again,
one straight run, and a chain of branches, one block for every five instructions. Once each, with the checks of
``--verify``, up to 28,000 instructions.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import math
import pstats
import sys
import time
from pathlib import Path

import loom
from loom.diagnostics import LoomError
from loom.raising.lift import LiftOptions, lift
from loom.target.amdgpu.assembler import assemble
from loom.target.amdgpu.code_object import write
from loom.target.amdgpu.compile import Compilation, CompileOptions, compile_module
from loom.transform.target import resolve_target

HERE = Path(__file__).parent / "codegen"
PROCESSOR = "gfx1100"
SMALL_GOAL, LARGE_GOAL = 60.0, 800.0
LARGE = 1900
ROUNDS = (4, 8, 16, 32, 64)
RELAXED_ROUNDS = (44, 88, 176, 352, 830)
RELAXED_BRANCHES = (100, 200, 400, 800, 2800)


def tile(rounds: int) -> str:
    """A kernel of about 30 instructions a round."""
    head = """kernel.def @tile() {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%k: index, %a: buffer, %b: buffer, %c: buffer) {
  %item = kernel.workitem.id<x> : index
  %o = index.constant 0 : offset
  %x, %y, %z = buffer.assume.noalias %a, %b, %c : buffer, buffer, buffer
  %av = buffer.view %x[%o] : buffer -> view<64x4096xf32>
  %bv = buffer.view %y[%o] : buffer -> view<4096x64x4xf32, align(16)>
  %cv = buffer.view %z[%o] : buffer -> view<64x4x4xf32, align(16)>
  %zero = index.constant 0 : index
  %lower = index.constant 0 : index
"""
    lines = [head, f"  %upper = index.constant {4 * rounds} : index\n  %step = index.constant 4 : index\n"]
    lines.append("  %f = scalar.constant 0.0 : f32\n  %none = vector.splat %f : vector<4xf32>\n")
    accumulators = ", ".join(f"%r{i} = %none : vector<4xf32>" for i in range(4))
    types = ", ".join(["vector<4xf32>"] * 4)
    names = ", ".join(f"%s{i}" for i in range(4))
    lines.append(f"  {names} = scf.for %i = [%lower to %upper step %step]({accumulators}) -> ({types}) unroll {{\n")
    lines.append("    %l = vector.load %av[%item, %i] : view<64x4096xf32> -> vector<4xf32>\n")
    for j in range(4):
        lines.append(f"    %j{j} = index.constant {j} : index\n    %at{j} = index.add %i, %j{j} : index\n")
        lines.append(
            f"    %w{j} = vector.load %bv[%at{j}, %item, 0] : view<4096x64x4xf32, align(16)> -> vector<4xf32>\n"
            f"    %e{j} = vector.extract %l[{j}] : vector<4xf32> -> f32\n"
            f"    %p{j} = vector.splat %e{j} : vector<4xf32>\n"
            f"    %n{j} = vector.fmaf %p{j}, %w{j}, %r{j} : vector<4xf32>\n"
        )
    lines.append(f"    scf.yield {', '.join(f'%n{j}' for j in range(4))} : {types}\n  }}\n")
    for j in range(4):
        lines.append(f"  vector.store %s{j}, %cv[%item, {j}, 0] : vector<4xf32>, view<64x4x4xf32, align(16)>\n")
    return "".join([*lines, "  kernel.return\n}\n"])


def once(text: str, name: str) -> Compilation:
    """One compile, text to code object."""
    module = loom.parse(text, name)
    return compile_module(module, CompileOptions(target=resolve_target("amdgpu", PROCESSOR)))


def branches(count: int) -> bytes:
    """A code object with ``count`` times a load, a branch around five instructions, and arithmetic: ten each."""
    lines = [
        '.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"',
        ".text",
        ".globl k",
        ".p2align 8",
        ".type k,@function",
        "k:",
        "s_load_b128 s[4:7], s[0:1], 0x0",
        "s_waitcnt lgkmcnt(0)",
        "v_lshlrev_b32 v1, 2, v0",
        "v_mov_b32 v2, 0",
        "v_mov_b32 v3, 1.0",
    ]
    for i in range(count):
        lines += [
            f"global_load_b32 v4, v1, s[4:5] offset:{4 * (i % 1000)}",
            f"s_cmp_lt_u32 s2, {i % 64}",
            f"s_cbranch_scc1 L{i}",
            "s_waitcnt vmcnt(0)",
            "v_add_f32 v2, v2, v4",
            f"global_store_b32 v1, v2, s[6:7] offset:{4 * (i % 1000)}",
            f"L{i}:",
            "s_waitcnt vmcnt(0)",
            "v_mul_f32 v5, v4, v3",
            "v_add_f32 v2, v5, v2",
            "v_fmac_f32 v3, v5, v2",
        ]
    lines += [
        "global_store_b32 v1, v2, s[6:7]",
        "s_endpgm",
        ".size k, .-k",
        ".rodata",
        ".p2align 6",
        ".amdhsa_kernel k",
        ".amdhsa_next_free_vgpr 8",
        ".amdhsa_next_free_sgpr 16",
        ".amdhsa_wavefront_size32 1",
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1",
        ".amdhsa_kernarg_size 16",
        ".end_amdhsa_kernel",
    ]
    return write(assemble("\n".join(lines) + "\n"))


def relaxed() -> list[dict[str, object]]:
    """Measure lifted kernels of growing size, and print a row each."""
    kernels = [(f"tile {n}", "tile", once(tile(n), "tile.loom").code_object) for n in RELAXED_ROUNDS]
    kernels += [(f"branches {n}", "k", branches(n)) for n in RELAXED_BRANCHES]
    rows: list[dict[str, object]] = []
    print(f"{'kernel':16}{'relaxed':>12}{'instructions':>14}{'lift ms':>9}{'compile ms':>12}{'exponent':>10}")
    for what in ("allocation", "schedule"):
        previous: tuple[int, float] | None = None
        for name, symbol, data in kernels:
            gc.collect()  # what the kernel before has left is not this one's
            start = time.process_time()
            lifted = lift(data, symbol, LiftOptions(relax=what))
            lifting = time.process_time() - start
            lifted.module.symbol(lifted.kernel.symbol).attributes.setdefault("workgroup_size", (64, 1, 1))
            start = time.process_time()
            note = ""
            try:
                compile_module(lifted.module, CompileOptions(pipeline="none", check=True))
            except LoomError as failure:
                note = f"  {failure}"
            spent = time.process_time() - start
            grown = previous is not None and previous[0] < lifted.instructions
            exponent = ""
            if previous is not None and grown:
                exponent = f"{math.log(spent / previous[1]) / math.log(lifted.instructions / previous[0]):.2f}"
            previous = (lifted.instructions, spent)
            print(
                f"{name:16}{what:>12}{lifted.instructions:>14,}{1000 * lifting:>9.0f}{1000 * spent:>12.0f}"
                f"{exponent:>10}{note}",
                flush=True,
            )
            rows.append(
                {
                    "kernel": name,
                    "relaxed": what,
                    "instructions": lifted.instructions,
                    "lift_milliseconds": 1000 * lifting,
                    "milliseconds": 1000 * spent,
                }
            )
    return rows


def measure(text: str, name: str) -> tuple[int, float, dict[str, float]]:
    """Instructions, the least milliseconds of five compiles, and the stages of the last in milliseconds."""
    best = math.inf
    for _ in range(5):
        start = time.process_time()
        made = once(text, name)
        best = min(best, time.process_time() - start)
    count = sum(1 for _ in made.programs[0].instructions())
    return count, 1000 * best, {k: 1000 * v for k, v in made.report["compile_seconds"].items()}


def main() -> int:
    """Measure and print; exit code 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write all figures here as well")
    parser.add_argument("--profile", type=int, metavar="SIZE", help="profile the growing kernel of SIZE rounds instead")
    parser.add_argument("--relaxed", action="store_true", help="measure lifted kernels of growing size instead")
    args = parser.parse_args()
    if args.relaxed:
        rows = relaxed()
        if args.json:
            Path(args.json).write_text(json.dumps(rows, indent=2) + "\n")
        return 0
    if args.profile is not None:
        text = tile(args.profile)
        once(text, "tile.loom")
        profile = cProfile.Profile()
        profile.runcall(once, text, "tile.loom")
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return 0
    rows = []
    missed = []
    print(f"{'kernel':12}{'instructions':>14}{'ms':>9}{'exponent':>10}  stages (ms)")
    cases = [(path.stem, path.read_text()) for path in sorted(HERE.glob("*.loom"))]
    cases += [(f"tile {rounds}", tile(rounds)) for rounds in ROUNDS]
    previous: tuple[int, float] | None = None
    for name, text in cases:
        count, best, stages = measure(text, f"{name}.loom")
        grown = name.startswith("tile")
        exponent = ""
        if grown and previous is not None:
            exponent = f"{math.log(best / previous[1]) / math.log(count / previous[0]):.2f}"
        previous = (count, best) if grown else None
        shown = ", ".join(f"{k} {v:.1f}" for k, v in stages.items())
        print(f"{name:12}{count:>14}{best:>9.1f}{exponent:>10}  {shown}", flush=True)
        rows.append({"kernel": name, "instructions": count, "milliseconds": best, "stages": stages})
        goal = SMALL_GOAL if not grown else LARGE_GOAL * max(1.0, count / LARGE)
        if best > goal:
            missed.append(f"{name}: {best:.1f} ms, goal {goal:.0f} ms")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=2) + "\n")
    for line in missed:
        print(line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
