"""Packed moves of gfx942 and gfx950 as LLVM uses them: a vector of one half of each of two register pairs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Completed

KERNEL = """
define amdgpu_kernel void @k{0}{1}(ptr addrspace(1) %in, ptr addrspace(1) %out) {{
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %second = add i32 %lane, 64
  %from = getelementptr <2 x i32>, ptr addrspace(1) %in, i32 %lane
  %too = getelementptr <2 x i32>, ptr addrspace(1) %in, i32 %second
  %a = load <2 x i32>, ptr addrspace(1) %from
  %b = load <2 x i32>, ptr addrspace(1) %too
  %c = shufflevector <2 x i32> %a, <2 x i32> %b, <2 x i32> <i32 {0}, i32 {1}>
  %to = getelementptr <2 x i32>, ptr addrspace(1) %out, i32 %lane
  store <2 x i32> %c, ptr addrspace(1) %to
  ret void
}}
"""
MASKS = [(first, second) for first in (0, 1) for second in (2, 3)]


@pytest.mark.parametrize("processor", ["gfx942", "gfx950"])
def test_halves_of_two_pairs(oracle: Callable[[str], str], processor: str, tmp_path: Path) -> None:
    text = "".join(KERNEL.format(*mask) for mask in MASKS) + "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    (tmp_path / "k.ll").write_text(text, encoding="utf-8")
    base = [oracle("llc-22"), "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={processor}", str(tmp_path / "k.ll"), "-o"]
    subprocess.run([*base, str(tmp_path / "k.o"), "-filetype=obj"], check=True, capture_output=True)
    subprocess.run(
        [oracle("ld.lld-22"), "-shared", "-o", str(tmp_path / "k.hsaco"), str(tmp_path / "k.o")],
        check=True, capture_output=True,
    )  # fmt: skip
    device = SimulatorDevice(threads=1)
    executable = device.load((tmp_path / "k.hsaco").read_bytes())
    data = np.arange(256, dtype=np.uint32).reshape(128, 2)
    inputs, outputs = device.allocate(1024, "in"), device.allocate(512, "out")
    device.write(inputs, data.tobytes())
    moves = 0
    for first, second in MASKS:
        kernel = f"k{first}{second}"
        moves += sum(i.row.mnemonic == "v_pk_mov_b32" for i in executable.handle.kernel(kernel).code)
        kernarg = inputs.address.to_bytes(8, "little") + outputs.address.to_bytes(8, "little")
        assert isinstance(device.launch(executable, kernel, (1,), (64,), kernarg), Completed)
        found = np.frombuffer(device.read(outputs), np.uint32).reshape(64, 2)
        both = np.concatenate([data[:64], data[64:]], axis=1)
        np.testing.assert_array_equal(found, both[:, [first, second]])
    device.close()
    assert moves  # the other masks take other instructions
