"""loom-link: joining modules, resolving declarations, keeping what the roots reach."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loom.tools.common import run_tool
from loom.tools.loom_link import main, run

LIBRARY = """func.def public pure @twice(%x: i32) -> (i32) {
  %y = func.call pure @once(%x) : (i32) -> (i32)
  %z = scalar.addi %y, %y : i32
  func.return %z : i32
}

func.def pure @once(%x: i32) -> (i32) {
  func.return %x : i32
}

func.def public pure @unrelated(%x: i32) -> (i32) {
  func.return %x : i32
}
"""

MAIN = """func.decl pure @twice(%x: i32) -> (i32)

config.decl @tuning.n : %value: index where [range(%value, 1, 32)]

func.def public pure @four(%x: i32) -> (i32) {
  %a = func.call pure @twice(%x) : (i32) -> (i32)
  %b = func.call pure @twice(%a) : (i32) -> (i32)
  func.return %b : i32
}

func.def pure @unused(%x: i32) -> (i32) {
  func.return %x : i32
}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "main.loom").write_text(MAIN)
    (tmp_path / "library.loom").write_text(LIBRARY)
    return str(tmp_path / "main.loom"), str(tmp_path / "library.loom")


def link(*arguments: str) -> int:
    return run_tool(run, arguments)


def test_a_declaration_is_resolved_with_all_it_reaches(
    files: tuple[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    main_file, library = files
    assert link(main_file, f"--library={library}", "--root=@four") == 0
    text = capfdbinary.readouterr().out.decode()
    assert "func.def public pure @twice" in text and "func.def pure @once" in text
    assert "@unrelated" not in text and "@unused" not in text and "func.decl" not in text


def test_an_unresolved_declaration_is_refused_at_its_place(
    files: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert link(files[0]) == 2
    message = capfd.readouterr().err
    assert "main.loom:1:1: error: no definition of @twice [LINK/005]" in message
    assert link(files[0], "--allow-unresolved") == 0


def test_an_unknown_root_names_what_there_is(files: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    assert link(files[0], f"--library={files[1]}", "--root=@fuor") == 2
    message = capfd.readouterr().err
    assert "LINK/002" in message and "@four" in message


def test_two_definitions_of_one_symbol_are_refused(files: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    assert link(files[1], files[1]) == 2
    assert "LINK/006" in capfd.readouterr().err


def test_config_schema_states_types_and_bounds(files: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    assert link(files[0], f"--library={files[1]}", "--print-config-schema") == 0
    schema = json.loads(capfd.readouterr().out)
    assert schema["properties"] == {
        "tuning.n": {"type": "integer", "description": "index", "minimum": 1, "maximum": 32}
    }
    assert schema["required"] == ["tuning.n"]


def test_bound_config_becomes_a_definition(files: tuple[str, str], capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments = (files[0], f"--library={files[1]}", "--require-resolved-config")
    assert link(*arguments) == 2
    capfdbinary.readouterr()
    assert link(*arguments, "--config=tuning.n=7") == 0
    assert b"config.def @tuning.n = 7 : index" in capfdbinary.readouterr().out


def test_the_plan_is_one_json_document(files: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    assert link(files[0], f"--library={files[1]}", "--root=four", "--print-plan") == 0
    plan = json.loads(capfd.readouterr().out)
    origin = {row["symbol"]: Path(row["from"]).name for row in plan["symbols"]}
    assert origin["four"] == "main.loom" and origin["twice"] == "library.loom"


def test_entry_point_reads_the_command_line(monkeypatch: pytest.MonkeyPatch, files: tuple[str, str]) -> None:
    monkeypatch.setattr("sys.argv", ["loom-link", files[1], "--verify"])
    assert main() == 0
