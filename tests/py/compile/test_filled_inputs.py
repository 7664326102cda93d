"""A filled tensor that an op reads as a whole is kept on chip as a whole: it gets a dispatch of its own. What a result begins with does not."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.passes.analysis.dispatch.producers import ProducerGraph
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.session import Session

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
ROWS = 20000
SCATTER = """
func.func @main(%at: tensor<SIZEx1xi32>, %x: tensor<100xf32>) -> tensor<100xf32> {
  %v = arith.constant 2.5 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %at, %c0 : tensor<SIZEx1xi32>
  %e = tensor.empty(DYNAMIC) : tensor<SIZExf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<SIZExf32>) -> tensor<SIZExf32>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%f, %at : tensor<SIZExf32>, tensor<SIZEx1xi32>) outs(%x : tensor<100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    iree_linalg_ext.yield %s : f32
  } -> tensor<100xf32>
  return %r : tensor<100xf32>
}
"""
STATIC = SCATTER.replace("SIZE", str(ROWS)).replace("DYNAMIC", "")
DYNAMIC = SCATTER.replace("SIZE", "?").replace("DYNAMIC", "%n")


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("program", [STATIC, DYNAMIC], ids=["static", "dynamic"])
def test_updates_that_are_filled(tmp_path, runtime, program):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program)
    assert compile_stock(source, tmp_path / "stock.vmfb", FLAGS[runtime]) is not None
    report = fissile.compile(source, output, [*FLAGS[runtime]])
    assert not report.errors
    [found] = [one for one in report.findings if one.code in ("FIS101", "FIS102", "FIS105")]
    assert found.severity.value == "repaired" and "computed %f in a separate dispatch" in found.helps[0].title
    at = np.random.default_rng(0).integers(0, 100, (ROWS, 1), dtype=np.int32)
    x = np.linspace(0, 1, 100, dtype=np.float32)
    [answer] = run(output, [at, x], runtime)
    np.testing.assert_allclose(answer, x + 2.5 * np.bincount(at[:, 0], minlength=100), rtol=1e-5)


def test_only_what_an_op_reads_is_an_input():
    module = Session(CPU).parse_text(
        """
func.func @main(%x: tensor<8x8xf32>, %at: tensor<8x1xi32>, %y: tensor<9xf32>) -> (tensor<8x8xf32>, tensor<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = tensor.empty() : tensor<2x4xf32>
  %read = linalg.fill ins(%zero : f32) outs(%l : tensor<2x4xf32>) -> tensor<2x4xf32>
  %u = tensor.collapse_shape %read [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%u, %at : tensor<8xf32>, tensor<8x1xi32>) outs(%y : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<9xf32>
  return %p, %r : tensor<8x8xf32>, tensor<9xf32>
}"""
    )
    graph = ProducerGraph(module.op)
    fills = [i for i, op in enumerate(graph.ops) if op.name == "linalg.fill"]
    assert [graph.is_input(i) for i in fills] == [False, True]
