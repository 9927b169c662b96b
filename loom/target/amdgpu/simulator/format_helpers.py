"""Out-of-line helpers of typed buffer accesses, as LLVM IR text: a walk over the lanes with a switch over the formats.

Registers are read and written in the state block. ``%select`` holds the resource's destination selectors, three bits a
component (0 zero, 1 one, 4 to 7 the components X to W); ``%place`` counts halves (D16 forms) or words from the first
register on. Lanes of ``%mask`` that are not in ``%inside`` are out of the buffer's range: a load gives them zero.
"""

from __future__ import annotations

from loom.low.semantics.buffer_formats import BufferFormat, formats_of, load_component, one_of, store_words
from loom.low.semantics.expression import arg
from loom.low.semantics.llvm_backend import compile_template
from loom.target.amdgpu.simulator import layout as L
from loom.target.amdgpu.simulator.runtime import vector

SUFFIXES = ("load", "load16", "store", "store16")


def format_signature(name: str, wave: int) -> str:
    """Return type, name and parameter types of a helper, for a declaration."""
    m = f"i{wave}"
    return f"void @{name}(ptr, i64, {vector(wave)}, {m}, {m}, i32, i32, i32, i32, i32, ptr)"


def sizes_text(generation: str) -> str:
    """A function that gives the bytes of an element of a format (0 where there is no such format)."""
    sizes = [f.bytes if f else 0 for f in formats_of(generation)]
    table = ", ".join(f"i32 {size}" for size in sizes)
    return f"""
@loom.format.sizes = private constant [{len(sizes)} x i32] [{table}]
define internal i32 @loom.format.bytes(i32 %format) alwaysinline {{
  %known = icmp ult i32 %format, {len(sizes)}
  %index = select i1 %known, i32 %format, i32 0
  %p = getelementptr [{len(sizes)} x i32], ptr @loom.format.sizes, i64 0, i32 %index
  %size = load i32, ptr %p
  ret i32 %size
}}
"""


def _load_case(number: int, format_: BufferFormat, wave: int, short: bool) -> str | None:
    words = [arg(f"w{k}", "i32", False) for k in range(4)]
    roots = []
    for component in range(4):
        found = load_component(format_, component, words, short)
        if found is None:
            return None
        roots.append(found)
    template = compile_template(roots, wave)
    text, names = template.instantiate(f"f{number}.", [(f"w{k}", f"%w{k}") for k in range(4)])
    declared = "".join(f"{d}\n" for d in template.declarations)
    stores = "".join(f"  store i32 {name}, ptr %c{4 + k}\n" for k, name in enumerate(names))
    return f"{declared}|f{number}:\n{text}{stores}  store i32 {one_of(format_, short)}, ptr %c1\n  br label %put\n"


def _store_case(number: int, format_: BufferFormat, wave: int, short: bool) -> str:
    values = [arg(f"v{k}", "i32", False) for k in range(4)]
    template = compile_template(store_words(format_, values, short), wave)
    text, names = template.instantiate(f"f{number}.", [(f"v{k}", f"%v{k}") for k in range(4)])
    declared = "".join(f"{d}\n" for d in template.declarations)
    stores = "".join(f"  store i32 {name}, ptr %b{k}\n" for k, name in enumerate(names))
    return f"{declared}|f{number}:\n{text}{stores}  br label %put\n"


