"""Planning and running cases: phases, skips, bad input, files, events, selection."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from loom.check.execute import Files
from loom.check.executor import ReferenceExecutor, RunOptions
from loom.check.testing import Selection, Tolerated, run_tests
from loom.text import parse_module
from loom.tools.common import run_tool
from loom.tools.iree_test_loom import run
from tests.check.helpers import kernel, launch_case, only_issue, run_text

FUNCTION = """
func.def pure @twice(%x: i32) -> (i32) {
  %y = scalar.addi %x, %x : i32
  func.return %y : i32
}
"""


def test_document_has_all_counts() -> None:
    document = run_text(FUNCTION + "check.case @c {\n  check.return\n}\n")
    assert document["schema"] == "loom.test.v0"
    assert (document["case_count"], document["sample_count"], document["failed_sample_count"]) == (1, 1, 0)
    assert (document["skipped_case_count"], document["planning_issue_count"]) == (0, 0)
    assert document["samples"] == [{"case": "c", "sample_ordinal": 0, "passed": True, "parameters": {}, "issues": []}]


def test_expectations_see_the_final_state_whatever_the_order() -> None:
    text = kernel("""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %x = view.load %v[%i] : view<4xi32> -> i32
  %five = scalar.constant 5 : i32
  %y = scalar.addi %x, %five : i32
  view.store %y, %v[%i] : i32, view<4xi32>""")
    case = """
check.case public @c {
  %t = check.generate.fill value(1) : tensor<4xi32>
  %e = check.generate.fill value(11) : tensor<4xi32>
  check.expect.equal actual(%t) expected(%e) : tensor<4xi32>
  kernel.launch @k(%t) : (tensor<4xi32>)
  kernel.launch @k(%t) : (tensor<4xi32>)
  check.return
}
"""
    assert run_text(text + case)["failed_sample_count"] == 0


def test_every_expectation_is_evaluated() -> None:
    text = """
check.case @c {
  %a = check.generate.fill value(1) : tensor<2xi32>
  %b = check.generate.fill value(2) : tensor<2xi32>
  check.expect.equal actual(%a) expected(%b) : tensor<2xi32>
  check.expect.bitwise actual(%a) expected(%b) : tensor<2xi32>
  check.expect.shape value(%a) shape([3]) : tensor<2xi32>
  check.return
}
"""
    (sample,) = run_text(text)["samples"]
    assert [issue["code"] for issue in sample["issues"]] == ["CHECK/040"] * 3
    assert [issue["details"]["reason"] for issue in sample["issues"]] == [
        "value_mismatch", "bit_mismatch", "shape_mismatch",
    ]  # fmt: skip


def test_each_generator_has_fresh_storage() -> None:
    text = kernel("""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %nine = scalar.constant 9 : i32
  view.store %nine, %v[%i] : i32, view<4xi32>""")
    case = """
check.case public @c {
  %s = check.literal value(3) : i64
  %a = check.generate.random.uniform seed(%s) range(0 to 5) : tensor<4xi32>
  %b = check.generate.random.uniform seed(%s) range(0 to 5) : tensor<4xi32>
  %nines = check.generate.fill value(9) : tensor<4xi32>
  kernel.launch @k(%a) : (tensor<4xi32>)
  check.expect.equal actual(%a) expected(%nines) : tensor<4xi32>
  check.expect.equal actual(%b) expected(%nines) : tensor<4xi32>
  check.return
}
"""
    assert only_issue(run_text(text + case))["details"]["failed_element_count"] == 4


@pytest.mark.parametrize(
    ("provider", "attributes", "reason"),
    [
        ("no.such.provider", "{}", "provider_not_registered"),
        ("hal.vulkan.feature", '{feature = "f"}', "provider_unavailable"),
        ("target.feature", '{feature = "no_such"}', "requirement_not_satisfied"),
        ("device.memory", "{max_bytes = 1152921504606846976}", "requirement_not_satisfied"),
    ],
)
def test_unmet_requirements_skip(provider: str, attributes: str, reason: str) -> None:
    text = f"""
