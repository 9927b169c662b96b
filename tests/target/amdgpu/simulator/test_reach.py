"""What the kernels reach: the page is as the kernels are, and the sources of the generated kernels are as their definitions."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.target.amdgpu.code_object import read
from tests.target.amdgpu.simulator.native_suite import CASES, NATIVE
from tests.target.amdgpu.simulator.op_suite import OBJECT, assembly, kernels
from tests.target.amdgpu.simulator.reach import CASES as ALL
from tests.target.amdgpu.simulator.reach import PAGE, USES, compute_rows, executed, page, reached, uses


def test_the_page_names_every_instruction_that_is_not_reached() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = {row.mnemonic for row in compute_rows() if not row.mnemonic.startswith("v_dual_")}
    match = re.search(r"(\d+) of the (\d+) simulated instructions", text)
    assert match is not None
    missing = re.findall(r"`(\w+)`", text.partition("## Instructions")[2].partition("## Ways")[0])
    assert int(match[2]) == len(rows) and int(match[1]) == len(rows) - len(missing)
    assert set(missing) <= rows and len(set(missing)) == len(missing)
    assert len(missing) < 80
    assert re.findall(r"^\| ([^|]+) \| (?:`|none)", text, re.MULTILINE) == list(USES)


@pytest.mark.full
def test_the_page_is_as_the_kernels_are() -> None:
    assert page(reached(ALL)) == PAGE.read_text(encoding="utf-8")


def test_what_a_kernel_executes_is_seen() -> None:
    """The dual-issue multiplications of the tiled product, its LDS loads; nothing behind a branch that is never taken."""
    device = SimulatorDevice(threads=1)
    (case,) = [c for c in CASES if c.kernel == "sgemm_pipe_asm"]
    seen = list(executed(case, device))
    names = {i.row.mnemonic for i, _ in seen}
    assert {"v_dual_fmac_f32", "ds_load_b128", "s_barrier", "s_endpgm"} <= names
    found = set().union(*(uses(i, wave) for i, wave in seen))
    assert {"form vopd", "address lds offset", "wave of 32 lanes"} <= found and "wave of 64 lanes" not in found
    device.close()


def test_the_generated_source_is_as_the_definitions_are() -> None:
    assert (NATIVE / "extra" / "src" / "ops.s").read_text(encoding="utf-8") == assembly()
    assert sum(len(kernel.slots) for kernel in kernels()) > 1000


def test_the_generated_object_is_the_source_assembled(oracle: Callable[[str], str], tmp_path: Path) -> None:
    """The text sections are equal; the objects differ in what names the linker."""
    source, made = tmp_path / "ops.s", tmp_path / "ops.o"
    source.write_text(assembly(), encoding="utf-8")
    subprocess.run(
        [oracle("llvm-mc-22"), "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-mattr=+wavefrontsize32", "-filetype=obj",
         "-o", str(made), str(source)],
        check=True,
    )  # fmt: skip
    linked = tmp_path / "ops.hsaco"
    subprocess.run([oracle("ld.lld-22"), "-shared", "-o", str(linked), str(made)], check=True)
    ours, again = (read((path).read_bytes()) for path in (NATIVE / OBJECT, linked))
    assert [k.code for k in ours.kernels] == [k.code for k in again.kernels]


def test_a_wrong_definition_is_found() -> None:
    """The expectations are no zeros: a definition's results differ between operations and lanes."""
    constant = 0
    for kernel in kernels():
        x, y, z = kernel.family.inputs(np.random.default_rng(5), 64)
        with np.errstate(all="ignore"):
            constant += sum(len(np.unique(define(x, y, z))) == 1 for _, _, _, define in kernel.slots)
    assert constant < 120
