"""Code objects: reading foreign ones, writing ours.

    read(data)                          bytes → CodeObject (ELF, offload bundle or fat binary)
    read_all(data)                      every AMDGPU code object in a container
    write(code_object)                  CodeObject → bytes
    build(processor, kernels, …)        kernels → CodeObject, laid out and aligned

A :class:`CodeObject` that was written and is read again is equal. V5 (``EI_ABIVERSION`` 3) is written for
processors, V6 (4) with its generic version
for the ``-generic`` targets. Facts: LLVM's AMDGPU usage guide, "Code Object".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from loom.diagnostics import error
from loom.target.amdgpu import bundle, elf
from loom.target.amdgpu.kernel_descriptor import SIZE as DESCRIPTOR_SIZE
from loom.target.amdgpu.kernel_descriptor import KernelDescriptor
from loom.target.amdgpu.processors import BY_MACH, Processor
from loom.target.amdgpu.processors import processor as find_processor

ABI_V5 = 3
ABI_V6 = 4
CODE_ALIGNMENT = 256
CODE_END = {"gfx11": 0xBF9F0000, "gfx12": 0xBF9F0000, "gfx9.4": 0xBF800000}
"""Word that pads code: ``s_code_end``, or ``s_nop`` where there is none."""


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """An argument as the metadata has it: bytes, ``value_kind`` (``global_buffer``, ``by_value``,
    ``hidden_block_count_x`` …)."""

    offset: int
    size: int
    kind: str
    name: str = ""
    address_space: str = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a code object.

    Attributes:
        name: Function symbol.
        code: The bytes of its symbol.
        descriptor: Its kernel descriptor.
        metadata: Its entry in ``amdhsa.kernels`` as it stands (keys with leading dot); empty if there is none.
        offset: Where the code begins in ``.text``.
        generation: ``gfx11`` ….
    """

    name: str
    code: bytes
    descriptor: KernelDescriptor
    metadata: dict[str, Any] = field(default_factory=dict)
    offset: int = 0
    generation: str = "gfx11"

    @property
    def wave_size(self) -> int:
        """32 or 64."""
        return self.descriptor.wave_size

    @property
    def arguments(self) -> tuple[KernelArgument, ...]:
        """The arguments in metadata order."""
        return tuple(
            KernelArgument(
                int(item.get(".offset", 0)),
                int(item.get(".size", 0)),
                str(item.get(".value_kind", "")),
                str(item.get(".name", "")),
                str(item.get(".address_space", "")),
            )
            for item in self.metadata.get(".args", ())
            if isinstance(item, dict)
        )

    @property
    def kernarg_size(self) -> int:
        """Bytes of the kernarg segment."""
        return int(self.metadata.get(".kernarg_segment_size", self.descriptor.kernarg_size))

    def _count(self, key: str) -> int | None:
        value = self.metadata.get(key)
        return value if isinstance(value, int) else None

    @property
    def vgpr_count(self) -> int:
        """VGPRs of the metadata, else the number the descriptor allocates."""
        known = self._count(".vgpr_count")
        if known is not None:
            return known
        granule = 8 if self.generation == "gfx9.4" or self.wave_size == 32 else 4
        return (self.descriptor.field("granulated_workitem_vgpr_count", self.generation) + 1) * granule

    @property
    def allocated_vgprs(self) -> int:
        """Vector registers the descriptor asks for (gfx9.4: accumulators included)."""
        granule = 8 if self.generation == "gfx9.4" or self.wave_size == 32 else 4
        return (self.descriptor.field("granulated_workitem_vgpr_count", self.generation) + 1) * granule

    @property
    def sgpr_count(self) -> int:
        """SGPRs of the metadata, else what the descriptor allocates (RDNA always has 106 and VCC)."""
        known = self._count(".sgpr_count")
        if known is not None:
            return known
        if self.generation != "gfx9.4":
            return 108
        return (self.descriptor.field("granulated_wavefront_sgpr_count", self.generation) + 1) * 8

    @property
    def workgroup_size(self) -> tuple[int, int, int] | None:
        """The required work-group size, if the metadata fixes it."""
        sizes = self.metadata.get(".reqd_workgroup_size")
        if isinstance(sizes, list) and len(sizes) == 3 and all(isinstance(item, int) for item in sizes):
            return (sizes[0], sizes[1], sizes[2])
        return None


