"""Normalisations of ONNX by the root of the mean of the squares, as mean, root and product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.unknown_sizes import number, real
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import broadcast_shape, type_of
from ..torch_ops import TensorType, apply


@register_pass
@dataclass(frozen=True)
class ScaleRoots(FrontEndRemedy):
    """Writes `onnx.RMSNormalization` as the mean of the squares, the inverse of its root, and two products.

    IREE 3.13 has no lowering for it. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-scale-roots"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "writes `onnx.RMSNormalization` as the mean of the squares, the inverse of its root, and products (in the input)"
    )
    repairs: ClassVar[str] = (
        "normalisations by the root of the mean of the squares, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "wrote it as the mean of the squares, a root and products"
    advice: ClassVar[str] = "write it as the mean of the squares, a root and products"

    def fits(self, op: ir.Operation) -> bool:
        if (
            torch.front_end_name(op) != "onnx.RMSNormalization"
            or len(op.operands) != 2
            or len(op.results) != 1
        ):
            return False
        given, scale = (TensorType.of(value) for value in op.operands)
        if given is None or scale is None or not given.shape or given.element not in torch.FLOATS:
            return False
        if scale.element not in torch.FLOATS or len(scale.shape) > len(given.shape):
            return False
        rank = len(given.shape)
        return number(op, "stash_type", 1) == 1 and -rank <= number(op, "axis", -1) < rank

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, scale = op.operands
        given, rank = type_of(value), len(type_of(value).shape)
        axes = list(range(number(op, "axis", -1) % rank, rank))
        wide = torch.converted(value, "f32")
        type_ = type_of(wide)
        row = TensorType(tuple(1 if dim in axes else size for dim, size in enumerate(given.shape)), "f32")
        square = apply("aten.mul.Tensor", [wide, wide], type_)
        over = [torch.integers(axes), torch.boolean(True), torch.none()]
        mean = apply("aten.mean.dim", [square, *over], row)
        epsilon = torch.real(real(op, "epsilon", 1e-5))
        mean = apply("aten.add.Scalar", [mean, epsilon, torch.integer(1)], row)
        root = apply("aten.rsqrt", [mean], row)
        normal = torch.converted(apply("aten.mul.Tensor", [wide, root], type_), type_of(scale).element)
        shape = broadcast_shape([given.shape, type_of(scale).shape])
        made = apply("aten.mul.Tensor", [normal, scale], TensorType(shape, type_of(scale).element))
        result = TensorType.of(op.results[0])
        element = given.element if result is None else result.element
        return [torch.cast(torch.converted(made, element), op.results[0].type)]