check.case @c {{
  check.requires<{provider}> {attributes}
  %a = check.literal value(1) : i32
  %b = check.literal value(2) : i32
  check.expect.equal actual(%a) expected(%b) : i32
  check.return
}}
"""
    document = run_text(text)
    assert document["exit_code"] == 0
    assert (document["sample_count"], document["skipped_case_count"]) == (0, 1)
    assert document["skipped_cases"][0]["reason_code"] == reason


def test_skip_if() -> None:
    text = """
check.case @c {
  check.skip_if<target.feature> {subgroup_size = 32} reason("too narrow")
  check.return
}
"""
    (skip,) = run_text(text)["skipped_cases"]
    assert (skip["reason_code"], skip["message"]) == ("skip_predicate_matched", "too narrow")


def test_unplannable_cases_do_not_stop_the_others() -> None:
    text = (
        FUNCTION
        + """
check.case @bad {
  %x = check.param.range linear bounds(0.0 to 1.0) name("x") : f32
  check.return
}

check.case @twice_named {
  %x = check.param.choice values([1]) name("x") : i32
  %y = check.param.choice values([1]) name("x") : i32
  check.return
}

check.case @good {
  check.return
}
"""
    )
    document = run_text(text)
    assert document["exit_code"] == 1
    assert document["planning_issue_count"] == 2
    assert [issue["details"]["case"] for issue in document["planning_issues"]] == ["bad", "twice_named"]
    assert [issue["code"] for issue in document["planning_issues"]] == ["CHECK/005", "CHECK/004"]
    assert document["sample_count"] == 1


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("check.generate.iota offset(0) step(1) : tensor<200xi8>", "CHECK/021"),
        ('check.file.read.npy path("absent.npy") : tensor<4xi32>', "CHECK/024"),
        ('check.file.read.npy path("wrong_shape.npy") : tensor<4xi32>', "CHECK/025"),
        ('check.file.read.npy path("wrong_type.npy") : tensor<4xi32>', "CHECK/025"),
        ('check.file.read.npy path("garbage.npy") : tensor<4xi32>', "CHECK/025"),
    ],
)
def test_values_that_cannot_be_made(source: str, code: str, tmp_path: Path) -> None:
    np.save(tmp_path / "wrong_shape.npy", np.zeros(5, np.int32))
    np.save(tmp_path / "wrong_type.npy", np.zeros(4, np.float64))
    (tmp_path / "garbage.npy").write_bytes(b"not a file of numpy")
    issue = only_issue(run_text(f"check.case @c {{\n  %t = {source}\n  check.return\n}}\n", tmp_path))
    assert issue["code"] == code
    assert issue["location"]["line"] == 2


def test_files_are_written_and_read_back(tmp_path: Path) -> None:
    text = """
check.case @w {
  %t = check.generate.iota offset(0.5) step(1.0) : tensor<2x3xbf16>
  check.file.write.npy value(%t) path("sub/out.npy") : tensor<2x3xbf16>
  check.file.write.npy value(%t) path("failed.npy") mode(on_failure) : tensor<2x3xbf16>
  check.return
}
"""
    assert run_text(text, tmp_path)["exit_code"] == 0
    assert not (tmp_path / "failed.npy").exists()
    stored = np.load(tmp_path / "sub/out.npy")
    assert stored.dtype == np.uint16
    assert stored.ravel()[:2].tolist() == [0x3F00, 0x3FC0]
    back = """
check.case @r {
  %t = check.generate.iota offset(0.5) step(1.0) : tensor<2x3xbf16>
  %u = check.file.read.npy path("sub/out.npy") : tensor<2x3xbf16>
  check.expect.bitwise actual(%u) expected(%t) : tensor<2x3xbf16>
  check.return
}
"""
    assert run_text(back, tmp_path)["exit_code"] == 0


def test_write_on_failure(tmp_path: Path) -> None:
    text = """
