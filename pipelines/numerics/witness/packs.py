"""linalg.pack and linalg.unpack: tiles of a tensor's dimensions as inner dimensions."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from fissile.dialect.views import view_of

from .registry import NoWitness, evaluates
from .tensors import mixed


def _layout(interpreter, op) -> tuple[list[int], list[int], list[int]]:
    """The tiled dimensions, the tiles, and the order of the outer dimensions."""
    tiled = list(ir.DenseI64ArrayAttr(op.attributes["inner_dims_pos"]))
    tiles = mixed(interpreter, op, "static_inner_tiles", view_of(op).inner_tiles)
    whole = op.operands[0] if op.name.endswith(".pack") else op.results[0]
    rank = ir.ShapedType(whole.type).rank
    order = (
        list(ir.DenseI64ArrayAttr(op.attributes["outer_dims_perm"]))
        if "outer_dims_perm" in op.attributes
        else []
    )
    return tiled, tiles, order or list(range(rank))


@evaluates("linalg.pack", "tensor.pack")
def _pack(interpreter, op, operands):
    tiled, tiles, order = _layout(interpreter, op)
    source, target = operands[0], operands[1]
    outer = [0] * source.ndim
    for place, axis in enumerate(order):
        outer[axis] = target.shape[place]
    tile_of = dict(zip(tiled, tiles, strict=False))
    padding = [(0, outer[axis] * tile_of.get(axis, 1) - n) for axis, n in enumerate(source.shape)]
    if any(p < 0 for _, p in padding):
        raise NoWitness(f"{op.name} into too few tiles")
    value = view_of(op).padding_value
    if any(p for _, p in padding) and value is None:
        raise NoWitness(f"{op.name} of tiles that are not full, without a padding value")
    filled = np.pad(source, padding, constant_values=interpreter.values[value] if value is not None else 0)
    shape, at = [], {}
    for axis in range(source.ndim):
        shape.append(outer[axis])
        at[axis] = len(shape) - 1
        if axis in tile_of:
            shape.append(tile_of[axis])
    axes = [at[axis] for axis in order] + [at[axis] + 1 for axis in tiled]
    return [np.ascontiguousarray(filled.reshape(shape).transpose(axes))]


@evaluates("linalg.unpack", "tensor.unpack")
def _unpack(interpreter, op, operands):
    tiled, tiles, order = _layout(interpreter, op)
    source, target = operands[0], operands[1]
    rank = len(order)
    axes = []
    for axis in range(rank):
        axes.append(order.index(axis))
        if axis in tiled:
            axes.append(rank + tiled.index(axis))
    tile_of = dict(zip(tiled, tiles, strict=False))
    shape = [source.shape[order.index(axis)] * tile_of.get(axis, 1) for axis in range(rank)]
    whole = source.transpose(axes).reshape(shape)
    if any(have < want for have, want in zip(whole.shape, target.shape, strict=False)):
        raise NoWitness(f"{op.name} of too few tiles")
    return [np.ascontiguousarray(whole[tuple(slice(0, n) for n in target.shape)])]
