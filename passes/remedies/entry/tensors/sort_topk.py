"""The largest elements in any order, as those in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class SortTopk(FrontEndRemedy):
    """Writes `aten.topk` with sorted=false, whose order PyTorch leaves open, as that with sorted=true.

    IREE 3.13 lowers the sorted form alone. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-sort-topk"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "replaces `aten.topk` with sorted=false with the sorted form (in the input)"
    repairs: ClassVar[str] = (
        "`aten.topk` with sorted=false, which IREE rejects and routers of experts use (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical; the order, which PyTorch leaves open, is the sorted one"
    done: ClassVar[str] = "took the sorted form"
    advice: ClassVar[str] = "take the sorted form"

    def fits(self, op: ir.Operation) -> bool:
        is_topk = torch.front_end_name(op) == "aten.topk" and len(op.operands) == 5
        return is_topk and torch.boolean_of(op.operands[4]) is False

    def written(self, op: ir.Operation) -> list[ir.Value]:
        operands = [*op.operands[:4], torch.boolean(True)]
        types = [result.type for result in op.results]
        return list(ir.Operation.create("torch.aten.topk", results=types, operands=operands).results)
