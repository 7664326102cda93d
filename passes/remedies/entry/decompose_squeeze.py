"""Several dimensions of size 1, taken off one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

_NAMES = ("aten.squeeze.dims", "aten.squeeze_copy.dims")


@register_pass
@dataclass(frozen=True)
class DecomposeSqueeze(FrontEndRemedy):
    """Writes `aten.squeeze.dims` as one `aten.squeeze.dim` for each of its dimensions, the last first.

    The torch dialect of IREE 3.13 has no `aten.squeeze.dims`, in which PyTorch's own decompositions of recurrent layers, `logsumexp` and
    `quantile` end. A dimension of another size than 1 stays, as torch defines it; one of unknown size is left to IREE. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-squeeze"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.squeeze.dims` with one `aten.squeeze.dim` per dimension (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.squeeze.dims`, which IREE rejects and exported recurrent layers use (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as one squeeze per dimension"
    advice: ClassVar[str] = "rewrite it as one squeeze per dimension"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _NAMES or len(op.operands) != 2:
            return False
        type_, dims = torch.TensorType.of(op.operands[0]), torch.integers_of(op.operands[1])
        if type_ is None or dims is None:
            return False
        rank = len(type_.shape)
        return all(-rank <= dim < rank and type_.shape[dim] is not None for dim in dims)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, dims = op.operands[0], torch.integers_of(op.operands[1])
        type_ = torch.TensorType.of(value)
        assert type_ is not None and dims is not None
        rank = len(type_.shape)
        for dim in sorted({dim % rank for dim in dims}, reverse=True):
            if type_.shape[dim] == 1:
                type_ = torch.TensorType((*type_.shape[:dim], *type_.shape[dim + 1 :]), type_.element)
                value = torch.apply("aten.squeeze.dim", [value, torch.integer(dim)], type_)
        return [torch.cast(value, op.results[0].type)]
