"""The gradient of a threshold whose operand would be converted to a type that does not hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import as_boolean, type_of
from ..torch_ops import TensorType, apply

_INTEGERS = {"ui8": 8, "si8": 7, "si16": 15, "si32": 31, "si64": 63}
"""Element type -> its bits without the sign."""
_DIGITS = {"bf16": 8, "f16": 11, "f32": 24}
"""Element type -> the bits of its significand."""


@register_pass
@dataclass(frozen=True)
class CompareBeforeConversion(FrontEndRemedy):
    """Writes `aten.threshold_backward` as a comparison of the operand in its own type and a choice.

    IREE 3.13's import converts the operand and the threshold to the type of the result, which is that of the incoming gradient: 0.9 and a
    threshold of 0.5 are both 0 as integers (FIS218). Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-compare-before-conversion"
    cures: ClassVar[tuple[str, ...]] = ("FIS218",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes `aten.threshold_backward` whose gradient has another type than the operand as a comparison and a choice (in the input)"
    )
    repairs: ClassVar[str] = (
        "such a gradient, for which IREE rounds the operand before it compares it: wrong numbers on every target (FIS218)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote it as a comparison in the type of the operand"
    advice: ClassVar[str] = "write it as a comparison in the type of the operand"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.threshold_backward" or len(op.operands) != 3:
            return False
        slope, given, made = (TensorType.of(value) for value in (*list(op.operands)[:2], op.results[0]))
        threshold = torch.number_of(op.operands[2])
        if slope is None or given is None or made is None or threshold is None:
            return False
        known = {*_INTEGERS, *_DIGITS}
        if not {slope.element, given.element, made.element} <= known:
            return False
        return not _holds(made.element, given.element, threshold)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        slope, given, threshold = op.operands
        made = type_of(op.results[0])
        outside = apply("aten.le.Scalar", [given, threshold], as_boolean(type_of(given)))
        zero = torch.literal("0" if made.element in _INTEGERS else "0.0", made.element)
        return [apply("aten.where.self", [outside, zero, torch.converted(slope, made.element)], made)]


def _holds(element: str, given: str, threshold: float) -> bool:
    """Whether each number of type ``given`` and ``threshold`` are numbers of ``element``, or are compared in it as before."""
    if element == given and element in _DIGITS:
        return True
    if element in _INTEGERS:
        return given in _INTEGERS and _INTEGERS[given] <= _INTEGERS[element] and float(threshold).is_integer()
    if given in _DIGITS:
        # Of 16 bits each has numbers that the other has not.
        return _DIGITS[given] <= _DIGITS[element] and (given, element) != ("bf16", "f16")
    return True
