"""Products of ONNX that IREE has for matrices only: of a vector with a batch, and of integers of other ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import type_of

_PRODUCT, _OF_INTEGERS = "onnx.MatMul", "onnx.MatMulInteger"
_BYTES = ("si8", "ui8")


@register_pass
@dataclass(frozen=True)
class MultiplyBatches(FrontEndRemedy):
    """Writes the vector of an `onnx.MatMul` as a matrix of one row or column, and an `onnx.MatMulInteger` of others than two
    matrices with 32-bit integers.

    IREE 3.13 lowers the first with one or two dimensions only, and the second with two, unless it has zero points. Run it on the program as
    it was imported.
    """

    name: ClassVar[str] = "fissile-multiply-batches"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes the vector of an `onnx.MatMul` as a matrix, and an `onnx.MatMulInteger` of batches with 32-bit integers (in the input)"
    )
    repairs: ClassVar[str] = (
        "products of a vector with a batch of matrices, and of batches of bytes, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "integers: bit-identical. floats: sums may be reordered"
    done: ClassVar[str] = "wrote it as a product of batches of matrices"
    advice: ClassVar[str] = "write it as a product of batches of matrices"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name not in (_PRODUCT, _OF_INTEGERS) or len(op.operands) < 2 or len(op.results) != 1:
            return False
        operands = list(op.operands)
        types = [torch.TensorType.of(value) for value in (*operands[:2], op.results[0])]
        if None in types:
            return False
        left, right, _made = (one for one in types if one is not None)
        ranks = (len(left.shape), len(right.shape))
        if name == _PRODUCT:
            return min(ranks) == 1 and max(ranks) > 2
        bare = all(torch.is_none(one) for one in operands[2:])
        return bare and ranks != (2, 2) and left.element in _BYTES and right.element in _BYTES

    def written(self, op: ir.Operation) -> list[ir.Value]:
        left, right = list(op.operands)[:2]
        made = op.results[0].type
        if torch.front_end_name(op) == _PRODUCT:
            return [_with_a_vector(left, right, made)]
        left, right = torch.converted(left, "si32"), torch.converted(right, "si32")
        ranks = [len(type_of(one).shape) for one in (left, right)]
        if min(ranks) == 1 and max(ranks) > 2:
            return [_with_a_vector(left, right, made)]
        return [torch.apply("aten.matmul", [left, right], made)]


def _with_a_vector(left: ir.Value, right: ir.Value, made: ir.Type) -> ir.Value:
    """A row in front, or a column behind: the dimension goes away again behind the product."""
    result, first, second = (torch.TensorType.of_type(one) for one in (made, left.type, right.type))
    assert result is not None and first is not None and second is not None  # `fits`
    if len(first.shape) == 1:
        row = torch.TensorType((1, *first.shape), first.element)
        left, at = torch.apply("aten.unsqueeze", [left, torch.integer(0)], row), len(result.shape) - 1
    else:
        column = torch.TensorType((*second.shape, 1), second.element)
        right, at = torch.apply("aten.unsqueeze", [right, torch.integer(1)], column), len(result.shape)
    sizes = (*result.shape[:at], 1, *result.shape[at:])
    product = torch.apply("aten.matmul", [left, right], torch.TensorType(sizes, result.element))
    return torch.apply("aten.squeeze.dim", [product, torch.integer(at)], made)
