"""Special functions of torch from elementary ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, pi
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy
from .torch_ops import TensorType, apply


def hypotenuse(result: TensorType, x: ir.Value, y: ir.Value) -> ir.Value:
    """By the larger side times sqrt(1 + ratio^2), which overflows only where the result does; infinity even beside a NaN, as in C."""
    x, y = apply("aten.abs", [x], x.type), apply("aten.abs", [y], y.type)
    larger, smaller = apply("aten.maximum", [x, y], result), apply("aten.minimum", [x, y], result)
    ratio = apply("aten.div.Tensor", [smaller, larger], result)
    square = apply("aten.mul.Tensor", [ratio, ratio], result)
    root = apply("aten.sqrt", [_plus_one(square, result)], result)
    length = apply("aten.mul.Tensor", [larger, root], result)
    length = apply("aten.where.self", [_compare("eq", larger, 0.0), larger, length], result)
    for side in (x, y):  # IREE's aten.maximum drops a NaN
        of_side = TensorType.of(side)
        assert of_side is not None
        is_nan = apply("aten.ne.Tensor", [side, side], TensorType(of_side.shape, "i1"))
        length = apply("aten.where.self", [is_nan, side, length], result)
    for side in (x, y):
        length = apply("aten.where.self", [_compare("eq", side, inf), side, length], result)
    return length


def _sinc(result: TensorType, x: ir.Value) -> ir.Value:
    """sin(pi x) / (pi x), but 1 where x is 0."""
    angle = apply("aten.mul.Scalar", [x, torch.real(pi)], result)
    quotient = apply("aten.div.Tensor", [apply("aten.sin", [angle], result), angle], result)
    return apply("aten.where.ScalarOther", [_compare("ne", x, 0.0), quotient, torch.real(1.0)], result)


def _entropy(result: TensorType, x: ir.Value) -> ir.Value:
    """-x log(x), but 0 where x is 0, and -infinity where it is negative."""
    product = apply("aten.mul.Tensor", [x, apply("aten.log", [x], result)], result)
    negated = apply("aten.neg", [product], result)
    defined = apply("aten.where.ScalarOther", [_compare("ne", x, 0.0), negated, torch.real(0.0)], result)
    return apply("aten.where.ScalarSelf", [_compare("lt", x, 0.0), torch.real(-inf), defined], result)


def _plus_one(x: ir.Value, type_: TensorType) -> ir.Value:
    return apply("aten.add.Scalar", [x, torch.real(1.0), torch.integer(1)], type_)


def _compare(how: str, x: ir.Value, number: float) -> ir.Value:
    type_ = TensorType.of(x)
    assert type_ is not None
    return apply(f"aten.{how}.Scalar", [x, torch.real(number)], TensorType(type_.shape, "i1"))


_WRITTEN: dict[str, tuple[int, Callable[..., ir.Value]]] = {
    "aten.hypot": (2, hypotenuse),
    "aten.sinc": (1, _sinc),
    "aten.special_entr": (1, _entropy),
    "aten.special_sinc": (1, _sinc),
}
"""Op -> its operands, and what takes its place."""


@register_pass
@dataclass(frozen=True)
class DecomposeSpecialFunctions(FrontEndRemedy):
    """Writes `aten.hypot`, `aten.sinc` and `aten.special_entr` on floats with elementary functions, as PyTorch defines them.

    The torch dialect of IREE 3.13 has none of them. All operands and the result have one element type; integers, which PyTorch
    converts first, are left alone. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-special-functions"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `aten.hypot`, `aten.sinc` and `aten.special_entr` with elementary functions (in the input)"
    )
    repairs: ClassVar[str] = "`aten.hypot`, `aten.sinc` and `aten.special_entr`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it with elementary functions"
    advice: ClassVar[str] = "rewrite it with elementary functions"

    def fits(self, op: ir.Operation) -> bool:
        known = _WRITTEN.get(torch.front_end_name(op))
        if known is None or len(op.operands) != known[0] or len(op.results) != 1:
            return False
        types = [TensorType.of(value) for value in (*op.operands, op.results[0])]
        elements = {type_.element if type_ else "" for type_ in types}
        return len(elements) == 1 and elements <= torch.FLOATS.keys()

    def written(self, op: ir.Operation) -> list[ir.Value]:
        result = TensorType.of(op.results[0])
        assert result is not None
        _count, written = _WRITTEN[torch.front_end_name(op)]
        return [written(result, *op.operands)]
