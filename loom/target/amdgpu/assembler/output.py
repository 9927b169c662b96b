"""The end of an assembly: layout, symbols resolved, the code object."""

from __future__ import annotations

from dataclasses import replace

from loom.diagnostics import Location, error
from loom.target.amdgpu.assembler.assembly import Assembly, Label
from loom.target.amdgpu.assembler.expressions import Cursor, Unresolved, failure, tokenize
from loom.target.amdgpu.assembler.kernel_directives import make_descriptor
from loom.target.amdgpu.code_object import ABI_V5, ABI_V6, CodeObject, Kernel, layout_addresses, with_entry_offsets


def finish(assembly: Assembly) -> CodeObject:
    """Lay out, resolve, and make the code object."""
    target = assembly.known_target(Location(assembly.file_name, max(len(assembly.raw_lines), 1), 1))
    for name in assembly.sections:
        if (
            name not in (".text", ".rodata")
            and assembly.sections[name].data
            and not name.startswith((".AMDGPU", ".note", ".debug", ".comment"))
        ):
            raise error(
                f"contents of section '{name}' have no place in the code object: .text and .rodata have",
                "ASM/020",
                Location(assembly.file_name, 1),
            )
    entries = assembly.metadata.get("amdhsa.kernels", [])
    by_symbol = (
        {str(e.get(".symbol", f"{e.get('.name')}.kd")): e for e in entries if isinstance(e, dict)}
        if isinstance(entries, list)
        else {}
    )
    rest = {key: value for key, value in assembly.metadata.items() if key != "amdhsa.kernels"}
    text = assembly.sections[".text"]
    kernels = []
    for name, values, location in assembly.kernels:
        label = assembly.labels.get(name)
        if label is None or label.section is not text:
            raise error(f"the kernel's code '{name}' is not defined in .text", "ASM/009", location)
        descriptor = make_descriptor(values, target, location, assembly.xnack in (None, "on"))
        kernels.append(
            Kernel(
                name,
                bytes(_size_of(assembly, name, label)),
                descriptor,
                by_symbol.get(f"{name}.kd", {}),
                label.offset,
                target.generation,
            )
        )
    kernels.sort(key=lambda item: (item.offset, item.name))
    default = ABI_V6 if target.is_generic else ABI_V5
    rodata = assembly.sections.get(".rodata")
    result = CodeObject(
        processor=target.name,
        kernels=tuple(kernels),
        text=bytes(text.data),
        xnack=assembly.xnack or ("any" if target.xnack else None),
        sramecc=assembly.sramecc or ("any" if target.sramecc else None),
        metadata=rest,
        abi_version=assembly.abi_version or default,
        constants=bytes(rodata.data) if rodata is not None else b"",
    )
    assembly.layout = layout_addresses(result)
    for fixup in assembly.fixups:
        code = fixup.make()
        fixup.section.data[fixup.offset : fixup.offset + len(code)] = code
    finished = tuple(
        replace(item, code=bytes(text.data[item.offset : item.offset + len(item.code)])) for item in kernels
    )
    result = replace(
        result, kernels=finished, text=bytes(text.data), constants=bytes(rodata.data) if rodata is not None else b""
    )
    return with_entry_offsets(result)


def _size_of(assembly: Assembly, name: str, label: Label) -> int:
    entry = assembly.sizes.get(name)
    if entry is None:
        others = [
            other.offset
            for key, other in assembly.labels.items()
            if key in assembly.functions and other.offset > label.offset
        ]
        return min(others, default=len(label.section.data)) - label.offset
    rest, location, column, here = entry
    current = assembly.lookup

    def lookup(symbol: str) -> int:
        if symbol == ".":
            return assembly.address(Label(label.section, here))
        return current(symbol)

    try:
        size = Cursor(tokenize(" " * column + rest, location, column), location).expression(lookup)
    except Unresolved as missing:
        raise failure(f"'{missing.name}' is not defined", location, column, "ASM/009") from None
    if not 0 <= size <= len(label.section.data) - label.offset:
        raise failure(f"the size of '{name}', {size}, does not fit its section", location, column, "ASM/018")
    return size
