"""The sizes of a norm's weights, from the shape that it normalises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType
from .write_epsilons import RMS_NORM

_WEIGHTS = 2
"""The operand's number. The shape is the one before."""


@register_pass
@dataclass(frozen=True)
class TypeWeights(FrontEndRemedy):
    """Gives the weights of an `aten.rms_norm` the sizes of the shape that it normalises, where their type does not have them.

    PyTorch demands that the two are equal. IREE 3.13 compares the types, and rejects weights of unknown sizes. Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-type-weights"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "gives the weights of an `aten.rms_norm` the sizes of the shape that it normalises (in the input)"
    )
    repairs: ClassVar[str] = "`aten.rms_norm` with weights of unknown sizes, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "gave its weights the sizes that it normalises"
    advice: ClassVar[str] = "give its weights the sizes that it normalises"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != RMS_NORM or len(op.operands) != 4 or len(op.results) != 1:
            return False
        given, weights, shape = _types(op)
        if given is None or weights is None or shape is None or None not in weights.shape:
            return False
        known = all(old in (None, new) for old, new in zip(weights.shape, shape, strict=False))
        return (
            len(weights.shape) == len(shape) <= len(given.shape) and known and given.element in torch.FLOATS
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        _given, weights, shape = _types(op)
        assert weights is not None and shape is not None  # `fits`
        operands = list(op.operands)
        typed = TensorType(tuple(shape), weights.element).ir_type()
        operands[_WEIGHTS] = torch.cast(operands[_WEIGHTS], typed)
        return [torch.apply(RMS_NORM, operands, op.results[0].type)]


def _types(op: ir.Operation) -> tuple[TensorType | None, TensorType | None, list[int] | None]:
    """Of what is normalised and of the weights, and the shape; None for what is not known."""
    value, shape, weights, _least = op.operands
    return TensorType.of(value), TensorType.of(weights), torch.integers_of(shape)
