"""Undefined behaviour is an error with a source location, never a value."""

from __future__ import annotations

import pytest

from tests.check.helpers import kernel, launch_case, only_issue, run_text

VIEW = "  %v = buffer.view %out[%origin] : buffer -> view<4xi32>\n"
SHARED = """  %bytes = index.constant 256 : offset
  %shared = buffer.alloca<workgroup> align(16) %bytes : buffer
  %tile = buffer.view %shared[%origin] : buffer -> view<64xi32>
  %word = index.cast %i : index to i32
"""


def issue_of(body: str, lanes: int = 4, tensor: str = "tensor<4xi32>", groups: int = 1) -> dict[str, object]:
    return only_issue(run_text(kernel(VIEW + body, lanes=lanes, groups=groups) + launch_case(tensor)))


def test_out_of_view_names_index_and_workitem() -> None:
    issue = issue_of("  %x = view.load %v[%i] : view<4xi32> -> i32", lanes=6)
    assert issue["code"] == "REFERENCE/002"
    assert "element index 4 of axis 0 is outside [0, 4)" in str(issue["message"])
    assert "workitem (4, 0, 0)" in str(issue["message"])
    assert issue["location"]["line"] == 13  # type: ignore[index]


def test_a_view_may_claim_more_than_the_buffer_holds_until_it_is_touched() -> None:
    body = "  %big = buffer.view %out[%origin] : buffer -> view<100xi32>\n"
    good = body + "  %x = view.load %big[%i] : view<100xi32> -> i32"
    assert run_text(kernel(good) + launch_case())["failed_sample_count"] == 0
    bad = body + "  %far = index.constant 50 : index\n  %x = view.load %big[%far] : view<100xi32> -> i32"
    issue = only_issue(run_text(kernel(bad) + launch_case()))
    assert issue["code"] == "REFERENCE/002"
    assert "lie outside the 16 bytes of buffer 't'" in issue["message"]


def test_masked_off_lanes_touch_nothing() -> None:
    body = """  %four = index.constant 4 : index
  %far = index.constant 1000 : index
  %live = index.cmp ult, %i, %four : index
  scf.if %live {
    %word = index.cast %i : index to i32
    view.store %word, %v[%i] : i32, view<4xi32>
  }
  %mask = vector.constant 0 : vector<4xi1>
  %pass = vector.constant 5 : vector<4xi32>
  %kept = vector.load.mask %v[%far], %mask, %pass : view<4xi32>, vector<4xi1>, vector<4xi32>"""
    assert run_text(kernel(VIEW + body, lanes=64) + launch_case())["failed_sample_count"] == 0


def test_missing_barrier_is_a_race() -> None:
    body = (
        SHARED
        + """  view.store %word, %tile[%i] : i32, view<64xi32>
  %last = index.constant 3 : index
  %mirror = index.sub %last, %i : index
  %x = view.load %tile[%mirror] : view<64xi32> -> i32
  view.store %x, %v[%i] : i32, view<4xi32>"""
    )
    issue = issue_of(body)
    assert issue["code"] == "REFERENCE/003"
    assert "no barrier in between" in str(issue["message"])
    assert "kernel.barrier" in str(issue["hint"])
    fixed = body.replace("  %last", "  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)\n  %last")
    assert run_text(kernel(VIEW + fixed) + launch_case())["failed_sample_count"] == 0


def test_write_after_read_without_a_barrier_is_a_race() -> None:
    body = (
        SHARED
        + """  view.store %word, %tile[%i] : i32, view<64xi32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %last = index.constant 3 : index
  %mirror = index.sub %last, %i : index
  %x = view.load %tile[%mirror] : view<64xi32> -> i32
  view.store %x, %tile[%i] : i32, view<64xi32>"""
    )
    assert issue_of(body)["code"] == "REFERENCE/003"