@dataclass(frozen=True, slots=True)
class Function:
    """A function that kernels call: its symbol, where it begins in ``.text``, and its bytes."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A code object.

    Attributes:
        processor: Processor name, generic targets included.
        kernels: In the order of their code.
        text: The whole of ``.text``; ``text_base`` is subtracted from its addresses.
        xnack, sramecc: Target ID settings: ``None`` (not supported), ``"any"``, ``"off"``, ``"on"``.
        metadata: The metadata map without ``amdhsa.kernels``.
        abi_version: ``EI_ABIVERSION``.
        constants: Contents of ``.rodata`` behind the descriptors.
        functions: Functions in ``.text`` that are no kernels, by offset.
    """

    processor: str
    kernels: tuple[Kernel, ...]
    text: bytes
    xnack: str | None = None
    sramecc: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    abi_version: int = ABI_V5
    constants: bytes = b""
    functions: tuple[Function, ...] = ()

    @property
    def target_id(self) -> str:
        """``amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`` …."""
        text = f"amdgcn-amd-amdhsa--{self.processor}"
        for name, setting in (("sramecc", self.sramecc), ("xnack", self.xnack)):
            if setting in ("on", "off"):
                text += f":{name}{'+' if setting == 'on' else '-'}"
        return text

    def kernel(self, name: str | None = None) -> Kernel:
        """The kernel called ``name`` (with or without ``.kd``); without a name the only one.

        Raises:
            LoomError: ``OBJECT/006`` missing, ``OBJECT/007`` ambiguous.
        """
        names = ", ".join(item.name for item in self.kernels) or "none"
        if name is None:
            if len(self.kernels) == 1:
                return self.kernels[0]
            raise error(
                f"the code object has {len(self.kernels)} kernels; say which", "OBJECT/007", hint=f"kernels: {names}"
            )
        for item in self.kernels:
            if item.name == name.removesuffix(".kd"):
                return item
        raise error(f"the code object has no kernel '{name}'", "OBJECT/006", hint=f"kernels: {names}")


_XNACK = {0: None, 1: "any", 2: "off", 3: "on"}


def e_flags(target: Processor, xnack: str | None, sramecc: str | None) -> int:
    """``e_flags`` of a code object: machine, target ID settings, generic version."""
    flags = target.mach | target.generic_version << 24
    settings = {value: key for key, value in _XNACK.items()}
    flags |= settings[xnack] << 8 | settings[sramecc] << 10
    return flags


def read_all(data: bytes) -> tuple[CodeObject, ...]:
    """Every AMDGPU code object in an ELF file, an offload bundle or a fat binary.

    Raises:
        LoomError: ``OBJECT/…``.
    """
    if bundle.is_bundle(data):
        found = tuple(_read_elf(elf.parse(entry.data)) for entry in bundle.entries(data) if entry.is_amdgpu)
        if not found:
            raise error("the offload bundle holds no AMDGPU code object", "OBJECT/022")
        return found
    file = elf.parse(data)
    if file.machine != elf.MACHINE_AMDGPU:
        contained = tuple(_read_elf(elf.parse(e.data)) for e in bundle.fat_binary_entries(file) if e.is_amdgpu)
        if contained:
            return contained
        raise error(
            f"this ELF file is for machine {file.machine}, not AMDGPU (224), and holds no fat binary", "OBJECT/005"
        )
    return (_read_elf(file),)


def read(data: bytes, processor: str | None = None) -> CodeObject:
    """The one code object in ``data``, or the one for ``processor``.

    Raises:
        LoomError: ``OBJECT/…``; ``OBJECT/023`` when there are several and the choice is open.
    """
    found = read_all(data)
    if processor is not None:
        matching = [item for item in found if item.processor == processor]
        if not matching:
            have = ", ".join(item.processor for item in found)
            raise error(f"no code object for {processor}; there are some for {have}", "OBJECT/023")
        return matching[0]
    if len(found) > 1:
        raise error(f"{len(found)} code objects, for {', '.join(i.processor for i in found)}; say which", "OBJECT/023")
    return found[0]


