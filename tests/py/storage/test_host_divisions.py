"""Divisions on the host by 0, refuted, asserted or proved: a call ends with an error, not a signal. Slices with a stride of 0, which are none."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from iree.compiler import ir

import fissile
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.verdict import Answer

P, U, R = Answer.PROVED, Answer.UNKNOWN, Answer.REFUTED


@pytest.fixture
def context():
    with ir.Context() as context, ir.Location.unknown():
        yield context


def answers(body: str, arguments: str = "%n: i64, %m: i64", result: str = "i64") -> set[Answer]:
    text = f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"
    return {j.answer for j in judge_storage(ir.Module.parse(text).operation).judged}


GUARDED = """%c0 = arith.constant 0 : i64
%p = arith.cmpi ne, %m, %c0 : i64
%r = scf.if %p -> i64 {
  %d = arith.OP %n, %m : i64
  scf.yield %d : i64
} else {
  scf.yield %c0 : i64
}"""


@pytest.mark.parametrize("op", ["divui", "remui", "ceildivui"])
def test_a_division_by_what_a_call_says(context, op):
    assert answers(f"%r = arith.{op} %n, %m : i64") == {U}
    assert answers(GUARDED.replace("OP", op)) == {P}
    assert answers(f"%c = arith.constant 3 : i64\n%r = arith.{op} %n, %c : i64") == {P}
    assert R in answers(f"%c = arith.constant 0 : i64\n%r = arith.{op} %n, %c : i64")


def test_the_smallest_integer_by_minus_one(context):
    minus = "%c = arith.constant -1 : i64\n"
    assert U in answers(f"{minus}%r = arith.divsi %n, %c : i64")
    known = "%k = arith.constant 15 : i64\n%a = arith.andi %n, %k : i64\n"
    assert answers(f"{minus}{known}%r = arith.divsi %a, %c : i64") == {P}


def test_a_division_that_nothing_uses_is_left_alone(context):
    assert answers("%d = arith.divui %n, %m : i64\n%r = arith.addi %n, %m : i64") == set()


def sliced(stride: str, size: int = 4) -> set[Answer]:
    body = f"%r = tensor.extract_slice %f[1] [{size}] [{stride}] : tensor<16xf32> to tensor<{size}xf32>"
    return answers(body, "%f: tensor<16xf32>, %n: index", f"tensor<{size}xf32>")


def test_a_stride_of_zero(context):
    """It names one element several times, in bounds where that is."""
    assert sliced("0") == {P} and sliced("2") == {P}
    assert sliced("%n") == {U}


SLICE = """
func.func @main(%f: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %f, %c0 : tensor<?xf32>
  %m = arith.ceildivsi %d, %n : index
  %s = tensor.extract_slice %f[0] [%m] [%n] : tensor<?xf32> to tensor<?xf32>
  %r = arith.addf %s, %s : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


def test_a_slice_that_is_sized_by_its_stride_ends_no_process(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(SLICE)
    fissile.compile(source, output, CPU)
    signature = signatures_of_vmfb(output)["main"]
    [device] = runtimes.named(["local-task"])
    x = np.arange(16, dtype=np.float32)

    def call(stride: int):
        return runtimes.run(output, signature, [x, np.array(stride, np.int64)], device)

    np.testing.assert_array_equal(call(3)[0], 2 * x[::3])
    assert "FAILED_PRECONDITION" in str(call(0))
