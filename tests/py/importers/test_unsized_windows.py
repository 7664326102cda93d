"""FIS421: windows of StableHLO over a batch, or an image, of unknown size, as NumPy computes them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile

RNG = np.random.default_rng(21)
_REDUCED = """func.func @main(%x: tensor<GIVEN>, %init: tensor<ELEMENT>) -> tensor<MADE> {
  %r = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: SIZES>, window_strides = array<i64: STEPS>, window_dilations = array<i64: HOLES>, padding = dense<BORDERS> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<ELEMENT>, %b: tensor<ELEMENT>):
    %m = stablehlo.KIND %a, %b : tensor<ELEMENT>
    stablehlo.return %m : tensor<ELEMENT>
  }) : (tensor<GIVEN>, tensor<ELEMENT>) -> tensor<MADE>
  return %r : tensor<MADE>
}
"""
_KINDS = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "or": np.logical_or}  # fmt: skip


def _repaired(tmp_path, text: str) -> None:
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    found = [one.code for one in report.findings if one.severity.value == "repaired"]
    # Unsigned operands of a convolution are extended beside it.
    assert set(found) - {"FIS155"} == {"FIS421"} and report.exit_code == 0, report.findings


def _reduced(x, init, kind, sizes, steps, holes, borders):
    x = np.pad(x, borders, constant_values=init)
    counts = [max((n - (w - 1) * h - 1 + s) // s, 0) for n, w, s, h in zip(x.shape, sizes, steps, holes, strict=True)]  # fmt: skip
    made = np.full(counts, init, x.dtype)
    for place in product(*map(range, sizes)):
        at = tuple(
            slice(p * h, p * h + (n - 1) * s + 1, s)
            for p, h, n, s in zip(place, holes, counts, steps, strict=True)
        )
        made = _KINDS[kind](made, x[at]).astype(x.dtype)
    return made


@pytest.mark.parametrize(
    ("element", "kind", "init", "given", "made", "sizes", "steps", "holes", "borders"),
    [
        ("i8", "maximum", -128, "?x7", "?x4", (1, 3), (1, 2), (1, 1), ((0, 0), (1, 1))),
        ("ui8", "maximum", 0, "?x7", "?x5", (1, 2), (1, 1), (1, 2), ((0, 0), (0, 0))),
        ("ui8", "minimum", 255, "?x7", "?x?", (2, 3), (1, 2), (1, 1), ((0, 1), (2, 0))),
        ("f32", "add", 0, "?x10", "?x10", (1, 10), (1, 1), (1, 1), ((0, 0), (9, 0))),
        ("i32", "add", 0, "?x?", "?x?", (3, 2), (2, 3), (1, 2), ((1, 1), (0, 2))),
        ("i1", "or", 0, "?x7", "?x7", (1, 3), (1, 1), (1, 1), ((0, 0), (1, 1))),
        ("f16", "multiply", 1, "?x4", "?x3", (1, 2), (1, 1), (1, 1), ((0, 0), (0, 0))),
    ],
)
def test_reductions(tmp_path, element, kind, init, given, made, sizes, steps, holes, borders):
    words = {
        "GIVEN": f"{given}x{element}", "MADE": f"{made}x{element}", "ELEMENT": element, "KIND": kind,
        "SIZES": str(sizes)[1:-1], "STEPS": str(steps)[1:-1], "HOLES": str(holes)[1:-1],
        "BORDERS": str([list(one) for one in borders]),
    }  # fmt: skip
    text = _REDUCED
    for word, by in words.items():
        text = text.replace(word, by)
    _repaired(tmp_path, text)
    kinds = {
        "i8": np.int8,
        "ui8": np.uint8,
        "i32": np.int32,
        "f32": np.float32,
        "f16": np.float16,
        "i1": bool,
    }
    dtype = kinds[element]
    for rows in (3, 1):
        shape = (rows, int(given.split("x")[1]) if given.split("x")[1] != "?" else 9)
        if sizes[0] > 1 and rows == 1:
            shape = (sizes[0], shape[1])
        x = RNG.standard_normal(shape).astype(dtype) if "f" in element else RNG.integers(0, 256, shape).astype(np.uint8).astype(dtype)  # fmt: skip
        [got] = all_computed(tmp_path, x, np.array(init, dtype))
        right = _reduced(x, init, kind, sizes, steps, holes, borders)
        np.testing.assert_allclose(
            np.asarray(got).view(dtype).astype(np.float64), right.astype(np.float64), rtol=2e-3 if element == "f16" else 1e-5, atol=1e-5
        )  # fmt: skip


def _convolved(x, w, groups, steps, holes, borders):
    """NHWC by HWIO."""
    x = np.pad(x, ((0, 0), *borders, (0, 0))).astype(np.float64)
    height, width, inside, out = w.shape
    rows, columns = ((n - (k - 1) * h - 1) // s + 1 for n, k, s, h in zip(x.shape[1:3], w.shape, steps, holes, strict=False))  # fmt: skip
    made = np.zeros((x.shape[0], rows, columns, out))
    for group in range(groups):
        part, by = x[..., group * inside : (group + 1) * inside], w[..., group * out // groups : (group + 1) * out // groups]  # fmt: skip
        for i, j in product(range(height), range(width)):
            seen = part[:, i * holes[0] :: steps[0], j * holes[1] :: steps[1]][:, :rows, :columns]
            made[..., group * out // groups : (group + 1) * out // groups] += seen @ by[i, j].astype(np.float64)  # fmt: skip
    return made


@pytest.mark.parametrize(
    ("groups", "inside", "out", "layout", "element", "size"),
    [
        (2, 3, 4, "nhwc", "f32", "6"),
        (4, 1, 4, "nhwc", "f32", "6"),
        (4, 1, 8, "nchw", "f32", "6"),
        (12, 2, 12, "nhwc", "i8", "6"),
        (16, 1, 16, "nhwc", "ui8", "?"),
        (2, 2, 2, "nchw", "i8", "6"),
        (1, 3, 4, "nhwc", "f32", "?"),
        (2, 3, 4, "nchw", "f32", "?"),
    ],
)
def test_convolutions_of_groups(tmp_path, groups, inside, out, layout, element, size):
    steps, holes, borders = (1, 2), (2, 1), ((1, 1), (0, 1))
    made = "i32" if element != "f32" else "f32"
    rows, columns = ("4", "3") if size == "6" else ("?", "?")
    read, by, result = {
        "nhwc": (f"?x{size}x{size}x{groups * inside}", f"3x3x{inside}x{out}", f"?x{rows}x{columns}x{out}"),
        "nchw": (f"?x{groups * inside}x{size}x{size}", f"{out}x{inside}x3x3", f"?x{out}x{rows}x{columns}"),
    }[layout]
    numbers = {"nhwc": "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "nchw": "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"}[layout]  # fmt: skip
    _repaired(
        tmp_path,
        f"func.func @main(%x: tensor<{read}x{element}>, %w: tensor<{by}x{element}>) -> tensor<{result}x{made}> {{\n"
        f"  %r = stablehlo.convolution(%x, %w) dim_numbers = {numbers}, window = {{stride = [1, 2], pad = [[1, 1], [0, 1]], rhs_dilate = [2, 1]}} "
        f"{{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}} : (tensor<{read}x{element}>, tensor<{by}x{element}>) -> tensor<{result}x{made}>\n"
        f"  return %r : tensor<{result}x{made}>\n}}\n",
    )
    for batch in (2, 1):
        shapes = (batch, 6, 6, groups * inside), (3, 3, inside, out)
        if element == "f32":
            x, w = (RNG.standard_normal(shape).astype(np.float32) for shape in shapes)
        else:
            x, w = (RNG.integers(0, 256, shape).astype(np.uint8).view(np.int8 if element == "i8" else np.uint8) for shape in shapes)  # fmt: skip
        right = _convolved(x, w, groups, steps, holes, borders)
        if layout == "nchw":
            x, w, right = x.transpose(0, 3, 1, 2).copy(), w.transpose(3, 2, 0, 1).copy(), right.transpose(0, 3, 1, 2)  # fmt: skip
        [got] = all_computed(tmp_path, x, w)
        np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-4)
