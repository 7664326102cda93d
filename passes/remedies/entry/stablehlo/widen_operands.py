"""Operands of products, extended to the element type of the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.narrow_operands import (
    PRODUCTS,
    has_unequal_elements,
    is_depthwise,
    read_instead_of,
    sign_extended_operands,
)
from fissile.passes.analysis.imports.stablehlo_ops import element_of, is_unsigned, width_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FRONT_END_OP, FrontEndRemedy
from .values import widened


@register_pass
@dataclass(frozen=True)
class WidenOperands(FrontEndRemedy):
    """Extends the operands of a product to the element type of its result: of a depthwise `stablehlo.convolution`, and of a matrix
    product or convolution of unsigned integers or booleans.

    IREE 3.13 rejects a depthwise convolution whose operands are narrower than its result (i8 to i32, f16 to f32), and extends
    unsigned operands as if they were signed. It drops a `stablehlo.convert` in front of these ops, so the operands are extended with
    ops of arith. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-widen-operands"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS155", "FIS217")
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = PRODUCTS
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "arith")
    does: ClassVar[str] = (
        "extends the operands of a depthwise `stablehlo.convolution`, and unsigned operands of `stablehlo.dot_general` and "
        "`stablehlo.convolution`, to the element type of the result (in the input)"
    )
    repairs: ClassVar[str] = (
        "such a convolution, which IREE rejects (FIS421), or whose constant kernel it misreads (FIS217); unsigned operands, which it extends as signed: wrong numbers on every "
        "target (FIS155)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "extended the operands to the element type of the result"
    advice: ClassVar[str] = "extend the operands to the element type of the result"

    def fits(self, op: ir.Operation) -> bool:
        if not all(_can_widen(operand, op.results[0]) for operand in op.operands):
            return False
        return bool(sign_extended_operands(op)) or (is_depthwise(op) and has_unequal_elements(op))

    def replace(self, found: Iterable[ir.Operation]) -> None:
        """The ops stay, with other operands."""
        for one in found:
            with ir.InsertionPoint(one), one.location:
                element = element_of(one.results[0])
                for position, operand in enumerate(one.operands):
                    if element_of(read_instead_of(operand)) != element:
                        one.operands[position] = widened(read_instead_of(operand), element)


def _can_widen(operand: ir.Value, result: ir.Value) -> bool:
    """Whether each element of ``operand``, as IREE reads it, is an element of the result's type."""
    given, element = element_of(read_instead_of(operand)), element_of(result)
    if width_of(element_of(operand)) > width_of(element):
        return False
    if given == element:
        return True
    if isinstance(given, ir.FloatType):
        return isinstance(element, ir.FloatType) and width_of(given) < width_of(element)
    if not isinstance(given, ir.IntegerType):
        return False
    if isinstance(element, ir.IntegerType):
        fits = width_of(given) < width_of(element)
        return fits and (is_unsigned(given) or width_of(given) == 1 or not is_unsigned(element))
    digits = _DIGITS.get(str(element), 0)
    return width_of(given) <= digits


_DIGITS = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
"""Floats -> the widest integers that they hold exactly."""
