"""Emission of single instructions: operands to SSA values, the semantic operation's text, results to registers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from loom.low.semantics.expression import Expr, topological
from loom.low.semantics.llvm_backend import Template, compile_template, llvm_type
from loom.low.semantics.operation import Context, Mode, Operation, assemble, input_names, words_of
from loom.low.semantics.table import find_operation
from loom.target.amdgpu.machine import (
    Immediate,
    Inline,
    Literal,
    MachineInstruction,
    Operand,
    Register,
)
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.block import BlockValues
from loom.target.amdgpu.simulator.unsupported import reason_unsupported

SCALAR_BASE = {"sgpr": 0, "vcc": L.VCC, "ttmp": L.TTMP, "m0": L.M0, "exec": L.EXEC, "flat_scratch": L.FLAT_SCRATCH,
               "xnack_mask": L.XNACK_MASK}  # fmt: skip

#: Modifiers that change what an operation computes; all others belong to memory or to encoding.
_SEMANTIC_MODIFIERS = (
    "neg", "abs", "neg_lo", "neg_hi", "op_sel", "op_sel_hi", "clamp", "omod", "fi", "bound_ctrl", "row_mask",
    "bank_mask",
    "dpp_ctrl", "dpp8", "dst_sel", "dst_unused", "src0_sel", "src1_sel", "sext", "offset",
    "cbsz", "abid", "blgp", "bitop3", "index_key",
)  # fmt: skip


def unsupported_message(mnemonic: str) -> str:
    """What to say about an instruction without a meaning here."""
    return f"'{mnemonic}' is not simulated: {reason_unsupported(mnemonic) or 'it has no semantic operation'}"


class Unsupported(Exception):
    """The instruction has no meaning here; the message says why. It becomes a fault when it is reached."""


@lru_cache(maxsize=20000)
def _template(
    semantic: str,
    generation: str,
    wave: int,
    mode: Mode,
    modifiers: tuple[tuple[str, int], ...],
    lanes: tuple[bool, ...],
    input_halves: tuple[int | None, ...],
    result_halves: tuple[int | None, ...],
    hardware_fma: bool,
) -> tuple[Template, Operation, tuple[int, ...], int, bool, tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Template, operation, words of each result, number of state results, whether a write mask follows, inputs with
    their types, types of the template's results.
    """
    operation = find_operation(semantic, wave, generation)
    if operation is None:
        raise Unsupported(f"no semantic operation '{semantic}'")
    context = Context(wave, mode, dict(modifiers), generation)
    typed = "src0_sel" not in context.modifiers and "dst_sel" not in context.modifiers
    try:
        built = assemble(operation, context, lanes, input_halves, result_halves, typed)
    except (ValueError, TypeError, NotImplementedError) as problem:
        raise Unsupported(f"{semantic}: {problem}") from problem
    roots: list[Expr] = [w for r in built.results for w in r] + list(built.state_results)
    if built.write_mask is not None:
        roots.append(built.write_mask)
    template = compile_template(roots, wave, hardware_fma)
    arguments = {n.attr: llvm_type(n.type, n.lane, wave) for n in topological(roots) if n.op == "arg"}
    return (
        template, operation, tuple(len(r) for r in built.results), len(built.state_results),
        built.write_mask is not None, tuple(arguments.items()), tuple(llvm_type(r.type, r.lane, wave) for r in roots),
    )  # fmt: skip


OUT_OF_LINE = 400
"""Instructions of a template from which on it becomes a function, emitted once and called: matrix operations."""


