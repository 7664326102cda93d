"""What is each operand and each loop of an attention for?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

ATTENTION = iree_ops.LINALG_EXT_ATTENTION
ONLINE_ATTENTION = iree_ops.LINALG_EXT_ONLINE_ATTENTION
ATTENTIONS = (ATTENTION, ONLINE_ATTENTION)
INDEX = iree_ops.LINALG_EXT_INDEX

_INPUTS = ("query", "key", "value", "scale")
_INITS = {ATTENTION: ("output",), ONLINE_ATTENTION: ("output", "max", "sum")}


@dataclass(frozen=True)
class AttentionRoles:
    """The operands of ``op``, one of `ATTENTIONS`, by the names of IREE's op definition (3.13: query, key, value, scale, an
    optional mask, output, and for the online form max and sum), and its loops by what they are for.
    """

    op: ir.Operation

    @cached_property
    def operands(self) -> dict[str, ir.Value]:
        """By name; without a mask where the op has none."""
        return dict(zip(self._names, self.op.operands, strict=True))

    @cached_property
    def maps(self) -> dict[str, ir.AffineMap]:
        """By operand's name: from loops to the position of an element."""
        return dict(
            zip(
                self._names,
                (ir.AffineMapAttr(m).value for m in self.op.attributes["indexing_maps"]),
                strict=True,
            )
        )

    @cached_property
    def _names(self) -> tuple[str, ...]:
        inits = _INITS[self.op.name]
        mask = ("mask",) if len(self.op.operands) > len(_INPUTS) + len(inits) else ()
        return (*_INPUTS, *mask, *inits)

    def loops_of(self, name: str) -> list[int]:
        """The loops that index an operand one by one, in the order of its dimensions."""
        return [
            ir.AffineDimExpr(r).position for r in self.maps[name].results if isinstance(r, ir.AffineDimExpr)
        ]

    @cached_property
    def _sets(self) -> tuple[set[int], ...]:
        return tuple(set(self.loops_of(name)) for name in ("query", "key", "value", "output"))

    @cached_property
    def batch(self) -> list[int]:
        query, key, value, output = self._sets
        return sorted(query & value | key & output)

    @cached_property
    def summed(self) -> list[int]:
        """Loops over the head dimension: a score is a sum over them (IREE: K1)."""
        query, key, _value, _output = self._sets
        return sorted((query & key) - set(self.batch))

    @cached_property
    def columns(self) -> list[int]:
        """Loops over the keys: a softmax is over them (IREE: K2)."""
        return sorted(self._sets[1] - set(self.batch) - set(self.summed))

    @cached_property
    def rows(self) -> list[int]:
        """Loops with a softmax of their own, batches first (IREE: B and M)."""
        return [*self.batch, *sorted(self._sets[0] - set(self.batch) - set(self.summed))]

    @cached_property
    def scores(self) -> list[int]:
        """The loops of the scores, in the order in which `iree_linalg_ext.index` counts them: IREE's decomposition makes
        `linalg.index` of it, on a tensor of the scores (AttentionOpDetail::getSMap)."""
        return [*self.rows, *self.columns]

    @cached_property
    def indices(self) -> list[ir.Operation]:
        """The ops of the region that read a loop's index."""
        inside = (inner.operation for inner in self.op.regions[0].blocks[0].operations)
        return [inner for inner in inside if inner.name == INDEX]

    def extent(self, loop: int) -> int | None:
        """How often ``loop`` runs, read off the operands; None where that is dynamic."""
        for name in ("query", "key", "value", "output"):
            shaped_type = ir.ShapedType(self.operands[name].type)
            for dimension, other in enumerate(self.loops_of(name)):
                if other == loop and not shaped_type.is_dynamic_dim(dimension):
                    return shaped_type.get_dim_size(dimension)
        return None


def index_position(op: ir.Operation) -> int:
    """Which of `AttentionRoles.scores` the `iree_linalg_ext.index` ``op`` reads."""
    return ir.IntegerAttr(op.attributes["dim"]).value


def attentions_in(op: ir.Operation, names: Sequence[str] = ATTENTIONS) -> list[ir.Operation]:
    """Every attention inside of ``op``, in program order."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name in names:
            found.append(inner)
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
