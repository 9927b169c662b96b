"""Each kind of undefined behaviour is found wherever it stands: in a kernel, a function, a template, a branch, and with
several subgroups of either size. The error names the source line of the operation and the workitem."""

from __future__ import annotations

import pytest

from tests.check.helpers import only_issue, run_text

LANES = 128

#: Bodies over a global buffer %b, a workgroup buffer %s and the workitem %i: the code, and what the message says.
KINDS = {
    "out_of_bounds": (
        """  %v = buffer.view %b[%o] : buffer -> view<100xi32>
  %x = view.load %v[%i] : view<100xi32> -> i32 // HERE
""",
        "REFERENCE/002",
        "element index 100 of axis 0 is outside [0, 100) (workgroup (0, 0, 0), workitem (100, 0, 0))",
    ),
    "beyond_the_buffer": (
        """  %v = buffer.view %b[%o] : buffer -> view<1000xi32>
  %far = index.constant 25 : index
  %j = index.add %i, %far : index
  %x = view.load %v[%j] : view<1000xi32> -> i32 // HERE
""",
        "REFERENCE/002",
        "bytes [512, 516) lie outside the 512 bytes of buffer 't' (element 128) (workgroup (0, 0, 0), workitem (103, 0, 0))",
    ),
    "missing_barrier": (
        """  %v = buffer.view %s[%o] : buffer -> view<128xi32>
  %w = index.cast %i : index to i32
  view.store %w, %v[%i] : i32, view<128xi32>
  %m = index.constant 64 : index
  %j = index.xori %i, %m : index
  %x = view.load %v[%j] : view<128xi32> -> i32 // HERE
""",
        "REFERENCE/003",
        "that another workitem has written with no barrier in between",
    ),
    "subgroup_barrier": (
        """  %v = buffer.view %s[%o] : buffer -> view<128xi32>
  %w = index.cast %i : index to i32
  view.store %w, %v[%i] : i32, view<128xi32>
  kernel.barrier<workgroup> scope(subgroup) ordering(acq_rel)
  %m = index.constant 64 : index
  %j = index.xori %i, %m : index
  %x = view.load %v[%j] : view<128xi32> -> i32 // HERE
""",
        "REFERENCE/003",
        "that another workitem has written with no barrier in between",
    ),
    "violated_assume": (
        "  %k = index.assume %i [range(%i, 0, 99)] : index // HERE\n",
        "REFERENCE/005",
        "range(100, 0, 99) does not hold",
    ),
    "poison_branch": (
        """  %v = buffer.view %s[%o] : buffer -> view<128xi32>
  %x = view.load %v[%i] : view<128xi32> -> i32
  %z = scalar.constant 0 : i32
  %c = scalar.cmpi eq, %x, %z : i32
  scf.if %c { // HERE
    %y = scalar.addi %z, %z : i32
  }
""",
        "REFERENCE/006",
        "the condition depends on an undefined value",
    ),
    "poison_address": (
        """  %v = buffer.view %s[%o] : buffer -> view<128xi32>
  %x = view.load %v[%i] : view<128xi32> -> i32
  %j = index.cast %x : i32 to index
  %g = buffer.view %b[%o] : buffer -> view<128xi32>
  %y = view.load %g[%j] : view<128xi32> -> i32 // HERE
""",
        "REFERENCE/006",
        "the index depends on an undefined value",
    ),
}

ORIGIN = "  %o = index.constant 0 : offset\n"
PARAMETERS = "(%b: buffer, %s: buffer, %i: index)"
ARGUMENTS = "(%b, %s, %i)"
TYPES = "(buffer, buffer, index)"

