"""FIS162: borders that IREE leaves out where a size is not known, as PyTorch writes them; known ones are in test_layer_composites."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

RNG = np.random.default_rng(11)
_CONVOLVED = """func.func @main(%x: !torch.vtensor<[?,2,?,6],f32>, %w: !torch.vtensor<[3,2,HEIGHT,WIDTH],f32>) -> !torch.vtensor<[?,3,?,6],f32> {
  %none = torch.constant.none
  %one = torch.constant.int 1
  %step = torch.constant.int STEP
  %ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %steps = torch.prim.ListConstruct %step, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %same = torch.constant.str "same"
  %r = torch.aten.conv2d.padding %x, %w, %none, %ones, %same, %steps, %one : !torch.vtensor<[?,2,?,6],f32>, !torch.vtensor<[3,2,HEIGHT,WIDTH],f32>, !torch.none, !torch.list<int>, !torch.str, !torch.list<int>, !torch.int -> !torch.vtensor<[?,3,?,6],f32>
  return %r : !torch.vtensor<[?,3,?,6],f32>
}
"""
_PADDED = """func.func @main(%x: !torch.vtensor<[1,2,?],f32>) -> !torch.vtensor<[1,2,?],f32> {
  %none = torch.constant.none
  %low = torch.constant.int LOW
  %high = torch.constant.int HIGH
  %widths = torch.prim.ListConstruct %low, %high : (!torch.int, !torch.int) -> !torch.list<int>
  %mode = torch.constant.str "replicate"
  %r = torch.aten.pad %x, %widths, %mode, %none : !torch.vtensor<[1,2,?],f32>, !torch.list<int>, !torch.str, !torch.none -> !torch.vtensor<[1,2,?],f32>
  return %r : !torch.vtensor<[1,2,?],f32>
}
"""


def _repaired(tmp_path, text: str, **words: int) -> None:
    for word, by in words.items():
        text = text.replace(word, str(by))
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [one.code for one in report.findings if one.severity.value == "repaired"] == ["FIS162"]


@pytest.mark.parametrize(("height", "width", "step"), [(4, 3, 1), (2, 2, 3)])
def test_an_even_window_keeps_the_size(tmp_path, height, width, step):
    _repaired(tmp_path, _CONVOLVED, HEIGHT=height, WIDTH=width, STEP=step)
    w = RNG.standard_normal((3, 2, height, width)).astype(np.float32)
    for rows in (5, 9):
        x = RNG.standard_normal((2, 2, rows, 6)).astype(np.float32)
        total = ((height - 1) * step, width - 1)
        wide = np.pad(x, ((0, 0), (0, 0), *((one // 2, one - one // 2) for one in total)))
        right = sum(
            np.einsum("ncij,oc->noij", wide[:, :, i * step : i * step + rows, j : j + 6], w[:, :, i, j])
            for i in range(height)
            for j in range(width)
        )
        np.testing.assert_allclose(all_computed(tmp_path, x, w)[0], right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("low", "high"), [(-1, 2), (3, -2), (-1, -1)])
def test_a_pad_takes_elements_away(tmp_path, low, high):
    _repaired(tmp_path, _PADDED, LOW=low, HIGH=high)
    for size in (4, 9):
        x = np.arange(2.0 * size, dtype=np.float32).reshape(1, 2, size)
        cut = x[..., max(-low, 0) : size - max(-high, 0)]
        right = np.pad(cut, ((0, 0), (0, 0), (max(low, 0), max(high, 0))), "edge")
        np.testing.assert_array_equal(all_computed(tmp_path, x)[0], right)


def test_stock_makes_another_size(tmp_path):
    _repaired(tmp_path, _CONVOLVED, HEIGHT=4, WIDTH=3, STEP=1)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    x, w = np.ones((1, 2, 8, 6), np.float32), np.ones((3, 2, 4, 3), np.float32)
    assert all_computed(tmp_path, x, w)[0].shape == (1, 3, 7, 6)
