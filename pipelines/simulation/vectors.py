"""Vectors in registers: shapes, parts, masks, reductions and contractions. Axis 0 of every array is the threads'."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from fissile.pipelines.numerics.witness.elements import element_of_type, from_bits, hold, to_bits
from fissile.pipelines.numerics.witness.registry import NoWitness

from .machine import Machine, mixed, numbers, simulates, vector_shape

_COMBINERS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "minui": np.minimum,
    "minsi": np.minimum,
    "minnumf": np.fmin,
    "minimumf": np.minimum,
    "maxui": np.maximum,
    "maxsi": np.maximum,
    "maxnumf": np.fmax,
    "maximumf": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def combiner(attribute: ir.Attribute) -> np.ufunc:
    """Of `#vector.kind<add>` or `#gpu<all_reduce_op add>`."""
    name = str(attribute).rstrip(">").replace("<", " ").split()[-1]
    if name in ("minui", "maxui") or name not in _COMBINERS:
        raise NoWitness(f"a reduction by {name}")
    return _COMBINERS[name]


def _settled(machine: Machine, value: np.ndarray, type_: ir.Type) -> np.ndarray:
    element = element_of_type(type_)
    return hold(value, element) if element.kind == "integer" else machine.settled(value, type_)


@simulates("ub.poison")
def _poison(machine: Machine, op, operands):
    element = element_of_type(op.results[0].type)
    garbage = (
        np.nan if element.kind != "integer" else True if element.bits == 1 else 85 % (1 << (element.bits - 1))
    )
    return [np.full((1, *vector_shape(op.results[0].type)), garbage, element.held)]


@simulates("vector.broadcast", "vector.splat")
def _broadcast(machine: Machine, op, operands):
    shape, value = vector_shape(op.results[0].type), operands[0]
    missing = len(shape) + 1 - value.ndim
    value = value.reshape((value.shape[0],) + (1,) * missing + value.shape[1:])
    return [np.broadcast_to(value, (value.shape[0], *shape))]


@simulates("vector.shape_cast")
def _shape_cast(machine: Machine, op, operands):
    value = operands[0]
    return [np.reshape(value, (value.shape[0], *vector_shape(op.results[0].type)))]


@simulates("vector.transpose")
def _transpose(machine: Machine, op, operands):
    return [np.transpose(operands[0], [0, *(1 + axis for axis in numbers(op, "permutation"))])]


@simulates("vector.bitcast")
def _bitcast(machine: Machine, op, operands):
    before, after = element_of_type(op.operands[0].type), element_of_type(op.results[0].type)
    if before.bits < 8 or after.bits < 8:
        raise NoWitness("a bitcast of parts of a byte")
    bits = np.ascontiguousarray(to_bits(operands[0], before)).astype(f"<u{before.bits // 8}")
    return [from_bits(bits.view(f"<u{after.bits // 8}"), after)]


@simulates("vector.step")
def _step(machine: Machine, op, operands):
    (size,) = vector_shape(op.results[0].type)
    return [np.arange(size, dtype=np.int64)[None]]


@simulates("vector.from_elements")
def _from_elements(machine: Machine, op, operands):
    stacked = np.stack(np.broadcast_arrays(*operands), axis=1)
    return [stacked.reshape(stacked.shape[0], *vector_shape(op.results[0].type))]


@simulates("vector.to_elements")
def _to_elements(machine: Machine, op, operands):
    flat = operands[0].reshape(operands[0].shape[0], -1)
    return [flat[:, i] for i in range(flat.shape[1])]


# --- parts


def _position(op: ir.Operation, dynamic: list) -> list:
    return mixed(op, "static_position", dynamic)


def _pick(value: np.ndarray, position: list) -> np.ndarray:
    """``value`` at the first axes' ``position``, which may differ between threads."""
    if all(isinstance(n, int) for n in position):
        return value[(slice(None), *position)]
    at = [np.atleast_1d(np.asarray(n)) for n in position]
    threads = max(value.shape[0], *(one.shape[0] for one in at))
    value = np.broadcast_to(value, (threads, *value.shape[1:]))
    # A masked thread's index may be anything.
    inside = [np.clip(one, 0, size - 1) for one, size in zip(at, value.shape[1:], strict=False)]
    return value[(np.arange(threads), *(np.broadcast_to(one, threads) for one in inside))]


@simulates("vector.extract")
def _extract(machine: Machine, op, operands):
    return [_pick(operands[0], _position(op, operands[1:]))]


@simulates("vector.extractelement")
def _extract_element(machine: Machine, op, operands):
    return [_pick(operands[0], operands[1:])]


@simulates("vector.insert")
def _insert(machine: Machine, op, operands):
    part, whole, *dynamic = operands
    position = _position(op, dynamic)
    at = [np.atleast_1d(np.asarray(n)) for n in position]
    threads = max([part.shape[0], whole.shape[0], *(one.shape[0] for one in at)])
    result = np.array(np.broadcast_to(whole, (threads, *whole.shape[1:])))
    if not position:
        return [np.broadcast_to(part, result.shape)]
    inside = [np.clip(one, 0, size - 1) for one, size in zip(at, result.shape[1:], strict=False)]
    result[(np.arange(threads), *(np.broadcast_to(one, threads) for one in inside))] = part
    return [result]


