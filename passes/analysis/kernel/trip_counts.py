"""How many loop iterations does one thread run, one after the other?"""

from __future__ import annotations

from math import prod

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from ..memory.tiles import ConfiguredDispatch


def longest_reduction(dispatch: ConfiguredDispatch) -> int:
    """Terms of the dispatch's longest sum, as far as they are known: no thread runs more iterations for one."""
    return max(
        (
            prod(n for n, sums in zip(op.loops, op.reduction, strict=False) if sums and isinstance(n, int))
            for op in dispatch.ops
            if op.reduces
        ),
        default=0,
    )


def sorts_rows(dispatch: ConfiguredDispatch) -> bool:
    """Whether the dispatch sorts rows, each of which IREE gives to one thread."""
    return iree_ops.LINALG_EXT_SORT in dispatch.opaque


def per_thread_trip_count(function_or_module: ir.Operation) -> int:
    """Iterations of all scf.for loops, in their nests, that one thread runs in the functions of distributed IR.

    The most that a thread runs: a loop that begins at its thread's id is counted from 0. A loop of dynamic size counts once, so
    that the true number is at least this one.
    """
    return sum(_of_block(block) for region in function_or_module.regions for block in region.blocks)


def _of_block(block: ir.Block) -> int:
    total = 0
    for op in (o.operation for o in block.operations):
        inside = sum(_of_block(inner) for region in op.regions for inner in region.blocks)
        total += _trips(op) * (1 + inside) if op.name == "scf.for" else inside + _of_sort(op)
    return total


def _of_sort(op: ir.Operation) -> int:
    """Iterations of a sort that has no loops yet: it exchanges neighbours, N * N times for a row of N."""
    if op.name != iree_ops.LINALG_EXT_SORT:
        return 0
    sizes = [size if size > 0 else 1 for size in ir.ShapedType(op.operands[0].type).shape]
    return prod(sizes) * sizes[ir.IntegerAttr(op.attributes["dimension"]).value]


def _trips(loop: ir.Operation) -> int:
    lower, upper, step = (_constant(loop.operands[i]) for i in range(3))
    if upper is None or not step:
        return 1
    return max(0, -(-(upper - (lower or 0)) // step))


def _constant(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return ir.IntegerAttr(value.owner.operation.attributes["value"]).value
