"""Buffers of the command line: parsing, and comparison with distances in units in the last place."""

import numpy as np
import pytest

from loom.diagnostics import LoomError
from loom.raising.buffers import TypedBuffer, compare_buffers, parse_buffer, ulp_distances


def test_splat_list_and_zero():
    assert parse_buffer("4xf32=1.5").data == np.full(4, 1.5, "<f4").tobytes()
    assert parse_buffer("4xi32=1,-2,0x10,4").data == np.array([1, -2, 16, 4], "<i4").tobytes()
    assert parse_buffer("2x3xi16").data == bytes(12)
    assert parse_buffer("2x3xi16").shape == (2, 3)
    assert parse_buffer("f64=2.5").data == np.float64(2.5).tobytes()
    assert parse_buffer("3xu8=255").data == b"\xff\xff\xff"


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        # bfloat16: upper half of the single, rounded to nearest even (0x3F803F80 is half way between two)
        ("5xbf16=1.0,-2.0,0.1,inf,nan", [0x3F80, 0xC000, 0x3DCD, 0x7F80, 0x7FC0]),
        # OCP 8-bit formats: 448 is the largest E4M3, 57344 the largest E5M2, 2^-9 and 2^-16 the smallest subnormals
        ("4xf8E4M3=1.0,448.0,0.001953125,-0.5", [0x38, 0x7E, 0x01, 0xB0]),
        ("4xf8E5M2=1.0,57344.0,0.0000152587890625,inf", [0x3C, 0x7B, 0x01, 0x7C]),
    ],
)
def test_small_floats(text, patterns):
    buffer = parse_buffer(text)
    assert [int(x) for x in buffer.storage()] == patterns


def test_npy(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(6, dtype=np.float32).reshape(2, 3))
    assert parse_buffer(f"2x3xf32=@{path}").data == np.arange(6, dtype="<f4").tobytes()
    assert parse_buffer(f"@{path}").type_text == "2x3xf32"
    np.save(tmp_path / "big.npy", np.arange(3, dtype=">i4"))
    assert parse_buffer(f"3xi32=@{tmp_path / 'big.npy'}").data == np.arange(3, dtype="<i4").tobytes()
    with pytest.raises(LoomError, match="holds 2x3xfloat32, not 6xi32"):
        parse_buffer(f"6xi32=@{path}")
    with pytest.raises(LoomError, match="cannot read"):
        parse_buffer(f"6xf32=@{tmp_path / 'absent.npy'}")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("4xq32=0", "BUFFER/001"),
        ("fourxf32=0", "BUFFER/001"),
        ("4xi32=1,2,3", "BUFFER/002"),
        ("4xi32=1.5", "BUFFER/002"),
        ("4xi8=256", "BUFFER/002"),
        ("99999999999999xf64", "BUFFER/001"),
    ],
)
def test_refusals(text, code):
    with pytest.raises(LoomError) as caught:
        parse_buffer(text, "--kernel-input-buffer")
    assert caught.value.diagnostics[0].code == code


def test_ulp_distance_counts_representable_numbers_between():
    one = np.float32(1.0)
    values = np.array([one, np.nextafter(one, 2), np.float32(-0.0), np.float32(1e-45)], "<f4")
    others = np.array([one, one, np.float32(0.0), np.float32(-1e-45)], "<f4")
    a, e = TypedBuffer((4,), "f32", values.tobytes()), TypedBuffer((4,), "f32", others.tobytes())
    assert ulp_distances(a, e).tolist() == [0, 1, 0, 2]


def test_comparison_reports_the_first_difference_with_its_place():
    expected = np.arange(12, dtype="<f4").reshape(3, 4)
    actual = expected.copy()
    actual[1, 2] = np.nextafter(actual[1, 2], np.float32(100))
    actual[2, 3] = np.nan
    e, a = (TypedBuffer((3, 4), "f32", x.tobytes()) for x in (expected, actual))
    found = compare_buffers(a, e)
    assert found.mismatches == 2
    assert (found.first[0].index, found.first[0].expected, found.first[0].ulps) == ((1, 2), "6.0", 1)
    assert (found.first[1].index, found.first[1].actual, found.first[1].ulps) == ((2, 3), "nan", None)
    assert compare_buffers(a, e, atol=1e-5).mismatches == 1
    assert compare_buffers(e, e).passed


def test_infinities_and_nans_agree_with_themselves_only():
    e = parse_buffer("4xf32=inf,-inf,nan,1")
    assert compare_buffers(e, e).passed
    assert compare_buffers(parse_buffer("4xf32=inf,inf,1,1"), e, atol=1e30).mismatches == 2


def test_integers_have_no_tolerance():
    assert compare_buffers(parse_buffer("2xi64=1,2"), parse_buffer("2xi64=1,3"), atol=5).mismatches == 1


def test_types_must_agree():
    with pytest.raises(LoomError, match="cannot compare"):
        compare_buffers(parse_buffer("2xi32"), parse_buffer("2xf32"))
