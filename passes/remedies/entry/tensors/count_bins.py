"""Histograms of torch as comparisons with the numbers of the bins."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_FLOAT = 6
"""PyTorch's number of the type f32."""


@register_pass
@dataclass(frozen=True)
class CountBins(FrontEndRemedy):
    """Writes `aten.histc` of f32 as the number of elements whose bin is 0, 1, and so on.

    Elements outside of the range and NaN are not counted, and the range's end belongs to the last bin, as PyTorch has it. Bins and range are
    known, and the range is not empty. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-count-bins"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "replaces `aten.histc` with comparisons and sums (in the input)"
    repairs: ClassVar[str] = (
        "`aten.histc`, which IREE rejects and mixtures of experts count their rows with (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as comparisons and a sum"
    advice: ClassVar[str] = "rewrite it as comparisons and a sum"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.histc" or len(op.operands) != 4 or len(op.results) != 1:
            return False
        types = [TensorType.of(op.operands[0]), TensorType.of(op.results[0])]
        bins, low, high = torch.integer_of(op.operands[1]), *map(torch.number_of, op.operands[2:])
        if any(type_ is None or type_.element != "f32" for type_ in types) or bins is None:
            return False
        return bins > 0 and low is not None and high is not None and low < high

    def written(self, op: ir.Operation) -> list[ir.Value]:
        x, of_x = op.operands[0], TensorType.of(op.operands[0])
        bins, low, high = torch.integer_of(op.operands[1]), *map(torch.number_of, op.operands[2:])
        assert of_x is not None and bins is not None and low is not None and high is not None
        sizes = [one for one in of_x.shape if one is not None]
        size = prod(sizes) if len(sizes) == len(of_x.shape) else None
        if len(of_x.shape) != 1:
            ends = [torch.integer(0), torch.integer(-1)]
            x = apply("aten.flatten.using_ints", [x, *ends], TensorType((size,), "f32"))
        flat = TensorType((size,), "f32")
        place = apply("aten.sub.Scalar", [x, torch.real(low), torch.integer(1)], flat)
        place = apply("aten.div.Scalar", [place, torch.real(high - low)], flat)
        place = apply("aten.floor", [apply("aten.mul.Scalar", [place, torch.real(float(bins))], flat)], flat)
        place = apply("aten.clamp", [place, torch.none(), torch.real(float(bins - 1))], flat)
        counted = apply("aten.le.Scalar", [x, torch.real(high)], TensorType((size,), "i1"))
        outside = torch.real(-1.0)
        place = apply("aten.where.ScalarOther", [counted, place, outside], flat)
        column = apply("aten.unsqueeze", [place, torch.integer(1)], TensorType((size, 1), "f32"))
        same = apply("aten.eq.Tensor", [column, torch.table(np.arange(bins))], TensorType((size, bins), "i1"))
        over = [torch.integers([0]), torch.boolean(False), torch.none()]
        count = apply("aten.sum.dim_IntList", [same, *over], TensorType((bins,), "si64"))
        made = TensorType((bins,), "f32")
        return [
            torch.cast(
                apply("prims.convert_element_type", [count, torch.integer(_FLOAT)], made), op.results[0].type
            )
        ]
