"""The state of one kernel's lowering, and the questions that every concern asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from loom.diagnostics import LoomError
from loom.ir import Block, IntegerType, Module, Operation, Region, Value
from loom.target.amdgpu.lowering.emitter import MASK32, Emitter, Operand, is_vector
from loom.target.amdgpu.lowering.integers import Integers, Pair
from loom.target.amdgpu.lowering.legalization import Legalizations
from loom.target.amdgpu.lowering.nearest import nearest_form
from loom.target.amdgpu.lowering.ranges import Interval, Ranges, fits_signed, fits_unsigned
from loom.target.amdgpu.lowering.truths import Truths
from loom.target.amdgpu.lowering.uniformity import Uniformity
from loom.target.amdgpu.lowering.values import (
    BufferValue,
    EncodingValue,
    IndexValue,
    Lanes,
    Lowered,
    Truth,
    ViewValue,
    Words,
    element_bits,
    is_index,
    is_truth,
    lane_count,
)
from loom.transform.rejection import NoForm, rejection
from loom.transform.target import TargetConfiguration

Handler: TypeAlias = "Callable[[Lowering, Operation], None]"


class MemoryFacts(Protocol):
    """What is known of a kernel's memory; see :class:`loom.target.amdgpu.lowering.views.MemoryMap`."""

    disjoint: bool

    def is_written(self, root: Value) -> bool:
        """Whether anything that may overlap ``root`` is written."""
        ...


