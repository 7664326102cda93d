"""Buffers of a kernel's own, and memrefs that are views of others."""

from __future__ import annotations

import math

import numpy as np
from iree.compiler import ir

from fissile.pipelines.numerics.witness.elements import element_of_type
from fissile.pipelines.numerics.witness.registry import NoWitness
from fissile.pipelines.numerics.witness.tensors import kept_dimensions

from .machine import Machine, mixed, segments, simulates, vector_shape
from .memory import Buffer, View, storage, suffix_strides, uniform


@simulates("memref.alloc", "memref.alloca")
def _alloc(machine: Machine, op, operands):
    type_ = ir.MemRefType(op.results[0].type)
    element = element_of_type(type_.element_type)
    sizes, _symbols = segments(op, operands)
    given = iter(sizes)
    # Of a size that differs between threads each gets the largest.
    shape = [
        int(np.max(np.asarray(next(given)))) if type_.is_dynamic_dim(i) else type_.get_dim_size(i)
        for i in range(type_.rank)
    ]
    shared = "workgroup" in str(type_.memory_space)
    size = storage(element).itemsize
    copies = len(machine.launch.workgroups) if shared else machine.launch.threads
    rows = machine.workgroup_of if shared else np.arange(machine.launch.threads)
    name = f"{'workgroup' if shared else 'private'} memory {'x'.join(map(str, shape))}x{element.text}"
    buffer = Buffer(name, copies, math.prod(shape) * size, rows, shared, size)
    return [View(buffer, element, 0, tuple(shape), suffix_strides(shape))]


@simulates("bufferization.to_buffer")
def _to_buffer(machine: Machine, op, operands):
    """A constant's own memory."""
    type_ = ir.MemRefType(op.results[0].type)
    element, value = element_of_type(type_.element_type), np.asarray(operands[0][0])
    dtype = storage(element)
    buffer = Buffer(
        "a constant", 1, value.size * dtype.itemsize, np.zeros(machine.launch.threads, np.int64), False
    )
    buffer.elements(dtype)[0] = value.reshape(-1).astype(dtype)
    return [View(buffer, element, 0, value.shape, suffix_strides(value.shape))]


@simulates("memref.dealloc")
def _dealloc(machine, op, operands):
    return []


@simulates("memref.assume_alignment", "memref.cast", "memref.memory_space_cast")
def _same(machine, op, operands):
    return operands[:1]


@simulates("amdgpu.fat_raw_buffer_cast")
def _fat_raw(machine, op, operands):
    return [operands[0].changed(checked=True)]


@simulates("memref.subview")
def _subview(machine: Machine, op, operands):
    source, offsets, sizes, strides = segments(op, operands)
    view: View = source[0]
    offsets = mixed(op, "static_offsets", offsets)
    sizes = mixed(op, "static_sizes", sizes)
    strides = mixed(op, "static_strides", strides)
    offset = view.offset
    for at, step in zip(offsets, view.strides, strict=True):
        offset = offset + at * step
    type_ = ir.ShapedType(op.results[0].type)
    kept = kept_dimensions(type_, [size if isinstance(size, int) else None for size in sizes])
    if len(kept) != type_.rank:
        raise NoWitness("a subview whose dropped dimensions are not clear")
    return [
        view.changed(
            offset=offset,
            sizes=tuple(sizes[i] for i in kept),
            strides=tuple(
                a * b for i, (a, b) in enumerate(zip(strides, view.strides, strict=True)) if i in kept
            ),
        )
    ]


@simulates("memref.expand_shape")
def _expand(machine: Machine, op, operands):
    view, sizes = operands[0], mixed(op, "static_output_shape", operands[1:])
    strides: list = [0] * len(sizes)
    for group, step in zip(_groups(op), view.strides, strict=True):
        for axis in reversed(group):
            strides[axis] = step
            step = step * sizes[axis]
    return [view.changed(sizes=tuple(sizes), strides=tuple(strides))]


@simulates("memref.collapse_shape")
def _collapse(machine: Machine, op, operands):
    view = operands[0]
    sizes, strides = [], []
    for group in _groups(op):
        size = 1
        for axis in group:
            size = size * view.sizes[axis]
        long = [axis for axis in group if not (isinstance(view.sizes[axis], int) and view.sizes[axis] == 1)]
        sizes.append(size)
        strides.append(view.strides[(long or group)[-1]])
    return [view.changed(sizes=tuple(sizes), strides=tuple(strides))]


