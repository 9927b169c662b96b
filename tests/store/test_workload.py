from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loom.diagnostics import LoomError
from loom.store.canonical import canonical_json, differing_fields, document_hash
from loom.store.expression import evaluate
from loom.store.workload import load_workload, refuse_foreign_identity

GOOD: dict[str, Any] = {
    "schema": "loom.workload.v0",
    "name": "double",
    "title": "y = 2 x",
    "semantic_cut": "every element doubled",
    "target": "amdgpu:gfx1100",
    "native": {"artifact": "k.hsaco", "kernel": "k", "sources": [], "provenance": "hand"},
    "parameters": {"n": 1000},
    "arguments": [
        {"name": "x", "kind": "buffer", "type": "f32", "shape": ["n"], "generate": {"kind": "fill", "value": 1}},
        {"name": "n", "kind": "scalar", "type": "i32", "value": "n"},
    ],
    "launch": {"workgroups": ["cdiv(n, 256)", 1, 1], "workgroup_size": [256, 1, 1]},
    "outputs": {"x": {"policy": "bitwise"}},
    "shapes": [
        {"name": "big", "kind": "production", "case": "@c", "benchmark": "@b"},
        {"name": "odd", "kind": "tail", "parameters": {"n": 257}, "case": "@c", "benchmark": "@t"},
    ],
    "timing_boundary": "dispatch_complete",
    "forms": [{"name": "one", "source": "one.loom", "root": "@k", "raises": "all", "arguments": ["n", "x"]}],
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any], Path]:
    (tmp_path / "k.hsaco").write_bytes(b"ELF")

    def write_document(document: Any) -> Path:
        path = tmp_path / "workload.yaml"
        path.write_text(json.dumps(document, indent=1))
        return path

    return write_document


def test_shapes_are_resolved_to_numbers(write: Callable[[Any], Path]) -> None:
    workload = load_workload(write(GOOD))
    big, odd = workload.shapes
    assert big.launch.workgroups == (4, 1, 1)
    assert odd.launch.workgroups == (2, 1, 1)
    assert odd.argument("x").shape == (257,)
    assert odd.argument("x").bytes == 1028
    assert odd.argument("n").value == 257
    assert workload.shape() is big
    assert workload.form_launch(workload.forms[0], odd) == odd.launch


def _changed(path: list[str | int], value: Any) -> Any:
    document = copy.deepcopy(GOOD)
    place: Any = document
    for part in path[:-1]:
        place = place[part]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["semantic_cut"], "every element tripled"),
        (["parameters", "n"], 1001),
        (["arguments", 0, "generate", "value"], 2),
        (["arguments", 0, "type"], "i32"),
        (["launch", "workgroup_size"], [128, 1, 1]),
        (["outputs", "x"], {"policy": "close", "rtol": 1e-6}),
        (["target"], "amdgpu:gfx1201"),
        (["timing_boundary"], "case_end_to_end"),
        (["shapes", 1, "parameters", "n"], 258),
    ],
)
def test_the_identity_covers(write: Callable[[Any], Path], path: list[str | int], value: Any) -> None:
    before = load_workload(write(GOOD))
    after = load_workload(write(_changed(path, value)))
    assert before.identity != after.identity
    with pytest.raises(LoomError) as failure:
        refuse_foreign_identity(before.identity_document, after.identity_document)
    assert failure.value.diagnostics[0].code == "WORKLOAD/004"
    assert failure.value.diagnostics[0].notes


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["title"], "another title"),
        (["native", "provenance"], "another hand"),
        (["forms"], []),
        (["shapes", 0, "benchmark"], "@other"),
    ],
)
def test_the_identity_leaves_out(write: Callable[[Any], Path], path: list[str | int], value: Any) -> None:
    before = load_workload(write(GOOD))
    after = load_workload(write(_changed(path, value)))
    assert before.identity == after.identity
    refuse_foreign_identity(before.identity_document, after.identity_document)


def test_the_identity_covers_the_content_of_input_files(write: Callable[[Any], Path], tmp_path: Path) -> None:
    document = _changed(["arguments", 0, "generate"], {"kind": "file", "path": "x.npy"})
    (tmp_path / "x.npy").write_bytes(b"one")
    first = load_workload(write(document)).identity
    (tmp_path / "x.npy").write_bytes(b"two")
    assert load_workload(write(document)).identity != first


