"""FIS102: scans and argmax of many dynamic dimensions, of which llvm-cpu has a tile on the stack that is too large."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics.build import compile_stock

SCAN = """
func.func @main(%x: tensor<SHAPExf32>, %o: tensor<SHAPExf32>, %a: tensor<RESTxf32>) -> tensor<SHAPExf32> {
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : tensor<SHAPExf32>) outs(%o, %a : tensor<SHAPExf32>, tensor<RESTxf32>) {
  ^bb0(%p: f32, %q: f32):
    %m = arith.addf %p, %q : f32
    iree_linalg_ext.yield %m : f32
  } -> tensor<SHAPExf32>, tensor<RESTxf32>
  return %r#0 : tensor<SHAPExf32>
}
"""
LARGEST = """
func.func @main(%x: tensor<SHAPExf32>, %v: tensor<RESTxf32>, %i: tensor<RESTxi32>) -> tensor<RESTxi32> {
  %r:2 = iree_linalg_ext.arg_compare dimension(1) ins(%x : tensor<SHAPExf32>) outs(%v, %i : tensor<RESTxf32>, tensor<RESTxi32>) {
  ^bb0(%p: f32, %q: f32):
    %m = arith.cmpf ogt, %p, %q : f32
    iree_linalg_ext.yield %m : i1
  } -> tensor<RESTxf32>, tensor<RESTxi32>
  return %r#1 : tensor<RESTxi32>
}
"""


def _scanned(x):
    zeros = np.zeros_like(x), np.zeros(x.shape[:1] + x.shape[2:], np.float32)
    return [x, *zeros], np.cumsum(x, axis=1, dtype=np.float32)


def _compared(x):
    rest = x.shape[:1] + x.shape[2:]
    return [x, np.full(rest, -np.inf, np.float32), np.zeros(rest, np.int32)], x.argmax(1).astype(np.int32)


PROGRAMS = {"scan": (SCAN, _scanned), "argmax": (LARGEST, _compared)}


def _source(tmp_path, name: str, shape: str):
    rest = "x".join(size for at, size in enumerate(shape.split("x")) if at != 1)
    source = tmp_path / "main.mlir"
    source.write_text(PROGRAMS[name][0].replace("SHAPE", shape).replace("REST", rest))
    return source


@pytest.mark.parametrize("name, shape", [("scan", "?x4x?x?"), ("argmax", "?x4x?x?"), ("scan", "?x4x?x?x?")])
def test_few_rows_at_once_fit_the_stack(tmp_path, name, shape):
    source, output = _source(tmp_path, name, shape), tmp_path / "main.vmfb"
    assert compile_stock(source, output, CPU) is not None, "IREE builds it now"
    report = fissile.compile(source, output, [*CPU, "--guard=off"])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS102", "repaired")]
    sizes = (2, 4, 3, 70) if shape.count("x") == 3 else (2, 4, 3, 2, 70)
    x = np.random.default_rng(5).normal(size=sizes).astype(np.float32)
    given, wanted = PROGRAMS[name][1](x)
    np.testing.assert_allclose(run(output, given)[0], wanted, rtol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_of_them_are_left_to_iree(tmp_path, name):
    source, output = _source(tmp_path, name, "2x4x?"), tmp_path / "main.vmfb"
    assert compile_stock(source, output, CPU) is None
    assert not fissile.compile(source, output, [*CPU, "--guard=off"]).findings
