"""LLVM's hazard recognizer as an oracle: the wait states that its pass puts between given gfx9.4 instructions.

Instructions go through the assembler, which tells LLVM's opcode and operands, then as machine IR through the pass.
Assembler opcodes carry an encoding's suffix that code generation's lack, and the parser of machine IR wants implicit
operands written out and says which; both are found by asking, once an opcode.
"""

from __future__ import annotations

import re
import subprocess

from loom.target.amdgpu.machine import MachineInstruction, Register

_MC = "llvm-mc-22"
_LLC = "llc-22"
_SUFFIX = re.compile(r"(?:_(?:vi|gfx9|gfx90a|gfx940|gfx950))+$")


def _assembled(lines: list[str], cpu: str) -> list[tuple[str, list[str]]]:
    """Opcode and operands of every line, as LLVM's assembler sees them."""
    done = subprocess.run(
        [_MC, "-triple=amdgcn", f"-mcpu={cpu}", "-show-inst"],
        input="\n".join(lines) + "\n",
        text=True,
        capture_output=True,
        check=True,
    )
    found: list[tuple[str, list[str]]] = []
    for line in done.stdout.splitlines():
        start = re.search(r"<MCInst #\d+ (\S+?)>*$", line)
        if start is not None:
            found.append((start[1], []))
        operand = re.search(r"<MCOperand (Reg|Imm|Expr):(?:lit\()?([^>)]*)\)?>", line)
        if operand is not None:
            value = operand[2]
            found[-1][1].append(
                "$" + value.lower().removesuffix("_gfx9plus").removesuffix("_gfxpre11")
                if operand[1] == "Reg"
                else str(int(value, 0))
            )
        elif "<MCOperand" in line:
            raise ValueError(f"operand not understood: {line}")
    assert len(found) == len(lines), done.stdout
    return found


def _run(bodies: list[list[str]], cpu: str) -> subprocess.CompletedProcess[str]:
    text = "".join(
        f"---\nname: k{number}\nbody: |\n  bb.0:\n"
        + "".join(f"    {line}\n" for line in [*body, "S_ENDPGM 0"])
        + "...\n"
        for number, body in enumerate(bodies)
    )
    return subprocess.run(
        [_LLC, "-mtriple=amdgcn", f"-mcpu={cpu}", "-run-pass=post-RA-hazard-rec", "-x=mir", "-", "-o", "-"],
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )


def _candidates(opcode: str) -> list[str]:
    """Code generation's possible names of an assembler's opcode."""
    if opcode.endswith(("_vcd", "_acd")):
        base = _SUFFIX.sub("", opcode[:-4])
        accumulators = opcode.endswith("_acd")
        middle = [""] if accumulators else ["_vgprcd"]
        return [f"{base}{m}_e64" for m in middle] + [f"{base}_e64"]
    base = _SUFFIX.sub("", opcode).removesuffix("_VE")
    named = [base, f"{base}_e64"]
    if base.startswith("V_") and not base.endswith(("_e32", "_e64", "_dpp", "_sdwa")):
        named.reverse()
    return [*named, f"{base}_gfx9", f"{base}_gfx9_e64", base.replace("_IMM32_", "_IMM32_B32")]


_FORMS: dict[tuple[str, int, int, str, tuple[str, ...]], tuple[str, int, tuple[str, ...]]] = {}
"""By assembler opcode, operands, definitions, processor and SDWA choices what :func:`_form` found."""


def _form(
    opcode: str, operands: tuple[str, ...], defs: int, cpu: str, implicit: list[str]
) -> tuple[str, int, tuple[str, ...]]:
    """Code generation's opcode, number of definitions in front and implicit operands of an instruction."""
    # Whether an SDWA instruction keeps the rest of its result's register, and so reads it, is an immediate.
    choices = tuple(o for o in operands if not o.startswith("$")) if "sdwa" in opcode.lower() else ()
    key = (opcode, len(operands), defs, cpu, choices)
    found = _FORMS.get(key)
    if found is None:
        found = _FORMS[key] = _ask(opcode, operands, defs, cpu, implicit)
    return found


def _ask(
    opcode: str, operands: tuple[str, ...], defs: int, cpu: str, guess: list[str]
) -> tuple[str, int, tuple[str, ...]]:
    problems = []
    for name in _candidates(opcode):
        for count in dict.fromkeys((defs, max(0, defs - 1), 0)):
            implicit = list(guess)
            for _ in range(8):
                done = _run([[_line(name, operands, count, implicit)]], cpu)
                if done.returncode == 0:
                    return name, count, tuple(implicit)
                missing = re.search(r"missing implicit register operand '([^']*)'", done.stderr)
                if missing is not None:
                    implicit.append(missing[1])
                elif "Dst register should have tied register" in done.stderr and count:
                    implicit.append("implicit {}(tied-def 0)")
                else:
                    wrong = re.search(r"^(?:error:|\*\*\* Bad machine code:).*", done.stderr, re.M)
                    problems.append(wrong[0] if wrong else done.stderr[:200])
                    break
    raise ValueError(f"no machine IR found for {opcode} {operands}: {problems}")


def _line(name: str, operands: tuple[str, ...], defs: int, implicit: list[str] | tuple[str, ...]) -> str:
    front = f"{', '.join(operands[:defs])} = " if defs else ""
    behind = [text.format(operands[0] if operands else "") for text in implicit]
    return f"{front}{name} {', '.join([*operands[defs:], *behind])}"


def llvm_wait_states(runs: list[list[MachineInstruction]], cpu: str) -> list[list[int]]:
    """Wait states that LLVM inserts in front of each instruction of straight runs."""
    assembled = iter(_assembled([str(i) for run in runs for i in run], cpu))
    bodies: list[list[str]] = []
    for run in runs:
        body: list[str] = []
        for instruction in run:
            opcode, operands = next(assembled)
            defs = sum(
                slot.is_def and isinstance(operand, Register)
                for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True)
            )
            name, count, implicit = _form(opcode, tuple(operands), defs, cpu, _implicit(instruction))
            body.append(_line(name, tuple(operands), count, implicit))
        bodies.append(body)
    done = _run(bodies, cpu)
    assert done.returncode == 0, done.stderr
    texts = done.stdout.split("bb.0:")[1:]
    found = [_states(text) for text in texts]
    assert [len(states) for states in found] == [len(run) + 1 for run in runs], done.stdout
    return [states[:-1] for states in found]


_REGISTERS = {"exec": "$exec", "mode": "$mode", "scc": "$scc", "vcc": "$vcc", "m0": "$m0", "flat_scratch": "$flat_scr"}


def _implicit(instruction: MachineInstruction) -> list[str]:
    """Implicit operands as the instruction table knows them: the first guess."""
    row = instruction.row
    defs = [f"implicit-def {_REGISTERS[name]}" for name in row.implicit_defs if name in _REGISTERS]
    return defs + [f"implicit {_REGISTERS[name]}" for name in row.implicit_uses if name in _REGISTERS]


def _states(text: str) -> list[int]:
    """Wait states in front of each instruction of a printed block, no-ops left out."""
    states: list[int] = []
    pending = 0
    for line in (line.strip() for line in text.partition("\n...")[0].splitlines()):
        nop = re.match(r"S_NOP (\d+)", line)
        if nop is not None:
            pending += int(nop[1]) + 1
        elif line:
            states.append(pending)
            pending = 0
    return states