def test_a_subgroup_barrier_orders_a_subgroup_only() -> None:
    body = (
        SHARED
        + """  view.store %word, %tile[%i] : i32, view<64xi32>
  kernel.barrier<workgroup> scope(subgroup) ordering(acq_rel)
  %mask = index.constant MASK : index
  %other = index.xori %i, %mask : index
  %x = view.load %tile[%other] : view<64xi32> -> i32"""
    )
    within = kernel(VIEW + body.replace("MASK", "31"), lanes=64) + launch_case()
    across = kernel(VIEW + body.replace("MASK", "32"), lanes=64) + launch_case()
    assert run_text(within)["failed_sample_count"] == 0
    assert only_issue(run_text(across))["code"] == "REFERENCE/003"


def test_two_workitems_writing_different_values() -> None:
    body = SHARED + "  view.store %word, %tile[0] : i32, view<64xi32>"
    assert issue_of(body)["code"] == "REFERENCE/003"
    same = body.replace("%word, %tile", "%zero_word, %tile").replace(
        "  %word =", "  %zero_word = scalar.constant 0 : i32\n  %word ="
    )
    assert run_text(kernel(VIEW + same) + launch_case())["failed_sample_count"] == 0


def test_atomics_do_not_race_with_each_other_but_with_plain_access() -> None:
    start = (
        SHARED
        + """  %unit = scalar.constant 1 : i32
  %none = scalar.constant 0 : i32
  %first = index.cmp eq, %i, %zero : index
  scf.if %first {
    view.store %none, %tile[0] : i32, view<64xi32>
  }
"""
    )
    barrier = "  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)\n"
    add = "  view.atomic.reduce<addi> %unit, %tile[0] {ordering = relaxed, scope = workgroup} : i32, view<64xi32>\n"
    load = "  %x = view.load %tile[0] : view<64xi32> -> i32\n  view.store %x, %v[%i] : i32, view<4xi32>"
    good = run_text(kernel(VIEW + start + barrier + add + barrier + load) + launch_case(expected=4))
    assert good["failed_sample_count"] == 0
    assert issue_of(start + barrier + add + load)["code"] == "REFERENCE/003"
    assert issue_of(start + add)["code"] == "REFERENCE/003"


def test_barrier_under_divergence() -> None:
    body = """  %first = index.cmp eq, %i, %zero : index
  scf.if %first {
    kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  }"""
    issue = issue_of(body)
    assert issue["code"] == "REFERENCE/004"
    assert "some workitems" in str(issue["message"])


def test_workgroups_need_not_agree_with_each_other() -> None:
    body = """  %g = kernel.workgroup.id<x> : index
  %first = index.cmp eq, %g, %zero : index
  scf.if %first {
    kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  }"""
    assert run_text(kernel(VIEW + body, groups=3) + launch_case())["failed_sample_count"] == 0


def test_reading_unwritten_workgroup_memory_is_poison() -> None:
    body = SHARED + "  %x = view.load %tile[%i] : view<64xi32> -> i32\n  view.store %x, %v[%i] : i32, view<4xi32>"
    document = run_text(kernel(VIEW + body) + launch_case(expected=0))
    issue = only_issue(document)
    assert issue["code"] == "CHECK/042"
    assert issue["details"]["undefined_element_count"] == 4


def test_a_branch_on_poison_is_an_error() -> None:
    body = (
        SHARED
        + """  %x = view.load %tile[%i] : view<64xi32> -> i32
  %none = scalar.constant 0 : i32
  %c = scalar.cmpi eq, %x, %none : i32
  scf.if %c {
    view.store %none, %v[%i] : i32, view<4xi32>
  }"""
    )
    issue = issue_of(body)
    assert issue["code"] == "REFERENCE/006"
    assert "condition depends on an undefined value" in str(issue["message"])


