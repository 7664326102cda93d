"""FIS221: ops on constants, and comparisons of floats with themselves, are what PyTorch computes."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

_HEAD = """
  %none = torch.constant.none
  %false = torch.constant.bool false
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %three = torch.constant.int 3
  %minus = torch.constant.int -2
  %half = torch.constant.float 5.000000e-01
  %four = torch.constant.int 4
  %floor = torch.constant.str "floor"
  %sizes = torch.prim.ListConstruct %four : (!torch.int) -> !torch.list<int>
"""
_FULL = "torch.aten.full %sizes, {}, %none, %none, %none, %false : !torch.list<int>, {}, !torch.none, !torch.none, !torch.none, !torch.bool -> {}"
_F, _I, _B = ("!torch.vtensor<[4],f32>", "!torch.vtensor<[4],si64>", "!torch.vtensor<[4],i1>")
_HALVES = _FULL.format("%half", "!torch.float", _F)
_ZEROS = (
    "torch.aten.zeros %sizes, %none, %none, %none, %false : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.bool -> "
    + _F
)
_FIVES = "torch.vtensor.literal(dense<-5> : tensor<4xsi64>) : " + _I
_SHORT = "torch.vtensor.literal(dense<[-5, 5, -7, 7]> : tensor<4xsi16>) : !torch.vtensor<[4],si16>"
_TRUE = "torch.vtensor.literal(dense<true> : tensor<4xi1>) : " + _B
_S = "!torch.vtensor<[4],si16>"
_CASES = {
    "times": (_HALVES, f"torch.aten.mul.Scalar %c, %minus : {_F}, !torch.int -> {_F}", _F, [-1.0] * 4),
    "plus": (_HALVES, f"torch.aten.add.Scalar %c, %minus, %one : {_F}, !torch.int, !torch.int -> {_F}", _F, [-1.5] * 4),
    "alpha": (_HALVES, f"torch.aten.sub.Tensor %c, %c, %minus : {_F}, {_F}, !torch.int -> {_F}", _F, [1.5] * 4),
    "from": (_HALVES, f"torch.aten.rsub.Scalar %c, %minus, %one : {_F}, !torch.int, !torch.int -> {_F}", _F, [-2.5] * 4),
    "equal": (_ZEROS, f"torch.aten.eq.Scalar %c, %zero : {_F}, !torch.int -> {_B}", _B, [1] * 4),
    "above": (_HALVES, f"torch.aten.gt.Scalar %c, %zero : {_F}, !torch.int -> {_B}", _B, [1] * 4),
    "below a half": (_FIVES, f"torch.aten.lt.Scalar %c, %half : {_I}, !torch.float -> {_B}", _B, [1] * 4),
    "true above 0": (_TRUE, f"torch.aten.gt.Scalar %c, %zero : {_B}, !torch.int -> {_B}", _B, [1] * 4),
    "remainder": (_FIVES, f"torch.aten.remainder.Scalar %c, %three : {_I}, !torch.int -> {_I}", _I, [1] * 4),
    "float remainder": (
        _FULL.format("%minus", "!torch.int", _F), f"torch.aten.remainder.Scalar %c, %three : {_F}, !torch.int -> {_F}", _F, [1.0] * 4),
    "quotient": (
        _SHORT, f"torch.aten.div.Tensor_mode %c, %t, %floor : {_S}, {_S}, !torch.str -> {_S}", _S, [-3, 2, -4, 3]),
}  # fmt: skip
"""What is constant, the op, the type of its result, and what PyTorch computes."""


def _written(tmp_path, *lines: str, of: str = _F) -> None:
    text = "\n".join(["func.func @main(%x: !torch.vtensor<[4],f32>) -> " + of + " {", *lines, "}", ""])
    written(tmp_path, text)


@pytest.mark.parametrize("name", _CASES)
def test_a_constant_is_computed_as_pytorch_does(tmp_path, name):
    """Where the last lines fail IREE computes it itself."""
    constant, op, type_, wanted = _CASES[name]
    twos = "  %t = torch.vtensor.literal(dense<2> : tensor<4xsi16>) : " + _S
    _written(tmp_path, _HEAD, f"  %c = {constant}", twos, f"  %r = {op}", f"  return %r : {type_}", of=type_)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS221", "repaired")]
    given = np.zeros(4, np.float32)
    assert all_computed(tmp_path, given)[0].tolist() == wanted
    stock = compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU)
    assert stock is not None or all_computed(tmp_path, given)[0].tolist() != wanted


def test_a_nan_is_not_equal_to_itself(tmp_path):
    _written(
        tmp_path, f"  %r = torch.aten.eq.Tensor %x, %x : {_F}, {_F} -> {_B}", f"  return %r : {_B}", of=_B
    )
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [one.code for one in report.findings] == ["FIS221"]
    given = np.array([1.0, np.nan, -np.inf, np.nan], np.float32)
    assert all_computed(tmp_path, given)[0].tolist() == [1, 0, 1, 0]
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    assert all_computed(tmp_path, given)[0].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "op",
    [
        f"torch.aten.mul.Scalar %x, %minus : {_F}, !torch.int -> {_F}",  # no constant
        f"torch.aten.mul.Scalar %c, %half : {_F}, !torch.float -> {_F}",
        f"torch.aten.add.Scalar %c, %one, %three : {_F}, !torch.int, !torch.int -> {_F}",
    ],
)
def test_what_iree_computes_right_is_left_alone(tmp_path, op):
    _written(tmp_path, _HEAD, f"  %c = {_HALVES}", f"  %r = {op}", f"  return %r : {_F}")
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert not report.findings


def test_a_constant_outside_of_the_program_text_is_left_alone(tmp_path):
    """IREE does not fold what a resource holds."""
    text = f"""func.func @main(%x: {_F}) -> {_F} {{
  %minus = torch.constant.int -2
  %c = torch.vtensor.literal(dense_resource<c> : tensor<4xf32>) : {_F}
  %r = torch.aten.mul.Scalar %c, %minus : {_F}, !torch.int -> {_F}
  return %r : {_F}
}}
{{-#
  dialect_resources: {{ builtin: {{ c: "0x040000000000803F000000400000404000008040" }} }}
#-}}
"""
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert not report.findings
    assert all_computed(tmp_path, np.zeros(4, np.float32))[0].tolist() == [-2, -4, -6, -8]
