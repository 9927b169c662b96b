"""The low dialect: target-bound code on registers."""

from __future__ import annotations

from loom.dialect.common import (
    ABI_KINDS,
    INDEX_ONLY,
    REGISTER,
    STORAGE,
    attribute,
    define,
    group,
    integer,
    maybe,
    one,
    region,
    result,
    results,
    word,
)
from loom.dialect.func import ABI, CONVENTIONS, EXPORT, INLINING, SIGNATURE, TAIL, TIES
from loom.dialect.rules import control, low, values
from loom.ir.definition import AttributeDef

ALLOCATIONS = ("virtual", "assigned", "fixed")
SCHEDULES = ("free", "constrained", "locked", "phased")
SCOPES = ("phased", "constrained", "locked")
RESOURCE_KINDS = ("native_pointer", "hal_binding", "command_input", "vm_state")
_YIELD = ("low.scf.yield",)

_MODES = (
    word("allocation", ALLOCATIONS, default="virtual"),
    word("schedule", SCHEDULES, default="free"),
    attribute("descriptor_set", "bare", optional=True),
    attribute("target", "symbol", optional=True),
    attribute("abi_layout", "dict", optional=True),
    attribute("export", "string", optional=True),
)
_FUNCTION = (
    attribute("public", "keyword", optional=True),
    attribute("retain", "keyword", optional=True),
    word("convention", CONVENTIONS, optional=True),
    attribute("pure", "keyword", optional=True),
    word("inlining", INLINING, optional=True),
    *_MODES,
    word("abi", ABI_KINDS, optional=True),
    attribute("abi_attributes", "dict", optional=True),
    attribute("export_attributes", "dict", optional=True),
    *SIGNATURE,
)
_SPELLING = AttributeDef("spelling", "internal", True, ("canonical", "asm"), "canonical")
_MODE_TEXT = "(? allocation($allocation)?)(? schedule($schedule)?)"
_TARGET_TEXT = " !low_target"
_HEAD = "(? $public?)(? $retain?)(? $convention?)(? $pure?)(? $inlining?)"