check.case @w {
  %t = check.generate.fill value(1) : tensor<2xi32>
  %u = check.generate.fill value(2) : tensor<2xi32>
  check.expect.equal actual(%t) expected(%u) : tensor<2xi32>
  check.file.write.npy value(%t) path("failed.npy") mode(on_failure) : tensor<2xi32>
  check.return
}
"""
    assert run_text(text, tmp_path)["exit_code"] == 1
    assert np.load(tmp_path / "failed.npy").tolist() == [1, 1]


def test_sample_selection() -> None:
    text = (
        FUNCTION
        + """
check.case @c {
  %x = check.param.choice values([1, 2, 3]) name("x") : i32
  %y = check.param.choice values([10, 20]) name("y") : i32
  check.return
}
"""
    )
    one = run_text(text, selection=Selection(sample=4))
    assert [sample["parameters"] for sample in one["samples"]] == [{"x": 2, "y": 20}]
    assert run_text(text, selection=Selection(max_samples=5))["sample_count"] == 5
    beyond = run_text(text, selection=Selection(sample=6))
    assert (beyond["exit_code"], beyond["planning_issues"][0]["code"]) == (1, "CHECK/051")
    absent = run_text(text, selection=Selection(case_names=("d",)))
    assert absent["planning_issues"][0]["code"] == "CHECK/050"
    planned = run_text(text, selection=Selection(dry_run=True))
    assert planned["planned_cases"] == [{"case": "c", "sample_count": 6, "parameters": ["x", "y"]}]
    assert planned["samples"] == []


def test_expected_failures() -> None:
    text = """
check.case @c {
  %a = check.literal value(1) : i32
  %b = check.literal value(2) : i32
  check.expect.equal actual(%a) expected(%b) : i32
  check.return
}
"""
    wanted = Selection(tolerated=(Tolerated("c", frozenset({"CHECK/040"}), True),))
    document = run_text(text, selection=wanted)
    assert (document["exit_code"], document["tolerated_failure_count"]) == (0, 1)
    other = Selection(tolerated=(Tolerated("c", frozenset({"CHECK/999"}), True),))
    assert run_text(text, selection=other)["exit_code"] == 1
    passing = text.replace("value(2)", "value(1)")
    assert run_text(passing, selection=wanted)["exit_code"] == 1
    allowed = Selection(tolerated=(Tolerated("c", frozenset(), False),))
    assert run_text(passing, selection=allowed)["exit_code"] == 0
    assert run_text(text, selection=allowed)["exit_code"] == 0


def test_sanitizer_findings_become_events() -> None:
    text = kernel("""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %far = index.constant 9 : index
  %x = view.load %v[%far] : view<4xi32> -> i32""")
    case = launch_case().replace(
        "  check.return", '  check.expect.event<device> {count = 1, type = "asan_report"}\n  check.return'
    )
    options = RunOptions(sanitizer=frozenset({"access"}))
    assert run_text(text + case, options=options)["exit_code"] == 0
    assert run_text(text + case)["exit_code"] == 1
    quiet = case.replace("count = 1", "count = 0")
    assert only_issue(run_text(text + quiet, options=options))["code"] == "CHECK/045"


def test_a_launch_without_a_device_is_refused() -> None:
    from loom.check.execute import Files
    from loom.check.executor import HostExecutor
    from loom.check.testing import run_tests
    from loom.text import parse_module

    module = parse_module(FUNCTION + kernel("") + launch_case(), "x.loom")
    options = RunOptions()
    run = run_tests(module, lambda: HostExecutor(module, options), options, Files(Path(), Path()))
    issue = only_issue(run.to_json())
    assert (issue["kind"], issue["code"]) == ("planning", "CHECK/014")


def test_oracles() -> None:
    def text(provider: str, shape: str) -> str:
        return (
            FUNCTION
            + f"""
