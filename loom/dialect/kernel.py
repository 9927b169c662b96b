"""The kernel dialect: kernels, their launch, and what work items of a workgroup do together."""

from __future__ import annotations

from loom.dialect.common import (
    ASYNC_GROUP,
    ASYNC_TOKEN,
    AXES,
    BOOL,
    BUFFER_ONLY,
    CACHE,
    COMBINING_KINDS,
    INDEX_ONLY,
    LANES,
    LDS_DESCRIPTOR,
    MASK_WORD,
    OFFSET_ONLY,
    ORDERINGS,
    SCALAR,
    VIEW,
    WORD32,
    attribute,
    define,
    group,
    indices,
    integer,
    maybe,
    one,
    region,
    result,
    word,
)
from loom.dialect.rules import functions, memory
from loom.ir import BUFFER, I1, I32, I64, INDEX, OpaqueType

DIRECTIONS = ("global_to_workgroup", "workgroup_to_global")
_TOKEN = OpaqueType("kernel.async.token")
_GROUP = OpaqueType("kernel.async.group")

define(
    "kernel.def",
    "A",
    "A kernel. The first list is the workload, from which the first region computes the launch; the "
    "second is the device interface, which the second region sees.",
    "(? $public?)(? $retain?)(? target($target)?)(? export($export)?)(? linkage($linkage)?) "
    "$sym_name!arguments(config)(? where [$where]?) &config launch!arguments(body)(? where "
    "[$launch_where]?) &body",
    attributes=(
        attribute("public", "keyword", optional=True),
        attribute("retain", "keyword", optional=True),
        attribute("target", "symbol", optional=True),
        attribute("export", "string", optional=True),
        word("linkage", ("dso_local",), optional=True),
        attribute("sym_name", "symbol_name"),
        attribute("where", "predicates", optional=True),
        attribute("launch_where", "predicates", optional=True),
    ),
    regions=(
        region("config", ("kernel.launch.config",), isolated=True),
        region("body", ("kernel.return",), isolated=True, blocks="any"),
    ),
    traits="symbol module_level kernel",
    verify=functions.kernel,
    example=(
        "kernel.def @fill(%n: index) "
        "{\n  kernel.launch.config workgroups(%n, %n, %n) workgroup_size(%n, %n, %n) : index\n} "
        "launch(%out: buffer) {\n  kernel.return\n}"
    ),
)
define(
    "kernel.decl",
    "A",
    "A dependency on a kernel of another module.",
    " $sym_name!arguments(config) launch!arguments(body)",
    attributes=(attribute("sym_name", "symbol_name"),),
    regions=(region("config", (), isolated=True), region("body", (), isolated=True)),
    traits="symbol module_level kernel declaration",
    verify=functions.kernel,
    example="kernel.decl @fill(%n: index) launch(%out: buffer)",
)
define(
    "kernel.launch.config",
    "A",
    "Ends the launch region: how many workgroups of how many work items along x, y and z.",
    " workgroups(%workgroups) workgroup_size(%workgroup_size)(? cluster_size(%cluster_size)?)(? "
    "dynamic_workgroup_storage(%dynamic_workgroup_storage)?) : ~workgroups[0]",
    operands=(
        group("workgroups", INDEX_ONLY),
        group("workgroup_size", INDEX_ONLY),
        group("cluster_size", INDEX_ONLY),
        maybe("dynamic_workgroup_storage", OFFSET_ONLY),
    ),
    traits="terminator",
    parents=("kernel.def",),
    verify=functions.launch_config,
    example="kernel.launch.config workgroups(%x, %one, %one) workgroup_size(%lanes, %one, %one) : index",
)
define(
    "kernel.launch",
    "A",
    "Launches a kernel; tensors bind to its buffer parameters.",
    " $callee(?[%workload]?)(%arguments) : (?[~workload]?)(~arguments)",
    operands=(group("workload"), group("arguments")),
    attributes=(attribute("callee", "symbol"),),
    traits="call",
    example="kernel.launch @fill[%n](%t) : [index](tensor<[%n]xf32>)",
)
define(
    "kernel.return",
    "A",
    "Ends the work item's program.",
    "",
    traits="terminator",
    parents=("kernel.def",),
    example="kernel.return",
)
for _name, _doc in (
    ("workitem.id", "The work item's coordinate in its workgroup."),
    ("workgroup.id", "The workgroup's coordinate in the grid."),
    ("workgroup.size", "The extent of a workgroup."),
    ("workgroup.count", "The extent of the grid in workgroups."),
    ("workitem.dispatch.id", "workgroup.id * workgroup.size + workitem.id."),
):
    define(
        f"kernel.{_name}",
        "A",
        _doc,
        "<$dimension> : ~result",
        results=(result("result", INDEX_ONLY, INDEX),),
        attributes=(word("dimension", AXES),),
        traits="pure device",
        example=f"%r = kernel.{_name}<x> : index",
    )
