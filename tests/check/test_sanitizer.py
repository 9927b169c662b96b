"""``--sanitizer=access`` on the simulator: an access inside its buffer but outside its view is a fault."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from loom.device.protocol import Faulted
from loom.device.registry import open_device
from loom.target.amdgpu.compile import CompileOptions, compile_module
from loom.text import parse_module
from loom.tools.common import run_tool
from loom.tools.iree_test_loom import run

PROGRAM = """kernel.def @k(%n: index) {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%n: index, %in: buffer, %out: buffer) {
  %lane = kernel.workitem.id<x> : index
  %o = index.constant 0 : offset
  %iv = buffer.view %in[%o] : buffer -> view<[%n]xi32>
  %ov = buffer.view %out[%o] : buffer -> view<64xi32>
  %x = view.load %iv[%lane] : view<[%n]xi32> -> i32
  view.store %x, %ov[%lane] : i32, view<64xi32>
  kernel.return
}

check.case public @c {
  %n = check.param.choice values([64, 40]) name("n") : index
  %in = check.generate.iota offset(0) step(3) : tensor<64xi32>
  %out = check.generate.fill value(-1) : tensor<64xi32>
  kernel.launch @k[%n](%n, %in, %out) : [index](index, tensor<64xi32>, tensor<64xi32>)
  check.expect.equal actual(%out) expected(%in) : tensor<64xi32>
  EVENT
  check.return
}
"""


def outcomes(tmp_path: Path, capfd: pytest.CaptureFixture[str], *flags: str, event: str = "") -> tuple[int, list[bool]]:
    path = tmp_path / "program.loom"
    path.write_text(PROGRAM.replace("  EVENT\n", event))
    code = run_tool(run, [str(path), "--device=amdgpu-sim", *flags])
    document = json.loads(capfd.readouterr().out)
    return code, [sample["passed"] for sample in document["samples"]]


def test_without_the_sanitizer_the_buffer_is_the_bound(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert outcomes(tmp_path, capfd) == (0, [True, True])


def test_with_it_the_view_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert outcomes(tmp_path, capfd, "--sanitizer=access") == (1, [True, False])


def test_a_finding_names_the_line_of_the_access(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.loom"
    path.write_text(PROGRAM.replace("  EVENT\n", ""))
    assert run_tool(run, [str(path), "--device=amdgpu-sim", "--sanitizer=access"]) == 1
    issue = json.loads(capfd.readouterr().out)["samples"][1]["issues"][0]
    # Lanes 40 to 63 leave the view of 40 elements that the load reads; the store's view has 64.
    line = next(k for k, text in enumerate(PROGRAM.split("\n"), 1) if "view.load" in text)
    assert issue["location"] == {"file": str(path), "line": line, "column": 3}
    assert issue["message"] == "kernel 'k' faulted: view.load leaves its view on axis 0"
    launch = next(
        k for k, text in enumerate(PROGRAM.replace("  EVENT\n", "").split("\n"), 1) if "kernel.launch @" in text
    )
    assert f"launched at: {path}:{launch}:3" in issue["details"]["notes"]


def test_the_source_is_found_behind_another_kernel_in_the_code_object() -> None:
    first = PROGRAM.split("check.case")[0]
    module = parse_module(first.replace("@k(", "@before(") + first, "two.loom")
    compilation = compile_module(module, CompileOptions(sanitizer=frozenset({"access"})))
    device = open_device("amdgpu-sim")
    try:
        executable = device.load(compilation.code_object)
        buffer = device.allocate(256)
        arguments = struct.pack("<QQQ", buffer.address, buffer.address, 40)
        outcome = device.launch(executable, "k", (1, 1, 1), (64, 1, 1), arguments)
    finally:
        device.close()
    assert isinstance(outcome, Faulted) and outcome.fault.pc is not None
    kernel = compilation.kernels[1]
    location, says = kernel.source_of(outcome.fault.pc)
    assert kernel.name == "k" and kernel.code_offset > 0
    lines = [k for k, text in enumerate((first + first).split("\n"), 1) if "view.load" in text]
    assert location is not None and location.line == lines[1]
    assert says == "view.load leaves its view on axis 0"
    listed = compilation.manifest["kernels"][1]["checks"]
    assert [(c["pc"], c["message"]) for c in listed] == [(outcome.fault.pc, says)]


def test_findings_that_are_expected_are_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    event = '  check.expect.event<device> {count = 0, type = "asan_report"}\n'
    assert outcomes(tmp_path, capfd, "--sanitizer=access", event=event) == (1, [True, False])


KERNEL = """kernel.def @k() {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%d: i32, %out: buffer) {
  %lane = kernel.workitem.id<x> : index
  %o = index.constant 0 : offset
  %ov = buffer.view %out[%o] : buffer -> view<64xi32>
  %l = index.cast %lane : index to i32
BODY
  view.store %x, %ov[%lane] : i32, view<64xi32>
  kernel.return
}

