"""Random machine IR for gfx942 and gfx950 whose instructions depend on one another in every way that needs wait states."""

from __future__ import annotations

import random
import re

from loom.target.amdgpu.instruction import InstructionRow
from loom.target.amdgpu.tables import table
from tests.target.amdgpu.simulator.mir import function, registers

_EXEC = "implicit $exec"
_FLOAT = "implicit $mode, implicit $exec"
SLOTS = range(0, 64, 16)
"""Where results of matrix operations begin: in each slot those of one width, so that they never overlap in part."""
SMALL = range(64, 72)
"""Results of vector instructions; vector instructions also write and read the slots, matrix operations read these."""
DOTS = range(80, 84)
"""Results of dot products. LLVM takes them for writes of a half register, too, which matrix operations would wait for."""
LOADED = 90


def matrix_opcode(mnemonic: str) -> str:
    """LLVM's name of a matrix operation with results in VGPRs (f8f6f4: the form with 8-bit sources)."""
    name = re.sub(r"_\d+B_", "_", mnemonic.upper())
    match = re.fullmatch(r"(V_S?MFMAC?_(?:SCALE_)?[A-Z0-9]+_\d+X\d+X\d+)_(.*)", name)
    assert match is not None, mnemonic
    shape, source = match[1], match[2]
    if name.startswith("V_SMFMAC"):
        return f"{shape}_{source}_e64"
    depth = int(shape.rpartition("X")[2])
    rows = int(re.search(r"_(\d+)X", shape)[1])  # type: ignore[index]
    # Operations that gfx950 adds are twice as deep and spelled with an underscore.
    new = source in ("F16", "BF16", "I8") and (rows, depth) in {(16, 32), (32, 16)} and source != "I8"
    new = new or (source == "I8" and (rows, depth) in {(16, 64), (32, 32)})
    if source == "F8F6F4":
        return f"{shape}_F8F6F4_f8_f8_vgprcd_e64"
    if new or source.count("8") == 2:
        return f"{shape}_{source}_vgprcd_e64"
    return f"{shape}{source}{'_1K' if source == 'BF16' else ''}_vgprcd_e64"


def matrix(
    row: InstructionRow, d: int, a: int, b: int, c: int, codes: tuple[int, int] = (0, 0), bank: str = "vgpr"
) -> str:
    """Machine IR of a matrix operation; a sparse one adds to ``d`` and takes its index from ``c``. Result and addend
    are in ``bank``."""
    units = {slot.name: slot.units for slot in row.slots}
    result = registers(bank, d, units["vdst"])
    sources = f"{registers('vgpr', a, units['src0'])}, {registers('vgpr', b, units['src1'])}"
    code = matrix_opcode(row.mnemonic).replace("_vgprcd", "" if bank == "agpr" else "_vgprcd")
    if row.mnemonic.startswith("v_smfmac"):
        return f"{result} = {code} {sources}, $vgpr{c}, 0, 0, {result}, {_FLOAT}"
    adds = registers(bank, c, units["src2"])
    if "f8f6f4" not in row.mnemonic:
        return f"{result} = {code} {sources}, {adds}, 0, 0, 0, {_FLOAT}"
    scales = ", $vgpr200, $vgpr201, 0, 0" if "scale" in row.mnemonic else ""
    return f"{result} = {code} {sources}, {adds}, {codes[0]}, {codes[1]}{scales}, {_FLOAT}"


def matrix_rows(processor: str) -> list[InstructionRow]:
    """Every matrix operation of a processor."""
    return [
        row
        for row in table("gfx9.4").rows()
        if row.mnemonic.startswith(("v_mfma", "v_smfmac")) and processor in row.processors
    ]


