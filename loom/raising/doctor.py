"""What can be done with a code object, kernel by kernel, and what this machine has to do it with."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from loom.diagnostics import LoomError

#: Tools of LLVM that tests compare with; nothing needs them at run time.
ORACLES = ("llvm-mc-22", "llvm-objdump-22", "clang-22", "ld.lld-22")

#: A kernel that adds its work-item id to every word: what the self test runs.
_SELF_TEST = """amdgpu.target<gfx1100> @target {subgroup_size = 32}

low.kernel.def target<amdgpu.rdna3.core>(@target) workgroup_size(64, 1, 1) workgroup_count(1, 1, 1) @self_test() {
  %lane = low.live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %words = low.resource<hal_binding> {index = 0, source_type = hal.buffer, extent = 256} : reg<amdgpu.sgpr x2>
  %address = low.op<amdgpu.v_lshlrev_b32>(%lane) {src0 = 2} : (reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  %old = low.op<amdgpu.global_load_b32>(%address, %words) : (reg<amdgpu.vgpr>, reg<amdgpu.sgpr x2>) -> reg<amdgpu.vgpr>
  %new = low.op<amdgpu.v_add_nc_u32>(%old, %lane) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>
  low.op<amdgpu.global_store_b32>(%address, %new, %words) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>, reg<amdgpu.sgpr x2>)
  low.return
}
"""


@dataclass(frozen=True, slots=True)
class KernelDiagnosis:
    """One kernel: each answer is ``None`` where it works, else the reason why it does not."""

    file: str
    kernel: str
    processor: str
    instructions: int | None
    decodes: str | None
    lifts: str | None
    simulates: str | None

    def to_json(self) -> dict[str, Any]:
        """Answers as ``{"works": bool, "reason": text or null}``."""
        answers = {name: getattr(self, name) for name in ("decodes", "lifts", "simulates")}
        return {
            "file": self.file,
            "kernel": self.kernel,
            "processor": self.processor,
            "instructions": self.instructions,
            **{name: {"works": reason is None, "reason": reason} for name, reason in answers.items()},
        }

    @property
    def works(self) -> bool:
        """Whether all of it works."""
        return self.decodes is None and self.lifts is None and self.simulates is None


def _reason(failure: LoomError) -> str:
    first = failure.diagnostics[0]
    hint = f"; {first.hint}" if first.hint else ""
    return f"{first.message} [{first.code}]{hint}"


def diagnose(name: str, data: bytes) -> Iterator[KernelDiagnosis]:
    """Diagnose every kernel of a code object, offload bundle or fat binary.

    Raises:
        LoomError: what reading the container refuses.
    """
    from loom.raising.lift import lift_status
    from loom.target.amdgpu.code_object import read_all, write
    from loom.target.amdgpu.decoder import decode_program

    found = read_all(data)
    for code_object in found:
        alone = data if len(found) == 1 and data[:4] == b"\x7fELF" else write(code_object)
        for kernel in code_object.kernels:
            try:
                program = decode_program(code_object, kernel.name)
            except LoomError as failure:
                reason = _reason(failure)
                yield KernelDiagnosis(
                    name, kernel.name, code_object.processor, None, reason, "it does not decode", "it does not decode"
                )
                continue
            count = sum(1 for _ in program.instructions())
            status = lift_status(alone, kernel.name)
            lifts = None if status["lifted_identical"] else str(status["reason"])
            yield KernelDiagnosis(name, kernel.name, code_object.processor, count, None, lifts, simulation_gap(program))


def simulation_gap(program: Any) -> str | None:
    """The first instruction of a program that the simulator does not execute, with the reason and its pc."""
    from loom.target.amdgpu.simulator.unsupported import is_simulated, reason_unsupported

    known: set[str] = set()
    for instruction in program.instructions():
        for half in (instruction, instruction.y):
            if half is None or half.row.mnemonic in known:
                continue
            row = half.row
            reason = reason_unsupported(row.mnemonic)
            if reason is None and not is_simulated(row, program.wave_size):
                reason = "it has no semantic operation"
            if reason is not None:
                return f"{row.mnemonic} at pc {instruction.pc:#x} is not simulated: {reason}"
            known.add(row.mnemonic)
    return None


def self_test(device_name: str) -> str | None:
    """Compile a small kernel, run it on a device and check the numbers; ``None`` where they are right."""
    from loom import parse
    from loom.device.registry import open_device
    from loom.raising.buffers import parse_buffer
    from loom.raising.execution import execute, require_completed
    from loom.target.amdgpu.compile import CompileOptions, compile_module

    try:
        compilation = compile_module(parse(_SELF_TEST, "<self test>"), CompileOptions(pipeline="none", check=True))
        device = open_device(device_name)
        try:
            done = execute(
                device, compilation.code_object, "self_test", [parse_buffer("64xi32=100")], (1, 1, 1), (64, 1, 1)
            )
        finally:
            device.close()
        require_completed(done)
    except LoomError as failure:
        return _reason(failure)
    found = done.buffers[0].storage().tolist()
    return None if found == [100 + lane for lane in range(64)] else f"wrong results: {found[:4]} …"


def machine() -> dict[str, Any]:
    """What this machine has: versions, devices with a self test each, and tools that tests compare with."""
    import shutil

    from loom import __version__
    from loom.device.registry import ALIASES, device_names, is_available

    devices = []
    for name in device_names():
        if name in ALIASES:
            continue
        present = is_available(name)
        problem = self_test(name) if present else "not present on this machine"
        devices.append({"name": name, "present": present, "works": problem is None, "reason": problem})
    return {
        "version": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "devices": devices,
        "test_oracles": {tool: shutil.which(tool) is not None for tool in ORACLES},
    }
