"""Layers that stock IREE refuses for the sizes in their types: shuffles, norms with weights of unknown sizes, convolutions over time."""

import numpy as np
import pytest
from entered_programs import computed, entered, filled

SHUFFLE = """func.func @main(%x: !torch.vtensor<[GIVEN],ELEMENT>) -> !torch.vtensor<[MADE],ELEMENT> {
  %two = torch.constant.int 2
  %r = torch.aten.NAME %x, %two : !torch.vtensor<[GIVEN],ELEMENT>, !torch.int -> !torch.vtensor<[MADE],ELEMENT>
  return %r : !torch.vtensor<[MADE],ELEMENT>
}
"""


def shuffled(x, name):
    *batch, channels, height, width = x.shape
    if name == "channel_shuffle":
        return x.reshape(*batch, 2, channels // 2, height, width).swapaxes(-4, -3).reshape(x.shape)
    if name == "pixel_shuffle":
        split = x.reshape(*batch, channels // 4, 2, 2, height, width)
        moved = np.moveaxis(split, (-5, -2, -4, -1, -3), (-5, -4, -3, -2, -1))
        return moved.reshape(*batch, channels // 4, 2 * height, 2 * width)
    split = x.reshape(*batch, channels, height // 2, 2, width // 2, 2)
    moved = np.moveaxis(split, (-5, -3, -1, -4, -2), (-5, -4, -3, -2, -1))
    return moved.reshape(*batch, 4 * channels, height // 2, width // 2)


@pytest.mark.parametrize(
    ("name", "given", "made", "shape", "element"),
    [
        ("pixel_unshuffle", "4,1,6,?,?", "4,1,?,?,?", (4, 1, 6, 4, 8), "si64"),
        ("pixel_unshuffle", "?,6,4,8", "?,24,?,4", (3, 6, 4, 8), "f32"),
        ("pixel_unshuffle", "6,?,?", "?,?,?", (6, 4, 8), "f32"),
        ("pixel_shuffle", "3,8,?,?", "?,?,?,?", (3, 8, 5, 7), "f32"),
        ("pixel_shuffle", "8,5,7", "2,?,?", (8, 5, 7), "si64"),
        ("channel_shuffle", "3,8,?,?", "3,?,?,?", (3, 8, 5, 7), "f32"),
    ],
)
def test_shuffles_whose_results_lack_sizes(tmp_path, name, given, made, shape, element):
    words = {"GIVEN": given, "MADE": made, "ELEMENT": element, "NAME": name}
    entered(tmp_path, filled(SHUFFLE, **words), f"aten.{name}", "fissile-type-shuffles")
    x = np.arange(np.prod(shape)).reshape(shape).astype(np.int64 if element == "si64" else np.float32)
    if element == "f32":
        x.flat[:3] = np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(computed(tmp_path, x), shuffled(x, name))


NORM = """func.func @main(%x: !torch.vtensor<[GIVEN],f32>, %w: !torch.vtensor<[WEIGHTS],f32>) -> !torch.vtensor<[MADE],f32> {
  %three = torch.constant.int 3
  %four = torch.constant.int 4
  %e = torch.constant.float 8.000000e-01
  %none = torch.constant.none
  %k = torch.prim.ListConstruct %three, %four : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.rms_norm %x, %k, %w, LEAST : !torch.vtensor<[GIVEN],f32>, !torch.list<int>, !torch.vtensor<[WEIGHTS],f32>, TYPE -> !torch.vtensor<[MADE],f32>
  return %r : !torch.vtensor<[MADE],f32>
}
"""


@pytest.mark.parametrize(
    ("given", "weights", "made", "least"),
    [
        ("?,?,?", "?,?", "?,3,4", 0.8),
        ("2,3,4", "?,4", "2,3,4", 0.8),
        ("?,3,4", "?,?", "?,3,4", np.finfo(np.float32).eps),
    ],
)
def test_norms_with_weights_of_unknown_sizes(tmp_path, given, weights, made, least):
    by_default = least != 0.8
    words = {
        "LEAST": "%none" if by_default else "%e",
        "TYPE": "!torch.none" if by_default else "!torch.float",
    }
    text = filled(NORM, GIVEN=given, WEIGHTS=weights, MADE=made, **words)
    # The default epsilon is misread beside it.
    entered(tmp_path, text, "aten.rms_norm", "fissile-type-weights", ("FIS162",) if by_default else ())
    random = np.random.default_rng(3)
    x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((2, 3, 4), (3, 4)))
    x[1] *= 1e-4
    mean = (x.astype(np.float64) ** 2).mean((1, 2), keepdims=True)
    np.testing.assert_allclose(computed(tmp_path, x, w), x / np.sqrt(mean + least) * w, rtol=1e-5)


STEPS = """func.func @main(%x: !torch.vtensor<[GIVEN],f32>, %w: !torch.vtensor<[KERNEL],f32>, %b: !torch.vtensor<[BIAS],f32>) -> !torch.vtensor<[MADE],f32> {
  %pad = torch.constant.int PAD
  %r = torch.aten.conv_tbc %x, %w, %b, %pad : !torch.vtensor<[GIVEN],f32>, !torch.vtensor<[KERNEL],f32>, !torch.vtensor<[BIAS],f32>, !torch.int -> !torch.vtensor<[MADE],f32>
  return %r : !torch.vtensor<[MADE],f32>
}
"""


@pytest.mark.parametrize(
    ("given", "kernel", "bias", "made", "pad"),
    [
        ("9,4,5", "3,5,6", "6", "7,4,6", 0),
        ("9,4,5", "3,5,6", "6", "11,4,6", 2),
        ("?,?,5", "3,5,6", "6", "?,?,6", 1),
    ],
)
def test_convolutions_whose_first_dimension_is_the_time(tmp_path, given, kernel, bias, made, pad):
    text = filled(STEPS, GIVEN=given, KERNEL=kernel, BIAS=bias, MADE=made, PAD=pad)
    entered(tmp_path, text, "aten.conv_tbc", "fissile-convolve-steps")
    random = np.random.default_rng(4)
    x, w, b = (random.standard_normal(shape).astype(np.float32) for shape in ((9, 4, 5), (3, 5, 6), (6,)))
    x[0, 0, 0] = np.inf
    padded = np.pad(x, [(pad, pad), (0, 0), (0, 0)])
    expected = np.stack([sum(padded[at + k] @ w[k] for k in range(3)) + b for at in range(7 + 2 * pad)])
    np.testing.assert_allclose(computed(tmp_path, x, w, b), expected, rtol=1e-4, atol=1e-4)