define(
    "low.func.def",
    "A",
    "A function on registers. `asm` bodies are another spelling of the same region.",
    f"{_HEAD}{_MODE_TEXT}{_TARGET_TEXT}{ABI}(? abi_layout($abi_layout)?){EXPORT}{TAIL.format(region='body')} !low_body",
    attributes=(*_FUNCTION, _SPELLING),
    regions=(region("body", ("low.return",), isolated=True, blocks="any"),),
    traits="symbol module_level function low",
    verify=low.low_function,
)
define(
    "low.func.decl",
    "B",
    "A dependency on a function on registers: native code, an object, or another module.",
    f"{_HEAD}{_MODE_TEXT}(? import($import_kind, $import_symbol)?){_TARGET_TEXT}{ABI}(? "
    f"abi_layout($abi_layout)?){EXPORT}{TAIL.format(region='signature')}(? signature = $signature?)",
    attributes=(
        *_FUNCTION,
        word("import_kind", ("native", "rocasm", "object"), optional=True),
        attribute("import_symbol", "string", optional=True),
        attribute("signature", "type", optional=True),
    ),
    regions=(region("signature", (), isolated=True),),
    traits="symbol module_level function low declaration",
    verify=low.low_function,
)
define(
    "low.kernel.def",
    "A",
    "A kernel on registers. Entry arguments are its direct scalars, buffers are `low.resource` results.",
    f"(? $retain?){_MODE_TEXT}{_TARGET_TEXT}(? abi_layout($abi_layout)?)(? export($export)?)(? "
    "linkage($linkage)?)(? workgroup_size($workgroup_size)?)(? workgroup_count($workgroup_count)?)(? "
    "cluster_size($cluster_size)?) $sym_name!arguments(body)(? where [$where]?) !low_body",
    attributes=(
        attribute("retain", "keyword", optional=True),
        *_MODES,
        word("linkage", ("dso_local",), optional=True),
        attribute("workgroup_size", "sizes", optional=True),
        attribute("workgroup_count", "sizes", optional=True),
        attribute("cluster_size", "sizes", optional=True),
        attribute("sym_name", "symbol_name"),
        attribute("where", "predicates", optional=True),
        _SPELLING,
    ),
    regions=(region("body", ("low.return",), isolated=True, blocks="any"),),
    traits="symbol module_level kernel low",
    verify=low.low_kernel,
)
define(
    "low.return",
    "A",
    "Ends a function on registers and gives its results; a kernel gives none.",
    "(? %values : ~values?)",
    operands=(group("values"),),
    traits="terminator",
    parents=("low.func.def", "low.kernel.def"),
    verify=low.low_return,
    example="low.return %r : reg<amdgpu.vgpr>",
)
define(
    "low.func.call",
    "B",
    "Calls a function on registers.",
    "(? $pure?) $callee(%arguments) : (~arguments)(? -> (~results)?)",
    operands=(group("arguments"),),
    results=(results(),),
    attributes=(attribute("pure", "keyword", optional=True), attribute("callee", "symbol"), TIES),
    traits="call",
    example="%r = low.func.call @helper(%a) : (reg<amdgpu.vgpr>) -> (reg<amdgpu.vgpr>)",
)
define(
    "low.op",
    "A",
    "One instruction, by its descriptor key: operands and results in descriptor order, immediates by name.",
    "<!low_key>(%arguments)!immediates : (~arguments)(? -> !low_results?)",
    operands=(group("arguments", REGISTER),),
    results=(results("results", REGISTER),),
    attributes=(
        attribute("key", "bare"),
        AttributeDef("immediates", "internal", True),
        AttributeDef("ties", "internal", True),
        AttributeDef("form", "internal", True),
        AttributeDef("raw", "internal", True),
    ),
    verify=low.low_op,
    example="%r = low.op<amdgpu.v_add_f32>(%a, %b) : (reg<amdgpu.vgpr>, reg<amdgpu.vgpr>) -> reg<amdgpu.vgpr>",
)
define(
    "low.const",
    "A",
    "A constant in a register, made by an instruction without operands.",
    "<$key>!immediates : ~result",
    results=(result("result", REGISTER),),
    attributes=(
        attribute("key", "bare"),
        AttributeDef("immediates", "internal", True),
        AttributeDef("form", "internal", True),
        AttributeDef("raw", "internal", True),
    ),
    traits="pure",
    verify=low.low_op,
    example="%r = low.const<amdgpu.s_mov_b32> {imm32 = 4} : reg<amdgpu.sgpr>",
)
for _name, _tier, _doc in (
    ("copy", "A", "A copy; the source stays usable."),
    ("move", "B", "Moves the value; the source is given up."),
):
    define(
        f"low.{_name}",
        _tier,
        _doc,
        " %source {} : ~source -> ~result",
        operands=(one("source", REGISTER),),
        results=(result("result", REGISTER),),
        attributes=(attribute("detached", "bool", optional=True),),
        traits="pure",
        verify=low.low_copy,
        example=f"%r = low.{_name} %a : reg<amdgpu.vgpr> -> reg<amdgpu.vgpr>",
    )
