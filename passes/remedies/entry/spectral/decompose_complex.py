"""Arithmetic on complex tensors of torch, part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..decompose_special_functions import hypotenuse
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply
from .complex_parts import COMPLEX, REAL, Parts, joined, negated, parts_of


def _absolute(x: Parts, type_: TensorType) -> ir.Value:
    return hypotenuse(type_, x.real, _imaginary(x))


def _angle(x: Parts, type_: TensorType) -> ir.Value:
    return apply("aten.atan2", [_imaginary(x), x.real], type_)


def _exponential(x: Parts, type_: TensorType) -> Parts:
    size, turn = apply("aten.exp", [x.real], type_), _imaginary(x)
    cosine, sine = (apply(f"aten.{name}", [turn], type_) for name in ("cos", "sin"))
    return Parts(_product(size, cosine, type_), _product(size, sine, type_))


def _logarithm(x: Parts, type_: TensorType) -> Parts:
    return Parts(apply("aten.log", [_absolute(x, type_)], type_), _angle(x, type_))


def _reciprocal(x: Parts, type_: TensorType) -> Parts:
    one = apply("aten.full_like", [x.real, torch.real(1.0), *[torch.none()] * 5], x.type)
    return _quotient(Parts(one), x, type_)


def _quotient(x: Parts, by: Parts, type_: TensorType) -> Parts:
    """``by`` is divided by its larger part first: its square does not overflow then."""
    if by.imaginary is None:
        return x.each(lambda side: apply("aten.div.Tensor", [side, by.real], type_))
    of_by = by.type
    larger = apply("aten.maximum", [apply("aten.abs", [s], of_by) for s in (by.real, by.imaginary)], of_by)
    real, imaginary = (apply("aten.div.Tensor", [s, larger], of_by) for s in (by.real, by.imaginary))
    square = _sum(_product(real, real, of_by), _product(imaginary, imaginary, of_by), of_by)
    square = _product(square, larger, of_by)
    above, below = _product(x.real, real, type_), negated(_product(x.real, imaginary, type_))
    if x.imaginary is not None:
        above = _sum(above, _product(x.imaginary, imaginary, type_), type_)
        below = _sum(below, _product(x.imaginary, real, type_), type_)
    return Parts(*(apply("aten.div.Tensor", [side, square], type_) for side in (above, below)))


def _added(name: str, x: Parts, y: Parts, times: ir.Value, type_: TensorType) -> Parts:
    """``x`` plus or minus ``y`` times ``times``; one of them is complex."""
    held = x.imaginary if x.imaginary is not None else _imaginary(y)
    kind = TensorType.of(held)
    assert kind is not None
    zero = apply("aten.zeros_like", [held, *[torch.none()] * 5], kind)
    of_x, of_y = (zero if side.imaginary is None else side.imaginary for side in (x, y))
    real, imaginary = (apply(name, [*both, times], type_) for both in ((x.real, y.real), (of_x, of_y)))
    return Parts(real, imaginary)


def _product(one: ir.Value, other: ir.Value, type_: TensorType) -> ir.Value:
    return apply("aten.mul.Tensor", [one, other], type_)


def _sum(one: ir.Value, other: ir.Value, type_: TensorType) -> ir.Value:
    return apply("aten.add.Tensor", [one, other, torch.integer(1)], type_)


def _imaginary(x: Parts) -> ir.Value:
    assert x.imaginary is not None  # the operand is complex
    return x.imaginary


def _conjugate(x: Parts, _type: TensorType) -> Parts:
    return x.conjugate


def _negative(x: Parts, _type: TensorType) -> Parts:
    return x.each(negated)


_OF_ONE: dict[str, Callable[[Parts, TensorType], Parts | ir.Value]] = {
    "aten._conj": _conjugate,
    "aten._conj_physical": _conjugate,
    "aten.abs": _absolute,
    "aten.angle": _angle,
    "aten.conj": _conjugate,
    "aten.conj_physical": _conjugate,
    "aten.exp": _exponential,
    "aten.log": _logarithm,
    "aten.neg": _negative,
    "aten.reciprocal": _reciprocal,
}
_EACH = ("aten.div.Scalar", "aten.mean.dim", "aten.mul.Scalar", "aten.sum.dim_IntList")
"""What applies to both parts alike, with the other operands as they are."""
_QUOTIENT = "aten.div.Tensor"
_SUMS = ("aten.add.Tensor", "aten.sub.Tensor")


@register_pass
@dataclass(frozen=True)
class DecomposeComplex(FrontEndRemedy):
    """Writes ops on tensors of complex<f32> with ops on their real and imaginary parts.

    IREE 3.13 lowers products, sums and matrix products of complex tensors, and none of these. Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-decompose-complex"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `aten.abs`, `angle`, `conj`, `exp`, `log`, `div` and others on complex tensors with ops on their parts (in the input)"
    )
    repairs: ClassVar[str] = "such ops, which IREE rejects on complex tensors (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it with the real and the imaginary parts"
    advice: ClassVar[str] = "rewrite it with the real and the imaginary parts"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.results) != 1 or name not in (*_OF_ONE, *_EACH, *_SUMS, _QUOTIENT):
            return False
        if len(op.operands) < (1 if name in _OF_ONE else 3 if name in _SUMS else 2):
            return False
        types = [TensorType.of(value) for value in (*op.operands, op.results[0])]
        if types[0] is None or types[-1] is None or not {t.element for t in types if t} <= {REAL, COMPLEX}:
            return False
        if name in (*_SUMS, _QUOTIENT):
            return types[-1].element == COMPLEX and types[1] is not None
        scalars = ("!torch.float", "!torch.int")
        is_real = not name.endswith(".Scalar") or str(op.operands[1].type) in scalars
        return is_real and types[0].element == COMPLEX

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, made = torch.front_end_name(op), TensorType.of(op.results[0])
        assert made is not None
        real = TensorType(made.shape, REAL)
        x, *others = op.operands
        if name in _OF_ONE:
            found = _OF_ONE[name](parts_of(x), real)
        elif name == _QUOTIENT:
            found = _quotient(parts_of(x), parts_of(others[0]), real)
        elif name in _SUMS:
            found = _added(name, parts_of(x), parts_of(others[0]), others[1], real)
        else:
            found = parts_of(x).each(lambda side: apply(name, [side, *others], real))
        return [torch.cast(joined(found) if isinstance(found, Parts) else found, op.results[0].type)]