check.case @c {{
  %a = check.generate.iota offset(0) step(1) : tensor<{shape}xi32>
  %b = check.generate.iota offset(1) step(1) : tensor<{shape}xi32>
  %c = check.generate.fill value(10) : tensor<{shape}xi32>
  %r = check.oracle.call<{provider}> callee(@twice) inputs(%a, %b, %c) : (tensor<{shape}xi32>, tensor<{shape}xi32>, tensor<{shape}xi32>) -> (tensor<{shape}xi32>)
  check.expect.equal actual(%r) expected(%c) : tensor<{shape}xi32>
  check.return
}}
"""
        )

    issue = only_issue(run_text(text("reference.matmul", "2x2")))
    assert [entry["actual"] for entry in issue["details"]["first_differences"]] == [13, 14, 21, 26]
    tiled = only_issue(run_text(text("reference.tiled_matmul", "1x1x2x2")))
    assert [entry["actual"] for entry in tiled["details"]["first_differences"]] == [13, 14, 21, 26]
    assert only_issue(run_text(text("reference.unknown", "2x2")))["code"] == "CHECK/030"
    assert only_issue(run_text(text("reference.matmul", "4")))["code"] == "CHECK/031"
    for attributes in ('{result = "f32"}', '{rhs = "i8"}', '{lsh = "i32"}', "{lhs = 3}"):
        wrong = text("reference.matmul", "2x2").replace("callee", f"{attributes} callee")
        assert only_issue(run_text(wrong))["code"] == "CHECK/031", attributes


def test_launch_problems_are_issues() -> None:
    text = kernel("").replace("index.constant 4 : index", "index.constant 0 : index")
    assert only_issue(run_text(text + launch_case()))["code"] == "REFERENCE/009"
    short = kernel("").replace("%out: buffer", "%out: buffer, %n: index")
    issue = only_issue(run_text(short + launch_case()))
    assert issue["code"] == "REFERENCE/009"


def test_config_values_are_required_and_checked() -> None:
    text = (
        """
config.decl @limit : %value: index where [range(%value, 1, 8)]
"""
        + kernel("""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %n = config.get @limit : index
  %word = index.cast %n : index to i32
  view.store %word, %v[%i] : i32, view<4xi32>""")
        + launch_case(expected=5)
    )
    assert run_text(text, config={"limit": 5})["exit_code"] == 0
    assert only_issue(run_text(text))["code"] == "REFERENCE/016"
    assert "range(9, 1, 8)" in only_issue(run_text(text, config={"limit": 9}))["message"]


@pytest.mark.parametrize("device", ["reference", "amdgpu-sim"])
@pytest.mark.parametrize(
    ("type_", "given", "fits"),
    [
        ("i32", "5", True),
        ("i32", "0x5", True),
        ("i32", "5.5", False),
        ("i32", "five", False),
        ("i32", "true", False),
        ("i32", "4294967296", False),
        ("i8", "300", False),
        ("index", "5", True),
        ("index", "5.0", False),
        ("offset", "-5", False),
        ("f32", "5", True),
        ("f32", "5.0", True),
        ("f32", "five", False),
        ("i1", "true", True),
        ("i1", "2", False),
    ],
)
def test_a_config_value_is_one_of_its_type(
    device: str, type_: str, given: str, fits: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Never a near one: 5.5 is not 5, and a word is no number; both devices say so, at the key's use."""
    number = {
        "f32": "  %w = scalar.fptosi %n : f32 to i32",
        "i8": "  %w = scalar.extsi %n : i8 to i32",
        "i1": "  %five = scalar.constant 5 : i32\n  %zero32 = scalar.constant 0 : i32\n"
        "  %w = scf.select %n, %five, %zero32 : i32",
        "index": "  %w = index.cast %n : index to i32",
        "offset": "  %w = index.cast %n : offset to i32",
        "i32": "  %z = scalar.constant 0 : i32\n  %w = scalar.addi %n, %z : i32",
    }[type_]
    body = f"""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %n = config.get @limit : {type_}
{number}
  view.store %w, %v[%i] : i32, view<4xi32>"""
    path = tmp_path / "config.loom"
    path.write_text(f"config.decl @limit : {type_}\n" + kernel(body) + launch_case(expected=5))
    assert run_tool(run, [str(path), f"--device={device}", f"--config=limit={given}"]) == (0 if fits else 1)
    document = json.loads(capfd.readouterr().out)
    if not fits:
        issue = only_issue(document)
        assert issue["code"] == ("REFERENCE/016" if device == "reference" else "CONFIG/002")
        assert "limit" in issue["message"] and type_ in issue["hint"]