define(
    "low.slice",
    "A",
    "Some consecutive units of a register.",
    " %source[$unit] : ~source -> ~result",
    operands=(one("source", REGISTER),),
    results=(result("result", REGISTER),),
    attributes=(integer("unit", minimum=0),),
    traits="pure",
    verify=low.low_slice,
    example="%r = low.slice %a[1] : reg<amdgpu.sgpr x4> -> reg<amdgpu.sgpr>",
)
define(
    "low.concat",
    "A",
    "Registers one behind the other as one of more units.",
    "(%sources) : (~sources) -> ~result",
    operands=(group("sources", REGISTER),),
    results=(result("result", REGISTER),),
    traits="pure",
    verify=low.low_concat,
    example="%r = low.concat(%a, %b) : (reg<amdgpu.sgpr>, reg<amdgpu.sgpr>) -> reg<amdgpu.sgpr x2>",
)
define(
    "low.live_in",
    "A",
    "A register that the launch or the caller has filled.",
    "<$key> {} : ~result",
    results=(result("result", REGISTER),),
    attributes=(attribute("key", "bare"), attribute("attributes", "extra", optional=True)),
    traits="live_in",
    verify=low.low_live_in,
    example="%r = low.live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>",
)
define(
    "low.resource",
    "A",
    "A resource that the function imports.",
    "<$kind>(? extent(%extent_value)?) {=} : ~result",
    operands=(maybe("extent_value", REGISTER),),
    results=(result("result", REGISTER),),
    attributes=(
        word("kind", RESOURCE_KINDS),
        integer("index", minimum=0),
        attribute("source_type", "type"),
        integer("extent", optional=True, minimum=0),
        integer("cache_swizzle_stride", optional=True, minimum=0),
    ),
    traits="live_in",
    verify=low.low_resource,
    example="%r = low.resource<hal_binding> {index = 0, source_type = hal.buffer, extent = 256} : reg<amdgpu.sgpr x2>",
)
define(
    "low.br",
    "A",
    "Branches to a block, passing its arguments.",
    " ^0(?!typed(arguments)?)",
    operands=(group("arguments"),),
    successors="one",
    traits="terminator",
    verify=control.branch_arguments,
    example="low.br ^next(%x: reg<amdgpu.vgpr>)",
)
define(
    "low.cond_br",
    "A",
    "Branches to the first block when the condition register is set, else to the second.",
    " %condition, ^0, ^1 : ~condition",
    operands=(one("condition", REGISTER),),
    successors="two",
    traits="terminator",
    verify=control.branch_arguments,
    example="low.cond_br %c, ^then, ^else : reg<amdgpu.scc>",
)
define(
    "low.scf.if",
    "B",
    "A structured conditional on registers.",
    " %condition(? -> (~results)?) &then(? else &else?)",
    operands=(one("condition", REGISTER),),
    results=(results(),),
    regions=(
        region("then", _YIELD, implicit="low.scf.yield"),
        region("else", _YIELD, implicit="low.scf.yield", optional=True),
    ),
    verify=control.conditional,
)
define(
    "low.scf.for",
    "B",
    "A structured counted loop on registers.",
    "(? $signed?) [%lower to %upper step %step](? iter_args!typed(inits)?)(? -> (~results)?)(? "
    "unroll(%unroll_factor)?)(? $unroll?) do!arguments(body) &body",
    operands=(
        one("lower", REGISTER),
        one("upper", REGISTER),
        one("step", REGISTER),
        group("inits", REGISTER),
        maybe("unroll_factor", INDEX_ONLY),
    ),
    results=(results("results", REGISTER, infer=values.like_group("inits")),),
    attributes=(attribute("signed", "keyword", optional=True), attribute("unroll", "keyword", optional=True)),
    regions=(region("body", _YIELD, implicit="low.scf.yield"),),
    verify=control.loop,
)
define(
    "low.scf.while",
    "B",
    "A structured loop on registers with a condition region.",
    "(?(!bindings(before, inits))?)(? -> (~results)?) &before do(?!arguments(after)?) &after",
    operands=(group("inits", REGISTER),),
    results=(results("results", REGISTER, infer=values.like_group("inits")),),
    regions=(region("before", ("low.scf.condition",)), region("after", _YIELD, implicit="low.scf.yield")),
    verify=control.while_loop,
)
define(
    "low.scf.condition",
    "B",
    "Ends the first region of `low.scf.while`.",
    " %condition(?, %values?) : ~condition(?, ~values?)",
    operands=(one("condition", REGISTER), group("values", REGISTER)),
    traits="terminator",
    parents=("low.scf.while",),
)
define(
    "low.scf.yield",
    "B",
    "Ends a structured region on registers and gives its values.",
    "(? %values : ~values?)",
    operands=(group("values", REGISTER),),
    traits="terminator",
    parents=("low.scf.if", "low.scf.for", "low.scf.while"),
    example="low.scf.yield %x : reg<amdgpu.vgpr>",
)
define(
    "low.storage.reserve",
    "B",
    "Reserves function-local storage.",
    " {=} : ~result",
    results=(result("result", STORAGE),),
    attributes=(integer("byte_alignment", minimum=1, power_of_two=True), integer("byte_length", minimum=0)),
    traits="allocates",
    example="%s = low.storage.reserve {byte_alignment = 16, byte_length = 256} : low.storage<workgroup>",
)
define(
    "low.storage.view",
    "B",
    "A part of a reservation.",
    " %storage {=} : ~storage -> ~result",
    operands=(one("storage", STORAGE),),
    results=(result("result", STORAGE),),
    attributes=(integer("offset", optional=True, minimum=0), integer("byte_length", minimum=0)),
    same=("storage result",),
    traits="pure",
    example=(
        "%v = low.storage.view %s {offset = 16, byte_length = 64} : low.storage<workgroup> -> low.storage<workgroup>"
    ),
)
define(
    "low.storage.address",
    "B",
    "The address of a reservation in a register.",
    " %storage {=} : ~storage -> ~result",
    operands=(one("storage", STORAGE),),
    results=(result("result", REGISTER),),
    attributes=(integer("offset", optional=True, minimum=0),),
    traits="pure",
    example="%a = low.storage.address %s {offset = 4} : low.storage<workgroup> -> reg<amdgpu.vgpr>",
)
define(
    "low.spill",
    "B",
    "Saves a register to private storage.",
    " %value, %storage : ~value, ~storage",
    operands=(one("value", REGISTER), one("storage", STORAGE)),
    traits="writes",
    verify=low.low_spill,
    example="low.spill %v, %s : reg<amdgpu.vgpr>, low.storage<private>",
)
define(
    "low.reload",
    "B",
    "Restores a register from private storage.",
    " %storage : ~storage -> ~result",
    operands=(one("storage", STORAGE),),
    results=(result("result", REGISTER),),
    traits="reads",
    verify=low.low_spill,
    example="%v = low.reload %s : low.storage<private> -> reg<amdgpu.vgpr>",
)
define(
    "low.assume",
    "B",
    "Identity that states facts about a register; it emits nothing.",
    " %values [$predicates] : ~results",
    operands=(group("values", REGISTER), group("bounds", REGISTER)),
    results=(results("results", REGISTER, infer=values.assume_results),),
    attributes=(attribute("predicates", "predicates"),),
    traits="pure",
    verify=values.assume,
    example="%b = low.assume %a [mul(%a, 4)] : reg<amdgpu.sgpr>",
)
for _name, _tier, _doc in (
    ("fence", "B", "Everything before stays before everything behind; emits nothing, waits for nothing."),
    ("phase", "A", "Starts the next phase of the scope."),
    ("begin", "B", "Opens an ordering scope: of phases, or one that keeps its order as `mode` says."),
    ("end", "B", "Closes the ordering scope."),
):
    define(
        f"low.schedule.{_name}",
        _tier,
        _doc,
        " {}" if _name == "begin" else "",
        attributes=(word("mode", SCOPES, default="phased"),) if _name == "begin" else (),
        traits="scheduling",
        verify=low.schedule_marker,
        example=f"low.schedule.{_name}",
    )
define(
    "low.invoke",
    "A",
    "Runs a function on registers from a source function; it is inlined and then scheduled and "
    "allocated with its caller.",
    "(? $pure?) $callee(%arguments) : (~arguments)(? -> (~results)?)",
    operands=(group("arguments"),),
    results=(results(),),
    attributes=(attribute("pure", "keyword", optional=True), attribute("callee", "symbol"), TIES),
    traits="call",
    example="%r = low.invoke @swap_bytes(%v) : (vector<1xi32>) -> (vector<1xi32>)",
)
