"""Broadcasts that only reorder dimensions, as the transposes that they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.passes.analysis.imports.misread_broadcasts import broadcast_dims, is_misread
from fissile.passes.analysis.imports.stablehlo_ops import BROADCAST, DYNAMIC_BROADCAST
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FRONT_END_OP, FrontEndRemedy
from .values import transposed


@register_pass
@dataclass(frozen=True)
class OrderBroadcastDims(FrontEndRemedy):
    """Writes a `stablehlo.broadcast_in_dim` that only reorders dimensions as the `stablehlo.transpose` that it is.

    IREE 3.13 does the same and takes the inverse permutation. It rejects the program if the sizes do not match then, and computes
    wrong numbers if they do. A permutation that is its own inverse stays. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-order-broadcast-dims"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS154")
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (BROADCAST, DYNAMIC_BROADCAST)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "tensor")
    does: ClassVar[str] = (
        "replaces a `stablehlo.broadcast_in_dim` that only reorders dimensions by `stablehlo.transpose` (in the input)"
    )
    repairs: ClassVar[str] = (
        "such a broadcast, which IREE takes for the inverse transpose: wrong numbers on every target (FIS154), or an error (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "rewrote the broadcast as a transpose"
    advice: ClassVar[str] = "rewrite the broadcast as a transpose"

    def fits(self, op: ir.Operation) -> bool:
        return is_misread(op)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        dims = broadcast_dims(op)
        value = transposed(op.operands[0], [dims.index(dim) for dim in range(len(dims))])
        wanted = op.results[0].type
        return [value if value.type == wanted else tensor.CastOp(wanted, value).result]