def test_views_and_shapes_that_do_not_fit() -> None:
    text = """
check.case @c {
  %n = check.param.choice values([4, 5]) name("n") : index
  %t = check.generate.fill value(0) : tensor<16xi8>
  %v = check.tensor.view %t offset(0) : tensor<16xi8> -> tensor<[%n]xi32>
  check.return
}
"""
    first, second = run_text(text)["samples"]
    assert first["passed"]
    assert second["issues"][0]["code"] == "CHECK/023"
    negative = """
check.case @c {
  %n = check.literal value(-1) : index
  %t = check.generate.fill value(0) : tensor<[%n]xi8>
  check.return
}
"""
    assert only_issue(run_text(negative))["code"] == "CHECK/020"


def test_a_tensor_that_is_too_small_for_its_kernel() -> None:
    text = kernel("""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %x = view.load %v[%i] : view<4xi32> -> i32""")
    issue = only_issue(run_text(text + launch_case("tensor<3xi32>")))
    assert issue["code"] == "REFERENCE/002"
    assert "12 bytes of buffer 't'" in issue["message"]


def test_a_defect_is_an_issue_and_exit_code_4(monkeypatch: pytest.MonkeyPatch) -> None:
    from loom.reference.execution import HANDLERS, load_operations

    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("oops")

    load_operations()
    monkeypatch.delenv("LOOM_DEBUG", raising=False)
    monkeypatch.setitem(HANDLERS, "kernel.workitem.id", broken)
    document = run_text(kernel("") + launch_case())
    assert document["exit_code"] == 4
    issue = only_issue(document)
    assert (issue["kind"], issue["code"]) == ("internal", "INTERNAL/001")


class _Broken:
    """An executor in which one method has a defect."""

    def __init__(self, executor: ReferenceExecutor, method: str) -> None:
        self._executor, self._method = executor, method

    def __getattr__(self, name: str) -> object:
        if name == self._method:
            raise ZeroDivisionError("oops")
        return getattr(self._executor, name)


