"""Code objects: flags and versions as LLVM reads them, containers, and refusals of what is malformed."""

from __future__ import annotations

import re
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from loom.diagnostics import LoomError
from loom.target.amdgpu import code_object, elf
from loom.target.amdgpu.code_object import Kernel
from loom.target.amdgpu.kernel_descriptor import FIELDS, KernelDescriptor
from loom.target.amdgpu.processors import PROCESSORS

NATIVE = Path(__file__).resolve().parents[2] / "native"
SAXPY = (NATIVE / "asm/gfx1100/saxpy_asm.hsaco").read_bytes()
END = {"gfx11": "0000b0bf", "gfx12": "0000b0bf", "gfx9.4": "000081bf"}


def _small(processor: str) -> code_object.CodeObject:
    generation = PROCESSORS[processor].generation
    descriptor = KernelDescriptor(kernarg_size=16)
    if generation != "gfx9.4":
        descriptor = descriptor.with_field("wavefront_size32", 1, generation)
    metadata = {".name": "k", ".symbol": "k.kd", ".kernarg_segment_size": 16, ".kernarg_segment_align": 8, ".wavefront_size": descriptor.wave_size,
                ".group_segment_fixed_size": 0, ".private_segment_fixed_size": 0, ".sgpr_count": 8, ".vgpr_count": 4, ".max_flat_workgroup_size": 64,
                ".args": [{".offset": 0, ".size": 8, ".value_kind": "global_buffer", ".address_space": "global"}]}  # fmt: skip
    top = {"amdhsa.target": f"amdgcn-amd-amdhsa--{processor}", "amdhsa.version": [1, 2]}
    kernels = [
        Kernel("k", bytes.fromhex(END[generation]), descriptor, metadata),
        Kernel("other", bytes.fromhex(END[generation]) * 3, descriptor),
    ]
    return code_object.build(processor, kernels, metadata=top)


@pytest.mark.parametrize("processor", list(PROCESSORS))
def test_every_processor_is_written_as_llvm_reads_it(
    processor: str, oracle: Callable[[str], str], tmp_path: Path
) -> None:
    readobj, objdump = oracle("llvm-readobj-22"), oracle("llvm-objdump-22")
    made = _small(processor)
    data = code_object.write(made)
    assert code_object.read(data) == made
    path = tmp_path / "k.hsaco"
    path.write_bytes(data)
    done = subprocess.run(
        [readobj, "-h", "--notes", "--dyn-syms", str(path)], capture_output=True, text=True, check=True
    )
    assert not done.stderr
    generic = PROCESSORS[processor].is_generic
    assert f"ABIVersion: {4 if generic else 3}" in done.stdout
    assert f"EF_AMDGPU_MACH_AMDGCN_{processor.upper().replace('-', '_')} " in done.stdout
    assert ("EF_AMDGPU_GENERIC_VERSION_V1" in done.stdout) == generic
    assert "amdhsa.kernels" in done.stdout and "global_buffer" in done.stdout
    names = re.findall(r"Name: (\w+(?:\.kd)?)$", done.stdout, re.MULTILINE) + re.findall(
        r"Name: (\w+(?:\.kd)?) \(", done.stdout
    )
    assert {"k", "k.kd", "other", "other.kd"} <= set(names)
    listing = subprocess.run(
        [objdump, "-D", "--disassemble-symbols=k,k.kd,other", str(path)], capture_output=True, text=True, check=True
    )
    assert listing.stdout.count("s_endpgm") == 4
    assert ".amdhsa_kernel k" in listing.stdout and ".amdhsa_kernarg_size 16" in listing.stdout


def test_flags_agree_with_llvms_assembler(oracle: Callable[[str], str], tmp_path: Path) -> None:
    mc = oracle("llvm-mc-22")
    for name, target in PROCESSORS.items():
        out = tmp_path / "o.o"
        subprocess.run(
            [mc, "-triple=amdgcn-amd-amdhsa", f"-mcpu={name}", "-filetype=obj", "-o", str(out)],
            input="s_nop 0\n",
            text=True,
            check=True,
        )
        flags = elf.parse(out.read_bytes()).flags
        expected = code_object.e_flags(target, "any" if target.xnack else None, "any" if target.sramecc else None)
        assert flags == expected, name


def test_descriptor_fields_do_not_overlap() -> None:
    for generation, fields in FIELDS.items():
        used: dict[int, int] = {}
        for name, (word, shift, width) in fields.items():
            mask = (1 << width) - 1 << shift
            assert not used.get(word, 0) & mask, (generation, name)
            used[word] = used.get(word, 0) | mask


def _bundle(entries: list[tuple[str, bytes]]) -> bytes:
    table_size = 24 + 8 + sum(24 + len(name) for name, _ in entries)
    table, bodies = b"", b""
    for name, data in entries:
        at = table_size + len(bodies)
        table += struct.pack("<QQQ", at, len(data), len(name)) + name.encode()
        bodies += data
    return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)) + table + bodies


