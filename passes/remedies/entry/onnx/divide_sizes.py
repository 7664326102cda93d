"""Remainders and quotients of negative sizes, without the negative number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.onnx_values import integers_of
from fissile.passes.analysis.imports.size_arithmetic import (
    PYTHON_REMAINDERS,
    QUOTIENT,
    has_no_lowering,
    name_of,
    rounds_otherwise,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import python_remainder


@register_pass
@dataclass(frozen=True)
class DivideSizes(FrontEndRemedy):
    """Divides what is positive and what is negative of a number separately, where the number is a size.

    IREE 3.13 rounds the remainder and the quotient of a negative size to the other side than ONNX and Python do (FIS167): a border of
    `-length % 8` elements is then negative. The divisor of ONNX's ops is a positive constant. Python's remainder is written with a quotient
    that is rounded down. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-divide-sizes"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS167")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes `onnx.Mod`, `onnx.Div` and Python's `%` of sizes that may be negative with numbers that are not (in the input)"
    )
    repairs: ClassVar[str] = (
        "a border of `-length % 8` elements, and other such sizes, which IREE rounds to the other side: wrong on every target (FIS167)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "divided numbers that are not negative"
    advice: ClassVar[str] = "divide numbers that are not negative"

    def fits(self, op: ir.Operation) -> bool:
        if has_no_lowering(op):
            return True
        if not rounds_otherwise(op):
            return False
        if name_of(op) in PYTHON_REMAINDERS:
            return True
        divisor = integers_of(op.operands[1])
        return bool(divisor) and all(number > 0 for number in divisor or ())

    def written(self, op: ir.Operation) -> list[ir.Value]:
        if name_of(op) in PYTHON_REMAINDERS:
            return [python_remainder(*op.operands)]
        value, divisor = op.operands
        made = op.results[0].type
        zero = _constants([0], divisor.type, ())
        negated = torch.apply_onnx("Neg", [value], value.type)
        above, below = (torch.apply_onnx("Max", [one, zero], value.type) for one in (value, negated))
        if name_of(op) == QUOTIENT:
            parts = [torch.apply_onnx("Div", [one, divisor], made) for one in (above, below)]
            return [torch.apply_onnx("Sub", parts, made)]
        # -m and (d - 1) * m have the same remainder by d.
        others = [number - 1 for number in integers_of(divisor) or ()]
        type_ = torch.TensorType.of(divisor)
        assert type_ is not None  # `fits`
        factor = _constants(others, divisor.type, type_.shape)
        first, second = (torch.apply_onnx("Mod", [one, divisor], made) for one in (above, below))
        total = torch.apply_onnx("Add", [first, torch.apply_onnx("Mul", [second, factor], made)], made)
        return [torch.apply_onnx("Mod", [total, divisor], made)]


def _constants(numbers: list[int], like: ir.Type, shape: tuple[int | None, ...]) -> ir.Value:
    """``numbers`` as a constant of ONNX's with the element type of ``like``."""
    type_ = torch.TensorType.of_type(like)
    assert type_ is not None
    made = torch.TensorType(shape, type_.element)
    sizes = "".join(f"{size}x" for size in shape)
    text = str(numbers) if shape else str(numbers[0])
    value = ir.Attribute.parse(f"dense<{text}> : tensor<{sizes}{type_.element}>")
    return torch.apply_onnx("Constant", [], made, value=value)