check.case public @c {
  %d = check.param.choice values([GOOD, BAD]) name("d") : i32
  %out = check.generate.fill value(-1) : tensor<64xi32>
  kernel.launch @k(%d, %out) : (i32, tensor<64xi32>)
  check.return
}
"""

# (sanitizer, body that uses %d and lane %l, a good and a bad %d)
FINDINGS = {
    "assume range": ("value", "  %x = scalar.assume %d [range(%d, 0, 7)] : i32", 7, 8),
    "assume multiple": ("value", "  %x = scalar.assume %d [mul(%d, 4)] : i32", 8, 6),
    "assume power of two": ("value", "  %x = scalar.assume %d [pow2(%d)] : i32", 16, 24),
    "assume on one lane only": (
        "value",
        "  %s = scalar.addi %l, %d : i32\n  %x = scalar.assume %s [le(%s, 70)] : i32",
        7,
        8,
    ),
    "division": ("operation", "  %x = scalar.divsi %l, %d : i32", 3, 0),
    "shift": ("operation", "  %x = scalar.shli %l, %d : i32", 31, 32),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_findings_of_values_and_operations(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sanitizer, body, good, bad = FINDINGS[name]
    path = tmp_path / "program.loom"
    path.write_text(KERNEL.replace("BODY", body).replace("GOOD", str(good)).replace("BAD", str(bad)))
    for words, expected in (("none", [True, True]), (sanitizer, [True, False]), ("all", [True, False])):
        run_tool(run, [str(path), "--device=amdgpu-sim", f"--sanitizer={words}"])
        document = json.loads(capfd.readouterr().out)
        assert [sample["passed"] for sample in document["samples"]] == expected, words


RACE = """kernel.def @k() {
  %one = index.constant 1 : index
  %lanes = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
} launch(%out: buffer) {
  %lane = kernel.workitem.id<x> : index
  %o = index.constant 0 : offset
  %bytes = index.constant 256 : offset
  %last = index.constant 63 : index
  %ov = buffer.view %out[%o] : buffer -> view<64xi32>
  %store = buffer.alloca<workgroup> align(16) %bytes : buffer
  %tile = buffer.view %store[%o] : buffer -> view<64xi32>
  %l = index.cast %lane : index to i32
  view.store %l, %tile[%lane] : i32, view<64xi32>
  BARRIER
  %other = index.sub %last, %lane : index
  %x = view.load %tile[%other] : view<64xi32> -> i32
  view.store %x, %ov[%lane] : i32, view<64xi32>
  kernel.return
}

check.case public @c {
  %out = check.generate.fill value(-1) : tensor<64xi32>
  kernel.launch @k(%out) : (tensor<64xi32>)
  check.return
}
"""


@pytest.mark.parametrize(
    ("barrier", "passed"), [("kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)", True), ("", False)]
)
def test_the_race_sanitizer_watches_workgroup_memory(
    barrier: str, passed: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.loom"
    path.write_text(RACE.replace("BARRIER", barrier))
    run_tool(run, [str(path), "--device=amdgpu-sim", "--sanitizer=race"])
    document = json.loads(capfd.readouterr().out)
    assert [sample["passed"] for sample in document["samples"]] == [passed]


def test_an_assertion_of_the_source_is_always_checked(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.loom"
    body = "  %x = scalar.addi %l, %d : i32\n  sanitizer.assert.value %x [range(%x, 0, 70)] : i32"
    # Lane 63 adds 7 to 70, or 8 to 71.
    path.write_text(KERNEL.replace("BODY", body).replace("GOOD", "7").replace("BAD", "8"))
    run_tool(run, [str(path), "--device=amdgpu-sim"])
    samples = json.loads(capfd.readouterr().out)["samples"]
    assert [sample["passed"] for sample in samples] == [True, False]
    (issue,) = samples[1]["issues"]
    assert issue["message"] == "kernel 'k' faulted: sanitizer.assert.value does not hold"
    assert "sanitizer.assert.value" in path.read_text().split("\n")[issue["location"]["line"] - 1]


# (sanitizer, event, what goes wrong where %d is 0)
EVENTS = {
    "assumption": ("value", "value_report", "  %x = scalar.assume %d [range(%d, 1, 7)] : i32"),
    "division": ("operation", "operation_report", "  %x = scalar.divsi %l, %d : i32"),
    "assertion": (
        "operation",
        "operation_report",
        "  %z = scalar.constant 0 : i32\n  %c = scalar.cmpi ne, %d, %z : i32\n"
        '  kernel.assert %c "d is zero" : i1\n  %x = scalar.addi %d, %l : i32',
    ),
    "view": (
        "access",
        "asan_report",
        "  %f = index.constant 60 : index\n  %g = index.cast %d : i32 to index\n  %h = index.sub %f, %g : index\n"
        "  %e = index.add %h, %lane : index\n  %k = index.constant 0 : index\n  %m = index.min %e, %k : index\n"
        "  %p = index.sub %m, %one : index\n  %n = index.constant 1 : index\n"
        "  %x = view.load %ov[%p] : view<64xi32> -> i32",
    ),
    "race": (
        "race",
        "tsan_report",
        "  %bytes = index.constant 4 : offset\n  %s = buffer.alloca<workgroup> align(4) %bytes : buffer\n"
        "  %sv = buffer.view %s[%o] : buffer -> view<1xi32>\n  view.store %l, %sv[0] : i32, view<1xi32>\n"
        "  %x = view.load %sv[0] : view<1xi32> -> i32",
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_each_finding_is_an_event_of_its_own_kind(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One event of the sanitizer's kind and none of another; without that event in the case the sample fails."""
    sanitizer, event, body = EVENTS[name]
    program = KERNEL.replace("values([GOOD, BAD])", "values([0])").replace(
        "BODY", "  %one = index.constant 1 : index\n" + body
    )
    path = tmp_path / "program.loom"
    for expected, passes in (((event,), True), (("other_report",), False)):
        lines = "".join(f'  check.expect.event<device> {{count = {int(e == event)}, type = "{e}"}}\n' for e in expected)
        path.write_text(program.replace("  check.return", lines + "  check.return"))
        code = run_tool(run, [str(path), "--device=amdgpu-sim", f"--sanitizer={sanitizer}"])
        document = json.loads(capfd.readouterr().out)
        assert (code, document["samples"][0]["passed"]) == (0 if passes else 1, passes), document["samples"]
