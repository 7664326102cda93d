"""Adds up a long row in parts, by many threads, and then the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isqrt, prod
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import affine, arith, tensor

from fissile.dialect import BoundaryOp, linalg_ops as linalg, place_of, register
from fissile.finding import Finding, ordered
from fissile.passes.analysis.provenance import source_ops
from fissile.passes.analysis.structure import Structure, iterators_attribute, loop_extents, maps_attribute, structure_of
from fissile.passes.definition import Contract, Pass, PassFailed, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS, NO_BOUNDARIES, NO_FISSILE_OPS

from .chosen_ops import check_indices
from .decompose_softmax import SOFTMAX, decompose_softmax
from .packed_words import sizes_of
from .rebuilt_ops import copy_into, element_type

LONG = 4096
"""Steps of one reduction from which on the pass splits it by itself."""
STILL_LONG = 8 * LONG
"""Steps from which on a part is split once more."""

_ZERO, _ONE, _ALL, _LEAST, _MOST = "zero", "one", "all bits", "least", "most"
NEUTRAL = {
    "arith.addf": _ZERO, "arith.addi": _ZERO, "arith.ori": _ZERO, "arith.xori": _ZERO, "arith.mulf": _ONE, "arith.muli": _ONE,
    "arith.andi": _ALL, "arith.maximumf": _LEAST, "arith.maxnumf": _LEAST, "arith.maxsi": _LEAST, "arith.maxui": _ZERO,
    "arith.minimumf": _MOST, "arith.minnumf": _MOST, "arith.minsi": _MOST, "arith.minui": _ALL,
}
"""Ops that combine a sum so far with the next term, and what a part starts from."""


@register_pass
@dataclass(frozen=True)
class SplitReductions(Pass):
    """Splits a reduction's longest loop into parts that are computed beside each other, and adds the parts up behind boundaries.

    IREE 3.13 gives whole rows to single threads on SPIR-V where it has no other schedule (default Vulkan: always): slow everywhere,
    and wrong where a driver ends a loop (lavapipe, after 65535 iterations). A loop of N steps becomes P sums of N / P steps and one of P, P being the largest power
    of two below the root of N; what N / P leaves over is added first. A softmax is taken apart before. ``ops`` chooses source
    ops by index; without it, all with 4096 steps or more.

    The same terms, added in another order: in floats the result differs by roundings, and is closer to the exact sum, since P + N / P
    roundings follow each other instead of N. Integers, minima and maxima are equal in every bit. A window's loop (a pooling of a whole
    image) is split as any other. An op that cannot be split (a dynamic loop, a combination that has no neutral element) is FIS116.
    """

    name: ClassVar[str] = "fissile-split-reductions"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "arith", "linalg", "math", "tensor")
    contract: ClassVar[Contract] = Contract(
        requires=(DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS), invalidates=(NO_BOUNDARIES, NO_FISSILE_OPS)
    )
    ops: tuple[int, ...] = option((), "indices of the source ops to split; empty: every long reduction")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        chosen = [known[i] for i in dict.fromkeys(self.ops)] or [o for o in known if worth_splitting(o)]
        if refused := [_refusal(o, why) for o in chosen if (why := why_not_split(o))]:
            raise PassFailed(ordered(refused))
        register(op.context)
        split_reductions(chosen)


def worth_splitting(op: ir.Operation) -> bool:
    """Whether ``op`` can be split and has many steps."""
    return not why_not_split(op) and _steps(op) >= LONG


def why_not_split(op: ir.Operation) -> str:
    """Why ``op`` cannot be computed in parts; empty where it can."""
    if op.name == SOFTMAX:
        return "" if _steps(op) > 1 else "its rows are of dynamic size"
    structure = structure_of(op)
    if structure is None:
        return "it has no body"
    if structure.all_parallel:
        return "it does not reduce"
    if _split_loop(op, structure) is None:
        return "no loop of its sum has a size that is known"
    if any(not m.is_projected_permutation for m in structure.maps[-len(op.results):]):
        return "its result is indexed by more than its loops"
    if not all(_combiners(op)):
        return "its terms are not combined by an op with a neutral element"
    return ""


def split_reductions(ops: Iterable[ir.Operation]) -> None:
    """Splits ``ops``, for each of which `why_not_split` is empty, in place."""
    for op in ops:
        if op.name == SOFTMAX:
            for part in decompose_softmax(op):
                split_reductions([part] if not why_not_split(part) else [])
            continue
        with ir.InsertionPoint(op), op.location:
            made = _split(op, structure_of(op))
        split_reductions(part for part in made if _steps(part) > STILL_LONG)


def _steps(op: ir.Operation) -> int:
    """Steps of all reduction loops for one result, as far as they are known."""
    if op.name == SOFTMAX:
        kind, along = ir.RankedTensorType(op.operands[0].type), ir.IntegerAttr(op.attributes["dimension"]).value
        return 0 if kind.is_dynamic_dim(along) else kind.get_dim_size(along)
    structure = structure_of(op)
    return prod(extent or 1 for extent, parallel in zip(loop_extents(op, structure), structure.parallel) if not parallel)


def _split_loop(op: ir.Operation, structure: Structure) -> int | None:
    """The longest reduction loop whose steps are known; None without one of two steps or more."""
    extents = loop_extents(op, structure)
    able = [loop for loop, parallel in enumerate(structure.parallel) if not parallel and (extents[loop] or 0) > 1]
    return max(able, key=lambda loop: extents[loop], default=None)


def _combiners(op: ir.Operation) -> list[ir.Operation | None]:
    """For each result the op that combines its sum so far with the next term; None where it is another kind of op, or where the
    sum so far is read anywhere else."""
    block = op.regions[0].blocks[0]
    operations = [o.operation for o in block.operations]
    found = []
    for yielded, sofar in zip(operations[-1].operands, list(block.arguments)[-len(op.results):], strict=True):
        users = [use.owner.operation for use in sofar.uses]
        owner = None if isinstance(yielded.owner, ir.Block) else yielded.owner.operation
        alone = len(users) == 1 and owner is not None and users[0] == owner and len(list(yielded.uses)) == 1
        found.append(owner if alone and owner.name in NEUTRAL else None)
    return found


def _split(op: ir.Operation, structure: Structure) -> list[ir.Operation]:
    """Replaces ``op``; returns the ops that add up its parts."""
    loop = _split_loop(op, structure)
    steps, results = loop_extents(op, structure)[loop], len(op.results)
    parts = 1 << (isqrt(steps).bit_length() - 1)
    each, inputs, inits = steps // parts, list(op.operands)[:-results], list(op.operands)[-results:]
    combiners = _combiners(op)
    made: list[ir.Operation] = []
    if left := steps - parts * each:
        inits = _rest(op, structure, loop, parts * each, left)
        made.append(inits[0].owner.operation)
        # Not in the dispatch that adds the parts up: SPIR-V would unroll the rest's odd loop there (lavapipe: 40 s).
        inits = _apart(inits)
    partial = _partial(op, structure, loop, parts, inputs, combiners)
    made.append(partial[0].owner.operation)
    partial = _apart(partial)
    sofar = list(op.regions[0].blocks[0].arguments)[-results:]
    whole = [_combined(*each_result) for each_result in zip(combiners, sofar, partial, inits, strict=True)]
    for old, new in zip(list(op.results), whole, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return made


def _rest(op: ir.Operation, structure: Structure, loop: int, start: int, count: int) -> list[ir.Value]:
    """The op on the last ``count`` steps of ``loop``, which begin at ``start``."""
    operands = [_slice(value, m, loop, start, count) for value, m in zip(op.operands, structure.maps, strict=True)]
    index = ir.AffineMap.get(1, 0, [ir.AffineDimExpr.get(0) + start])
    behind = _replacing(structure.loops, loop, structure.loops, ir.AffineDimExpr.get(loop) + start)
    maps = [ir.AffineMap.get(structure.loops, 0, [r if _is_loop(r, loop) else r.compose(behind) for r in m.results])
            for m in structure.maps]
    return _generic(op, operands, maps, structure.parallel, lambda number: affine.apply(index, [linalg.IndexOp(number).result])
                    if number == loop else linalg.IndexOp(number).result)


def _partial(op: ir.Operation, structure: Structure, loop: int, parts: int, inputs: list[ir.Value],
             combiners: list[ir.Operation]) -> list[ir.Value]:
    """``parts`` sums for every sum of ``op``, each of every ``parts``-th term, in a last dimension."""
    steps = loop_extents(op, structure)[loop] // parts
    loops, last = structure.loops + 1, ir.AffineDimExpr.get(structure.loops)
    count = len(inputs)
    # A window's index (d1 * 2 + d5) stays one, of both loops; where the loop is an index by itself, its dimension becomes two.
    both = _replacing(structure.loops, loop, loops, ir.AffineDimExpr.get(loop) * parts + last)
    maps, operands = [], []
    for value, m in zip(inputs, structure.maps[:count], strict=True):
        at = next((i for i, result in enumerate(m.results) if _is_loop(result, loop)), None)
        results = [r if _is_loop(r, loop) else r.compose(both) for r in m.results]
        if at is not None:
            results.insert(at + 1, last)
            value = _expanded(_slice(value, m, loop, 0, steps * parts), at, steps, parts)
        maps.append(ir.AffineMap.get(loops, 0, results))
        operands.append(value)
    for result, m, combiner in zip(op.results, structure.maps[count:], combiners, strict=True):
        kind = ir.RankedTensorType(result.type)
        sizes = sizes_of(list(op.operands)[count + result.result_number])
        empty = tensor.EmptyOp([*sizes, parts], kind.element_type).result
        operands.append(linalg.fill(_neutral(combiner), outs=[empty]))
        maps.append(ir.AffineMap.get(loops, 0, [*m.results, last]))
    inside = ir.AffineMap.get(2, 0, [ir.AffineDimExpr.get(0) * parts + ir.AffineDimExpr.get(1)])

    def index(number: int) -> ir.Value:
        own = linalg.IndexOp(number).result
        return affine.apply(inside, [own, linalg.IndexOp(structure.loops).result]) if number == loop else own

    return _generic(op, operands, maps, (*structure.parallel, True), index)


def _combined(combiner: ir.Operation, sofar: ir.Value, parts: ir.Value, init: ir.Value) -> ir.Value:
    """``parts`` along their last dimension and ``init``, put together by ``combiner``, whose operand ``sofar`` is the sum so far."""
    rank = ir.RankedTensorType(init.type).rank
    row = ir.AffineMap.get(rank + 1, 0, [ir.AffineDimExpr.get(i) for i in range(rank)])
    new = linalg.GenericOp([init.type], [parts], [init], maps_attribute([ir.AffineMap.get_identity(rank + 1), row]),
                           iterators_attribute([True] * rank + [False]))
    block = new.regions[0].blocks.append(*[element_type(init.type)] * 2)
    with ir.InsertionPoint(block):
        values = {operand: block.arguments[int(operand == sofar)] for operand in combiner.operands}
        copy_into(combiner, values)
        linalg.YieldOp([values[combiner.results[0]]])
    return new.operation.results[0]


def _generic(op: ir.Operation, operands: list[ir.Value], maps: Iterable[ir.AffineMap], parallel: Iterable[bool],
             index: Callable[[int], ir.Value]) -> list[ir.Value]:
    """``op`` with its body on other operands; ``index`` makes what stands for its `linalg.index` of a loop."""
    results = len(op.results)
    new = linalg.GenericOp([v.type for v in operands[-results:]], operands[:-results], operands[-results:], maps_attribute(list(maps)),
                           iterators_attribute(list(parallel)))
    old = op.regions[0].blocks[0]
    block = new.regions[0].blocks.append(*[element_type(v.type) for v in operands])
    with ir.InsertionPoint(block):
        values = dict(zip(old.arguments, block.arguments, strict=True))
        for inner in [o.operation for o in old.operations]:
            if inner.name == "linalg.yield":
                linalg.YieldOp([values.get(v, v) for v in inner.operands])
            elif inner.name == "linalg.index":
                values[inner.results[0]] = index(ir.IntegerAttr(inner.attributes["dim"]).value)
            else:
                copy_into(inner, values)
    return list(new.operation.results)


def _apart(values: Iterable[ir.Value]) -> list[ir.Value]:
    return [BoundaryOp(value).operation.results[0] for value in values]


def _replacing(loops: int, loop: int, dims: int, by: ir.AffineExpr) -> ir.AffineMap:
    """A map from ``dims`` dimensions to ``loops``, each itself but ``loop``, which is ``by``."""
    return ir.AffineMap.get(dims, 0, [by if i == loop else ir.AffineDimExpr.get(i) for i in range(loops)])


def _is_loop(expression: ir.AffineExpr, loop: int) -> bool:
    return isinstance(expression, ir.AffineDimExpr) and expression.position == loop


def _slice(value: ir.Value, m: ir.AffineMap, loop: int, start: int, count: int) -> ir.Value:
    """``count`` indices from ``start`` of the dimension that ``loop`` indexes; ``value`` itself where it has none, or all of them."""
    at = next((i for i, result in enumerate(m.results) if _is_loop(result, loop)), None)
    if at is None or sizes_of(value)[at] == count:
        return value
    kind = ir.RankedTensorType(value.type)
    sizes = sizes_of(value)
    static = [ir.ShapedType.get_dynamic_size() if isinstance(size, ir.Value) else size for size in sizes]
    static[at] = count
    offsets = [start if i == at else 0 for i in range(kind.rank)]
    dynamic = [size for i, size in enumerate(sizes) if isinstance(size, ir.Value) and i != at]
    return tensor.ExtractSliceOp(ir.RankedTensorType.get(static, kind.element_type), value, [], dynamic, [], offsets, static,
                                 [1] * kind.rank).result


def _expanded(value: ir.Value, at: int, outer: int, inner: int) -> ir.Value:
    """``value`` with dimension ``at`` as two."""
    kind, sizes = ir.RankedTensorType(value.type), sizes_of(value)
    wide = [*sizes[:at], outer, inner, *sizes[at + 1:]]
    static = [ir.ShapedType.get_dynamic_size() if isinstance(size, ir.Value) else size for size in wide]
    groups = [[i] if i < at else [i, i + 1] if i == at else [i + 1] for i in range(kind.rank)]
    return tensor.expand_shape(ir.RankedTensorType.get(static, kind.element_type), value, groups,
                               [size for size in wide if isinstance(size, ir.Value)], static)


def _neutral(combiner: ir.Operation) -> ir.Value:
    """What ``combiner`` leaves every term as it is with."""
    kind, which = combiner.results[0].type, NEUTRAL[combiner.name]
    if isinstance(kind, ir.FloatType):
        value = {_ZERO: -0.0, _ONE: 1.0, _LEAST: float("-inf"), _MOST: float("inf")}[which]
        return arith.constant(kind, value)
    width = ir.IntegerType(kind).width
    value = {_ZERO: 0, _ONE: 1, _ALL: -1, _LEAST: -(1 << (width - 1)), _MOST: (1 << (width - 1)) - 1}[which]
    return arith.constant(kind, value)


def _refusal(op: ir.Operation, why: str) -> Finding:
    place = place_of(op)
    return Finding("FIS116", f"{op.name} cannot be split: {why}", subject=op.name, places=(place,) if place else ())