for _name, _doc in (
    ("cluster.id", "The cluster's coordinate in the grid."),
    ("cluster.size", "The extent of a cluster in workgroups."),
    ("cluster.count", "The extent of the grid in clusters."),
    ("cluster.workgroup.id", "The workgroup's coordinate in its cluster."),
    ("cluster.workgroup.size", "The extent of a cluster in workgroups."),
    ("cluster.workgroup.count", "The number of workgroups of a cluster along an axis."),
):
    define(
        f"kernel.{_name}",
        "B",
        _doc,
        "<$dimension> : ~result",
        results=(result("result", INDEX_ONLY, INDEX),),
        attributes=(word("dimension", AXES),),
        traits="pure device",
        example=f"%r = kernel.{_name}<x> : index",
    )
for _name, _tier, _doc in (
    ("subgroup.id", "A", "The number of the subgroup in its workgroup."),
    ("subgroup.count", "A", "The number of subgroups in the workgroup."),
    ("subgroup.size", "A", "The number of lanes of a subgroup."),
    ("subgroup.lane.id", "A", "The lane in its subgroup."),
    ("cluster.workgroup.flat_id", "B", "The workgroup's linear number in its cluster."),
):
    define(
        f"kernel.{_name}",
        _tier,
        _doc,
        " : ~result",
        results=(result("result", INDEX_ONLY, INDEX),),
        traits="pure device",
        example=f"%r = kernel.{_name} : index",
    )
define(
    "kernel.barrier",
    "A",
    "Execution and memory barrier; every work item of the scope must reach it.",
    "<$memory_space>(? scope($scope)?)(? ordering($ordering)?) {}",
    attributes=(
        word("memory_space", ("workgroup", "global")),
        word("scope", ("workgroup", "subgroup")),
        word("ordering", ORDERINGS),
    ),
    traits="barrier convergent",
    verify=functions.barrier,
    example="kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)",
)
define(
    "kernel.subgroup.shuffle",
    "A",
    "A value of another lane of the same aligned cluster of `width` lanes, and whether that lane is in the cluster.",
    "<$mode> %value, %offset, %width : ~value, ~offset, ~width",
    operands=(one("value", LANES), one("offset", WORD32), one("width", WORD32)),
    results=(result("result", LANES, "value"), result("valid", BOOL, I1)),
    attributes=(word("mode", ("xor", "up", "down", "index")),),
    traits="pure convergent device",
    example="%r, %valid = kernel.subgroup.shuffle<xor> %v, %o, %w : f32, i32, i32",
)
define(
    "kernel.subgroup.broadcast",
    "A",
    "A chosen lane's value in all lanes.",
    " %value from %lane : ~value, ~lane",
    operands=(one("value", LANES), one("lane", WORD32)),
    results=(result("result", LANES, "value"),),
    traits="pure convergent device",
    example="%r = kernel.subgroup.broadcast %v from %lane : f32, i32",
)
define(
    "kernel.subgroup.broadcast.first",
    "A",
    "The lowest active lane's value in all lanes.",
    " %value : ~value",
    operands=(one("value", LANES),),
    results=(result("result", LANES, "value"),),
    traits="pure convergent device",
    example="%r = kernel.subgroup.broadcast.first %v : f32",
)
_CLUSTER = (integer("cluster_size", optional=True, minimum=1), integer("cluster_stride", optional=True, minimum=1))
_SCAN = (word("direction", ("forward", "reverse")), word("mode", ("inclusive", "exclusive")))
for _level, _attributes in (("subgroup", _CLUSTER), ("workgroup", ())):
    define(
        f"kernel.{_level}.reduce",
        "A",
        f"Combines the values of all work items of the {_level} (or cluster); all get the result.",
        "<$kind> %value {} : ~value",
        operands=(one("value", LANES),),
        results=(result("result", LANES, "value"),),
        attributes=(word("kind", COMBINING_KINDS), *_attributes),
        traits="pure convergent device",
        verify=functions.collective,
        example=f"%r = kernel.{_level}.reduce<addf> %v : f32",
    )
    define(
        f"kernel.{_level}.scan",
        "A",
        f"Running combination over the work items of the {_level} (or cluster).",
        "<$kind> %value {} : ~value",
        operands=(one("value", LANES),),
        results=(result("result", LANES, "value"),),
        attributes=(word("kind", COMBINING_KINDS), *_attributes, *_SCAN),
        traits="pure convergent device",
        verify=functions.collective,
        example=f"%r = kernel.{_level}.scan<addi> %v {{direction = forward, mode = exclusive}} : i32",
    )
    for _name in ("any", "all"):
        define(
            f"kernel.{_level}.vote.{_name}",
            "A" if _level == "subgroup" else "B",
            f"Whether {_name} active work item{'s give' if _name == 'all' else ' gives'} true in the {_level}.",
            " %value : ~value",
            operands=(one("value", BOOL),),
            results=(result("result", BOOL, I1),),
            traits="pure convergent device",
            example=f"%r = kernel.{_level}.vote.{_name} %p : i1",
        )
