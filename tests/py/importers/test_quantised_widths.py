"""ONNX: quantised numbers of 16 and 4 bits, products with a scale for each column, and pads along some axes, as its operators define them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile

RNG = np.random.default_rng(16)
_HEAD = "attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64}"
LIMITS = {"ui16": (0, 65535), "si4": (-8, 7), "ui4": (0, 15)}


def _kind(shape, element: str) -> str:
    return f"!torch.vtensor<[{','.join(map(str, shape))}],{element}>"


def _constant(name: str, numbers, element: str) -> str:
    array = np.asarray(numbers)
    text = str(array.tolist())
    if element == "f32":
        text = str(np.asarray(array, np.float32).astype(np.float64).tolist())
    sizes = "".join(f"{size}x" for size in array.shape)
    return f'  %{name} = torch.operator "onnx.Constant"() {{torch.onnx.value = dense<{text}> : tensor<{sizes}{element}>}} : () -> {_kind(array.shape, element)}\n'


def _built(tmp_path, text: str, codes) -> None:
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert {one.code for one in report.findings if one.severity.value == "repaired"} >= codes, report.findings
    assert report.exit_code == 0, report.findings


@pytest.mark.parametrize("element", LIMITS)
@pytest.mark.parametrize("scales", (1, 3))
def test_what_is_quantised_and_dequantised(tmp_path, element, scales):
    """With one scale, and one for each row; a batch of unknown size. Borders of the range saturate."""
    low, high = LIMITS[element]
    scale = np.float32(0.5) if scales == 1 else np.array([0.25, 0.5, 2], np.float32)
    zero = (low + high) // 2 + (0 if scales == 1 else np.arange(3))
    given, made = _kind(["?", 3, 4], "f32"), _kind(["?", 3, 4], element)
    types = [_kind(np.shape(scale), "f32"), _kind(np.shape(zero), element)]
    text = (
        f"func.func @main(%x: {given}) -> {given} {_HEAD} {{\n{_constant('s', scale, 'f32')}{_constant('z', zero, element)}"
        f'  %q = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) {{torch.onnx.axis = 1 : si64}} : ({given}, {types[0]}, {types[1]}) -> {made}\n'
        f'  %d = torch.operator "onnx.DequantizeLinear"(%q, %s, %z) {{torch.onnx.axis = 1 : si64}} : ({made}, {types[0]}, {types[1]}) -> {given}\n'
        f"  return %d : {given}\n}}\n"
    )
    _built(tmp_path, text, {"FIS421"})
    x = (RNG.standard_normal((2, 3, 4)) * (high - low)).astype(np.float32)
    s, z = (np.reshape(one, (-1, 1)) if np.ndim(one) else one for one in (scale, zero))
    right = (np.clip(np.round(x / s) + z, low, high) - z) * s
    np.testing.assert_allclose(all_computed(tmp_path, x)[0], right, rtol=1e-6)


def test_a_product_with_a_scale_for_each_column(tmp_path):
    b = RNG.integers(-128, 128, (6, 5))
    scale, zero = RNG.uniform(0.01, 0.05, 5).astype(np.float32), np.arange(5) - 2
    given, made = _kind(["?", "?", 6], "si8"), _kind(["?", "?", 5], "si8")
    single, byte = _kind([], "f32"), _kind([], "si8")
    text = (
        f"func.func @main(%a: {given}) -> {made} {_HEAD} {{\n"
        + _constant("b", b, "si8") + _constant("bs", scale, "f32") + _constant("bz", zero, "si8")
        + _constant("s", 0.03125, "f32") + _constant("z", 3, "si8")
        + f'  %r = torch.operator "onnx.QLinearMatMul"(%a, %s, %z, %b, %bs, %bz, %s, %z) : ({given}, {single}, {byte}, {_kind([6, 5], "si8")}, '
        f'{_kind([5], "f32")}, {_kind([5], "si8")}, {single}, {byte}) -> {made}\n  return %r : {made}\n}}\n'
    )  # fmt: skip
    _built(tmp_path, text, {"FIS421"})
    a = RNG.integers(-128, 128, (2, 3, 6)).astype(np.int8)
    product = ((a.astype(np.float64) - 3) * 0.03125) @ ((b - zero) * scale.astype(np.float64))
    right = np.clip(np.round(product / 0.03125) + 3, -128, 127)
    got = np.asarray(all_computed(tmp_path, a)[0]).astype(np.int64)
    assert np.abs(got - right).max() <= 1 and (got == right).mean() > 0.9


@pytest.mark.parametrize(
    ("mode", "code", "widths", "axes"),
    [
        ("constant", "FIS160", (-1, 2, 0, -1), (1, 2)),
        ("constant", "FIS160", (0, -2, 1, 0), (-1, -2)),
        ("reflect", "", (1, 2, 2, 1), (-1, 1)),
    ],
)
def test_pads_along_some_axes(tmp_path, mode, code, widths, axes):
    """Of sizes that the call decides."""
    given = _kind([2, "?", "?"], "f32")
    text = (
        f"func.func @main(%x: {given}) -> {given} {_HEAD} {{\n{_constant('w', widths, 'si64')}{_constant('v', 1.5, 'f32')}{_constant('a', axes, 'si64')}"
        f'  %r = torch.operator "onnx.Pad"(%x, %w, %v, %a) {{torch.onnx.mode = "{mode}"}} : ({given}, {_kind([4], "si64")}, {_kind([], "f32")}, '
        f"{_kind([2], 'si64')}) -> {given}\n  return %r : {given}\n}}\n"
    )
    _built(tmp_path, text, {code} - {""})
    for shape in ((2, 5, 4), (2, 4, 6)):
        x = RNG.standard_normal(shape).astype(np.float32)
        pairs = [(0, 0)] * 3
        for at, axis in enumerate(axes):
            pairs[axis % 3] = (widths[at], widths[2 + at])
        cut = x[tuple(slice(max(-low, 0), size + min(high, 0)) for (low, high), size in zip(pairs, shape, strict=True))]  # fmt: skip
        added = [(max(low, 0), max(high, 0)) for low, high in pairs]
        right = np.pad(cut, added, mode) if mode == "reflect" else np.pad(cut, added, constant_values=1.5)
        np.testing.assert_array_equal(all_computed(tmp_path, x)[0], right)
