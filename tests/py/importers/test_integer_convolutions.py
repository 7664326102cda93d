"""FIS421: `onnx.ConvInteger` with borders, of one dimension, and of volumes in groups, as the standard computes it."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile

RNG = np.random.default_rng(5)
SIZES, KERNEL = (6, 5, 4), (3, 2, 2)
ZERO = 7


def _type(shape, element):
    return f"!torch.vtensor<[{','.join(map(str, shape))}],{element}>"


def _list(numbers):
    return f"[{', '.join(f'{number} : si64' for number in numbers)}]"


def _program(dims, pads, groups, words="", point=""):
    size, kernel = SIZES[:dims], KERNEL[:dims]
    made = [
        n + before + after - k + 1
        for n, k, before, after in zip(size, kernel, pads[:dims], pads[dims:], strict=True)
    ]
    types = [
        _type((1, 2 * groups, *size), "ui8"),
        _type((4, 2, *kernel), "si8"),
        _type((1, 4, *made), "si32"),
    ]
    zero = f", %zero{', %point' if point else ''}"
    more = f", {_type((), 'ui8')}" + (f", {_type((4,), 'si8')}" if point else "")
    words = words or f"torch.onnx.pads = {_list(pads)}"
    return f"""
func.func @main(%x: {types[0]}, %w: {types[1]}) -> {types[2]} attributes {{torch.onnx_meta.ir_version = 9 : si64, torch.onnx_meta.opset_version = 18 : si64}} {{
  %zero = torch.operator "onnx.Constant"() {{torch.onnx.value = dense<{ZERO}> : tensor<ui8>}} : () -> {_type((), "ui8")}
  {point}
  %r = torch.operator "onnx.ConvInteger"(%x, %w{zero}) {{torch.onnx.group = {groups} : si64, {words}}} : ({types[0]}, {types[1]}{more}) -> {types[2]}
  return %r : {types[2]}
}}
"""


def _reference(x, w, pads, groups):
    dims = w.ndim - 2
    widths = [(0, 0), (0, 0), *zip(pads[:dims], pads[dims:], strict=True)]
    image = np.pad(x.astype(np.int64) - ZERO, widths)
    windows = np.lib.stride_tricks.sliding_window_view(image, w.shape[2:], axis=tuple(range(2, 2 + dims)))
    each = x.shape[1] // groups
    made = []
    for number, one in enumerate(w.astype(np.int64)):
        first = number // (len(w) // groups) * each
        terms = windows[:, first : first + each] * one.reshape(1, each, *[1] * dims, *w.shape[2:])
        made.append(terms.sum(axis=(1, *range(2 + dims, 2 + 2 * dims))))
    return np.stack(made, 1)


def _compare(tmp_path, text, pads, groups, dims):
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    x = RNG.integers(0, 256, (1, 2 * groups, *SIZES[:dims])).astype(np.uint8)
    w = RNG.integers(-128, 128, (4, 2, *KERNEL[:dims])).astype(np.int8)
    np.testing.assert_array_equal(all_computed(tmp_path, x, w)[0], _reference(x, w, pads, groups))
    return {(one.code, one.severity.value) for one in report.findings if one.severity.value != "note"}


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_borders(tmp_path, dims, groups):
    pads = [1] * dims + [0] * dims
    found = _compare(tmp_path, _program(dims, pads, groups), pads, groups, dims)
    assert found == {("FIS421", "repaired")}


@pytest.mark.parametrize("dims, groups", [(1, 1), (3, 2)])
def test_without_borders(tmp_path, dims, groups):
    pads = [0] * 2 * dims
    found = _compare(tmp_path, _program(dims, pads, groups), pads, groups, dims)
    assert found == {("FIS421", "repaired")}


@pytest.mark.parametrize("auto, pads", [("SAME_UPPER", [1, 0, 1, 1]), ("SAME_LOWER", [1, 1, 1, 0])])
def test_borders_that_follow_from_the_size(tmp_path, auto, pads):
    text = _program(2, pads, 1, f'torch.onnx.auto_pad = "{auto}"')
    assert _compare(tmp_path, text, pads, 1, 2) == {("FIS421", "repaired")}


def test_what_iree_takes_is_left(tmp_path):
    assert not _compare(tmp_path, _program(2, [0] * 4, 2), [0] * 4, 2, 2)
