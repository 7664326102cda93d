"""FIS222: activations and losses by PyTorch's formulas; FIS162: the reverse of a max pool by its places."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

_HEAD = """
  %none = torch.constant.none
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %last = torch.constant.int -1
  %half = torch.constant.float 5.000000e-01
"""
_X = "!torch.vtensor<[2,6],E>"
_S = "!torch.vtensor<[],E>"
_LOGITS = np.array([[-3000.0, -100.0, -1.5, -0.25, 0.0, 0.5], [1.0, 3.0, 30.0, 88.0, 200.0, -90.0]])
_TARGETS = np.array([[0.0, 1.0, 0.5, 0.0, 1.0, 0.25], [1.0, 0.0, 1.0, 0.5, 0.0, 1.0]])


def _softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _bce(x, t, positive=1.0):
    return (1 - t) * x + (1 + (positive - 1) * t) * _softplus(-x)


def _entropy(t):
    return np.where(t == 0, 0, t * np.log(np.where(t == 0, 1, t)))


def _renormed(x):
    norms = np.sqrt((x * x).sum(0, keepdims=True))
    return np.where(norms > 0.5, x * 0.5 / norms, x)


_CASES = {
    "renorm": (f"torch.aten.renorm %x, %two, %last, %half : {_X}, !torch.int, !torch.int, !torch.float -> {_X}", _X, lambda x, t: _renormed(x)),
    "log_sigmoid": (f"torch.aten.log_sigmoid %x : {_X} -> {_X}", _X, lambda x, t: -_softplus(-x)),
    "softshrink": (
        f"torch.aten.softshrink %x, %half : {_X}, !torch.float -> {_X}", _X, lambda x, t: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    "bce": (
        f"torch.aten.binary_cross_entropy_with_logits %x, %t, %none, %none, %one : {_X}, {_X}, !torch.none, !torch.none, !torch.int -> {_S}",
        _S, lambda x, t: _bce(x, t).mean()),
    "weighed bce": (
        f"torch.aten.binary_cross_entropy_with_logits %x, %t, %t, %t, %zero : {_X}, {_X}, {_X}, {_X}, !torch.int -> {_X}",
        _X, lambda x, t: t * _bce(x, t, t)),
    "kl_div": (f"torch.aten.kl_div %x, %t, %two, %false : {_X}, {_X}, !torch.int, !torch.bool -> {_S}", _S, lambda x, t: (_entropy(t) - t * x).sum()),
    "kl_div of logarithms": (
        f"torch.aten.kl_div %x, %t, %zero, %true : {_X}, {_X}, !torch.int, !torch.bool -> {_X}", _X, lambda x, t: np.exp(t) * (t - x)),
}  # fmt: skip


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("name", _CASES)
def test_a_formula_is_that_of_pytorch(tmp_path, name, element):
    op, type_, meant = _CASES[name]
    text = "\n".join(
        [f"func.func @main(%x: {_X}, %t: {_X}) -> {type_} {{", _HEAD, f"  %r = {op}", f"  return %r : {type_}", "}", ""]
    ).replace(",E>", f",{element}>")  # fmt: skip
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    right = (name, element) == ("kl_div of logarithms", "f32")  # and left alone
    found = [
        (one.code, one.severity.value) for one in report.findings if one.code != "FIS220"
    ]  # norms of 16-bit floats
    assert found == ([] if right else [("FIS222", "repaired")])
    type_of = np.float32 if element == "f32" else ml_dtypes.bfloat16
    given = [one.astype(type_of) for one in (_LOGITS, _TARGETS)]
    wanted = meant(*(one.astype(np.float64) for one in given))
    [answer] = all_computed(tmp_path, *given)
    np.testing.assert_allclose(
        answer.astype(np.float64), wanted, rtol=1e-5 if element == "f32" else 2.0**-8, atol=1e-4
    )
    if name != "kl_div of logarithms":  # nothing is added up in it
        assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
        [theirs] = all_computed(tmp_path, *given)
        assert not np.allclose(theirs.astype(np.float64), wanted, rtol=0.05, atol=0.1)


_SLOPES = """func.func @main(%x: !torch.vtensor<[?,3,?,W],f32>, %w: !torch.vtensor<[3],f32>) -> !torch.vtensor<[?,3,?,W],f32> {
  %r = torch.aten.prelu %x, %w : !torch.vtensor<[?,3,?,W],f32>, !torch.vtensor<[3],f32> -> !torch.vtensor<[?,3,?,W],f32>
  return %r : !torch.vtensor<[?,3,?,W],f32>
}
"""


@pytest.mark.parametrize(
    "width, element",
    [(3, "f32"), (4, "f32"), (3, "bf16")],
    ids=["as many columns as channels", "others", "bf16"],
)
def test_each_channel_has_its_slope(tmp_path, width, element):
    """Stock rejects the program where the columns are not as many as the channels, and is wrong where they are."""
    written(tmp_path, _SLOPES.replace("W", str(width)).replace(",f32>", f",{element}>"))
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS222", "repaired")]
    x = np.arange(-2 * 3 * 2 * width // 2, 2 * 3 * 2 * width // 2, dtype=np.float32).reshape(2, 3, 2, width)
    x[0, 0, 0, 0], x[-1, -1, -1, -1] = np.nan, np.inf
    slopes = np.array([0.5, -1.0, 2.0], np.float32)
    if element == "bf16":
        x, slopes = x.astype(ml_dtypes.bfloat16), slopes.astype(ml_dtypes.bfloat16)
    wanted = np.where(x > 0, x, x * slopes[:, None, None])
    [answer] = all_computed(tmp_path, x, slopes)
    np.testing.assert_array_equal(answer.astype(np.float32), wanted.astype(np.float32))
    rejected = compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU)
    assert (rejected is None) == (width == 3)
    if rejected is None:
        [theirs] = all_computed(tmp_path, x, slopes)
        assert not np.array_equal(theirs.astype(np.float32), wanted.astype(np.float32), equal_nan=True)


_POOLED = """func.func @main(%x: !torch.vtensor<[1,2,2,3],f32>, %i: !torch.vtensor<[1,2,2,3],si64>) -> !torch.vtensor<[1,2,5,6],f32> {
  %five = torch.constant.int 5
  %six = torch.constant.int 6
  %sizes = torch.prim.ListConstruct %five, %six : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.max_unpool2d %x, %i, %sizes : !torch.vtensor<[1,2,2,3],f32>, !torch.vtensor<[1,2,2,3],si64>, !torch.list<int> -> !torch.vtensor<[1,2,5,6],f32>
  return %r : !torch.vtensor<[1,2,5,6],f32>
}
"""
_WHOLE = """func.func @main(%x: !torch.vtensor<[1,2,2,3],f32>, %i: !torch.vtensor<[1,2,2,3],si64>) -> !torch.vtensor<[1,2,4,6],f32>
    attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64} {
  %r = torch.operator "onnx.MaxUnpool"(%x, %i) {torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]}
    : (!torch.vtensor<[1,2,2,3],f32>, !torch.vtensor<[1,2,2,3],si64>) -> !torch.vtensor<[1,2,4,6],f32>
  return %r : !torch.vtensor<[1,2,4,6],f32>
}
"""


@pytest.mark.parametrize("text", [_POOLED, _WHOLE], ids=["aten", "onnx"])
def test_each_number_goes_to_its_place(tmp_path, text):
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert ("FIS162", "repaired") in [(one.code, one.severity.value) for one in report.findings]
    x = np.arange(1, 13, dtype=np.float32).reshape(1, 2, 2, 3)
    random = np.random.default_rng(2)
    if text is _POOLED:
        places = np.stack([random.permutation(30)[:6] for _channel in range(2)])
        wanted = np.zeros((2, 30), np.float32)
        np.put_along_axis(wanted, places, x.reshape(2, 6), 1)
        wanted = wanted.reshape(1, 2, 5, 6)
    else:
        places = random.permutation(48)[:12]
        wanted = np.zeros(48, np.float32)
        wanted[places] = x.ravel()
        wanted = wanted.reshape(1, 2, 4, 6)
    np.testing.assert_array_equal(all_computed(tmp_path, x, places.reshape(1, 2, 2, 3))[0], wanted)


def test_what_a_pool_of_even_windows_made_is_left_alone(tmp_path):
    text = """func.func @main(%x: !torch.vtensor<[1,2,4,8],f32>) -> !torch.vtensor<[1,2,4,8],f32> {
  %false = torch.constant.bool false
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %four = torch.constant.int 4
  %eight = torch.constant.int 8
  %zeros = torch.prim.ListConstruct %zero, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %twos = torch.prim.ListConstruct %two, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %sizes = torch.prim.ListConstruct %four, %eight : (!torch.int, !torch.int) -> !torch.list<int>
  %v, %i = torch.aten.max_pool2d_with_indices %x, %twos, %twos, %zeros, %ones, %false : !torch.vtensor<[1,2,4,8],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,2,2,4],f32>, !torch.vtensor<[1,2,2,4],si64>
  %r = torch.aten.max_unpool2d %v, %i, %sizes : !torch.vtensor<[1,2,2,4],f32>, !torch.vtensor<[1,2,2,4],si64>, !torch.list<int> -> !torch.vtensor<[1,2,4,8],f32>
  return %r : !torch.vtensor<[1,2,4,8],f32>
}
"""
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert not report.findings
    x = np.random.default_rng(3).standard_normal((1, 2, 4, 8)).astype(np.float32)
    windows = x.reshape(1, 2, 2, 2, 4, 2)
    kept = np.where(windows == windows.max((3, 5), keepdims=True), windows, 0)
    np.testing.assert_array_equal(all_computed(tmp_path, x)[0], kept.reshape(1, 2, 4, 8))


def test_ops_with_too_few_operands_are_left_to_iree(tmp_path):
    """No remedy throws on one, IREE refuses the program, and nothing is written."""
    x, b = "!torch.vtensor<[4],f32>", "!torch.vtensor<[4],bf16>"
    names = ("log_sigmoid", "eq.Tensor", "mul.Scalar", "addmv", "erfc", "vstack", "mT", "max_unpool2d")
    calls = [f'  %{at} = torch.operator "torch.aten.{name}"() : () -> {x}' for at, name in enumerate(names)]
    calls += [f'  %s = torch.operator "torch.aten.mean.dim"(%y) : ({b}) -> {b}', f'  %o = torch.operator "onnx.MaxUnpool"(%x) : ({x}) -> {x}']  # fmt: skip
    text = "\n".join([f"func.func @main(%x: {x}, %y: {b}) -> {x} {{", *calls, f"  return %x : {x}", "}", ""])
    (tmp_path / "main.mlir").write_text(text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU], check=False)
    assert report.exit_code == 1 and not (tmp_path / "out.vmfb").exists()
    assert {one.code for one in report.findings} <= {"FIS407", "FIS421"}
