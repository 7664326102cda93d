"""Elements of ONNX that an index raises or lowers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.unknown_sizes import number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import INDICES, from_front, size_of

_REDUCTIONS = {"max": "amax", "min": "amin"}
_ELEMENTS = (*torch.FLOATS, "si8", "si32", "si64")


@register_pass
@dataclass(frozen=True)
class ScatterExtremes(FrontEndRemedy):
    """Writes an `onnx.ScatterElements` with reduction = max or min as `aten.scatter_reduce`, with indices that count from the front.

    IREE 3.13 lowers the reductions add and mul of ONNX's op alone. Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-scatter-extremes"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes an `onnx.ScatterElements` with reduction = max or min as `aten.scatter_reduce` (in the input)"
    )
    repairs: ClassVar[str] = "such scatters, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as torch.scatter_reduce"
    advice: ClassVar[str] = "rewrite it as torch.scatter_reduce"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.ScatterElements" or len(op.operands) != 3:
            return False
        value, index, update = (torch.TensorType.of(one) for one in op.operands)
        if len(op.results) != 1 or value is None or index is None or update is None or not value.shape:
            return False
        if text_of(op, "torch.onnx.reduction") not in _REDUCTIONS or index.element not in INDICES:
            return False
        ranks = {len(one.shape) for one in (value, index, update)}
        return len(ranks) == 1 and value.element == update.element and value.element in _ELEMENTS

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, index, update = op.operands
        type_ = torch.TensorType.of(value)
        assert type_ is not None  # `fits`
        axis = number(op, "axis", 0) % len(type_.shape)
        index = from_front(torch.converted(index, "si64"), size_of(value, axis))
        kind = torch.string(_REDUCTIONS[text_of(op, "torch.onnx.reduction")])
        operands = [value, torch.integer(axis), index, update, kind, torch.boolean(True)]
        return [torch.apply("aten.scatter_reduce.two", operands, op.results[0].type)]
