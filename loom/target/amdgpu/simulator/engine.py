"""Compiling a kernel's translation: a :class:`CompiledKernel` is host code of a kernel under one :class:`Settings`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from loom.target.amdgpu.machine import MachineInstruction
from loom.target.amdgpu.simulator import kernel_cache
from loom.target.amdgpu.simulator.compile import Library, compile_object, has_hardware_fma
from loom.target.amdgpu.simulator.counts import CountTable
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
    _table: CountTable | None = None

    @property
    def count_table(self) -> CountTable:
        """What its counters stand for."""
        if self._table is None:
            self._table = CountTable(self.code, self.translation.blocks, self.translation.sites)
        return self._table

    @property
    def run(self) -> Any:
        """``run(launch, begin, end)``: gives ``RUN_COMPLETED`` or one of its successors, see ``layout``."""
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
        return prototype(self.library.addresses["loom.run"])


def helper_texts(helpers: set[Helper], wave: int) -> list[str]:
    """IR that defines the helpers; helpers of one access share a text, so the cache is shared by kernels."""
    fma = has_hardware_fma()
    groups: dict[tuple[str, str], set[Helper]] = {}
    for helper in helpers:
        groups.setdefault((helper.space, helper.suffix), set()).add(helper)
    texts = []
    for _, group in sorted(groups.items()):
        members = set(group)
        for helper in group:
            if helper.wide:
                members.add(_narrow(helper))
        ordered = sorted(members, key=lambda h: h.name)
        texts.append(runtime_declarations(wave) + "".join(helper_text(h, fma) for h in ordered))
    return texts


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
    hazards: Callable[[], Mapping[int, StaticFault]] = dict,
    apart: bool = False,
    identity: str | None = None,
) -> CompiledKernel:
    """Translate and compile a kernel, or take it from the cache.

    Args:
        code: Instructions by ascending ``pc``, byte offsets in the text section; the kernel's entry first.
        entries: Offsets where control may enter: functions, and whatever the symbol table names.
        entry: Offset of the kernel's first instruction.
        text_size: Bytes of the text section.
        hazards: Finds faults by other checks, by instruction number.
        apart: Whether waves of a workgroup reach memory through different caches.
        identity: Key by which the kernel is known in the cache (see ``kernel_cache.identity``), if it has one.
    """
    known = kernel_cache.find(identity) if identity is not None else None
    if known is None:
        record, objects = _compile(code, entries, settings, hazards, apart)
        if identity is not None:
            kernel_cache.keep(identity, record)
    else:
        record, objects = known
    library = Library(objects, ["loom.run"])
    table = np.full(max(1, -(-text_size // 4)), -1, dtype=np.int32)
    for number, (first, _) in enumerate(record.translation.blocks):
        offset = code[first].pc
        if 0 <= offset < text_size:
            table[offset // 4] = number
    return CompiledKernel(
        code, record.translation, settings, library, table, int(table[entry // 4]), record.watched, record.releases
    )


def _compile(
    code: Sequence[MachineInstruction],
    entries: Sequence[int],
    settings: Settings,
    hazards: Callable[[], Mapping[int, StaticFault]],
    apart: bool,
) -> tuple[kernel_cache.KernelRecord, list[bytes]]:
    translator = Translator(code, entries, settings, {})
    faults = dict(hazards())
    checker = StaticChecker(code, translator.result.blocks, settings.generation, entries, apart)
    faults.update(checker.run())
    translator.static_faults = faults
    translator.watch(frozenset(checker.unread | (checker.unpublished if apart else set())))
    translator.releases = any(map(acquires, code))
    translation = translator.translate()
    wave = settings.wave
    texts = [runtime_text(wave) + scheduler_text(), *helper_texts(translation.helpers, wave)]
    if translator.watched:
        texts.append(publication_text(wave))
    if translator.releases:
        texts.append(release_text(wave, not apart))
    if not settings.hardware_fma:
        from loom.target.amdgpu.simulator.soft_fma import soft_fma_text

        texts.append(soft_fma_text(wave))
    level = 2 if len(code) < LARGE_KERNEL else 0
    made = [compile_object(translation.text, level), *map(compile_object, texts)]
    record = kernel_cache.KernelRecord(
        translation, bool(translator.watched), translator.releases, [key for key, _ in made]
    )
    return record, [data for _, data in made]
