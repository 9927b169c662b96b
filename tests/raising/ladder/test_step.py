from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loom.diagnostics import ExitCode, LoomError
from loom.raising.ladder import step as module
from loom.raising.ladder.step import Step, by_bytes, by_meaning, run_step, semantic_hash
from loom.store import source_hash as hashing
from loom.store.actions import Store
from loom.store.journal import Journal
from loom.store.maintenance import verify
from loom.store.source_hash import closure, package_hash, source_hash

TOOL = """
import sys, pathlib
from loom.diagnostics import error
text = pathlib.Path("in.txt").read_text()
pathlib.Path("log").write_text("ran")
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/a.txt").write_text(text.upper())
print("said", text)
print("the tool's words", file=sys.stderr)
sys.exit(int(text) if text.isdigit() else 0)
"""
SOURCE = """func.def pure @twice(%a: i32) -> (i32) {
  %b = scalar.addi %a, %a : i32
  func.return %b : i32
}
"""


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Step]:
    script = tmp_path / "tool.py"
    script.write_text(TOOL)
    monkeypatch.setattr(module, "python_command", lambda command: [sys.executable, str(script), *command[1:]])
    monkeypatch.setattr(module, "tool_module", lambda _: "loom.store.canonical")

    def make(text: str = "hello", **changes: object) -> Step:
        made = Step("raise", "compile", ("tool", "in.txt"), {"in.txt": by_bytes(text.encode())}, ("out/",), "said.txt")
        return replace(made, **changes)  # type: ignore[arg-type]

    return make


def test_a_step_runs_once(tmp_path: Path, step: Callable[..., Step]) -> None:
    store = Store(tmp_path / "store")
    first = run_step(store, step(), "w", "1" * 64)
    second = run_step(store, step(), "w", "1" * 64)
    assert first.executed and not second.executed
    assert first.id == second.id
    assert store.blobs.get(second.outputs["out/a.txt"]) == b"HELLO"
    assert store.blobs.get(second.outputs["said.txt"]) == b"said hello\n"
    assert set(second.outputs) == {"out/a.txt", "said.txt"}
    assert second.record.observed["stderr"] == "the tool's words\n"
    assert [line["executed"] for line in Journal(store.root).since()] == [True, False]


@pytest.mark.parametrize(
    "change",
    [
        {"text": "other"},
        {"command": ("tool", "in.txt", "--more")},
        {"stdout": None},
        {"configuration": {"device": "x"}},
    ],
)
def test_what_a_step_is_made_of_decides(tmp_path: Path, step: Callable[..., Step], change: dict[str, object]) -> None:
    store = Store(tmp_path / "store")
    run_step(store, step(), "w", "1" * 64)
    assert run_step(store, step(**change), "w", "1" * 64).executed
    assert not run_step(store, step(), "w", "1" * 64).executed


