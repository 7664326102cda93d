"""vector.transfer_read and transfer_write, gather and scatter: vectors of elements that lie anywhere, some of them masked."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from fissile.pipelines.numerics.witness.registry import NoWitness

from .machine import Machine, segments, simulates, vector_shape
from .memory import View


def _places(
    op: ir.Operation, view: View, indices: list, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Places of a transfer's elements, and which of them are inside of the memref where the op does not promise it."""
    rank = len(shape)
    map_ = ir.AffineMapAttr(op.attributes["permutation_map"]).value
    bounds = [ir.BoolAttr(one).value for one in ir.ArrayAttr(op.attributes["in_bounds"])]
    wide = [index.reshape(index.shape + (1,) * rank) for index in indices]
    inside = np.ones((1,) * (rank + 1), bool)
    checked: list[int] = []
    for axis, expression in enumerate(map_.results):
        if isinstance(expression, ir.AffineConstantExpr):
            continue  # a broadcast
        if not isinstance(expression, ir.AffineDimExpr):
            raise NoWitness(f"a transfer along {expression}")
        at = expression.position
        wide[at] = wide[at] + np.arange(shape[axis]).reshape(
            (1,) + tuple(shape[axis] if a == axis else 1 for a in range(rank))
        )
        if not bounds[axis]:
            checked.append(at)
    for at in checked:
        size = np.asarray(view.sizes[at])
        size = size.reshape(size.shape + (1,) * rank) if size.ndim else size
        inside = inside & (wide[at] >= 0) & (wide[at] < size)
    places = view.linear(wide) if wide else np.asarray(view.offset, np.int64).reshape((-1,) + (1,) * rank)
    return np.broadcast_to(places, (places.shape[0], *shape)), inside


def _mask_of(op: ir.Operation, mask: np.ndarray, rank: int) -> np.ndarray:
    """The mask of a transfer, whose shape has the dimensions that the vector is read by, in the vector's order."""
    map_ = ir.AffineMapAttr(op.attributes["permutation_map"]).value
    read = [
        (expression.position, axis)
        for axis, expression in enumerate(map_.results)
        if isinstance(expression, ir.AffineDimExpr)
    ]
    order = [axis for _position, axis in sorted(read)]  # of the vector, as the mask has them
    moved = np.transpose(mask, [0, *(1 + order.index(axis) for axis in sorted(order))])
    for axis in range(rank):
        if axis not in order:
            moved = np.expand_dims(moved, 1 + axis)
    return moved


def _active(machine: Machine, rank: int) -> np.ndarray:
    return machine.active.reshape((-1,) + (1,) * rank)


@simulates("vector.transfer_read")
def _read(machine: Machine, op, operands):
    (view,), indices, (padding,), mask = segments(op, operands)
    shape = vector_shape(op.results[0].type)
    if not isinstance(view, View):
        raise NoWitness("a transfer from a tensor")
    places, wanted = _places(op, view, indices, shape)
    if mask:
        wanted = wanted & _mask_of(op, mask[0], len(shape))
    values = machine.memory.read(view, places, _active(machine, len(shape)) & wanted)
    if np.all(wanted):
        return [values]
    return [np.where(wanted, values, padding.reshape(padding.shape + (1,) * (len(shape) + 1 - padding.ndim)))]


@simulates("vector.transfer_write")
def _write(machine: Machine, op, operands):
    (value,), (view,), indices, mask = segments(op, operands)
    if not isinstance(view, View):
        raise NoWitness("a transfer into a tensor")
    shape = vector_shape(op.operands[0].type)
    places, wanted = _places(op, view, indices, shape)
    if mask:
        wanted = wanted & _mask_of(op, mask[0], len(shape))
    machine.memory.write(view, places, value, _active(machine, len(shape)) & wanted)
    return []


@simulates("vector.gather")
def _gather(machine: Machine, op, operands):
    view, *start, at, mask, otherwise = operands
    rank = len(vector_shape(op.results[0].type))
    wide = [index.reshape(index.shape + (1,) * rank) for index in start]
    wide[-1] = wide[-1] + at
    places = view.linear(wide)
    values = machine.memory.read(view, places, _active(machine, rank) & mask)
    return [np.where(mask, values, otherwise)]


@simulates("vector.scatter")
def _scatter(machine: Machine, op, operands):
    view, *start, at, mask, value = operands
    rank = len(vector_shape(op.operands[-1].type))
    wide = [index.reshape(index.shape + (1,) * rank) for index in start]
    wide[-1] = wide[-1] + at
    machine.memory.write(view, view.linear(wide), value, _active(machine, rank) & mask)
    return []
