"""Private memory that a thread reads whole although it may have written none of it.

A fused producer of a tile that runs beyond the end of its tensor writes a buffer of as many elements as are left there, none of them for some
threads; its consumer reads a whole vector. Where code generation masks that read it is right; where it does not, the thread reads what its
registers held before.
"""

from __future__ import annotations

from iree.compiler import ir

from .footprint import Allocation, allocation_of
from .tiles import ConfiguredDispatch, Op

PRIVATE = "private"
_SAME_ELEMENTS = ("memref.cast", "memref.assume_alignment")
_READ = "vector.transfer_read"
_PADDING = "padding_conv"
"""Of a convolution, by its loops."""
_MOST_OPS = 200
"""Of those that a mask is computed by."""
_MINIMUM = "affine.min"


def may_read_unwritten(dispatch: ConfiguredDispatch) -> bool:
    """TileAndFuse pads a loop that a convolution sums over to a tile, and computes an operand of it in between."""
    return dispatch.pipeline == "TileAndFuse" and any(
        any(value.maker is not None for value in op.inputs) and _pads_a_sum(op) for op in dispatch.ops
    )


def _pads_a_sum(op: Op) -> bool:
    """Whether a loop that ``op`` reduces has no whole number of tiles, by the padding that IREE chose for a convolution."""
    padding = op.config.lists.get(_PADDING, ()) if op.config else ()
    return any(
        reduces and tile and not (isinstance(size, int) and size % tile == 0)
        for size, reduces, tile in zip(op.loops, op.reduction, padding, strict=False)
    )


def unwritten_reads(function_or_module: ir.Operation) -> tuple[Allocation, ...]:
    """Private buffers of a size that may be 0, of which a vector is read whatever the size. Reads IR after vectorization and bufferization,
    with dynamic buffers or with their upper bounds in place of them."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "memref.alloca" and PRIVATE in str(op.results[0].type):
            found.append(op)
        return ir.WalkResult.ADVANCE

    function_or_module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return tuple(allocation_of(op, PRIVATE) for op in found if _is_read_whole(_sized(op)))


def _sized(buffer: ir.Operation) -> ir.Operation:
    """``buffer``, or the one view by which it is used (PadDynamicAlloc)."""
    uses = list(buffer.results[0].uses)
    only = uses[0].owner.operation if len(uses) == 1 else None
    return only if only is not None and only.name == "memref.subview" else buffer


def _is_minimum(size: ir.Value) -> bool:
    """Whether ``size`` is that of a tile at the end of a tensor."""
    return not isinstance(size.owner, ir.Block) and size.owner.name == _MINIMUM


def _is_read_whole(buffer: ir.Operation) -> bool:
    """Whether a vector is read from ``buffer``, an alloca or a view of one, that a dimension of a size which may be 0 has no part in."""
    type_ = ir.MemRefType(buffer.results[0].type)
    sizes = (
        dict(zip(_dynamic(type_), list(buffer.operands)[-len(_dynamic(type_)) :], strict=True))
        if _dynamic(type_)
        else {}
    )
    small = {axis: size for axis, size in sizes.items() if _is_minimum(size)}
    pending = [buffer.results[0]] if small else []
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name in _SAME_ELEMENTS:
                pending.append(user.results[0])
            elif user.name == _READ and use.operand_number == 0 and user.block == buffer.block:
                if any(not _minds(user, axis, size) for axis, size in small.items()):
                    return True
    return False


def _dynamic(type_: ir.MemRefType) -> list[int]:
    return [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]


def _minds(read: ir.Operation, axis: int, size: ir.Value) -> bool:
    """Whether ``read`` takes no more along ``axis`` than its ``size``: its vector is checked there, or its mask depends on the size."""
    map_ = ir.AffineMapAttr(read.attributes["permutation_map"]).value
    inside = [ir.BoolAttr(one).value for one in ir.ArrayAttr(read.attributes["in_bounds"])]
    checked = {
        expression.position
        for expression, promised in zip(map_.results, inside, strict=True)
        if isinstance(expression, ir.AffineDimExpr) and not promised
    }
    masked = ir.DenseI32ArrayAttr(read.attributes["operandSegmentSizes"])[3]
    return axis in checked or bool(masked) and _depends(read.operands[len(read.operands) - 1], size)


def _depends(value: ir.Value, on: ir.Value) -> bool:
    pending, seen = [value], 0
    while pending and seen < _MOST_OPS:
        one = pending.pop()
        if one == on:
            return True
        seen += 1
        if not isinstance(one.owner, ir.Block):
            pending += list(one.owner.operands)
    return False