class Lowering:
    """One kernel on its way to Low.

    Attributes:
        e: Makes Low ops.
        i: Integer arithmetic on words.
        t: ``i1`` values.
        ranges: Bounds of source integers.
        uniformity: Which source values differ between lanes.
        size: Workgroup size.
        count: Workgroup count, None where unknown.
        lds_bytes: Bytes of workgroup memory handed out so far.
        scratch_bytes: Bytes of private memory handed out so far.
    """

    def __init__(
        self,
        module: Module,
        kernel: Operation,
        target: TargetConfiguration,
        emitter: Emitter,
        uniformity: Uniformity,
        ranges: Ranges,
        size: tuple[int, int, int],
        count: tuple[int | None, int | None, int | None],
        handlers: dict[str, Handler],
        memory: MemoryFacts,
        lds_limit: int,
        legalizations: Legalizations | None = None,
    ) -> None:
        self.module = module
        self.kernel = kernel
        self.target = target
        self.e = emitter
        self.i = Integers(emitter)
        self.t = Truths(emitter, self.i)
        self.uniformity = uniformity
        self.ranges = ranges
        self.size = size
        self.count = count
        self.wave = emitter.wave
        self.lds_bytes = 0
        self.scratch_bytes = 0
        self.live_ins: dict[str, Value] = {}
        self.entry: Block | None = None
        self.entry_anchor: Operation | None = None
        self.entry_end: Operation | None = None
        self.float_arithmetic: object = None
        # The lane number while lanes are on that the launch did not fill.
        self.whole_wave_lane: Value | None = None
        # Products that a following addition may take in: words of the product → its factors.
        self.contractible: dict[Words, tuple[Words, Words]] = {}
        # Bytes of the dynamic tail of workgroup memory, None where only the launch knows; then also the op that makes
        # its start, which is known when everything else has been placed, and what divides it.
        self.dynamic_lds: int | None = 0
        self.tail_start: Operation | None = None
        self.tail_alignment = 1
        self.values: dict[Value, Lowered] = {}
        self._handlers = handlers
        self.memory = memory
        self.lds_limit = lds_limit
        self.legalizations = legalizations if legalizations is not None else Legalizations()
        self.full_exec = size[0] * size[1] * size[2] % emitter.wave == 0
        self.fragment_info: dict[Value, object] = {}
        # Factors of address products, numbered as they come up.
        self.factors: dict[object, int] = {}
        # Address terms that lowering made, by what they are.
        self.leaves: dict[object, object] = {}
        # Helpers of low.invoke without structured ops and calls.
        self.helpers: dict[Operation, Operation] = {}

    # Running

    def run_block(self, block: Block, skip_terminator: bool = True) -> None:
        """Lower the ops of a block; the terminator is left to whoever owns the region."""
        last = block.terminator if skip_terminator else None
        for op in block.operations:
            if op is last:
                break
            self.run(op)

    def run_body(self, body: Region) -> None:
        """Lower the device body: one block, or the blocks of a control flow graph."""
        if len(body.blocks) == 1:
            self.run_block(body.blocks[0])
            self.e.create("low.return", [], [])
            return
        raise self.reject(
            body.blocks[1].first or self.kernel,
            "unstructured control flow reaches lowering",
            14,
            "write the branches as scf.if, scf.for or scf.while",
        )

    def run(self, op: Operation) -> None:
        """Lower one op."""
        handler = self._handlers.get(op.name)
        if handler is None:
            raise self.reject(op, f"it has no lowering for {self.target.selector}", 1, nearest_form(op.name))
        saved = self.e.location
        self.e.location = op.location
        made = self.e.made
        try:
            handler(self, op)
            self._name_results(op)
            if not op.regions:
                self.legalizations.finish(op, self.e.made - made)
        except LoomError:
            raise
        except NoForm as problem:
            raise self.reject(op, str(problem), 2, problem.nearest) from problem
        except (KeyError, ValueError) as problem:
            # A table without an entry for these types.
            missing = f"no lowering for this combination of types ({problem})"
            raise self.reject(op, missing, 2, "use elements of i32, i64, f32 or f64") from problem
        finally:
            self.e.location = saved

    def _name_results(self, op: Operation) -> None:
        """Give the registers of named source values their names, for the Low text and reports."""
        for result in op.results:
            if result.name is None:
                continue
            found = self.values.get(result)
            words = found.words if isinstance(found, IndexValue) else found
            if isinstance(words, tuple):
                for word in words:
                    if not isinstance(word, Value):
                        continue
                    whole = self.e.part_of.get(word)
                    for value in (word,) if whole is None else (word, whole[0]):
                        if value.name is None:
                            value.name = result.name

    def note(self, way: str) -> None:
        """Say for the report which way the op in hand is lowered."""
        self.legalizations.note(way)

    def reject(self, op: Operation, missing: str, number: int, nearest: str) -> LoomError:
        """The error for an op that cannot be compiled; see :func:`loom.transform.rejection.rejection`."""
        return rejection(op, missing, f"LOWER/{number:03d}", nearest)

    # Values

    def set(self, value: Value, lowered: Lowered) -> None:
        """Record what a source value became."""
        self.values[value] = lowered

    def get(self, value: Value) -> Lowered:
        """What a source value became."""
        return self.values[value]

    def words(self, value: Value) -> Words:
        """The words of a data value (an ``i1`` as 0 or 1)."""
        found = self.values[value]
        if isinstance(found, tuple):
            return found
        if isinstance(found, IndexValue):
            return found.words
        if isinstance(found, Truth):
            return (self.t.as_word(found),)
        if isinstance(found, Lanes):
            out: list[Operand] = []
            for lane in found.lanes:
                out.extend(lane.words if isinstance(lane, IndexValue) else (self.t.as_word(lane),))
            return tuple(out)
        raise NoForm(f"a {value.type} has no register form", "pass scalars, vectors, index or offset")

    def word(self, value: Value) -> Operand:
        """The one word of a scalar of up to 32 bits, or the low word of an index."""
        return self.words(value)[0]

    def truth(self, value: Value) -> Truth:
        """An ``i1``."""
        found = self.values[value]
        assert isinstance(found, Truth)
        return found

    def lanes_of_truth(self, value: Value) -> tuple[Truth, ...]:
        """A vector of ``i1``, or one ``i1``, as truths."""
        found = self.values[value]
        if isinstance(found, Truth):
            return (found,)
        assert isinstance(found, Lanes)
        return tuple(lane for lane in found.lanes if isinstance(lane, Truth))

    def buffer(self, value: Value) -> BufferValue:
        """A buffer."""
        found = self.values[value]
        assert isinstance(found, BufferValue)
        return found

    def view(self, value: Value) -> ViewValue:
        """A view."""
        found = self.values[value]
        assert isinstance(found, ViewValue)
        return found

    def encoding(self, value: Value) -> EncodingValue:
        """An encoding."""
        found = self.values[value]
        assert isinstance(found, EncodingValue)
        return found

    def is_divergent(self, value: Value) -> bool:
        """Whether lanes may hold different values of it."""
        return self.uniformity.is_divergent(value)

    def constant_index(self, op: Operation, value: Value, what: str) -> int:
        """A source value that must be known at compile time."""
        found = self.ranges.constant(value)
        if found is None:
            raise self.reject(
                op,
                f"{what} is not known at compile time",
                3,
                "use an index.constant or a bound config value, or pin it down with index.assume",
            )
        return found

    # Index carriers

    def interval(self, value: Value) -> Interval:
        """Bounds of an integer value."""
        return self.ranges.interval(value)

    def index_words(self, value: Value) -> int:
        """Registers that carry an index: 1 where its bounds fit 32 bits."""
        interval = self.ranges.interval(value)
        return 1 if fits_unsigned(interval) or fits_signed(interval) else 2

    def index_pair(self, value: Value) -> Pair:
        """An index, offset or integer as 64 bits (integers sign-extended)."""
        found = self.values[value]
        if isinstance(found, IndexValue):
            return self.extend_index(found)
        words = self.words(value)
        if len(words) == 2:
            return words[0], words[1]
        type_ = value.type
        width = type_.width if isinstance(type_, IntegerType) else 32
        if width == 1:
            return words[0], 0
        low = self.i.sign_extend(words[0], width) if width < 32 else words[0]
        if self.ranges.interval(value)[0] >= 0:
            return low, 0
        return low, self.i.sign_word(low)

    def extend_index(self, found: IndexValue) -> Pair:
        """The 64 bits of a carrier."""
        words = found.words
        if len(words) == 2:
            return words[0], words[1]
        if isinstance(words[0], int):
            word = words[0] & MASK32
            return word, MASK32 if found.signed and word >> 31 else 0
        return words[0], self.i.sign_word(words[0]) if found.signed else 0

    def set_index(self, value: Value, words: Sequence[Operand]) -> None:
        """Record an index result given as one or two words; it is narrowed where its bounds allow."""
        interval = self.ranges.interval(value)
        if fits_unsigned(interval) or fits_signed(interval):
            word = words[0]
            if isinstance(word, Value) and interval[0] >= 0:
                bits = interval[1].bit_length()
                if bits < self.e.zero_extended.get(word, 33):
                    self.e.zero_extended[word] = bits
            self.values[value] = IndexValue((word,), signed=interval[0] < 0)
            return
        if len(words) == 1:
            raise AssertionError("a 64-bit index was given one word")
        self.note("two words: its bounds do not fit 32 bits")
        self.values[value] = IndexValue((words[0], words[1]))

    def index_constant(self, number: int) -> IndexValue:
        """A constant index."""
        low = number & MASK32
        if 0 <= number <= MASK32:
            return IndexValue((low,))
        if -(1 << 31) <= number < 0:
            return IndexValue((low,), signed=True)
        return IndexValue((low, (number >> 32) & MASK32))

    # Elements of packed data

    def element(self, words: Words, index: int, bits: int) -> Words:
        """Element ``index`` of packed data as its own words (high bits of small elements unspecified)."""
        if bits == 64:
            return words[2 * index], words[2 * index + 1]
        if bits == 32:
            return (words[index],)
        per_word = 32 // bits
        word = words[index // per_word]
        position = index % per_word
        if position == 0:
            return (word,)
        return (self.i.shr(word, position * bits),)

    def pack(self, elements: Sequence[Words], bits: int) -> Words:
        """Elements, each given as its own words, packed."""
        if bits >= 32:
            return tuple(w for element in elements for w in element)
        out: list[Operand] = []
        if bits == 16:
            for k in range(0, len(elements), 2):
                if k + 1 < len(elements):
                    out.append(self.i.pack16(elements[k][0], elements[k + 1][0]))
                else:
                    out.append(elements[k][0])
            return tuple(out)
        if bits == 8:
            for k in range(0, len(elements), 4):
                group = [e[0] for e in elements[k : k + 4]]
                out.append(self._pack_bytes(group))
            return tuple(out)
        raise NoForm(f"vectors of {bits}-bit elements are not packed", "use elements of 8, 16, 32 or 64 bits")

    def _pack_bytes(self, group: list[Operand]) -> Operand:
        if all(isinstance(b, int) for b in group):
            word = 0
            for k, b in enumerate(group):
                word |= (int(b) & 0xFF) << (8 * k)  # type: ignore[arg-type]
            return word
        i = self.i
        if len(group) == 1:
            return group[0]
        if not any(is_vector(b) for b in group):
            word_: Operand = i.and_(group[0], 0xFF)
            for k, b in enumerate(group[1:], 1):
                part = i.shl(b, 24) if k == 3 else i.shl(i.and_(b, 0xFF), 8 * k)
                word_ = i.or_(word_, part)
            return word_
        # v_perm_b32 a, b: selector bytes 0…3 pick bytes of b, 4…7 bytes of a; 12 gives zero.
        low = self.e.op("v_perm_b32", group[1], group[0], 0x0C0C0400)[0]
        if len(group) == 2:
            return low
        high_source = group[3] if len(group) > 3 else 0
        high: Operand = self.e.op("v_perm_b32", high_source, group[2], 0x0C0C0400)[0]
        return i.pack16(low, high)

    def elements(self, value: Value) -> list[Words]:
        """All elements of a scalar or vector of data, each as its own words."""
        found = self.values[value]
        type_ = value.type
        if isinstance(found, Lanes):
            return [lane.words if isinstance(lane, IndexValue) else (self.t.as_word(lane),) for lane in found.lanes]
        words = self.words(value)
        if is_index(type_) or is_truth(type_):
            return [words]
        bits = element_bits(type_)
        return [self.element(words, k, bits) for k in range(lane_count(type_))]

    def set_elements(self, value: Value, elements: Sequence[Words]) -> None:
        """Record a scalar or vector of data from its elements."""
        self.values[value] = self.pack(elements, element_bits(value.type))

    def set_truths(self, value: Value, truths: Sequence[Truth]) -> None:
        """Record an ``i1`` or a vector of ``i1``."""
        if is_truth(value.type):
            self.values[value] = truths[0]
        else:
            self.values[value] = Lanes(tuple(truths))

    def index_lanes(self, value: Value) -> list[IndexValue]:
        """The lanes of an index vector, or of an integer vector as indices."""
        found = self.values[value]
        if isinstance(found, IndexValue):
            return [found]
        if isinstance(found, Lanes):
            return [lane for lane in found.lanes if isinstance(lane, IndexValue)]
        bits = element_bits(value.type)
        out = []
        for element in self.elements(value):
            if len(element) == 2:
                out.append(IndexValue(element))
            else:
                out.append(
                    IndexValue((self.i.sign_extend(element[0], bits) if bits < 32 else element[0],), signed=True)
                )
        return out

    def foldable_old(self, op: Operation, old: Value) -> bool:
        """Whether a vector op that ran under the present EXEC may take ``old`` as the pass-through of its first
        result.
        """
        if op.results[0].type is not old.type or self.e.made_under.get(op.results[0], self) is not self.e.exec:
            return False
        if self.e.pass_through.get(op) is not None:
            return False
        row = self.e.row(str(op.attributes["key"]).removeprefix("amdgpu."))
        defs = [slot for slot in row.slots if slot.is_def]
        immediates = op.attributes.get("immediates")
        return (
            row.issue_class in ("valu", "trans", "vmem", "lds")
            and "exec" in row.implicit_uses
            and not defs[0].is_use
            and "vgpr" in defs[0].kinds
            and not any("vgpr" in slot.kinds for slot in defs[1:])
            and not (isinstance(immediates, dict) and "dpp" in str(immediates.get("form", "")))
        )
