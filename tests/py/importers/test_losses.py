"""Losses over classes with unknown sizes, smoothed labels and probabilities: what stock refuses computes what PyTorch defines."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled, computed, entered, filled

ENTROPY = """
func.func @main(%x: !torch.vtensor<[ROWS,4],f32>, %t: !torch.vtensor<[TARGET],ELEMENT>, %w: !torch.vtensor<[4],f32>) -> !torch.vtensor<[SHAPE],f32> {
  %reduction = torch.constant.int REDUCTION
  %ignored = torch.constant.int -100
  %smoothing = torch.constant.float SMOOTHING
  %0 = torch.aten.cross_entropy_loss %x, %t, %w, %reduction, %ignored, %smoothing : !torch.vtensor<[ROWS,4],f32>, !torch.vtensor<[TARGET],ELEMENT>, !torch.vtensor<[4],f32>, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[SHAPE],f32>
  return %0 : !torch.vtensor<[SHAPE],f32>
}
"""
PLACES = """
func.func @main(%x: !torch.vtensor<[?,3,?,2],f32>, %t: !torch.vtensor<[?,?,2],si64>) -> (!torch.vtensor<[SHAPE],f32>, !torch.vtensor<[],f32>) {
  %none = torch.constant.none
  %reduction = torch.constant.int REDUCTION
  %ignored = torch.constant.int 1
  %0:2 = torch.aten.nll_loss2d_forward %x, %t, %none, %reduction, %ignored : !torch.vtensor<[?,3,?,2],f32>, !torch.vtensor<[?,?,2],si64>, !torch.none, !torch.int, !torch.int -> !torch.vtensor<[SHAPE],f32>, !torch.vtensor<[],f32>
  return %0#0, %0#1 : !torch.vtensor<[SHAPE],f32>, !torch.vtensor<[],f32>
}
"""
REMEDY = "fissile-decompose-nll-loss"
REDUCTIONS = [(0, "?"), (1, ""), (2, "")]


def scores_of(x):
    wide = x.astype(np.float64)
    return wide - np.log(np.exp(wide).sum(1, keepdims=True))


@pytest.mark.parametrize(("reduction", "shape"), REDUCTIONS)
def test_smoothed_labels_with_weights_and_an_ignored_row(tmp_path, reduction, shape):
    words = {"ROWS": "?", "TARGET": "?", "ELEMENT": "si64", "SHAPE": shape, "SMOOTHING": "0.2"}
    entered(tmp_path, filled(ENTROPY, **words, REDUCTION=reduction), "aten.cross_entropy_loss", REMEDY)
    random = np.random.default_rng(5)
    x, w = random.standard_normal((6, 4)).astype(np.float32), random.random(4).astype(np.float32)
    t = np.array([0, 3, -100, 1, 1, 2])
    scores, kept = scores_of(x), t != -100
    safe = np.where(kept, t, 0)
    losses = -0.8 * scores[np.arange(6), safe] * w[safe] - 0.2 / 4 * (scores * w).sum(1)
    losses, weights = np.where(kept, losses, 0), np.where(kept, w[safe], 0)
    expected = [losses, losses.sum() / weights.sum(), losses.sum()][reduction]
    np.testing.assert_allclose(computed(tmp_path, x, t, w), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("reduction", "shape"), REDUCTIONS)
def test_probabilities_as_the_target(tmp_path, reduction, shape):
    words = {"ROWS": "?", "TARGET": "?,4", "ELEMENT": "f32", "SHAPE": shape, "SMOOTHING": "0.1"}
    entered(tmp_path, filled(ENTROPY, **words, REDUCTION=reduction), "aten.cross_entropy_loss", REMEDY)
    random = np.random.default_rng(6)
    x, w = random.standard_normal((5, 4)).astype(np.float32), random.random(4).astype(np.float32)
    t = random.dirichlet(np.ones(4), 5).astype(np.float32)
    losses = -(scores_of(x) * (0.9 * t + 0.1 / 4) * w).sum(1)
    expected = [losses, losses.mean(), losses.sum()][reduction]
    np.testing.assert_allclose(computed(tmp_path, x, t, w), expected, rtol=1e-5)


@pytest.mark.parametrize(("reduction", "shape"), [(0, "?,?,2"), (1, "")])
def test_a_loss_at_every_place_of_an_image(tmp_path, reduction, shape):
    entered(tmp_path, filled(PLACES, SHAPE=shape, REDUCTION=reduction), "aten.nll_loss2d_forward", REMEDY)
    random = np.random.default_rng(7)
    x, t = random.standard_normal((2, 3, 4, 2)).astype(np.float32), random.integers(0, 3, (2, 4, 2))
    losses = np.where(t != 1, -np.take_along_axis(x, t[:, None], 1)[:, 0], 0)
    total = (t != 1).sum()
    value, weights = all_computed(tmp_path, x, t)
    np.testing.assert_allclose(value, losses if reduction == 0 else losses.sum() / total, rtol=1e-5)
    assert weights == (total if reduction else 0)


def test_a_weight_for_each_of_other_classes_is_left_alone(tmp_path):
    words = {"ROWS": 3, "TARGET": 2, "ELEMENT": "si64", "SHAPE": "", "SMOOTHING": "0.0", "REDUCTION": 1}
    status, findings = compiled(tmp_path, filled(ENTROPY, **words))
    assert status == 1 and [f["severity"] for f in findings] == ["error"]
