"""A program that IREE refuses once it is packed: the answer is about the program as it is, at whatever phase the compile ends."""

from __future__ import annotations

import pytest

import fissile
from fissile.pipelines.numerics.build import compile_stock

VULKAN = "--iree-hal-target-device=vulkan"
LOOP = """
func.func @main(%a: tensor<3x2xi16>, %n: tensor<i32>, %b: tensor<6xi16>) -> tensor<12xi16> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %e = tensor.empty() : tensor<3x2xi16>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3x2xi16>) outs(%e : tensor<3x2xi16>) {
  ^bb0(%v: i16, %o: i16):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i16
    %s = arith.addi %v, %k : i16
    linalg.yield %s : i16
  } -> tensor<3x2xi16>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<3x2xi16> into tensor<6xi16>
  %given = tensor.extract %n[] : tensor<i32>
  %rounds = arith.andi %given, %c3 : i32
  %r:2 = scf.while (%i = %c0, %y = %flat) : (i32, tensor<6xi16>) -> (i32, tensor<6xi16>) {
    %more = arith.cmpi slt, %i, %rounds : i32
    scf.condition(%more) %i, %y : i32, tensor<6xi16>
  } do {
  ^bb0(%i: i32, %y: tensor<6xi16>):
    %z = arith.addi %y, %flat : tensor<6xi16>
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %z : i32, tensor<6xi16>
  }
  %both = tensor.concat dim(0) %r#1, %b : (tensor<6xi16>, tensor<6xi16>) -> tensor<12xi16>
  %all = arith.addi %both, %both : tensor<12xi16>
  return %all : tensor<12xi16>
}
"""


@pytest.mark.parametrize("phase", ["executable-configurations", "executable-targets", "end"])
def test_the_program_comes_out_as_stocks_with_a_warning(tmp_path, phase):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours", "stock"))
    source.write_text(LOOP)
    flags = [VULKAN, f"--compile-to={phase}"]
    report = fissile.compile(source, ours, flags)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS110", "warning")]
    assert compile_stock(source, stock, flags) is None and ours.read_bytes() == stock.read_bytes()
