"""Tensors without dimensions beside reshapes, packed, and a repair that takes the process along: no wrong numbers come out."""

import os
from pathlib import Path

import numpy as np
import pytest
from built import run

import fissile
from fissile.pipelines.numerics.runtimes import present

CRASHING = Path(__file__).parents[1] / "shared" / "crashing_packing"
VULKAN = "--iree-hal-target-device=vulkan"
CHOSEN = """
func.func @main(%a: tensor<1xf16>, %b: tensor<i32>) -> (tensor<1x1xf16>, tensor<1x1xf16>) {
  %0 = tensor.extract %b[] : tensor<i32>
  %c = arith.constant 3 : i32
  %1 = arith.cmpi sgt, %0, %c : i32
  %2 = scf.if %1 -> (tensor<1xf16>) {
    %t = arith.addf %a, %a : tensor<1xf16>
    scf.yield %t : tensor<1xf16>
  } else {
    scf.yield %a : tensor<1xf16>
  }
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [1, 1] : tensor<1xf16> into tensor<1x1xf16>
  %k = arith.constant dense<1.5> : tensor<1x1xf16>
  %4 = arith.mulf %3, %k : tensor<1x1xf16>
  return %4, %3 : tensor<1x1xf16>, tensor<1x1xf16>
}
"""
"""IREE collapses the f16 to no dimension, and BubbleUpExpandShapes (3.13) crashes on a bitcast of such a tensor beside a reshape."""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    source, output = folder / "x.mlir", folder / "x.vmfb"
    source.write_text(CHOSEN)
    return output, fissile.compile(source, output, [VULKAN], check=False)


def test_a_tensor_without_dimensions_beside_a_reshape_is_packed(packed):
    _output, report = packed
    found = {(f.code, f.severity.value) for f in report.findings if f.code != "FIS175"}
    assert found == {("FIS110", "repaired")}


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
@pytest.mark.parametrize(("chosen", "factor"), ((3, 1), (4, 2)))
def test_and_computes_the_same(packed, chosen, factor):
    output, _report = packed
    scaled, plain = run(output, [np.float16([-2.5]), np.array(chosen, np.int32)], "vulkan")
    np.testing.assert_array_equal(plain, np.float16([[-2.5 * factor]]))
    np.testing.assert_array_equal(scaled, np.float16([[-3.75 * factor]]))


def test_what_was_seen_to_be_wrong_is_withheld_by_the_process_that_comes_after(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{CRASHING}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(CHOSEN)
    report = fissile.compile(source, output, [VULKAN], check=False)
    assert {f.code for f in report.findings} == {"FIS110", "FIS903"}
    assert [f.code for f in report.errors] == ["FIS110"] and not output.exists()
    report = fissile.compile(source, output, [VULKAN, "--allow-wrong-numbers"], check=False)
    assert not report.errors and output.exists()
