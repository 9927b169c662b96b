"""How a kernel is entered: kernarg segment, registers that are live on entry, and what they cost.

Sources: LLVM's AMDGPU usage guide, sections "Kernel Dispatch", "Initial Kernel Execution State" and "Code Object V5
Metadata" (value kinds, order of user SGPRs, packed work-item ids, the trap registers that carry work-group ids on
gfx12).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

KERNARG_ALIGNMENT = 8
"""Bytes: alignment and size granule of a kernarg segment that this compiler lays out."""

BINDING_BYTES = 8
"""Bytes of one buffer binding: a 64-bit base address."""


@dataclass(frozen=True, slots=True)
class KernargEntry:
    """One argument in the kernarg segment.

    Attributes:
        offset: Bytes from the start of the segment.
        size: Bytes.
        kind: The metadata's ``value_kind``: ``global_buffer``, ``by_value``, ``hidden_block_count_x`` ….
        name: The argument's name, empty where nobody named it.
    """

    offset: int
    size: int
    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class KernargLayout:
    """The explicit layout of a kernarg segment; ``size`` and ``alignment`` are bytes."""

    entries: tuple[KernargEntry, ...]
    size: int
    alignment: int = KERNARG_ALIGNMENT

    @property
    def bindings(self) -> tuple[KernargEntry, ...]:
        """The buffer entries in binding order."""
        return tuple(entry for entry in self.entries if entry.kind == "global_buffer")

    @property
    def arguments(self) -> tuple[KernargEntry, ...]:
        """The direct arguments in argument order."""
        return tuple(entry for entry in self.entries if entry.kind == "by_value")


def layout_kernarg(bindings: Sequence[str], arguments: Sequence[tuple[str, int]]) -> KernargLayout:
    """Lay out bindings first, 8 bytes each, then the direct arguments, 4 bytes a word, in argument order.

    Args:
        bindings: Names of the buffer bindings, in binding order.
        arguments: Name and number of 32-bit words of every direct argument.

    Returns:
        The layout; its size is rounded up to 8 bytes.
    """
    entries = [KernargEntry(BINDING_BYTES * i, BINDING_BYTES, "global_buffer", n) for i, n in enumerate(bindings)]
    offset = BINDING_BYTES * len(bindings)
    for name, words in arguments:
        entries.append(KernargEntry(offset, 4 * words, "by_value", name))
        offset += 4 * words
    return KernargLayout(tuple(entries), -(-offset // KERNARG_ALIGNMENT) * KERNARG_ALIGNMENT)


@dataclass(frozen=True, slots=True)
class EntryState:
    """Which registers hold what when a wave starts.

    Attributes:
        registers: By live-in key (``amdgpu.kernarg_segment_ptr``, ``amdgpu.workgroup_id.x`` …) the bank, the first
            index
            and the number of 32-bit registers. Work-item ids all point at ``v0`` on targets that pack them.
        user_sgprs: Number of user SGPRs.
        user_keys: User SGPR live-ins in register order.
        workgroup_ids: Which of x, y and z are delivered.
        workitem_dimensions: 1 to 3: the descriptor's work-item id field plus one.
        packed_workitem_ids: Whether ``v0`` packs 10 bits a dimension because y or z are asked for.
        group_ids_in_ttmp: Whether work-group ids come in ``ttmp9`` (x) and ``ttmp7`` (y low, z high half), as on gfx12.
    """

    registers: Mapping[str, tuple[str, int, int]]
    user_sgprs: int
    user_keys: tuple[str, ...]
    workgroup_ids: tuple[bool, bool, bool]
    workitem_dimensions: int
    packed_workitem_ids: bool
    group_ids_in_ttmp: bool


USER_SGPR_ORDER: tuple[tuple[str, int], ...] = (
    ("amdgpu.dispatch_ptr", 2),
    ("amdgpu.queue_ptr", 2),
    ("amdgpu.kernarg_segment_ptr", 2),
    ("amdgpu.dispatch_id", 2),
    ("amdgpu.private_segment_size", 1),
)
"""Live-ins that are user SGPRs, in the order the hardware sets them up, with their register counts."""

LIVE_IN_CLASSES: dict[str, tuple[str, int]] = {
    **{key: ("amdgpu.sgpr", units) for key, units in USER_SGPR_ORDER},
    **{f"amdgpu.workgroup_id.{axis}": ("amdgpu.sgpr", 1) for axis in "xyz"},
    "amdgpu.workgroup_id.packed.yz": ("amdgpu.sgpr", 1),
    **{f"amdgpu.workitem_id.{axis}": ("amdgpu.vgpr", 1) for axis in "xyz"},
    "amdgpu.workitem_id.packed.xy": ("amdgpu.vgpr", 1),
    "amdgpu.workitem_id.packed.xyz": ("amdgpu.vgpr", 1),
    "amdgpu.m0": ("amdgpu.m0", 1),
    "amdgpu.exec": ("amdgpu.exec", 1),
}
"""Register class and unit count of every live-in key."""


def entry_state(generation: str, live_ins: Sequence[str]) -> EntryState:
    """Assign the entry registers for the live-ins that a kernel uses.

    Args:
        generation: ``gfx11``, ``gfx12`` or ``gfx9.4``.
        live_ins: Keys of the live-ins; unknown ones are the caller's to refuse.
    """
    wanted = set(live_ins)
    registers: dict[str, tuple[str, int, int]] = {}
    user_keys: list[str] = []
    next_sgpr = 0
    for key, units in USER_SGPR_ORDER:
        if key in wanted:
            registers[key] = ("sgpr", next_sgpr, units)
            user_keys.append(key)
            next_sgpr += units
    user_sgprs = next_sgpr
    group = tuple(f"amdgpu.workgroup_id.{axis}" in wanted for axis in "xyz")
    in_ttmp = generation == "gfx12"
    for axis, used, ttmp in zip("xyz", group, (9, 7, 7), strict=True):
        if not used:
            continue
        key = f"amdgpu.workgroup_id.{axis}"
        if in_ttmp:
            registers[key] = ("ttmp", ttmp, 1)
        else:
            registers[key] = ("sgpr", next_sgpr, 1)
            next_sgpr += 1
    if "amdgpu.workgroup_id.packed.yz" in wanted:
        group = (group[0], True, True)
        registers["amdgpu.workgroup_id.packed.yz"] = ("ttmp", 7, 1)
    dimensions = 1
    if wanted & {"amdgpu.workitem_id.y", "amdgpu.workitem_id.packed.xy"}:
        dimensions = 2
    if wanted & {"amdgpu.workitem_id.z", "amdgpu.workitem_id.packed.xyz"}:
        dimensions = 3
    for key in wanted:
        if key.startswith("amdgpu.workitem_id."):
            registers[key] = ("vgpr", 0, 1)
    if "amdgpu.m0" in wanted:
        registers["amdgpu.m0"] = ("m0", 0, 1)
    if "amdgpu.exec" in wanted:
        registers["amdgpu.exec"] = ("exec", 0, 1)
    return EntryState(
        registers, user_sgprs, tuple(user_keys), (group[0], group[1], group[2]), dimensions, dimensions > 1, in_ttmp
    )


@dataclass(slots=True)
class KernelResources:
    """What a compiled kernel needs from the hardware; goes into its descriptor and metadata.

    Register counts are what the code names (VCC not counted), bytes are bytes.
    """

    vgprs: int = 0
    agprs: int = 0
    sgprs: int = 0
    uses_vcc: bool = False
    lds_bytes: int = 0
    scratch_bytes: int = 0
    kernarg: KernargLayout = field(default_factory=lambda: KernargLayout((), 0))
    workgroup_size: tuple[int, int, int] | None = None
    workgroup_count: tuple[int, int, int] | None = None
    sgpr_spills: int = 0
    vgpr_spills: int = 0
