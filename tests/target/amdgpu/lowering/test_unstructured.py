"""Branches between blocks compile to what the same program with structured control flow compiles to."""

from __future__ import annotations

import numpy as np
import pytest

from .harness import compiled, kernel, run

HEAD = """
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %two = index.constant 2 : index
  %n = index.constant 100 : index
  %src = buffer.view %in[%origin] : buffer -> view<64x100xi32>
  %out = buffer.view %x[%origin] : buffer -> view<64xi32>
  %start = scalar.constant 0 : i32"""

BLOCKS = (
    HEAD
    + """
  cfg.br ^head(%zero: index, %start: i32)
^head(%i: index, %acc: i32):
  %more = index.cmp slt, %i, %n : index
  cfg.cond_br %more, ^body, ^done
^body:
  %v = view.load %src[%item, %i] : view<64x100xi32> -> i32
  %r = index.rem %i, %two : index
  %odd = index.cmp eq, %r, %one : index
  cfg.cond_br %odd, ^sub, ^add
^sub:
  %s = scalar.subi %acc, %v : i32
  cfg.br ^latch(%s: i32)
^add:
  %a = scalar.addi %acc, %v : i32
  cfg.br ^latch(%a: i32)
^latch(%new: i32):
  %next = index.add %i, %one : index
  cfg.br ^head(%next: index, %new: i32)
^done:
  view.store %acc, %out[%item] : i32, view<64xi32>"""
)

STRUCTURED = (
    HEAD
    + """
  %last, %acc = scf.while(%i = %zero : index, %sum = %start : i32) -> (index, i32) {
    %more = index.cmp slt, %i, %n : index
    scf.condition %more, %i, %sum : i1, index, i32
  } do(%i: index, %sum: i32) {
    %v = view.load %src[%item, %i] : view<64x100xi32> -> i32
    %r = index.rem %i, %two : index
    %odd = index.cmp eq, %r, %one : index
    %new = scf.if %odd -> (i32) {
      %s = scalar.subi %sum, %v : i32
      scf.yield %s : i32
    } else {
      %a = scalar.addi %sum, %v : i32
      scf.yield %a : i32
    }
    %next = index.add %i, %one : index
    scf.yield %next, %new : index, i32
  }
  view.store %acc, %out[%item] : i32, view<64xi32>"""
)


def instructions(body, wave):
    compilation = compiled(kernel(body, "%in: buffer, %x: buffer"), wave)
    return [str(i) for i in compilation.programs[0].instructions()]


@pytest.mark.parametrize("wave", [32, 64])
def test_a_loop_with_a_branch_costs_what_its_structured_form_costs(wave):
    data = np.random.default_rng(1).integers(-1000, 1000, (64, 100), dtype=np.int32)
    (_, out), counts = run(kernel(BLOCKS, "%in: buffer, %x: buffer"), data, np.zeros(64, np.int32), wave=wave)
    assert out.tolist() == (data[:, ::2].sum(1) - data[:, 1::2].sum(1)).tolist()
    _, expected = run(kernel(STRUCTURED, "%in: buffer, %x: buffer"), data, np.zeros(64, np.int32), wave=wave)
    assert counts.instructions == expected.instructions
    assert len(instructions(BLOCKS, wave)) == len(instructions(STRUCTURED, wave))


SEARCH = (
    HEAD
    + """
  %none = scalar.constant -1 : i32
  %six = scalar.constant 6 : i32
  cfg.br ^head(%zero: index)
^head(%i: index):
  %more = index.cmp slt, %i, %n : index
  cfg.cond_br %more, ^body, ^missing
^body:
  %v = view.load %src[%item, %i] : view<64x100xi32> -> i32
  %hit = scalar.cmpi eq, %v, %six : i32
  cfg.cond_br %hit, ^found, ^latch
^latch:
  %next = index.add %i, %one : index
  cfg.br ^head(%next: index)
^found:
  %w = index.cast %i : index to i32
  cfg.br ^done(%w: i32)
^missing:
  cfg.br ^done(%none: i32)
^done(%r: i32):
  view.store %r, %out[%item] : i32, view<64xi32>"""
)


@pytest.mark.parametrize("wave", [32, 64])
def test_a_loop_that_lanes_leave_at_different_times_and_places(wave):
    data = np.random.default_rng(2).integers(0, 60, (64, 100), dtype=np.int32)
    data[::5] = 7
    (_, out), _ = run(kernel(SEARCH, "%in: buffer, %x: buffer"), data, np.zeros(64, np.int32), wave=wave)
    expected = [int(np.argmax(row == 6)) if (row == 6).any() else -1 for row in data]
    assert -1 in expected and max(expected) > 50
    assert out.tolist() == expected
