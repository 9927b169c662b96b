"""Low functions and kernels on the interpreter: registers as words, one wave at a time, by the semantic operations.

A register value is a list of 32-bit words; a word is a ``uint32`` array of one element (uniform) or of one element a
lane.
Lane masks and SCC are uniform words. Control flow is uniform in a wave, so a wave is a coroutine that pauses at
barriers;
the waves of a workgroup take turns. Waits and hazards have no meaning here: every instruction is complete when the
next one
starts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loom.diagnostics import error
from loom.ir import Block, Operation, Region, RegisterType, Value
from loom.reference.execution import Interpreter
from loom.reference.formats import Array
from loom.reference.low_memory import PRIVATE_APERTURE, SHARED_APERTURE, MemoryUnit
from loom.reference.memory import RaceDetector

Words = list[Array]

#: What a register holds that nothing has written.
UNDEFINED_WORD = np.uint32(0xA5A5A5A5)

#: The same, of a byte of scratch.
UNDEFINED_BYTE = 0xA5

#: Registers that hold the bounds of the generic addresses of LDS and private memory.
APERTURES = {
    "shared_base": SHARED_APERTURE,
    "shared_limit": SHARED_APERTURE + 0xFFFFFFFF,
    "private_base": PRIVATE_APERTURE,
    "private_limit": PRIVATE_APERTURE + 0xFFFFFFFF,
}

#: Instructions that change no value: waits, hints and cache control.
_NO_EFFECT = (
    "s_waitcnt", "s_wait_", "s_nop", "s_delay_alu", "s_clause", "s_sleep", "s_setprio", "s_set_inst_prefetch",
    "s_inst_prefetch", "s_icache_inv", "s_dcache_inv", "s_dcache_wb", "s_gl1_inv", "s_barrier_signal", "s_sendmsg",
    "v_nop", "s_endpgm", "s_code_end", "s_prefetch",
)  # fmt: skip


def uniform(value: int) -> Array:
    """A uniform word."""
    return np.array([value & 0xFFFFFFFF], np.uint32)


def as_integer(words: Words) -> int:
    """Uniform words as one integer, low word first."""
    return sum(int(word.ravel()[0]) << (32 * place) for place, word in enumerate(words))


def split_integer(value: int, units: int) -> Words:
    """An integer as uniform words, low word first."""
    return [uniform(value >> (32 * place)) for place in range(units)]


@dataclass(slots=True)
class Machine:
    """What all waves of a launch share: the instruction table's generation, wave size, memory, and where storage lies.

    ``private_bytes`` is what each lane may address of its scratch, ``lds_bytes`` what a workgroup may address of its
    LDS: what the kernel states, or what it reserves.
    """

    generation: str
    wave: int
    memory: MemoryUnit
    private_bytes: int = 0
    lds_bytes: int = 0
    reserved: dict[str, int] = field(default_factory=dict)
    places: dict[Operation, int] = field(default_factory=dict)

    def place(self, op: Operation, space: str, length: int, alignment: int) -> int:
        """The first byte of a reservation: the same for every wave and every time it is met."""
        known = self.places.get(op)
        if known is None:
            known = self.places[op] = -(-self.reserved.get(space, 0) // alignment) * alignment
            self.reserved[space] = known + length
            if space == "private":
                self.private_bytes = max(self.private_bytes, known + length)
            elif space == "workgroup":
                self.lds_bytes = max(self.lds_bytes, known + length)
        return known


@dataclass(slots=True)
class Wave:
    """One wave: its live-in values, EXEC, the other state registers, and its memory."""

    machine: Machine
    exec: int
    live_ins: dict[str, Words] = field(default_factory=dict)
    resources: list[int] = field(default_factory=list)
    vcc: int = 0
    scc: int = 0
    m0: int = 0
    lds: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    detector: RaceDetector | None = None
    number: int = 0
    barriers: int = 0
    scratch: Array = field(default_factory=lambda: np.zeros((0, 0), np.uint8))

    def private_memory(self) -> Array:
        """Scratch, lanes × bytes; it grows with the reservations, and new bytes hold a pattern."""
        lanes, bytes_ = self.machine.wave, self.machine.private_bytes
        if self.scratch.shape != (lanes, bytes_):
            grown = np.full((lanes, bytes_), UNDEFINED_BYTE, np.uint8)
            if self.scratch.size:
                grown[:, : self.scratch.shape[1]] = self.scratch
            self.scratch = grown
        return self.scratch

    @property
    def full(self) -> int:
        """EXEC with all lanes set."""
        return (1 << self.machine.wave) - 1

    def lanes(self, mask: int | None = None) -> Array:
        """A mask as booleans, one a lane."""
        chosen = self.exec if mask is None else mask
        return np.array([bool(chosen >> lane & 1) for lane in range(self.machine.wave)])


@dataclass(slots=True)
class _Half:
    """One instruction of an op (one of two for a dual-issue pair) with its operands and results by slot."""

    resolved: Any
    sources: dict[int, Words | None]
    targets: dict[int, Value]
    modifiers: dict[str, int]
    old: list[Words] = field(default_factory=list)


Steps = Generator[None, None, list[Words]]


class LowFunction:
    """Executes one Low function or kernel body for one wave."""

    def __init__(self, interp: Interpreter, function: Operation, wave: Wave) -> None:
        self.interp = interp
        self.function = function
        self.wave = wave
        self.values: dict[Value, Words] = {}
        self.storage: dict[Value, tuple[str, int]] = {}

    def run(self, arguments: Sequence[Words]) -> Steps:
        """Execute from the entry block on; pauses at barriers, returns the returned registers."""
        region = self.function.regions[-1]
        for parameter, words in zip(region.blocks[0].arguments, arguments, strict=True):
            self.values[parameter] = words
        return (yield from self._region(region))

    def _region(self, region: Region) -> Steps:
        block: Block = region.blocks[0]
        while True:
            yield from self._block(block)
            terminator = block.last
            assert terminator is not None
            if terminator.name == "low.br":
                target = terminator.successors[0]
                incoming = [self.values[value] for value in terminator.operands]
                for argument, words in zip(target.arguments, incoming, strict=True):
                    self.values[argument] = words
                block = target
            elif terminator.name == "low.cond_br":
                taken = self._truth(terminator.operands[0])
                block = terminator.successors[0 if taken else 1]
            else:
                return [self.values[value] for value in terminator.operands]

    def _truth(self, value: Value) -> bool:
        return as_integer(self.values[value]) != 0

    def _block(self, block: Block) -> Generator[None, None, None]:
        interp = self.interp
        for op in block.operations:
            if op.definition.is_terminator:
                break
            interp.executed += 1
            if interp.executed > interp.budget:
                interp.fail(
                    op,
                    "REFERENCE/007",
                    f"the operation budget of {interp.budget} is spent: this program may never end",
                )
            structured = _STRUCTURED.get(op.name)
            if structured is not None:
                yield from structured(self, op)
            elif op.name in ("low.op", "low.const"):
                yield from self._instruction(op)
            else:
                handler = _SIMPLE.get(op.name)
                if handler is None:
                    raise error(f"'{op.name}' cannot be interpreted", "REFERENCE/001", op.location)
                handler(self, op)

    # --- instructions -------------------------------------------------------------------------------------------------

    def _instruction(self, op: Operation) -> Generator[None, None, None]:
        from loom.target.amdgpu.descriptor_set.resolution import resolve

        wave = self.wave
        key = str(op.attributes["key"])
        immediates: Any = op.attributes.get("immediates") or {}
        if "hal.buffer_descriptor" in key:
            self._buffer_descriptor(op, immediates)
            return
        types = [value.type for value in op.operands]
        resolved = self.interp.caches.get(op)
        if resolved is None:
            full = {**immediates, **({"form": op.attributes["form"]} if op.attributes.get("form") else {})}
            resolved = resolve(wave.machine.generation, key, full, op.location, types)
            self.interp.caches[op] = resolved
        operands, results = list(op.operands), list(op.results)
        taken: list[_Half] = []
        for half in resolved.halves:
            mnemonic = half.row.mnemonic
            if mnemonic.startswith("s_barrier") and not mnemonic.startswith("s_barrier_signal"):
                wave.barriers += 1
                yield
                operands.clear()
            elif mnemonic.startswith(_NO_EFFECT):
                operands.clear()
            else:
                taken.append(self._take(op, half, operands, results))
        self._read_state(operands)
        for half in taken:
            half.old = self._old_values(half, operands)
        for commit in [self._execute(op, half) for half in taken]:
            commit()
        for value in results:  # state that the text names as a result
            self.values[value] = self._state(value)

    def _state(self, value: Value) -> Words:
        assert isinstance(value.type, RegisterType)
        bank = value.type.register_class.rpartition(".")[2]
        if bank in ("vcc", "exec"):
            return split_integer(getattr(self.wave, bank), self.wave.machine.wave // 32)
        return [uniform(int(getattr(self.wave, bank, 0)))]

    def _take(self, op: Operation, half: Any, operands: list[Value], results: list[Value]) -> _Half:
        """Take the slots' operands and results of one instruction from the op's lists."""
        row = half.row
        targets: dict[int, Value] = {}
        for index, slot in enumerate(row.slots):
            if slot.is_def and index not in half.fixed:
                if not results:
                    raise error(f"{row.mnemonic}: a result is missing", "REFERENCE/017", op.location)
                targets[index] = results.pop(0)
        sources: dict[int, Words | None] = {}
        for index in half.order if half.order is not None else range(len(row.slots)):
            slot = row.slots[index]
            if not slot.is_use:
                continue
            if index in half.fixed:
                sources[index] = self._constant(half.fixed[index], slot)
            else:
                if not operands:
                    raise error(f"{row.mnemonic}: an operand is missing", "REFERENCE/017", op.location)
                sources[index] = self.values[operands.pop(0)]
        modifiers = {field.name: field.default for field in row.modifiers if field.default}
        modifiers.update(half.modifiers)
        return _Half(half, sources, targets, modifiers)

    def _old_values(self, half: _Half, operands: list[Value]) -> list[Words]:
        """The pass-through operands that belong to a half: one for each vector result that is not tied."""
        wanted = len([t for i, t in half.targets.items() if _is_vector(t) and half.sources.get(i) is None])
        mine, operands[:] = operands[:wanted], operands[wanted:]
        return [self.values[value] for value in mine]

    def _execute(self, op: Operation, half: _Half) -> Callable[[], None]:
        """Compute; returns what writes the results."""
        memory = half.resolved.row.memory
        if memory is None:
            return self._compute(op, half)
        if memory.kind in ("cache", "prefetch"):
            return lambda: None
        return self._memory(op, half)

    def _read_state(self, operands: list[Value]) -> None:
        """Explicit state operands (``reg<amdgpu.scc>`` …) become the machine's state; they leave the list."""
        for value in list(operands):
            assert isinstance(value.type, RegisterType)
            bank = value.type.register_class.rpartition(".")[2]
            if bank in ("scc", "vcc", "exec", "m0"):
                setattr(self.wave, bank, as_integer(self.values[value]))
                operands.remove(value)

    def _constant(self, operand: Any, slot: Any) -> Words | None:
        """A constant slot: inline constant, literal, field, or a register of the machine state; None where absent."""
        kind = type(operand).__name__
        wide = slot.type in ("f64", "i64", "u64", "b64") or slot.units == 2
        if kind == "Inline":
            width = slot.type if slot.type[0] in "fbiu" and slot.type[-1].isdigit() else "b32"
            bits = operand.bits(width)
            return split_integer(bits, 2 if wide else 1)
        if kind == "Literal":
            if slot.type == "f64":
                return split_integer(operand.bits << 32, 2)
            if slot.type == "i64" and operand.bits >> 31:
                # Signed operands extend the sign, all others zeros.
                return split_integer(operand.bits - (1 << 32), 2)
            return split_integer(operand.bits, 2 if wide else 1)
        if kind == "Immediate":
            return [uniform(int(operand.value))]
        if kind == "Register":
            if operand.bank == "off":
                return None
            if operand.bank == "null":
                return split_integer(0, max(1, operand.units))
            if operand.bank in APERTURES:
                return split_integer(APERTURES[operand.bank], 2 if wide else 1)
            if operand.bank in ("exec", "vcc"):
                return split_integer(getattr(self.wave, operand.bank), max(1, self.wave.machine.wave // 32))
            if operand.bank in ("scc", "m0"):
                return [uniform(int(getattr(self.wave, operand.bank)))]
            if operand.bank in ("vccz", "execz"):
                return [uniform(int(getattr(self.wave, operand.bank[:-1]) == 0))]
        raise error(f"an operand {operand} cannot be interpreted", "REFERENCE/017", self.function.location)

    def _compute(self, op: Operation, half: _Half) -> Callable[[], None]:
        from loom.low.semantics.operation import words_of
        from loom.low.semantics.table import evaluate, find_operation

        wave = self.wave
        row, sources, targets = half.resolved.row, half.sources, half.targets
        size, generation = wave.machine.wave, wave.machine.generation
        operation = find_operation(row.semantic, size, generation)
        if operation is None:
            raise error(f"no semantic operation '{row.semantic}' is known", "REFERENCE/001", op.location)
        inputs: list[Any] = []
        halves: list[int | None] = []
        previous, result_halves = self._previous(half)
        listed = [index for index, slot in enumerate(row.slots) if slot.is_use]
        given = [(sources[index] or [uniform(0)], half.resolved.half_of(row.slots[index].name)) for index in listed]
        if len(operation.inputs) == len(given) + 1 and operation.inputs[-1] == "mask":  # VCC, not written out
            given.append((split_integer(wave.vcc, size // 32), None))
        if len(operation.inputs) == len(given) + 1:  # the old value of the result comes first
            given.insert(0, (previous[0], None))
        for (words, part), type_ in zip(given, operation.inputs, strict=False):
            if type_ == "mask":
                inputs.append(as_integer(words[: max(1, size // 32)]))
            else:
                count = words_of(type_, size)
                taken = [word if word.size > 1 else int(word[0]) for word in [*words, *[uniform(0)] * count][:count]]
                inputs.append(taken if count > 1 else taken[0])
            halves.append(part)
        state = {"scc": wave.scc, "m0": wave.m0, "vcc": wave.vcc}
        outcome = evaluate(
            row.semantic,
            inputs,
            wave=size,
            exec_mask=wave.exec,
            modifiers=half.modifiers,
            state={name: state[name] for name in operation.state if name in state},
            old=[words[0] for words in previous],
            generation=generation,
            input_halves=halves,
            result_halves=result_halves,
        )

        def commit() -> None:
            definitions = [index for index, slot in enumerate(row.slots) if slot.is_def]
            for place, index in enumerate(definitions):
                if place >= len(outcome["results"]):
                    break
                produced = outcome["results"][place]
                fixed = half.resolved.fixed.get(index)
                self._write(row.slots[index], fixed, targets.get(index), produced, previous, place, outcome)
            for name, number in outcome["state"].items():
                setattr(wave, name, number)

        return commit

    def _previous(self, half: _Half) -> tuple[list[Words], list[int | None]]:
        """The old words of each result: of the tied operand, or of the pass-through operand, else undefined."""
        row, sources, targets = half.resolved.row, half.sources, half.targets
        previous: list[Words] = []
        halves: list[int | None] = []
        rest = list(half.old)
        for index, slot in enumerate(row.slots):
            if not slot.is_def:
                continue
            target = targets.get(index)
            units = target.type.units if target is not None and isinstance(target.type, RegisterType) else 1
            tied = sources.get(index) if slot.is_use else None
            if tied is None:
                tied = next((sources.get(i) for i, other in enumerate(row.slots) if other.tied_to == slot.name), None)
            if tied is None and rest:
                tied = rest.pop(0)
            previous.append(tied if tied is not None else [np.array([UNDEFINED_WORD])] * max(1, units))
            halves.append(half.resolved.half_of(slot.name))
        return previous, halves

    def _write(
        self,
        slot: Any,
        fixed: Any,
        target: Value | None,
        produced: list[Array],
        previous: list[Words],
        place: int,
        outcome: dict[str, Any],
    ) -> None:
        wave = self.wave
        if slot.type == "mask":
            number = int(produced[0][0])
            if slot.kinds == ("exec",):
                wave.exec = number
            words = split_integer(number, max(1, wave.machine.wave // 32))
        elif target is not None and _is_vector(target):
            chosen = wave.lanes(outcome["write_mask"])
            before = [*previous[place], *[np.array([UNDEFINED_WORD])] * len(produced)]
            words = [
                np.where(chosen, np.broadcast_to(word, (wave.machine.wave,)).astype(np.uint32), before[i])
                for i, word in enumerate(produced)
            ]
        else:
            words = [np.asarray(word).ravel()[:1].astype(np.uint32) for word in produced]
        if fixed is not None and type(fixed).__name__ == "Register" and fixed.bank in ("exec", "vcc", "m0"):
            setattr(wave, fixed.bank, as_integer(words))
        if target is None:
            return
        assert isinstance(target.type, RegisterType)
        bank = target.type.register_class.rpartition(".")[2]
        if bank in ("exec", "vcc", "m0", "scc"):
            setattr(wave, bank, as_integer(words))
        self.values[target] = words

    def _memory(self, op: Operation, half: _Half) -> Callable[[], None]:
        row, wave, targets = half.resolved.row, self.wave, half.targets
        named = {row.slots[index].name: words for index, words in half.sources.items()}
        produced = wave.machine.memory.access(self.interp, op, row, named, half.modifiers, wave)
        previous, _ = self._previous(half)

        def commit() -> None:
            for place, (index, target) in enumerate(targets.items()):
                if produced is None:
                    continue
                outcome = {"write_mask": wave.exec}
                self._write(row.slots[index], None, target, produced, previous, place, outcome)

        return commit

    def _buffer_descriptor(self, op: Operation, immediates: dict[str, Any]) -> None:
        """A buffer resource of a binding: base address, stride 0, extent in bytes (AMD RDNA3 ISA, "Buffer
        resource")."""
        base = self.values[op.operands[0]]
        if len(op.operands) > 1:
            extent = self.values[op.operands[1]][0]
        else:
            extent = uniform(int(immediates.get("extent", 0xFFFFFFFF) or 0))
        self.values[op.results[0]] = [base[0], base[1] & np.uint32(0xFFFF), extent, uniform(0x31014000)]


def _is_vector(value: Value) -> bool:
    return isinstance(value.type, RegisterType) and value.type.register_class.rpartition(".")[2] in ("vgpr", "agpr")


# --- ops without a machine instruction --------------------------------------------------------------------------------


def _same(function: LowFunction, op: Operation) -> None:
    for result, value in zip(op.results, op.operands, strict=False):
        words = function.values[value]
        if _is_vector(result) and not _is_vector(value):
            words = [np.broadcast_to(word, (function.wave.machine.wave,)).copy() for word in words]
        function.values[result] = words


def _slice(function: LowFunction, op: Operation) -> None:
    unit: Any = op.attributes["unit"]
    result = op.results[0]
    assert isinstance(result.type, RegisterType)
    function.values[result] = function.values[op.operands[0]][unit : unit + result.type.units]


def _concat(function: LowFunction, op: Operation) -> None:
    function.values[op.results[0]] = [word for value in op.operands for word in function.values[value]]


def _live_in(function: LowFunction, op: Operation) -> None:
    key = str(op.attributes["key"])
    wave = function.wave
    words = wave.live_ins.get(key)
    if key in ("amdgpu.exec", "amdgpu.vcc"):
        words = split_integer(getattr(wave, key.rpartition(".")[2]), wave.machine.wave // 32)
    elif words is None and key.startswith("amdgpu.undefined."):
        result = op.results[0]
        assert isinstance(result.type, RegisterType)
        word = np.full(wave.machine.wave if _is_vector(result) else 1, UNDEFINED_WORD)
        words = [word] * result.type.units
    if words is None:
        raise error(f"live-in '{key}' is not provided", "REFERENCE/017", op.location)
    function.values[op.results[0]] = words


def _resource(function: LowFunction, op: Operation) -> None:
    index: Any = op.attributes["index"]
    if index >= len(function.wave.resources):
        raise error(f"resource {index} is not bound: the launch gives too few buffers", "REFERENCE/009", op.location)
    function.values[op.results[0]] = split_integer(function.wave.resources[index], 2)


def _reserve(function: LowFunction, op: Operation) -> None:
    result = op.results[0]
    space = str(getattr(result.type, "space", "workgroup"))
    space = "private" if space == "scratch" else space  # one segment holds both
    alignment: Any = op.attributes["byte_alignment"]
    length: Any = op.attributes["byte_length"]
    function.storage[result] = (space, function.wave.machine.place(op, space, int(length), int(alignment)))


def _storage_view(function: LowFunction, op: Operation) -> None:
    space, start = function.storage[op.operands[0]]
    offset: Any = op.attributes.get("offset") or 0
    function.storage[op.results[0]] = (space, start + offset)


def _storage_address(function: LowFunction, op: Operation) -> None:
    _, start = function.storage[op.operands[0]]
    offset: Any = op.attributes.get("offset") or 0
    word = uniform(start + offset)
    if _is_vector(op.results[0]):
        word = np.broadcast_to(word, (function.wave.machine.wave,)).copy()
    function.values[op.results[0]] = [word]


def _spill(function: LowFunction, op: Operation) -> None:
    key = function.storage[op.operands[1]]
    function.interp.caches[(id(function.wave), key)] = function.values[op.operands[0]]


def _reload(function: LowFunction, op: Operation) -> None:
    key = function.storage[op.operands[0]]
    function.values[op.results[0]] = function.interp.caches[(id(function.wave), key)]


def _nothing(function: LowFunction, op: Operation) -> None:
    """Ordering marks have no effect on values."""


_SIMPLE: dict[str, Callable[[LowFunction, Operation], None]] = {
    "low.copy": _same,
    "low.move": _same,
    "low.assume": _same,
    "low.slice": _slice,
    "low.concat": _concat,
    "low.live_in": _live_in,
    "low.resource": _resource,
    "low.storage.reserve": _reserve,
    "low.storage.view": _storage_view,
    "low.storage.address": _storage_address,
    "low.spill": _spill,
    "low.reload": _reload,
    "low.schedule.fence": _nothing,
    "low.schedule.phase": _nothing,
    "low.schedule.begin": _nothing,
    "low.schedule.end": _nothing,
}


# --- structured control flow and calls --------------------------------------------------------------------------------


def _bind(function: LowFunction, names: Sequence[Value], words: Sequence[Words]) -> None:
    for name, value in zip(names, words, strict=True):
        function.values[name] = value


def _yielded(function: LowFunction, block: Block, skip: int = 0) -> list[Words]:
    terminator = block.last
    if terminator is None or not terminator.definition.is_terminator:
        return []
    return [function.values[value] for value in terminator.operands[skip:]]


def _if(function: LowFunction, op: Operation) -> Generator[None, None, None]:
    taken = function._truth(op.operands[0])
    regions = [region for region in op.regions if region.blocks]
    position = 0 if taken else 1
    if position >= len(regions):
        return
    block = regions[position].blocks[0]
    yield from function._block(block)
    _bind(function, op.results, _yielded(function, block))


def _for(function: LowFunction, op: Operation) -> Generator[None, None, None]:
    signed = bool(op.attributes.get("signed"))

    def number(value: Value) -> int:
        word = int(function.values[value][0].ravel()[0])
        return word - (1 << 32) if signed and word >> 31 else word

    place, high, step = (number(op.operands[position]) for position in range(3))
    block = op.regions[0].blocks[0]
    carried = block.arguments[1:]
    state = [function.values[value] for value in op.operands[3 : 3 + len(carried)]]
    while place < high:
        function.values[block.arguments[0]] = [uniform(place)]
        _bind(function, carried, state)
        yield from function._block(block)
        state = _yielded(function, block)
        place += step
    _bind(function, op.results, state)


def _while(function: LowFunction, op: Operation) -> Generator[None, None, None]:
    before, body = op.regions[0].blocks[0], op.regions[1].blocks[0]
    state = [function.values[value] for value in op.operands]
    while True:
        _bind(function, before.arguments, state)
        yield from function._block(before)
        terminator = before.last
        assert terminator is not None
        state = _yielded(function, before, 1)
        if not function._truth(terminator.operands[0]):
            break
        _bind(function, body.arguments, state)
        yield from function._block(body)
        state = _yielded(function, body)
    _bind(function, op.results, state)


def _call(function: LowFunction, op: Operation) -> Generator[None, None, None]:
    callee = function.interp.symbol(str(op.attributes["callee"]), op)
    inner = LowFunction(function.interp, callee, function.wave)
    results = yield from inner.run([function.values[value] for value in op.operands])
    _bind(function, op.results, results)


_STRUCTURED: dict[str, Callable[[LowFunction, Operation], Generator[None, None, None]]] = {
    "low.scf.if": _if,
    "low.scf.for": _for,
    "low.scf.while": _while,
    "low.func.call": _call,
}
