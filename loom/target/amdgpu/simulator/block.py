"""Registers as SSA values within one basic block: reads load once, writes stay values until the block ends.

``BlockValues`` holds, for the block being emitted, the current name of every vector register (as ``i32`` and as
``f32`` words), every
scalar register (as words and as pairs), SCC and the execution mask as a vector of ``i1``.
"""

from __future__ import annotations

from loom.target.amdgpu.simulator import layout as L


class BlockValues:
    """The cache of one block. ``lines`` receives IR text; ``fresh`` makes unique names."""

    def __init__(self, lines: list[str], wave: int, full_exec: bool) -> None:
        self.lines = lines
        self.wave = wave
        self.vector = f"<{wave} x i32>"
        self.float_vector = f"<{wave} x float>"
        self.full_exec = full_exec
        self._count = 0
        self.prefix = ""
        self.reset(full_exec)

    def reset(self, full_exec: bool) -> None:
        """Start a block: nothing is known but whether EXEC has all bits set."""
        self.words: dict[int, str] = {}
        self.floats: dict[int, str] = {}
        self.dirty_vectors: set[int] = set()
        self.scalars: dict[int, str] = {}
        self.pairs: dict[int, str] = {}
        self.dirty_scalars: set[int] = set()
        self.scc: str | None = None
        self.dirty_scc = False
        self.exec_lanes: str | None = None
        self.full_exec = full_exec
        self._pointers: dict[int, str] = {}

    def fresh(self) -> str:
        """A new SSA name."""
        self._count += 1
        return f"%{self.prefix}t{self._count}"

    def emit(self, text: str) -> str:
        """Append an instruction that yields a value; gives its name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}\n")
        return name

    def pointer(self, offset: int) -> str:
        """The address of a state-block field."""
        found = self._pointers.get(offset)
        if found is None:
            found = self.emit(f"getelementptr i8, ptr %st, i64 {offset}")
            self._pointers[offset] = found
        return found

    def forget_registers(self) -> None:
        """Everything is in memory (after :meth:`flush`) and may change there: read it again."""
        self.words, self.floats, self.scalars, self.pairs = {}, {}, {}, {}
        self.scc = None
        self.exec_lanes = None

    # Vector registers

    def vector_offset(self, index: int) -> int:
        """Offset of a vector register in the state block."""
        return L.VGPRS + index * self.wave * 4

    def read_vector(self, index: int, as_float: bool = False) -> str:
        """The register's current value, ``<wave x i32>`` or ``<wave x float>``."""
        table, other = (self.floats, self.words) if as_float else (self.words, self.floats)
        kind, source = (self.float_vector, self.vector) if as_float else (self.vector, self.float_vector)
        found = table.get(index)
        if found is None:
            known = other.get(index)
            if known is not None:
                found = self.emit(f"bitcast {source} {known} to {kind}")
            else:
                found = self.emit(f"load {kind}, ptr {self.pointer(self.vector_offset(index))}, align 64")
            table[index] = found
        return found

    def write_vector(self, index: int, value: str, as_float: bool = False) -> None:
        """Set the register in all lanes (masking is the caller's)."""
        self.words.pop(index, None)
        self.floats.pop(index, None)
        (self.floats if as_float else self.words)[index] = value
        self.dirty_vectors.add(index)

    def drop_vector(self, index: int) -> None:
        """The register changed in memory."""
        self.words.pop(index, None)
        self.floats.pop(index, None)
        self.dirty_vectors.discard(index)

    def store_vector(self, index: int) -> None:
        """Bring memory up to date for one register."""
        if index in self.dirty_vectors:
            found = self.words.get(index)
            kind = self.vector
            if found is None:
                found, kind = self.floats[index], self.float_vector
            self.lines.append(f"  store {kind} {found}, ptr {self.pointer(self.vector_offset(index))}, align 64\n")
            self.dirty_vectors.discard(index)

    # Scalar registers

    def read_scalar(self, index: int) -> str:
        """A scalar register as ``i32``."""
        found = self.scalars.get(index)
        if found is not None:
            return found
        pair = self.pairs.get(index & ~1)
        if pair is not None:
            if index & 1:
                shifted = self.emit(f"lshr i64 {pair}, 32")
                found = self.emit(f"trunc i64 {shifted} to i32")
            else:
                found = self.emit(f"trunc i64 {pair} to i32")
        else:
            found = self.emit(f"load i32, ptr {self.pointer(L.SGPRS + 4 * index)}")
        self.scalars[index] = found
        return found

    def read_pair(self, index: int) -> str:
        """Two scalar registers as ``i64``."""
        if index & 1:
            return self._join(self.read_scalar(index), self.read_scalar(index + 1))
        found = self.pairs.get(index)
        if found is None:
            if index in self.scalars or index + 1 in self.scalars or {index, index + 1} & self.dirty_scalars:
                found = self._join(self.read_scalar(index), self.read_scalar(index + 1))
            else:
                found = self.emit(f"load i64, ptr {self.pointer(L.SGPRS + 4 * index)}, align 4")
            self.pairs[index] = found
        return found

    def _join(self, low: str, high: str) -> str:
        a = self.emit(f"zext i32 {low} to i64")
        b = self.emit(f"zext i32 {high} to i64")
        c = self.emit(f"shl i64 {b}, 32")
        return self.emit(f"or i64 {a}, {c}")

    def write_scalar(self, index: int, value: str) -> None:
        """Set a scalar register."""
        pair = index & ~1
        if pair in self.pairs:
            # Keep the other half.
            self.read_scalar(index ^ 1)
            del self.pairs[pair]
        self.scalars[index] = value
        self.dirty_scalars.add(index)
        if index in (L.EXEC, L.EXEC + 1):
            self.exec_lanes = None
            self.full_exec = self.wave == 32 and index == L.EXEC and value == "-1"

    def write_pair(self, index: int, value: str) -> None:
        """Set two scalar registers from an ``i64``."""
        if index & 1:
            low = self.emit(f"trunc i64 {value} to i32")
            shifted = self.emit(f"lshr i64 {value}, 32")
            self.write_scalar(index, low)
            self.write_scalar(index + 1, self.emit(f"trunc i64 {shifted} to i32"))
            return
        self.scalars.pop(index, None)
        self.scalars.pop(index + 1, None)
        self.pairs[index] = value
        self.dirty_scalars.update((index, index + 1))
        if index == L.EXEC:
            self.exec_lanes = None
            self.full_exec = value == "-1"

    def drop_scalar(self, index: int) -> None:
        """The register changed in memory."""
        pair = index & ~1
        if pair in self.pairs:
            if (index ^ 1) in self.dirty_scalars:
                self.read_scalar(index ^ 1)
            del self.pairs[pair]
        self.scalars.pop(index, None)
        self.dirty_scalars.discard(index)

    # Masks

    def read_exec(self) -> str:
        """EXEC as an integer of the wave's width."""
        if self.full_exec:
            return "-1"
        return self.read_scalar(L.EXEC) if self.wave == 32 else self.read_pair(L.EXEC)

    def read_exec_lanes(self) -> str:
        """EXEC as ``<wave x i1>``."""
        if self.exec_lanes is None:
            self.exec_lanes = self.emit(f"bitcast i{self.wave} {self.read_exec()} to <{self.wave} x i1>")
        return self.exec_lanes

    def read_vcc(self) -> str:
        """VCC as an integer of the wave's width."""
        return self.read_scalar(L.VCC) if self.wave == 32 else self.read_pair(L.VCC)

    def read_scc(self) -> str:
        """SCC as ``i1``."""
        if self.scc is None:
            value = self.emit(f"load i32, ptr {self.pointer(L.SCC)}")
            self.scc = self.emit(f"trunc i32 {value} to i1")
        return self.scc

    def write_scc(self, value: str) -> None:
        """Set SCC from an ``i1``."""
        self.scc = value
        self.dirty_scc = True

    def flush(self) -> None:
        """Bring the state block up to date with everything the block has written."""
        for index in sorted(self.dirty_vectors):
            self.store_vector(index)
        done: set[int] = set()
        for index in sorted(self.dirty_scalars):
            if index in done:
                continue
            pair = index & ~1
            if pair in self.pairs and {pair, pair + 1} <= self.dirty_scalars:
                self.lines.append(f"  store i64 {self.pairs[pair]}, ptr {self.pointer(L.SGPRS + 4 * pair)}, align 4\n")
                done.update((pair, pair + 1))
                continue
            self.lines.append(f"  store i32 {self.read_scalar(index)}, ptr {self.pointer(L.SGPRS + 4 * index)}\n")
        self.dirty_scalars.clear()
        if self.dirty_scc:
            value = self.emit(f"zext i1 {self.scc} to i32")
            self.lines.append(f"  store i32 {value}, ptr {self.pointer(L.SCC)}\n")
            self.dirty_scc = False