def test_poison_that_is_selected_away_is_harmless() -> None:
    body = (
        SHARED
        + """  %x = view.load %tile[%i] : view<64xi32> -> i32
  %seven = scalar.constant 7 : i32
  %no = index.cmp slt, %i, %zero : index
  %y = scf.select %no, %x, %seven : i32
  view.store %y, %v[%i] : i32, view<4xi32>"""
    )
    assert run_text(kernel(VIEW + body) + launch_case(expected=7))["failed_sample_count"] == 0


@pytest.mark.parametrize(
    "expression",
    [
        "scalar.divsi %x, %none : i32",
        "scalar.remui %x, %none : i32",
        "scalar.shli %x, %wide : i32",
        "scalar.addi<nsw> %big, %big : i32",
        "scalar.muli<nuw> %big, %big : i32",
    ],
)
def test_operations_without_a_value(expression: str) -> None:
    body = f"""  %none = scalar.constant 0 : i32
  %wide = scalar.constant 32 : i32
  %big = scalar.constant 2147483647 : i32
  %x = index.cast %i : index to i32
  %y = {expression}
  view.store %y, %v[%i] : i32, view<4xi32>"""
    assert only_issue(run_text(kernel(VIEW + body) + launch_case(expected=0)))["code"] == "CHECK/042"


def test_violated_assumptions() -> None:
    issue = issue_of("  %j = index.assume %i [range(%i, 0, 2)] : index")
    assert issue["code"] == "REFERENCE/005"
    assert "range(3, 0, 2) does not hold" in str(issue["message"])
    aliased = kernel("  %a, %b = buffer.assume.noalias %x, %y : buffer, buffer", "%x: buffer, %y: buffer")
    case = """
check.case public @c {
  %t = check.generate.fill value(0) : tensor<4xi32>
  %u = check.tensor.view %t offset(8) : tensor<4xi32> -> tensor<2xi32>
  kernel.launch @k(%t, %u) : (tensor<4xi32>, tensor<2xi32>)
  check.return
}
"""
    assert only_issue(run_text(aliased + case))["code"] == "REFERENCE/005"


def test_where_of_a_kernel_is_checked() -> None:
    text = kernel("", "%out: buffer").replace(
        "launch(%out: buffer) {", "launch(%out: buffer, %n: index) where [lt(%n, 8)] {"
    )
    case = """
check.case public @c {
  %t = check.generate.fill value(0) : tensor<4xi32>
  %n = check.param.choice values([7, 8]) : index
  kernel.launch @k(%t, %n) : (tensor<4xi32>, index)
  check.return
}
"""
    document = run_text(text + case)
    assert [sample["passed"] for sample in document["samples"]] == [True, False]
    assert document["samples"][1]["issues"][0]["code"] == "REFERENCE/005"


def test_an_endless_loop_is_stopped() -> None:
    body = """  %none = scalar.constant 0 : i32
  %always = scalar.cmpi eq, %none, %none : i32
  %x = scf.while(%a = %none : i32) -> (i32) {
    scf.condition %always, %a : i1, i32
  } do(%b: i32) {
    scf.yield %b : i32
  }"""
    from loom.check.executor import RunOptions

    issue = only_issue(run_text(kernel(VIEW + body) + launch_case(), options=RunOptions(budget=5000)))
    assert issue["code"] == "REFERENCE/007"


def test_global_races_are_found_on_request() -> None:
    from loom.check.executor import RunOptions

    body = """  %word = index.cast %i : index to i32
  view.store %word, %v[0] : i32, view<4xi32>"""
    text = kernel(VIEW + body) + launch_case()
    assert run_text(text)["failed_sample_count"] == 0
    options = RunOptions(sanitizer=frozenset({"race"}), sanitizer_reporting="trap")
    assert only_issue(run_text(text, options=options))["code"] == "REFERENCE/003"


def test_scatter_lanes_must_be_distinct() -> None:
    body = """  %ones = vector.constant 1 : vector<2xi32>
  %same = vector.splat %zero : vector<2xindex>
  vector.scatter %ones, %v[0][%same] : vector<2xi32>, view<4xi32>, vector<2xindex>"""
    assert issue_of(body, lanes=1)["code"] == "REFERENCE/005"


