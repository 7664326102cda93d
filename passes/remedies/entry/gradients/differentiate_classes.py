"""The gradient of a loss over classes of each pixel, as a choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import MEAN, NONE, SUM, Tensor, all_floats
from ..front_end import FrontEndRemedy
from ..tensors.values import inserted, type_of
from ..torch_ops import TensorType, apply

_NAME = "aten.nll_loss2d_backward"
_CLASSES = 1


@register_pass
@dataclass(frozen=True)
class DifferentiateClasses(FrontEndRemedy):
    """Writes `aten.nll_loss2d_backward` as the negated weight of the target's class, and 0 for the other classes.

    Pixels whose target is the ignored one have no gradient. IREE 3.13 lowers `aten.nll_loss_backward` alone. The number of classes is known.
    Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-differentiate-classes"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "replaces `aten.nll_loss2d_backward` with a choice by the class (in the input)"
    repairs: ClassVar[str] = "the gradient of a loss over the classes of pixels, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as a choice by the class"
    advice: ClassVar[str] = "rewrite it as a choice by the class"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != _NAME or len(op.operands) != 7 or len(op.results) != 1:
            return False
        slope, scores, target, weight, reduction, ignored, total = op.operands
        types = all_floats([slope, scores, total, *(() if torch.is_none(weight) else (weight,))])
        if types is None or len(types[1].shape) != 4 or types[1].shape[_CLASSES] is None:
            return False
        shape = types[1].shape
        if TensorType.of(target) != TensorType((*shape[:_CLASSES], *shape[_CLASSES + 1 :]), "si64"):
            return False
        return torch.integer_of(reduction) in (NONE, MEAN, SUM) and torch.integer_of(ignored) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        slope, scores, target, weight, reduction, ignored, total = op.operands
        slopes, shape = Tensor.wide(slope), type_of(scores).shape
        kind, count = torch.integer_of(reduction), shape[_CLASSES] or 0
        if kind == NONE:
            slopes = Tensor(inserted(slopes.value, _CLASSES))
        elif kind == MEAN:
            slopes = slopes / Tensor.wide(total)
        end = [torch.integer(count), *(torch.none() for _option in range(3)), torch.boolean(False)]
        classes = Tensor(apply("aten.arange", end, TensorType((count,), "si64"))).spread(2)
        chosen = inserted(target, _CLASSES)
        here = Tensor(apply("aten.eq.Tensor", [chosen, classes.value], TensorType(shape, "i1")))
        counts = Tensor(apply("aten.ne.Scalar", [chosen, ignored], TensorType(type_of(chosen).shape, "i1")))
        value = -slopes
        if not torch.is_none(weight):
            value = value * Tensor.wide(weight).spread(2)
        return [here.chosen(counts.chosen(value, 0.0), 0.0).as_result(op.results[0])]
