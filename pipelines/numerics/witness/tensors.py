"""tensor ops, and flow's counterparts of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from .elements import element_of_type, from_bits, hold, to_bits
from .registry import NoWitness, evaluates
from .views import value_of

_DYNAMIC = -(1 << 63)
"""What stands in a static list where an operand has the number (mlir::ShapedType::kDynamic)."""


def shape_of(interpreter, value: ir.Value, sizes: Sequence) -> list[int]:
    """The shape of a result: its type's, with ``sizes`` for the dynamic dimensions."""
    shaped_type, given = ir.ShapedType(value.type), iter(sizes)
    return [
        int(next(given)) if shaped_type.is_dynamic_dim(i) else shaped_type.get_dim_size(i)
        for i in range(shaped_type.rank)
    ]


def mixed(interpreter, op: ir.Operation, static: str, dynamic) -> list[int]:
    """A list of numbers that are partly in the attribute ``static`` and partly operands."""
    given = iter(dynamic)
    return [
        int(interpreter.values[next(given)]) if n == _DYNAMIC else n
        for n in ir.DenseI64ArrayAttr(op.attributes[static])
    ]


@evaluates("tensor.empty", iree_ops.FLOW_TENSOR_EMPTY, iree_ops.FLOW_TENSOR_ALLOCA)
def _empty(interpreter, op, operands):
    shape = shape_of(interpreter, op.results[0], operands)
    if math.prod(shape) > 1 << 29:
        raise NoWitness(f"a tensor of {math.prod(shape)} elements")
    return [np.zeros(shape, element_of_type(op.results[0].type).held)]


@evaluates("tensor.splat", iree_ops.FLOW_TENSOR_SPLAT)
def _splat(interpreter, op, operands):
    return [np.full(shape_of(interpreter, op.results[0], operands[1:]), operands[0])]


@evaluates("tensor.dim")
def _dim(interpreter, op, operands):
    axis = int(operands[1])
    if not 0 <= axis < operands[0].ndim:
        raise NoWitness("tensor.dim of a dimension that is not there")
    return [np.int64(operands[0].shape[axis])]


@evaluates("tensor.rank")
def _rank(interpreter, op, operands):
    return [np.int64(operands[0].ndim)]


@evaluates("tensor.cast")
def _cast(interpreter, op, operands):
    shaped_type = ir.ShapedType(op.results[0].type)
    if shaped_type.has_rank and any(
        not shaped_type.is_dynamic_dim(i) and shaped_type.get_dim_size(i) != n
        for i, n in enumerate(operands[0].shape)
    ):
        raise NoWitness("tensor.cast to a shape that the tensor does not have")
    return operands


@evaluates("tensor.expand_shape")
def _expand(interpreter, op, operands):
    return [operands[0].reshape(mixed(interpreter, op, "static_output_shape", view_of(op).output_shape))]


@evaluates("tensor.collapse_shape")
def _collapse(interpreter, op, operands):
    groups = [
        [ir.IntegerAttr(i).value for i in ir.ArrayAttr(g)]
        for g in ir.ArrayAttr(op.attributes["reassociation"])
    ]
    return [operands[0].reshape([math.prod(operands[0].shape[i] for i in group) for group in groups])]


@evaluates("tensor.reshape")
def _reshape(interpreter, op, operands):
    return [operands[0].reshape([int(n) for n in operands[1].reshape(-1)])]


@evaluates(iree_ops.FLOW_TENSOR_RESHAPE)
def _flow_reshape(interpreter, op, operands):
    shape = shape_of(interpreter, op.results[0], [interpreter.values[v] for v in view_of(op).result_dims])
    if math.prod(shape) != operands[0].size:
        raise NoWitness(f"{iree_ops.FLOW_TENSOR_RESHAPE} to another number of elements")
    return [operands[0].reshape(shape)]


@evaluates("tensor.bitcast", iree_ops.FLOW_TENSOR_BITCAST, iree_ops.TENSOR_EXT_BITCAST)
def _bitcast(interpreter, op, operands):
    before, after = element_of_type(op.operands[0].type), element_of_type(op.results[0].type)
    sizes = [] if op.name == "tensor.bitcast" else [interpreter.values[v] for v in view_of(op).result_dims]
    shape = operands[0].shape if op.name == "tensor.bitcast" else shape_of(interpreter, op.results[0], sizes)
    if before.text == after.text:
        return [operands[0].reshape(shape)]
    bits = _bit_stream(to_bits(operands[0], before), before.bits)
    if before.bits * operands[0].size != after.bits * math.prod(shape):
        raise NoWitness(f"{op.name} to another number of bits")
    return [from_bits(_words(bits, after), after).reshape(shape)]