def test_shuffle_from_outside_is_undefined() -> None:
    body = """  %x = index.cast %i : index to i32
  %one_word = scalar.constant 1 : i32
  %width = scalar.constant 4 : i32
  %y, %valid = kernel.subgroup.shuffle<up> %x, %one_word, %width : i32, i32, i32
  view.store %y, %v[%i] : i32, view<4xi32>"""
    issue = only_issue(run_text(kernel(VIEW + body) + launch_case(expected=0)))
    assert issue["details"]["first_undefined"] == [[0]]


def test_matrix_operations_need_whole_subgroups() -> None:
    body = """  %empty = vector.constant 0.0 : vector<8xf32>
  %half = vector.constant 1.0 : vector<16xf16>
  %d = vector.mma %half, %half, %empty : vector<16xf16>, vector<16xf16>, vector<8xf32>"""
    assert issue_of(body, lanes=16)["code"] == "REFERENCE/004"


def test_misaligned_access() -> None:
    body = """  %two = index.constant 2 : offset
  %odd = buffer.view %out[%two] : buffer -> view<2xi32>
  %x = view.load %odd[0] : view<2xi32> -> i32"""
    assert issue_of(body)["code"] == "REFERENCE/008"


# --- asynchronous copies ----------------------------------------------------------------------------------------------

COPY = """  %bytes = index.constant 64 : offset
  %shared = buffer.alloca<workgroup> align(16) %bytes : buffer
  %tile = buffer.view %shared[%origin] : buffer -> view<4xi32>
  %from = view.subview %v[%i] : view<4xi32> -> view<1xi32>
  %to = view.subview %tile[%i] : view<4xi32> -> view<1xi32>
  %t = kernel.async.copy %from to %to {direction = global_to_workgroup} : view<1xi32> to view<1xi32> -> kernel.async.token
"""
GROUP = "  %g = kernel.async.group %t : kernel.async.token -> kernel.async.group\n"
WAIT = "  kernel.async.wait %g {newer_groups = 0} : kernel.async.group\n"
BARRIER = "  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)\n"
READ = "  %x = view.load %tile[%i] : view<4xi32> -> i32\n"
MIRROR = """  %three = index.constant 3 : index
  %m = index.sub %three, %i : index
  %x = view.load %tile[%m] : view<4xi32> -> i32
"""
WRITE = "  %one_word = scalar.constant 1 : i32\n  view.store %one_word, %v[%i] : i32, view<4xi32>\n"


def copy_outcome(*parts: str) -> dict[str, object] | None:
    document = run_text(kernel(VIEW + COPY + "".join(parts)) + launch_case())
    return None if document["failed_sample_count"] == 0 else only_issue(document)


def test_reading_a_copy_before_the_wait() -> None:
    issue = copy_outcome(GROUP, READ)
    assert issue is not None and issue["code"] == "REFERENCE/019"
    assert "view.load reads workgroup memory" in str(issue["message"])
    assert "still writing (issued at test.loom:18:3)" in str(issue["message"])
    assert issue["location"]["line"] == 20  # type: ignore[index]
    assert "kernel.async.wait" in str(issue["hint"])
    assert copy_outcome(GROUP, WAIT, READ) is None
    assert copy_outcome(READ) is not None  # no group at all


def test_a_barrier_waits_for_no_copy() -> None:
    issue = copy_outcome(GROUP, BARRIER, READ)
    assert issue is not None and issue["code"] == "REFERENCE/019"


def test_another_workitem_needs_the_barrier_behind_the_wait() -> None:
    assert copy_outcome(GROUP, WAIT, BARRIER, MIRROR) is None
    for order in ((GROUP, WAIT, MIRROR), (GROUP, BARRIER, WAIT, MIRROR)):
        issue = copy_outcome(*order)
        assert issue is not None and issue["code"] == "REFERENCE/003"