class Emitter:
    """Emits instructions of one kernel into the current block's lines."""

    def __init__(
        self, values: BlockValues, generation: str, vector_count: int, accumulator_count: int, hardware_fma: bool
    ) -> None:
        self.values = values
        self.generation = generation
        self.wave = values.wave
        self.vector_count = vector_count
        self.accumulator_count = accumulator_count
        self.hardware_fma = hardware_fma
        self.declarations: set[str] = set()
        self.functions: list[str] = []
        self._outlined: dict[int, tuple[Template, str]] = {}
        self.mode = Mode()
        self._serial = 0
        self._modifiers: dict[Any, tuple[tuple[str, int], ...]] = {}

    # Operands

    def vector_index(self, register: Register) -> int:
        """Number of a vector or accumulation register in the state block; checks the allocation."""
        last = register.index + max(register.units, 1)
        if register.bank == "vgpr":
            if last > self.vector_count:
                raise Unallocated(register, self.vector_count)
            return register.index
        if last > self.accumulator_count:
            raise Unallocated(register, self.accumulator_count)
        return self.vector_count + register.index

    def is_lane(self, operand: Operand) -> bool:
        """Whether an operand differs from lane to lane."""
        return isinstance(operand, Register) and operand.bank in ("vgpr", "agpr")

    def scalar_word(self, operand: Operand, word: int, kind: str) -> str:
        """A 32-bit word of a uniform operand as an SSA name or a constant."""
        if isinstance(operand, Register):
            base = SCALAR_BASE.get(operand.bank)
            if base is not None:
                return self.values.read_scalar(base + operand.index + word)
            return self._special(operand, word)
        return _signed_text(constant_word(operand, word, kind))

    def scalar_pair(self, operand: Operand, kind: str) -> str:
        """A 64-bit uniform operand."""
        if isinstance(operand, Register):
            base = SCALAR_BASE.get(operand.bank)
            if base is not None:
                return self.values.read_pair(base + operand.index)
            low, high = self._special(operand, 0), self._special(operand, 1)
            if not low.startswith("%") and not high.startswith("%"):
                return str((int(low) & 0xFFFFFFFF) | (int(high) << 32))
            return self.values.emit(f"zext i32 {low} to i64")
        low_bits, high_bits = constant_word(operand, 0, kind), constant_word(operand, 1, kind)
        return _signed_text(low_bits | (high_bits << 32), 64)

    def _special(self, register: Register, word: int) -> str:
        bank = register.bank
        if bank in ("null", "off"):
            return "0"
        if bank == "scc":
            return "0" if word else self.values.emit(f"zext i1 {self.values.read_scc()} to i32")
        if bank in ("vccz", "execz"):
            mask = self.values.read_vcc() if bank == "vccz" else self.values.read_exec()
            zero = self.values.emit(f"icmp eq i{self.wave} {mask}, 0")
            return "0" if word else self.values.emit(f"zext i1 {zero} to i32")
        aperture = {"shared_base": L.SHARED_APERTURE, "private_base": L.PRIVATE_APERTURE,
                    "shared_limit": L.SHARED_APERTURE + 0xFFFFFFFF,
                    "private_limit": L.PRIVATE_APERTURE + 0xFFFFFFFF}.get(bank)  # fmt: skip
        if aperture is not None:
            return _signed_text((aperture >> (32 * word)) & 0xFFFFFFFF)
        raise Unsupported(f"the source {register} is not simulated")

    def mask(self, operand: Operand) -> str:
        """A lane mask operand as an integer of the wave's width."""
        if self.wave == 32:
            return self.scalar_word(operand, 0, "b32")
        if isinstance(operand, Register) and operand.units == 1:
            operand = Register(operand.bank, operand.index, 2)
        return self.scalar_pair(operand, "b64")

    # Results

    def write_mask(self, operand: Operand, value: str) -> None:
        """Set a scalar lane-mask result."""
        if isinstance(operand, Register):
            base = SCALAR_BASE.get(operand.bank)
            if base is not None:
                if self.wave == 32:
                    self.values.write_scalar(base + operand.index, value)
                else:
                    self.values.write_pair(base + operand.index, value)

    def write_scalar_words(self, operand: Operand, words: list[str]) -> None:
        """Set scalar registers from 32-bit words."""
        if not isinstance(operand, Register):
            raise Unsupported("a result that is not a register")
        base = SCALAR_BASE.get(operand.bank)
        if base is None:
            if operand.bank in ("null", "off"):
                return
            raise Unsupported(f"a write of {operand}")
        for k, word in enumerate(words):
            self.values.write_scalar(base + operand.index + k, word)

    def write_vector_word(self, index: int, value: str, as_float: bool, lane: bool, extra: str | None) -> None:
        """Set a vector register in the active lanes (and only where ``extra`` holds)."""
        values = self.values
        kind = values.float_vector if as_float else values.vector
        if not lane:
            scalar = "float" if as_float else "i32"
            if value.startswith("%"):
                one = values.emit(f"insertelement {kind} poison, {scalar} {value}, i64 0")
                value = values.emit(f"shufflevector {kind} {one}, {kind} poison, <{self.wave} x i32> zeroinitializer")
            else:
                value = values.emit(f"bitcast {kind} splat ({scalar} {value}) to {kind}")
        if values.full_exec and extra is None:
            values.write_vector(index, value, as_float)
            return
        if values.full_exec:
            condition = extra
        else:
            condition = values.read_exec_lanes()
            if extra is not None:
                condition = values.emit(f"and <{self.wave} x i1> {condition}, {extra}")
        old = values.read_vector(index, as_float)
        if as_float:
            merged = values.emit(f"select <{self.wave} x i1> {condition}, {kind} {value}, {kind} {old}")
        else:
            # Integers are merged as floats: LLVM 22 turns a select between a three-input logic expression, one input
            # of which is loaded, and another of its inputs into a masked VPTERNLOG with the inputs in wrong places.
            wide = values.float_vector
            new_bits = values.emit(f"bitcast {kind} {value} to {wide}")
            old_bits = values.emit(f"bitcast {kind} {old} to {wide}")
            chosen = values.emit(f"select <{self.wave} x i1> {condition}, {wide} {new_bits}, {wide} {old_bits}")
            merged = values.emit(f"bitcast {wide} {chosen} to {kind}")
        values.write_vector(index, merged, as_float)

    # Arithmetic

    def modifiers(self, instruction: MachineInstruction) -> tuple[tuple[str, int], ...]:
        """The modifiers that the instruction's encoding has and that matter to its meaning."""
        encoding = instruction.encoding
        key = (id(instruction.row), instruction.form, tuple(instruction.modifiers.items()))
        found = self._modifiers.get(key)
        if found is None:
            fields = encoding.modifiers if encoding is not None else instruction.row.modifiers
            found = tuple(
                (f.name, instruction.modifiers.get(f.name, f.default)) for f in fields if f.name in _SEMANTIC_MODIFIERS
            )
            self._modifiers[key] = found
        return found

    def compute(self, instruction: MachineInstruction) -> Any:
        """Emit the operation of an instruction; gives what :meth:`commit` writes back. Two halves of a pair compute
        first.
        """
        row = instruction.row
        sources: list[Operand] = []
        results: list[Operand] = []
        for slot, operand in zip(row.slots, instruction.operands, strict=True):
            if slot.is_def:
                results.append(operand)
            if slot.is_use:
                sources.append(operand)
        return self.apply(instruction, sources, results)

    def apply(self, instruction: MachineInstruction, sources: Sequence[Operand], results: Sequence[Operand]) -> Any:
        """Emit the operation of an instruction on the given operands; for :meth:`commit`."""
        row = instruction.row
        values = self.values
        modifiers = self.modifiers(instruction)
        sources, results = list(sources), list(results)
        operation = find_operation(row.semantic, self.wave, self.generation)
        if operation is None:
            raise Unsupported(unsupported_message(row.mnemonic))
        mask_copy: Operand | None = None
        if operation.state_results == ("exec",) and not operation.results and results:
            # Up to gfx9, V_CMPX writes a scalar result besides EXEC.
            mask_copy, results = results[0], []
        if len(sources) != len(operation.inputs) or len(results) != len(operation.results):
            sources, results = _reconcile(instruction, operation, sources, results)
        sources = [
            Immediate(s.bits) if isinstance(s, Literal) and t == "i64" and not _sign_extends(instruction) else s
            for s, t in zip(sources, operation.inputs, strict=True)
        ]
        lanes = tuple(self.is_lane(s) for s in sources)
        input_halves = tuple(s.half if isinstance(s, Register) else None for s in sources)
        result_halves = tuple(r.half if isinstance(r, Register) else None for r in results)
        input_halves = tuple(
            0 if h is None and not lane and t in ("i16", "f16") and not isinstance(s, Register) else h
            for h, lane, t, s in zip(input_halves, lanes, operation.inputs, sources, strict=True)
        )
        template, operation, counts, state_count, masked, arguments, types = _template(
            row.semantic, self.generation, self.wave, self.mode, modifiers, lanes, input_halves, result_halves,
            self.hardware_fma,
        )  # fmt: skip
        self.declarations |= template.declarations
        typed = not any(n in ("src0_sel", "dst_sel") for n, _ in modifiers)
        wanted = {name for name, _ in arguments}
        pairs: list[tuple[str, str]] = []
        all_names = input_names(operation, self.wave)
        for type_, argument_names, source, lane in zip(operation.inputs, all_names, sources, lanes, strict=True):
            if type_ == "mask":
                pairs.append((argument_names[0], self.mask(source)))
                continue
            count = words_of(type_, self.wave)
            if lane:
                assert isinstance(source, Register)
                # Matrix operands of fewer registers belong to formats of fewer bits.
                short = source.units < count and "x" not in type_
                first = self.vector_index(Register(source.bank, source.index, count) if short else source)
                for k in range(count):
                    if argument_names[k] in wanted:
                        as_float = type_ == "f32" and typed
                        pairs.append((argument_names[k], values.read_vector(first + k, as_float)))
                continue
            for k in range(count):
                if argument_names[k] not in wanted:
                    continue
                word = self.scalar_word(source, k, type_)
                if type_ == "f32" and typed:
                    word = self._float_word(word)
                pairs.append((argument_names[k], word))
        if "exec" in wanted:
            pairs.append(("exec", values.read_exec()))
        if "vcc" in wanted:
            pairs.append(("vcc", values.read_vcc()))
        if "scc" in wanted:
            pairs.append(("scc", values.read_scc()))
        if "m0" in wanted:
            pairs.append(("m0", values.read_scalar(L.M0)))
        for index, result in enumerate(results):
            if f"old{index}" in wanted:
                assert isinstance(result, Register)
                pairs.append((f"old{index}", values.read_vector(self.vector_index(result))))
        self._serial += 1
        if template.size >= OUT_OF_LINE:
            produced = self._call_outlined(template, arguments, types, dict(pairs))
        else:
            text, produced = template.instantiate(f"i{self._serial}.", pairs)
            values.lines.append(text)
        return operation, results, counts, state_count, masked, produced, template.result_lane, typed, mask_copy

    def _call_outlined(
        self, template: Template, arguments: tuple[tuple[str, str], ...], types: tuple[str, ...], given: dict[str, str]
    ) -> list[str]:
        """Call the function that a large template has become; gives its results."""
        found = self._outlined.get(id(template))
        whole = f"{{ {', '.join(types)} }}"
        if found is None:
            name = f"@loom.operation.{len(self._outlined)}"
            found = self._outlined[id(template)] = template, name
            text, results = template.instantiate("x", [(n, f"%in.{n}") for n, _ in arguments])
            parameters = ", ".join(f"{type_} %in.{n}" for n, type_ in arguments)
            lines = [f"define internal {whole} {name}({parameters}) noinline #0 {{\n{text}"]
            last = "poison"
            for number, (type_, result) in enumerate(zip(types, results, strict=True)):
                lines.append(f"  %out.{number} = insertvalue {whole} {last}, {type_} {result}, {number}\n")
                last = f"%out.{number}"
            self.functions.append("".join([*lines, f"  ret {whole} {last}\n}}\n"]))
        values = ", ".join(f"{type_} {given[n]}" for n, type_ in arguments)
        called = self.values.emit(f"call {whole} {found[1]}({values})")
        return [self.values.emit(f"extractvalue {whole} {called}, {number}") for number in range(len(types))]

    def _float_word(self, word: str) -> str:
        if word.startswith("%"):
            return self.values.emit(f"bitcast i32 {word} to float")
        from loom.low.semantics.llvm_backend import constant_text

        return constant_text("f32", int(word) & 0xFFFFFFFF)

    def commit(self, computed: Any) -> None:
        """Write back what :meth:`compute` produced."""
        operation, results, counts, _, masked, produced, result_lane, typed, mask_copy = computed
        extra = None
        if masked:
            extra = produced[-1]
            if not result_lane[-1]:
                raise Unsupported("a write mask that is not lane-wise")
        produced = self._both_halves(results, produced, result_lane)
        position = 0
        for type_, count, result in zip(operation.results, counts, results, strict=True):
            words = produced[position : position + count]
            lanes = result_lane[position : position + count]
            position += count
            if type_ == "mask":
                self.write_mask(result, words[0])
            elif self.is_lane(result):
                first = self.vector_index(Register(result.bank, result.index, count, None))
                ignore_exec = operation.name == "v_writelane_b32" or operation.name.startswith(("v_mfma", "v_smfmac"))
                for k in range(count):
                    if ignore_exec:
                        self.values.write_vector(first + k, words[k])
                        continue
                    self.write_vector_word(first + k, words[k], type_ == "f32" and typed, lanes[k], extra)
            else:
                if type_ == "f32" and typed:
                    words = [self.values.emit(f"bitcast float {w} to i32") if w.startswith("%") else w for w in words]
                self.write_scalar_words(result, words)
        for k, name in enumerate(operation.state_results):
            value = produced[position + k]
            if name == "scc":
                self.values.write_scc(value)
            elif name == "exec":
                if mask_copy is not None:
                    self.write_mask(mask_copy, value)
                self.write_exec(value)
            elif name == "vcc":
                self.write_mask(Register("vcc", 0, 2), value)

    def _both_halves(self, results: list[Any], produced: list[str], lanes: Any) -> list[str]:
        """Results in the two halves of one register (a swap of them) as one word, written twice."""
        halves = [r.half for r in results if isinstance(r, Register)]
        if len(results) != 2 or sorted(h for h in halves if h is not None) != [0, 1] or not (lanes[0] and lanes[1]):
            return produced
        if results[0].index != results[1].index:
            return produced
        vector = self.values.vector
        parts = [
            self.values.emit(f"and {vector} {word}, splat (i32 {65535 if half == 0 else -65536})")
            for word, half in zip(produced, halves, strict=False)
        ]
        both = self.values.emit(f"or {vector} {parts[0]}, {parts[1]}")
        return [both, both, *produced[2:]]

    def write_exec(self, value: str) -> None:
        """Set EXEC from an integer of the wave's width."""
        if self.wave == 32:
            self.values.write_scalar(L.EXEC, value)
        else:
            self.values.write_pair(L.EXEC, value)


