"""Examples of ops whose declarations give none; the reference pages show them, tests parse them."""

from __future__ import annotations

EXAMPLES: dict[str, str] = {
    "check.compare": (
        "check.compare<@twice>(%x) : (i32) -> [actual(%a: i32), expected(%b: i32)] {\n"
        "  check.expect.equal actual(%a) expected(%b) : i32\n"
        "}"
    ),
    "check.invoke": ("%y = check.invoke<@twice>(%x) : (i32) -> (i32)"),
    "check.scenario": (
        "check.scenario @gcd_matches {\n"
        "  check.trial[16](%trial: index, %entropy: check.entropy) {\n"
        '    %left = check.entropy.fork %entropy name("left") : check.entropy\n'
        '    %right = check.entropy.fork %entropy name("right") : check.entropy\n'
        "    %seed_a = check.entropy.read %left[%trial] : check.entropy -> i64\n"
        "    %seed_b = check.entropy.read %right[%trial] : check.entropy -> i64\n"
        "    %a = scalar.trunci %seed_a : i64 to i32\n"
        "    %b = scalar.trunci %seed_b : i64 to i32\n"
        "    check.compare<@gcd_cfg, @gcd_while>(%a, %b) : (i32, i32) -> [actual(%x: i32), expected(%y:"
        " i32)] {\n"
        "      check.expect.equal actual(%x) expected(%y) : i32\n"
        "    }\n"
        "  }\n"
        "  check.return\n"
        "}"
    ),
    "check.trial": (
        "check.trial[8](%trial: index, %stream: check.entropy) {\n"
        "  %bits = check.entropy.read %stream[%trial] : check.entropy -> i64\n"
        "  %x = scalar.trunci %bits : i64 to i32\n"
        "  check.compare<@twice>(%x) : (i32) -> [actual(%a: i32), expected(%b: i32)] {\n"
        "    check.expect.equal actual(%a) expected(%b) : i32\n"
        "  }\n"
        "}"
    ),
    "command.concurrent": ("command.concurrent {\n  kernel.launch @elsewhere[%n](%b, %n) : [index](buffer, index)\n}"),
    "command.program.decl": ("command.program.decl @later(%s: index) launch(%b: buffer)"),
    "command.program.def": (
        "command.program.def public @program(%n: index) launch(%b: buffer) {\n"
        "  command.serial {\n"
        "    kernel.launch @elsewhere[%n](%b, %n) : [index](buffer, index)\n"
        "    command.concurrent {\n"
        "      kernel.launch @elsewhere[%n](%b, %n) : [index](buffer, index)\n"
        "    }\n"
        "  }\n"
        "  command.program.launch @later[%n](%b) : [index](buffer)\n"
        "  command.return\n"
        "}"
    ),
    "command.program.launch": ("command.program.launch @later[%n](%b) : [index](buffer)"),
    "command.serial": (
        "command.serial {\n"
        "  kernel.launch @elsewhere[%n](%b, %n) : [index](buffer, index)\n"
        "  command.concurrent {\n"
        "    kernel.launch @elsewhere[%n](%b, %n) : [index](buffer, index)\n"
        "  }\n"
        "}"
    ),
    "kernel.async.cluster.gather": (
        "%t6 = kernel.async.cluster.gather %global to %local using %k : view<64xf32> to view<64xf32>,"
        " i32 -> kernel.async.token"
    ),
    "kernel.async.cluster.gather.mask": (
        "%t7 = kernel.async.cluster.gather.mask %global to %local using %k, %p {cache_scope = device} :"
        " view<64xf32> to view<64xf32>, i32, i1 -> kernel.async.token"
    ),
    "kernel.async.copy": (
        "%t0 = kernel.async.copy %global to %local {cache_scope = cu, cache_temporal = regular,"
        " direction = global_to_workgroup} : view<64xf32> to view<64xf32> -> kernel.async.token"
    ),
    "kernel.async.copy.mask": (
        "%t1 = kernel.async.copy.mask %local to %global, %p {direction = workgroup_to_global} :"
        " view<64xf32> to view<64xf32>, i1 -> kernel.async.token"
    ),
    "kernel.async.gather": (
        "%t2 = kernel.async.gather %global to %lanes2 : view<64xf32> to view<32x64xf32> -> kernel.async.token"
    ),
    "kernel.async.gather.mask": (
        "%t3 = kernel.async.gather.mask %global to %lanes2, %p : view<64xf32> to view<32x64xf32>, i1 ->"
        " kernel.async.token"
    ),
    "kernel.async.tensor.load.to.lds": (
        "%t4 = kernel.async.tensor.load.to.lds %global to %local using %desc : view<64xf32> to"
        " view<64xf32>, kernel.tensor.lds.descriptor -> kernel.async.token"
    ),
    "kernel.async.tensor.store.from.lds": (
        "%t5 = kernel.async.tensor.store.from.lds %local to %global using %desc : view<64xf32> to"
        " view<64xf32>, kernel.tensor.lds.descriptor -> kernel.async.token"
    ),
    "kernel.tensor.lds.descriptor": (
        "%desc = kernel.tensor.lds.descriptor %global[%item] {rows = 16} : view<64xf32> -> kernel.tensor.lds.descriptor"
    ),
    "llvmir.inline_asm": ('%b = llvmir.inline_asm "nop", "=r,r"(%a) : (f32) -> (f32)'),
    "llvmir.intrinsic": ('%a = llvmir.intrinsic "llvm.fabs.f32"(%x) : (f32) -> (f32)'),
    "low.func.decl": (
        'low.func.decl pure import(native, "external") target<test.low.core>(@machine)'
        " abi(object_function) @external(%a: reg<test.r>) -> (reg<test.r>)"
    ),
    "low.func.def": (
        "low.func.def target<amdgpu.gfx11.generic.core>(@gfx11) @add(%a: reg<amdgpu.vgpr>, %b:"
        " reg<amdgpu.vgpr>) -> (reg<amdgpu.vgpr>) asm {\n"
        "  %sum = v_add_f32 %a, %b\n"
        "  return %sum\n"
        "}"
    ),
    "low.kernel.def": (
        'low.kernel.def target<amdgpu.gfx11.generic.core>(@gfx11) export("nothing") workgroup_size(64,'
        " 1, 1) @nothing(%n: reg<amdgpu.sgpr>) asm {\n"
        "  return\n"
        "}"
    ),
    "low.scf.condition": ("low.scf.condition %c, %x : reg<test.flag>, reg<test.r>"),
    "low.scf.for": (
        "%sum = low.scf.for signed [%zero to %n step %one] iter_args(%zero: reg<test.r>) ->"
        " (reg<test.r>) unroll do(%i: reg<test.r>, %acc: reg<test.r>) {\n"
        "  %next = low.op<test.add>(%acc, %i) : (reg<test.r>, reg<test.r>) -> reg<test.r>\n"
        "  low.scf.yield %next : reg<test.r>\n"
        "}"
    ),
    "low.scf.if": (
        "%picked = low.scf.if %c -> (reg<test.r>) {\n"
        "  low.scf.yield %sum : reg<test.r>\n"
        "} else {\n"
        "  low.scf.yield %zero : reg<test.r>\n"
        "}"
    ),
    "low.scf.while": (
        "%looped = low.scf.while(%x = %picked : reg<test.r>) -> (reg<test.r>) {\n"
        "  low.scf.condition %c, %x : reg<test.flag>, reg<test.r>\n"
        "} do(%y: reg<test.r>) {\n"
        "  low.scf.yield %y : reg<test.r>\n"
        "}"
    ),
    "pool.allocate": ("%c = pool.allocate %p, %n : pool<4096>, offset -> buffer"),
    "scalar.bitcast": ("%bitcast = scalar.bitcast %a : i32 to f32"),
    "scalar.extf": ("%extf = scalar.extf %x : f32 to f64"),
    "scalar.extsi": ("%extsi = scalar.extsi %a : i32 to i64"),
    "scalar.extui": ("%extui = scalar.extui %a : i32 to i64"),
    "scalar.fptosi": ("%fptosi = scalar.fptosi %x : f32 to i32"),
    "scalar.fptoui": ("%fptoui = scalar.fptoui %x : f32 to i32"),
    "scalar.fptrunc": ("%fptrunc = scalar.fptrunc %x : f32 to bf16"),
    "scalar.sitofp": ("%sitofp = scalar.sitofp %a : i32 to f32"),
    "scalar.trunci": ("%x = scalar.trunci %bits : i64 to i32"),
    "scalar.uitofp": ("%uitofp = scalar.uitofp %a : i32 to f32"),
    "vector.atomic.cmpxchg": (
        "%l = vector.atomic.cmpxchg %k, %h, %u[%i][%offs] {failure_ordering = acquire, scope = device,"
        " success_ordering = acq_rel} : vector<4xi32>, view<[%n]xi32>, vector<4xindex> -> vector<4xi32>"
    ),
    "vector.atomic.reduce": (
        "vector.atomic.reduce<addi> %w, %u[%i][%offs] {ordering = relaxed, scope = workgroup} :"
        " vector<4xi32>, view<[%n]xi32>, vector<4xindex>"
    ),
    "vector.atomic.reduce.mask": (
        "vector.atomic.reduce.mask<ori> %w, %u[%i][%offs], %mask {ordering = relaxed, scope = device} :"
        " vector<4xi32>, view<[%n]xi32>, vector<4xindex>, vector<4xi1>"
    ),
    "vector.atomic.rmw": (
        "%h = vector.atomic.rmw<xchgi> %w, %u[%i][%offs] {ordering = acq_rel, scope = device} :"
        " vector<4xi32>, view<[%n]xi32>, vector<4xindex>"
    ),
    "vector.atomic.rmw.mask": (
        "%k = vector.atomic.rmw.mask<maxsi> %h, %u[%i][%offs], %mask, %w {ordering = seq_cst, scope ="
        " system} : vector<4xi32>, view<[%n]xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32>"
    ),
    "vector.bitcast": ("%bitcast = vector.bitcast %a : vector<4xi32> to vector<4xf32>"),
    "vector.cmpf": ("%f_oeq = vector.cmpf oeq, %x, %y : vector<4xf32> -> vector<4xi1>"),
    "vector.cmpi": ("%i_eq = vector.cmpi eq, %a, %b : vector<4xi32> -> vector<4xi1>"),
    "vector.dot2f": ("%dot2 = vector.dot2f %half, %half, %quad : vector<8xf16>, vector<8xf16>, vector<4xf32>"),
    "vector.dot4f8": ("%dot4f = vector.dot4f8<fp8bf8> %words, %words, %quad : vector<4xi32>, vector<4xf32>"),
    "vector.dot4i": ("%dot4 = vector.dot4i<u8s8> %bytes, %bytes, %words : vector<16xi8>, vector<16xi8>, vector<4xi32>"),
    "vector.dot8i4": ("%dot8 = vector.dot8i4<s4u4> %words, %words, %dot4 : vector<4xi32>"),
    "vector.extf": ("%extf = vector.extf %x : vector<4xf32> to vector<4xf64>"),
    "vector.extsi": ("%extsi = vector.extsi %a : vector<4xi32> to vector<4xi64>"),
    "vector.extui": ("%extui = vector.extui %a : vector<4xi32> to vector<4xi64>"),
    "vector.fmaf": ("%fmaf = vector.fmaf %erfcf, %x, %y : vector<4xf32>"),
    "vector.fmai": ("%fmai = vector.fmai<nsw> %signi, %a, %b : vector<4xi32>"),
    "vector.fptosi": ("%fptosi = vector.fptosi %x : vector<4xf32> to vector<4xi32>"),
    "vector.fptoui": ("%fptoui = vector.fptoui %x : vector<4xf32> to vector<4xi32>"),
    "vector.fptrunc": ("%fptrunc = vector.fptrunc %x : vector<4xf32> to vector<4xbf16>"),
    "vector.isfinitef": ("%isfinitef = vector.isfinitef %x : vector<4xf32> -> vector<4xi1>"),
    "vector.isinff": ("%isinff = vector.isinff %x : vector<4xf32> -> vector<4xi1>"),
    "vector.isnanf": ("%isnanf = vector.isnanf %x : vector<4xf32> -> vector<4xi1>"),
    "vector.sitofp": ("%sitofp = vector.sitofp %a : vector<4xi32> to vector<4xf32>"),
    "vector.trunci": ("%trunci = vector.trunci %a : vector<4xi32> to vector<4xi8>"),
    "vector.uitofp": ("%uitofp = vector.uitofp %a : vector<4xi32> to vector<4xf32>"),
}
