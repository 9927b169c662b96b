"""Questions to LLVM MC about AMDGPU encodings, asked many at a time. Used when the tables are generated, never at
run time."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

LLVM_MC = "llvm-mc-22"
ATTRIBUTES = {"gfx11": "+real-true16", "gfx12": "+real-true16", "gfx9.4": ""}
_QUIET = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1", "LLVM_DISABLE_CRASH_REPORT": "1"}
_CHUNK = 512
_MARKERS = 4
_ENCODING = re.compile(r"\s*; encoding: \[([^\]]*)\]")


aborted: list[tuple[str, bytes]] = []
"""Strings LLVM aborted on, for the curious."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What LLVM decodes a byte string to: its text, and the bytes it would write for that text.

    ``soft``: LLVM calls the encoding potentially undefined, because bits it ignores are not as it writes them.
    """

    text: str
    canonical: bytes
    soft: bool = False


def decode(processor: str, generation: str, probes: Sequence[bytes]) -> list[Answer | None]:
    """Disassemble every byte string as exactly one instruction; ``None`` where LLVM does not.

    LLVM MC reads one stream of bytes. Behind every string stand four ``s_nop`` whose number says which string it was: a
    string that does not decode may swallow some of them, never all, so it cannot shift the answers.
    """
    answers: list[Answer | None] = []
    for at in range(0, len(probes), _CHUNK):
        answers += _ask(processor, generation, probes[at : at + _CHUNK])
    return answers


def _ask(processor: str, generation: str, probes: Sequence[bytes]) -> list[Answer | None]:
    lines = []
    for index, probe in enumerate(probes):
        marker = (0xBF800000 | index).to_bytes(4, "little")
        lines.append(probe.hex(" ") + "\n" + (marker * _MARKERS).hex(" "))
    text = re.sub(r"([0-9a-f]{2})", r"0x\1", "\n".join(lines))
    command = [LLVM_MC, "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", "--disassemble", "--show-encoding"]
    if ATTRIBUTES[generation]:
        command.append(f"-mattr={ATTRIBUTES[generation]}")
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=_QUIET)
    if done.returncode < 0:  # LLVM aborts on a few encodings it cannot print: find them by halving
        if len(probes) == 1:
            aborted.append((processor, probes[0]))
            return [None]
        half = len(probes) // 2
        return _ask(processor, generation, probes[:half]) + _ask(processor, generation, probes[half:])
    warnings = re.findall(r"^<stdin>:(\d+):\d+: warning: (potentially)?", done.stderr, re.MULTILINE)
    bad = {(int(line) - 1) // 2 for line, soft in warnings if not soft}
    undefined = {(int(line) - 1) // 2 for line, soft in warnings if soft}
    answers: list[Answer | None] = []
    group: list[Answer] = []
    outputs = []
    for line in done.stdout.split("\n"):
        match = _ENCODING.search(line)
        if match is not None:
            code = bytes(int(x.replace("'", "").replace("A", ""), 16) for x in match[1].split(","))
            outputs.append(Answer(line[: match.start()].strip(), code))
    position = 0
    for index in range(len(probes)):
        marker_text = f"s_nop {_spell(index)}"
        group = []
        ahead = outputs[position : position + 2 * _MARKERS]
        if not any(output.text == marker_text for output in ahead):
            answers.append(None)  # every marker was swallowed; the next string's are intact
            continue
        while outputs[position].text != marker_text:
            group.append(outputs[position])
            position += 1
        markers = 0
        while position < len(outputs) and outputs[position].text == marker_text:
            markers += 1
            position += 1
        if markers == _MARKERS + 1 and not group:
            group = [Answer(marker_text, probes[index])]
            markers -= 1
        good = len(group) == 1 and markers == _MARKERS and index not in bad and "/*" not in group[0].text
        if good and index in undefined:
            group = [Answer(group[0].text, group[0].canonical, True)]
        answers.append(group[0] if good else None)
    if position != len(outputs):
        raise RuntimeError(f"{processor}: {len(outputs) - position} answers left over")
    return answers


def assemble(processor: str, generation: str, texts: Sequence[str]) -> list[bytes | None]:
    """Assemble every text as one instruction; ``None`` where LLVM refuses it."""
    command = [LLVM_MC, "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", "--show-encoding"]
    if ATTRIBUTES[generation]:
        command.append(f"-mattr={ATTRIBUTES[generation]}")
    lines = []
    for index, text in enumerate(texts):
        lines += [text, f"s_nop {index & 0x7FFF}"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False, env=_QUIET)
    results: list[bytes | None] = []
    pending: list[bytes] = []
    bad = {(int(line) - 1) // 2 for line in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.MULTILINE)}
    for line in done.stdout.split("\n"):
        match = _ENCODING.search(line)
        if match is None:
            continue
        index = len(results)
        body = line[: match.start()].strip()
        if body == f"s_nop {_spell(index & 0x7FFF)}" and (pending or index in bad):
            results.append(pending[0] if len(pending) == 1 and index not in bad else None)
            pending = []
            continue
        pending.append(bytes(int(x.replace("A", "0") if "'" in x else x, 16) for x in match[1].split(",")))
    if len(results) != len(texts):
        raise RuntimeError(f"{processor}: {len(texts)} texts, {len(results)} results: {done.stderr[-500:]}")
    return results


def _spell(value: int) -> str:
    """How LLVM writes an immediate: decimal up to 64, else hexadecimal."""
    return str(value) if value <= 64 else f"0x{value:x}"


def split(text: str) -> tuple[str, list[str], list[str]]:
    """Take an instruction's text apart: mnemonic, operands, modifiers."""
    mnemonic, _, rest = text.partition(" ")
    operands: list[str] = []
    depth = 0
    current = ""
    for char in rest:
        if char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
        if char == "," and depth == 0:
            operands.append(current.strip())
            current = ""
        else:
            current += char
    modifiers: list[str] = []
    if current.strip():
        words = re.findall(r"[^\s\[\(]+(?:\[[^\]]*\]|\([^\)]*\))?|\[[^\]]*\]", current.strip())
        if ":[" in words[0] or (not operands and ":" in words[0] and "[" not in words[0]):
            return mnemonic, operands, words
        operands.append(words[0])
        modifiers = words[1:]
    return mnemonic, operands, modifiers