def test_offload_bundles_plain_and_compressed() -> None:
    gfx12 = (NATIVE / "clang/gfx1201/saxpy.O3.hsaco").read_bytes()
    bundle = _bundle(
        [
            ("host-x86_64-unknown-linux--", b""),
            ("hipv4-amdgcn-amd-amdhsa--gfx1100", SAXPY),
            ("hipv4-amdgcn-amd-amdhsa--gfx1201", gfx12),
        ]
    )
    packed = zlib.compress(bundle)
    compressed = b"CCOB" + struct.pack("<HHIIQ", 2, 0, 24 + len(packed), len(bundle), 0) + packed
    for data in (bundle, compressed):
        assert [item.processor for item in code_object.read_all(data)] == ["gfx1100", "gfx1201"]
        assert code_object.read(data, "gfx1201") == code_object.read(gfx12)
        with pytest.raises(LoomError, match="say which"):
            code_object.read(data)
    zstd = b"CCOB" + struct.pack("<HHIIQ", 2, 1, 28, 100, 0) + b"\x28\xb5\x2f\xfd"
    with pytest.raises(LoomError, match="zstd") as caught:
        code_object.read_all(zstd)
    assert "clang-offload-bundler" in str(caught.value.diagnostics[0].hint)


def test_bundle_made_by_clang(oracle: Callable[[str], str], tmp_path: Path) -> None:
    bundler = oracle("clang-offload-bundler-22")
    (tmp_path / "a").write_bytes(SAXPY)
    (tmp_path / "h").write_bytes(b"")
    for extra in ((), ("-compress",)):
        subprocess.run(
            [bundler, "-type=o", "-bundle-align=4096", "-targets=host-x86_64-unknown-linux-gnu,hip-amdgcn-amd-amdhsa--gfx1100", *extra,
             f"-input={tmp_path / 'h'}", f"-input={tmp_path / 'a'}", f"-output={tmp_path / 'b'}"], check=True, capture_output=True)  # fmt: skip
        data = (tmp_path / "b").read_bytes()
        try:
            assert code_object.read(data) == code_object.read(SAXPY)
        except LoomError as failure:
            assert failure.diagnostics[0].code == "OBJECT/021"  # zstd, refused with the way out
            assert extra


def test_fat_binary(oracle: Callable[[str], str], tmp_path: Path) -> None:
    clang = oracle("clang-22")
    fat = _bundle([("host-x86_64-unknown-linux--", b""), ("hipv4-amdgcn-amd-amdhsa--gfx1100", SAXPY)])
    (tmp_path / "fat.bin").write_bytes(fat)
    (tmp_path / "fat.s").write_text(
        f'.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "{tmp_path / "fat.bin"}"\n', encoding="utf-8"
    )
    subprocess.run(
        [clang, "-target", "x86_64-linux-gnu", "-c", str(tmp_path / "fat.s"), "-o", str(tmp_path / "fat.o")], check=True
    )
    assert code_object.read((tmp_path / "fat.o").read_bytes()) == code_object.read(SAXPY)


def test_relocatable_objects(oracle: Callable[[str], str], tmp_path: Path) -> None:
    source = NATIVE / "asm/gfx1100/saxpy_asm.s"
    subprocess.run(
        [
            oracle("llvm-mc-22"),
            "-triple=amdgcn-amd-amdhsa",
            "-mcpu=gfx1100",
            "-filetype=obj",
            "-o",
            str(tmp_path / "o.o"),
            str(source),
        ],
        check=True,
    )
    found = code_object.read((tmp_path / "o.o").read_bytes())
    assert found.kernel("saxpy_asm").code == code_object.read(SAXPY).kernel().code


_MALFORMED = [
    (b"", "OBJECT/001"),
    (b"hello world, this is no object", "OBJECT/001"),
    (SAXPY[:40], "OBJECT/002"),
    (SAXPY[:1000], "OBJECT/002"),
    (SAXPY[:18] + b"\x3e\x00" + SAXPY[20:], "OBJECT/005"),
    (SAXPY[:48] + b"\xfe\x00\x00\x00" + SAXPY[52:], "OBJECT/008"),
    (SAXPY[:4] + b"\x01" + SAXPY[5:], "OBJECT/001"),
    (b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 8, "OBJECT/020"),
    (b"CCOB\x02\x00\x00\x00", "OBJECT/020"),
]


@pytest.mark.parametrize(("data", "code"), _MALFORMED, ids=[str(i) for i in range(len(_MALFORMED))])
def test_malformed_input_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(LoomError) as caught:
        code_object.read(data)
    assert caught.value.diagnostics[0].code == code


def test_kernels_are_chosen_by_name() -> None:
    found = code_object.read((NATIVE / "clang/gfx1100/saxpy.O3.hsaco").read_bytes())
    assert found.kernel("saxpy4.kd") is found.kernel("saxpy4")
    for name, code in ((None, "OBJECT/007"), ("missing", "OBJECT/006")):
        with pytest.raises(LoomError) as caught:
            found.kernel(name)
        assert caught.value.diagnostics[0].code == code
        assert "saxpy_grid" in str(caught.value.diagnostics[0].hint)
