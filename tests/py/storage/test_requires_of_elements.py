"""A precondition (`fissile.require`) in the body of an op holds for every element, or the call fails with its message."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.finding import Finding
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb

MAP = """
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %most = arith.constant 7 : i32
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.map ins(%x : tensor<4xi32>) outs(%e : tensor<4xi32>) (%p: i32, %o: i32) {
    %ok = arith.cmpi slt, %p, %most : i32
    "fissile.require"(%ok) {message = "every element is below 7"} : (i1) -> ()
    %q = arith.addi %p, %p : i32
    linalg.yield %q : i32
  }
  return %r : tensor<4xi32>
}
"""
ROOTS = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %ok = arith.cmpf oge, %p, %z : f32
    "fissile.require"(%ok) {message = "no element is negative"} : (i1) -> ()
    %q = math.sqrt %p : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
PROGRAMS = {
    "map": (
        MAP,
        np.array([1, 2, 3, 6], np.int32),
        np.array([1, 9, 3, 6], np.int32),
        lambda x: x + x,
        "below 7",
    ),
    "generic": (ROOTS, np.float32([0, 1, 4, 9]), np.float32([0, 1, -4, 9]), np.sqrt, "negative"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_call_that_breaks_it_fails_and_the_others_do_not(tmp_path, name):
    text, kept, broken, function, words = PROGRAMS[name]
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, vmfb, CPU)
    assert [f.code for f in report.findings] == ["FIS202"] and words in report.findings[0].message
    np.testing.assert_allclose(run(vmfb, [kept])[0], function(kept))
    [runtime] = runtimes.named(["local-task"])
    answer = runtimes.run(vmfb, signatures_of_vmfb(vmfb)["main"], [broken], runtime)
    assert isinstance(answer, Finding) and words in str(answer)


def test_one_that_always_holds_costs_nothing(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(MAP.replace("arith.cmpi slt, %p, %most : i32", "arith.constant true"))
    report = fissile.compile(source, tmp_path / "out.vmfb", CPU)
    assert not report.findings


def test_check_reports_it():
    assert [f.code for f in fissile.check(MAP, target="llvm-cpu").findings] == ["FIS202"]
