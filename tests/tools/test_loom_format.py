"""The command loom-format: what it prints, writes, lists, and its exit codes."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from loom.tools.loom_format import main

CANONICAL = "func.def @f(%x: i32) -> (i32) {\n  %y = scalar.negi %x : i32\n  func.return %y : i32\n}\n"
UNTIDY = "func.def   @f( %x :i32 )->(i32) {\n%y=scalar.negi %x:i32\n  func.return %y : i32 }\n"
INVALID = "func.def @f(%x: i32) -> (i32) {\n  %y = scalar.negi %z : i32\n  func.return %x : i32\n}\n"
UNVERIFIED = "func.def @f(%x: i32) -> (i32) {\n  func.return\n}\n"


def write(folder: Path, **texts: str) -> list[str]:
    paths = []
    for name, text in texts.items():
        path = folder / f"{name}.loom"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return paths


def test_prints_the_canonical_text(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (path,) = write(tmp_path, untidy=UNTIDY)
    assert main([path]) == 0
    assert capfdbinary.readouterr().out.decode() == CANONICAL
    assert Path(path).read_text(encoding="utf-8") == UNTIDY


def test_check_lists_what_is_not_canonical(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = write(tmp_path, good=CANONICAL, bad=UNTIDY)
    assert main(["--check", good]) == 0
    assert capsys.readouterr().out == ""
    assert main(["--check", good, bad]) == 1
    assert capsys.readouterr().out == f"{bad}\n"


def test_invalid_input_is_2_and_each_file_is_on_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken, bad, wrong = write(tmp_path, broken=INVALID, bad=UNTIDY, wrong=UNVERIFIED)
    assert main(["--check", broken, bad, wrong]) == 2
    captured = capsys.readouterr()
    assert captured.out == f"{bad}\n"
    assert f"{broken}:2:20: error: use of undefined value %z [NAME/001]" in captured.err
    assert "    %y = scalar.negi %z : i32\n                     ^~" in captured.err
    assert f"{wrong}:2:3: error: @f gives (i32), this returns () [OP/014]" in captured.err


def test_in_place_rewrites_valid_files_only(tmp_path: Path) -> None:
    broken, bad, wrong, good = write(tmp_path, broken=INVALID, bad=UNTIDY, wrong=UNVERIFIED, good=CANONICAL)
    os.chmod(bad, 0o640)
    before = Path(good).stat().st_mtime_ns
    assert main(["--in-place", broken, bad, wrong, good]) == 2
    assert Path(broken).read_text(encoding="utf-8") == INVALID
    assert Path(wrong).read_text(encoding="utf-8") == UNVERIFIED
    assert Path(bad).read_text(encoding="utf-8") == CANONICAL
    assert stat.S_IMODE(Path(bad).stat().st_mode) == 0o640
    assert Path(good).stat().st_mtime_ns == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.loom", "broken.loom", "good.loom", "wrong.loom"]


def test_in_place_keeps_a_link_a_link(tmp_path: Path) -> None:
    (path,) = write(tmp_path, real=UNTIDY)
    link = tmp_path / "link.loom"
    link.symlink_to(path)
    assert main(["--in-place", str(link)]) == 0
    assert link.is_symlink()
    assert Path(path).read_text(encoding="utf-8") == CANONICAL


def test_output_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = write(tmp_path, bad=UNTIDY)
    target = tmp_path / "out.loom"
    assert main(["--from=text", "--to=text", f"--output={target}", path]) == 0
    assert target.read_text(encoding="utf-8") == CANONICAL
    assert capsys.readouterr().out == ""
    (broken,) = write(tmp_path, broken=INVALID)
    assert main([f"--output={target}", broken]) == 2
    assert target.read_text(encoding="utf-8") == CANONICAL


def test_diagnostics_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = write(tmp_path, broken=INVALID)
    assert main(["--diagnostic-format=json", path]) == 2
    captured = capsys.readouterr()
    (row,) = json.loads(captured.err)["diagnostics"]
    assert (row["code"], row["file"], row["line"], row["column"], row["severity"]) == ("NAME/001", path, 2, 20, "error")
    assert captured.out == ""


@pytest.mark.parametrize(
    "arguments",
    [["--check", "--in-place", "x"], ["--check", "--output=y", "x"], ["--in-place"], ["--to=bc", "x"], ["--nothing"]],
)
def test_bad_usage_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "error:" in capsys.readouterr().err


def test_absent_files_are_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(tmp_path / "absent.loom")]) == 2
    assert "absent.loom" in capsys.readouterr().err


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "loom.tools.loom_format", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_reads_stdin() -> None:
    done = run(text=UNTIDY)
    assert (done.returncode, done.stdout) == (0, CANONICAL)
    done = run(text=INVALID)
    assert done.returncode == 2
    assert "<stdin>:2:20: error:" in done.stderr and "%y = scalar.negi %z" in done.stderr


def test_starts_without_heavy_packages() -> None:
    code = (
        "import sys; from loom.tools.loom_format import canonical_text; canonical_text(b'func.decl @f()\\n', 'x');"
        "print([m for m in ('numpy', 'llvmlite', 'yaml', 'jsonschema', 'rich', 'msgpack', 'elftools') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_in_place_leaves_a_read_only_file_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "func.def   @f() {\n  func.return\n}\n"
    locked, open_ = tmp_path / "locked.loom", tmp_path / "open.loom"
    for path in (locked, open_):
        path.write_text(text)
    locked.chmod(0o444)
    assert main(["--in-place", str(locked), str(open_)]) == 2
    assert "read-only" in capsys.readouterr().err
    assert locked.read_text() == text
    assert open_.read_text() == "func.def @f() {\n  func.return\n}\n"


def test_a_closed_stdout_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.loom"
    path.write_text("func.def @f() {\n  func.return\n}\n")
    code = f"exec {sys.executable} -m loom.tools.loom_format '{path}' >&-"
    done = subprocess.run(["/bin/sh", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.loom"
    path.write_text("func.def @f() {\n  func.return \x1b[31m\n}\n")
    assert main([str(path)]) == 2
    assert "\x1b" not in capsys.readouterr().err
