"""Loops on the host that carry numbers of 32 and of 64 bits, of which IREE's VM overwrites one as it begins (FIS197)."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_vmfb

HEAD = """\
func.func @main(%first: {0}, %rounds: i32) -> {0} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %constant = arith.constant {1} : {0}
  %end = arith.index_cast %rounds : i32 to index
"""
SUM = """\
  %r:2 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %first, %sum = %constant) -> ({0}, {0}) {{
    %s = arith.{2} %sum, %a : {0}
    scf.yield %constant, %s : {0}, {0}
  }}
  return %r#1 : {0}
}}
"""
LAST = """\
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %first) -> (i32) {
    scf.yield %constant : i32
  }
  return %r : i32
}
"""
LOST = {
    "integers": (HEAD + SUM).format("i32", "0", "addi"),
    "floats": (HEAD + SUM).format("f32", "0.0", "addf"),
    "the_last": HEAD.format("i32", "5") + LAST,
}
KEPT = (HEAD + SUM).format("i64", "0", "addi").replace("%rounds: i32", "%rounds: i64").replace("i32", "i64")
CALLS = ((7, 3), (7, 0), (-2, 1))


def expected(name: str, first: int, rounds: int) -> int:
    if name == "the_last":
        return 5 if rounds else first
    return first if rounds else 0


def called(vmfb, name: str, first: int, rounds: int) -> float:
    [runtime] = runtimes.named(["local-task"])
    element = np.float32 if name == "floats" else np.int32
    answer = runtimes.run(vmfb, signatures_of_vmfb(vmfb)["main"], [element(first), np.int32(rounds)], runtime)
    assert isinstance(answer, list), answer
    return float(answer[0])


@pytest.mark.parametrize("name", LOST)
def test_a_loop_begins_with_its_own_numbers(tmp_path, name):
    source, ours, stock = tmp_path / "in.mlir", tmp_path / "ours.vmfb", tmp_path / "stock.vmfb"
    source.write_text(LOST[name])
    report = fissile.compile(source, ours, CPU)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS197", "repaired")]
    assert all(called(ours, name, *call) == expected(name, *call) for call in CALLS)
    # Where stock is right IREE has changed, and FIS197 is not needed any more.
    assert compile_stock(source, stock, [*CPU], timeout=300.0) is None
    assert not all(called(stock, name, *call) == expected(name, *call) for call in CALLS)


def test_flags_that_a_process_reads_once_hold_for_the_look_as_well(tmp_path):
    """IREE is asked for its registers in a session of its own, which takes no such flag, and has it already."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(LOST["integers"])
    report = fissile.compile(source, output, [*CPU, "--iree-stream-partitioning-favor=max-concurrency"])
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS197", "repaired")]


def test_it_is_an_error_where_nothing_is_repaired(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(LOST["integers"])
    report = fissile.compile(source, output, CPU, repair="off", check=False)
    assert [f.code for f in report.errors] == ["FIS197"] and not output.exists()


def test_numbers_of_one_width_stay(tmp_path):
    source, ours, stock = tmp_path / "in.mlir", tmp_path / "ours.vmfb", tmp_path / "stock.vmfb"
    source.write_text(KEPT)
    assert not fissile.compile(source, ours, CPU).findings
    assert compile_stock(source, stock, [*CPU], timeout=300.0) is None
    assert ours.read_bytes() == stock.read_bytes()
