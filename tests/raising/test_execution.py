"""Launching a kernel with typed arguments: what a message calls an argument whose name the metadata does not give."""

from __future__ import annotations

import pytest

from loom.device.protocol import Faulted
from loom.device.registry import open_device
from loom.diagnostics import LoomError
from loom.raising.buffers import parse_buffer
from loom.raising.execution import Argument, execute, parse_scalar
from loom.target.amdgpu.assembler import assemble
from loom.target.amdgpu.code_object import write
from tests.kernel_text import kernel_text, metadata

SOURCE = kernel_text(
    """\ts_load_b64 s[4:5], s[0:1], 0x8
\tv_lshlrev_b32 v1, 2, v0
\ts_waitcnt lgkmcnt(0)
\tglobal_load_b32 v2, v1, s[4:5]""",
    metadata(
        "{ .offset: 0, .size: 4, .value_kind: by_value }",
        "{ .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }",
    ),
)
"""A number, then a buffer, of which every lane reads four bytes."""
BUFFER = parse_buffer("4xi32")
NUMBER = parse_scalar("i32=1", "n")


def test_a_nameless_buffer_is_called_by_its_position() -> None:
    device = open_device("amdgpu-sim", threads=1)
    outcome = execute(device, write(assemble(SOURCE, "k.s")), "k", [NUMBER, BUFFER], (1,), (32,)).outcome
    assert isinstance(outcome, Faulted) and outcome.fault.kind == "out_of_bounds" and outcome.fault.lane == 4
    assert outcome.fault.nearest_buffer is not None and outcome.fault.nearest_buffer["name"] == "argument 1"
    device.close()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [([BUFFER, BUFFER], "'argument 0' of kernel 'k' is no buffer"), ([NUMBER, NUMBER], "'argument 1' of kernel 'k' is a buffer")],
)  # fmt: skip
def test_arguments_of_the_wrong_kind(arguments: list[Argument], says: str) -> None:
    device = open_device("amdgpu-sim", threads=1)
    with pytest.raises(LoomError, match=says) as caught:
        execute(device, write(assemble(SOURCE, "k.s")), "k", arguments, (1,), (32,))
    assert caught.value.diagnostics[0].code == "LAUNCH/002"
    device.close()