class _Maker:
    """Makes single instructions."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def v(self, units: int = 1) -> str:
        """A VGPR tuple that a vector or memory instruction reads, or a vector instruction writes."""
        if self.rng.random() < 0.3:
            return registers("vgpr", self.rng.choice(SMALL[:: max(2, units) if units > 1 else 1]), units)
        return registers("vgpr", self.rng.choice(SLOTS) + self.rng.randrange(0, 17 - units, min(2, units)), units)

    def read(self) -> str:
        """A VGPR that a vector instruction reads."""
        return f"$vgpr{self.rng.choice(DOTS)}" if self.rng.random() < 0.2 else self.v()

    def s(self) -> str:
        return f"$sgpr{self.rng.randrange(8, 12)}"

    def pair(self) -> str:
        return registers("sgpr", self.rng.choice((8, 10)), 2)

    def vector(self) -> str:
        v, r, s, pair, rng = self.v, self.read, self.s, self.pair, self.rng
        dot = f"$vgpr{rng.choice(DOTS)}"
        register = rng.choice((2049, 2050, 2177))
        return rng.choice((
            lambda: f"{v()} = V_MOV_B32_e32 {r()}, {_EXEC}",
            lambda: f"{v()} = V_ADD_F32_e32 {r()}, {r()}, {_FLOAT}",
            lambda: f"{v()} = V_ADD_U32_e32 {s()}, {r()}, {_EXEC}",
            lambda: f"{v()} = V_EXP_F32_e32 {r()}, {_FLOAT}",
            lambda: f"{v(2)} = V_FMA_F64_e64 0, {v(2)}, 0, {v(2)}, 0, {v(2)}, 0, 0, {_FLOAT}",
            lambda: f"{dot} = V_DOT2_F32_F16 0, {r()}, 0, {r()}, 0, {r()}, 0, 0, 0, 0, 0, {_FLOAT}",
            lambda: f"{dot} = V_DOT4_I32_I8 8, {r()}, 8, {r()}, 8, {r()}, 0, 0, 0, {_EXEC}",
            lambda: f"{s()} = V_READFIRSTLANE_B32 {r()}, {_EXEC}",
            lambda: f"{s()} = V_READLANE_B32 {r()}, {s()}",
            lambda: f"{pair()} = V_CMP_GT_U32_e64 {r()}, {r()}, {_EXEC}",
            lambda: f"V_CMP_GT_U32_e32 {r()}, {r()}, implicit-def $vcc, {_EXEC}",
            lambda: f"{v()} = V_CNDMASK_B32_e64 0, {r()}, 0, {r()}, {pair()}, {_EXEC}",
            lambda: f"{v()} = V_DIV_FMAS_F32_e64 0, {r()}, 0, {r()}, 0, {r()}, 0, 0, implicit $mode, implicit $vcc, {_EXEC}",
            lambda: f"{v()} = V_MAD_F16_gfx9_e64 {rng.choice((0, 8))}, {r()}, 0, {r()}, 0, {r()}, 0, 0, 0, {_FLOAT}",
            lambda: f"{v()} = V_ACCVGPR_READ_B32_e64 $agpr{rng.randrange(64)}, {_EXEC}",
            lambda: f"$agpr{rng.randrange(64)} = V_ACCVGPR_WRITE_B32_e64 {r()}, {_EXEC}",
            lambda: f"$m0 = S_MOV_B32 {s()}",
            lambda: "S_SENDMSG 1, implicit $exec, implicit $m0",
            lambda: f"S_SETREG_B32 {s()}, {register}, implicit-def $mode, implicit $mode",
            lambda: f"$sgpr16 = S_GETREG_B32 {register}, implicit $mode",
            lambda: "S_BARRIER",
            lambda: f"$sgpr16 = S_ADD_I32 {s()}, {s()}, implicit-def $scc",
        ))()  # fmt: skip

    def memory(self) -> str:
        v = self.v
        return self.rng.choice((
            lambda: f"GLOBAL_STORE_DWORD {v(2)}, {v()}, 0, 0, {_EXEC}",
            lambda: f"GLOBAL_STORE_DWORDX4 {v(2)}, {v(4)}, 0, 0, {_EXEC}",
            lambda: f"GLOBAL_STORE_DWORDX4_SADDR {v()}, {v(4)}, $sgpr8_sgpr9, 0, 0, {_EXEC}",
            lambda: f"DS_WRITE_B32_gfx9 {v()}, {v()}, 0, 0, {_EXEC}",
            lambda: f"GLOBAL_STORE_DWORDX2 {v(2)}, {registers('agpr', self.rng.randrange(0, 64, 2), 2)}, 0, 0, {_EXEC}",
            lambda: f"$vgpr{LOADED} = GLOBAL_LOAD_DWORD {v(2)}, 0, 0, {_EXEC}",
            lambda: f"BUFFER_STORE_DWORDX4_OFFEN_exact {v(4)}, {v()}, $sgpr8_sgpr9_sgpr10_sgpr11, 0, 0, 0, 0, {_EXEC}",
        ))()  # fmt: skip

    def lanes(self) -> str:
        """A vector write of EXEC, or a lane write. Such functions have no memory instructions: before these LLVM waits
        for EXEC as for any scalar register."""
        target = self.v()
        return self.rng.choice((
            f"V_CMPX_GT_U32_e32 {self.v()}, {self.v()}, implicit-def $exec, implicit-def $vcc, {_EXEC}",
            f"{target} = V_WRITELANE_B32 5, {self.s()}, {target}",
        ))  # fmt: skip


def random_function(name: str, rng: random.Random, processor: str, length: int) -> str:
    """A function of one to three blocks in a row. No loops: where paths meet, LLVM 22 takes the passes of the matrix
    operation that it looked at last for those of the nearest one."""
    rows = [row for row in matrix_rows(processor) if row.slots[0].units <= 16]
    maker = _Maker(rng)
    lanes = rng.random() < 0.25
    bank = rng.choice(("vgpr", "vgpr", "agpr"))
    widths = {slot: rng.choice((2, 4, 4, 8, 16, 16)) for slot in SLOTS}

    def source(units: int) -> int:
        if rng.random() < 0.3 and units <= 4:
            return rng.choice(SMALL[:: max(2, units)])
        return rng.choice(SLOTS) + rng.randrange(0, 17 - units, 2)

    def one_matrix() -> str:
        row = rng.choice(rows)
        units = {slot.name: slot.units for slot in row.slots}
        places = [slot for slot, width in widths.items() if width == units["vdst"]]
        if not places:
            return maker.vector()
        d = rng.choice(places)
        c = d if rng.random() < 0.5 else source(units["src2"])
        a, b = source(units["src0"]), source(units["src1"])
        if bank == "agpr" and not row.mnemonic.startswith("v_smfmac"):
            c = rng.choice(places)
        return matrix(row, d, a, b, c, (rng.randrange(2), rng.randrange(2)), bank)

    def one() -> str:
        kind = rng.random()
        if kind < 0.4:
            return one_matrix()
        if kind < 0.55:
            return maker.lanes() if lanes else maker.memory()
        return maker.vector()

    return function(name, [[one() for _ in range(rng.randrange(1, length))] for _ in range(rng.choice((1, 2, 3)))])
