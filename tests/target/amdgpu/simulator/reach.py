"""Which kinds of instruction use the kernels of the suites reach: runs them all and writes ``docs/simulator-reach.md``.

    python -m tests.target.amdgpu.simulator.reach [--write]

A kind of use is an instruction of gfx1100, or a way to use one: a form, a modifier, an operand kind, an address form. It is reached
when a kernel of ``native_suite`` or ``extra_suite`` executes it; tests of single instructions do not count. The page also says what
is not reached, by name.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from loom.device.amdgpu_sim import SimulatorDevice
from loom.device.protocol import Completed
from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.machine import Inline, Literal, MachineInstruction, Register
from loom.target.amdgpu.simulator import launch
from loom.target.amdgpu.simulator.unsupported import reason_unsupported
from loom.target.amdgpu.tables import table
from tests.target.amdgpu.simulator import extra_suite, native_suite
from tests.target.amdgpu.simulator.native_suite import NATIVE, Case, run

PAGE = Path(__file__).resolve().parents[4] / "docs" / "simulator-reach.md"
PROCESSOR = "gfx1100"
CASES = [case for case in [*native_suite.CASES, *extra_suite.CASES] if PROCESSOR in case.file or "triton" in case.file]

_DPP_CONTROLS = {
    "quad_perm": range(0x00, 0x100), "row_shl": range(0x101, 0x110), "row_shr": range(0x111, 0x120),
    "row_ror": range(0x121, 0x130), "row_mirror": range(0x140, 0x141), "row_half_mirror": range(0x141, 0x142),
    "row_share": range(0x150, 0x160), "row_xmask": range(0x160, 0x170),
}  # fmt: skip
_MODIFIERS = (
    "neg", "abs", "neg_lo", "neg_hi", "op_sel", "op_sel_hi", "clamp", "omod", "bound_ctrl", "fi", "row_mask", "bank_mask",
    "glc", "slc", "dlc", "offen", "idxen",
)  # fmt: skip
USES = tuple(
    [f"modifier {name}" for name in _MODIFIERS]
    + [f"form {name}" for name in ("e32", "e64", "dpp16", "dpp8", "e64_dpp16", "e64_dpp8", "vopd")]
    + [f"dpp {name}" for name in _DPP_CONTROLS]
    + ["operand literal", "operand inline integer", "operand inline float", "operand sgpr in a vector instruction",
       "operand vcc as data", "operand m0", "operand exec", "operand null", "operand scc", "operand half of a register"]
    + [f"address {space} {form}" for space, forms in (
        ("global", ("saddr", "vaddr", "negative offset")), ("scratch", ("saddr", "vaddr", "both", "neither")),
        ("flat", ("vaddr",)), ("buffer", ("neither", "offen", "idxen", "both")), ("lds", ("offset", "two", "two by 64")),
        ("constant", ("immediate", "register"))) for form in forms]
    + ["wave of 32 lanes", "wave of 64 lanes"]
)  # fmt: skip
"""Ways to use an instruction that are looked for."""


def compute_rows() -> list[InstructionRow]:
    """Rows of the processor that are simulated."""
    return [
        row for row in table("gfx11").rows() if PROCESSOR in row.processors and reason_unsupported(row.mnemonic) is None
    ]


def _operands(instruction: MachineInstruction) -> Iterator[str]:
    vector = instruction.row.mnemonic.startswith("v_")
    for operand in instruction.operands:
        if isinstance(operand, Literal):
            yield "operand literal"
        elif isinstance(operand, Inline):
            yield f"operand inline {'integer' if operand.code < 209 else 'float'}"
        elif isinstance(operand, Register):
            if operand.bank == "sgpr" and vector:
                yield "operand sgpr in a vector instruction"
            if operand.bank == "vcc" and not any(s.type == "mask" for s in instruction.row.slots):
                yield "operand vcc as data"
            if operand.bank in ("m0", "exec", "null", "scc"):
                yield f"operand {operand.bank}"
            if operand.half is not None:
                yield "operand half of a register"


def _address(instruction: MachineInstruction) -> Iterator[str]:
    memory = instruction.row.memory
    if memory is None or memory.kind not in ("load", "store", "atomic"):
        return

    def there(name: str) -> bool:
        at = instruction.row.slot_index(name)
        operand = instruction.operands[at] if at >= 0 else None
        return isinstance(operand, Register) and operand.bank not in ("off", "null")

    space = memory.space
    offset = instruction.modifier("offset") if any(m.name == "offset" for m in instruction.row.modifiers) else 0
    if space == "global":
        yield f"address global {'saddr' if there('saddr') else 'vaddr'}"
        if offset < 0:
            yield "address global negative offset"
    elif space == "flat":
        yield "address flat vaddr"
    elif space in ("scratch", "buffer"):
        names = ("saddr", "vaddr") if space == "scratch" else ("offen", "idxen")
        found = [n for n in names if (there(n) if space == "scratch" else instruction.modifiers.get(n, 0))]
        yield f"address {space} {found[0] if len(found) == 1 else 'both' if found else 'neither'}"
    elif space == "lds":
        two = "2addr" in instruction.row.semantic
        yield f"address lds {'two by 64' if 'stride64' in instruction.row.semantic else 'two' if two else 'offset'}"
    elif space == "constant":
        yield f"address constant {'register' if there('soffset') else 'immediate'}"


def uses(instruction: MachineInstruction, wave: int) -> set[str]:
    """The kinds of use, out of :data:`USES`, that an instruction is."""
    found = {f"wave of {wave} lanes", f"form {'vopd' if instruction.y is not None else instruction.form}"}
    found |= {f"modifier {name}" for name in instruction.modifiers}
    if "dpp_ctrl" in instruction.modifiers or "dpp16" in (instruction.form or ""):
        control = instruction.modifier("dpp_ctrl")
        found |= {f"dpp {name}" for name, values in _DPP_CONTROLS.items() if control in values}
    half: MachineInstruction | None = instruction
    while half is not None:
        found.update(_operands(half))
        half = half.y
    found.update(_address(instruction))
    return found & set(USES)


@contextmanager
def watched() -> Iterator[list[tuple[Any, Any]]]:
    """Compiled kernels and results of the launches inside."""
    seen: list[tuple[Any, Any]] = []
    original = launch.run_kernel

    def run_kernel(compiled: Any, *rest: Any) -> Any:
        result = original(compiled, *rest)
        seen.append((compiled, result))
        return result

    launch.run_kernel = run_kernel
    try:
        yield seen
    finally:
        launch.run_kernel = original


def executed(case: Case, device: SimulatorDevice) -> Iterator[tuple[MachineInstruction, int]]:
    """Instructions that a case executes, with the wave size."""
    executable = device.load((NATIVE / case.file).read_bytes())
    with watched() as seen:
        for n in case.sizes:
            outcome, _ = run(device, executable, case.kernel, case.make(n, np.random.default_rng(n)))
            assert isinstance(outcome, Completed), (case.name, outcome)
    done: set[int] = set()
    for compiled, result in seen:
        for (first, last), times in zip(compiled.translation.blocks, result.counts.tolist(), strict=False):
            if times:
                done.update(range(first, last))
    compiled, _ = seen[0]
    for number in sorted(done):
        yield compiled.code[number], compiled.settings.wave


def reached(cases: Iterable[Case]) -> dict[str, str]:
    """For each mnemonic and each kind of use that some kernel reaches, the first kernel that does."""
    device = SimulatorDevice(threads=1)
    found: dict[str, str] = {}
    for case in cases:
        for instruction, wave in executed(case, device):
            half: MachineInstruction | None = instruction
            while half is not None:
                # Halves of a pair are rows of their own; what they compute is the plain instruction's.
                for name in (half.row.mnemonic, half.row.mnemonic.replace("v_dual_", "v_")):
                    found.setdefault(name, case.kernel)
                half = half.y
            for use in uses(instruction, wave):
                found.setdefault(use, case.kernel)
    device.close()
    return found


def family(row: InstructionRow) -> str:
    """The encoding that a row is listed under."""
    return row.encodings[0].format


def page(found: dict[str, str]) -> str:
    """The text of the page."""
    rows = [row for row in compute_rows() if not row.mnemonic.startswith("v_dual_")]
    by_family: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_family[family(row)].append(row.mnemonic)
    names = {row.mnemonic for row in rows}
    count = len(names & set(found))
    lines = [
        "# What the kernels of the simulator's suites reach",
        "",
        "Made by `python -m tests.target.amdgpu.simulator.reach --write`, which runs every gfx11 kernel of `tests/native` and looks at",
        "the instructions that it executes; a test makes it again and compares. What is not reached here is covered by tests of single",
        "instructions and of semantic operations only.",
        "",
        f"{count} of the {len(names)} simulated instructions of {PROCESSOR} are executed by some kernel, and "
        f"{sum(use in found for use in USES)} of {len(USES)} ways to use one.",
        "",
        "| encoding | instructions | reached |",
        "| --- | --- | --- |",
    ]
    for name in sorted(by_family):
        members = set(by_family[name])
        lines.append(f"| {name} | {len(members)} | {len(members & set(found))} |")
    lines += ["", "## Instructions that no kernel reaches", ""]
    for name in sorted(by_family):
        missing = sorted(set(by_family[name]) - set(found))
        if missing:
            lines += [f"**{name}**: {', '.join(f'`{m}`' for m in missing)}", ""]
    lines += ["## Ways to use an instruction", "", "| use | first kernel that reaches it |", "| --- | --- |"]
    lines += [f"| {use} | {f'`{found[use]}`' if use in found else 'none'} |" for use in USES]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page, or write it."""
    text = page(reached(CASES))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