def _groups(op: ir.Operation) -> list[list[int]]:
    return [
        [ir.IntegerAttr(i).value for i in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(op.attributes["reassociation"])
    ]


@simulates("memref.extract_strided_metadata")
def _metadata(machine: Machine, op, operands):
    view: View = operands[0]
    base = view.changed(offset=0, sizes=(), strides=())
    values = [np.atleast_1d(np.asarray(n, np.int64)) for n in (view.offset, *view.sizes, *view.strides)]
    return [base, *values]


@simulates("memref.reinterpret_cast")
def _reinterpret(machine: Machine, op, operands):
    source, offsets, sizes, strides = segments(op, operands)
    (offset,) = mixed(op, "static_offsets", offsets)
    return [
        source[0].changed(
            offset=offset,
            sizes=tuple(mixed(op, "static_sizes", sizes)),
            strides=tuple(mixed(op, "static_strides", strides)),
        )
    ]


@simulates("memref.view")
def _view(machine: Machine, op, operands):
    view, shift, *sizes = operands
    type_ = ir.MemRefType(op.results[0].type)
    element, given = element_of_type(type_.element_type), iter(sizes)
    shape = [
        uniform(next(given), "a size") if type_.is_dynamic_dim(i) else type_.get_dim_size(i)
        for i in range(type_.rank)
    ]
    start = (np.asarray(view.offset) + shift) // storage(element).itemsize
    return [View(view.buffer, element, start, tuple(shape), suffix_strides(shape), view.checked)]


@simulates("memref.dim")
def _dim(machine: Machine, op, operands):
    return [np.atleast_1d(np.asarray(operands[0].sizes[uniform(operands[1], "a dimension")], np.int64))]


# --- single elements and vectors of neighbours


def _neighbours(machine: Machine, view: View, indices: list, shape: tuple[int, ...]) -> np.ndarray:
    """Places of a vector of ``shape`` that begins at ``indices`` and runs along the last dimensions."""
    rank = len(shape)
    wide = [index.reshape(index.shape + (1,) * rank) for index in indices]
    for axis, size in enumerate(shape):
        at = len(indices) - rank + axis
        wide[at] = wide[at] + np.arange(size).reshape(
            (1,) + tuple(size if a == axis else 1 for a in range(rank))
        )
    places = view.linear(wide) if wide else _per_thread_place(view)
    return np.broadcast_to(places, (places.shape[0], *shape))


def _per_thread_place(view: View) -> np.ndarray:
    return np.atleast_1d(np.asarray(view.offset, np.int64))


@simulates("memref.load", "vector.load")
def _load(machine: Machine, op, operands):
    view, *indices = operands
    places = _neighbours(machine, view, indices, vector_shape(op.results[0].type))
    return [machine.memory.read(view, places, machine.active)]


@simulates("memref.store", "vector.store")
def _store(machine: Machine, op, operands):
    value, view, *indices = operands
    places = _neighbours(machine, view, indices, vector_shape(op.operands[0].type))
    machine.memory.write(view, places, value, machine.active)
    return []


@simulates("vector.maskedload")
def _masked_load(machine: Machine, op, operands):
    view, *indices, mask, otherwise = operands
    places = _neighbours(machine, view, indices, vector_shape(op.results[0].type))
    active = machine.active.reshape((-1,) + (1,) * (places.ndim - 1)) & mask
    return [np.where(mask, machine.memory.read(view, places, active), otherwise)]


@simulates("vector.maskedstore")
def _masked_store(machine: Machine, op, operands):
    view, *indices, mask, value = operands
    places = _neighbours(machine, view, indices, vector_shape(op.operands[-1].type))
    active = machine.active.reshape((-1,) + (1,) * (places.ndim - 1)) & mask
    machine.memory.write(view, places, value, active)
    return []


@simulates("memref.copy")
def _copy(machine: Machine, op, operands):
    source, target = operands
    sizes = [np.atleast_1d(np.asarray(size, np.int64)) for size in source.sizes]
    shape = tuple(int(size.max()) for size in sizes)
    start = [np.zeros(1, np.int64)] * len(shape)
    inside = machine.active.reshape((-1,) + (1,) * len(shape))
    for axis, size in enumerate(sizes):
        along = np.arange(shape[axis]).reshape(
            (1,) + tuple(-1 if a == axis else 1 for a in range(len(shape)))
        )
        inside = inside & (along < size.reshape((-1,) + (1,) * len(shape)))
    values = machine.memory.read(source, _neighbours(machine, source, start, shape), inside)
    machine.memory.write(target, _neighbours(machine, target, start, shape), values, inside)
    return []
