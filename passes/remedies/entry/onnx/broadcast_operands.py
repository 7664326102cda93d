"""Sums, means and extremes of several tensors of ONNX, and expansions, between different shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..standard.extremes import EXTREMES, extreme
from ..torch_ops import TensorType

_SUMS = ("onnx.Mean", "onnx.Sum")
Shape = tuple[int | None, ...]


@register_pass
@dataclass(frozen=True)
class BroadcastOperands(FrontEndRemedy):
    """Writes `onnx.Sum`, `onnx.Mean`, `onnx.Max` and `onnx.Min` of three or more tensors as ops of two, each with the shape that its two
    operands have together, and `onnx.Expand` to a shape with fewer or smaller dimensions as a broadcast to the result's.

    IREE 3.13 gives each op of two the shape of the whole result, and rejects what does not have it. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-broadcast-operands"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes `onnx.Sum`, `Mean`, `Max` and `Min` of three or more tensors of different shapes as ops of two, and `onnx.Expand` as a "
        "broadcast to the result's shape (in the input)"
    )
    repairs: ClassVar[str] = "such ops of ONNX, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it with the shape of each step"
    advice: ClassVar[str] = "write it with the shape of each step"

    def fits(self, op: ir.Operation) -> bool:
        made = TensorType.of(op.results[0]) if len(op.results) == 1 else None
        types = [TensorType.of(one) for one in op.operands]
        if made is None or not types or types[0] is None:
            return False
        if torch.front_end_name(op) == "onnx.Expand":
            return len(types) == 2 and _extends(types[0], made)
        return differ_by_step(op)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        result = op.results[0].type
        if torch.front_end_name(op) == "onnx.Expand":
            made = TensorType.of(op.results[0])
            assert made is not None  # `fits`
            sizes = torch.integers([size or 0 for size in made.shape])
            return [torch.apply("aten.broadcast_to", [op.operands[0], sizes], made)]
        name, operands = torch.front_end_name(op), list(op.operands)
        value = extreme(name, operands) if name in EXTREMES else _summed(operands)
        if name == "onnx.Mean":
            type_ = TensorType.of(value)
            assert type_ is not None
            count = torch.real(float(len(operands)))
            value = torch.apply("aten.div.Scalar", [value, count], type_)
        return [torch.cast(value, result)]


def differ_by_step(op: ir.Operation) -> bool:
    """Whether ``op`` is one of three or more tensors, the first two of which have another shape together than all."""
    name = torch.front_end_name(op)
    if name not in _SUMS and name not in EXTREMES or len(op.operands) < 3 or len(op.results) != 1:
        return False
    made = TensorType.of(op.results[0])
    types = [TensorType.of(one) for one in op.operands]
    known = [one for one in types if one is not None]
    if made is None or len(known) != len(types):
        return False
    if name == "onnx.Mean" and made.element not in torch.FLOATS:
        return False
    whole = reduce(_together, (one.shape for one in known))
    return len(whole) == len(made.shape) and _together(known[0].shape, known[1].shape) != made.shape


def _summed(operands: Sequence[ir.Value]) -> ir.Value:
    value = operands[0]
    for other in operands[1:]:
        left, right = TensorType.of(value), TensorType.of(other)
        assert left is not None and right is not None  # `fits`
        made = TensorType(_together(left.shape, right.shape), left.element)
        value = torch.apply("aten.add.Tensor", [value, other, torch.integer(1)], made)
    return value


def _extends(given: TensorType, made: TensorType) -> bool:
    """Whether ``given`` can be broadcast to the known sizes ``made``."""
    if None in made.shape or len(made.shape) < len(given.shape):
        return False
    return _together(given.shape, made.shape) == made.shape


def _together(one: Shape, other: Shape) -> Shape:
    """The shape that the two are broadcast to."""
    rank = max(len(one), len(other))
    pairs = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    return tuple(right if left == 1 else left if right in (1, None) else right for left, right in pairs)
