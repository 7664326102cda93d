"""Weights that are given as a direction and a length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_RESULTS = {"aten._weight_norm": 1, "aten._weight_norm_interface": 2}
"""How many results each has: the second one, of which autograd makes a gradient, is the norm."""


@register_pass
@dataclass(frozen=True)
class ScaleDirections(FrontEndRemedy):
    """Writes `aten._weight_norm`(v, g, dim), and `_weight_norm_interface`, which autograd calls, as v * (g / |v|).

    The norm is over all dimensions but ``dim`` (-1: over all).
    `torch.nn.utils.parametrizations.weight_norm` computes its weight by it. IREE 3.13 has no lowering for them. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-scale-directions"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `aten._weight_norm` and `_weight_norm_interface` with a norm, a quotient and a product (in the input)"
    )
    repairs: ClassVar[str] = "`aten._weight_norm`, which IREE rejects and speech models use (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as the direction times the length"
    advice: ClassVar[str] = "rewrite it as the direction times the length"

    def fits(self, op: ir.Operation) -> bool:
        if len(op.operands) != 3 or len(op.results) != _RESULTS.get(torch.front_end_name(op)):
            return False
        types = [TensorType.of(value) for value in (*op.operands[:2], *op.results)]
        dim, elements = torch.integer_of(op.operands[2]), {type_.element if type_ else "" for type_ in types}
        if dim is None or types[0] is None or len(elements) != 1 or not elements <= torch.FLOATS.keys():
            return False
        return -1 <= dim < len(types[0].shape)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        direction, length, dim = op.operands[0], op.operands[1], torch.integer_of(op.operands[2])
        type_ = TensorType.of(direction)
        assert type_ is not None
        over = [i for i in range(len(type_.shape)) if i != dim]
        kept = TensorType(tuple(n if i == dim else 1 for i, n in enumerate(type_.shape)), type_.element)
        square = apply("aten.mul.Tensor", [direction, direction], type_)
        terms = [torch.integers(over), torch.boolean(True), torch.none()]
        norm = apply("aten.sqrt", [apply("aten.sum.dim_IntList", [square, *terms], kept)], kept)
        scale = apply("aten.div.Tensor", [length, norm], kept)
        found = [apply("aten.mul.Tensor", [direction, scale], type_), norm]
        return [torch.cast(value, result.type) for value, result in zip(found, op.results, strict=False)]
