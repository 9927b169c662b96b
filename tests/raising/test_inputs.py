from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy
import pytest

from loom.diagnostics import LoomError
from loom.raising.inputs import buffer_bytes, scalar_bytes, splitmix64
from loom.store.workload import Argument


def test_splitmix64_is_the_published_generator() -> None:
    # Vigna's splitmix64.c from state 0, and from 1234567 as published with the Rosetta test values.
    assert [int(x) for x in splitmix64(0, 2)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    assert [int(x) for x in splitmix64(1234567, 5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def argument(element: str, *shape: int, **generate: Any) -> Argument:
    return Argument("x", "buffer", element, shape, None, generate)


def test_generators() -> None:
    here = Path(".")
    assert buffer_bytes(Argument("x", "buffer", "f32", (3,)), here) == bytes(12)
    assert buffer_bytes(argument("f32", 2, kind="fill", value=1.5), here) == struct.pack("<2f", 1.5, 1.5)
    assert buffer_bytes(argument("i16", 5, kind="iota", offset=7, step=-3, period=3), here) == struct.pack(
        "<5h", 7, 4, 1, 7, 4
    )
    assert buffer_bytes(argument("f16", 2, 2, kind="iota", offset=0.5, step=1), here) == struct.pack(
        "<4e", 0.5, 1.5, 2.5, 3.5
    )


def test_uniform_is_the_stated_formula() -> None:
    data = numpy.frombuffer(buffer_bytes(argument("f64", 100, kind="uniform", seed=5, low=-2.0, high=6.0), Path(".")))
    draws = splitmix64(5, 100)
    expected = [-2.0 + (int(draw) >> 11) * 2.0**-53 * 8.0 for draw in draws]
    assert data.tolist() == expected
    ints = numpy.frombuffer(
        buffer_bytes(argument("i32", 1000, kind="uniform", seed=5, low=-2, high=2), Path(".")), "<i4"
    )
    assert set(ints.tolist()) == {-2, -1, 0, 1, 2}


@pytest.mark.parametrize(
    ("value", "bits"),
    [(1.0, 0x3F80), (1.00390625, 0x3F80), (1.01171875, 0x3F82), (-2.5, 0xC020), (3.4e38, 0x7F80)],
)
def test_bf16_rounds_to_nearest_even(value: float, bits: int) -> None:
    data = buffer_bytes(argument("bf16", 1, kind="fill", value=value), Path("."))
    assert struct.unpack("<H", data)[0] == bits


def test_files(tmp_path: Path) -> None:
    numpy.save(tmp_path / "x.npy", numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
    data = buffer_bytes(argument("f32", 2, 3, kind="file", path="x.npy"), tmp_path)
    assert data == struct.pack("<6f", *range(6))
    with pytest.raises(LoomError):
        buffer_bytes(argument("f32", 7, kind="file", path="x.npy"), tmp_path)


def test_scalars() -> None:
    assert scalar_bytes(-2, "i32", 4) == b"\xfe\xff\xff\xff"
    assert scalar_bytes(-2, "i64", 8) == b"\xfe" + b"\xff" * 7
    assert scalar_bytes(1.5, "f32", 4) == struct.pack("<f", 1.5)
    assert scalar_bytes(1.0, "bf16", 4) == b"\x80\x3f\0\0"
    for value, element in ((1 << 31, "i32"), (-1, "u32"), (256, "u8")):
        with pytest.raises(LoomError) as failure:
            scalar_bytes(value, element, 4)
        assert failure.value.diagnostics[0].code == "WORKLOAD/005"