def _bit_stream(words: np.ndarray, bits: int) -> np.ndarray:
    """One byte per bit, the lowest bit of the first element first."""
    each = np.ascontiguousarray(words).reshape(-1, 1).view(np.uint8).reshape(words.size, -1)
    return np.unpackbits(each, axis=1, bitorder="little")[:, :bits].reshape(-1)


def _words(stream: np.ndarray, element) -> np.ndarray:
    width = max(8, 1 << (element.bits - 1).bit_length())
    rows = np.zeros((stream.size // element.bits, width), np.uint8)
    rows[:, : element.bits] = stream.reshape(-1, element.bits)
    return np.packbits(rows, axis=1, bitorder="little").view(f"<u{width // 8}").reshape(-1)


# --- slices


def _slices(interpreter, op) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides."""
    view = view_of(op)
    offsets = mixed(interpreter, op, "static_offsets", view.offsets)
    sizes = mixed(interpreter, op, "static_sizes", view.sizes)
    strides = mixed(interpreter, op, "static_strides", view.strides)
    return offsets, sizes, strides


def _window(shape, offsets, sizes, strides, name: str) -> tuple[slice, ...]:
    for offset, size, stride, extent in zip(offsets, sizes, strides, shape, strict=True):
        if size < 0 or stride <= 0 or size and not (0 <= offset and offset + stride * (size - 1) < extent):
            raise NoWitness(f"{name} beyond the end of its tensor")
    return tuple(
        slice(o, o + s * (n - 1) + 1 if n else o, s) for o, n, s in zip(offsets, sizes, strides, strict=False)
    )


@evaluates("tensor.extract_slice")
def _extract_slice(interpreter, op, operands):
    offsets, sizes, strides = _slices(interpreter, op)
    part = operands[0][_window(operands[0].shape, offsets, sizes, strides, op.name)]
    return [part.reshape(kept_sizes(ir.ShapedType(op.results[0].type), sizes))]


def kept_sizes(shaped_type: ir.ShapedType, sizes: list[int]) -> list[int]:
    """``sizes`` without the dimensions of size 1 that the result type leaves out."""
    return [sizes[at] for at in kept_dimensions(shaped_type, sizes)]


def kept_dimensions(shaped_type: ir.ShapedType, sizes: Sequence[int | None]) -> list[int]:
    """Which dimensions of a slice of ``sizes`` (None: dynamic) its type has; it may leave out those of size 1."""
    kept: list[int] = []
    for at, size in enumerate(sizes):
        axis, remaining = len(kept), len(sizes) - at
        wanted = shaped_type.rank - axis
        fits = wanted and (shaped_type.is_dynamic_dim(axis) or shaped_type.get_dim_size(axis) == size)
        if (
            wanted == remaining
            or (fits and size != 1)
            or (fits and _needed(shaped_type, axis, sizes[at + 1 :]))
        ):
            kept.append(at)
    return kept


def _needed(shaped_type: ir.ShapedType, axis: int, rest: Sequence[int | None]) -> bool:
    """The result's dimension ``axis`` of size 1 has to be this one, or may as well be."""
    return len([n for n in rest if n != 1]) <= shaped_type.rank - axis - 1


@evaluates("tensor.insert_slice")
def _insert_slice(interpreter, op, operands):
    offsets, sizes, strides = _slices(interpreter, op)
    result = np.array(operands[1])
    result[_window(result.shape, offsets, sizes, strides, op.name)] = operands[0].reshape(sizes)
    return [result]


@evaluates(iree_ops.FLOW_TENSOR_SLICE)
def _flow_slice(interpreter, op, operands):
    view = view_of(op)
    offsets, sizes = (
        [int(interpreter.values[v]) for v in values] for values in (view.start_indices, view.lengths)
    )
    return [operands[0][_window(operands[0].shape, offsets, sizes, [1] * len(sizes), op.name)]]


@evaluates(iree_ops.FLOW_TENSOR_UPDATE)
def _flow_update(interpreter, op, operands):
    view = view_of(op)
    target, update = interpreter.values[view.target], interpreter.values[view.update]
    offsets = [int(interpreter.values[v]) for v in view.start_indices]
    result = np.array(target)
    result[_window(result.shape, offsets, update.shape, [1] * len(offsets), op.name)] = update
    return [result]


@evaluates("tensor.concat")
def _concat(interpreter, op, operands):
    return [np.concatenate(operands, axis=ir.IntegerAttr(op.attributes["dim"]).value)]


@evaluates("tensor.pad")
def _pad(interpreter, op, operands):
    low = mixed(interpreter, op, "static_low", view_of(op).low)
    high = mixed(interpreter, op, "static_high", view_of(op).high)
    source = operands[0]
    if min([*low, *high], default=0) < 0:
        raise NoWitness("tensor.pad by a negative number")
    shape = [a + n + b for a, n, b in zip(low, source.shape, high, strict=False)]
    result = np.array(_generated(interpreter, op, shape, source.dtype))
    result[tuple(slice(a, a + n) for a, n in zip(low, source.shape, strict=False))] = source
    return [result]


@evaluates("tensor.generate")
def _generate(interpreter, op, operands):
    shape = shape_of(interpreter, op.results[0], operands)
    return [np.array(_generated(interpreter, op, shape, element_of_type(op.results[0].type).held))]


def _generated(interpreter, op, shape, dtype) -> np.ndarray:
    block = op.regions[0].blocks[0]
    indices = [
        np.arange(n).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        for axis, n in enumerate(shape)
    ]
    (value,) = interpreter.body(block, indices, shape, {})
    return np.broadcast_to(np.asarray(value).astype(dtype), shape)


# --- elements


@evaluates("tensor.extract", iree_ops.FLOW_TENSOR_LOAD)
def _extract(interpreter, op, operands):
    source = operands[0]
    indices = (
        operands[1 : 1 + source.ndim]
        if op.name == "tensor.extract"
        else [interpreter.values[v] for v in view_of(op).indices]
    )
    inside = []
    for index, size in zip(indices, source.shape, strict=True):
        index = np.asarray(index)
        if not ((index >= 0) & (index < size)).all():
            interpreter.undefined(f"{op.name} beyond the end of its tensor")
            if not size:
                raise NoWitness(f"{op.name} of a tensor without elements")
            index = np.clip(index, 0, size - 1)
        inside.append(index)
    return [np.asarray(source[tuple(inside)])]


@evaluates("tensor.insert", iree_ops.FLOW_TENSOR_STORE)
def _insert(interpreter, op, operands):
    result = np.array(operands[1])
    indices = tuple(int(i) for i in operands[2 : 2 + result.ndim])
    if any(not 0 <= i < n for i, n in zip(indices, result.shape, strict=False)):
        raise NoWitness(f"{op.name} beyond the end of its tensor")
    result[indices] = operands[0]
    return [result]


@evaluates("tensor.from_elements")
def _from_elements(interpreter, op, operands):
    shaped_type = ir.ShapedType(op.results[0].type)
    return [
        hold(np.array([np.asarray(v).reshape(()) for v in operands]), element_of_type(shaped_type)).reshape(
            shaped_type.shape
        )
    ]


# --- indices computed by maps


@evaluates("affine.apply", "affine.min", "affine.max")
def _affine(interpreter, op, operands):
    map_ = ir.AffineMapAttr(op.attributes["map"]).value
    loops, symbols = operands[: map_.n_dims], operands[map_.n_dims :]
    found = [value_of(expression, loops, symbols) for expression in map_.results]
    result = found[0]
    for other in found[1:]:
        result = (np.minimum if op.name == "affine.min" else np.maximum)(result, other)
    return [np.asarray(result, np.int64)]


@evaluates("linalg.map", "linalg.broadcast")
def _broadcast(interpreter, op, operands):
    if op.name == "linalg.map":
        block = op.regions[0].blocks[0]
        given = operands[: len(block.arguments)]
        (value,) = interpreter.body(block, given, np.shape(operands[-1]), {})
        return [np.array(np.broadcast_to(value, np.shape(operands[-1])))]
    added = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    return [np.array(np.broadcast_to(np.expand_dims(operands[0], added), operands[1].shape))]


@evaluates("linalg.transpose")
def _transpose(interpreter, op, operands):
    return [
        np.ascontiguousarray(operands[0].transpose(list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))))
    ]