define(
    "kernel.workgroup.vote.count",
    "B",
    "How many work items of the workgroup give true.",
    " %value : ~value -> ~result",
    operands=(one("value", BOOL),),
    results=(result("result", WORD32, I32),),
    traits="pure convergent device",
    example="%r = kernel.workgroup.vote.count %p : i1 -> i32",
)
define(
    "kernel.subgroup.vote.ballot",
    "A",
    "The mask of active lanes that give true.",
    " %value : ~value -> ~result",
    operands=(one("value", BOOL),),
    results=(result("result", MASK_WORD, I64),),
    traits="pure convergent device",
    example="%m = kernel.subgroup.vote.ballot %p : i1 -> i64",
)
define(
    "kernel.subgroup.active.mask",
    "A",
    "The mask of active lanes.",
    " : ~result",
    results=(result("result", MASK_WORD, I64),),
    traits="pure convergent device",
    example="%m = kernel.subgroup.active.mask : i64",
)
define(
    "kernel.subgroup.match.any",
    "A",
    "The mask of lanes that hold this lane's value.",
    " %value : ~value -> ~result",
    operands=(one("value", SCALAR),),
    results=(result("result", MASK_WORD),),
    traits="pure convergent device",
    example="%m = kernel.subgroup.match.any %v : i32 -> i64",
)
define(
    "kernel.subgroup.match.all",
    "A",
    "The mask of lanes that hold this lane's value, and whether all active lanes do.",
    " %value : ~value -> ~result, ~all",
    operands=(one("value", SCALAR),),
    results=(result("result", MASK_WORD), result("all", BOOL)),
    traits="pure convergent device",
    example="%m, %all = kernel.subgroup.match.all %v : i32 -> i64, i1",
)
define(
    "kernel.workgroup.storage",
    "B",
    "The dynamic tail of workgroup memory that the launch declares.",
    "(? align($alignment)?) %size : ~result",
    operands=(one("size", OFFSET_ONLY),),
    results=(result("result", BUFFER_ONLY, BUFFER),),
    attributes=(integer("alignment", optional=True, minimum=1, power_of_two=True),),
    traits="allocates device",
    example="%b = kernel.workgroup.storage align(64) %bytes : buffer",
)
define(
    "kernel.exit",
    "C",
    "Leaves the kernel early when the condition is true.",
    " %condition : ~condition {}",
    operands=(one("condition", BOOL),),
    attributes=(attribute("attributes", "extra", optional=True),),
    traits="control device",
    example="kernel.exit %c : i1",
)
define(
    "kernel.assert",
    "C",
    "Traps when the condition is false.",
    " %condition(? $message?) : ~condition",
    operands=(one("condition", BOOL),),
    attributes=(attribute("message", "string", optional=True),),
    traits="control device",
    example='kernel.assert %c "out of range" : i1',
)
_DIRECTION = word("direction", DIRECTIONS)
for _name, _masked, _extra, _doc in (
    ("copy", False, (_DIRECTION,), "Starts a copy between two views of equal footprint."),
    ("copy.mask", True, (_DIRECTION,), "Starts a copy where the predicate is true."),
    ("gather", False, (), "Starts a subgroup-collective gather; the destination has a leading lane axis."),
    ("gather.mask", True, (), "Starts a subgroup-collective gather where the predicate is true."),
):
    define(
        f"kernel.async.{_name}",
        "B",
        _doc,
        f" %source to %destination{', %mask' if _masked else ''} {{}} "
        f": ~source to ~destination{', ~mask' if _masked else ''} "
        "-> ~result",
        operands=(one("source", VIEW), one("destination", VIEW), *((one("mask", BOOL),) if _masked else ())),
        results=(result("result", ASYNC_TOKEN, _TOKEN),),
        attributes=(*CACHE, *_extra),
        traits="reads writes device",
        verify=functions.async_copy,
    )
