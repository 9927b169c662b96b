"""Compiled kernels found again: neither translated nor checked, with the same outcome; and when they must not be found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loom.device.protocol import Completed, Faulted
from loom.target.amdgpu.simulator import engine, kernel_cache
from tests.target.amdgpu.simulator.asm import Assembler

INPUT = np.arange(32, dtype=np.uint32)
BODY = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_b32 v2, v1, s[4:5]
{wait}  v_add_nc_u32 v2, v2, v0
  global_store_b32 v1, v2, s[6:7]
  s_endpgm
"""
WAITS = "  s_waitcnt vmcnt(0)\n"


@pytest.fixture
def asm(oracle: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Assembler:
    """With an empty cache."""
    monkeypatch.setenv("LOOM_CACHE_DIR", str(tmp_path))
    return Assembler(oracle)


@pytest.fixture
def translations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by an entry, the number of instructions, with each translation."""
    done: list[int] = []
    original = engine.Translator.translate

    def translate(self: Any) -> Any:
        done.append(len(self.code))
        return original(self)

    monkeypatch.setattr(engine.Translator, "translate", translate)
    return done


def test_a_known_kernel_is_not_translated_again(asm: Assembler, translations: list[int]) -> None:
    outcomes = [asm.run(BODY.format(wait=WAITS), INPUT, 32) for _ in range(3)]
    assert translations == [8]
    for outcome, out in outcomes:
        assert isinstance(outcome, Completed) and outcome == outcomes[0][0]
        assert np.array_equal(out, 2 * INPUT)


def test_a_known_fault_is_the_same(asm: Assembler, translations: list[int]) -> None:
    first, second = (asm.run(BODY.format(wait=""), INPUT, 32)[0] for _ in range(2))
    assert translations == [7]
    assert isinstance(first, Faulted) and first.fault.kind == "outstanding_load" and second == first


def test_what_decides_a_kernel_s_translation_or_checks_keeps_it_apart(asm: Assembler, translations: list[int]) -> None:
    text = BODY.format(wait=WAITS)
    asm.run(text, INPUT, 32)
    asm.run(text, INPUT, 32, directives=(".amdhsa_float_denorm_mode_32 3",))
    asm.run(text, INPUT, 32, directives=(".amdhsa_workgroup_processor_mode 0",))
    asm.run(text, INPUT, 32, size=(31,))  # not all lanes of a wave begin
    asm.run(text, INPUT, 32, device_options={"sanitizers": ("race",)})
    asm.run(text, INPUT, 32, processor="gfx1102")
    asm.run(text, INPUT, 32, vgprs=48)
    asm.run(text.replace("v_add_nc_u32 v2, v2, v0", "v_add_nc_u32 v2, v2, v2"), INPUT, 32)
    assert len(translations) == 8


def test_a_changed_package_makes_its_kernels_anew(
    asm: Assembler, translations: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asm.run(BODY.format(wait=WAITS), INPUT, 32)
    monkeypatch.setattr(kernel_cache, "_package_state", lambda: "another")
    asm.run(BODY.format(wait=WAITS), INPUT, 32)
    assert len(translations) == 2


def test_the_state_of_the_package_tells_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "target" / "amdgpu" / "inner"
    folder.mkdir(parents=True)
    (tmp_path / "low" / "semantics").mkdir(parents=True)
    monkeypatch.setattr(kernel_cache, "_PACKAGE", tmp_path)
    state = kernel_cache._package_state.__wrapped__
    (folder / "a.py").write_text("x = 1\n")
    first = state()
    assert state() == first
    (folder / "a.py").write_text("x = 12\n")
    second = state()
    (folder / "b.json").write_text("{}")
    assert len({first, second, state()}) == 3


@pytest.mark.parametrize("what", ["record", "object"])
@pytest.mark.parametrize("damage", ["truncated", "absent"])
def test_a_damaged_cache_is_made_anew(
    asm: Assembler, translations: list[int], tmp_path: Path, what: str, damage: str
) -> None:
    asm.run(BODY.format(wait=WAITS), INPUT, 32)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    records = [path for path in files if b'"blocks"' in path.read_bytes()]
    assert len(records) == 1
    for path in records if what == "record" else [p for p in files if p not in records]:
        if damage == "absent":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:-1])
    outcome, out = asm.run(BODY.format(wait=WAITS), INPUT, 32)
    assert isinstance(outcome, Completed) and np.array_equal(out, 2 * INPUT)
    assert len(translations) == 2
    asm.run(BODY.format(wait=WAITS), INPUT, 32)
    assert len(translations) == 2
