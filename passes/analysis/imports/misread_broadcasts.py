"""Broadcasts that only reorder dimensions, and that IREE's import reads the other way round."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.places import ops_of

from .stablehlo_ops import (
    BROADCAST,
    DYNAMIC_BROADCAST,
    constant_integers,
    has_static_shape,
    is_uniform,
    shape_of,
)


def broadcast_dims(op: ir.Operation) -> list[int]:
    """Operand dimension -> result dimension."""
    return list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))


def result_shape(op: ir.Operation) -> list[int] | None:
    """The sizes of the result of a broadcast, where the type or a constant operand states them."""
    result = ir.RankedTensorType(op.results[0].type)
    if result.has_static_shape:
        return list(result.shape)
    return constant_integers(op.operands[1]) if op.name == DYNAMIC_BROADCAST else None


def is_misread(op: ir.Operation) -> bool:
    """Whether IREE reads the permutation of ``op`` (phase start) as its inverse, which is another one.

    IREE 3.13 makes a transpose of a broadcast that keeps the number of elements and the rank, and takes `broadcast_dimensions` as
    the permutation (stablehlo's canonicalisation). They say where an operand's dimension goes; a permutation says where a result's
    dimension comes from.
    """
    if op.name not in (BROADCAST, DYNAMIC_BROADCAST) or not has_static_shape(op.operands[0].type):
        return False
    shape, dims, given = result_shape(op), broadcast_dims(op), shape_of(op.operands[0])
    if shape is None or len(shape) != len(dims) or [shape[dim] for dim in dims] != list(given):
        return False
    return any(dims[dim] != position for position, dim in enumerate(dims))


def is_silently_misread(op: ir.Operation) -> bool:
    """Whether, on top of that, IREE compiles ``op``, to wrong numbers.

    IREE rejects the transpose if its result has another shape. The op is right if its elements are all the same, or if nothing uses
    it but further broadcasts, which IREE joins with it first.
    """
    if not is_misread(op) or is_uniform(op.operands[0]):
        return False
    shape, dims, given = result_shape(op), broadcast_dims(op), shape_of(op.operands[0])
    if [given[dim] for dim in dims] != shape:
        return False
    return any(not _enlarges(use.owner) for use in op.results[0].uses)


def _enlarges(op: ir.OpView | ir.Operation) -> bool:
    """Whether ``op`` is a broadcast to more elements: neither a reshape nor a transpose, as which IREE would read it."""
    if op.name != BROADCAST or not has_static_shape(op.results[0].type):
        return False
    before, after = 1, 1
    for size in shape_of(op.operands[0]):
        before *= size
    for size in shape_of(op.results[0]):
        after *= size
    return after > before


def misread_broadcasts(module: ir.Operation) -> list[ir.Operation]:
    """The broadcasts in ``module`` that `is_silently_misread`, in program order."""
    found = [*ops_of(module, BROADCAST), *ops_of(module, DYNAMIC_BROADCAST)]
    return [op for op in found if is_silently_misread(op)]