class Unallocated(Exception):
    """A register beyond what the kernel allocates."""

    def __init__(self, register: Register, count: int) -> None:
        self.register = register
        self.count = count
        super().__init__(f"{register} lies beyond the {count} registers that the kernel allocates")


def _reconcile(
    instruction: MachineInstruction, operation: Operation, sources: list[Operand], results: list[Operand]
) -> tuple[list[Operand], list[Operand]]:
    """Fit slots to the signature where a table row and the operation count operands differently."""
    if len(results) > len(operation.results):
        results = results[: len(operation.results)]
    if operation.inputs[-1:] == ("mask",) and len(sources) + 1 == len(operation.inputs):
        # The dual-issue form of a conditional move reads VCC without naming it.
        sources = [*sources, Register("vcc", 0, 2)]
    if len(sources) > len(operation.inputs):
        # Trailing immediates that the operation takes as modifiers, if at all.
        sources = sources[: len(operation.inputs)]
    if len(sources) < len(operation.inputs) and results and len(sources) + 1 == len(operation.inputs):
        # The old destination is an input of the operation, but the row calls the slot a pure result.
        sources = [results[0], *sources]
    if len(sources) != len(operation.inputs) or len(results) != len(operation.results):
        raise Unsupported(
            f"'{instruction.mnemonic}' has {len(sources)} sources and {len(results)} results, its operation "
            f"{len(operation.inputs)} and {len(operation.results)}"
        )
    return sources, results


