"""Compiling a kernel's translation: a :class:`CompiledKernel` is host code of a kernel under one :class:`Settings`."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator.compile import Library, compile_text, has_hardware_fma
from loom.target.amdgpu.simulator.helpers import Helper, helper_text
from loom.target.amdgpu.simulator.publication import publication_text
from loom.target.amdgpu.simulator.release import acquires, release_text
from loom.target.amdgpu.simulator.runtime import runtime_declarations, runtime_text
from loom.target.amdgpu.simulator.scheduler import scheduler_text
from loom.target.amdgpu.simulator.static_check import StaticChecker
from loom.target.amdgpu.simulator.translate import Settings, StaticFault, Translation, Translator

LARGE_KERNEL = 4000
"""Instructions from which code is generated quickly rather than well."""


@dataclass(slots=True)
class CompiledKernel:
    """Host code of a kernel, and the tables to read its counters with."""

    code: Sequence[MachineInstruction]
    translation: Translation
    settings: Settings
    library: Library
    entry_table: npt.NDArray[np.int32]
    entry_block: int
    watched: bool = False
    releases: bool = False

    @property
    def run(self) -> Any:
        """``run(launch, begin, end)``: gives ``RUN_COMPLETED`` or one of its successors, see ``layout``."""
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
        return prototype(self.library.addresses["loom.run"])


def helper_objects(helpers: set[Helper], wave: int) -> list[bytes]:
    """Objects that define the helpers; helpers of one access share an object, so the cache is shared by kernels."""
    fma = has_hardware_fma()
    groups: dict[tuple[str, str], set[Helper]] = {}
    for helper in helpers:
        groups.setdefault((helper.space, helper.suffix), set()).add(helper)
    objects = []
    for _, group in sorted(groups.items()):
        members = set(group)
        for helper in group:
            if helper.wide:
                members.add(_narrow(helper))
        ordered = sorted(members, key=lambda h: h.name)
        text = runtime_declarations(wave) + "".join(helper_text(h, fma) for h in ordered)
        objects.append(compile_text(text))
    return objects


def _narrow(helper: Helper) -> Helper:
    return Helper(
        helper.space, helper.suffix, helper.wave, False, helper.returning, helper.flush32, helper.flush64, helper.race
    )


def compile_kernel(
    code: Sequence[MachineInstruction],
    entries: Sequence[int],
    entry: int,
    text_size: int,
    settings: Settings,
    extra_faults: Mapping[int, StaticFault] | None = None,
    apart: bool = False,
) -> CompiledKernel:
    """Translate and compile a kernel.

    Args:
        code: Instructions by ascending ``pc``, byte offsets in the text section; the kernel's entry first.
        entries: Offsets where control may enter: functions, and whatever the symbol table names.
        entry: Offset of the kernel's first instruction.
        text_size: Bytes of the text section.
        extra_faults: Faults found elsewhere (hazards), by instruction number.
        apart: Whether waves of a workgroup reach memory through different caches.
    """
    translator = Translator(code, entries, settings, {})
    faults = dict(extra_faults or {})
    checker = StaticChecker(code, translator.result.blocks, settings.generation, entries)
    faults.update(checker.run())
    translator.static_faults = faults
    translator.watch(frozenset(checker.unread | (checker.unpublished if apart else set())))
    translator.releases = any(map(acquires, code))
    translation = translator.translate()
    level = 2 if len(code) < LARGE_KERNEL else 0
    objects = [compile_text(translation.text, level)]
    wave = settings.wave
    objects.append(compile_text(runtime_text(wave) + scheduler_text()))
    objects += helper_objects(translation.helpers, wave)
    if translator.watched:
        objects.append(compile_text(publication_text(wave)))
    if translator.releases:
        objects.append(compile_text(release_text(wave, not apart)))
    if not settings.hardware_fma:
        from loom.target.amdgpu.simulator.soft_fma import soft_fma_text

        objects.append(compile_text(soft_fma_text(wave)))
    library = Library(objects, ["loom.run"])
    table = np.full(max(1, -(-text_size // 4)), -1, dtype=np.int32)
    for number, (first, _) in enumerate(translation.blocks):
        offset = code[first].pc
        if 0 <= offset < text_size:
            table[offset // 4] = number
    return CompiledKernel(
        code,
        translation,
        settings,
        library,
        table,
        int(table[entry // 4]),
        bool(translator.watched),
        translator.releases,
    )