@pytest.mark.parametrize("method", ["launch", "surroundings"])
def test_a_defect_anywhere_leaves_the_document_complete(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOM_DEBUG", raising=False)
    module = parse_module(FUNCTION + kernel("") + launch_case() + launch_case().replace("@c ", "@d "), "x.loom")
    options = RunOptions()
    executor = _Broken(ReferenceExecutor(module, options), method)
    run = run_tests(module, lambda: executor, options, Files(Path(), Path()))  # type: ignore[arg-type, return-value]
    document = run.to_json()
    assert (int(run.exit_code), document["case_count"]) == (4, 2)
    issues = [issue for sample in document["samples"] for issue in sample["issues"]] + document["planning_issues"]
    assert [(issue["kind"], issue["code"]) for issue in issues] == [("internal", "INTERNAL/001")] * 2
    assert all(issue["location"]["file"] == "x.loom" for issue in issues)


@pytest.mark.parametrize("step", ["check.generate.fill", "check.expect.equal", "check.file.write.npy"])
def test_a_defect_in_any_step_of_a_sample_is_its_issue(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOOM_DEBUG", raising=False)

    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("oops")

    places = {
        "check.generate.fill": ("loom.check.generate.fill", 3),
        "check.expect.equal": ("loom.check.expect.equal", 4),
        "check.file.write.npy": ("loom.check.execute.to_npy_array", 5),
    }
    name, line = places[step]
    monkeypatch.setattr(name, broken)
    text = """
check.case @c {
  %t = check.generate.fill value(1) : tensor<2xi32>
  check.expect.equal actual(%t) expected(%t) : tensor<2xi32>
  check.file.write.npy value(%t) path("t.npy") : tensor<2xi32>
  check.return
}
"""
    document = run_text(text, tmp_path)
    issue = only_issue(document)
    assert (document["exit_code"], issue["kind"], issue["location"]["line"]) == (4, "internal", line)


POISON = kernel("""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %x = view.load %v[%i] : view<4xi32> -> i32
  %y = scalar.divsi %x, %x : i32
  view.store %y, %v[%i] : i32, view<4xi32>""")


@pytest.mark.parametrize(
    "reader",
    [
        "check.expect.equal actual(%t) expected(%e) : tensor<4xi32>",
        "check.expect.equal actual(%e) expected(%t) : tensor<4xi32>",
        "check.expect.bitwise actual(%e) expected(%t) : tensor<4xi32>",
        "%r = check.oracle.call<reference.matmul> callee(@twice) inputs(%m, %m, %m) : (tensor<2x2xi32>, "
        "tensor<2x2xi32>, tensor<2x2xi32>) -> (tensor<2x2xi32>)",
    ],
)
def test_poison_is_reported_whoever_reads_it(reader: str) -> None:
    """0 / 0 has no value; on either side of a comparison, through a view, and for an oracle."""
    case = f"""
check.case public @c {{
  %t = check.generate.fill value(0) : tensor<4xi32>
  %e = check.generate.fill value(0) : tensor<4xi32>
  %m = check.tensor.view %t offset(0) : tensor<4xi32> -> tensor<2x2xi32>
  kernel.launch @k(%t) : (tensor<4xi32>)
  {reader}
  check.return
}}
"""
    issue = only_issue(run_text(FUNCTION + POISON + case))
    assert (issue["code"], issue["details"]["undefined_element_count"]) == ("CHECK/042", 4)


def test_samples_left_out_by_the_limit_are_counted() -> None:
    case = """
check.case @c {
  %x = check.param.range linear bounds(1 to 10) name("x") : i32
  check.return
}
check.scenario @s {
  check.trial[7](%n: index, %entropy: check.entropy) {
    %x = check.literal value(1) : i32
    check.invoke<@twice>(%x) : (i32) -> (i32)
  }
  check.return
}
"""
    document = run_text(FUNCTION + case, selection=Selection(max_samples=4))
    assert (document["sample_count"], document["left_out_sample_count"]) == (8, 6 + 3)
    assert "left_out_sample_count" not in run_text(FUNCTION + case)


def test_an_expected_failure_of_a_case_that_is_not_there_is_bad_input() -> None:
    text = "check.case @c {\n  check.return\n}\n"
    for must_fail in (True, False):
        document = run_text(text, selection=Selection(tolerated=(Tolerated("d", frozenset(), must_fail),)))
        assert (document["exit_code"], document["planning_issues"][0]["code"]) == (2, "CHECK/050")
        assert document["sample_count"] == 1


def test_low_arguments_follow_their_parameter_indices() -> None:
    text = """
amdgpu.target<gfx11-generic> @gfx11 {subgroup_size = 32}

low.kernel.def target<amdgpu.gfx11.generic.core>(@gfx11) abi_layout({direct_arg_parameter_indices = [1], resource_parameter_indices = [2, 0]}) workgroup_size(32, 1, 1) @copy(%bias: reg<amdgpu.sgpr>) asm {
  %lane = live_in<amdgpu.workitem_id.x> : reg<amdgpu.vgpr>
  %source = resource<hal_binding> {index = 0, source_type = hal.buffer, extent = 128} : reg<amdgpu.sgpr x2>
  %target = resource<hal_binding> {index = 1, source_type = hal.buffer, extent = 128} : reg<amdgpu.sgpr x2>
  %address = v_lshlrev_b32_src0_inline %lane, 2
  %before = global_load_b32_saddr %address, %source
  %after = v_add_u32 %bias, %before
  global_store_b32_saddr %address, %after, %target
  return
}

check.case @c {
  %to = check.generate.fill value(0) : tensor<32xi32>
  %bias = check.literal value(3) : i32
  %from = check.generate.iota offset(0) step(1) : tensor<32xi32>
  %expected = check.generate.iota offset(3) step(1) : tensor<32xi32>
  kernel.launch @copy(%to, %bias, %from) : (tensor<32xi32>, i32, tensor<32xi32>)
  check.expect.equal actual(%to) expected(%expected) : tensor<32xi32>
  check.return
}
"""
    assert run_text(text)["samples"][0]["issues"] == []
