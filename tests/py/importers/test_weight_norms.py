"""Weights that are a direction and a length, as speech models have them."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import computed, entered

TEXT = """
func.func @main(%v: !torch.vtensor<[3,4,5],f32>, %g: !torch.vtensor<[LENGTHS],f32>) -> !torch.vtensor<[3,4,5],f32> {
  %dim = torch.constant.int DIM
  %r = torch.operator "torch.aten._weight_norm"(%v, %g, %dim) : (!torch.vtensor<[3,4,5],f32>, !torch.vtensor<[LENGTHS],f32>, !torch.int) -> !torch.vtensor<[3,4,5],f32>
  return %r : !torch.vtensor<[3,4,5],f32>
}
"""


@pytest.mark.parametrize(("dim", "lengths"), [(0, (3, 1, 1)), (2, (1, 1, 5)), (-1, (1, 1, 1))], ids=str)
def test_a_direction_gets_its_length(tmp_path, dim, lengths):
    text = TEXT.replace("DIM", str(dim)).replace("LENGTHS", ",".join(map(str, lengths)))
    entered(tmp_path, text, "aten._weight_norm", "fissile-scale-directions")
    drawn = np.random.default_rng(8)
    v, g = (drawn.normal(size=shape).astype(np.float32) for shape in ((3, 4, 5), lengths))
    over = tuple(i for i in range(3) if i != dim)
    expected = v * (g / np.sqrt((v.astype(np.float64) ** 2).sum(over, keepdims=True)))
    np.testing.assert_allclose(computed(tmp_path, v, g), expected, rtol=1e-5)
