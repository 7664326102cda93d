"""Takes an attention apart: two contractions and a softmax, each of which can be a dispatch of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect import BoundaryOp, place_of, register
from fissile.finding import Finding, ordered
from fissile.passes.analysis.structure import iterators_attribute, maps_attribute
from fissile.passes.definition import Contract, Pass, PassFailed, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS, NO_BOUNDARIES, NO_FISSILE_OPS

from .chosen_ops import chosen_ops
from .packed_words import Size, sizes_of
from .rebuilt_ops import copy_into, element_type

ATTENTION = "iree_linalg_ext.attention"
_INDEX = "iree_linalg_ext.index"
_YIELD = "iree_linalg_ext.yield"
_LEAST_F32 = -3.4028234663852886e38
"""Where maxima start, as IREE's own: a row that is masked as a whole is NaN either way."""


@register_pass
@dataclass(frozen=True)
class DecomposeAttention(Pass):
    """Replaces iree_linalg_ext.attention by scores, their row maxima, exponentials, row sums and weighted values.

    IREE 3.13 makes one dispatch of an attention, and SPIR-V code generation has no schedule for it: no Vulkan target
    takes one, of any size. ``ops`` chooses source ops by index; without it, all. With ``boundaries`` a
    `fissile.boundary` keeps the parts in dispatches of their own; without it dispatch creation may join them again.

    The scores, [batch, rows, columns], become a tensor, and so do bf16 operands in f32. All of it is computed in f32 (f64 for f64 operands) and rounded
    once to the result's type, where IREE rounds probabilities to the values' type too; exponentials are to the base e,
    not 2, and sums may be added up in another order.

    An attention whose operands are indexed by more than single loops, or whose region has an op without a counterpart,
    is FIS116.
    """

    name: ClassVar[str] = "fissile-decompose-attention"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "math", "tensor")
    contract: ClassVar[Contract] = Contract(
        requires=(DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS), invalidates=(NO_BOUNDARIES, NO_FISSILE_OPS)
    )
    ops: tuple[int, ...] = option((), "indices of the source ops to take apart; empty: every attention")
    boundaries: bool = option(True, "keep the parts in dispatches of their own")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        chosen = chosen_ops(op, self.ops, ATTENTION, self.name)
        if refused := [_refusal(o, why) for o in chosen if (why := why_not_decomposed(o))]:
            raise PassFailed(ordered(refused))
        register(op.context)
        for attention in chosen:
            decompose_attention(attention, self.boundaries)


def why_not_decomposed(op: ir.Operation) -> str:
    """Why ``op`` cannot be taken apart as an attention; empty where it can."""
    if op.name != ATTENTION:
        return "it is no attention"
    parts = _Parts(op)
    if not all(m.is_projected_permutation for m in parts.maps):
        return "an operand is indexed by more than single loops"
    if not all(isinstance(element_type(v.type), ir.FloatType) for v in (parts.query, parts.key, parts.value)):
        return "its operands are no floats"
    for inner in op.regions[0].blocks[0].operations:
        name = inner.operation.name
        if inner.operation.regions or name.startswith("iree_linalg_ext.") and name not in (_INDEX, _YIELD):
            return f"its region has {name}"
    return ""


