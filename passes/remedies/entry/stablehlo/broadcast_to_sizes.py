"""Broadcasts to shapes that are operands, written with ops of linalg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.imports.stablehlo_ops import (
    DYNAMIC_BROADCAST,
    element_of,
    has_static_shape,
    shape_of,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from .sizes import UNKNOWN, Size, sizes_in
from .values import bits_as, signless, without_sign


@register_pass
@dataclass(frozen=True)
class BroadcastToSizes(FrontEndRemedy):
    """Writes `stablehlo.dynamic_broadcast_in_dim` as `linalg.generic`.

    IREE 3.13 lowers it only where it knows of each dimension of the operand whether it is 1, or where the shape turns out to be a constant. A
    dimension of unknown size is taken to be that of the result: the storage guard proves it, or checks it at run time. Run it on the program
    as it was imported.
    """

    name: ClassVar[str] = "fissile-broadcast-to-sizes"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (DYNAMIC_BROADCAST,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "tensor", "arith", "linalg")
    does: ClassVar[str] = "replaces `stablehlo.dynamic_broadcast_in_dim` by `linalg.generic` (in the input)"
    repairs: ClassVar[str] = "broadcasts to sizes of the call, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = (
        "bit-identical; a call that would repeat the one element of a dimension of unknown size ends with an error"
    )
    done: ClassVar[str] = "rewrote it with ops of linalg"
    advice: ClassVar[str] = "rewrite it with ops of linalg"

    def fits(self, op: ir.Operation) -> bool:
        return not has_static_shape(op.results[0].type)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        element = element_of(op.results[0])
        sizes = _of_result(op, sizes_in(op.operands[1]))
        return [bits_as(_repeated(op, tensor.EmptyOp(sizes, signless(element)).result), element)]


def _of_result(op: ir.Operation, sizes: list[Size]) -> list[Size]:
    """``sizes``, or those that the type of the result states."""
    stated = shape_of(op.results[0])
    return [size if one == UNKNOWN else one for one, size in zip(stated, sizes, strict=True)]


def _repeated(op: ir.Operation, empty: ir.Value) -> ir.Value:
    given, rank = without_sign(op.operands[0]), ir.RankedTensorType(empty.type).rank
    dims = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    stated = shape_of(op.results[0])
    where = [
        ir.AffineConstantExpr.get(0) if size == 1 and stated[dim] != 1 else ir.AffineDimExpr.get(dim)
        for size, dim in zip(shape_of(given), dims, strict=True)
    ]
    maps = [ir.AffineMap.get(rank, 0, where), ir.AffineMap.get_identity(rank)]
    generic, block = build_generic([given], [empty], maps, [True] * rank)
    with ir.InsertionPoint(block):
        linalg.YieldOp([block.arguments[0]])
    return generic.results[0]
