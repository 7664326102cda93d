"""Arithmetic of unsigned 8-bit integers, which IREE's import of PyTorch and ONNX reads as signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_ALWAYS = (
    "aten.abs", "aten.argsort", "aten.atan2", "aten.clamp.Tensor", "aten.clamp_min.Tensor", "aten.fmod.Tensor", "aten.mean", "aten.neg", "aten.reciprocal",
    "aten.div.Scalar", "aten.div.Scalar_mode", "aten.div.Tensor", "aten.div.Tensor_mode", "aten.floor_divide",
    "aten.floor_divide.Scalar", "aten.max", "aten.prod", "aten.prod.dim_int", "aten.remainder.Tensor", "aten.sort", "aten.sum", "aten.sum.dim_IntList",
    "aten.topk", "onnx.Abs", "onnx.Clip", "onnx.Div", "onnx.MaxPool", "onnx.Mod",
    "onnx.TopK",
)  # fmt: skip
_MIXED = (
    "aten.add.Scalar", "aten.addcdiv", "aten.addcmul", "aten.bitwise_and.Tensor", "aten.bitwise_left_shift.Tensor", "aten.bitwise_or.Tensor",
    "aten.bitwise_xor.Tensor", "aten.cat", "aten.copysign.Tensor", "aten.fmax", "aten.fmin", "aten.ldexp.Tensor", "aten.maximum", "aten.minimum",
    "aten.mul.Scalar", "aten.mul.Tensor", "aten.pow.Tensor_Tensor", "aten.remainder.Scalar", "aten.rsub.Scalar", "aten.stack", "aten.sub.Scalar",
    "aten.threshold_backward", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.self",
)  # fmt: skip
"""Wrong only where the result has another type, to which the operand is converted."""
_COMPARED = tuple(
    f"aten.{name}.{form}" for name in ("eq", "ge", "gt", "le", "lt", "ne") for form in ("Scalar", "Tensor")
)
"""Wrong only where the other operand has another type, a number that is no integer among them."""
_SCATTERS, _EXTREMES = "aten.scatter_reduce.two", ("amax", "amin")
"""Wrong where the greatest or the least is kept."""
_LIST = "torch.prim.ListConstruct"
_UNSIGNED, _WIDE = "ui8", "si32"
_CASTS = ("aten._to_copy", "aten.to.dtype", "onnx.Cast", "onnx.CastLike", "prims.convert_element_type")
"""Wrong where a float becomes an unsigned byte, of which IREE makes a signed one, and where a boolean or an unsigned byte becomes complex."""
_AS_FLOATS = ("onnx.MaxPool",)
"""The border of a pool is the least number there is: of integers none that they have."""


@register_pass
@dataclass(frozen=True)
class WidenUnsigned(FrontEndRemedy):
    """Converts unsigned 8-bit operands to 32 bits before an op that IREE's import computes as if they had a sign.

    IREE 3.13 converts a ui8 to a float or a wider integer with its sign in some ops of PyTorch, orders and divides it so in some of ONNX, and without in others: in an explicit
    conversion (`x.to(torch.int32)`) it has none. A result of ui8 is cut to 8 bits again. Of true it makes the complex number -1. It makes signed bytes of floats, which hold nothing above 127, in some vectorised loops. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-widen-unsigned"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS165")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "converts unsigned 8-bit operands of PyTorch's divisions, sums, products, sorts, scattered extremes and mixed arithmetic, and of ONNX's `Abs`, `Clip`, `Div`, `MaxPool`, `Mod` and `TopK`, to 32 bits, and floats to unsigned bytes by way of 32 bits (in the input)"
    )
    repairs: ClassVar[str] = (
        "`image / 255` of bytes, and other arithmetic of uint8, which IREE computes with signed numbers: wrong on every target (FIS165)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "converted its unsigned operands to 32 bits"
    advice: ClassVar[str] = "convert its unsigned operands to 32 bits"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name in _CASTS:
            return _makes_bytes(op) or _makes_complex(op)
        if name in _COMPARED:
            return len(op.operands) == 2 and _compares_types(*op.operands)
        if name == _SCATTERS and op.results and len(op.operands) > 4:
            return torch.string_of(op.operands[4]) in _EXTREMES and _is_unsigned(op.results[0])
        if name not in _ALWAYS and name not in _MIXED or not op.results:
            return False
        made = torch.TensorType.of(op.results[0])
        if made is None or name in _MIXED and made.element == _UNSIGNED:
            return False
        return any(map(_is_unsigned, _tensors(op)))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        if _makes_complex(op):
            operands = [torch.converted(op.operands[0], "f32"), *list(op.operands)[1:]]
            attributes = {one: op.attributes[one] for one in op.attributes}
            made = [one.type for one in op.results]
            again = ir.Operation.create(op.name, results=made, operands=operands, attributes=attributes)
            return list(again.results)
        if torch.front_end_name(op) in _CASTS:
            return [torch.cast(torch.converted(op.operands[0], _UNSIGNED), op.results[0].type)]
        element = "f32" if torch.front_end_name(op) in _AS_FLOATS else _WIDE
        operands = [_widened_list(one) if _is_list(one) else _widened(one, element) for one in op.operands]
        types = [torch.TensorType.of(result) for result in op.results]
        wide = [
            torch.TensorType(one.shape, element).ir_type()
            if one and one.element == _UNSIGNED
            else result.type
            for one, result in zip(types, op.results, strict=True)
        ]
        attributes = {one: op.attributes[one] for one in op.attributes}
        again = ir.Operation.create(op.name, results=wide, operands=operands, attributes=attributes)
        return [
            torch.converted(value, one.element) if one is not None and value.type != result.type else value
            for value, one, result in zip(again.results, types, op.results, strict=True)
        ]


def _makes_bytes(op: ir.Operation) -> bool:
    """Whether the cast ``op`` makes unsigned bytes of floats."""
    if not op.operands or not op.results:
        return False
    given, made = torch.TensorType.of(op.operands[0]), torch.TensorType.of(op.results[0])
    if given is None or made is None or made.element != _UNSIGNED:
        return False
    return given.element in (*torch.FLOATS, "f64")


def _makes_complex(op: ir.Operation) -> bool:
    """Whether the cast ``op`` makes complex numbers of booleans, where true becomes -1, or of unsigned bytes."""
    if torch.front_end_name(op) not in _CASTS or not op.operands or not op.results:
        return False
    given, made = torch.TensorType.of(op.operands[0]), torch.TensorType.of(op.results[0])
    if given is None or made is None:
        return False
    return given.element in ("i1", _UNSIGNED) and made.element.startswith("complex<")


def _compares_types(one: ir.Value, other: ir.Value) -> bool:
    if str(other.type) == "!torch.float":
        return _is_unsigned(one)
    types = torch.TensorType.of(one), torch.TensorType.of(other)
    return None not in types and (_is_unsigned(one) != _is_unsigned(other))


def _is_list(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == _LIST


def _tensors(op: ir.Operation) -> list[ir.Value]:
    """The operands of ``op``, those in a list among them."""
    return [one for value in op.operands for one in (value.owner.operands if _is_list(value) else (value,))]


def _is_unsigned(value: ir.Value) -> bool:
    type_ = torch.TensorType.of(value)
    return type_ is not None and type_.element == _UNSIGNED


def _widened(value: ir.Value, element: str = _WIDE) -> ir.Value:
    return torch.converted(value, element) if _is_unsigned(value) else value


def _widened_list(value: ir.Value) -> ir.Value:
    if not any(map(_is_unsigned, value.owner.operands)):
        return value
    operands = [_widened(one) for one in value.owner.operands]
    return ir.Operation.create(_LIST, results=[value.type], operands=operands).result