define(
    "kernel.async.group",
    "B",
    "Closes a group of started copies; groups are ordered.",
    "(? %tokens : ~tokens?) -> ~result",
    operands=(group("tokens", ASYNC_TOKEN),),
    results=(result("result", ASYNC_GROUP, _GROUP),),
    traits="writes device",
    verify=functions.async_group,
    example="%g = kernel.async.group %t : kernel.async.token -> kernel.async.group",
)
define(
    "kernel.async.wait",
    "B",
    "Waits until the group, and all older ones, are complete.",
    " %group {} : ~group",
    operands=(one("group", ASYNC_GROUP),),
    attributes=(integer("newer_groups", minimum=0),),
    traits="reads writes device",
    example="kernel.async.wait %g {newer_groups = 1} : kernel.async.group",
)
for _name, _masked in (("cluster.gather", False), ("cluster.gather.mask", True)):
    define(
        f"kernel.async.{_name}",
        "C",
        "Starts a gather shared by the workgroups of a cluster; `using` gives the mask of workgroups.",
        f" %source to %destination using %workgroups{', %mask' if _masked else ''} {{}} : ~source to "
        f"~destination, ~workgroups{', ~mask' if _masked else ''} -> ~result",
        operands=(
            one("source", VIEW),
            one("destination", VIEW),
            one("workgroups", MASK_WORD),
            *((one("mask", BOOL),) if _masked else ()),
        ),
        results=(result("result", ASYNC_TOKEN, _TOKEN),),
        attributes=CACHE,
        traits="reads writes device",
    )
for _name, _doc in (
    ("tensor.load.to.lds", "Starts a tensor load from global to workgroup memory."),
    ("tensor.store.from.lds", "Starts a tensor store from workgroup to global memory."),
):
    define(
        f"kernel.async.{_name}",
        "C",
        _doc,
        " %source to %destination using %descriptor {} : ~source to ~destination, ~descriptor -> ~result",
        operands=(one("source", VIEW), one("destination", VIEW), one("descriptor", LDS_DESCRIPTOR)),
        results=(result("result", ASYNC_TOKEN, _TOKEN),),
        attributes=CACHE,
        traits="reads writes device",
    )
define(
    "kernel.tensor.lds.descriptor",
    "C",
    "Describes the movement of a tensor tile between global and workgroup memory.",
    " %view[@indices] {} : ~view -> ~result",
    operands=(one("view", VIEW), group("indices", INDEX_ONLY)),
    results=(result("result", LDS_DESCRIPTOR, OpaqueType("kernel.tensor.lds.descriptor")),),
    attributes=(indices(), attribute("attributes", "extra", optional=True)),
    traits="pure device",
    verify=memory.full_rank,
)
