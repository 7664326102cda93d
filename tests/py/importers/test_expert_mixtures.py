"""What exported mixtures of experts are made of, and IREE has no lowering for: products of groups of rows, and histograms."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, compiled, computed, entered

GROUPED = """
func.func @main(%x: !torch.vtensor<[7,3],f32>, %w: !torch.vtensor<[4,3,5],f32>, %ends: !torch.vtensor<[4],ENDS>) -> !torch.vtensor<[7,5],f32> {
  %none = torch.constant.none
  %r = torch.operator "torch.OP"(%x, %w, %endsMORE) : (!torch.vtensor<[7,3],f32>, !torch.vtensor<[4,3,5],f32>, !torch.vtensor<[4],ENDS>TYPES) -> !torch.vtensor<[7,5],f32>
  return %r : !torch.vtensor<[7,5],f32>
}
"""
HISTOGRAM = """
func.func @main(%x: !torch.vtensor<[SHAPE],f32>) -> !torch.vtensor<[4],f32> {
  %bins = torch.constant.int 4
  %low = torch.constant.int LOW
  %high = torch.constant.int HIGH
  %r = torch.operator "torch.aten.histc"(%x, %bins, %low, %high) : (!torch.vtensor<[SHAPE],f32>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[4],f32>
  return %r : !torch.vtensor<[4],f32>
}
"""


def grouped(op, ends="si32"):
    more = ", %none, %none" if op.startswith("aten") else ""
    types = ", !torch.none, !torch.none" if more else ""
    return GROUPED.replace("OP", op).replace("ENDS", ends).replace("MORE", more).replace("TYPES", types)


@pytest.mark.parametrize("rows", ["7", "?"])
@pytest.mark.parametrize("op", ["transformers.grouped_mm_fallback", "aten._grouped_mm"])
@pytest.mark.parametrize("ends", [[2, 2, 5, 7], [0, 0, 0, 7], [1, 2, 3, 4], [0, 0, 0, 0]], ids=str)
def test_each_group_has_its_matrix(tmp_path, op, ends, rows):
    """Groups without rows, and rows behind the last group, which are 0."""
    entered(tmp_path, grouped(op).replace("[7,", f"[{rows},"), op, "fissile-group-products")
    drawn = np.random.default_rng(2)
    x, w = drawn.normal(size=(7, 3)).astype(np.float32), drawn.normal(size=(4, 3, 5)).astype(np.float32)
    expected, begin = np.zeros((7, 5)), 0
    for matrix, end in zip(w.astype(np.float64), ends, strict=True):
        expected[begin:end] = x[begin:end] @ matrix
        begin = max(begin, end)
    found = computed(tmp_path, x, w, np.array(ends, np.int32))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_ends_may_have_64_bits(tmp_path):
    entered(tmp_path, grouped("aten._grouped_mm", "si64"), "aten._grouped_mm", "fissile-group-products")
    x, w = np.ones((7, 3), np.float32), np.arange(60, dtype=np.float32).reshape(4, 3, 5)
    found = computed(tmp_path, x, w, np.array([1, 4, 4, 7]))
    np.testing.assert_array_equal(found, w.sum(1)[[0, 1, 1, 1, 3, 3, 3]])


def test_a_bias_is_left_alone(tmp_path):
    text = grouped("aten._grouped_mm").replace("%ends, %none", "%ends, %w")
    text = text.replace("si32>, !torch.none", "si32>, !torch.vtensor<[4,3,5],f32>")
    status, findings = compiled(tmp_path, text)
    assert status == 1 and not any(finding["severity"] == "repaired" for finding in findings)


@pytest.mark.parametrize(("low", "high"), [(0, 3), (-2, 5)])
@pytest.mark.parametrize("shape", [(24,), (2, 3, 4)], ids=str)
def test_a_histogram(tmp_path, low, high, shape):
    """The end of the range belongs to the last bin; what lies outside and NaN to none."""
    text = HISTOGRAM.replace("SHAPE", ",".join(map(str, shape)))
    entered(
        tmp_path, text.replace("LOW", str(low)).replace("HIGH", str(high)), "aten.histc", "fissile-count-bins"
    )
    x = np.array(
        [*range(-4, 8), 0.5, 1.5, 2.25, 2.75, 2.999, 3.0, -0.25, 4.9, np.nan, np.inf, -np.inf, 0.0],
        np.float32,
    )
    counted, _edges = np.histogram(x[np.isfinite(x)].astype(np.float64), 4, (low, high))
    np.testing.assert_array_equal(computed(tmp_path, x.reshape(shape)), counted)


def test_the_data_s_own_range_is_left_alone(tmp_path):
    """PyTorch takes it where both ends of the range are equal."""
    text = HISTOGRAM.replace("SHAPE", "24").replace("LOW", "0").replace("HIGH", "0")
    status, findings = compiled(tmp_path, text)
    assert status == 1 and not any(finding["severity"] == "repaired" for finding in findings)


TOPK = """
func.func @main(%x: !torch.vtensor<[3,8],f32>) -> (!torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],si64>) {
  %k = torch.constant.int 2
  %dim = torch.constant.int -1
  %true = torch.constant.bool true
  %sorted = torch.constant.bool SORTED
  %v, %i = torch.aten.topk %x, %k, %dim, %true, %sorted : !torch.vtensor<[3,8],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],si64>
  return %v, %i : !torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],si64>
}
"""


def test_the_largest_in_any_order_come_in_order(tmp_path):
    entered(tmp_path, TOPK.replace("SORTED", "false"), "aten.topk", "fissile-sort-topk")
    x = np.random.default_rng(4).permuted(np.tile(np.arange(8, dtype=np.float32), (3, 1)), axis=1)
    values, places = all_computed(tmp_path, x)
    np.testing.assert_array_equal(values, np.tile([7, 6], (3, 1)))
    np.testing.assert_array_equal(np.take_along_axis(x, places, 1), values)


def test_the_sorted_form_is_as_it_was(tmp_path):
    status, findings = compiled(tmp_path, TOPK.replace("SORTED", "true"), "--guard=off")
    assert status == 0 and not findings
