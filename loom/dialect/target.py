"""Target records and what source programs may ask of a target."""

from __future__ import annotations

from loom.dialect.common import INDEX_ONLY, attribute, define, integer, result, word
from loom.dialect.rules import values
from loom.ir import INDEX
from loom.ir.definition import AttributeDef

_LIMITS = (
    "contract_feature_bits", "default_pointer_bitwidth", "index_bitwidth", "max_flat_grid_size",
    "max_flat_workgroup_size", "max_grid_size_x", "max_grid_size_y", "max_grid_size_z", "max_workgroup_count_x",
    "max_workgroup_count_y", "max_workgroup_count_z", "max_workgroup_size_x", "max_workgroup_size_y",
    "max_workgroup_size_z", "max_workgroup_storage_bytes", "offset_bitwidth", "subgroup_size",
)  # fmt: skip
_TEXTS = ("abi", "artifact_format", "codegen_format", "contract_set_key", "export_symbol", "linkage", "processor")
OVERRIDES: tuple[AttributeDef, ...] = (
    *(integer(name, optional=True, minimum=0) for name in _LIMITS),
    *(attribute(name, "text", optional=True) for name in _TEXTS),
    attribute("attributes", "extra", optional=True),
)
FAMILIES = {
    "amdgpu": ("A", "An AMD GPU target, by its selector."),
    "x86": ("A", "An x86-64 host target, by its selector."),
    "spirv": ("B", "A SPIR-V target."),
    "llvmir": ("C", "An LLVM IR target."),
    "vm": ("C", "A bytecode machine target."),
    "wasm": ("C", "A WebAssembly target."),
    "ireevm": ("C", "An IREE VM target."),
    "test": ("C", "A target of the compiler's own tests."),
}

for _family, (_tier, _doc) in FAMILIES.items():
    define(
        f"{_family}.target",
        _tier,
        _doc,
        "<$selector> $sym_name {}",
        attributes=(attribute("selector", "bare"), attribute("sym_name", "symbol_name"), *OVERRIDES),
        traits="symbol module_level target",
        verify=values.target_record,
        example=f"{_family}.target<{'gfx11-generic' if _family == 'amdgpu' else 'generic'}> @t {{subgroup_size = 32}}",
    )
define(
    "target.decl",
    "B",
    "An abstract target that another module defines.",
    " $sym_name {}",
    attributes=(attribute("sym_name", "symbol_name"), *OVERRIDES),
    traits="symbol module_level target declaration",
    example="target.decl @t",
)
define(
    "target.generic",
    "B",
    "A target that stands for no machine.",
    "<$selector> $sym_name {}",
    attributes=(word("selector", ("reference",)), attribute("sym_name", "symbol_name"), *OVERRIDES),
    traits="symbol module_level target",
    example="target.generic<reference> @t",
)
define(
    "target.subgroup.size",
    "B",
    "The number of lanes of a subgroup on the target; a constant once the target is known.",
    " : ~result",
    results=(result("result", INDEX_ONLY, INDEX),),
    traits="pure",
    example="%n = target.subgroup.size : index",
)
