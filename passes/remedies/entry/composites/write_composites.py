"""Ops that PyTorch defines by others, written so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType
from .bags import BAGS
from .choices import CHOICES
from .layers import LAYERS
from .orders import ORDERS
from .products import PRODUCTS
from .signals import SIGNALS
from .special import SPECIAL
from .statistics import STATISTICS

_WRITTEN = {**BAGS, **CHOICES, **LAYERS, **ORDERS, **PRODUCTS, **SIGNALS, **SPECIAL, **STATISTICS}


@register_pass
@dataclass(frozen=True)
class WriteComposites(FrontEndRemedy):
    """Writes products of vectors and matrices, distances, choices, statistics, sorts, layers, signals and special functions by the ops that define them.

    The torch dialect of IREE 3.13 has no name for them (`torch.operator "torch.aten.addmv"`), or no lowering. 16-bit floats are computed in f32,
    as PyTorch does; ranks are known, sizes may be dynamic where nothing else is noted. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-write-composites"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.addmv`, `cdist`, `kron`, `nansum`, `std_mean`, `quantile`, `embedding_bag`, `istft`, `lgamma`, `erfc` and others with the ops that define them (in the input)"
    )
    repairs: ClassVar[str] = (
        "products of vectors, distances, statistics, bags of embeddings, inverse transforms of signals, and special functions of PyTorch, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "sums may be reordered; special functions to the precision of f32"
    done: ClassVar[str] = "wrote it with the ops that define it"
    advice: ClassVar[str] = "write it with the ops that define it"

    def fits(self, op: ir.Operation) -> bool:
        composite = _WRITTEN.get(torch.front_end_name(op))
        if composite is None or len(op.operands) != composite.operands:
            return False
        types = [TensorType.of(one) for one in (*op.operands, *op.results)]
        given = [one for one in types if one is not None]
        if any(one is None for one in types[len(op.operands) :]) or not given:
            return False
        made = {one.element for one in types[len(op.operands) :] if one is not None}
        allowed = {
            *torch.FLOATS,
            *(torch.INTEGERS if composite.integers and made <= torch.FLOATS.keys() else ()),
        }
        known = not composite.floats or {one.element for one in given} <= allowed
        return known and composite.fits(op)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = _WRITTEN[torch.front_end_name(op)].written(op)
        return [one.as_result(result) for one, result in zip(made, op.results, strict=True)]
