"""Complex tensors of the torch dialect as two tensors of floats, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from iree.compiler import ir

from .. import torch_ops as torch
from ..torch_ops import TensorType, apply

COMPLEX = "complex<f32>"
REAL = "f32"


@dataclass(frozen=True)
class Parts:
    """A complex tensor, of f32; ``imaginary`` is None where it is zero."""

    real: ir.Value
    imaginary: ir.Value | None = None

    @property
    def type(self) -> TensorType:
        found = TensorType.of(self.real)
        assert found is not None
        return found

    def each(self, written) -> Parts:
        """``written`` of both parts."""
        return Parts(written(self.real), None if self.imaginary is None else written(self.imaginary))

    @property
    def conjugate(self) -> Parts:
        return replace(self, imaginary=None if self.imaginary is None else negated(self.imaginary))


def parts_of(value: ir.Value) -> Parts:
    """Those of a tensor of complex<f32>, or an f32 tensor as it is."""
    type_ = TensorType.of(value)
    assert type_ is not None
    if type_.element != COMPLEX:
        return Parts(value)
    pairs = apply("aten.view_as_real", [value], TensorType((*type_.shape, 2), REAL))
    made = TensorType(type_.shape, REAL)
    last = torch.integer(-1)
    return Parts(*(apply("aten.select.int", [pairs, last, torch.integer(i)], made) for i in (0, 1)))


def joined(parts: Parts) -> ir.Value:
    """The tensor of complex<f32>."""
    type_ = parts.type
    imaginary = parts.imaginary
    if imaginary is None:
        imaginary = apply("aten.mul.Scalar", [parts.real, torch.real(0.0)], type_)
    return apply("aten.complex", [parts.real, imaginary], TensorType(type_.shape, COMPLEX))


def negated(value: ir.Value) -> ir.Value:
    type_ = TensorType.of(value)
    assert type_ is not None
    return apply("aten.neg", [value], type_)


def added(one: ir.Value, other: ir.Value) -> ir.Value:
    return _elementwise("aten.add.Tensor", one, other, torch.integer(1))


def subtracted(one: ir.Value, other: ir.Value) -> ir.Value:
    return _elementwise("aten.sub.Tensor", one, other, torch.integer(1))


def multiplied(one: ir.Value, other: ir.Value) -> ir.Value:
    return _elementwise("aten.mul.Tensor", one, other)


def scaled(value: ir.Value, by: float) -> ir.Value:
    type_ = TensorType.of(value)
    assert type_ is not None
    return value if by == 1 else apply("aten.mul.Scalar", [value, torch.real(by)], type_)


def _elementwise(name: str, one: ir.Value, other: ir.Value, *more: ir.Value) -> ir.Value:
    """The shape is that of ``one``, to which ``other`` is broadcast."""
    type_ = TensorType.of(one)
    assert type_ is not None
    return apply(name, [one, other, *more], type_)
