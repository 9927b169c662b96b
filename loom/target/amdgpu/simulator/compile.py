"""From IR text to host machine code: compilation in a child process, an object cache on disk, linking.

The cache is keyed by a hash of the text, the host's features and the versions that make the code. Files are written
under a temporary
name and renamed, and carry a checksum: a truncated or foreign file counts as absent.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from loom.diagnostics import ExitCode, error

FORMAT = "loom-simulator-object-1"
_MAGIC = b"LOOMOBJ1"


def cache_directory() -> Path:
    """Where compiled objects are kept: ``$LOOM_CACHE_DIR``, else ``~/.cache/loom``, each with ``simulator`` below."""
    chosen = os.environ.get("LOOM_CACHE_DIR")
    base = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loom"
    return base / "simulator"


@lru_cache(maxsize=1)
def _binding() -> Any:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@lru_cache(maxsize=1)
def host_features() -> tuple[str, str]:
    """The host processor's name and feature string, as LLVM sees them. ``LOOM_SIMULATOR_FEATURES`` appends to the
    latter.
    """
    binding = _binding()
    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:  # the host does not tell
        features = ""
    extra = os.environ.get("LOOM_SIMULATOR_FEATURES", "")
    return binding.get_host_cpu_name(), ",".join(f for f in (features, extra) if f)


def has_hardware_fma() -> bool:
    """Whether the host multiplies and adds with one rounding."""
    enabled = False
    for feature in host_features()[1].split(","):
        if feature == "+fma":
            enabled = True
        elif feature == "-fma":
            enabled = False
    return enabled


@lru_cache(maxsize=4)
def _machine(level: int) -> Any:
    binding = _binding()
    name, features = host_features()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=level, jit=True, reloc="pic", codemodel="small"
    )


def host_identity() -> tuple[Any, ...]:
    """What objects depend on besides the text: the host's features and the versions that make the code."""
    return (FORMAT, *host_features(), _binding().llvm_version_info, _binding_version())


def _key(text: str, level: int) -> str:
    digest = hashlib.sha256(repr((*host_identity(), level)).encode())
    digest.update(text.encode())
    return digest.hexdigest()


def _binding_version() -> str:
    import llvmlite

    return str(llvmlite.__version__)


def _checksum(key: str, body: bytes) -> bytes:
    """Of contents and name: a file under another one's name would link, and run the other kernel."""
    return hashlib.sha256(key.encode() + body).digest()


def read_cached(key: str) -> bytes | None:
    """An object from the cache, or None when it is absent or damaged."""
    try:
        data = (cache_directory() / key[:2] / key).read_bytes()
    except OSError:
        return None
    if data[:8] != _MAGIC or _checksum(key, data[40:]) != data[8:40]:
        return None
    return data[40:]


def write_cached(key: str, body: bytes) -> None:
    """Put an object into the cache; a cache that cannot be written is no error."""
    directory = cache_directory() / key[:2]
    name = None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=directory)
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + _checksum(key, body) + body)
        os.replace(name, directory / key)
    except OSError:
        if name is not None:  # a full disk would otherwise fill up further with every run
            with suppress(OSError):
                os.unlink(name)


def unique_declarations(text: str) -> str:
    """Drop repeated ``declare`` lines and those of functions that the text defines."""
    defined = {line.split("@", 1)[1].split("(", 1)[0] for line in text.split("\n") if line.startswith("define ")}
    seen: set[str] = set()
    kept = []
    for line in text.split("\n"):
        if line.startswith("declare "):
            name = line.split("@", 1)[1].split("(", 1)[0]
            if name in seen or name in defined:
                continue
            seen.add(name)
        kept.append(line)
    return "\n".join(kept)


def emit(text: str, level: int) -> bytes:
    """Compile IR text to an object in this process."""
    binding = _binding()
    module = binding.parse_assembly(text)
    return bytes(_machine(level).emit_object(module))


def _emit_in_child(text: str, level: int) -> bytes:
    """Compile in a forked child, so that a fatal error of the code generator is an error message, not the end of the
    process.
    """
    if not hasattr(os, "fork") or os.environ.get("LOOM_SIMULATOR_IN_PROCESS"):
        return emit(text, level)
    _machine(level)  # shared with the child
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read_end)
            try:
                data = b"O" + emit(text, level)
            except Exception as problem:
                data = b"E" + str(problem).encode()
            with os.fdopen(write_end, "wb") as pipe:
                pipe.write(data)
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if status == 0 and data[:1] == b"O":
        return data[1:]
    reason = data[1:].decode(errors="replace") if data[:1] == b"E" else f"it ended with wait status {status}"
    raise error(
        f"the host code generator failed: {reason[:400]}",
        "SIMULATOR/010",
        hint="set LOOM_SIMULATOR_FEATURES=-avx512f and try again; please report the kernel",
        exit_code=ExitCode.INTERNAL,
    )


def compile_object(text: str, level: int = 2) -> tuple[str, bytes]:
    """The object for IR text, from the cache where possible, with its key there."""
    text = unique_declarations(text)
    key = _key(text, level)
    found = read_cached(key)
    if found is None:
        found = _emit_in_child(text, level)
        write_cached(key, found)
    return key, found


def compile_text(text: str, level: int = 2) -> bytes:
    """The object for IR text, from the cache where possible."""
    return compile_object(text, level)[1]


@lru_cache(maxsize=1)
def _jit() -> Any:
    _machine.cache_clear()  # the compiler takes the machine over; the next compilation makes its own
    machine = _machine(2)
    _machine.cache_clear()
    return _binding().create_lljit_compiler(machine, use_jit_link=False, suppress_errors=False)


_library_count = 0


class Library:
    """Linked host code. Keep it alive as long as its functions may run."""

    def __init__(self, objects: Sequence[bytes], exports: Iterable[str]) -> None:
        global _library_count
        binding = _binding()
        _library_count += 1
        builder = binding.JITLibraryBuilder()
        for data in objects:
            builder.add_object_img(data)
        builder.add_current_process()
        names = list(exports)
        for name in names:
            builder.export_symbol(name)
        try:
            self._tracker = builder.link(_jit(), f"loom{_library_count}")
        except RuntimeError as problem:
            raise error(
                f"the host code cannot be linked: {problem}",
                "SIMULATOR/015",
                hint="the simulator needs an x86-64 processor with F16C (2012 or newer)",
                exit_code=ExitCode.UNAVAILABLE,
            ) from None
        self.addresses: dict[str, int] = {name: self._tracker[name] for name in names}
