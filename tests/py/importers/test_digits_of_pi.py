"""FIS222: GELU by tanh, its gradient and degrees, of which IREE's import has few digits of pi."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

_T = "!torch.vtensor<[64],E>"
_SLOPE = np.sqrt(2 / np.pi)
_X = np.linspace(-6, 6, 64)
_G = np.linspace(-1, 2, 64)


def _bent(x):
    return np.tanh(_SLOPE * (x + 0.044715 * x**3))


def _gradient(g, x):
    bent = _bent(x)
    return g * (0.5 * (1 + bent) + 0.5 * x * (1 - bent**2) * _SLOPE * (1 + 3 * 0.044715 * x**2))


_CASES = {
    "gelu": (f"torch.aten.gelu %x, %how : {_T}, !torch.str -> {_T}", lambda x, g: 0.5 * x * (1 + _bent(x))),
    "gelu of ONNX": (
        f'torch.operator "onnx.Gelu"(%x) {{torch.onnx.approximate = "HOW"}} : ({_T}) -> {_T}',
        lambda x, g: 0.5 * x * (1 + _bent(x)),
    ),
    "gradient": (
        f"torch.aten.gelu_backward %g, %x, %how : {_T}, {_T}, !torch.str -> {_T}",
        lambda x, g: _gradient(g, x),
    ),
    "degrees": (f"torch.aten.rad2deg %x : {_T} -> {_T}", lambda x, g: x * 180 / np.pi),
}
_DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
_DIGITS = {"f32": 5e-7, "f16": 2.0**-10, "bf16": 2.0**-7}
_SMALL = {"f32": 2e-6, "f16": 6.2e-5, "bf16": 2e-6}
"""The smallest normal number of f16: the target may take those below for 0."""


def _program(name: str, element: str, how: str = "tanh") -> str:
    op, _meant = _CASES[name]
    model = " attributes {torch.onnx_meta.ir_version = 9 : si64, torch.onnx_meta.opset_version = 20 : si64}"
    return "\n".join(
        [
            f"func.func @main(%x: {_T}, %g: {_T}) -> {_T}{model if 'ONNX' in name else ''} {{",
            f'  %how = torch.constant.str "{how}"',
            f"  %r = {op}".replace("HOW", how),
            f"  return %r : {_T}",
            "}",
            "",
        ]
    ).replace(",E>", f",{element}>")


@pytest.mark.parametrize("element", _DTYPES)
@pytest.mark.parametrize("name", _CASES)
def test_all_digits_are_there(tmp_path, name, element):
    written(tmp_path, _program(name, element))
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS222", "repaired")]
    given = [one.astype(_DTYPES[element]) for one in (_X, _G)]
    wanted = _CASES[name][1](*(one.astype(np.float64) for one in given))
    [answer] = all_computed(tmp_path, *given)
    np.testing.assert_allclose(answer.astype(np.float64), wanted, rtol=_DIGITS[element], atol=_SMALL[element])
    if element == "f32":
        assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
        [theirs] = all_computed(tmp_path, *given)
        assert not np.allclose(theirs.astype(np.float64), wanted, rtol=_DIGITS[element], atol=_SMALL[element])


@pytest.mark.parametrize("name", [name for name in _CASES if name != "degrees"])
def test_a_gelu_of_the_error_function_stays(tmp_path, name):
    written(tmp_path, _program(name, "f32", "none"))
    assert fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU]).findings == ()
