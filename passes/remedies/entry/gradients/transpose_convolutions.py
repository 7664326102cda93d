"""Gradients of transposed convolutions, as a convolution and the gradient of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor, all_floats
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_NAME = "aten.convolution_backward"


@register_pass
@dataclass(frozen=True)
class TransposeConvolutions(FrontEndRemedy):
    """Writes `aten.convolution_backward` of a transposed convolution with ops of a plain one.

    A transposed convolution is the gradient of a plain one by its image: so its own gradient by the image is that plain convolution, and the
    one by the weights is that of the plain convolution, whose image is the incoming gradient. IREE 3.13 lowers the gradients of plain
    convolutions only. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-transpose-convolutions"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.convolution_backward` of a transposed convolution with a convolution and the gradient of one (in the input)"
    )
    repairs: ClassVar[str] = "gradients of transposed convolutions, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it with ops of a plain convolution"
    advice: ClassVar[str] = "rewrite it with ops of a plain convolution"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != _NAME or len(op.operands) != 11 or len(op.results) != 3:
            return False
        types, groups = all_floats(op.operands[:3]), torch.integer_of(op.operands[9])
        if types is None or torch.boolean_of(op.operands[7]) is not True or groups is None:
            return False
        results = [TensorType.of(one) is not None or torch.is_none(one) for one in op.results]
        return all(results) and len(types[0].shape) > 2

    def written(self, op: ir.Operation) -> list[ir.Value]:
        slope, image, weight, _bias, stride, padding, dilation, _transposed, _more, groups, _mask = (
            op.operands
        )
        window = [
            stride,
            padding,
            dilation,
            torch.boolean(False),
            torch.integers([0] * (_rank(image) - 2)),
            groups,
        ]
        by_image, by_weight, by_bias = op.results
        found: list[ir.Value] = []
        for result in (by_image, by_weight, by_bias):
            if torch.is_none(result):
                found.append(torch.none())
            elif result == by_image:
                found.append(apply("aten.convolution", [slope, weight, torch.none(), *window], result.type))
            elif result == by_weight:
                found.append(_of_weights(image, slope, weight, window, result.type))
            else:
                over = [0, *range(2, _rank(slope))]
                found.append(Tensor.wide(slope).summed(over, keep=False).as_result(result))
        return found


def _of_weights(
    slope: ir.Value, image: ir.Value, weight: ir.Value, window: list[ir.Value], made: ir.Type
) -> ir.Value:
    none = ir.Type.parse("!torch.none")
    chosen = ir.Operation.create(
        "torch.prim.ListConstruct",
        results=[ir.Type.parse("!torch.list<bool>")],
        operands=[torch.boolean(one) for one in (False, True, False)],
    ).result
    operands = [slope, image, weight, torch.none(), *window, chosen]
    return ir.Operation.create(f"torch.{_NAME}", results=[none, made, none], operands=operands).results[1]


def _rank(value: ir.Value) -> int:
    type_ = TensorType.of(value)
    assert type_ is not None
    return len(type_.shape)
