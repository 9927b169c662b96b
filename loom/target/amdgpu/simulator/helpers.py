"""Out-of-line memory helpers as LLVM IR text: one function for each access, space and wave size.

Every helper takes a 64-bit base and 32-bit offsets a lane (the form of a scalar base with vector offset); a second
entry point with
64-bit addresses splits them into that form. A helper looks first for the contiguous case (one masked vector access),
then for one
buffer that holds all lanes (a masked gather or scatter), and walks the lanes only for what is left. A fault is
recorded in the state
block, its lanes are skipped, and the code that called looks at the end of its block.
"""

from __future__ import annotations

from dataclasses import dataclass

from loom.low.semantics.expression import arg, const
from loom.low.semantics.llvm_backend import compile_template
from loom.low.semantics.memory import MemoryOperation, memory_operation
from loom.low.semantics.operation import Context, Mode
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.format_helpers import format_signature, format_text
from loom.target.amdgpu.simulator.lds_load import lds_load_signature, lds_load_text
from loom.target.amdgpu.simulator.runtime import vector


@dataclass(frozen=True, slots=True)
class Helper:
    """One helper: access ``suffix`` (``load_b32``), ``space`` (``global``, ``lds``, ``scratch``; ``format.`` and the
    generation for typed buffers, ``tolds`` for loads from memory into LDS), wave size, what it returns.
    """

    space: str
    suffix: str
    wave: int
    wide: bool  # 64-bit addresses
    returning: bool = False
    flush32: bool = False
    flush64: bool = False
    race: bool = False

    @property
    def name(self) -> str:
        """The function's name."""
        flags = "".join(
            f for f, on in (("w", self.wide), ("r", self.returning), ("f", self.flush32), ("h", self.flush64),
                            ("s", self.race)) if on
        )  # fmt: skip
        return f"loom.{self.space}.{self.suffix}.{self.wave}.{flags}"


def lanes_constant(wave: int, scale: int) -> str:
    """The constant vector ``lane * scale``."""
    return "<" + ", ".join(f"i32 {i * scale}" for i in range(wave)) + ">"


def data_words(operation: MemoryOperation) -> int:
    """Vector arguments of a store or atomic: words of the data, then words of the comparison value."""
    return operation.words * (2 if operation.compares else 1)


def signature(helper: Helper) -> str:
    """Return type, name and parameter types, for a declaration."""
    if helper.space.startswith("format."):
        return format_signature(helper.name, helper.wave)
    if helper.space == "tolds":
        return lds_load_signature(helper.name, helper.wave)
    operation = operation_of(helper)
    v, m = vector(helper.wave), f"i{helper.wave}"
    address = f"{vector(helper.wave, 'i64')}" if helper.wide else f"i64, {v}"
    parameters = f"ptr, {address}, {m}, i32"
    if operation.kind == "load" or helper.returning:
        parameters += ", ptr"
    if operation.kind != "load":
        parameters += f", {v}" * data_words(operation)
    return f"void @{helper.name}({parameters})"


def operation_of(helper: Helper) -> MemoryOperation:
    """The memory operation that a helper performs on one address."""
    found = memory_operation(f"{'ds' if helper.space == 'lds' else helper.space}_{helper.suffix}")
    if found is None:
        raise KeyError(helper.suffix)
    return found


def helper_text(helper: Helper, hardware_fma: bool) -> str:
    """The definition of a helper."""
    if helper.space.startswith("format."):
        return format_text(helper.name, helper.suffix, helper.wave, helper.space.partition(".")[2])
    if helper.space == "tolds":
        return lds_load_text(helper.name, helper.suffix, helper.wave, helper.race)
    return _wide_text(helper) if helper.wide else _Body(helper, hardware_fma).text()


