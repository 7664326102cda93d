"""Poolings and convolutions that stock IREE refuses as PyTorch writes them: windows of uneven sizes, images without a batch dimension."""

from itertools import product

import numpy as np
import pytest
from entered_programs import all_computed, computed, entered, filled

ADAPTIVE = """func.func @main(%x: !torch.vtensor<[GIVEN],f32>) -> (!torch.vtensor<[MADE],f32>, !torch.vtensor<[MADE],si64>) {
  %rows = torch.constant.int 4
  %columns = torch.constant.int 3
  %n = torch.prim.ListConstruct %rows, %columns : (!torch.int, !torch.int) -> !torch.list<int>
  %r, %i = torch.aten.adaptive_max_pool2d %x, %n : !torch.vtensor<[GIVEN],f32>, !torch.list<int> -> !torch.vtensor<[MADE],f32>, !torch.vtensor<[MADE],si64>
  return %r, %i : !torch.vtensor<[MADE],f32>, !torch.vtensor<[MADE],si64>
}
"""


def largest(x, counts):
    """The largest element of each window and its number in the image, as PyTorch compares: the first of equal ones, the last NaN."""
    *before, height, width = x.shape
    values = np.zeros((*before, *counts), np.float32)
    numbers = np.zeros((*before, *counts), np.int64)
    for place in np.ndindex(values.shape):
        *image, row, column = place
        best = None
        for y in range(row * height // counts[0], -(-(row + 1) * height // counts[0])):
            for z in range(column * width // counts[1], -(-(column + 1) * width // counts[1])):
                one = x[(*image, y, z)]
                if best is None or one > best or np.isnan(one):
                    best = one
                    values[place], numbers[place] = one, y * width + z
    return values, numbers


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        ("2,3,7,10", (2, 3, 7, 10)),
        ("?,3,?,?", (2, 3, 9, 7)),
        ("?,3,?,?", (1, 3, 8, 6)),
        ("?,3,?,?", (2, 3, 2, 5)),
        ("3,?,7", (3, 10, 7)),
    ],
)
def test_windows_of_uneven_sizes(tmp_path, given, shape):
    made = f"{given.rsplit(',', 2)[0]},4,3"
    entered(
        tmp_path,
        filled(ADAPTIVE, GIVEN=given, MADE=made),
        "aten.adaptive_max_pool2d",
        "fissile-gather-windows",
    )
    x = np.random.default_rng(5).integers(-4, 4, shape).astype(np.float32)  # many are equal
    images = x.reshape(-1, *shape[-2:])
    images[0, :2, :3] = -np.inf
    images[1, 0, ::2] = np.nan
    images[1, -1, -1] = np.nan
    images[2, 1, 1] = np.inf
    values, numbers = all_computed(tmp_path, x)
    expected, places = largest(x, (4, 3))
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(numbers, places)


LAYER = """func.func @main(%x: !torch.vtensor<[GIVEN],ELEMENT>ARGUMENTS) -> (RESULTS) {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %three = torch.constant.int 3
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  %none = torch.constant.none
  %zeros = torch.prim.ListConstruct ZEROS
  %ones = torch.prim.ListConstruct ONES
  %twos = torch.prim.ListConstruct TWOS
  %threes = torch.prim.ListConstruct THREES
  VALUES = torch.aten.OP %x, OPERANDS : !torch.vtensor<[GIVEN],ELEMENT>, TYPES -> RESULTS
  return VALUES : RESULTS
}
"""
LIST, BOOL, INT = "!torch.list<int>", "!torch.bool", "!torch.int"
SIZES = (7, 6, 5)
POOLED = (4, 3, 3)
"""Of windows of three with a border of one and steps of two."""


def lists(dims):
    names = {"ZEROS": "%zero", "ONES": "%one", "TWOS": "%two", "THREES": "%three"}
    types = ", ".join([INT] * dims)
    return {word: f"{', '.join([name] * dims)} : ({types}) -> {LIST}" for word, name in names.items()}


