from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from loom.diagnostics import Diagnostic, LoomError
from loom.store.actions import Action, Store, relative_command
from loom.store.canonical import document_hash
from loom.store.maintenance import collect_garbage, export_archive, import_archive, verify
from loom.store.records import Record

IDENTITY = "1" * 64


def action(**changes: Any) -> Action:
    facts: dict[str, Any] = {
        "tool": "loom-compile",
        "tool_hash": "2" * 64,
        "command": ("loom-compile", "form.loom"),
        "inputs": {"form.loom": "3" * 64},
        "configuration": {},
    }
    return Action(**{**facts, **changes})


def record(store: Store, output: bytes = b"code", source: bytes = b"text", seconds: float = 1.0) -> Record:
    return Record(
        {
            "schema": "loom.record.v0",
            "stage": "raise.compile",
            "workload": "saxpy",
            "identity": IDENTITY,
            "form": "elementwise",
            "tool": {"name": "loom-compile", "version": "0.1.0", "source_hash": "2" * 64},
            "command": ["loom-compile", "form.loom"],
            "configuration": {},
            "device": None,
            "inputs": {"form.loom": "3" * 64},
            "outputs": {"form.hsaco": store.blobs.put(output)},
            "evidence_class": "compiler",
            "reproduces": "exactly",
            "exit_code": 0,
            "result": {"status": "ok"},
        },
        {"inputs": {"form.loom": {"blob": store.blobs.put(source)}}, "seconds": seconds},
    )


def test_an_action_is_found_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.lookup(action()) is None
    name = store.commit(action(), record(store))
    found = store.lookup(action())
    assert found is not None
    assert found.id == name
    assert store.blobs.get(found.deterministic["outputs"]["form.hsaco"]) == b"code"


@pytest.mark.parametrize(
    "change",
    [
        {"tool": "iree-test-loom"},
        {"tool_hash": "4" * 64},
        {"command": ("loom-compile", "form.loom", "--pipeline=none")},
        {"inputs": {"form.loom": "5" * 64}},
        {"inputs": {"other.loom": "3" * 64}},
        {"configuration": {"device": "amdgpu-hip"}},
    ],
)
def test_everything_that_an_action_is_made_of_counts(tmp_path: Path, change: dict[str, Any]) -> None:
    store = Store(tmp_path)
    store.commit(action(), record(store))
    assert store.lookup(action(**change)) is None
    assert store.lookup(action()) is not None


