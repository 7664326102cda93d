"""Products of batches of quantised matrices, and quantised convolutions, as those of dequantised tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attributes
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_PRODUCT, _CONVOLUTION = "onnx.QLinearMatMul", "onnx.QLinearConv"
_CODES = {"f32": 1, "f16": 10, "bf16": 16}
"""What ONNX's TensorProto calls them."""


@register_pass
@dataclass(frozen=True)
class DequantiseProducts(FrontEndRemedy):
    """Writes `onnx.QLinearMatMul` of other than two matrices, and `onnx.QLinearConv`, as DequantizeLinear, MatMul or Conv, and QuantizeLinear.

    IREE 3.13 multiplies a batch of matrices without the zero points of the inputs, and rejects operands of other ranks; it adds the bias of a
    convolution without its scale where each channel has one (FIS162). A product has one scale for each tensor, or the second matrix one for each column; of two matrices IREE does
    the same itself. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-dequantise-products"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `onnx.QLinearMatMul` of batches of matrices and `onnx.QLinearConv` with ops on floats between DequantizeLinear and QuantizeLinear (in the input)"
    )
    repairs: ClassVar[str] = (
        "batches of products without their zero points, convolutions without the scale of their bias: wrong numbers on every target (FIS162), or an error"
    )
    numbers: ClassVar[str] = "the sum is a float: an element next to a rounding border may be one step off"
    done: ClassVar[str] = "rewrote it as a product of the dequantised tensors"
    advice: ClassVar[str] = "rewrite it as a product of the dequantised tensors"

    def fits(self, op: ir.Operation) -> bool:
        name, types = torch.front_end_name(op), [torch.TensorType.of(v) for v in (*op.operands, *op.results)]
        known = [one for one in types if one is not None]
        if name not in (_PRODUCT, _CONVOLUTION) or len(known) != len(types) or len(op.results) != 1:
            return False
        if len(op.operands) not in ((8,) if name == _PRODUCT else (8, 9)):
            return False
        single = [set(known[number].shape) <= {1} for number in range(1, 8)]
        a_scale, a_zero, _, b_scale, b_zero, scale, zero = single
        if not (a_scale and a_zero and scale and zero) or len({known[n].element for n in (1, 4, 6)}) != 1:
            return False
        if name == _CONVOLUTION:
            return True
        ranks = [len(known[number].shape) for number in (0, 3)]
        columns = ranks[1] == 2 and known[4].shape == known[5].shape == (known[3].shape[1],)
        return (b_scale and b_zero or columns) and ranks != [2, 2]

    def written(self, op: ir.Operation) -> list[ir.Value]:
        a, a_scale, a_zero, b, b_scale, b_zero, scale, zero, *bias = op.operands
        result = torch.TensorType.of(op.results[0])
        assert result is not None  # `fits`
        made = torch.TensorType(result.shape, _element(scale))
        is_product = torch.front_end_name(op) == _PRODUCT
        factors = [_dequantised(a, a_scale, a_zero), _dequantised(b, b_scale, b_zero, int(is_product))]
        if is_product:
            product = torch.apply_onnx("MatMul", factors, made)
        else:
            factors += [_of_bias(one, a_scale, b_scale) for one in bias if not torch.is_none(one)]
            product = torch.apply_onnx("Conv", factors, made, **_own_attributes(op))
        last = [product, torch.as_scalar(scale), torch.as_scalar(zero)]
        return [torch.apply_onnx("QuantizeLinear", last, op.results[0].type)]


def _own_attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    begin = torch.ONNX_ATTRIBUTE
    return {name.removeprefix(begin): value for name, value in attributes(op) if name.startswith(begin)}


def _of_bias(bias: ir.Value, a_scale: ir.Value, b_scale: ir.Value) -> ir.Value:
    """The bias is quantised with the product of the two scales."""
    type_, element = torch.TensorType.of(bias), _element(a_scale)
    assert type_ is not None
    floats = torch.TensorType(type_.shape, element)
    code = ir.IntegerAttr.get(ir.IntegerType.get_signed(64), _CODES[element])
    scales = torch.TensorType.of(b_scale)
    assert scales is not None
    wide = torch.apply_onnx("Cast", [bias], floats, to=code)
    if set(scales.shape) <= {1}:
        b_scale, scales = torch.as_scalar(b_scale), torch.TensorType((), element)
    both = torch.apply_onnx(
        "Mul", [torch.as_scalar(a_scale), b_scale], torch.TensorType(scales.shape, element)
    )
    return torch.apply_onnx("Mul", [wide, both], floats)


def _dequantised(value: ir.Value, scale: ir.Value, zero: ir.Value, dim: int = 0) -> ir.Value:
    """``dim`` is the one that has a scale for each of its elements: the columns of a matrix, the channels of a kernel."""
    type_ = torch.TensorType.of(value)
    scales, zeros = torch.TensorType.of(scale), torch.TensorType.of(zero)
    assert type_ is not None and scales is not None and zeros is not None
    made = torch.TensorType(type_.shape, _element(scale))
    if set(scales.shape) <= {1}:
        operands = [value, torch.as_scalar(scale), torch.as_scalar(zero)]
        return torch.apply_onnx("DequantizeLinear", operands, made)
    axis = ir.IntegerAttr.get(ir.IntegerType.get_signed(64), dim)
    return torch.apply_onnx("DequantizeLinear", [value, scale, zero], made, axis=axis)


def _element(value: ir.Value) -> str:
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    return type_.element