def test_the_source_of_a_copy_may_not_change_before_the_wait() -> None:
    issue = copy_outcome(GROUP, WRITE, WAIT)
    assert issue is not None and issue["code"] == "REFERENCE/019"
    assert "still reading" in str(issue["message"])
    assert copy_outcome(GROUP, WAIT, WRITE) is None


def test_a_wait_covers_older_groups_only() -> None:
    """Three copies in three groups, the middle one awaited: the first two have arrived, the last has not."""
    parts = ["  %bytes = index.constant 64 : offset\n  %shared = buffer.alloca<workgroup> align(16) %bytes : buffer\n"]
    parts.append("  %tile = buffer.view %shared[%origin] : buffer -> view<3x4xi32>\n")
    parts.append("  %from = view.subview %v[%i] : view<4xi32> -> view<1xi32>\n")
    parts.append(
        "  %flat = buffer.view %shared[%origin] : buffer -> view<12xi32>\n  %four = index.constant 4 : index\n"
    )
    for n in range(3):
        parts.append(
            f"""  %row{n} = index.constant {n} : index
  %at{n} = index.madd %row{n}, %four, %i : index
  %to{n} = view.subview %flat[%at{n}] : view<12xi32> -> view<1xi32>
  %t{n} = kernel.async.copy %from to %to{n} {{direction = global_to_workgroup}} : view<1xi32> to view<1xi32> -> kernel.async.token
  %g{n} = kernel.async.group %t{n} : kernel.async.token -> kernel.async.group
"""
        )
    parts.append("  kernel.async.wait %g1 {newer_groups = 1} : kernel.async.group\n")
    for row, fails in ((0, False), (1, False), (2, True)):
        load = f"  %x = view.load %tile[{row}, %i] : view<3x4xi32> -> i32\n"
        document = run_text(kernel(VIEW + "".join(parts) + load) + launch_case())
        assert document["failed_sample_count"] == int(fails)
        assert not fails or only_issue(document)["code"] == "REFERENCE/019"


def test_groups_carried_through_a_loop() -> None:
    """Double buffering: each turn issues the next row and waits for the one before; one wait fewer is an error."""

    def text(waits: bool) -> str:
        wait = "kernel.async.wait %old {newer_groups = 1} : kernel.async.group" if waits else ""
        return (
            kernel(
                f"""  %v = buffer.view %out[%origin] : buffer -> view<4xi32>
  %bytes = index.constant 64 : offset
  %shared = buffer.alloca<workgroup> align(16) %bytes : buffer
  %tile = buffer.view %shared[%origin] : buffer -> view<8xi32>
  %from = view.subview %v[%i] : view<4xi32> -> view<1xi32>
  %to = view.subview %tile[%i] : view<8xi32> -> view<1xi32>
  %t = kernel.async.copy %from to %to {{direction = global_to_workgroup}} : view<1xi32> to view<1xi32> -> kernel.async.token
  %first = kernel.async.group %t : kernel.async.token -> kernel.async.group
  %four = index.constant 4 : index
  %last = scf.for %k = [%zero to %four step %one](%old = %first : kernel.async.group) -> (kernel.async.group) {{
    %odd = index.andi %k, %one : index
    %mine = index.madd %odd, %four, %i : index
    %flip = index.xori %odd, %one : index
    %next = index.madd %flip, %four, %i : index
    %there = view.subview %tile[%next] : view<8xi32> -> view<1xi32>
    %u = kernel.async.copy %from to %there {{direction = global_to_workgroup}} : view<1xi32> to view<1xi32> -> kernel.async.token
    %new = kernel.async.group %u : kernel.async.token -> kernel.async.group
    {wait}
    %x = view.load %tile[%mine] : view<8xi32> -> i32
    scf.yield %new : kernel.async.group
  }}
  kernel.async.wait %last {{newer_groups = 0}} : kernel.async.group"""
            )
            + launch_case()
        )

    assert run_text(text(True))["failed_sample_count"] == 0
    assert only_issue(run_text(text(False)))["code"] == "REFERENCE/019"


