"""The descriptor sets of the AMDGPU targets, one for a generation under several names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from loom.ir.targets import Descriptor, RegisterClass
from loom.target.amdgpu.abi import LIVE_IN_CLASSES
from loom.target.amdgpu.descriptor_set.describe import describe, describe_buffer_descriptor, describe_dual
from loom.target.amdgpu.descriptor_set.names import row_of
from loom.target.amdgpu.descriptor_set.unknown import elsewhere
from loom.target.amdgpu.descriptor_set.variants import spelling_of, variant_of
from loom.target.amdgpu.tables import table

SETS: dict[str, str] = {
    "amdgpu.rdna3.core": "gfx11",
    "amdgpu.rdna3_5.core": "gfx11",
    "amdgpu.gfx11.generic.core": "gfx11",
    "amdgpu.rdna4.core": "gfx12",
    "amdgpu.gfx12.generic.core": "gfx12",
    "amdgpu.cdna3.core": "gfx9.4",
    "amdgpu.cdna4.core": "gfx9.4",
}
"""Generation of every descriptor set."""

#: The scalar file ends in VCC, which code that was written elsewhere also uses as two plain registers.
_CLASS_COUNTS = {"sgpr": 108, "vgpr": 256, "agpr": 256, "ttmp": 16}
_SINGLE = ("scc", "vcc", "exec", "m0", "mode", "null", "vccz", "execz")


class AmdgpuDescriptorSet:
    """A descriptor set of one generation."""

    def __init__(self, name: str, generation: str) -> None:
        self._name = name
        self._generation = generation
        self._cache: dict[str, Descriptor | None] = {}
        classes = {
            f"amdgpu.{bank}": RegisterClass(f"amdgpu.{bank}", count)
            for bank, count in _CLASS_COUNTS.items()
            if bank != "agpr" or generation == "gfx9.4"
        }
        for bank in _SINGLE:
            classes[f"amdgpu.{bank}"] = RegisterClass(f"amdgpu.{bank}", 1, special=True, spillable=False)
        self._classes = classes

    @property
    def name(self) -> str:
        """The key written in ``target<…>``."""
        return self._name

    @property
    def generation(self) -> str:
        """Instruction table the set is made of."""
        return self._generation

    @property
    def register_classes(self) -> Mapping[str, RegisterClass]:
        """Register classes by name."""
        return self._classes

    def lookup(self, key: str) -> Descriptor | None:
        """The instruction of a key; see :class:`loom.ir.targets.DescriptorSet`."""
        name = key.removeprefix("amdgpu.")
        if name in ("hal.buffer_descriptor", "hal.buffer_descriptor.extent"):
            return describe_buffer_descriptor(name)
        if name.startswith("v_dual_") and ".v_dual_" in name:
            return self._cached(name)
        return self._cached(name.replace(".", "_"))

    def by_mnemonic(self, mnemonic: str) -> Descriptor | None:
        """The instruction of an asm mnemonic: the reference form, whose results and immediates are exact."""
        return self._cached(mnemonic.replace(".", "_"), True)

    def mnemonics(self) -> Iterable[str]:
        """All mnemonics of the table, for suggestions."""
        return list(table(self._generation).mnemonics())

    def elsewhere(self, mnemonic: str) -> str | None:
        """Where an instruction exists that this set does not have; see :class:`loom.ir.targets.DescriptorSet`."""
        return elsewhere(self._generation, mnemonic)

    def live_ins(self) -> Mapping[str, tuple[str, int]]:
        """Keys that ``low.live_in`` accepts, with the register class and unit count in which they arrive."""
        return LIVE_IN_CLASSES

    def _cached(self, name: str, asm: bool = False) -> Descriptor | None:
        key = f"asm {name}" if asm else name
        if key not in self._cache:
            self._cache[key] = self._make(name, asm)
        return self._cache[key]

    def _make(self, name: str, asm: bool) -> Descriptor | None:
        if name.startswith("v_dual_") and "." in name:
            x, _, y = name.partition(".")
            first, second = row_of(self._generation, x), row_of(self._generation, y)
            if first is None or second is None:
                return None
            return describe_dual(f"{first.mnemonic}.{second.mnemonic}", first, second)
        row = row_of(self._generation, name)
        variant = variant_of(self._generation, name)
        if row is None and variant is None:
            return None
        made = describe(name, variant.row if variant is not None else row, variant, row is not None, asm)  # type: ignore[arg-type]
        key, mnemonic = spelling_of(self._generation, name)
        return replace(made, key=f"amdgpu.{key}", mnemonic=mnemonic)


def amdgpu_descriptor_set(name: str) -> AmdgpuDescriptorSet | None:
    """The descriptor set of that name, ``None`` if this target has none."""
    generation = SETS.get(name)
    return None if generation is None else AmdgpuDescriptorSet(name, generation)
