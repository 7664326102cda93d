"""Loops that take a tensor from another offset of the buffer that IREE packs it into (FIS198)."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_vmfb

HEAD = """\
func.func @main(%x: T, %n: index) -> T {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.addf %x, %x : T
  %b = arith.mulf %a, %x : T
"""
TAIL = """\
  %z = arith.mulf %r, %a : T
  return %z : T
}
"""
COUNTED = """\
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %b) -> T {
    %w = arith.addf %v, %a : T
    scf.yield %w : T
  }
"""
CONDITION = """\
  %r, %end = scf.while (%v = %b, %i = %c0) : (T, index) -> (T, index) {
    %k = arith.cmpi ult, %i, %n : index
    scf.condition(%k) %v, %i : T, index
  } do {
  ^bb0(%v: T, %i: index):
    %w = arith.addf %v, %a : T
    %j = arith.addi %i, %c1 : index
    scf.yield %w, %j : T, index
  }
"""
NESTED = """\
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %b) -> T {
    %s = scf.for %j = %c0 to %c1 step %c1 iter_args(%t = %v) -> T {
      %w = arith.addf %t, %a : T
      scf.yield %w : T
    }
    scf.yield %s : T
  }
"""
BRANCH = """\
  %k = arith.cmpi eq, %n, %c1 : index
  %r = scf.if %k -> T {
    %p = arith.addf %b, %a : T
    scf.yield %p : T
  } else {
    scf.yield %b : T
  }
"""
LOST = {"counted": COUNTED, "condition": CONDITION, "nested": NESTED}
OPEN, ONE_OPEN, STATIC = "tensor<?x?xf32>", "tensor<?x7xf32>", "tensor<3x7xf32>"
X = np.linspace(-1, 1, 21, dtype=np.float32).reshape(3, 7)


def program(loop: str, tensor: str) -> str:
    return f"{HEAD}{loop}{TAIL}".replace("T", tensor)


def expected(rounds: int) -> np.ndarray:
    a = X + X
    return (a * X + np.float32(rounds) * a) * a


def called(vmfb, rounds: int) -> np.ndarray:
    [runtime] = runtimes.named(["local-task"])
    answer = runtimes.run(vmfb, signatures_of_vmfb(vmfb)["main"], [X, np.int64(rounds)], runtime)
    assert isinstance(answer, list), answer
    return answer[0]


def right(vmfb, rounds: int) -> bool:
    return bool(np.allclose(called(vmfb, rounds), expected(rounds), atol=1e-5))


@pytest.mark.parametrize("name", LOST)
def test_a_loop_begins_with_its_own_tensor(tmp_path, name):
    source = tmp_path / "in.mlir"
    source.write_text(program(LOST[name], OPEN))
    stock, repaired = tmp_path / "stock.vmfb", tmp_path / "out.vmfb"
    assert compile_stock(source, stock, list(CPU)) is None
    assert not right(stock, 0), "IREE keeps the offset now: remove FIS198"
    report = fissile.compile(source, repaired, list(CPU), check=False)
    assert "FIS198" in [f.code for f in report.findings if f.severity.value == "repaired"]
    assert all(right(repaired, rounds) for rounds in (0, 1, 2))


@pytest.mark.parametrize(
    ("loop", "tensor"),
    [
        *((loop, tensor) for loop in (*LOST.values(), BRANCH) for tensor in (ONE_OPEN, STATIC)),
        (BRANCH, OPEN),
    ],
)
def test_silent_where_the_range_of_the_size_is_known_or_nothing_is_lost(tmp_path, loop, tensor):
    source = tmp_path / "in.mlir"
    source.write_text(program(loop, tensor))
    report = fissile.compile(source, tmp_path / "out.vmfb", list(CPU), check=False)
    assert report.output and "FIS198" not in [f.code for f in report.findings]
    assert all(right(tmp_path / "out.vmfb", rounds) for rounds in (0, 1))


def test_without_repair_the_output_is_withheld(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(program(COUNTED, OPEN))
    report = fissile.compile(source, tmp_path / "out.vmfb", list(CPU), repair="off", check=False)
    assert "FIS198" in [f.code for f in report.errors] and not report.output
