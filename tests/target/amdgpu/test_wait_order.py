"""Two operations that write one register: whether the second must wait for the first, as llc has it."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable

import pytest

from loom.target.amdgpu.assembler import parse_instruction
from loom.target.amdgpu.check_waits import check_waits
from loom.target.amdgpu.machine import MachineBlock, MachineProgram
from loom.target.amdgpu.waits import missing_waits

#: By name an operation that writes v0 in LLVM's machine IR, on gfx942, and on gfx11 and gfx12.
OPERATIONS = {
    "global": (
        "GLOBAL_LOAD_DWORD $vgpr2_vgpr3, 0, 0, implicit $exec",
        "global_load_dword v0, v[2:3], off",
        "global_load_b32 v0, v[2:3], off",
    ),
    "saddr": (
        "GLOBAL_LOAD_DWORD_SADDR $sgpr4_sgpr5, $vgpr2, 4, 0, implicit $exec",
        "global_load_dword v0, v2, s[4:5] offset:4",
        "global_load_b32 v0, v2, s[4:5] offset:4",
    ),
    "scratch": (
        "SCRATCH_LOAD_DWORD $vgpr2, 4, 0, implicit $exec, implicit $flat_scr",
        "scratch_load_dword v0, v2, off offset:4",
        "scratch_load_b32 v0, v2, off offset:4",
    ),
    "atomic": (
        "GLOBAL_ATOMIC_ADD_RTN $vgpr2_vgpr3, $vgpr1, 0, 1, implicit $exec",
        "global_atomic_add v0, v[2:3], v1, off sc0",
        "global_atomic_add_u32 v0, v[2:3], v1, off RETURN",
    ),
    "flat": (
        "FLAT_LOAD_DWORD $vgpr2_vgpr3, 0, 0, implicit $exec, implicit $flat_scr",
        "flat_load_dword v0, v[2:3]",
        "flat_load_b32 v0, v[2:3]",
    ),
    "lds": ("DS_READ_B32_gfx9 $vgpr2, 0, 0, implicit $exec", "ds_read_b32 v0, v2", "ds_load_b32 v0, v2"),
    "its own address": (
        "GLOBAL_LOAD_DWORD_SADDR $sgpr4_sgpr5, $vgpr0, 4, 0, implicit $exec",
        "global_load_dword v0, v0, s[4:5] offset:4",
        "global_load_b32 v0, v0, s[4:5] offset:4",
    ),
    "arithmetic": ("V_MOV_B32_e32 $vgpr1, implicit $exec", "v_mov_b32 v0, v1", "v_mov_b32 v0, v1"),
}
PAIRS = list(itertools.product([name for name in OPERATIONS if name != "arithmetic"], OPERATIONS))
RETURNS = {"gfx11": "glc", "gfx12": "th:TH_ATOMIC_RETURN"}


def llvm_waits(llc: str, processor: str) -> list[bool]:
    """Whether llc puts a wait between the operations of each pair."""
    text = "".join(
        f"---\nname: k{number}\nbody: |\n  bb.0:\n    $vgpr0 = {OPERATIONS[first][0]}\n"
        f"    $vgpr0 = {OPERATIONS[second][0]}\n    S_ENDPGM 0\n...\n"
        for number, (first, second) in enumerate(PAIRS)
    )
    command = [llc, "-mtriple=amdgcn", f"-mcpu={processor}", "-run-pass=si-insert-waitcnts", "-x=mir", "-", "-o", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=True)
    found = []
    for body in done.stdout.split("bb.0:")[1:]:
        lines = [line.strip() for line in body.splitlines()]
        first, second = (n for n, line in enumerate(lines) if line.startswith("$vgpr0 ="))
        found.append(any(line.startswith("S_WAIT") for line in lines[first:second]))
    return found


@pytest.mark.parametrize(
    ("processor", "generation"),
    [("gfx942", "gfx9.4"), ("gfx950", "gfx9.4"), ("gfx1100", "gfx11"), ("gfx1201", "gfx12")],
)
def test_a_register_is_written_twice_without_a_wait_where_llvm_has_none(
    processor: str, generation: str, oracle: Callable[[str], str]
) -> None:
    expected = llvm_waits(oracle("llc-22"), processor)
    assert any(expected)
    assert all(expected) == (generation == "gfx12")
    for pair, wanted in zip(PAIRS, expected, strict=True):
        lines = [
            OPERATIONS[name][1 if generation == "gfx9.4" else 2].replace("RETURN", RETURNS.get(generation, ""))
            for name in pair
        ]
        instructions = [parse_instruction(line, processor, wave_size=64) for line in lines]
        program = MachineProgram("k", processor, 64, [MachineBlock("entry", instructions)])
        assert bool(missing_waits(program, generation).rows) == wanted, pair
        assert bool(check_waits(program, generation)) == wanted, pair
