"""20,000 random and mutated byte strings through decoder, ELF reader and bundle reader: an answer or an error, no crash, no hang."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from loom.diagnostics import LoomError
from loom.target.amdgpu import code_object
from loom.target.amdgpu.assembler import assemble
from loom.target.amdgpu.decoder import decode_code, decode_program
from loom.target.amdgpu.encoder import encode
from loom.target.amdgpu.processors import PROCESSORS

NATIVE = Path(__file__).resolve().parents[2] / "native"
SEEDS = [p.read_bytes() for p in sorted(NATIVE.rglob("*.hsaco")) if p.stat().st_size < 8000]


def _through_decoder(data: bytes, processor: str) -> bool:
    try:
        program = decode_code(data, processor)
    except LoomError:
        return False
    assert encode(program) == data  # what decodes encodes to the same bytes, random don't-care bits included
    return True


def test_random_words() -> None:
    generator = random.Random(1)
    names = list(PROCESSORS)
    decoded = 0
    for _ in range(9000):
        processor = generator.choice(names)
        data = generator.randbytes(generator.choice((4, 4, 8, 8, 12, 16, 3, 20)))
        decoded += _through_decoder(data, processor)
    assert decoded > 500


def test_mutated_kernels() -> None:
    generator = random.Random(2)
    pieces = []
    for seed in SEEDS:
        found = code_object.read(seed)
        pieces += [(kernel.code, found.processor) for kernel in found.kernels]
    decoded = 0
    for _ in range(5000):
        code, processor = generator.choice(pieces)
        start = 4 * generator.randrange(len(code) // 4)
        data = bytearray(code[start : start + 32])
        for _ in range(generator.randrange(1, 4)):
            data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        decoded += _through_decoder(bytes(data), processor)
    assert decoded > 200


def test_mutated_objects() -> None:
    generator = random.Random(3)
    outcomes = {True: 0, False: 0}
    for _ in range(5000):
        data = bytearray(generator.choice(SEEDS))
        for _ in range(generator.choice((1, 1, 2, 8))):
            action = generator.randrange(4)
            at = (
                generator.randrange(len(data))
                if generator.random() < 0.5
                else generator.randrange(min(len(data), 1200))
            )
            if action == 0:
                data[at] = generator.randrange(256)
            elif action == 1:
                data[at : at + 8] = generator.choice((b"\xff" * 8, bytes(8), b"\0\0\0\x80\0\0\0\0"))
            elif action == 2:
                del data[at:]
                data += bytes(1)
            else:
                data[at:at] = generator.randbytes(8)
        try:
            found = code_object.read(bytes(data))
            for kernel in found.kernels[:2]:
                decode_program(found, kernel.name)
            outcomes[True] += 1
        except LoomError:
            outcomes[False] += 1
    assert outcomes[True] > 100 and outcomes[False] > 100


@settings(max_examples=1000, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x7fELF\x02\x01\x01\x40\x03" + bytes(7), b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"]),
)
def test_arbitrary_bytes_as_files(data: bytes, prefix: bytes) -> None:
    with contextlib.suppress(LoomError):
        code_object.read_all(prefix + data)


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet='sv_admouniltfr0123456789[]:,.+-*/()|"\\ \n\tx@;=<>', max_size=80))
def test_arbitrary_text_as_assembly(text: str) -> None:
    with contextlib.suppress(LoomError):
        assemble('.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n' + text)