def _read_elf(file: elf.ElfFile) -> CodeObject:
    if file.machine != elf.MACHINE_AMDGPU:
        raise error(f"this ELF file is for machine {file.machine}, not AMDGPU (224)", "OBJECT/005")
    target = BY_MACH.get(file.flags & 0xFF)
    if target is None:
        raise error(
            "the code object is for an AMDGPU processor this tool "
            f"does not know (EF_AMDGPU_MACH {file.flags & 0xFF:#x})",
            "OBJECT/008",
            hint="known: " + ", ".join(item.name for item in BY_MACH.values()),
        )
    text = file.section(".text")
    if text is None:
        raise error("the code object has no .text section", "OBJECT/009")
    text_index = file.sections.index(text)
    metadata = _metadata(file)
    entries = metadata.pop("amdhsa.kernels", [])
    by_symbol: dict[str, dict[str, Any]] = {}
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            by_symbol[str(entry.get(".symbol", f"{entry.get('.name', '')}.kd"))] = entry
    relocatable = file.kind == elf.TYPE_RELOCATABLE
    kernels = []
    functions = {symbol.name: symbol for symbol in file.symbols if symbol.section == text_index}
    for symbol in file.symbols:
        if not symbol.name.endswith(".kd") or symbol.section == 0 or symbol.section >= len(file.sections):
            continue
        section = file.sections[symbol.section]
        start = symbol.value - (0 if relocatable else section.address)
        if start < 0 or start + DESCRIPTOR_SIZE > len(section.data):
            raise error(f"the descriptor '{symbol.name}' lies outside of its section", "OBJECT/010")
        descriptor = KernelDescriptor.from_bytes(section.data[start : start + DESCRIPTOR_SIZE])
        name = symbol.name.removesuffix(".kd")
        function = functions.get(name)
        if function is not None:
            offset = function.value - (0 if relocatable else text.address)
            size = function.size
        else:
            offset = symbol.value + descriptor.code_entry_offset - text.address
            size = 0
        if size == 0:
            later = [s.value - (0 if relocatable else text.address) for s in functions.values()]
            size = min((other for other in later if other > offset), default=len(text.data)) - offset
        if offset < 0 or size < 0 or offset + size > len(text.data):
            raise error(f"the code of kernel '{name}' lies outside of .text", "OBJECT/009")
        entry = by_symbol.get(symbol.name, {})
        if relocatable:
            descriptor = replace(descriptor, code_entry_offset=0)
        kernels.append(Kernel(name, text.data[offset : offset + size], descriptor, entry, offset, target.generation))
    kernels.sort(key=lambda item: (item.offset, item.name))
    rodata = file.section(".rodata")
    descriptors = b"".join(item.descriptor.to_bytes() for item in kernels)
    constants = rodata.data[len(descriptors) :] if rodata is not None and rodata.data.startswith(descriptors) else b""
    return CodeObject(
        processor=target.name,
        kernels=tuple(kernels),
        text=text.data,
        xnack=_XNACK[file.flags >> 8 & 3],
        sramecc=_XNACK[file.flags >> 10 & 3],
        metadata=metadata,
        abi_version=file.abi_version,
        constants=constants,
        functions=_functions(functions.values(), {item.name for item in kernels}, 0 if relocatable else text.address),
    )


def _functions(symbols: Iterable[elf.Symbol], kernels: set[str], base: int) -> tuple[Function, ...]:
    """Function symbols of ``.text`` that name no kernel, by offset."""
    found = {
        Function(symbol.name, symbol.value - base, symbol.size)
        for symbol in symbols
        if symbol.kind == elf.SYMBOL_FUNCTION and symbol.name not in kernels
    }
    return tuple(sorted(found, key=lambda item: (item.offset, item.name)))


def _metadata(file: elf.ElfFile) -> dict[str, Any]:
    import msgpack

    for owner, kind, description in file.notes():
        if owner != "AMDGPU" or kind != elf.NOTE_METADATA:
            continue
        try:
            value = msgpack.unpackb(description, strict_map_key=False)
        except Exception as failure:
            raise error(f"the metadata note is no valid MessagePack: {failure}", "OBJECT/012") from None
        if not isinstance(value, dict):
            raise error("the metadata note is not a map", "OBJECT/012")
        return value
    return {}


