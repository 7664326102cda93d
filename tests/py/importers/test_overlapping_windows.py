"""Gradients of maxima over windows that overlap or are padded (a max pooling of 3x3 with stride 2): rejected by stock, built by fissile."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from built import CPU, run
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import fissile
from fissile.passes.remedies.entry.stablehlo.select_in_windows import MOST_PLACES

PROGRAM = """
func.func @main(%x: tensor<{x}xf32>, %gradient: tensor<{g}xf32>, %init: tensor<f32>) -> tensor<{x}xf32> {{
  %r = "stablehlo.select_and_scatter"(%x, %gradient, %init) <{{window_dimensions = array<i64: {size}>,
      window_strides = array<i64: {stride}>, padding = dense<{padding}> : tensor<2x2xi64>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %first = stablehlo.compare {compare}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }}, {{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.{combine} %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }}) : (tensor<{x}xf32>, tensor<{g}xf32>, tensor<f32>) -> tensor<{x}xf32>
  return %r : tensor<{x}xf32>
}}
"""


def gradient_shape(shape, size, stride, padding):
    padded = [n + low + high for n, (low, high) in zip(shape, padding, strict=True)]
    return [(n - k) // s + 1 for n, k, s in zip(padded, size, stride, strict=True)]


def program(shape, size, stride, padding, compare="GE", combine="add") -> str:
    def joined(numbers, by):
        return by.join(map(str, numbers))

    g = gradient_shape(shape, size, stride, padding)
    return PROGRAM.format(
        x=joined(shape, "x"), g=joined(g, "x"), size=joined(size, ", "), stride=joined(stride, ", "),
        padding=[list(pair) for pair in padding], compare=compare, combine=combine,
    )  # fmt: skip


def expected(x, gradient, init, size, stride, padding, compare):
    total = np.full(x.shape, init, np.float64)
    for window in np.ndindex(gradient.shape):
        best = None
        for place in product(*map(range, size)):
            at = tuple(
                w * s + p - low for w, s, p, (low, _) in zip(window, stride, place, padding, strict=True)
            )
            if all(0 <= i < n for i, n in zip(at, x.shape, strict=True)):
                stays = best is not None and (x[best] >= x[at] if compare == "GE" else x[best] <= x[at])
                best = best if stays else at
        if best is not None:
            total[best] += gradient[window]
    return total


@st.composite
def windows(draw):
    size = [draw(st.integers(1, 3)) for _ in range(2)]
    stride = [draw(st.integers(1, 3)) for _ in range(2)]
    padding = [(draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))) for k in size]
    shape = [draw(st.integers(k, k + 5)) for k in size]
    overlap = any(k > s for k, s in zip(size, stride, strict=True))
    refused = overlap or any(map(any, padding)) or max(size) == 1
    return shape, size, stride, padding, draw(st.sampled_from(["GE", "LE"])), refused


@given(windows(), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(6, 40), deadline=None)
def test_any_windows(tmp_path_factory, drawn, seed):
    """Of few different numbers, so that windows have equal ones."""
    shape, size, stride, padding, compare, refused = drawn
    folder = tmp_path_factory.mktemp("windows")
    (folder / "in.mlir").write_text(program(shape, size, stride, padding, compare))
    report = fissile.compile(folder / "in.mlir", folder / "out.vmfb", CPU)
    assert ("FIS421" in {f.code for f in report.findings}) == refused
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, shape).astype(np.float32)
    gradient = rng.integers(-9, 10, gradient_shape(shape, size, stride, padding)).astype(np.float32)
    [found] = run(folder / "out.vmfb", [x, gradient, np.float32(0.5)])
    np.testing.assert_array_equal(found, expected(x, gradient, 0.5, size, stride, padding, compare))


@pytest.mark.parametrize(
    "changed", [{"combine": "multiply"}, {"size": (12, 12)}], ids=["it does not add", "long windows"]
)
def test_others_are_reported(tmp_path, changed):
    assert 12 * 12 > MOST_PLACES
    given = {"shape": (13, 13), "size": (3, 3), "stride": (2, 2), "padding": [(0, 0)] * 2} | changed
    (tmp_path / "in.mlir").write_text(program(**given))
    report = fissile.compile(tmp_path / "in.mlir", tmp_path / "out.vmfb", CPU, check=False)
    assert "FIS407" in {f.code for f in report.findings} and not (tmp_path / "out.vmfb").exists()
