"""Coordinate grids of PyTorch as broadcasts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import inserted, size_of, type_of
from ..torch_ops import TensorType, apply

_UNPACK, _LIST = "torch.prim.ListUnpack", "torch.prim.ListConstruct"
_GRIDS = {"aten.meshgrid": 1, "aten.meshgrid.indexing": 2}
_COLUMNS_FIRST = "xy"


@register_pass
@dataclass(frozen=True)
class ExpandGrids(FrontEndRemedy):
    """Writes the tensors of an `aten.meshgrid` as `aten.broadcast_to` of its operands, which have one dimension each.

    IREE 3.13 has no lowering for it. Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-expand-grids"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "replaces `aten.meshgrid` with broadcasts of its operands (in the input)"
    repairs: ClassVar[str] = "`aten.meshgrid`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as broadcasts"
    advice: ClassVar[str] = "rewrite it as broadcasts"
    candidates: ClassVar[tuple[str, ...]] = (_UNPACK,)

    def shown(self, op: ir.Operation) -> ir.Operation:
        return op.operands[0].owner

    def fits(self, op: ir.Operation) -> bool:
        grid = op.operands[0].owner
        if isinstance(grid, ir.Block) or _GRIDS.get(torch.front_end_name(grid)) != len(grid.operands):
            return False
        listed = grid.operands[0].owner
        if isinstance(listed, ir.Block) or listed.name != _LIST or len(listed.operands) != len(op.results):
            return False
        if len(grid.operands) == 2 and torch.string_of(grid.operands[1]) not in ("ij", _COLUMNS_FIRST):
            return False
        given = [TensorType.of(value) for value in listed.operands]
        made = [TensorType.of(value) for value in op.results]
        return all(one is not None and len(one.shape) == 1 for one in given) and all(
            one is not None and len(one.shape) == len(given) for one in made
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        grid = op.operands[0].owner
        values = list(grid.operands[0].owner.operands)
        axes = list(range(len(values)))
        if len(grid.operands) == 2 and torch.string_of(grid.operands[1]) == _COLUMNS_FIRST:
            axes[:2] = axes[:2][::-1]
        sizes = [size_of(values[axes.index(dim)], 0) for dim in range(len(values))]
        shape = torch.listed(sizes)
        found = []
        for value, axis, result in zip(values, axes, op.results, strict=True):
            for dim in range(len(values)):
                if dim != axis:
                    value = inserted(value, dim)
            made = TensorType(type_of(result).shape, type_of(value).element)
            found.append(torch.cast(apply("aten.broadcast_to", [value, shape], made), result.type))
        return found

    def replace(self, found: Iterable[ir.Operation]) -> None:
        """The grids go as well: IREE does not know that they have no effect."""
        found = list(found)
        grids = [op.operands[0].owner for op in found]
        super().replace(found)
        for grid in dict.fromkeys(grids):
            if not any(True for _use in grid.results[0].uses):
                grid.erase()