def test_the_id_is_the_hash_of_the_deterministic_part(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = record(store, seconds=1.0), record(store, seconds=9.0)
    assert first.id == second.id == document_hash(first.deterministic)
    assert record(store, output=b"other").id != first.id
    # A comment changes the text that was observed, not what it means.
    assert record(store, source=b"// text").id == first.id


def _damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    os.chmod(path, 0o644)
    path.write_bytes(data)


@pytest.mark.parametrize("what", ["action", "record", "output", "input"])
@pytest.mark.parametrize("how", ["flip", "empty", "remove"])
def test_what_is_damaged_is_reported_and_never_used(tmp_path: Path, what: str, how: str) -> None:
    store = Store(tmp_path)
    name = store.commit(action(), record(store))
    stored = store.records.get(name)
    path = {
        "action": store.folder / f"{action().key}.json",
        "record": store.records.folder / f"{name}.json",
        "output": store.blobs.path(stored.deterministic["outputs"]["form.hsaco"]),
        "input": store.blobs.path(stored.observed["inputs"]["form.loom"]["blob"]),
    }[what]
    if how == "flip":
        _damage(path)
    elif how == "empty":
        os.chmod(path, 0o644)
        path.write_bytes(b"")
    else:
        path.unlink()
    warnings: list[Diagnostic] = []
    assert store.lookup(action(), warnings) is None
    if (what, how) != ("action", "remove"):
        assert [warning.code for warning in warnings] == ["STORE/008"]
    assert not verify(store).sound or (what, how) == ("action", "remove")
    verify(store, remove=True)
    store.commit(action(), record(store))
    assert store.lookup(action()) is not None
    assert verify(store).sound


def test_an_entry_under_another_action_is_not_used(tmp_path: Path) -> None:
    """A sound entry copied to another key names an output that this action never gave."""
    store = Store(tmp_path)
    store.commit(action(), record(store))
    other = action(command=("loom-compile", "other.loom"))
    (store.folder / f"{other.key}.json").write_bytes((store.folder / f"{action().key}.json").read_bytes())
    warnings: list[Diagnostic] = []
    assert store.lookup(other, warnings) is None
    assert [warning.code for warning in warnings] == ["STORE/008"]
    assert store.lookup(action()) is not None


@pytest.mark.parametrize("word", ["/abs/form.loom", "--output=/abs/x", "-o=/x"])
def test_a_recorded_command_names_no_path_of_a_machine(word: str) -> None:
    good = ("loom-compile", "form.loom", "--output=build/x", "--flag", "a/b")
    assert relative_command(good) == good
    with pytest.raises(ValueError, match="absolute path"):
        relative_command((*good, word))


def test_a_crash_between_any_two_writes_is_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop after 0, 1, 2 … renames of a commit: an action that is found names things that are there."""
    import loom.store.blobs as blobs

    renames = 0
    allowed = 0
    original = os.replace

    def replace(source: Any, target: Any) -> None:
        nonlocal renames
        if renames == allowed:
            raise KeyboardInterrupt
        renames += 1
        original(source, target)

    monkeypatch.setattr(blobs.os, "replace", replace)
    for allowed in range(10):
        renames = 0
        store = Store(tmp_path / str(allowed))
        try:
            store.commit(action(), record(store))
        except KeyboardInterrupt:
            assert store.lookup(action()) is None
            assert verify(store).sound
        else:
            break
    # two blobs, the record, the action
    assert allowed == 4


def test_a_record_that_names_an_absent_blob_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    good = record(store)
    store.blobs.remove(good.deterministic["outputs"]["form.hsaco"])
    with pytest.raises(LoomError) as failure:
        store.commit(action(), good)
    assert failure.value.diagnostics[0].code == "STORE/001"


def test_a_record_of_another_form_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    good = record(store)
    bad = Record({**good.deterministic, "evidence_class": "hearsay"}, good.observed)
    with pytest.raises(LoomError) as failure:
        store.records.put(bad)
    assert failure.value.diagnostics[0].code == "SCHEMA/001"


def test_records_are_found_by_prefix(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.commit(action(), record(store))
    assert store.records.get(name[:8]).id == name
    for prefix in ("", name[:3], "zzzz"):
        with pytest.raises(LoomError) as failure:
            store.records.get(prefix)
        assert failure.value.diagnostics[0].code == "STORE/007"


def test_garbage_is_what_no_record_names(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.commit(action(), record(store))
    orphan = store.blobs.put(b"orphan")
    stale = store.blobs.temporary / "dead-writer"
    stale.write_bytes(b"half")
    os.utime(stale, (0, 0))
    fresh = store.blobs.temporary / "live-writer"
    fresh.write_bytes(b"half")
    counted = collect_garbage(store, dry_run=True)
    assert (counted.blobs, counted.temporary) == (1, 1)
    assert orphan in store.blobs
    collected = collect_garbage(store)
    assert (collected.blobs, collected.records, collected.temporary, collected.bytes) == (1, 0, 1, 6)
    assert orphan not in store.blobs
    assert fresh.exists() and not stale.exists()
    assert store.lookup(action()) is not None
    collected = collect_garbage(store, keep=[name], records=True)
    assert collected.records == 0
    assert store.lookup(action()) is not None
    collected = collect_garbage(store, records=True)
    assert (collected.records, collected.blobs) == (1, 2)
    assert store.lookup(action()) is None
    assert list(store.blobs) == []


def test_evidence_moves_between_stores(tmp_path: Path) -> None:
    source, target = Store(tmp_path / "a"), Store(tmp_path / "b")
    name = source.commit(action(), record(source))
    assert export_archive(source, [name[:10]], tmp_path / "x.tar") == 1
    assert import_archive(target, tmp_path / "x.tar") == 1
    found = target.lookup(action())
    assert found is not None and found.id == name
    export_archive(target, [name], tmp_path / "y.tar")
    assert (tmp_path / "x.tar").read_bytes() == (tmp_path / "y.tar").read_bytes()


def test_a_damaged_archive_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    source, target = Store(tmp_path / "a"), Store(tmp_path / "b")
    source.commit(action(), record(source, output=b"Q" * 700))
    export_archive(source, list(source.records), tmp_path / "x.tar")
    data = bytearray((tmp_path / "x.tar").read_bytes())
    data[data.index(b"QQQQ")] ^= 1
    (tmp_path / "x.tar").write_bytes(data)
    with pytest.raises(LoomError) as failure:
        import_archive(target, tmp_path / "x.tar")
    assert failure.value.diagnostics[0].code == "STORE/009"
    assert list(target.blobs) == [] and list(target.records) == []
    (tmp_path / "z.tar").write_bytes(b"no archive")
    with pytest.raises(LoomError):
        import_archive(target, tmp_path / "z.tar")


def test_the_stored_record_can_be_read_by_anyone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.commit(action(), record(store))
    document = json.loads((tmp_path / "records" / f"{name}.json").read_text())
    assert document["id"] == name
    assert document["deterministic"]["command"] == ["loom-compile", "form.loom"]
