"""loom-raise assemble, disassemble and verify as they are called."""

import json
from pathlib import Path

import pytest

from loom.target.amdgpu import code_object
from loom.tools.common import run_tool
from loom.tools.loom_raise import run

NATIVE = Path(__file__).resolve().parents[1] / "native"
SAXPY = NATIVE / "asm/gfx1100/saxpy_asm"


def call(capsys, *argv):
    code = run_tool(run, [str(word) for word in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_assemble_writes_the_code_object(capsys, tmp_path):
    output = tmp_path / "out.hsaco"
    code, out, _ = call(capsys, "assemble", f"{SAXPY}.s", "--output", output, "--json")
    assert code == 0
    assert json.loads(out)["kernels"] == [{"kernel": "saxpy_asm", "code_bytes": 92}]
    made = code_object.read(output.read_bytes())
    assert made.text == code_object.read(Path(f"{SAXPY}.hsaco").read_bytes()).text


def test_disassemble_and_assemble_again(capsys, tmp_path):
    listing = tmp_path / "listing.s"
    for name in ("clang/gfx1201/softmax.O3.hsaco", "clang/gfx942/sgemm_lds.O3.hsaco", "triton/gfx1100/rowsum.hsaco"):
        code, out, _ = call(capsys, "disassemble", NATIVE / name)
        assert code == 0
        listing.write_text(out, encoding="utf-8")
        code, _, err = call(capsys, "assemble", listing, "-o", tmp_path / "again.hsaco")
        assert (code, err) == (0, "")
        again = code_object.read((tmp_path / "again.hsaco").read_bytes())
        original = code_object.read((NATIVE / name).read_bytes())
        assert [(k.name, k.code) for k in again.kernels] == [(k.name, k.code) for k in original.kernels]


def test_disassemble_one_kernel_as_json(capsys):
    code, out, _ = call(capsys, "disassemble", NATIVE / "clang/gfx1100/saxpy.O3.hsaco", "--kernel=saxpy4", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["processor"] == "gfx1100"
    (kernel,) = document["kernels"]
    assert (kernel["kernel"], kernel["wave_size"], len(kernel["instructions"])) == ("saxpy4", 32, 28)
    assert kernel["instructions"][-1]["text"] == "s_endpgm"


def test_verify_prints_exactly_the_promised_document(capsys):
    path = str(SAXPY) + ".hsaco"
    code, out, _ = call(capsys, "verify", path, "--json")
    assert code == 0
    row = {"file": path, "kernel": "saxpy_asm", "instructions": 17, "reencoded_identical": True, "reason": None}
    assert json.loads(out) == {"kernels": [row]}


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("disassemble", f"{SAXPY}.s"), "no ELF file"),
        (("disassemble", f"{SAXPY}.hsaco", "--kernel=missing"), "no kernel 'missing'"),
        (("disassemble", f"{SAXPY}.hsaco", "--target=gfx942"), "no code object for gfx942"),
        (("assemble", f"{SAXPY}.s", "--target=gfx942", "-o", "/dev/null"), "the source is for gfx1100, not gfx942"),
        (("assemble", f"{SAXPY}.s", "--target=gfx99", "-o", "/dev/null"), "unknown AMDGPU processor 'gfx99'"),
    ],
)
def test_bad_input_is_exit_code_two(capsys, argv, message):
    code, _, err = call(capsys, *argv)
    assert code == 2
    assert message in err


def test_an_error_shows_the_line(capsys, tmp_path):
    source = tmp_path / "bad.s"
    source.write_text('.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n\tv_add_f32 v0, v1, v999\n', encoding="utf-8")
    code, _, err = call(capsys, "assemble", source, "-o", tmp_path / "x")
    assert code == 2
    assert f"{source}:2:20: error: v999 does not exist: gfx1100 has v0 to v255 [ASM/004]" in err
    assert "^" in err
