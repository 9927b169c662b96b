"""Artifacts as users have them: code objects, offload bundles, fat binaries, assembly, prepared Low."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loom.diagnostics import error
from loom.store.canonical import sha256

_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Source:
    """An artifact and the code object in it.

    Attributes:
        name: File name, without its folder.
        kind: ``code_object bundle fat_binary assembly low``.
        sha256: Hash of the artifact's bytes.
        size: Bytes of the artifact.
        code_object: The code object.
    """

    name: str
    kind: str
    sha256: str
    size: int
    code_object: bytes

    def describe(self) -> dict[str, Any]:
        """The artifact for a record."""
        return {"file": self.name, "kind": self.kind, "sha256": self.sha256, "bytes": self.size}


def _processor(target: str | None) -> str | None:
    """The processor of ``amdgpu:gfx1100``, or of a bare processor name."""
    return None if target is None else target.rpartition(":")[2]


def load_source(path: str, data: bytes, target: str | None = None, kernel: str | None = None) -> Source:
    """Find the code object in an artifact, making it where the artifact is text.

    Args:
        path: File name; its ending tells assembly (``.s``) from prepared Low (``.loom``).
        data: Bytes of the file.
        target: ``family:processor``; needed where the artifact holds several code objects or none.
        kernel: For prepared Low with several kernels, the one to compile.

    Raises:
        LoomError: ``CAPTURE/001`` for an artifact of unknown kind; what reading, assembling and compiling refuse.
    """
    from loom.target.amdgpu.bundle import is_bundle

    name = path.rsplit("/", 1)[-1]
    if is_bundle(data):
        kind, code = "bundle", _contained(data, target)
    elif data.startswith(_ELF):
        kind, code = _elf(data, target)
    elif name.endswith((".s", ".asm", ".S")):
        kind, code = "assembly", _assemble(path, data, target)
    elif name.endswith(".loom"):
        kind, code = "low", _compile(path, data, kernel)
    else:
        raise error(
            f"'{path}' is no native artifact",
            "CAPTURE/001",
            hint="a code object, an offload bundle, a fat binary, assembly (.s), or prepared Low (.loom)",
        )
    return Source(name, kind, sha256(data), len(data), code)


def _elf(data: bytes, target: str | None) -> tuple[str, bytes]:
    from loom.target.amdgpu import elf

    if elf.parse(data).machine == elf.MACHINE_AMDGPU:
        return "code_object", data
    return "fat_binary", _contained(data, target)


def _contained(data: bytes, target: str | None) -> bytes:
    """The code object of one processor in a bundle or fat binary, byte for byte."""
    from loom.target.amdgpu import bundle, elf
    from loom.target.amdgpu.code_object import read

    found = bundle.entries(data) if bundle.is_bundle(data) else bundle.fat_binary_entries(elf.parse(data))
    objects = [(entry, read(entry.data).processor) for entry in found if entry.is_amdgpu and entry.data]
    wanted = _processor(target)
    matching = [entry.data for entry, processor in objects if wanted is None or processor == wanted]
    if len(matching) == 1:
        return matching[0]
    have = ", ".join(sorted({processor for _, processor in objects})) or "none"
    if not matching:
        missing = f"no code object for {wanted}" if wanted else "no AMDGPU code object"
        raise error(f"the artifact holds {missing}", "CAPTURE/003", hint=f"it holds some for: {have}")
    raise error(
        f"the artifact holds {len(matching)} code objects",
        "CAPTURE/003",
        hint=f"name a processor (--target or --processor); it holds some for: {have}",
    )


def _assemble(path: str, data: bytes, target: str | None) -> bytes:
    from loom.target.amdgpu.assembler import assemble
    from loom.target.amdgpu.code_object import write

    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise error(f"'{path}' is no UTF-8 text", "CAPTURE/004") from None
    return write(assemble(text, path, _processor(target)))


def _compile(path: str, data: bytes, kernel: str | None) -> bytes:
    from loom import parse
    from loom.target.amdgpu.compile import CompileOptions, compile_module

    module = parse(data, path)
    return compile_module(module, CompileOptions(pipeline="none", root=kernel)).code_object
