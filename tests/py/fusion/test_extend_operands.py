"""Operands extended before the op that reads them: the same numbers, and what Vulkan refuses otherwise."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import iree.runtime
import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import run_program
from small_programs import TARGETS

from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.remedies.fusion.extend_operands import ExtendOperands
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session

BIN = Path(sys.executable).parent

CONVOLUTION = """
func.func @f(%x: tensor<?x{width}x{c}xi8>, %w: tensor<{k}x{c}x{f}xi8>) -> tensor<?x{out}x{f}xi32> {{
  %n = arith.constant 0 : index
  %d = tensor.dim %x, %n : tensor<?x{width}x{c}xi8>
  %z = arith.constant 7 : i32
  %e = tensor.empty(%d) : tensor<?x{out}x{f}xi32>
  %acc = linalg.fill ins(%z : i32) outs(%e : tensor<?x{out}x{f}xi32>) -> tensor<?x{out}x{f}xi32>
  %r = linalg.conv_1d_nwc_wcf {{dilations = dense<1> : vector<1xi64>, strides = dense<{stride}> : vector<1xi64>}}
      ins(%x, %w : tensor<?x{width}x{c}xi8>, tensor<{k}x{c}x{f}xi8>) outs(%acc : tensor<?x{out}x{f}xi32>) -> tensor<?x{out}x{f}xi32>
  return %r : tensor<?x{out}x{f}xi32>
}}
"""

HALF_BATCH = """
func.func @main(%a: tensor<12x49x16xbf16>, %b: tensor<12x16x67xi8>) -> tensor<12x49x64xf32> {
  %k = arith.constant 0.0078125 : f32
  %z = arith.constant 0.0 : f32
  %ae = tensor.empty() : tensor<12x49x16xf32>
  %aw = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : tensor<12x49x16xbf16>) outs(%ae : tensor<12x49x16xf32>) {
  ^bb0(%in: bf16, %o: f32):
    %r = arith.extf %in : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<12x49x16xf32>
  %be = tensor.empty() : tensor<12x16x67xf32>
  %bd = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%b : tensor<12x16x67xi8>) outs(%be : tensor<12x16x67xf32>) {
  ^bb0(%in: i8, %o: f32):
    %s = arith.sitofp %in : i8 to f32
    %r = arith.mulf %s, %k : f32
    linalg.yield %r : f32
  } -> tensor<12x16x67xf32>
  %bs = tensor.extract_slice %bd[0, 0, 1] [12, 16, 64] [1, 1, 1] : tensor<12x16x67xf32> to tensor<12x16x64xf32>
  %e = tensor.empty() : tensor<12x49x64xf32>
  %acc = linalg.fill ins(%z : f32) outs(%e : tensor<12x49x64xf32>) -> tensor<12x49x64xf32>
  %m = linalg.batch_matmul ins(%aw, %bs : tensor<12x49x16xf32>, tensor<12x16x64xf32>) outs(%acc : tensor<12x49x64xf32>)
      -> tensor<12x49x64xf32>
  return %m : tensor<12x49x64xf32>
}
"""


@pytest.fixture(scope="module")
def session():
    return Session(TARGETS["llvm-cpu"])


@settings(max_examples=examples(4, 10), deadline=None)
@given(
    rows=st.integers(1, 2),
    c=st.integers(2, 5),
    f=st.integers(2, 6),
    k=st.integers(2, 3),
    out=st.integers(1, 9),
    stride=st.integers(1, 2),
)
def test_the_op_computes_the_same_numbers(session, tmp_path_factory, rows, c, f, k, out, stride):
    width = (out - 1) * stride + k
    module = session.parse_text(CONVOLUTION.format(c=c, f=f, k=k, out=out, stride=stride, width=width))
    session.run(module, "global-optimization")
    before = [i for i, op in enumerate(source_ops(module.op)) if ExtendOperands().match(op)]
    run_pipeline(
        "builtin.module(fissile-extend-operands,fissile-lower-boundaries)", module.op, report=pytest.fail
    )
    assert before and not any(ExtendOperands().match(op) for op in source_ops(module.op))
    session.run(module, "end")
    path = tmp_path_factory.mktemp("extended") / "f.vmfb"
    session.write(module, path)
    generator = np.random.default_rng(rows * 1000 + c * 100 + f * 10 + out)
    x = generator.integers(-128, 128, (rows, width, c)).astype(np.int8)
    w = generator.integers(-128, 128, (k, c, f)).astype(np.int8)
    windows = np.stack([x[:, at : at + (out - 1) * stride + 1 : stride].astype(np.int32) for at in range(k)])
    expected = 7 + np.einsum("tnoc,tcf->nof", windows, w.astype(np.int32))
    answer = iree.runtime.load_vm_flatbuffer_file(str(path), driver="local-sync").f(x, w).to_host()
    np.testing.assert_array_equal(answer, expected)


def test_a_bf16_operand_that_iree_folded_into_a_matmul_is_repaired_on_vulkan(tmp_path):
    """An Ampere GPU stores 16 bits, and SPIR-V has no cast between its vectors of f32 and of bf16."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(HALF_BATCH)
    flags = [*TARGETS["vulkan"], "--iree-vulkan-target=ampere"]
    stock = run_program(
        [BIN / "iree-compile", *flags, source, "-o", output], capture_output=True, text=True, check=False
    )
    assert stock.returncode and "vector.bitcast" in stock.stderr
    done = run_program(
        [BIN / "fissile", "compile", *flags, "--format=json", source, "-o", output],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    reported = [
        (f["code"], f["severity"], f["helps"][0]["remedy"]) for f in json.loads(done.stdout)["findings"]
    ]
    assert (
        reported == [("FIS104", "repaired", "fissile-extend-operands")]
        and done.returncode == 0
        and output.exists()
    )
