"""Where a work item is: ids, sizes, lanes."""

from __future__ import annotations

from collections.abc import Callable

from loom.ir import Operation, RegisterType, Value, Word
from loom.target.amdgpu.lowering.context import Handler, Lowering
from loom.target.amdgpu.lowering.emitter import MASK32, SGPR, VGPR, Operand, is_vector
from loom.target.amdgpu.lowering.ranges import axis_of
from loom.target.amdgpu.lowering.values import IndexValue

# Byte offsets in the AQL dispatch packet (HSA system architecture specification): grid_size_x, y, z.
_GRID_SIZE_OFFSET = {"x": 12, "y": 16, "z": 20}


def live_in(lw: Lowering, key: str, units: int = 1, vector: bool = False) -> Value:
    """A register that the launch fills; made once, at the kernel's entry."""
    found = lw.live_ins.get(key)
    if found is None:
        assert lw.entry is not None
        e = lw.e
        saved = (e.block, e.anchor, e.scopes)
        e.block, e.anchor, e.scopes = lw.entry, lw.entry_anchor, e.scopes[:1]
        op = e.create(
            "low.live_in", [], [RegisterType(VGPR if vector else SGPR, units)], {"key": Word(f"amdgpu.{key}")}
        )
        e.block, e.anchor, e.scopes = saved
        found = lw.live_ins[key] = op.results[0]
        found.name = key.replace(".", "_")
    return found


def workitem_id(lw: Lowering, axis: str) -> Operand:
    """``workitem.id`` along an axis, as a word (scalar where a wave shares it)."""
    extent = lw.size["xyz".index(axis)]
    if extent == 1:
        return 0
    value = live_in(lw, f"workitem_id.{axis}", vector=True)
    lw.e.zero_extended[value] = max(1, (extent - 1).bit_length())
    if not lw.uniformity.axis_is_divergent(axis):
        return at_entry(lw, lambda: lw.e.to_scalar(value))
    return value


def at_entry(lw: Lowering, build: Callable[[], Operand]) -> Operand:
    """Build something at the kernel's entry, under the full EXEC."""
    e = lw.e
    saved = (e.block, e.anchor, e.scopes, e.exec)
    if len(e.scopes) > 1:
        assert lw.entry is not None
        e.block, e.anchor, e.scopes, e.exec = lw.entry, lw.entry_end, e.scopes[:1], None
    try:
        return build()
    finally:
        e.block, e.anchor, e.scopes, e.exec = saved


def workgroup_id(lw: Lowering, axis: str) -> Operand:
    """``workgroup.id`` along an axis."""
    count = lw.count["xyz".index(axis)]
    if count == 1:
        return 0
    return live_in(lw, f"workgroup_id.{axis}")


def workgroup_count(lw: Lowering, axis: str) -> Operand:
    """``workgroup.count``: a constant, or the grid size from the dispatch packet over the workgroup size."""
    known = lw.count["xyz".index(axis)]
    if known is not None:
        return known
    pointer = live_in(lw, "dispatch_ptr", 2)

    def build() -> tuple[Value, ...]:
        return lw.e.fresh("s_load_b32", pointer, None, offset=_GRID_SIZE_OFFSET[axis], invariant=True)[:1]

    grid: Value = lw.e.memo(("grid", axis), (pointer,), build)[0]
    size = lw.size["xyz".index(axis)]
    if size & (size - 1) == 0:
        return lw.i.shr(grid, size.bit_length() - 1)
    from loom.target.amdgpu.lowering.division import divide_unsigned

    return lw.e.to_scalar(divide_unsigned(lw, grid, size)[0])


def flat_id(lw: Lowering) -> Operand:
    """The work item's number in its workgroup."""
    x, y, z = lw.size
    total: Operand = workitem_id(lw, "x")
    if y > 1:
        total = lw.i.add(lw.i.mul(workitem_id(lw, "y"), x), total)
    if z > 1:
        total = lw.i.add(lw.i.mul(workitem_id(lw, "z"), x * y), total)
    if not isinstance(total, int):
        lw.e.zero_extended[total] = max(1, (x * y * z - 1).bit_length())
    return total