@pytest.mark.parametrize(
    ("path", "value", "code", "words"),
    [
        (["titel"], "x", "SCHEMA/001", "unknown key 'titel'"),
        (["title"], None, "SCHEMA/001", "lacks the key 'title'"),
        (["name"], "Saxpy!", "SCHEMA/001", "name is 'Saxpy!'"),
        (["outputs", "x", "policy"], "roughly", "SCHEMA/001", "roughly"),
        (["outputs"], {"z": {"policy": "bitwise"}}, "WORKLOAD/001", "no buffer argument"),
        (["outputs", "x"], {"policy": "ulp"}, "WORKLOAD/001", "lacks 'ulp'"),
        (["arguments", 0, "shape"], None, "WORKLOAD/001", "lacks 'shape'"),
        (["arguments", 1, "name"], "x", "WORKLOAD/001", "repeated"),
        (["arguments", 0, "generate"], {"kind": "iota", "offset": 0}, "WORKLOAD/001", "lacks 'step'"),
        (["arguments", 0, "generate"], {"kind": "file", "path": "no.npy"}, "WORKLOAD/001", "absent"),
        (["native", "artifact"], "no.hsaco", "WORKLOAD/001", "absent"),
        (["shapes", 1, "parameters"], {"m": 1}, "WORKLOAD/001", "unknown parameter 'm'"),
        (["shapes", 0, "kind"], "tail", "WORKLOAD/001", "production"),
        (["launch", "workgroups"], ["n - 1000", 1, 1], "WORKLOAD/003", "positive"),
        (["launch", "workgroups"], ["m", 1, 1], "WORKLOAD/003", "no parameter 'm'"),
        (["launch", "workgroups"], ["n / 0", 1, 1], "WORKLOAD/003", "zero"),
        (["launch", "workgroups"], ["n * 0.5", 1, 1], "WORKLOAD/003", "not an integer"),
    ],
)
def test_a_wrong_workload_is_refused_with_its_place(
    write: Callable[[Any], Path], path: list[str | int], value: Any, code: str, words: str
) -> None:
    document = copy.deepcopy(GOOD)
    if path == ["titel"]:
        document["titel"] = value
    else:
        document = _changed(path, value)
    with pytest.raises(LoomError) as failure:
        load_workload(write(document))
    diagnostic = failure.value.diagnostics[0]
    assert diagnostic.code == code
    assert words in diagnostic.message
    assert diagnostic.location is not None and diagnostic.location.line >= 1


def test_an_unknown_key_is_named_with_its_line_and_what_is_allowed(write: Callable[[Any], Path]) -> None:
    path = write(GOOD)
    path.write_text("schema: loom.workload.v0\nname: double\nnativ: {}\n")
    with pytest.raises(LoomError) as failure:
        load_workload(path)
    unknown = [d for d in failure.value.diagnostics if "unknown key" in d.message]
    assert unknown[0].location is not None and unknown[0].location.line == 3
    assert unknown[0].hint is not None and "did you mean 'native'" in unknown[0].hint


@pytest.mark.parametrize("text", ["a: [1, 2", "a: 1\na: 2\n", "1: 2\n", "- x\n", "", "\x00"])
def test_text_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "workload.yaml"
    path.write_text(text)
    with pytest.raises(LoomError) as failure:
        load_workload(path)
    assert failure.value.diagnostics[0].code in ("SCHEMA/001", "SCHEMA/002")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n", 10),
        ("n * 4 + 1", 41),
        ("cdiv(n, 4)", 3),
        ("n / 4", 2),
        ("-n % 4", 2),
        ("min(n, 3)", 3),
        (7, 7),
    ],
)
def test_expressions(text: str | int, value: float) -> None:
    assert evaluate(text, {"n": 10}) == value


@pytest.mark.parametrize("text", ["__import__('os')", "n.real", "n ** n", "[n]", "n if n else 1", "cdiv(n)", "", "'a'"])
def test_expressions_are_arithmetic_only(text: str) -> None:
    with pytest.raises(LoomError) as failure:
        evaluate(text, {"n": 10})
    assert failure.value.diagnostics[0].code == "WORKLOAD/003"


def test_canonical_json() -> None:
    assert canonical_json({"b": 1, "a": [1.5, None, "é"]}) == '{"a":[1.5,null,"é"],"b":1}'.encode()
    assert document_hash({"a": 1, "b": 2}) == document_hash({"b": 2, "a": 1})
    for bad in (float("nan"), {"x": [float("inf")]}, {1: 2}):
        with pytest.raises(ValueError):
            canonical_json(bad)


def test_differing_fields_are_named() -> None:
    left = {"a": 1, "b": {"c": [1, 2]}, "d": 1}
    right = {"a": 1, "b": {"c": [1, 3, 4]}, "d": 1.0}
    assert list(differing_fields(left, right)) == [("b.c[1]", 2, 3), ("b.c[2]", None, 4), ("d", 1, 1.0)]