#: Where the body stands: module-level text, and the lines of the kernel.
PLACES = {
    "kernel": ("", ORIGIN + "{body}"),
    "function": (f"func.def @inner{PARAMETERS} {{{{\n{ORIGIN}{{body}}  func.return\n}}}}\n", "  func.call @inner" + f"{ARGUMENTS} : {TYPES}\n"),
    "template": (
        f"template.decl @family{PARAMETERS}\n\n"
        f"template.def<@family> @inner{PARAMETERS} {{{{\n{ORIGIN}{{body}}  template.return\n}}}}\n",
        f"  template.apply<@family>{ARGUMENTS} : {TYPES}\n",
    ),
    "function_in_template": (
        f"template.decl @family{PARAMETERS}\n\n"
        f"template.def<@family> @outer{PARAMETERS} {{{{\n  func.call @inner{ARGUMENTS} : {TYPES}\n  template.return\n}}}}\n\n"
        f"func.def @inner{PARAMETERS} {{{{\n{ORIGIN}{{body}}  func.return\n}}}}\n",
        f"  template.apply<@family>{ARGUMENTS} : {TYPES}\n",
    ),
    "blocks": (
        f"func.def @inner{PARAMETERS} {{{{\n  cfg.br ^next\n^next:\n{ORIGIN}{{body}}  func.return\n}}}}\n",
        f"  func.call @inner{ARGUMENTS} : {TYPES}\n",
    ),
    "loop": ("", "  %two = index.constant 2 : index\n  scf.for %n = [%zero to %two step %one] {{\n" + ORIGIN + "{body}  }}\n"),
}  # fmt: skip


def module_text(place: str, body: str, wave: int) -> str:
    around, inside = PLACES[place]
    return f"""amdgpu.target<gfx11-generic> @t {{subgroup_size = {wave}}}

{around.format(body=body)}
kernel.def target(@t) @k() {{
  %one = index.constant 1 : index
  %lanes = index.constant {LANES} : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%lanes, %one, %one) : index
}} launch(%b: buffer) {{
  %i = kernel.workitem.id<x> : index
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %bytes = index.constant {4 * LANES} : offset
  %s = buffer.alloca<workgroup> align(16) %bytes : buffer
{inside.format(body=body)}  kernel.return
}}

check.case @c {{
  %t = check.generate.fill value(0) : tensor<{LANES}xi32>
  kernel.launch @k(%t) : (tensor<{LANES}xi32>)
  check.return
}}
"""


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_names_its_line(kind: str, place: str, wave: int) -> None:
    body, code, message = KINDS[kind]
    text = module_text(place, body, wave)
    issue = only_issue(run_text(text))
    assert (issue["kind"], issue["code"]) == ("execution", code)
    assert message in issue["message"]
    (line,) = [number for number, content in enumerate(text.splitlines(), 1) if "// HERE" in content]
    assert (issue["location"]["file"], issue["location"]["line"]) == ("test.loom", line)
    owner = "k" if place in ("kernel", "loop") else "inner"
    assert f"in @{owner}" in issue["details"]["notes"]


@pytest.mark.parametrize(("wave", "mask", "fails"), [(32, 16, False), (32, 32, True), (64, 32, False), (64, 64, True)])
def test_a_subgroup_is_as_wide_as_the_target_says(wave: int, mask: int, fails: bool) -> None:
    """A subgroup barrier orders lanes 32 apart in waves of 64, and does not in waves of 32."""
    body = KINDS["subgroup_barrier"][0].replace("index.constant 64", f"index.constant {mask}")
    document = run_text(module_text("function", body, wave))
    assert document["failed_sample_count"] == int(fails)
    assert not fails or only_issue(document)["code"] == "REFERENCE/003"


def test_poison_that_a_case_reads_is_a_failure() -> None:
    """A function hands undefined memory on, and the expectation says how many elements are undefined."""
    body = """  %v = buffer.view %s[%o] : buffer -> view<128xi32>
  %x = view.load %v[%i] : view<128xi32> -> i32
  %g = buffer.view %b[%o] : buffer -> view<128xi32>
  view.store %x, %g[%i] : i32, view<128xi32>
"""
    expect = "  check.expect.equal actual(%t) expected(%t) : tensor<128xi32>\n  check.return"
    issue = only_issue(run_text(module_text("template", body, 64).replace("  check.return", expect)))
    assert (issue["code"], issue["details"]["undefined_element_count"]) == ("CHECK/042", 128)
