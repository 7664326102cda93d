"""Adds up a long row in parts, by many threads, and then the parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isqrt, prod
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import affine, arith, tensor

from fissile.dialect import BoundaryOp
from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.dispatch.combination import Combination, combination_of
from fissile.passes.analysis.dispatch.structure import (
    Structure,
    loop_extents,
    loop_structure,
    structure_of,
)
from fissile.passes.definition import Contract, option, register_pass

from ..generic_ops import build_generic, element_type
from ..narrow.packed_words import sizes_of
from ..rebuilt_ops import copy_into
from ..remedy import FITS, PLACES_BOUNDARIES, Exactness, Match, OpRemedy
from .decompose_softmax import SOFTMAX, decompose_softmax

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

LONG = 4096
"""Steps of one reduction from which on the pass splits it by itself."""
STILL_LONG = 8 * LONG
"""Steps from which on a part is split once more."""


@register_pass
@dataclass(frozen=True)
class SplitReductions(OpRemedy):
    """Splits a reduction's longest loop into parts that are computed beside each other, and adds the parts up behind boundaries.

    IREE 3.13 gives whole rows to single threads on SPIR-V where it has no other schedule (default Vulkan: always): slow everywhere,
    and wrong where a driver ends a loop (lavapipe, after 65535 iterations). A loop of N steps becomes P sums of N / P steps and
    one of P (`parts_of`); what N / P leaves over is a sum of its own. A softmax is taken apart before; its exponentials are
    computed twice, which costs less than a tensor of them. ``ops`` chooses source ops by index; without it, all with 4096 steps or more.

    The same terms, added in another order: in floats the result differs by roundings, and is closer to the exact sum, since P + N / P
    roundings follow each other instead of N. Integers, minima and maxima are equal in every bit, and so is the position of a largest
    or smallest value, whose parts stay in order (but for rows with a NaN). A window's loop (a pooling of a whole image) is split as
    any other. An op that cannot be split (a dynamic loop, another combination of its terms) is FIS114.
    """

    name: ClassVar[str] = "fissile-split-reductions"
    order: ClassVar[int] = 90
    cures: ClassVar[tuple[str, ...]] = ("FIS125", "FIS127")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "splits a long sum, maximum (with its position), pooling or softmax into many short ones in parallel and "
        "combines the results"
    )
    repairs: ClassVar[str] = (
        "rows that one thread processes alone (SPIR-V, FIS125): slow, and wrong on lavapipe after 65535 steps"
    )
    numbers: ClassVar[str] = (
        "integers, minima, maxima: bit-identical. Float sums: the same terms in another order, with shorter chains of "
        "roundings. A position may differ in a row with a NaN"
    )
    counterpart: ClassVar[str] = (
        "SplitReductionOps (matmuls and argmax), SetSplitReductionSizes and TopkSplitReduction are enabled by flags for "
        "every such op of a program, whatever its dispatch does with the row; none of them splits a softmax."
    )
    done: ClassVar[str] = "reduced {ops} in parts, then combined the parts"
    advice: ClassVar[str] = "reduce {ops} in parts, then combine the parts"
    refusal: ClassVar[str] = "{op} cannot be split: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "arith", "linalg", "math", "tensor")
    contract: ClassVar[Contract] = PLACES_BOUNDARIES
    ops: tuple[int, ...] = option((), "indices of the source ops to split; empty: every long reduction")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if op.name == SOFTMAX:
            return Match("" if _steps(op) > 1 else "its rows are of dynamic size")
        structure = structure_of(op)
        if structure is None:
            return Match("it has no body")
        if structure.all_parallel:
            return Match("it does not reduce")
        if _split_loop(op, structure) is None:
            return Match("no loop of its sum has a size that is known")
        if any(not m.is_projected_permutation for m in structure.maps[-len(op.results) :]):
            return Match("its result is indexed by more than its loops")
        combination = combination_of(op)
        if combination is None:
            return Match("its terms are combined in a way that has no parts")
        if combination.in_order and structure.parallel.count(False) > 1:
            return Match("the order of its terms is that of several loops")
        return FITS

    def chooses(self, op: ir.Operation) -> bool:
        return worth_splitting(op)

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        split_reductions(ops)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the parts' sums are written once to global memory"

    def facts(self, ops: Sequence[ir.Operation]) -> tuple[tuple[str, str], ...]:
        return (("rounding", "the same terms in another order, with fewer roundings one after the other"),)


def worth_splitting(op: ir.Operation) -> bool:
    """Whether ``op`` can be split and has many steps."""
    return bool(SplitReductions().match(op)) and _steps(op) >= LONG


def split_reductions(ops: Iterable[ir.Operation]) -> None:
    """Splits ``ops``, each of which matches, in place."""
    for op in ops:
        if op.name == SOFTMAX:
            for part in decompose_softmax(op, evaluated_twice=True):
                split_reductions([part] if SplitReductions().match(part) else [])
            continue
        with ir.InsertionPoint(op), op.location:
            made = _split(op, loop_structure(op))
        split_reductions(part for part in made if _steps(part) > STILL_LONG)


def _steps(op: ir.Operation) -> int:
    """Steps of all reduction loops for one result, as far as they are known."""
    if op.name == SOFTMAX:
        tensor_type, along = (
            ir.RankedTensorType(op.operands[0].type),
            ir.IntegerAttr(op.attributes["dimension"]).value,
        )
        return 0 if tensor_type.is_dynamic_dim(along) else tensor_type.get_dim_size(along)
    structure = loop_structure(op)
    return prod(
        extent or 1
        for extent, parallel in zip(loop_extents(op, structure), structure.parallel, strict=False)
        if not parallel
    )


def _split_loop(op: ir.Operation, structure: Structure) -> int | None:
    """The longest reduction loop whose steps are known; None without one of two steps or more."""
    extents = loop_extents(op, structure)
    able = [
        loop for loop, parallel in enumerate(structure.parallel) if not parallel and (extents[loop] or 0) > 1
    ]
    return max(able, key=lambda loop: extents[loop] or 0, default=None)


def _split(op: ir.Operation, structure: Structure) -> list[ir.Operation]:
    """Replaces ``op``; returns the ops that add up its parts."""
    loop, combination = _split_loop(op, structure), combination_of(op)
    assert loop is not None and combination is not None  # `match`
    steps, results = loop_extents(op, structure)[loop], len(op.results)
    assert steps is not None  # `_split_loop`
    parts = parts_of(steps)
    each = steps // parts
    start, left, inits = parts * each, steps % parts, list(op.operands)[-results:]
    summed = _partial(op, structure, loop, parts, combination)
    made, partial = [summed[0].owner.operation], _apart(summed)

    def with_rest(inits: list[ir.Value]) -> list[ir.Value]:
        if not left:
            return inits
        rest = _rest(op, structure, loop, start, left, inits)
        made.append(rest[0].owner.operation)
        return rest

    # The rest is not in one dispatch with the parts' sum: SPIR-V would unroll its odd loop there, long for a driver.
    if combination.in_order:
        combined = _combined(combination, partial, inits)
        whole = with_rest(_apart(combined) if left else combined)
    else:
        whole = _combined(combination, partial, _apart(with_rest(inits)) if left else inits)
    for old, new in zip(list(op.results), whole, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return made


def parts_of(steps: int) -> int:
    """How many parts ``steps`` steps are split into: near their root, and so that none is left over where that can be.

    What is left over costs a copy of all the others and two dispatches more. A power of two, or another multiple of four, is read by vectors.
    """
    root = isqrt(steps)
    power = 1 << (root.bit_length() - 1)
    if steps % power == 0:
        return power
    even = [n for n in range(max(2, power // 2), 2 * power + 1) if steps % n == 0]
    return min(even, key=lambda n: (n % 4 != 0, max(n, root) / min(n, root)), default=power)


def _rest(
    op: ir.Operation, structure: Structure, loop: int, start: int, count: int, inits: list[ir.Value]
) -> list[ir.Value]:
    """The op on the last ``count`` steps of ``loop``, which begin at ``start``."""
    operands = [*op.operands][: -len(inits)] + inits
    operands = [
        _slice(value, m, loop, start, count) for value, m in zip(operands, structure.maps, strict=True)
    ]
    step = ir.AffineDimExpr.get(loop)
    behind = _replacing(structure.loops, loop, structure.loops, step + start)
    maps = [
        ir.AffineMap.get(
            structure.loops,
            0,
            [r if i == _dimension(m, loop) else r.compose(behind) for i, r in enumerate(m.results)],
        )
        for m in structure.maps
    ]
    return _generic(op, operands, maps, structure.parallel, behind)


def _partial(
    op: ir.Operation, structure: Structure, loop: int, parts: int, combination: Combination
) -> list[ir.Value]:
    """``parts`` sums for every sum of ``op``, in a last dimension: of every ``parts``-th term each, so that threads beside each other
    read elements beside each other, or, where the order counts, of the terms that follow each other."""
    steps = (loop_extents(op, structure)[loop] or 0) // parts
    loops, step, part = structure.loops + 1, ir.AffineDimExpr.get(loop), ir.AffineDimExpr.get(structure.loops)
    wide, both = ((parts, steps), [part, step]) if combination.in_order else ((steps, parts), [step, part])
    # A window's index (d1 * 2 + d5) stays one, of both loops; where the loop is an index by itself, its dimension becomes two.
    inside = _replacing(structure.loops, loop, loops, both[0] * wide[1] + both[1])
    count = len(op.operands) - len(op.results)
    maps, operands = [], []
    for value, m in zip(list(op.operands)[:count], structure.maps[:count], strict=True):
        at = _dimension(m, loop)
        results = [[r] if i == at else [r.compose(inside)] for i, r in enumerate(m.results)]
        if at is not None:
            results[at] = both
            value = _expanded(_slice(value, m, loop, 0, steps * parts), at, *wide)
        maps.append(ir.AffineMap.get(loops, 0, [r for some in results for r in some]))
        operands.append(value)
    for init, m, neutral in zip(
        list(op.operands)[count:], structure.maps[count:], combination.neutral, strict=True
    ):
        element = element_type(init.type)
        empty = tensor.EmptyOp([*sizes_of(init), parts], element).result
        operands.append(linalg.fill(arith.constant(element, neutral), outs=[empty]))
        maps.append(ir.AffineMap.get(loops, 0, [*m.results, part]))
    return _generic(op, operands, maps, (*structure.parallel, True), inside)


def _combined(combination: Combination, parts: list[ir.Value], inits: list[ir.Value]) -> list[ir.Value]:
    """``parts`` along their last dimension, and ``inits``."""
    rank = ir.RankedTensorType(inits[0].type).rank
    row = ir.AffineMap.get(rank + 1, 0, [ir.AffineDimExpr.get(i) for i in range(rank)])
    maps = [*[ir.AffineMap.get_identity(rank + 1)] * len(parts), *[row] * len(inits)]
    new, block = build_generic(parts, inits, maps, [True] * rank + [False])
    with ir.InsertionPoint(block):
        values = dict(zip((*combination.terms, *combination.sofar), block.arguments, strict=True))
        for op in combination.ops:
            copy_into(op, values)
        yielded = (
            combination.sofar[0].owner.operations[len(combination.sofar[0].owner.operations) - 1].operation
        )
        linalg.YieldOp([values[v] for v in yielded.operands])
    return list(new.operation.results)


def _generic(
    op: ir.Operation,
    operands: list[ir.Value],
    maps: Iterable[ir.AffineMap],
    parallel: Iterable[bool],
    index: ir.AffineMap,
) -> list[ir.Value]:
    """``op`` with its body on other operands; ``index`` computes the indices of its loops from those of the new ones."""
    results = len(op.results)
    new, block = build_generic(operands[:-results], operands[-results:], maps, parallel)
    old = op.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        values = dict(zip(old.arguments, block.arguments, strict=False))
        for inner in [o.operation for o in old.operations]:
            if inner.name == "linalg.yield":
                linalg.YieldOp([values.get(v, v) for v in inner.operands])
            elif inner.name == "linalg.index":
                one = index.results[ir.IntegerAttr(inner.attributes["dim"]).value]
                loops = [linalg.IndexOp(i).result for i in range(index.n_dims)]
                values[inner.results[0]] = affine.apply(ir.AffineMap.get(index.n_dims, 0, [one]), loops)
            else:
                copy_into(inner, values)
    return list(new.operation.results)


def _apart(values: Iterable[ir.Value]) -> list[ir.Value]:
    return [BoundaryOp(value).operation.results[0] for value in values]


def _replacing(loops: int, loop: int, dims: int, by: ir.AffineExpr) -> ir.AffineMap:
    """A map from ``dims`` dimensions to ``loops``, each itself but ``loop``, which is ``by``."""
    return ir.AffineMap.get(dims, 0, [by if i == loop else ir.AffineDimExpr.get(i) for i in range(loops)])


def _dimension(m: ir.AffineMap, loop: int) -> int | None:
    """The first dimension that ``loop`` by itself indexes."""
    return next(
        (i for i, r in enumerate(m.results) if isinstance(r, ir.AffineDimExpr) and r.position == loop), None
    )


def _slice(value: ir.Value, m: ir.AffineMap, loop: int, start: int, count: int) -> ir.Value:
    """``count`` indices from ``start`` of `_dimension`; ``value`` itself where it has none, or all of them."""
    at = _dimension(m, loop)
    if at is None or sizes_of(value)[at] == count:
        return value
    tensor_type = ir.RankedTensorType(value.type)
    sizes = sizes_of(value)
    static = [ir.ShapedType.get_dynamic_size() if isinstance(size, ir.Value) else size for size in sizes]
    static[at] = count
    offsets = [start if i == at else 0 for i in range(tensor_type.rank)]
    dynamic = [size for i, size in enumerate(sizes) if isinstance(size, ir.Value) and i != at]
    return tensor.ExtractSliceOp(
        ir.RankedTensorType.get(static, tensor_type.element_type),
        value,
        [],
        dynamic,
        [],
        offsets,
        static,
        [1] * tensor_type.rank,
    ).result


def _expanded(value: ir.Value, at: int, outer: int, inner: int) -> ir.Value:
    """``value`` with dimension ``at`` as two."""
    tensor_type, sizes = ir.RankedTensorType(value.type), sizes_of(value)
    wide = [*sizes[:at], outer, inner, *sizes[at + 1 :]]
    static = [ir.ShapedType.get_dynamic_size() if isinstance(size, ir.Value) else size for size in wide]
    groups = [[i] if i < at else [i, i + 1] if i == at else [i + 1] for i in range(tensor_type.rank)]
    return tensor.expand_shape(
        ir.RankedTensorType.get(static, tensor_type.element_type),
        value,
        groups,
        [size for size in wide if isinstance(size, ir.Value)],
        static,
    )