def _wide_text(helper: Helper) -> str:
    """64-bit addresses: take the first active lane's off; where all lanes are within 2 GiB, use the 32-bit form."""
    narrow = Helper(
        helper.space, helper.suffix, helper.wave, False, helper.returning, helper.flush32, helper.flush64, helper.race
    )
    operation = operation_of(helper)
    w, v, m = helper.wave, vector(helper.wave), f"i{helper.wave}"
    v64 = vector(w, "i64")
    extra_parameters = ""
    extra = ""
    if operation.kind == "load" or helper.returning:
        extra_parameters += ", ptr %to"
        extra += ", ptr %to"
    if operation.kind != "load":
        for k in range(data_words(operation)):
            extra_parameters += f", {v} %d{k}"
            extra += f", {v} %d{k}"
    return f"""
define void @{helper.name}(ptr %st, {v64} %address, {m} %mask, i32 %site{extra_parameters}) {{
entry:
  %none = icmp eq {m} %mask, 0
  br i1 %none, label %done, label %start
start:
  %first = call {m} @llvm.cttz.{m}({m} %mask, i1 true)
  %a0 = extractelement {v64} %address, {m} %first
  %base = sub i64 %a0, 2147483648
  %bi = insertelement {v64} poison, i64 %base, i64 0
  %bs = shufflevector {v64} %bi, {v64} poison, <{w} x i32> zeroinitializer
  %rel = sub {v64} %address, %bs
  %near = icmp ult {v64} %rel, splat (i64 4294967296)
  %nearbits = bitcast <{w} x i1> %near to {m}
  %notnear = xor {m} %nearbits, -1
  %far = and {m} %mask, %notnear
  %off = trunc {v64} %rel to {v}
  %allnear = icmp eq {m} %far, 0
  br i1 %allnear, label %fast, label %loop
fast:
  call void @{narrow.name}(ptr %st, i64 %base, {v} %off, {m} %mask, i32 %site{extra})
  br label %done
loop:
  %left = phi {m} [ %mask, %start ], [ %rest, %loop ]
  %lane = call {m} @llvm.cttz.{m}({m} %left, i1 true)
  %bit = shl {m} 1, %lane
  %al = extractelement {v64} %address, {m} %lane
  call void @{narrow.name}(ptr %st, i64 %al, {v} zeroinitializer, {m} %bit, i32 %site{extra})
  %less = sub {m} %left, 1
  %rest = and {m} %left, %less
  %more = icmp ne {m} %rest, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}}
declare {m} @llvm.cttz.{m}({m}, i1)
"""