def _signed_text(value: int, bits: int = 32) -> str:
    return str(value - (1 << bits) if value >> (bits - 1) else value)


def _sign_extends(instruction: MachineInstruction) -> bool:
    """Whether a literal of 32 bits is signed as an operand of 64 bits; others are zero-extended (``s_mov_b64``).

    Source: LLVM's SIInstrInfo (``isOperandLegal``, the expansion of ``S_MOV_B64_IMM_PSEUDO``).
    """
    return any(
        slot.type == "i64" and isinstance(operand, Literal)
        for slot, operand in zip(instruction.row.slots, instruction.operands, strict=True)
    )


def constant_word(operand: Operand, word: int, kind: str) -> int:
    """A 32-bit word of a constant operand, as a source of signature type ``kind`` reads it."""
    if isinstance(operand, Inline):
        wide = kind in ("i64", "f64", "b64")
        type_ = {"i64": "b64", "v2f16": "f16", "v2i16": "b32"}.get(kind, kind)
        if "x" in kind or kind in ("mask", "v2f32"):
            type_ = "f32"
        if kind == "v2f16":
            # A packed source reads the constant in its low half (op_sel_hi picks zero bits above).
            return operand.bits("f16") if word == 0 else 0
        if kind == "i16":
            type_ = "b16"
        bits = operand.bits(type_)
        if not wide and kind != "mask" and isinstance(operand.value, int) and operand.value < 0 and type_[-2:] == "16":
            return bits & 0xFFFF
        if kind == "mask" and word == 1:
            return 0xFFFFFFFF if isinstance(operand.value, int) and operand.value < 0 else 0
        return (bits >> (32 * word)) & 0xFFFFFFFF if wide else bits & 0xFFFFFFFF
    if isinstance(operand, Literal):
        if kind == "f64":
            return operand.bits if word == 1 else 0
        if kind == "i64" and word == 1:
            return 0xFFFFFFFF if operand.bits >> 31 else 0
        return operand.bits if word == 0 else 0
    if isinstance(operand, Immediate):
        return (operand.value >> (32 * word)) & 0xFFFFFFFF
    raise Unsupported(f"operand {operand}")
