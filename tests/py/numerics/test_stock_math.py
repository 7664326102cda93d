"""What docs/numerics.md says of stock IREE's math functions. Where one of these fails IREE has changed, and so must the page."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, build, run


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