def build(
    processor: str,
    kernels: Sequence[Kernel],
    *,
    xnack: str | None = None,
    sramecc: str | None = None,
    metadata: dict[str, Any] | None = None,
    abi_version: int | None = None,
) -> CodeObject:
    """Lay kernels out one behind the other, each 256-byte aligned and padded, and make a code object of them.

    ``offset`` and the descriptor's entry offset of the kernels given are ignored. On processors whose target ID has
    the settings
    ``xnack`` and ``sramecc`` default to ``"any"``.

    Raises:
        LoomError: ``AMDGPU/001`` unknown processor.
    """
    target = find_processor(processor)
    pad = CODE_END[target.generation].to_bytes(4, "little")
    text = b""
    placed = []
    for item in kernels:
        text += pad * (-len(text) % CODE_ALIGNMENT // 4)
        placed.append(replace(item, offset=len(text), generation=target.generation))
        text += item.code
    # The instruction prefetcher runs ahead of the program; LLVM pads the end of the code for it.
    if target.generation != "gfx9.4":
        text += pad * (-len(text) % 128 // 4 + 48)
    return with_entry_offsets(
        CodeObject(
            processor=target.name,
            kernels=tuple(placed),
            text=text,
            xnack=xnack if xnack is not None else "any" if target.xnack else None,
            sramecc=sramecc if sramecc is not None else "any" if target.sramecc else None,
            metadata=metadata if metadata is not None else {},
            abi_version=abi_version if abi_version is not None else ABI_V6 if target.is_generic else ABI_V5,
        )
    )


def _parts(code_object: CodeObject) -> tuple[bytes, list[elf.SymbolToWrite]]:
    """Metadata bytes and dynamic symbols of a code object."""
    import msgpack

    kernels = [item.metadata for item in code_object.kernels if item.metadata]
    document = {"amdhsa.kernels": kernels, **code_object.metadata} if kernels or code_object.metadata else {}
    packed = msgpack.packb(_sorted(document)) if document else b""
    symbols: list[elf.SymbolToWrite] = []
    for index, item in enumerate(code_object.kernels):
        symbols.append(elf.SymbolToWrite(item.name, elf.SYMBOL_FUNCTION, item.offset, len(item.code), 3))
        symbols.append(
            elf.SymbolToWrite(f"{item.name}.kd", elf.SYMBOL_OBJECT, index * DESCRIPTOR_SIZE, DESCRIPTOR_SIZE)
        )
    for called in code_object.functions:
        symbols.append(elf.SymbolToWrite(called.name, elf.SYMBOL_FUNCTION, called.offset, called.size, 3))
    return packed, symbols


def _sorted(value: Any) -> Any:
    """Maps with sorted keys: the bytes depend on the contents only."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value, key=str)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def layout_addresses(code_object: CodeObject) -> tuple[int, int]:
    """Addresses of ``.rodata`` and ``.text`` in the file :func:`write` makes."""
    packed, symbols = _parts(code_object)
    note_size = (20 + len(packed) + 3 & ~3) if packed else 0
    size = DESCRIPTOR_SIZE * len(code_object.kernels) + len(code_object.constants)
    return elf.text_address(size, len(symbols), elf.names_size(symbols), note_size)


def with_entry_offsets(code_object: CodeObject) -> CodeObject:
    """The same code object with every descriptor's entry offset as :func:`write` will lay it out."""
    rodata, text = layout_addresses(code_object)
    kernels = tuple(
        replace(
            item,
            descriptor=replace(
                item.descriptor, code_entry_offset=text + item.offset - (rodata + DESCRIPTOR_SIZE * index)
            ),
        )
        for index, item in enumerate(code_object.kernels)
    )
    return replace(code_object, kernels=kernels)


def write(code_object: CodeObject) -> bytes:
    """The code object as a loadable ELF file. Entry offsets are set as the layout wants them.

    Raises:
        LoomError: ``AMDGPU/001`` unknown processor.
    """
    target = find_processor(code_object.processor)
    code_object = with_entry_offsets(code_object)
    packed, symbols = _parts(code_object)
    rodata = b"".join(item.descriptor.to_bytes() for item in code_object.kernels) + code_object.constants
    flags = e_flags(target, code_object.xnack, code_object.sramecc)
    return elf.write(code_object.text, rodata, symbols, packed, flags, code_object.abi_version)