class _Parts:
    """An attention's operands and loops by their roles: positions in ``maps`` are those of the operands."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        operands = list(op.operands)
        self.query, self.key, self.value, self.scale = operands[:4]
        self.mask = operands[4] if len(operands) == 6 else None
        self.maps = [ir.AffineMapAttr(m).value for m in op.attributes["indexing_maps"]]
        self.loops = [[ir.AffineDimExpr(r).position for r in m.results if isinstance(r, ir.AffineDimExpr)]
                      for m in self.maps]
        query, key, value, output = (set(self.loops[i]) for i in (0, 1, 2, -1))
        self.summed = (query & key) - output - value
        self.columns = (key & value) - output
        scored = (query | key) - self.summed
        self.scores = [d for d in sorted(scored) if d not in self.columns] + sorted(self.columns)
        """The loops of the scores, columns innermost."""
        self.rows = [d for d in self.scores if d not in self.columns]

    def sizes(self) -> dict[int, Size]:
        """The extent of each loop, read off the operands at the insertion point."""
        found: dict[int, Size] = {}
        for position, operand in ((0, self.query), (1, self.key), (2, self.value)):
            for loop, size in zip(self.loops[position], sizes_of(operand)):
                if not isinstance(found.get(loop), int):
                    found[loop] = size
        return found


def decompose_attention(op: ir.Operation, boundaries: bool = True) -> None:
    """Replaces the attention ``op``, for which `why_not_decomposed` is empty, in place."""
    parts = _Parts(op)
    wide = ir.F64Type.get(op.context) if str(element_type(parts.query.type)) == "f64" else ir.F32Type.get(op.context)

    def cut(value: ir.Value) -> ir.Value:
        return BoundaryOp(value).operation.results[0] if boundaries else value

    with ir.InsertionPoint(op), op.location:
        sizes = parts.sizes()
        build = _Builder(sizes, wide)

        def read(operand: ir.Value, loops: list[int]) -> tuple[ir.Value, list[int]]:
            """An operand of a contraction. IREE folds the extension of bf16 into the contraction, and SPIR-V has no bf16."""
            if str(element_type(operand.type)) == "bf16":
                operand = cut(build([(operand, loops)], loops, None, lambda x, _: x))
            return operand, loops

        query, key = read(parts.query, parts.loops[0]), read(parts.key, parts.loops[1])
        products = build([query, key], parts.scores, 0.0, lambda q, k, out: arith.addf(arith.mulf(q, k), out))
        given = [(products, parts.scores), (parts.scale, [])]
        if parts.mask is not None:
            given.append((parts.mask, parts.loops[4]))
        scores = cut(build(given, parts.scores, None, lambda *of: _score(parts, wide, *of[:-1])))
        largest = cut(build([(scores, parts.scores)], parts.rows, _LEAST_F32, arith.maximumf))
        powers = cut(build([(scores, parts.scores), (largest, parts.rows)], parts.scores, None,
                           lambda x, m, _: math.exp(arith.subf(x, m))))
        total = cut(build([(powers, parts.scores)], parts.rows, 0.0, arith.addf))
        value = read(parts.value, parts.loops[2])
        weighted = build([(powers, parts.scores), value], parts.loops[-1], 0.0,
                         lambda p, v, out: arith.addf(arith.mulf(p, v), out))
        result = element_type(op.results[0].type)
        quotient = build([(weighted, parts.loops[-1]), (total, parts.rows)], parts.loops[-1], None,
                         lambda x, s, _: _converted(arith.divf(x, s), result), result)
    op.results[0].replace_all_uses_with(quotient)
    op.erase()


class _Builder:
    """Builds generic ops from operands with the attention's loops that index them; floats enter bodies as ``wide``."""

    def __init__(self, sizes: dict[int, Size], wide: ir.Type) -> None:
        self._sizes = sizes
        self._wide = wide

    def __call__(self, inputs: Sequence[tuple[ir.Value, Sequence[int]]], loops: Sequence[int], start: float | None,
                 body: Callable[..., ir.Value], result: ir.Type | None = None) -> ir.Value:
        """A tensor indexed by ``loops``, summed or maximised over the others from ``start`` on (None: there are none)."""
        result = result or self._wide
        used = [*loops, *sorted({d for _, own in inputs for d in own} - set(loops))]
        position = {loop: i for i, loop in enumerate(used)}
        maps = [
            ir.AffineMap.get(len(used), 0, [ir.AffineDimExpr.get(position[d]) for d in own])
            for own in (*(own for _, own in inputs), loops)
        ]
        init = tensor.EmptyOp([self._sizes[d] for d in loops], result).result
        if start is not None:
            init = linalg.fill(arith.constant(result, start), outs=[init])
        values = [value for value, _ in inputs]
        op = linalg.GenericOp([init.type], values, [init], maps_attribute(maps),
                              iterators_attribute([d in loops for d in used]))
        block = op.regions[0].blocks.append(*[element_type(v.type) for v in (*values, init)])
        with ir.InsertionPoint(block):
            taken = [_converted(a, self._wide) if isinstance(a.type, ir.FloatType) else a for a in block.arguments[:-1]]
            linalg.YieldOp([body(*taken, block.arguments[-1])])
        return op.results[0]


def _score(parts: _Parts, wide: ir.Type, product: ir.Value, scale: ir.Value, mask: ir.Value | None = None) -> ir.Value:
    """One score: scaled, through the op's region, masked."""
    region = parts.op.regions[0].blocks[0]
    scaled = arith.mulf(product, scale)
    values = {argument: _converted(scaled, argument.type) for argument in region.arguments}
    *inside, last = [inner.operation for inner in region.operations]
    for inner in inside:
        if inner.name == _INDEX:
            loop = parts.scores.index(ir.IntegerAttr(inner.attributes["dim"]).value)
            values[inner.results[0]] = linalg.IndexOp(loop).result
        else:
            copy_into(inner, values)
    yielded = last.operands[0]
    score = _converted(values.get(yielded, yielded), wide)
    if mask is None:
        return score
    if isinstance(mask.type, ir.FloatType):
        return arith.addf(score, mask)
    boolean = ir.IntegerType.get_signless(1)
    kept = mask if mask.type == boolean else arith.trunci(boolean, mask)
    return arith.select(kept, score, arith.constant(wide, float("-inf")))


def _converted(value: ir.Value, kind: ir.Type) -> ir.Value:
    """A float of another float type."""
    if value.type == kind:
        return value
    wider = ir.FloatType(kind).width > ir.FloatType(value.type).width
    return (arith.extf if wider else arith.truncf)(kind, value)


def _refusal(op: ir.Operation, why: str) -> Finding:
    place = place_of(op)
    return Finding("FIS116", f"{op.name} cannot be taken apart as an attention: {why}", subject=op.name,
                   places=(place,) if place else ())