class _Body:
    """Builds the text of a helper with 32-bit offsets."""

    def __init__(self, helper: Helper, hardware_fma: bool) -> None:
        self.helper = helper
        self.operation = operation_of(helper)
        self.hardware_fma = hardware_fma
        self.wave = helper.wave
        self.v = vector(helper.wave)
        self.m = f"i{helper.wave}"
        self.declarations: set[str] = set()

    def text(self) -> str:
        operation, v, m, w = self.operation, self.v, self.m, self.wave
        size = operation.bytes
        parameters = f"ptr %st, i64 %base, {v} %off, {m} %mask, i32 %site"
        if operation.kind == "load" or self.helper.returning:
            parameters += ", ptr %to"
        if operation.kind != "load":
            parameters += "".join(f", {v} %d{k}" for k in range(data_words(operation)))
        fault = {"global": L.FAULT_OUT_OF_BOUNDS, "lds": L.FAULT_LDS, "scratch": L.FAULT_SCRATCH}[self.helper.space]
        kind = {"load": 0, "store": 1, "atomic": 2}[operation.kind]
        race = (
            f"  call void @loom.race(ptr %st, i64 %base, {v} %off, {m} %mask, i32 {size}, i32 {kind}, i32 %site)\n"
            if self.helper.race
            else ""
        )
        head = f"""
define void @{self.helper.name}({parameters}) {{
entry:
  call void @loom.count(ptr %st, {m} %mask, i32 %site)
{race}  %none = icmp eq {m} %mask, 0
  br i1 %none, label %done, label %start
start:
  %first = call {m} @llvm.cttz.{m}({m} %mask, i1 true)
  %o0 = extractelement {v} %off, {m} %first
  %o064 = zext i32 %o0 to i64
  %lanes = bitcast {m} %mask to <{w} x i1>
"""
        body = ""
        vectorized = operation.kind != "atomic" and size in (4, 8, 12, 16)
        if vectorized:
            body += self._contiguous(size)
            body += self._spread(size)
        else:
            body += "  br label %walk\n"
        body += self._walk(size, fault)
        body += "done:\n  ret void\n}\n"
        body += f"declare {m} @llvm.cttz.{m}({m}, i1)\n" + "".join(f"{d}\n" for d in sorted(self.declarations))
        return head + body

    def _splat(self, name: str, value: str) -> str:
        v, w = self.v, self.wave
        return (
            f"  %{name}.i = insertelement {v} poison, i32 {value}, i64 0\n"
            f"  %{name} = shufflevector {v} %{name}.i, {v} poison, <{w} x i32> zeroinitializer\n"
        )

    def _contiguous(self, size: int) -> str:
        v, m, w, words = self.v, self.m, self.wave, self.operation.words
        load = self.operation.kind == "load"
        first32 = "%first" if w == 32 else "%first32"
        text = "" if w == 32 else "  %first32 = trunc i64 %first to i32\n"
        text += f"  %fs = mul i32 {first32}, {size}\n  %start32 = sub i32 %o0, %fs\n"
        text += self._splat("startv", "%start32")
        text += f"  %expected = add {v} %startv, {lanes_constant(w, size)}\n"
        text += f"  %eq = icmp eq {v} %off, %expected\n"
        text += f"  %eqbits = bitcast <{w} x i1> %eq to {m}\n  %neq = xor {m} %eqbits, -1\n"
        text += f"  %odd = and {m} %mask, %neq\n  %linear = icmp eq {m} %odd, 0\n"
        if words > 1:
            text += f"  %full = icmp eq {m} %mask, -1\n  %try = and i1 %linear, %full\n"
        else:
            text += "  %try = and i1 %linear, true\n"
        text += "  br i1 %try, label %line, label %spread\nline:\n"
        text += f"  %zeros = call {m} @llvm.ctlz.{m}({m} %mask, i1 true)\n  %last = sub {m} {w - 1}, %zeros\n"
        text += f"  %count = sub {m} %last, %first\n"
        text += "  %count64 = zext i32 %count to i64\n" if w == 32 else "  %count64 = add i64 %count, 0\n"
        text += f"  %span0 = mul i64 %count64, {size}\n  %span = add i64 %span0, {size}\n"
        text += "  %top = add i64 %o064, %span\n  %nowrap = icmp ule i64 %top, 4294967296\n"
        text += "  %lo = add i64 %base, %o064\n  %hi = add i64 %lo, %span\n"
        text += f"  %inside = call i1 @loom.bounds.{self.helper.space}(ptr %st, i64 %lo, i64 %hi, i32 %site)\n"
        text += "  %go = and i1 %inside, %nowrap\n  br i1 %go, label %move, label %spread\nmove:\n"
        self.declarations.add(f"declare {m} @llvm.ctlz.{m}({m}, i1)")
        if words == 1:
            text += "  %fs64 = zext i32 %fs to i64\n  %at = sub i64 %lo, %fs64\n  %p = inttoptr i64 %at to ptr\n"
            if load:
                self._masked("load")
                self._masked("store")
                text += f"  %x = call {v} @llvm.masked.load.v{w}i32.p0(ptr align 1 %p, <{w} x i1> %lanes, {v} poison)\n"
                text += f"  call void @llvm.masked.store.v{w}i32.p0({v} %x, ptr align 64 %to, <{w} x i1> %lanes)\n"
            else:
                self._masked("store")
                text += f"  call void @llvm.masked.store.v{w}i32.p0({v} %d0, ptr align 1 %p, <{w} x i1> %lanes)\n"
            return text + "  br label %done\n"
        total = w * words
        text += "  %p = inttoptr i64 %lo to ptr\n"
        if load:
            text += f"  %x = load <{total} x i32>, ptr %p, align 1\n"
            for k in range(words):
                picks = ", ".join(f"i32 {i * words + k}" for i in range(w))
                text += f"  %x{k} = shufflevector <{total} x i32> %x, <{total} x i32> poison, <{w} x i32> <{picks}>\n"
                text += f"  %tp{k} = getelementptr i8, ptr %to, i64 {k * w * 4}\n"
                text += f"  store {v} %x{k}, ptr %tp{k}, align 64\n"
        else:
            joined = "%d0"
            width = w
            # Join the words pairwise, then interleave with one shuffle.
            pieces = [f"%d{k}" for k in range(words)]
            while len(pieces) & (len(pieces) - 1):
                pieces.append("poison")
            level = 0
            while len(pieces) > 1:
                merged = []
                both = ", ".join(f"i32 {i}" for i in range(2 * width))
                for i in range(0, len(pieces), 2):
                    name = f"%j{level}.{i}"
                    text += (
                        f"  {name} = shufflevector <{width} x i32> {pieces[i]}, <{width} x i32> {pieces[i + 1]}, "
                        f"<{2 * width} x i32> <{both}>\n"
                    )
                    merged.append(name)
                pieces, width, level = merged, 2 * width, level + 1
            joined = pieces[0]
            picks = ", ".join(f"i32 {k * w + i}" for i in range(w) for k in range(words))
            text += (
                f"  %all = shufflevector <{width} x i32> {joined}, <{width} x i32> poison, <{total} x i32> <{picks}>\n"
                f"  store <{total} x i32> %all, ptr %p, align 1\n"
            )
        return text + "  br label %done\n"

    def _masked(self, kind: str) -> None:
        v, w = self.v, self.wave
        if kind == "load":
            self.declarations.add(f"declare {v} @llvm.masked.load.v{w}i32.p0(ptr, <{w} x i1>, {v})")
        else:
            self.declarations.add(f"declare void @llvm.masked.store.v{w}i32.p0({v}, ptr, <{w} x i1>)")

    def _spread(self, size: int) -> str:
        """All active lanes within one buffer: gather or scatter."""
        v, w, words = self.v, self.wave, self.operation.words
        load = self.operation.kind == "load"
        text = "spread:\n"
        text += f"  %sel0 = select <{w} x i1> %lanes, {v} %off, {v} splat (i32 -1)\n"
        text += f"  %sel1 = select <{w} x i1> %lanes, {v} %off, {v} zeroinitializer\n"
        text += f"  %min = call i32 @llvm.vector.reduce.umin.v{w}i32({v} %sel0)\n"
        text += f"  %max = call i32 @llvm.vector.reduce.umax.v{w}i32({v} %sel1)\n"
        text += "  %min64 = zext i32 %min to i64\n  %max64 = zext i32 %max to i64\n"
        text += f"  %slo = add i64 %base, %min64\n  %sm = add i64 %base, %max64\n  %shi = add i64 %sm, {size}\n"
        text += f"  %sin = call i1 @loom.bounds.{self.helper.space}(ptr %st, i64 %slo, i64 %shi, i32 %site)\n"
        text += "  %width = sub i32 %max, %min\n  %fits = icmp sge i32 %width, 0\n  %sgo = and i1 %sin, %fits\n"
        text += "  br i1 %sgo, label %inside1, label %walk\ninside1:\n"
        text += "  %sp = inttoptr i64 %slo to ptr\n"
        if load and words == 4:
            text += self._transposed()
        else:
            text += "  br label %gather\n"
        text += "gather:\n"
        text += self._splat("minv", "%min")
        text += f"  %relraw = sub {v} %off, %minv\n"
        text += f"  %rel = select <{w} x i1> %lanes, {v} %relraw, {v} zeroinitializer\n"
        self.declarations.add(f"declare i32 @llvm.vector.reduce.umin.v{w}i32({v})")
        self.declarations.add(f"declare i32 @llvm.vector.reduce.umax.v{w}i32({v})")
        pv = vector(w, "ptr")
        if load:
            self.declarations.add(f"declare {v} @llvm.masked.gather.v{w}i32.v{w}p0({pv}, <{w} x i1>, {v})")
            self._masked("store")
        else:
            self.declarations.add(f"declare void @llvm.masked.scatter.v{w}i32.v{w}p0({v}, {pv}, <{w} x i1>)")
        for k in range(words):
            text += f"  %sp{k} = getelementptr i8, ptr %sp, i64 {4 * k}\n"
            text += f"  %q{k} = getelementptr i8, ptr %sp{k}, {v} %rel\n"
            if load:
                text += f"  %g{k} = call {v} @llvm.masked.gather.v{w}i32.v{w}p0("
                text += f"{pv} align 1 %q{k}, <{w} x i1> %lanes, {v} poison)\n"
                text += f"  %gt{k} = getelementptr i8, ptr %to, i64 {k * w * 4}\n"
                text += (
                    f"  call void @llvm.masked.store.v{w}i32.p0({v} %g{k}, ptr align 64 %gt{k}, <{w} x i1> %lanes)\n"
                )
            else:
                text += f"  call void @llvm.masked.scatter.v{w}i32.v{w}p0("
                text += f"{v} %d{k}, {pv} align 1 %q{k}, <{w} x i1> %lanes)\n"
        return text + "  br label %done\n"

    def _transposed(self) -> str:
        """All lanes load 16 bytes: one 16-byte load a lane, then 4 x 4 transpositions within the 128-bit parts of a
        vector.
        """
        v, w = self.v, self.wave
        text = f"  %whole = icmp eq i{w} %mask, -1\n  br i1 %whole, label %transpose, label %gather\ntranspose:\n"
        text += f"  %ta = alloca [{w} x i32], align 64\n  store {v} %off, ptr %ta\n  %tb = inttoptr i64 %base to ptr\n"
        for i in range(w):
            text += f"  %tq{i} = getelementptr i8, ptr %ta, i64 {4 * i}\n  %to{i} = load i32, ptr %tq{i}\n"
            text += f"  %tz{i} = zext i32 %to{i} to i64\n  %ts{i} = getelementptr i8, ptr %tb, i64 %tz{i}\n"
            text += f"  %tv{i} = load <4 x i32>, ptr %ts{i}, align 1\n"
        eight = ", ".join(f"i32 {i}" for i in range(8))
        sixteen = ", ".join(f"i32 {i}" for i in range(16))

        def interleave(high: bool, element: int) -> str:
            # vpunpck[lh]dq (element 1) and vpunpck[lh]qdq (element 2) on each 128-bit part.
            picks = []
            for part in range(0, 16, 4):
                if element == 1:
                    start = part + (2 if high else 0)
                    picks += [start, start + 16, start + 1, start + 17]
                else:
                    start = part + (2 if high else 0)
                    picks += [start, start + 1, start + 16, start + 17]
            return ", ".join(f"i32 {p}" for p in picks)

        t16 = "<16 x i32>"
        for group in range(w // 16):
            first = 16 * group
            for j in range(4):
                lanes = [first + 4 * i + j for i in range(4)]
                n = f"{group}.{j}"
                text += (
                    f"  %tl{n} = shufflevector <4 x i32> %tv{lanes[0]}, <4 x i32> %tv{lanes[1]}, <8 x i32> <{eight}>\n"
                    f"  %th{n} = shufflevector <4 x i32> %tv{lanes[2]}, <4 x i32> %tv{lanes[3]}, <8 x i32> <{eight}>\n"
                    f"  %tr{n} = shufflevector <8 x i32> %tl{n}, <8 x i32> %th{n}, {t16} <{sixteen}>\n"
                )
            for name, high, a, b in (("a", False, 0, 1), ("b", False, 2, 3), ("c", True, 0, 1), ("d", True, 2, 3)):
                text += (
                    f"  %tu{group}{name} = shufflevector {t16} %tr{group}.{a}, {t16} %tr{group}.{b}, "
                    f"{t16} <{interleave(high, 1)}>\n"
                )
            for k, (p, q, top) in enumerate((("a", "b", False), ("a", "b", True), ("c", "d", False), ("c", "d", True))):
                text += (
                    f"  %tw{group}.{k} = shufflevector {t16} %tu{group}{p}, {t16} %tu{group}{q}, "
                    f"{t16} <{interleave(top, 2)}>\n"
                    f"  %td{group}.{k} = getelementptr i8, ptr %to, i64 {k * w * 4 + 64 * group}\n"
                    f"  store {t16} %tw{group}.{k}, ptr %td{group}.{k}, align 64\n"
                )
        return text + "  br label %done\n"

    def _walk(self, size: int, fault: int) -> str:
        v, m, w = self.v, self.m, self.wave
        text = f"walk:\n  br label %loop\nloop:\n  %left = phi {m} [ %mask, %walk ], [ %rest, %next ]\n"
        text += f"  %lane = call {m} @llvm.cttz.{m}({m} %left, i1 true)\n"
        text += "  %lane32 = " + ("add i32 %lane, 0\n" if w == 32 else "trunc i64 %lane to i32\n")
        text += f"  %lane64 = zext i32 %lane32 to i64\n  %ol = extractelement {v} %off, i32 %lane32\n"
        text += f"  %ol64 = zext i32 %ol to i64\n  %al = add i64 %base, %ol64\n  %ae = add i64 %al, {size}\n"
        text += f"  %ok = call i1 @loom.bounds.{self.helper.space}(ptr %st, i64 %al, i64 %ae, i32 %site)\n"
        text += "  br i1 %ok, label %access, label %bad\nbad:\n"
        text += f"  call void @loom.fault(ptr %st, i32 {fault}, i32 %site, i32 %lane32, i64 %al, i32 {size})\n"
        text += "  br label %next\naccess:\n  %pl = inttoptr i64 %al to ptr\n"
        text += self._lane_access(size)
        text += f"next:\n  %less = sub {m} %left, 1\n  %rest = and {m} %left, %less\n  %more = icmp ne {m} %rest, 0\n"
        text += "  br i1 %more, label %loop, label %done\n"
        return text

    def _register(self, word: int) -> str:
        return (
            f"  %rp{word} = getelementptr i8, ptr %to, i64 {word * self.wave * 4}\n"
            f"  %rl{word} = getelementptr i32, ptr %rp{word}, i64 %lane64\n"
        )

    def _lane_access(self, size: int) -> str:
        operation = self.operation
        v = self.v
        if operation.kind == "atomic":
            return self._atomic(size)
        text = ""
        if operation.kind == "load":
            if size < 4:
                t = f"i{8 * size}"
                text += f"  %n = load {t}, ptr %pl, align 1\n"
                extend = "sext" if operation.signed else "zext"
                if operation.half is None:
                    text += f"  %e = {extend} {t} %n to i32\n" + self._register(0) + "  store i32 %e, ptr %rl0\n"
                else:
                    text += f"  %h = {extend} {t} %n to i16\n" if size == 1 else "  %h = add i16 %n, 0\n"
                    text += self._register(0)
                    text += f"  %hp = getelementptr i8, ptr %rl0, i64 {2 * operation.half}\n  store i16 %h, ptr %hp\n"
            else:
                for k in range(operation.words):
                    text += (
                        f"  %lp{k} = getelementptr i8, ptr %pl, i64 {4 * k}\n  %lw{k} = load i32, ptr %lp{k}, align 1\n"
                    )
                    text += self._register(k) + f"  store i32 %lw{k}, ptr %rl{k}\n"
        elif size < 4:
            text += f"  %w = extractelement {v} %d0, i32 %lane32\n"
            if operation.half:
                text += "  %ws = lshr i32 %w, 16\n"
            else:
                text += "  %ws = add i32 %w, 0\n"
            text += f"  %n = trunc i32 %ws to i{8 * size}\n  store i{8 * size} %n, ptr %pl, align 1\n"
        else:
            for k in range(operation.words):
                text += f"  %w{k} = extractelement {v} %d{k}, i32 %lane32\n"
                text += f"  %wp{k} = getelementptr i8, ptr %pl, i64 {4 * k}\n  store i32 %w{k}, ptr %wp{k}, align 1\n"
        return text + "  br label %next\n"

    def _atomic(self, size: int) -> str:
        operation, v = self.operation, self.v
        t = f"i{8 * size}"
        text = f"  %mis = and i64 %al, {size - 1}\n  %aligned = icmp eq i64 %mis, 0\n"
        text += "  br i1 %aligned, label %atomic, label %misaligned\nmisaligned:\n"
        text += (
            f"  call void @loom.fault(ptr %st, i32 {L.FAULT_MISALIGNED}, i32 %site, i32 %lane32, i64 %al, i32 {size})\n"
        )
        text += "  br label %next\natomic:\n"

        def join(name: str, first: int) -> str:
            if size == 4:
                return f"  %{name} = extractelement {v} %d{first}, i32 %lane32\n"
            return (
                f"  %{name}.l = extractelement {v} %d{first}, i32 %lane32\n"
                f"  %{name}.h = extractelement {v} %d{first + 1}, i32 %lane32\n"
                f"  %{name}.lw = zext i32 %{name}.l to i64\n  %{name}.hw = zext i32 %{name}.h to i64\n"
                f"  %{name}.hs = shl i64 %{name}.hw, 32\n  %{name} = or i64 %{name}.lw, %{name}.hs\n"
            )

        text += join("data", 0)
        compare = "0"
        if operation.compares:
            text += join("cmp", operation.words)
            compare = "%cmp"
        mode = Mode(denorm32=0 if self.helper.flush32 else 3, denorm64=0 if self.helper.flush64 else 3)
        assert operation.update is not None
        root = operation.update(
            Context(self.wave, mode), arg("old", t, False), arg("data", t, False),
            arg("cmp", t, False) if operation.compares else const(t, 0),
        )  # fmt: skip
        template = compile_template([root], self.wave, self.hardware_fma)
        self.declarations |= template.declarations
        if self.helper.space == "lds" or self.helper.space == "scratch":
            update, (new,) = template.instantiate("u", (("old", "%old"), ("data", "%data"), ("cmp", compare)))
            text += f"  %old = load {t}, ptr %pl\n{update}  store {t} {new}, ptr %pl\n  br label %finish\n"
        else:
            update, (new,) = template.instantiate("u", (("old", "%old"), ("data", "%data"), ("cmp", compare)))
            text += f"  %seen = load atomic {t}, ptr %pl monotonic, align {size}\n  br label %again\nagain:\n"
            text += f"  %old = phi {t} [ %seen, %atomic ], [ %got, %again ]\n{update}"
            text += f"  %pair = cmpxchg ptr %pl, {t} %old, {t} {new} seq_cst monotonic, align {size}\n"
            text += f"  %got = extractvalue {{{t}, i1}} %pair, 0\n  %won = extractvalue {{{t}, i1}} %pair, 1\n"
            text += "  br i1 %won, label %finish, label %again\n"
        text += "finish:\n"
        if self.helper.returning:
            if size == 4:
                text += self._register(0) + "  store i32 %old, ptr %rl0\n"
            else:
                text += (
                    "  %oldl = trunc i64 %old to i32\n  %oldh0 = lshr i64 %old, 32\n  %oldh = trunc i64 %oldh0 to i32\n"
                )
                text += self._register(0) + "  store i32 %oldl, ptr %rl0\n"
                text += self._register(1) + "  store i32 %oldh, ptr %rl1\n"
        return text + "  br label %next\n"
