"""Products of groups of rows with a matrix each, as one product: the experts of a mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_NAMES = {"aten._grouped_mm": 5, "transformers.grouped_mm_fallback": 3}
"""PyTorch's op and that of transformers (5.x) -> their operands: rows, matrices, the ends of the groups; a bias and a type, both absent."""


@register_pass
@dataclass(frozen=True)
class GroupProducts(FrontEndRemedy):
    """Writes a product of sorted rows with the matrix of their group, as mixtures of experts have it, as one matrix product.

    Row s of the first operand stands in the product as G * K elements, of which those of its group are the row and all others 0; the
    matrices are stacked. It costs G times the arithmetic, and no index depends on the data. Rows behind the last group are 0. The number of
    groups is known, and all types are the same. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-group-products"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `transformers.grouped_mm_fallback` and `aten._grouped_mm` with one matrix product over masked rows (in the input)"
    )
    repairs: ClassVar[str] = "the experts of exported mixture-of-experts models, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different summation order; NaN where another group's matrix is not finite"
    done: ClassVar[str] = "rewrote it as one matrix product over masked rows"
    advice: ClassVar[str] = "rewrite it as one matrix product over masked rows"

    def fits(self, op: ir.Operation) -> bool:
        if _NAMES.get(torch.front_end_name(op)) != len(op.operands) or len(op.results) != 1:
            return False
        rows, matrices, ends = (TensorType.of(value) for value in op.operands[:3])
        made = TensorType.of(op.results[0])
        if rows is None or matrices is None or ends is None or made is None:
            return False
        if not all(torch.is_none(value) for value in op.operands[3:]):
            return False
        if (len(rows.shape), len(matrices.shape), len(ends.shape)) != (2, 3, 1):
            return False
        if {
            rows.element,
            matrices.element,
            made.element,
        } - torch.FLOATS.keys() or rows.element != made.element:
            return False
        known = (rows.shape[1], *matrices.shape, *ends.shape)
        return rows.element == matrices.element and None not in known and ends.element in ("si32", "si64")

    def written(self, op: ir.Operation) -> list[ir.Value]:
        x, matrices, ends = op.operands[:3]
        of_x, of_matrices, of_ends = (TensorType.of(value) for value in (x, matrices, ends))
        assert of_x is not None and of_matrices is not None and of_ends is not None
        (rows, terms), (groups, _terms, columns) = of_x.shape, of_matrices.shape
        assert terms is not None and groups is not None
        row = _numbered(x, of_ends.element)
        behind = apply("aten.ge.Tensor", [row, ends], TensorType((rows, groups), "i1"))
        one = [torch.integers([1]), torch.boolean(True), torch.none()]
        group = apply("aten.sum.dim_IntList", [behind, *one], TensorType((rows, 1), "si64"))
        number = torch.table(np.arange(groups, dtype=np.int64))
        mine = apply("aten.eq.Tensor", [group, number], TensorType((rows, groups), "i1"))
        mine = apply("aten.unsqueeze", [mine, torch.integer(2)], TensorType((rows, groups, 1), "i1"))
        wide = apply("aten.unsqueeze", [x, torch.integer(1)], TensorType((rows, 1, terms), of_x.element))
        masked = apply(
            "aten.where.ScalarOther",
            [mine, wide, torch.real(0.0)],
            TensorType((rows, groups, terms), of_x.element),
        )
        flat = [
            apply(
                "aten.flatten.using_ints",
                [value, torch.integer(dim), torch.integer(dim + 1)],
                TensorType(shape, of_x.element),
            )
            for value, dim, shape in (
                (masked, 1, (rows, groups * terms)),
                (matrices, 0, (groups * terms, columns)),
            )
        ]
        product = apply("aten.mm", flat, TensorType((rows, columns), of_x.element))
        return [torch.cast(product, op.results[0].type)]


def _numbered(x: ir.Value, element: str) -> ir.Value:
    """0, 1, … for each row of ``x``, one below the other."""
    of_x = TensorType.of(x)
    assert of_x is not None
    rows = of_x.shape[0]
    if rows is not None:
        integers = np.int64 if element == "si64" else np.int32
        return torch.table(np.arange(rows, dtype=integers).reshape(rows, 1))
    kind = [torch.integer(torch.NUMBERS[element]), *[torch.none()] * 3]
    line = apply("aten.arange", [torch.size(x, 0), *kind], TensorType((None,), element))
    return apply("aten.unsqueeze", [line, torch.integer(1)], TensorType((None, 1), element))