@simulates("vector.extract_strided_slice")
def _extract_slice(machine: Machine, op, operands):
    offsets, sizes = numbers(op, "offsets"), numbers(op, "sizes")
    return [operands[0][(slice(None), *(slice(o, o + n) for o, n in zip(offsets, sizes, strict=True)))]]


@simulates("vector.insert_strided_slice")
def _insert_slice(machine: Machine, op, operands):
    part, whole = operands
    offsets = numbers(op, "offsets")
    threads = max(part.shape[0], whole.shape[0])
    result = np.array(np.broadcast_to(whole, (threads, *whole.shape[1:])))
    leading = len(offsets) - (part.ndim - 1)
    shape = (1,) * leading + part.shape[1:]
    window = tuple(slice(o, o + n) for o, n in zip(offsets, shape, strict=True))
    result[(slice(None), *window)] = part.reshape(part.shape[0], *shape)
    return [result]


@simulates("vector.shuffle")
def _shuffle(machine: Machine, op, operands):
    first, second = operands
    threads = max(first.shape[0], second.shape[0])
    both = np.concatenate([np.broadcast_to(v, (threads, *v.shape[1:])) for v in operands], axis=1)
    return [both[:, numbers(op, "mask")]]


@simulates("vector.interleave")
def _interleave(machine: Machine, op, operands):
    both = np.stack(np.broadcast_arrays(*operands), axis=-1)
    return [both.reshape(*both.shape[:-2], -1)]


@simulates("vector.deinterleave")
def _deinterleave(machine: Machine, op, operands):
    return [operands[0][..., ::2], operands[0][..., 1::2]]


# --- masks


@simulates("vector.create_mask")
def _create_mask(machine: Machine, op, operands):
    shape = vector_shape(op.results[0].type)
    mask = np.ones((1,) * (len(shape) + 1), bool)
    for axis, (size, bound) in enumerate(zip(shape, operands, strict=True)):
        along = np.arange(size).reshape((1,) + tuple(size if a == axis else 1 for a in range(len(shape))))
        mask = mask & (along < bound.reshape(bound.shape + (1,) * len(shape)))
    return [np.broadcast_to(mask, (mask.shape[0], *shape))]


@simulates("vector.constant_mask")
def _constant_mask(machine: Machine, op, operands):
    shape = vector_shape(op.results[0].type)
    mask = np.zeros((1, *shape), bool)
    inside: tuple = (0, *(slice(n) for n in numbers(op, "mask_dim_sizes")))
    mask[inside] = True
    return [mask]


# --- sums


@simulates("vector.multi_reduction")
def _multi_reduction(machine: Machine, op, operands):
    value, start = operands
    combine, axes = combiner(op.attributes["kind"]), [1 + axis for axis in numbers(op, "reduction_dims")]
    return [_settled(machine, combine(_reduced(combine, value, tuple(axes)), start), op.results[0].type)]


def _reduced(combine, value: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    for axis in sorted(axes, reverse=True):
        value = combine.reduce(value, axis=axis)
    return value


@simulates("vector.reduction")
def _reduction(machine: Machine, op, operands):
    value, *start = operands
    combine = combiner(op.attributes["kind"])
    result = _reduced(combine, value, (1,)) if value.ndim > 1 else value
    for one in start:
        result = combine(result, one)
    return [_settled(machine, result, op.results[0].type)]


@simulates("vector.contract")
def _contract(machine: Machine, op, operands):
    left, right, start = operands[:3]
    maps = [ir.AffineMapAttr(one).value for one in ir.ArrayAttr(op.attributes["indexing_maps"])]
    loops = [[expression.position for expression in map_.results] for map_ in maps]
    element = element_of_type(op.results[0].type)
    kind = str(op.attributes["kind"])
    if "add" not in kind:
        raise NoWitness(f"vector.contract with {kind}")
    wide = np.int64 if element.kind == "integer" else np.float64
    threads = 50  # a letter of einsum beyond those of loops
    product = np.einsum(
        left.astype(wide),
        [threads, *loops[0]],
        right.astype(wide),
        [threads, *loops[1]],
        [threads, *loops[2]],
        optimize=False,
    )
    return [_settled(machine, product + start, op.results[0].type)]


@simulates("vector.outerproduct")
def _outer(machine: Machine, op, operands):
    left, right, *start = operands
    if right.ndim == 1:
        right = right[:, None]
        product = left * right
    else:
        product = left[:, :, None] * right[:, None, :]
    if start:
        product = combiner(op.attributes["kind"])(product, start[0])
    return [_settled(machine, product, op.results[0].type)]


@simulates("vector.fma")
def _fma(machine: Machine, op, operands):
    return [machine.settled(operands[0] * operands[1] + operands[2], op.results[0].type)]
