"""Elementwise torch ops that IREE does not lower, from others that it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy
from .torch_ops import TensorType, apply


def _is_finite(result: TensorType, x: ir.Value) -> ir.Value:
    """Neither infinity nor a NaN is less than infinity."""
    return apply("aten.lt.Scalar", [_magnitude(x), torch.real(float("inf"))], result)


def _sign_bit(result: TensorType, x: ir.Value) -> ir.Value:
    """Of the bits: a comparison does not see the sign of zero, nor that of a NaN."""
    type_ = TensorType.of(x)
    assert type_ is not None
    bits = torch.bits_as(x, TensorType(type_.shape, f"si{torch.FLOATS[type_.element]}"))
    return apply("aten.lt.Scalar", [bits, torch.integer(0)], result)


def _copy_sign(result: TensorType, x: ir.Value, sign: ir.Value) -> ir.Value:
    size, of = _magnitude(x), TensorType.of(sign)
    assert of is not None
    negative = apply("aten.neg", [size], size.type)
    return apply("aten.where.self", [_sign_bit(TensorType(of.shape, "i1"), sign), negative, size], result)


def _x_log_y(result: TensorType, x: ir.Value, y: ir.Value) -> ir.Value:
    """x log(y), but 0 where x is 0, and a NaN where y is one."""
    of_x, of_y = TensorType.of(x), TensorType.of(y)
    assert of_x is not None and of_y is not None
    product = apply("aten.mul.Tensor", [x, apply("aten.log", [y], y.type)], result)
    is_zero = apply("aten.eq.Scalar", [x, torch.integer(0)], TensorType(of_x.shape, "i1"))
    zero_or_product = apply("aten.where.self", [is_zero, x, product], result)
    is_nan = apply("aten.ne.Tensor", [y, y], TensorType(of_y.shape, "i1"))
    return apply("aten.where.self", [is_nan, y, zero_or_product], result)


def _magnitude(x: ir.Value) -> ir.Value:
    return apply("aten.abs", [x], x.type)


_WRITTEN: dict[str, Callable[..., ir.Value]] = {
    "aten.copysign.Tensor": _copy_sign,
    "aten.isfinite": _is_finite,
    "aten.signbit": _sign_bit,
    "aten.xlogy.Tensor": _x_log_y,
}


@register_pass
@dataclass(frozen=True)
class DecomposeElementwise(FrontEndRemedy):
    """Writes elementwise torch ops on floats with comparisons, `aten.where` and their bits, as PyTorch defines them.

    IREE 3.13 has these ops in its torch dialect; its patterns end in an op that it does not lower. All operands have one element type. f64
    is left alone: IREE makes it f32 by default, so that there are no 64 bits to read. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-elementwise"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.copysign`, `aten.isfinite`, `aten.signbit` and `aten.xlogy` with comparisons (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.copysign`, `aten.isfinite`, `aten.signbit` and `aten.xlogy`, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it with comparisons"
    advice: ClassVar[str] = "rewrite it with comparisons"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _WRITTEN or len(op.results) != 1:
            return False
        types = [TensorType.of(value) for value in op.operands]
        elements = {type_.element if type_ else "" for type_ in types}
        return (
            len(elements) == 1
            and elements <= torch.FLOATS.keys()
            and TensorType.of(op.results[0]) is not None
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        result = TensorType.of(op.results[0])
        assert result is not None
        return [_WRITTEN[torch.front_end_name(op)](result, *op.operands)]
