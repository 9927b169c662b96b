"""Translation of a kernel's machine code to LLVM IR text: blocks, control flow, and what every instruction becomes.

The unit of code generation is a *chunk*: consecutive blocks of 256 to 1,024 guest instructions become one function,
so that compile time
grows linearly; chunks call one another in tail position. State lives in the wave's block of memory between blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loom.low.semantics.operation import Mode
from loom.target.amdgpu.machine import Immediate, Inline, Literal, MachineInstruction, Register
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.block import BlockValues
from loom.target.amdgpu.simulator.decode import UNKNOWN
from loom.target.amdgpu.simulator.emit import SCALAR_BASE, Emitter, Unallocated, Unsupported
from loom.target.amdgpu.simulator.format_helpers import sizes_text
from loom.target.amdgpu.simulator.helpers import Helper, signature
from loom.target.amdgpu.simulator.instruction_sets import ENDS_BLOCK, LANE_EXCHANGES, NO_EFFECT
from loom.target.amdgpu.simulator.jumps import jump_targets, target_of
from loom.target.amdgpu.simulator.memory_emit import MemoryEmitter
from loom.target.amdgpu.simulator.publication import LDS_READ, LDS_WRITE, READ, WRITE, waits_for_all
from loom.target.amdgpu.simulator.publication import declarations as watch_declarations
from loom.target.amdgpu.simulator.release import acquires, covers_stores, watched_kind
from loom.target.amdgpu.simulator.release import declarations as release_declarations
from loom.target.amdgpu.simulator.scheduler import dispatch_text
from loom.target.amdgpu.simulator.special_memory import emit_direct_load
from loom.target.amdgpu.simulator.wave_mode import hardware_register, mode_from_word, mode_word

CHUNK_INSTRUCTIONS = 512
"""Guest instructions after which a new function starts at the next block."""

_MODE_INSTRUCTIONS = frozenset(("s_round_mode", "s_denorm_mode", "s_setreg_b32", "s_setreg_imm32_b32"))


_WORKGROUP = Inline(193)
"""The workgroup's own barrier, -1, as ``s_barrier_signal`` names it."""