def test_a_change_of_the_tool_invalidates_what_it_made(
    tmp_path: Path, step: Callable[..., Step], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    run_step(store, step(), "w", "1" * 64)
    monkeypatch.setattr(module, "source_hash", lambda _: "9" * 64)
    assert run_step(store, step(), "w", "1" * 64).executed


def test_an_answer_is_kept_and_a_failure_is_not(tmp_path: Path, step: Callable[..., Step]) -> None:
    store = Store(tmp_path / "store")
    answered = run_step(store, step("1", answers=frozenset({0, 1})), "w", "1" * 64)
    assert answered.exit_code == 1 and answered.message == "the tool's words"
    assert not run_step(store, step("1", answers=frozenset({0, 1})), "w", "1" * 64).executed
    for code, expected in (("2", 2), ("3", 3), ("4", 4), ("77", 4)):
        with pytest.raises(LoomError) as failure:
            run_step(store, step(code), "w", "1" * 64)
        assert failure.value.exit_code == ExitCode(expected)
        assert "the tool's words" in failure.value.diagnostics[0].notes
    assert len(list(store.records)) == 1


def test_a_missing_output_is_an_error_of_the_tool(tmp_path: Path, step: Callable[..., Step]) -> None:
    with pytest.raises(LoomError) as failure:
        run_step(Store(tmp_path / "store"), step(outputs=("never.bin",)), "w", "1" * 64)
    assert failure.value.diagnostics[0].code == "LADDER/002"


@pytest.mark.parametrize("what", ["blobs", "records", "actions"])
def test_damage_is_repaired_by_running_again(
    tmp_path: Path, step: Callable[..., Step], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path / "store")
    first = run_step(store, step(), "w", "1" * 64)
    victim = next(path for path in sorted((store.root / what).rglob("*")) if path.is_file())
    os.chmod(victim, 0o644)
    victim.write_bytes(victim.read_bytes()[:-1] + b"?")
    again = run_step(store, step(), "w", "1" * 64)
    assert again.executed and again.id == first.id
    assert "STORE/008" in capsys.readouterr().err
    assert verify(store).sound


def test_kill_9_leaves_nothing_that_is_taken_for_good(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        f"""
import sys, time
from pathlib import Path
from loom.raising.ladder import step as module
from loom.store.actions import Store
tool = "import time, pathlib; pathlib.Path('a.bin').write_bytes(bytes(1 << 20)); print('x', flush=True); time.sleep({{}})"
module.tool_module = lambda _: "loom.store.canonical"
delay = sys.argv[1]
module.python_command = lambda command: [sys.executable, "-c", tool.format(delay)]
step = module.Step("s", "n", ("tool",), {{"in": module.by_bytes(b"1")}}, ("a.bin",))
print("start", flush=True)
result = module.run_step(Store(Path({str(tmp_path / "store")!r})), step, "w", "1" * 64)
print(result.executed, flush=True)
"""
    )
    for wait in (0.0, 0.1, 0.3):
        process = subprocess.Popen([sys.executable, str(script), "5"], stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdout is not None
        assert process.stdout.readline() == b"start\n"
        time.sleep(wait)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        store = Store(tmp_path / "store")
        assert list(store.records) == [] and list(store.actions()) == []
    done = subprocess.run([sys.executable, str(script), "0"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["start", "True"]
    assert verify(Store(tmp_path / "store")).sound


def test_comments_and_names_do_not_change_the_meaning() -> None:
    plain = semantic_hash(SOURCE.encode())
    assert semantic_hash(("// a comment\n\n" + SOURCE.replace("%b", "%sum")).encode()) == plain
    assert semantic_hash(SOURCE.replace("%a, %a", "%b, %a").replace("%b", "%a").encode()) != plain
    assert semantic_hash(SOURCE.replace("addi", "muli").encode()) != plain
    assert by_meaning(SOURCE.encode()).key == plain
    broken = b"func.def {"
    assert semantic_hash(broken) != semantic_hash(broken + b" ")


def test_the_source_hash_covers_what_a_tool_can_reach() -> None:
    compare = closure("loom.tools.raise_commands.compare")
    assert "loom.raising.compare.classify" in compare and "loom.store.workload" in compare
    assert "loom.tools.common" in compare
    assert not [name for name in compare if name.startswith("loom.raising.page")]
    assert not [name for name in compare if "simulator" in name]
    execute = closure("loom.tools.raise_commands.execute")
    assert "loom.raising.execute" in execute
    # reached only through the device registry's import strings
    assert [name for name in execute if "simulator" in name]
    assert source_hash("loom.tools.raise_commands.compare") != source_hash("loom.tools.raise_commands.store")
    assert len(package_hash()) == 64


def test_a_command_with_an_absolute_path_is_no_record(tmp_path: Path, step: Callable[..., Step]) -> None:
    with pytest.raises(ValueError, match="absolute"):
        run_step(Store(tmp_path / "store"), step(command=("tool", "--output=/x")), "w", "1" * 64)


_MODULE = re.compile(r"loom(\.[A-Za-z_]\w*)+(:[A-Za-z_][\w.]*)?")


def _by_syntax_tree(source: str, module: str, is_package: bool) -> set[str]:
    """What a source mentions, read from its syntax tree: the slow way that the fast one must agree with."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parts = parts[: len(parts) - node.level + (1 if is_package else 0)]
                base = ".".join([*parts, base] if base else parts)
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.fullmatch(node.value):
            found.add(node.value.partition(":")[0])
    return {name for name in found if name.split(".")[0] == "loom"}


def test_the_fast_reading_of_imports_misses_nothing(repository: Path) -> None:
    for path in sorted((repository / "loom").rglob("*.py")):
        parts = path.relative_to(repository).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        source = path.read_text(encoding="utf-8")
        fast = set(hashing._mentions(source, name, is_package))
        missed = _by_syntax_tree(source, name, is_package) - fast
        assert not missed, f"{path}: {sorted(missed)}"