def layer(dims, dynamic, **words):
    sizes = ",".join(["?"] * dims if dynamic else map(str, SIZES[:dims]))
    words.update(lists(dims), GIVEN=f"2,{sizes}")
    longest = sorted(words, key=len, reverse=True)  # OP is in OPERANDS
    return filled(LAYER, **{word: words[word] for word in longest})


def windows(x, dims, outside):
    """(places, elements of a window, …) of ``x`` with a border of ``outside``."""
    padded = np.pad(x, [(0, 0), *[(1, 1)] * dims], constant_values=outside)
    made = np.zeros((2, *POOLED[:dims], 3**dims), x.dtype)
    for place in np.ndindex(*POOLED[:dims]):
        taken = padded[(slice(None), *(slice(2 * at, 2 * at + 3) for at in place))]
        made[(slice(None), *place)] = taken.reshape(2, -1)
    return made


def image(dims):
    return np.random.default_rng(6).integers(-9, 9, (2, *SIZES[:dims]))


@pytest.mark.parametrize(("dims", "dynamic"), [*product((1, 2, 3), (False, True))])
def test_the_average_of_an_image(tmp_path, dims, dynamic):
    made = ",".join(["?"] * dims if dynamic else map(str, POOLED[:dims]))
    types = ", ".join([LIST] * 3 + [BOOL] * 2 + ["!torch.none"] * (dims > 1))
    operands = "%threes, %twos, %ones, %false, %true" + (", %none" if dims > 1 else "")
    text = layer(
        dims, dynamic, ELEMENT="f32", ARGUMENTS="", RESULTS=f"!torch.vtensor<[2,{made}],f32>",
        OPERANDS=operands, TYPES=types, VALUES="%r", OP=f"avg_pool{dims}d",
    )  # fmt: skip
    entered(tmp_path, text, f"aten.avg_pool{dims}d", "fissile-batch-images")
    x = image(dims).astype(np.float32)
    x[0, 0] = np.inf
    x[1, -1] = np.nan
    np.testing.assert_allclose(computed(tmp_path, x), windows(x, dims, 0).mean(-1), rtol=1e-6)


@pytest.mark.parametrize(("dims", "dynamic"), [*product((1, 2, 3), (False, True))])
def test_the_maximum_of_an_image(tmp_path, dims, dynamic):
    made = ",".join(["?"] * dims if dynamic else map(str, POOLED[:dims]))
    text = layer(
        dims, dynamic, ELEMENT="f32", ARGUMENTS="", VALUES="%r, %i", OP=f"max_pool{dims}d_with_indices",
        RESULTS=f"!torch.vtensor<[2,{made}],f32>, !torch.vtensor<[2,{made}],si64>",
        OPERANDS="%threes, %twos, %ones, %ones, %false", TYPES=", ".join([LIST] * 4 + [BOOL]),
    )  # fmt: skip
    entered(tmp_path, text, f"aten.max_pool{dims}d_with_indices", "fissile-batch-images")
    x = image(dims).astype(np.float32)
    x[0, 0] = np.inf
    values, places = all_computed(tmp_path, x)
    np.testing.assert_array_equal(values, windows(x, dims, -np.inf).max(-1))
    flat = x.reshape(2, -1)
    for channel in range(2):
        np.testing.assert_array_equal(flat[channel][places[channel]], values[channel])


def test_the_maximum_of_an_image_of_integers(tmp_path):
    text = layer(
        2, True, ELEMENT="si64", ARGUMENTS="", VALUES="%r", OP="max_pool2d", RESULTS="!torch.vtensor<[2,?,?],si64>",
        OPERANDS="%threes, %twos, %ones, %ones, %false", TYPES=", ".join([LIST] * 4 + [BOOL]),
    )  # fmt: skip
    entered(tmp_path, text, "aten.max_pool2d", "fissile-batch-images")
    x = image(2) - 10
    np.testing.assert_array_equal(computed(tmp_path, x), windows(x, 2, -99).max(-1))