@dataclass(frozen=True, slots=True)
class StaticFault:
    """A fault that is certain once control reaches the instruction."""

    kind: str
    message: str
    register: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What translation depends on besides the code."""

    generation: str
    wave: int
    vector_count: int
    scalar_count: int
    accumulator_count: int
    mode: Mode
    full_exec: bool
    hardware_fma: bool = True
    race: bool = False


@dataclass(slots=True)
class Translation:
    """IR text and the tables that turn its counters and faults back into facts about the kernel.

    Attributes:
        text: The kernel's module.
        helpers: Memory helpers that it calls.
        blocks: For each block the numbers of its first instruction and of the one behind its last.
        sites: For each memory site (and each static fault) the number of the instruction.
        faults: For each static fault (by its site) what it says.
    """

    text: str = ""
    helpers: set[Helper] = field(default_factory=set)
    blocks: list[tuple[int, int]] = field(default_factory=list)
    sites: list[int] = field(default_factory=list)
    faults: dict[int, StaticFault] = field(default_factory=dict)


def split_blocks(code: Sequence[MachineInstruction], entries: Sequence[int]) -> list[tuple[int, int]]:
    """Basic blocks as ranges of instruction numbers. ``entries`` are byte offsets where control may enter besides by
    branches.
    """
    at = {instruction.pc: number for number, instruction in enumerate(code)}
    leaders = {0} | {at[e] for e in (*entries, *jump_targets(code).values()) if e in at}
    for number, instruction in enumerate(code):
        target = target_of(instruction)
        if target is not None:
            if target in at:
                leaders.add(at[target])
            leaders.add(number + 1)
        elif instruction.row.mnemonic in ENDS_BLOCK:
            leaders.add(number + 1)
        elif number and code[number - 1].pc + code[number - 1].size != instruction.pc:
            leaders.add(number)  # a gap in the code
    ordered = sorted(n for n in leaders if n < len(code))
    # A long straight run is cut, so that no function grows beyond a chunk.
    for start, end in zip(ordered, [*ordered[1:], len(code)], strict=True):
        leaders.update(range(start + CHUNK_INSTRUCTIONS, end, CHUNK_INSTRUCTIONS))
    ordered = sorted(n for n in leaders if n < len(code))
    return [(a, b) for a, b in zip(ordered, [*ordered[1:], len(code)], strict=True)]


class Translator:
    """Translates one kernel (and the functions it may call) into a module."""

    def __init__(
        self,
        code: Sequence[MachineInstruction],
        entries: Sequence[int],
        settings: Settings,
        static_faults: Mapping[int, StaticFault],
    ) -> None:
        self.code = code
        self.settings = settings
        self.static_faults = static_faults
        self.result = Translation()
        self.result.blocks = split_blocks(code, entries)
        self.block_at = {code[first].pc: n for n, (first, _) in enumerate(self.result.blocks)}
        self._jumps = jump_targets(code)
        self.lines: list[str] = []
        self.values = BlockValues(self.lines, settings.wave, False)
        self.emitter = Emitter(
            self.values, settings.generation, settings.vector_count, settings.accumulator_count, settings.hardware_fma
        )
        self.memory = MemoryEmitter(self.emitter, settings.race)
        self.watched: frozenset[int] = frozenset()
        """Stores to memory, and loads of the LDS, that may be under way at a barrier; where there are any, every load
        of memory, or store to the LDS, is looked at."""
        self._watched_spaces: frozenset[str] = frozenset()
        self.releases = False
        """Whether stores are remembered for other workgroups that acquire them."""
        self._label = 0
        self.chunk_of: list[int] = []
        self._chunk = 0
        self._touched_memory = False
        self._asks_for_first = any(i.row.mnemonic == "s_barrier_signal_isfirst" for i in code)
        self._assign_chunks()
        self.full_exec_at, self.mode_at = self._entry_states()

    def _assign_chunks(self) -> None:
        chunk, size = 0, 0
        for first, last in self.result.blocks:
            if size >= CHUNK_INSTRUCTIONS:
                chunk, size = chunk + 1, 0
            self.chunk_of.append(chunk)
            size += last - first

    def _entry_states(self) -> tuple[list[bool], list[Mode | None]]:
        """For each block whether EXEC is known to be all ones on entry, and the floating-point mode (None where paths
        disagree).
        """
        count = len(self.result.blocks)
        full: list[bool | None] = [None] * count
        modes: list[Mode | None] = [None] * count
        seen = [False] * count
        conflict = [False] * count
        work = [0]
        full[0], modes[0], seen[0] = self.settings.full_exec, self.settings.mode, True
        while work:
            block = work.pop()
            mode = modes[block]
            assert mode is not None
            out_full, out_mode = self._transfer(block, bool(full[block]), mode)
            for successor in self._successors(block):
                if not seen[successor]:
                    seen[successor] = True
                    full[successor], modes[successor] = out_full, out_mode
                    work.append(successor)
                    continue
                changed = False
                if full[successor] and not out_full:
                    full[successor], changed = False, True
                if modes[successor] != out_mode:
                    conflict[successor] = True
                if changed:
                    work.append(successor)
        return (
            [bool(f) for f in full],
            [None if conflict[n] else (modes[n] or self.settings.mode) for n in range(count)],
        )

    def _successors(self, block: int) -> list[int]:
        _, last = self.result.blocks[block]
        instruction = self.code[last - 1]
        name = instruction.row.mnemonic
        found = []
        target = self._jumps.get(last - 1, target_of(instruction))
        if target is not None and target in self.block_at:
            found.append(self.block_at[target])
        stops = (
            "s_branch",
            "s_endpgm",
            "s_endpgm_saved",
            "s_setpc_b64",
            "s_swappc_b64",
            "s_code_end",
            "s_trap",
            "s_call_b64",
        )
        if name not in stops and block + 1 < len(self.result.blocks):
            found.append(block + 1)
        if name in ("s_swappc_b64", "s_setpc_b64", "s_call_b64") and last - 1 not in self._jumps:
            # Control may come out at any other entry: blocks entered indirectly know nothing.
            found.extend(n for n in range(len(self.result.blocks)) if n != block and self._indirect(n))
        return found

    def _indirect(self, block: int) -> bool:
        first, _ = self.result.blocks[block]
        if first == 0:
            return False
        before = self.code[first - 1].row.mnemonic
        return before in ("s_swappc_b64", "s_call_b64", "s_setpc_b64", "s_endpgm", "s_code_end", "s_branch")

    def _transfer(self, block: int, full: bool, mode: Mode) -> tuple[bool, Mode]:
        first, last = self.result.blocks[block]
        for number in range(first, last):
            instruction = self.code[number]
            name = instruction.row.mnemonic
            if name in ("s_swappc_b64", "s_setpc_b64", "s_call_b64"):
                full = False
            if "exec" in instruction.row.implicit_defs:
                full = False
            for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True):
                if slot.is_def and isinstance(operand, Register) and operand.bank == "exec":
                    full = False
            if name == ("s_mov_b32" if self.settings.wave == 32 else "s_mov_b64") and isinstance(
                instruction.operands[0], Register
            ):
                source = instruction.operands[1]
                if instruction.operands[0].bank == "exec" and source == Inline(193):
                    full = True
            if name in _MODE_INSTRUCTIONS:
                mode = self._changed_mode(number, mode) or mode
        return full, mode

    def _constant_before(self, number: int, register: Register) -> int | None:
        """The constant that the nearest earlier write in straight-line code put into a scalar register."""
        for earlier in range(number - 1, max(-1, number - 32), -1):
            instruction = self.code[earlier]
            if target_of(instruction) is not None:
                return None
            for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True):
                if slot.is_def and operand == register:
                    if instruction.row.mnemonic in ("s_mov_b32", "s_movk_i32"):
                        source = instruction.operands[1]
                        if isinstance(source, Inline):
                            return source.bits("b32")
                        if isinstance(source, Literal):
                            return source.bits
                        if isinstance(source, Immediate):
                            return source.value & 0xFFFFFFFF
                    return None
        return None

    def _changed_mode(self, number: int, mode: Mode) -> Mode | None:
        """The mode behind an instruction that sets it, or None when it depends on data."""
        instruction = self.code[number]
        name = instruction.row.mnemonic
        immediates = [o.value for o in instruction.operands if isinstance(o, Immediate)]
        word = mode_word(mode)
        if name == "s_round_mode":
            return mode_from_word((word & ~0xF) | (immediates[-1] & 0xF), mode.fnuz)
        if name == "s_denorm_mode":
            return mode_from_word((word & ~0xF0) | ((immediates[-1] & 0xF) << 4), mode.fnuz)
        hardware_register = immediates[0] & 0xFFFF
        value: int | None
        if name == "s_setreg_imm32_b32":
            literal = [o.bits for o in instruction.operands if isinstance(o, Literal)]
            value = literal[0] if literal else immediates[-1]
        else:
            source = next((o for o in instruction.operands if isinstance(o, Register)), None)
            value = self._constant_before(number, source) if source is not None else None
            if source is None:
                constant = next((o for o in instruction.operands if isinstance(o, Inline)), None)
                value = constant.bits("b32") if constant is not None else None
        if hardware_register & 0x3F != 1:  # not MODE: status and trap registers are not modelled
            return mode
        if value is None:
            return None
        offset, size = hardware_register >> 6 & 31, (hardware_register >> 11 & 31) + 1
        mask = ((1 << size) - 1) << offset
        return mode_from_word((word & ~mask) | ((value << offset) & mask), mode.fnuz)

    # Emission

    def translate(self) -> Translation:
        """Translate everything."""
        functions: list[str] = []
        chunk_count = (self.chunk_of[-1] + 1) if self.chunk_of else 0
        for chunk in range(chunk_count):
            functions.append(self._function(chunk))
        result = self.result
        table = ", ".join(f"ptr @loom.chunk.{c}" for c in self.chunk_of)
        total = len(result.blocks)
        wave = self.settings.wave
        v = f"<{wave} x i32>"
        head = [
            f"@loom.chunks = private constant [{total} x ptr] [{table}]\n",
            "declare void @loom.fault(ptr, i32, i32, i32, i64, i32)\n",
            "declare void @loom.scalar.load(ptr, ptr, i64, i32, i32)\n",
            "declare i32 @loom.scalar.load.small(ptr, i64, i32, i32)\n",
            "declare void @loom.resource.check(ptr, i32, i32)\n",
            f"declare void @loom.scratch.check(ptr, i{wave}, {v}, i32, i32)\n",
            dispatch_text(total),
        ]
        if self.watched:
            head.append(watch_declarations(wave))
        if self.releases:
            head.append(release_declarations(wave))
        if self.memory.needs_format_sizes:
            head.append(sizes_text(self.settings.generation))
        head += sorted(f"{d}\n" for d in self.emitter.declarations)
        head += sorted(f"declare {signature(h)}\n" for h in self.memory.helpers)
        result.text = "".join(head) + "".join(self.emitter.functions) + "".join(functions)
        result.helpers = self.memory.helpers
        return result

    def _function(self, chunk: int) -> str:
        self.lines.clear()
        self._chunk = chunk
        mine = [n for n, c in enumerate(self.chunk_of) if c == chunk]
        self.lines.append(f"define i32 @loom.chunk.{chunk}(ptr noalias %st, i32 %entry) #0 {{\n")
        cases = " ".join(f"i32 {n}, label %b{n}" for n in mine)
        self.lines.append(f"  switch i32 %entry, label %bad [ {cases} ]\nbad:\n  unreachable\n")
        for block in mine:
            self._block(block)
        self.lines.append("}\n")
        return "".join(self.lines)

    def _block(self, block: int) -> None:
        first, last = self.result.blocks[block]
        values = self.values
        values.prefix = f"b{block}."
        self.lines.append(f"b{block}:\n")
        values.reset(self.full_exec_at[block])
        self._touched_memory = False
        mode = self.mode_at[block]
        counts = values.emit(f"load ptr, ptr {values.pointer(L.COUNTS)}")
        counter = values.emit(f"getelementptr i64, ptr {counts}, i64 {block}")
        old = values.emit(f"load i64, ptr {counter}")
        new = values.emit(f"add i64 {old}, 1")
        self.lines.append(f"  store i64 {new}, ptr {counter}\n")
        if mode is None:
            self._static_fault(
                first, StaticFault("unknown_mode", "the floating-point mode depends on the path taken here")
            )
            return
        self.emitter.mode = mode
        for number in range(first, last):
            if self._instruction(number, block):
                return
        # Falls through.
        values.flush()
        self._check_faults()
        self._go(block + 1)

    def _go(self, block: int) -> None:
        """Continue at a block of this or another chunk; state must be flushed."""
        if block >= len(self.result.blocks):
            self._static_fault(
                self.result.blocks[-1][1] - 1,
                StaticFault("bad_program_counter", "control runs past the end of the code"),
            )
            return
        chunk = self.chunk_of[block]
        if chunk == self._chunk:
            self.lines.append(f"  br label %b{block}\n")
        else:
            name = self.values.fresh()
            self.lines.append(
                f"  {name} = musttail call i32 @loom.chunk.{chunk}(ptr noalias %st, i32 {block})\n  ret i32 {name}\n"
            )

    def _site(self, number: int) -> int:
        self.result.sites.append(number)
        return len(self.result.sites) - 1

    def _static_fault(self, number: int, fault: StaticFault) -> None:
        site = self._site(number)
        self.result.faults[site] = fault
        self.lines.append(
            f"  call void @loom.fault(ptr %st, i32 {L.STATIC_FAULT}, i32 {site}, i32 -1, i64 0, i32 0)\n"
            f"  ret i32 {L.FAULTED}\n"
        )

    def _new_label(self) -> str:
        self._label += 1
        return f"l{self._label}"

    def _check_faults(self) -> None:
        """Leave when a memory helper of this block has recorded a fault."""
        if not self._touched_memory:
            return
        self._touched_memory = False
        kind = self.values.emit(f"load i32, ptr {self.values.pointer(L.FAULT_KIND)}")
        bad = self.values.emit(f"icmp ne i32 {kind}, 0")
        fault, fine = self._new_label(), self._new_label()
        self.lines.append(
            f"  br i1 {bad}, label %{fault}, label %{fine}, !prof !0\n{fault}:\n  ret i32 {L.FAULTED}\n{fine}:\n"
        )

    def watch(self, watched: frozenset[int]) -> None:
        """Remember these accesses as the code runs, and look at what conflicts with them."""
        self.watched = watched
        effects = [self.code[number].row.memory for number in watched]
        self._watched_spaces = frozenset("lds" if m is not None and m.space == "lds" else "memory" for m in effects)

    def _watch(self, number: int) -> int | None:
        memory = self.code[number].row.memory
        assert memory is not None
        if memory.space == "lds":
            if number in self.watched:
                return LDS_READ
            return LDS_WRITE if "lds" in self._watched_spaces and memory.kind != "load" else None
        if number in self.watched:
            return WRITE
        return READ if "memory" in self._watched_spaces and memory.kind != "store" else None

    def _instruction(self, number: int, block: int) -> bool:
        """Emit one instruction; True when it ended the block."""
        instruction = self.code[number]
        found = self.static_faults.get(number)
        if found is not None:
            self._check_faults()
            self._static_fault(number, found)
            return True
        name = instruction.row.mnemonic
        semantic = instruction.row.semantic
        self.values.prefix = f"n{number}."
        try:
            if name == UNKNOWN:
                self._check_faults()
                word = instruction.modifiers["word"]
                self._static_fault(number, StaticFault("unknown_instruction", f"{word:#010x} is no instruction"))
                return True
            self._check_scalars(instruction)
            if name in ("s_barrier_signal", "s_barrier_signal_isfirst"):
                self._barrier_signal(instruction)
                return False
            if name in NO_EFFECT:
                for at in waits_for_all(instruction, self.settings.generation) if self.watched else ():
                    self.lines.append(f"  call void @loom.watch.wait(ptr %st, i64 {at[0]}, i64 {at[1]}, i64 {at[2]})\n")
                if self.releases and covers_stores(instruction, self.settings.generation):
                    self.lines.append("  call void @loom.release.wait(ptr %st)\n")
                if self.releases and acquires(instruction):
                    self.lines.append("  call void @loom.release.acquire(ptr %st)\n")
                return False
            if target_of(instruction) is not None or name in ENDS_BLOCK:
                self._control(number, block)
                return True
            if self._system(number, name):
                return False
            memory = instruction.row.memory
            if memory is not None and semantic not in LANE_EXCHANGES:
                if memory.kind in ("cache", "prefetch"):
                    return False
                self._touched_memory = True
                self.memory.watch = self._watch(number)
                self.memory.release = watched_kind(instruction) if self.releases else None
                self.memory.emit(instruction, self._site(number))
                return False
            computed = self.emitter.compute(instruction)
            second = self.emitter.compute(instruction.y) if instruction.y is not None else None
            self.emitter.commit(computed)
            if second is not None:
                self.emitter.commit(second)
        except Unallocated as problem:
            self._check_faults()
            self._static_fault(number, StaticFault("unallocated_register", str(problem), str(problem.register)))
            return True
        except Unsupported as problem:
            self._check_faults()
            self._static_fault(number, StaticFault("unsupported_instruction", str(problem)))
            return True
        return False

    def _system(self, number: int, name: str) -> bool:
        """Instructions about the wave itself: mode, program counter, hardware registers."""
        instruction = self.code[number]
        values, emitter = self.values, self.emitter
        if name in _MODE_INSTRUCTIONS:
            mode = self._changed_mode(number, emitter.mode)
            if mode is None:
                raise Unsupported("the floating-point mode is set from a register whose value is not known here")
            emitter.mode = mode
            return True
        if name == "s_getpc_b64":
            base = values.emit(f"load i64, ptr {values.pointer(L.CODE_BASE)}")
            value = values.emit(f"add i64 {base}, {instruction.pc + instruction.size}")
            self._write_pair(instruction, value)
            return True
        if name in ("s_getreg_b32",):
            field = next(o.value for o in instruction.operands if isinstance(o, Immediate)) & 0xFFFF
            value_ = hardware_register(field & 63, emitter.mode)
            offset, size = field >> 6 & 31, (field >> 11 & 31) + 1
            emitter.write_scalar_words(instruction.operands[0], [str((value_ >> offset) & ((1 << size) - 1))])
            return True
        if name in ("s_memtime", "s_memrealtime", "s_get_shader_cycles_u64", "s_sendmsg_rtn_b64"):
            # Time is the number of instructions executed: the simulator has no clock, and results must not vary.
            left = values.emit(f"load i64, ptr {values.pointer(L.BUDGET)}")
            value = values.emit(f"sub i64 4611686018427387904, {left}")
            self._write_pair(instruction, value)
            return True
        if name == "s_sendmsg_rtn_b32":
            emitter.write_scalar_words(instruction.operands[0], ["0"])
            return True
        if name in ("s_movrels_b32", "s_movrels_b64", "s_movreld_b32", "s_movreld_b64"):
            self._relative_scalar(number, name)
            return True
        if name in ("v_movrels_b32", "v_movreld_b32"):
            self._relative_vector(number, name)
            return True
        if name in ("s_movrelsd_2_b32", "v_movrelsd_b32", "v_movrelsd_2_b32", "v_swaprel_b32"):
            self._relative_both(number, name)
            return True
        if name in ("lds_direct_load", "ds_direct_load"):
            self._touched_memory = True
            emit_direct_load(self.memory, instruction, self._site(number))
            return True
        return False

    def _check_scalars(self, instruction: MachineInstruction) -> None:
        """Refuse scalar registers that the kernel does not allocate."""
        for operand in instruction.operands:
            if not isinstance(operand, Register) or operand.bank != "sgpr":
                continue
            if operand.index + max(operand.units, 1) > self.settings.scalar_count:
                raise Unallocated(operand, self.settings.scalar_count)

    def _relative_index(self, number: int, first: int, limit: int, step: str | None = None) -> str:
        """Register number ``first + step`` (default M0); from ``limit`` on it is a fault, which ends the wave."""
        values = self.values
        index = values.emit(f"add i32 {step or values.read_scalar(L.M0)}, {first}")
        inside = values.emit(f"icmp ult i32 {index}, {limit}")
        bad, fine = self._new_label(), self._new_label()
        site = self._site(number)
        wide = values.emit(f"zext i32 {index} to i64")
        self.lines.append(
            f"  br i1 {inside}, label %{fine}, label %{bad}, !prof !1\n{bad}:\n"
            f"  call void @loom.fault(ptr %st, i32 {L.FAULT_REGISTER}, i32 {site}, i32 -1, i64 {wide}, i32 4)\n"
            f"  ret i32 {L.FAULTED}\n{fine}:\n"
        )
        return index

    def _relative_scalar(self, number: int, name: str) -> None:
        """S_MOVRELS and S_MOVRELD: M0 is added to the number of the source or the destination register."""
        instruction = self.code[number]
        values = self.values
        words = 2 if name.endswith("64") else 1
        target, source = instruction.operands[0], instruction.operands[-1]
        moved = target if "movreld" in name else source
        if not isinstance(moved, Register) or moved.bank != "sgpr" or not isinstance(target, Register):
            raise Unsupported("a register-relative move of a special register")
        incoming = [self.emitter.scalar_word(source, k, "b32") for k in range(words)] if "movreld" in name else []
        values.flush()
        index = self._relative_index(number, moved.index, self.settings.scalar_count - words + 1)
        base = values.emit(f"getelementptr i8, ptr %st, i64 {L.SGPRS}")
        place = values.emit(f"getelementptr i32, ptr {base}, i32 {index}")
        for k in range(words):
            pointer = values.emit(f"getelementptr i8, ptr {place}, i64 {4 * k}")
            if incoming:
                self.lines.append(f"  store i32 {incoming[k]}, ptr {pointer}\n")
            else:
                self.emitter.write_scalar_words(
                    Register(target.bank, target.index + k), [values.emit(f"load i32, ptr {pointer}")]
                )
        if incoming:
            values.forget_registers()

    def _relative_vector(self, number: int, name: str) -> None:
        """V_MOVRELS and V_MOVRELD: M0 is added to the number of the source or the destination register."""
        instruction = self.code[number]
        values = self.values
        target, source = instruction.operands[0], instruction.operands[-1]
        v = values.vector
        value = ""
        if name == "v_movreld_b32":
            moved = target
            if self.emitter.is_lane(source):
                assert isinstance(source, Register)
                value = values.read_vector(self.emitter.vector_index(source))
            else:
                word = self.emitter.scalar_word(source, 0, "b32")
                one = values.emit(f"insertelement {v} poison, i32 {word}, i64 0")
                lanes = self.settings.wave
                value = values.emit(f"shufflevector {v} {one}, {v} poison, <{lanes} x i32> zeroinitializer")
        else:
            moved = source
        if not isinstance(moved, Register) or moved.bank != "vgpr" or not isinstance(target, Register):
            raise Unsupported("a register-relative move that names no vector register")
        active = values.read_exec_lanes()
        values.flush()
        index = self._relative_index(number, moved.index, self.settings.vector_count)
        base = values.emit(f"getelementptr i8, ptr %st, i64 {L.VGPRS}")
        place = values.emit(f"getelementptr {v}, ptr {base}, i32 {index}")
        old = values.emit(f"load {v}, ptr {place}, align 64")
        if value:
            merged = values.emit(f"select <{self.settings.wave} x i1> {active}, {v} {value}, {v} {old}")
            self.lines.append(f"  store {v} {merged}, ptr {place}, align 64\n")
            values.forget_registers()
        else:
            self.emitter.write_vector_word(self.emitter.vector_index(target), old, False, True, None)

    def _relative_both(self, number: int, name: str) -> None:
        """Moves that M0 displaces on both sides: by M0 whole, or (``_2``, swap) source by bits 9:0, target by 25:16."""
        instruction = self.code[number]
        if "dpp" in (instruction.form or ""):
            raise Unsupported("a register-relative move with lane routing is not simulated")
        values, wave = self.values, self.settings.wave
        target, source = instruction.operands[0], instruction.operands[-1]
        scalar = name.startswith("s_")
        bank = "sgpr" if scalar else "vgpr"
        if not all(isinstance(o, Register) and o.bank == bank for o in (target, source)):
            raise Unsupported("a register-relative move of a special register")
        assert isinstance(target, Register) and isinstance(source, Register)
        m0 = values.read_scalar(L.M0)
        by_source = by_target = m0
        if name != "v_movrelsd_b32":
            by_source = values.emit(f"and i32 {m0}, 1023")
            moved = values.emit(f"lshr i32 {m0}, 16")
            by_target = values.emit(f"and i32 {moved}, 1023")
        active = "" if scalar else values.read_exec_lanes()
        values.flush()
        limit = self.settings.scalar_count if scalar else self.settings.vector_count
        element = "i32" if scalar else values.vector
        base = values.emit(f"getelementptr i8, ptr %st, i64 {L.SGPRS if scalar else L.VGPRS}")
        places = []
        for first, step in ((source.index, by_source), (target.index, by_target)):
            index = self._relative_index(number, first, limit, step)
            places.append(values.emit(f"getelementptr {element}, ptr {base}, i32 {index}"))
        loaded = [values.emit(f"load {element}, ptr {p}, align {4 if scalar else 64}") for p in places]
        writes = [(places[1], loaded[0], loaded[1])]
        if name == "v_swaprel_b32":
            writes.append((places[0], loaded[1], loaded[0]))
        for place, new, old in writes:
            if not scalar:
                new = values.emit(f"select <{wave} x i1> {active}, {element} {new}, {element} {old}")
            self.lines.append(f"  store {element} {new}, ptr {place}, align {4 if scalar else 64}\n")
        values.forget_registers()

    def _write_pair(self, instruction: MachineInstruction, value: str) -> None:
        target = instruction.operands[0]
        if isinstance(target, Register) and target.bank in SCALAR_BASE:
            self.values.write_pair(SCALAR_BASE[target.bank] + target.index, value)

    def _barrier_signal(self, instruction: MachineInstruction) -> None:
        if instruction.operands != (_WORKGROUP,):
            raise Unsupported("barriers other than the workgroup's are not simulated")
        values = self.values
        if self._asks_for_first:
            # Wave 0's state block remembers for which barrier a signal came last.
            number = values.emit(f"load i32, ptr {values.pointer(L.WAVE)}")
            size = values.emit(f"load i64, ptr {values.pointer(L.STATE_SIZE)}")
            wide = values.emit(f"zext i32 {number} to i64")
            back = values.emit(f"mul i64 {wide}, {size}")
            before = values.emit(f"sub i64 {L.FIRST_SIGNAL}, {back}")
            place = values.emit(f"getelementptr i8, ptr %st, i64 {before}")
            passed = values.emit(f"load i64, ptr {values.pointer(L.EPOCH)}")
            coming = values.emit(f"add i64 {passed}, 1")
            last = values.emit(f"load i64, ptr {place}")
            self.lines.append(f"  store i64 {coming}, ptr {place}\n")
            if instruction.row.mnemonic == "s_barrier_signal_isfirst":
                values.write_scc(values.emit(f"icmp ne i64 {last}, {coming}"))
        self.lines.append(f"  store i32 {L.SIGNALLED_IT}, ptr {self.values.pointer(L.SIGNALLED)}\n")

    def _barrier_wait(self, number: int, block: int) -> None:
        """What stands in front of a stop at the barrier: the wave must have signalled; it goes on where it is open."""
        place = self.values.pointer(L.SIGNALLED)
        signalled = self.values.emit(f"load i32, ptr {place}")
        never, already, stop = self._new_label(), self._new_label(), self._new_label()
        self.lines.append(
            f"  switch i32 {signalled}, label %{stop} [ i32 {L.NOT_SIGNALLED}, label %{never} "
            f"i32 {L.OPEN_ALREADY}, label %{already} ]\n{never}:\n"
        )
        self._static_fault(
            number,
            StaticFault("barrier_not_reached", "the wave waits for a barrier that it has not signalled"),
        )
        self.lines.append(f"{already}:\n  store i32 {L.NOT_SIGNALLED}, ptr {place}\n")
        self._go(block + 1)
        self.lines.append(f"{stop}:\n  store i32 {L.NOT_SIGNALLED}, ptr {place}\n")

    # Control flow

    def _control(self, number: int, block: int) -> None:
        instruction = self.code[number]
        name = instruction.row.mnemonic
        values = self.values
        if name in ("s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done"):
            self._check_faults()
            self.lines.append(f"  ret i32 {L.ENDED}\n")
            return
        if name == "s_code_end":
            self._check_faults()
            self._static_fault(
                number, StaticFault("bad_program_counter", "control runs into the padding behind the code")
            )
            return
        if name == "s_trap":
            self._check_faults()
            code = next((o.value for o in instruction.operands if isinstance(o, Immediate)), 0)
            self._static_fault(number, StaticFault("trap", f"the kernel executed s_trap {code}"))
            return
        if name in ("s_barrier", "s_barrier_wait"):
            values.flush()
            self._check_faults()
            if name == "s_barrier_wait":
                self._barrier_wait(number, block)
            self.lines.append(f"  store i32 {block + 1}, ptr {values.pointer(L.RESUME)}\n")
            if block + 1 >= len(self.result.blocks):
                self._go(block + 1)
            else:
                self.lines.append(f"  ret i32 {L.AT_BARRIER}\n")
            return
        if name in ("s_setpc_b64", "s_swappc_b64", "s_call_b64"):
            self._indirect_jump(number, name)
            return
        target = target_of(instruction)
        assert target is not None
        destination = self.block_at.get(target)
        if destination is None:
            self._check_faults()
            self._static_fault(
                number,
                StaticFault("bad_program_counter", f"the branch goes to {target:#x}, where no instruction starts"),
            )
            return
        backward = target <= instruction.pc
        span = 0
        if backward:
            span = number + 1 - self.result.blocks[destination][0]
        if name == "s_branch":
            values.flush()
            self._check_faults()
            self._branch(destination, span)
            return
        condition = self._condition(instruction, name)
        values.flush()
        self._check_faults()
        taken, fall = self._new_label(), self._new_label()
        self.lines.append(f"  br i1 {condition}, label %{taken}, label %{fall}\n{taken}:\n")
        self._branch(destination, span)
        self.lines.append(f"{fall}:\n")
        self._go(block + 1)

    def _branch(self, destination: int, span: int) -> None:
        """Go to a block; a backward branch pays for the instructions since its target."""
        values = self.values
        if span:
            pointer = values.emit(f"getelementptr i8, ptr %st, i64 {L.BUDGET}")
            left = values.emit(f"load i64, ptr {pointer}")
            rest = values.emit(f"sub i64 {left}, {span}")
            self.lines.append(f"  store i64 {rest}, ptr {pointer}\n")
            spent = values.emit(f"icmp slt i64 {rest}, 0")
            stop, go = self._new_label(), self._new_label()
            resume = values.fresh()
            self.lines.append(
                f"  br i1 {spent}, label %{stop}, label %{go}, !prof !0\n{stop}:\n"
                f"  {resume} = getelementptr i8, ptr %st, i64 {L.RESUME}\n"
                f"  store i32 {destination}, ptr {resume}\n  ret i32 {L.RUNNING}\n{go}:\n"
            )
        self._go(destination)

    def _condition(self, instruction: MachineInstruction, name: str) -> str:
        values = self.values
        wave = self.settings.wave
        if name in ("s_cbranch_scc0", "s_cbranch_scc1"):
            scc = values.read_scc()
            return scc if name.endswith("1") else values.emit(f"xor i1 {scc}, true")
        if name in ("s_cbranch_vccz", "s_cbranch_vccnz"):
            return values.emit(f"icmp {'eq' if name.endswith('vccz') else 'ne'} i{wave} {values.read_vcc()}, 0")
        if name in ("s_cbranch_execz", "s_cbranch_execnz"):
            return values.emit(f"icmp {'eq' if name.endswith('execz') else 'ne'} i{wave} {values.read_exec()}, 0")
        if name.startswith("s_cbranch_cdbg"):
            return "false"
        if name in ("s_subvector_loop_begin", "s_subvector_loop_end"):
            raise Unsupported("subvector loops are not simulated")
        raise Unsupported(f"the branch '{instruction.mnemonic}' is not simulated")

    def _indirect_jump(self, number: int, name: str) -> None:
        instruction = self.code[number]
        values, emitter = self.values, self.emitter
        back = values.emit(f"load i64, ptr {values.pointer(L.CODE_BASE)}")
        if name == "s_call_b64":
            target = target_of(instruction)
            assert target is not None
            destination = values.emit(f"add i64 {back}, {target}")
        else:
            destination = emitter.scalar_pair(instruction.operands[-1], "b64")
        if name != "s_setpc_b64":
            value = values.emit(f"add i64 {back}, {instruction.pc + instruction.size}")
            self._write_pair(instruction, value)
        values.flush()
        self._check_faults()
        site = self._site(number)
        name_ = values.fresh()
        self.lines.append(f"  store i64 {destination}, ptr {values.pointer(L.SAVED_MODE)}\n")
        self.lines.append(f"  {name_} = musttail call i32 @loom.jump(ptr noalias %st, i32 {site})\n  ret i32 {name_}\n")
