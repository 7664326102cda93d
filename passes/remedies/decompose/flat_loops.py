"""Makes the loops of an op that do not reduce one loop, its inputs read by element: each thread has an element of its own.

Those that reduce may become one as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from iree.compiler import ir
from iree.compiler.dialects import affine, arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.dispatch.linear_index import extents_of_loops
from fissile.passes.analysis.dispatch.structure import (
    Structure,
    loop_structure,
)

from ..generic_ops import build_generic
from ..narrow.packed_words import Size
from ..rebuilt_ops import copy_into


def why_not_one_loop(op: ir.Operation, sums: bool = False) -> str:
    """Why the loops of ``op``, a linalg op with a body, cannot become one (with ``sums`` those that reduce too); empty where they can."""
    structure = loop_structure(op)
    results = structure.maps[-len(op.results) :]
    if any(m != results[0] for m in results) or not results[0].is_projected_permutation:
        return "its results are indexed in different orders"
    if len(results[0].results) != structure.parallel.count(True) or not results[0].results:
        return "its results have not one element for each turn of the loops that do not reduce"
    if len(results[0].results) < 2 and not (sums and structure.parallel.count(False) > 1):
        return "it has one loop already"
    return "" if structure.covers_all_loops() else "a loop's extent is the size of no operand"


def make_one_loop(op: ir.Operation, sums: bool = False) -> None:
    """Replaces ``op``, for which `why_not_one_loop` is empty. Every sum has its terms in the same order.

    With ``sums`` the loops that reduce become one too.
    """
    structure = loop_structure(op)
    operands, count = list(op.operands), len(op.results)
    order = [ir.AffineDimExpr(r).position for r in structure.maps[-1].results]
    summed = [loop for loop, parallel in enumerate(structure.parallel) if not parallel]
    groups = [list(range(len(order)))]
    with ir.InsertionPoint(op), op.location:
        extents = _extents(operands, structure)
        shape = [extents[loop] for loop in order]
        inits = [_collapsed(v, shape, groups) for v in operands[-count:]]
        # Only shapes: the sum's loops have their extents from them. A tensor for each, or IREE makes those loops one and divides its
        # index again in every step.
        reduced = [[loop] for loop in summed] if not sums or not summed else [summed]
        sizes = [
            tensor.EmptyOp([_product([extents[loop] for loop in group])], ir.F32Type.get()).result
            for group in reduced
        ]
        loops_of = [
            ir.AffineMap.get(1 + len(reduced), 0, [ir.AffineDimExpr.get(i)]) for i in range(1 + len(reduced))
        ]
        loops_of_sums, loop_of_results = loops_of[1:], loops_of[0]
        maps = [*loops_of_sums, *[loop_of_results] * count]
        new, block = build_generic(sizes, inits, maps, [True, *[False] * len(reduced)], like=op)
        old = op.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            loops = _loops_of_groups([order, *reduced], extents)
            values = dict(zip(list(old.arguments)[-count:], list(block.arguments)[-count:], strict=True))
            for position, value in enumerate(operands[:-count]):
                if isinstance(value.type, ir.RankedTensorType):
                    value = tensor.extract(
                        value, [index_of(result, loops) for result in structure.maps[position].results]
                    )
                values[old.arguments[position]] = value
            for inner in [o.operation for o in old.operations]:
                if inner.name == "linalg.index":
                    values[inner.results[0]] = loops[ir.IntegerAttr(inner.attributes["dim"]).value]
                else:
                    copy_into(inner, values)
        whole = [
            _expanded(value, before.type, shape, groups)
            for value, before in zip(new.operation.results, op.results, strict=True)
        ]
    for result, replacement in zip(list(op.results), whole, strict=True):
        result.replace_all_uses_with(replacement)
    op.erase()


def index_of(expression: ir.AffineExpr, loops: list[ir.Value]) -> ir.Value:
    """What ``expression`` of an indexing map is, from the values of the ``loops``."""
    if isinstance(expression, ir.AffineDimExpr):
        return loops[expression.position]
    return affine.apply(ir.AffineMap.get(len(loops), 0, [expression]), loops)


def _extents(operands: Sequence[ir.Value], structure: Structure) -> list[Size]:
    """How often each loop runs, read off an operand that it alone indexes: a number where one says so."""

    def size(operand: int, position: int) -> Size | tuple[ir.Value, int]:
        shaped = ir.RankedTensorType(operands[operand].type)
        if shaped.is_dynamic_dim(position):
            return operands[operand], position  # its size is made below, once for each loop
        return shaped.get_dim_size(position)

    found = extents_of_loops(structure.maps, size, lambda known: isinstance(known, int))
    return [
        tensor.dim(of[0], arith.constant(ir.IndexType.get(), of[1])) if isinstance(of, tuple) else of
        for of in found
    ]


def _collapsed(value: ir.Value, shape: Sequence[Size], groups: list[list[int]]) -> ir.Value:
    tensor_type = ir.RankedTensorType(value.type)
    size = prod(tensor_type.shape) if tensor_type.has_static_shape else ir.ShapedType.get_dynamic_size()
    return tensor.collapse_shape(ir.RankedTensorType.get([size], tensor_type.element_type), value, groups)


def _expanded(value: ir.Value, type_: ir.Type, shape: Sequence[Size], groups: list[list[int]]) -> ir.Value:
    static = list(ir.RankedTensorType(type_).shape)
    dynamic = [
        size for size, known in zip(shape, static, strict=True) if known == ir.ShapedType.get_dynamic_size()
    ]
    return tensor.expand_shape(type_, value, groups, dynamic, static)


def _product(sizes: Sequence[Size]) -> Size:
    """How often nested loops of ``sizes`` run: a number where all of them are."""
    known = prod(size for size in sizes if isinstance(size, int))
    whole: Size = known
    for size in (size for size in sizes if not isinstance(size, int)):
        whole = size if whole == 1 and isinstance(whole, int) else arith.muli(_value(whole), size)
    return whole


def _value(size: Size) -> ir.Value:
    return arith.constant(ir.IndexType.get(), size) if isinstance(size, int) else size


def _loops_of_groups(groups: Sequence[Sequence[int]], extents: Sequence[Size]) -> list[ir.Value]:
    """The indices of an op's loops, where each of ``groups`` of them has become one loop, the last of a group the fastest.

    Unsigned division: IREE's affine ops ask for the sign of what is never negative, in each step of the sum.
    """
    at: dict[int, ir.Value] = {}
    for position, group in enumerate(groups):
        rest = linalg.IndexOp(position).result
        for loop in reversed(group[1:]):
            size = _value(extents[loop])
            at[loop], rest = arith.remui(rest, size), arith.divui(rest, size)
        at[group[0]] = rest
    return [at[loop] for loop in range(len(extents))]