@pytest.mark.parametrize(("dims", "dynamic"), [*product((1, 2, 3), (False, True))])
def test_the_convolution_of_an_image(tmp_path, dims, dynamic):
    made = ",".join(["?"] * dims if dynamic else map(str, POOLED[:dims]))
    weights = f"!torch.vtensor<[4,2{',3' * dims}],f32>"
    text = layer(
        dims, dynamic, ELEMENT="f32", VALUES="%r", RESULTS=f"!torch.vtensor<[4,{made}],f32>",
        ARGUMENTS=f", %w: {weights}, %b: !torch.vtensor<[4],f32>", OP=f"conv{dims}d",
        OPERANDS="%w, %b, %twos, %ones, %ones, %one",
        TYPES=f"{weights}, !torch.vtensor<[4],f32>, {LIST}, {LIST}, {LIST}, {INT}",
    )  # fmt: skip
    entered(tmp_path, text, f"aten.conv{dims}d", "fissile-batch-images")
    x, random = image(dims).astype(np.float32), np.random.default_rng(7)
    w, b = (random.standard_normal(s).astype(np.float32) for s in ((4, 2, *[3] * dims), (4,)))
    given = windows(x, dims, 0)
    expected = np.einsum("c...k,ock->o...", given, w.reshape(4, 2, -1)) + b.reshape(4, *[1] * dims)
    np.testing.assert_allclose(computed(tmp_path, x, w, b), expected, rtol=1e-4, atol=1e-4)


# One of three known dimensions is reported as slow (FIS212).
@pytest.mark.parametrize(("dims", "dynamic"), [*product((1, 2), (False, True)), (3, True)])
def test_the_transposed_convolution_of_an_image(tmp_path, dims, dynamic):
    sizes = [2 * size + 1 for size in SIZES[:dims]]
    made = ",".join(["?"] * dims if dynamic else map(str, sizes))
    weights = f"!torch.vtensor<[2,4{',3' * dims}],f32>"
    text = layer(
        dims, dynamic, ELEMENT="f32", VALUES="%r", RESULTS=f"!torch.vtensor<[4,{made}],f32>",
        ARGUMENTS=f", %w: {weights}", OP=f"conv_transpose{dims}d{'.input' if dims > 1 else ''}",
        OPERANDS="%w, %none, %twos, %zeros, %zeros, %one, %ones",
        TYPES=f"{weights}, !torch.none, {LIST}, {LIST}, {LIST}, {INT}, {LIST}",
    )  # fmt: skip
    entered(
        tmp_path, text, f"aten.conv_transpose{dims}d{'.input' if dims > 1 else ''}", "fissile-batch-images"
    )
    x = image(dims).astype(np.float32)
    w = np.random.default_rng(7).standard_normal((2, 4, *[3] * dims)).astype(np.float32)
    expected = np.zeros((4, *sizes))
    for place in np.ndindex(*SIZES[:dims]):
        where = (slice(None), *(slice(2 * at, 2 * at + 3) for at in place))
        expected[where] += np.einsum("c,co...->o...", x[(slice(None), *place)], w)
    np.testing.assert_allclose(computed(tmp_path, x, w), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_the_reflecting_pad_of_a_volume(tmp_path, batch):
    shape, made = (*batch, 2, 5, 4, 3), (*batch, 2, 6, 6, 7)
    given, padded = (f"!torch.vtensor<[{','.join(map(str, one))}],f32>" for one in (shape, made))
    text = f"""func.func @main(%x: {given}) -> {padded} {{
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %w = torch.prim.ListConstruct %two, %two, %one, %one, %zero, %one : ({", ".join([INT] * 6)}) -> {LIST}
  %r = torch.aten.reflection_pad3d %x, %w : {given}, {LIST} -> {padded}
  return %r : {padded}
}}
"""
    entered(tmp_path, text, "aten.reflection_pad3d", "fissile-concatenate-pads")
    x = np.random.default_rng(8).standard_normal(shape).astype(np.float32)
    x.flat[0] = np.nan
    widths = [*[(0, 0)] * (len(shape) - 3), (0, 1), (1, 1), (2, 2)]
    np.testing.assert_array_equal(computed(tmp_path, x), np.pad(x, widths, mode="reflect"))