def format_text(name: str, suffix: str, wave: int, generation: str) -> str:
    """The definition of a helper; ``suffix`` is one of :data:`SUFFIXES`."""
    store, short = suffix.startswith("store"), suffix.endswith("16")
    v, m = vector(wave), f"i{wave}"
    cases, blocks, declarations = [], [], set()
    for number, format_ in enumerate(formats_of(generation)):
        if format_ is None:
            continue
        if store and not format_.fields:
            cases.append(f"i32 {number}, label %next")
            continue
        made = _store_case(number, format_, wave, short) if store else _load_case(number, format_, wave, short)
        if made is None:
            continue
        declared, _, block = made.partition("|")
        declarations.update(declared.split("\n"))
        blocks.append(block)
        cases.append(f"i32 {number}, label %f{number}")
    kind = "i16" if short else "i32"
    row = """
  %half = and i32 %at, 1
  %word = lshr i32 %at, 1
  %low = shl i32 %half, 1
""" if short else "  %word = add i32 %at, 0\n  %low = add i32 0, 0\n"  # fmt: skip
    register = f"""
  %at = add i32 %k, %place
{row}  %rowbytes = mul i32 %word, {4 * wave}
  %lanebytes = mul i32 %lane32, 4
  %r0 = add i32 %rowbytes, %lanebytes
  %r1 = add i32 %r0, %low
  %rp = getelementptr i8, ptr %registers, i32 %r1
"""
    selector = "  %sh = mul i32 %k, 3\n  %s0 = lshr i32 %select, %sh\n  %s = and i32 %s0, 7\n"
    zeros = "".join(f"  store i32 0, ptr %c{k}\n" for k in range(8))
    checked = f"""
check:
  %ol = extractelement {v} %off, i32 %lane32
  %ol64 = zext i32 %ol to i64
  %al = add i64 %base, %ol64
  %ae = add i64 %al, %size64
  %ok = call i1 @loom.bounds.global(ptr %st, i64 %al, i64 %ae, i32 %site)
  br i1 %ok, label %access, label %bad
bad:
  call void @loom.fault(ptr %st, i32 {L.FAULT_OUT_OF_BOUNDS}, i32 %site, i32 %lane32, i64 %al, i32 %size)
  br label %next
access:
  %pl = inttoptr i64 %al to ptr
"""
    unknown = f"""
unknown:
  %number64 = zext i32 %format to i64
  call void @loom.fault(ptr %st, i32 {L.FAULT_FORMAT}, i32 %site, i32 %lane32, i64 %number64, i32 %size)
  br label %done
"""
    switch = f"  switch i32 %format, label %unknown [ {' '.join(cases)} ]\n" + "".join(blocks)
    if store:
        body = (
            f"""
  br label %gather
gather:
  %k = phi i32 [ 0, %lanestart ], [ %kn, %gather ]
{register}  %x0 = load {kind}, ptr %rp
  %x = {"zext i16 %x0 to i32" if short else "add i32 %x0, 0"}
  %isfirst = icmp eq i32 %k, 0
{selector}  %component = sub i32 %s, 4
  %valid = icmp ult i32 %component, 4
  %slot = select i1 %valid, i32 %component, i32 4
  %cp = getelementptr i32, ptr %c, i32 %slot
  store i32 %x, ptr %cp
  %given = shl i32 1, %slot
  %had = load i32, ptr %c6
  %hadnow = or i32 %had, %given
  store i32 %hadnow, ptr %c6
  %xkeep = load i32, ptr %c7
  %xnew = select i1 %isfirst, i32 %x, i32 %xkeep
  store i32 %xnew, ptr %c7
  %kn = add i32 %k, 1
  %more1 = icmp ult i32 %kn, %count
  br i1 %more1, label %gather, label %filled
filled:
  %x1 = load i32, ptr %c7
  %given1 = load i32, ptr %c6
"""
            + "".join(
                f"  %u{k} = load i32, ptr %c{k}\n  %g{k} = and i32 %given1, {1 << k}\n  %h{k} = icmp ne i32 %g{k}, 0\n"
                f"  %v{k} = select i1 %h{k}, i32 %u{k}, i32 %x1\n"
                for k in range(4)
            )
            + "".join(f"  %b{k} = getelementptr i32, ptr %b, i64 {k}\n" for k in range(4))
            + switch
            + unknown
            + f"""
put:
  br label %check
{checked}  call void @llvm.memcpy.p0.p0.i64(ptr %pl, ptr %b, i64 %size64, i1 false)
  br label %next
"""
        )
    else:
        body = (
            f"""
  store [4 x i32] zeroinitializer, ptr %b
  %bit = shl {m} 1, %lane
  %in0 = and {m} %inside, %bit
  %in = icmp ne {m} %in0, 0
  br i1 %in, label %check, label %decode
{checked}  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %pl, i64 %size64, i1 false)
  br label %decode
decode:
"""
            + "".join(
                f"  %b{k} = getelementptr i32, ptr %b, i64 {k}\n  %w{k} = load i32, ptr %b{k}\n" for k in range(4)
            )
            + switch
            + unknown
            + f"""
put:
  br label %write
write:
  %k = phi i32 [ 0, %put ], [ %kn, %write ]
{selector}  %cp = getelementptr i32, ptr %c, i32 %s
  %x = load i32, ptr %cp
{register}  %n = {"trunc i32 %x to i16" if short else "add i32 %x, 0"}
  store {kind} %n, ptr %rp
  %kn = add i32 %k, 1
  %more1 = icmp ult i32 %kn, %count
  br i1 %more1, label %write, label %next
"""
        )
    pointers = "".join(f"  %c{k} = getelementptr i32, ptr %c, i64 {k}\n" for k in range(8))
    lane32 = "add i32 %lane, 0" if wave == 32 else "trunc i64 %lane to i32"
    return (
        sizes_text(generation)
        + f"""
define void @{name}(ptr %st, i64 %base, {v} %off, {m} %mask, {m} %inside, i32 %site, i32 %format, i32 %select,
                    i32 %count, i32 %place, ptr %registers) {{
entry:
  %c = alloca [8 x i32]
  %b = alloca [4 x i32]
{pointers}  call void @loom.count(ptr %st, {m} %mask, i32 %site)
  %size = call i32 @loom.format.bytes(i32 %format)
  %size64 = zext i32 %size to i64
  %none = icmp eq {m} %mask, 0
  br i1 %none, label %done, label %lanestart
lanestart:
  %left = phi {m} [ %mask, %entry ], [ %rest, %next ]
  %lane = call {m} @llvm.cttz.{m}({m} %left, i1 true)
  %lane32 = {lane32}
{zeros}{body}
next:
  %less = sub {m} %left, 1
  %rest = and {m} %left, %less
  %more = icmp ne {m} %rest, 0
  br i1 %more, label %lanestart, label %done
done:
  ret void
}}
declare {m} @llvm.cttz.{m}({m}, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
        + "".join(f"{d}\n" for d in sorted(declarations) if d)
    )