def lane_id(lw: Lowering) -> Operand:
    """The lane's number in its wave."""
    x, y, z = lw.size
    e = lw.e
    if lw.whole_wave_lane is not None:
        return lw.whole_wave_lane
    if y == z == 1 and x <= e.wave:
        return workitem_id(lw, "x")
    if y == z == 1:
        return lw.i.and_(workitem_id(lw, "x"), e.wave - 1)
    return count_lanes(lw)


def count_lanes(lw: Lowering) -> Value:
    """The lane's number by counting the lanes below, valid in every lane that is on."""
    e = lw.e
    low: Value = e.op("v_mbcnt_lo_u32_b32", MASK32, 0)[0]
    if e.wave == 64:
        low = e.op("v_mbcnt_hi_u32_b32", MASK32, low)[0]
    e.zero_extended[low] = (e.wave - 1).bit_length()
    return low


def subgroup_id(lw: Lowering) -> Operand:
    """The wave's number in its workgroup."""
    x, y, z = lw.size
    if x * y * z <= lw.e.wave:
        return 0

    def build() -> Operand:
        number = lw.i.shr(flat_id(lw), lw.e.wave.bit_length() - 1)
        return lw.e.to_scalar(number) if is_vector(number) else number

    return at_entry(lw, build)


def _id(lw: Lowering, op: Operation) -> None:
    axis = axis_of(op)
    name = op.name.removeprefix("kernel.")
    result = op.results[0]
    position = "xyz".index(axis)
    word: Operand
    if name == "workitem.id":
        word = workitem_id(lw, axis)
    elif name == "workgroup.id":
        word = workgroup_id(lw, axis)
    elif name == "workgroup.size":
        word = lw.size[position]
    elif name == "workgroup.count":
        word = workgroup_count(lw, axis)
    else:
        size = lw.size[position]
        group = lw.i.mul(workgroup_id(lw, axis), size)
        item = workitem_id(lw, axis)
        # With a power of two the item's bits lie below the group's.
        apart = size & (size - 1) == 0 and is_vector(item)
        word = lw.i.or_(group, item) if apart else lw.i.add(group, item)
    lw.set(result, IndexValue((word,)))
    note_bits(lw, result, word)


def note_bits(lw: Lowering, value: Value, word: Operand) -> None:
    """Remember how many bits of an index word can be set."""
    low, high = lw.interval(value)
    if isinstance(word, Value) and low >= 0 and high < (1 << 32):
        bits = max(1, high.bit_length())
        lw.e.zero_extended[word] = min(bits, lw.e.zero_extended.get(word, 32))


def _subgroup(lw: Lowering, op: Operation) -> None:
    x, y, z = lw.size
    waves = -(-x * y * z // lw.e.wave)
    words: dict[str, Callable[[], Operand]] = {
        "kernel.subgroup.size": lambda: lw.e.wave,
        "target.subgroup.size": lambda: lw.e.wave,
        "kernel.subgroup.count": lambda: waves,
        "kernel.subgroup.id": lambda: subgroup_id(lw),
        "kernel.subgroup.lane.id": lambda: lane_id(lw),
    }
    word = words[op.name]()
    lw.set(op.results[0], IndexValue((word,)))
    note_bits(lw, op.results[0], word)


def _cluster(lw: Lowering, op: Operation) -> None:
    """Without hardware clusters every cluster is one workgroup."""
    name = op.name.removeprefix("kernel.cluster.")
    word: Operand = 1
    if name == "id":
        word = workgroup_id(lw, axis_of(op))
    elif name == "count":
        word = workgroup_count(lw, axis_of(op))
    elif name in ("workgroup.id", "workgroup.flat_id"):
        word = 0
    pair: tuple[Operand, ...] = (word,) if lw.index_words(op.results[0]) == 1 else (word, 0)
    lw.set(op.results[0], IndexValue(pair))


_CLUSTER = ("id", "size", "count", "workgroup.id", "workgroup.size", "workgroup.count", "workgroup.flat_id")
_AXIS_IDS = ("workitem.id", "workgroup.id", "workgroup.size", "workgroup.count", "workitem.dispatch.id")

HANDLERS: dict[str, Handler] = {
    **{f"kernel.{name}": _id for name in _AXIS_IDS},
    **{f"kernel.subgroup.{name}": _subgroup for name in ("size", "count", "id", "lane.id")},
    "target.subgroup.size": _subgroup,
    **{f"kernel.cluster.{name}": _cluster for name in _CLUSTER},
}
