from __future__ import annotations

from pathlib import Path

import pytest

from loom import parse, verify
from loom.diagnostics import LoomError
from loom.raising.resources import kernel_names, kernel_resources, processor_of
from loom.raising.scaffold import choose_kernel, scaffold, workload_name
from loom.store.workload import load_workload
from loom.tools.loom_raise import run


def objects(repository: Path) -> list[tuple[Path, str]]:
    rows = (repository / "tests/native/index.tsv").read_text().splitlines()[1:]
    return [(repository / "tests/native" / row.split("\t")[0], row.split("\t")[3]) for row in rows]


def test_every_native_kernel_gives_a_workload_that_loads(repository: Path, tmp_path: Path) -> None:
    for number, (path, kernel) in enumerate(objects(repository)):
        code = path.read_bytes()
        made = scaffold(path, code, kernel, workload_name(kernel), processor_of(code))
        folder = tmp_path / str(number)
        for name, data in made.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        workload = load_workload(folder / "workload.yaml")
        assert workload.kernel == kernel
        for form in workload.forms:
            verify(parse((folder / form.source).read_text(), form.source))


def test_resources_agree_with_the_index(repository: Path) -> None:
    """The index was written by LLVM's tools."""
    lines = (repository / "tests/native/index.tsv").read_text().splitlines()
    columns = lines[0].split("\t")
    compared = 0
    for line in lines[1:]:
        row = dict(zip(columns, line.split("\t"), strict=False))
        found = kernel_resources((repository / "tests/native" / row["file"]).read_bytes(), row["kernel"])
        assert found["code"] == int(row["code_bytes"]), row
        assert found["vector registers"] == int(row["vgpr"]), row
        assert found["scratch"] == int(row["scratch"]), row
        assert found["static local memory"] == int(row["lds"].partition("+")[0]), row
        assert found["argument segment"] == int(row["kernarg"]), row
        compared += 1
    assert compared >= 40


def test_names_and_processors(repository: Path) -> None:
    packed = (repository / "tests/native/clang/gfx1100/packed16.O3.hsaco").read_bytes()
    assert kernel_names(packed)[:2] == ["pk_fma", "pk_swap"]
    assert processor_of(packed) == "amdgpu:gfx1100"
    assert processor_of((repository / "tests/native/clang/gfx942/saxpy.O3.hsaco").read_bytes()) == "amdgpu:gfx942"
    assert (
        workload_name("My-Kernel.2") == "my_kernel_2"
        and workload_name("2x") == "k_2x"
        and workload_name("!") == "kernel"
    )
    assert choose_kernel((repository / "tests/native/asm/gfx1100/saxpy_asm.hsaco").read_bytes(), None) == "saxpy_asm"
    for kernel in (None, "nothing"):
        with pytest.raises(LoomError) as failure:
            choose_kernel(packed, kernel)
        assert failure.value.diagnostics[0].code == "NEW/001"
        assert "pk_swap" in str(failure.value.diagnostics[0].hint)


@pytest.mark.parametrize("data", [b"", b"not an ELF file", b"\x7fELF" + bytes(60)])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(LoomError):
        choose_kernel(data, None)


def test_the_command(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(repository / "tests/native/clang/gfx1100/saxpy.O3.hsaco")
    where = f"--output={tmp_path / 'w'}"
    assert run(["new", "--from", source, "--kernel=saxpy", where]) == 0
    out = capsys.readouterr().out
    assert "left to you" in out and "loom-raise lift" in out
    workload = load_workload(tmp_path / "w" / "workload.yaml")
    assert workload.name == "saxpy"
    assert [(a.kind, a.type) for a in workload.shape().arguments] == [
        ("buffer", "f32"),
        ("buffer", "f32"),
        ("scalar", "i32"),
        ("scalar", "i32"),
    ]
    assert workload.shape().launch.workgroup_size == (256, 1, 1)
    with pytest.raises(LoomError) as failure:
        run(["new", "--from", source, "--kernel=saxpy", where])
    assert failure.value.diagnostics[0].code == "NEW/004"
    with pytest.raises(LoomError) as failure:
        run(["new", "--from", source, "--kernel=saxpy", "--name=No Name", where, "--force"])
    assert failure.value.diagnostics[0].code == "NEW/003"
