"""A configuration that the program carries for another backend is named in one line, dropped, and the numbers are right."""

import filecmp
import sys
from pathlib import Path

import numpy as np
import pytest
from built import CPU, run
from programs import run_program
from small_programs import TARGETS

import fissile

SCAN = """
#config = #iree_gpu.lowering_config<{lane_basis = [[8], [0]], subgroup_basis = [[1], [0]], thread = [8]}>
#translation = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [64, 1, 1] subgroup_size = 64>
func.func @main(%x: tensor<64xf32>, %a: tensor<f32>) -> (tensor<64xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<64xf32>
  %r:2 = iree_linalg_ext.scan {compilation_info = #iree_codegen.compilation_info<lowering_config = #config, translation_info = #translation>}
      dimension(0) inclusive(true) ins(%x : tensor<64xf32>) outs(%e, %a : tensor<64xf32>, tensor<f32>) {
  ^bb0(%lhs: f32, %rhs: f32):
    %sum = arith.addf %lhs, %rhs : f32
    iree_linalg_ext.yield %sum : f32
  } -> tensor<64xf32>, tensor<f32>
  return %r#0, %r#1 : tensor<64xf32>, tensor<f32>
}
"""
SAID = "the program configures iree_linalg_ext.scan for VectorDistribute of IREE's GPU backends with subgroups of 64; llvm-cpu has no such pipeline"


@pytest.fixture
def source(tmp_path):
    (tmp_path / "in.mlir").write_text(SCAN)
    return tmp_path / "in.mlir"


def test_it_is_dropped(source, tmp_path):
    report = fissile.compile(source, tmp_path / "out.vmfb", list(CPU), check=False)
    assert [(f.code, f.message, f.severity.value) for f in report.findings] == [("FIS108", SAID, "repaired")]
    x = np.arange(64, dtype=np.float32)
    got = run(tmp_path / "out.vmfb", [x, np.float32(0)])
    np.testing.assert_array_equal(got[0], np.cumsum(x))
    off = fissile.compile(source, tmp_path / "off.vmfb", list(CPU), repair="off", check=False)
    assert not off.output and [(f.message, f.severity.value) for f in off.findings] == [(SAID, "error")]


def test_where_it_belongs_it_stays(source, tmp_path):
    report = fissile.compile(source, tmp_path / "out.vmfb", TARGETS["gfx942"], check=False)
    assert report.output and not report.findings
    stock = Path(sys.executable).parent / "iree-compile"
    run_program([stock, *TARGETS["gfx942"], source, "-o", tmp_path / "stock.vmfb"], check=True, timeout=300)
    assert filecmp.cmp(tmp_path / "stock.vmfb", tmp_path / "out.vmfb", shallow=False)
