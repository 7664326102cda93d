"""What docs/numerics.md says of stock IREE's math functions. Where one of these fails IREE has changed, and so must the page."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, build, run
from iree import runtime

from fissile.pipelines.numerics.build import compile_stock


def computed(function: str, value: float, tmp_path) -> float:
    text = f"""func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
  %r = math.{function} %x : tensor<8xf32>
  return %r : tensor<8xf32>
}}"""
    build(text, tmp_path / "x.vmfb", "canonicalize", CPU)
    return float(run(tmp_path / "x.vmfb", [np.full(8, value, np.float32)])[0][0])


def test_a_cosine_of_a_large_number_is_off(tmp_path):
    assert abs(computed("cos", 1e6, tmp_path) - np.cos(1e6)) > 5e-3


@pytest.mark.parametrize(
    ("function", "value", "got"), [("asinh", -12345.0, -np.inf), ("cbrt", np.inf, np.nan)]
)
def test_values_that_are_wrong(tmp_path, function, value, got):
    np.testing.assert_equal(computed(function, value, tmp_path), got)


def test_the_host_computes_f64_in_f32(tmp_path):
    (tmp_path / "x.mlir").write_text("""func.func @main(%x: f64, %y: f64) -> f64 {
  %r = arith.mulf %x, %y : f64
  return %r : f64
}""")
    assert compile_stock(tmp_path / "x.mlir", tmp_path / "x.vmfb", CPU) is None
    context = runtime.SystemContext(config=runtime.Config("local-sync"))
    context.add_vm_module(runtime.VmModule.mmap(context.instance, str(tmp_path / "x.vmfb")))
    assert context.modules.module["main"](0.001, 3.0) == float(np.float32(0.001) * np.float32(3.0))