def test_a_token_belongs_to_one_group() -> None:
    issue = copy_outcome(GROUP, GROUP.replace("%g ", "%h "))
    assert issue is not None and issue["code"] == "REFERENCE/005"


# --- poison lane by lane ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "direction", "mode", "undefined"),
    [
        ("subgroup", "forward", "inclusive", [2, 3]),
        ("subgroup", "forward", "exclusive", [3]),
        ("subgroup", "reverse", "inclusive", [0, 1, 2]),
        ("subgroup", "reverse", "exclusive", [0, 1]),
        ("workgroup", "forward", "inclusive", [2, 3]),
        ("workgroup", "reverse", "exclusive", [0, 1]),
    ],
)
def test_poison_in_a_scan_reaches_what_lies_behind_it(
    level: str, direction: str, mode: str, undefined: list[int]
) -> None:
    """Workitem 2 divides by zero; the others have a value."""
    body = f"""  %word = index.cast %i : index to i32
  %two = scalar.constant 2 : i32
  %divisor = scalar.subi %word, %two : i32
  %q = scalar.divsi %two, %divisor : i32
  %s = kernel.{level}.scan<addi> %q {{direction = {direction}, mode = {mode}}} : i32
  view.store %s, %v[%i] : i32, view<4xi32>"""
    issue = only_issue(run_text(kernel(VIEW + body) + launch_case(expected=0)))
    assert issue["code"] == "CHECK/042"
    assert issue["details"]["first_undefined"] == [[lane] for lane in undefined]


def test_poison_in_a_scan_stays_in_its_element_and_cluster() -> None:
    body = """  %word = index.cast %i : index to i32
  %two = scalar.constant 2 : i32
  %divisor = scalar.subi %word, %two : i32
  %q = scalar.divsi %two, %divisor : i32
  %pair = vector.from_elements %q, %two : vector<2xi32>
  %s = kernel.subgroup.scan<addi> %pair {cluster_size = 4, direction = forward, mode = inclusive} : vector<2xi32>
  %wide = buffer.view %out[%origin] : buffer -> view<8x2xi32>
  vector.store %s, %wide[%i, 0] : vector<2xi32>, view<8x2xi32>"""
    issue = only_issue(run_text(kernel(body, lanes=8) + launch_case("tensor<8x2xi32>", expected=0)))
    assert issue["details"]["first_undefined"] == [[2, 0], [3, 0]]


# --- atomics and plain accesses of one workitem -----------------------------------------------------------------------


def test_a_workitem_may_read_what_it_updated_atomically_itself() -> None:
    """Its own accesses are in order; another workitem's are not, nor its own where others updated the element too."""
    own = (
        SHARED
        + """  %unit = scalar.constant 1 : i32
  view.store %word, %tile[%i] : i32, view<64xi32>
  view.atomic.reduce<addi> %unit, %tile[%i] {ordering = relaxed, scope = workgroup} : i32, view<64xi32>
"""
    )
    read = "  %x = view.load %tile[%i] : view<64xi32> -> i32\n"
    assert run_text(kernel(VIEW + own + read) + launch_case())["failed_sample_count"] == 0
    other = "  %first = index.xori %i, %one : index\n  %x = view.load %tile[%first] : view<64xi32> -> i32\n"
    assert issue_of(own + other)["code"] == "REFERENCE/003"
    for at, races in (("xori %i, %one", True), ("andi %i, %one", True), ("add %i, %zero", False)):
        place = f"  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)\n  %at = index.{at} : index\n"
        text = own.replace("%tile[%i] {", "%tile[%at] {").replace("  view.atomic", place + "  view.atomic")
        document = run_text(kernel(VIEW + text + read) + launch_case())
        assert document["failed_sample_count"] == int(races)
        assert not races or only_issue(document)["code"] == "REFERENCE/003"
