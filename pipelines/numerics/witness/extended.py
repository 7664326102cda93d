"""iree_linalg_ext ops: scans, selections, gathers and scatters, stages of FFTs, Winograd's transforms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from .registry import NoWitness, evaluates
from .structured import MOST_STEPS

_COMMUTATIVE = {
    "arith.addf",
    "arith.addi",
    "arith.mulf",
    "arith.muli",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "arith.maxsi",
    "arith.minsi",
    "arith.maxui",
    "arith.minui",
}
_DESCENDING = {"arith.cmpf": {2, 3, 9, 10}, "arith.cmpi": {4, 5}}
_ASCENDING = {"arith.cmpf": {4, 5, 11, 12}, "arith.cmpi": {2, 3}}
_STRICT = {"arith.cmpf": {2, 4, 9, 11}, "arith.cmpi": {2, 4}}


@evaluates(iree_ops.LINALG_EXT_SCAN)
def _scan(interpreter, op, operands):
    source, _, start = operands
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    inclusive = ir.BoolAttr(op.attributes["inclusive"]).value
    block = op.regions[0].blocks[0]
    inner = [o.operation.name for o in block.operations][:-1]
    if len(inner) != 1 or inner[0] not in _COMMUTATIVE:
        raise NoWitness("a scan whose combination is not one commutative op")
    parts = np.moveaxis(source, axis, 0)
    if not len(parts) or len(parts) > MOST_STEPS:
        raise NoWitness(f"a scan of {len(parts)} steps")
    found = [parts[0] if inclusive else np.broadcast_to(start, parts[0].shape)]
    for number in range(1, len(parts)):
        (value,) = interpreter.body(block, [found[-1], parts[number if inclusive else number - 1]], (), {})
        found.append(np.asarray(value))
    return [np.stack(found, axis=axis), np.array(found[-1])]


def _comparison(op, first: int = 0) -> tuple[int, bool, bool]:
    """Which pair of arguments is compared, whether the larger comes first, and whether equal ones are not ordered."""
    block = op.regions[0].blocks[0]
    inner = [o.operation for o in block.operations]
    if len(inner) != 2 or inner[0].name not in _DESCENDING:
        raise NoWitness(f"{op.name} by more than one comparison")
    predicate = ir.IntegerAttr(inner[0].attributes["predicate"]).value
    places = [next((i for i, a in enumerate(block.arguments) if a == v), -1) for v in inner[0].operands]
    pair, name = places[0] // 2, inner[0].name
    if sorted(places) != [2 * pair, 2 * pair + 1] or predicate not in _DESCENDING[name] | _ASCENDING[name]:
        raise NoWitness(f"{op.name} by an uncommon comparison")
    return pair, (predicate in _DESCENDING[name]) == (places[0] < places[1]), predicate in _STRICT[name]


def _sorted_places(keys: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Places in order; equal keys keep theirs."""
    if keys.dtype.kind == "f" and np.isnan(keys).any():
        raise NoWitness("an order of NaNs")
    if not descending:
        return np.argsort(keys, axis=axis, kind="stable")
    return np.flip(keys.shape[axis] - 1 - np.argsort(np.flip(keys, axis), axis=axis, kind="stable"), axis)


@evaluates(iree_ops.LINALG_EXT_SORT)
def _sort(interpreter, op, operands):
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    pair, descending, strict = _comparison(op)
    keys = operands[pair]
    places = _sorted_places(keys, axis, descending)
    ordered = np.take_along_axis(keys, places, axis)
    if strict and len(operands) > 1 and (np.diff(ordered, axis=axis) == 0).any():
        raise NoWitness("a sort of several tensors by keys that are equal")
    return [np.take_along_axis(a, places, axis) for a in operands]


@evaluates(iree_ops.LINALG_EXT_TOPK, iree_ops.LINALG_EXT_TOPK_V2)
def _topk(interpreter, op, operands):
    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    if op.name.endswith("_v2") and "is_sorted" not in op.attributes:
        interpreter.loose |= {result: (op, axis) for result in op.results}
    _, descending, _ = _comparison(op)
    outputs = len(op.results)
    inputs, starts = operands[: len(operands) - outputs], operands[len(operands) - outputs :]
    values, count = inputs[0], starts[0].shape[axis]
    if outputs > 1:
        numbers = (
            inputs[1]
            if len(inputs) > 1
            else np.broadcast_to(
                np.arange(values.shape[axis]).reshape([-1 if a == axis else 1 for a in range(values.ndim)]),
                values.shape,
            )
        )
    places = _sorted_places(values, axis, descending)
    if count > values.shape[axis]:
        raise NoWitness("a topk of more than there is")
    chosen = np.take(places, range(count), axis)
    best = np.take_along_axis(values, chosen, axis)
    worst = -np.inf if descending else np.inf
    if not op.name.endswith("_v2") and not (starts[0] == worst).all():
        beaten = (
            (best > starts[0].max(axis=axis, keepdims=True))
            if descending
            else (best < starts[0].min(axis=axis, keepdims=True))
        )
        if not beaten.all():
            raise NoWitness("a topk that starts from values of its own")
    if outputs == 1:
        return [best]
    return [best, np.take_along_axis(numbers, chosen, axis).astype(starts[1].dtype)]


def _index_parts(op, indices: np.ndarray, batch_rank: int) -> tuple[list[int], list[np.ndarray]]:
    """The dimensions of the tensor that indices select, and the index of each over the batch."""
    dimensions = list(ir.DenseI64ArrayAttr(op.attributes["dimension_map"]))
    parts = (
        [indices]
        if indices.ndim == batch_rank and len(dimensions) == 1
        else [indices[..., i] for i in range(len(dimensions))]
    )
    return dimensions, parts


@evaluates(iree_ops.LINALG_EXT_GATHER)
def _gather(interpreter, op, operands):
    source, indices, out = operands[0], operands[1], operands[-1]
    count = len(ir.DenseI64ArrayAttr(op.attributes["dimension_map"]))
    batch_rank = out.ndim - (source.ndim - count)
    dimensions, parts = _index_parts(op, indices, batch_rank)
    mask = operands[2].astype(bool) if len(operands) == 4 else np.ones(out.shape[:batch_rank], bool)
    mask = np.broadcast_to(mask.reshape(mask.shape + (1,) * (batch_rank - mask.ndim)), out.shape[:batch_rank])
    result = np.array(out)
    for place in _places(mask):
        result[place] = _at(source, dimensions, [part[place] for part in parts])
    return [result]


def _places(mask: np.ndarray) -> Iterator[tuple[int, ...]]:
    return (place for place in np.ndindex(mask.shape) if mask[place])


def _at(tensor: np.ndarray, dimensions: list[int], numbers: list) -> np.ndarray:
    """``tensor`` with the leading dimensions of ``dimensions`` selected."""
    index: list = [slice(None)] * tensor.ndim
    for axis, number in zip(dimensions, numbers, strict=True):
        if not 0 <= int(number) < tensor.shape[axis]:
            raise NoWitness("an index beyond the end of its tensor")
        index[axis] = int(number)
    return tensor[tuple(index)]


@evaluates(iree_ops.LINALG_EXT_SCATTER)
def _scatter(interpreter, op, operands):
    updates, indices, original = operands[0], operands[1], operands[-1]
    count = len(ir.DenseI64ArrayAttr(op.attributes["dimension_map"]))
    batch_rank = updates.ndim - (original.ndim - count)
    window = updates.shape[batch_rank:]
    dimensions, parts = _index_parts(op, indices, batch_rank)
    kept = [axis for axis in range(original.ndim) if axis not in dimensions]
    mask = operands[2].astype(bool) if len(operands) == 4 else np.ones(updates.shape[:batch_rank], bool)
    mask = np.broadcast_to(
        mask.reshape(mask.shape + (1,) * (batch_rank - mask.ndim)), updates.shape[:batch_rank]
    )
    result, block = np.array(original), op.regions[0].blocks[0]
    if mask.size > MOST_STEPS:
        raise NoWitness(f"a scatter of {mask.size} updates")
    for place in _places(mask):
        index: list = [0] * original.ndim
        for axis, part in zip(dimensions, parts, strict=True):
            index[axis] = int(part[place])
            if not 0 <= index[axis] < original.shape[axis]:
                raise NoWitness("an index beyond the end of its tensor")
        for axis, size in zip(kept, window, strict=True):
            index[axis] = slice(0, size)
        at = tuple(index)
        (value,) = interpreter.body(block, [updates[place], result[at]], (), {})
        result[at] = value
    return [result]


@evaluates(iree_ops.LINALG_EXT_FFT)
def _fft(interpreter, op, operands):
    """One stage of a radix-2 transform of the last dimension: pairs that lie half a block apart."""
    stage, (real, imaginary) = int(operands[0]), operands[-2:]
    size = 1 << stage
    if real.shape[-1] % size or not stage:
        raise NoWitness("an fft stage whose blocks do not fill the row")
    if len(operands) == 5:
        factors = operands[1] + 1j * operands[2]
        if factors.shape != (size // 2,):
            raise NoWitness("an fft stage with a table of another size")
    else:
        factors = np.exp(-2j * np.pi * np.arange(size // 2) / size)
    blocks = (real + 1j * imaginary).reshape(*real.shape[:-1], -1, 2, size // 2)
    even, odd = blocks[..., 0, :], blocks[..., 1, :] * factors
    whole = np.stack([even + odd, even - odd], axis=-2).reshape(real.shape)
    return [
        interpreter.settled(part, r.type)
        for part, r in zip((whole.real, whole.imag), op.results, strict=False)
    ]


_POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
"""Where IREE's transforms for tiles of 6 and kernels of 3 evaluate the polynomials, and at infinity (WinogradConstants.h, 3.13)."""


def _winograd_matrices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What transforms a tile of the input (8x8), a kernel (8x3), and back to the output (6x8): Cook and Toom's algorithm."""
    into, kernel = np.zeros((8, 8)), np.zeros((8, 3))
    for row, point in enumerate(_POINTS):
        others = np.poly([p for p in _POINTS if p != point])
        sign = -1.0 if row == 0 else 1.0  # of both, as IREE has them
        into[row, :7] = sign * others[::-1]
        kernel[row] = sign * point ** np.arange(3.0) / np.polyval(others, point)
    into[7], kernel[7, 2] = np.poly(_POINTS)[::-1], 1.0
    back = np.zeros((6, 8))
    back[:, :7] = np.array(_POINTS) ** np.arange(6.0)[:, None]
    back[5, 7] = 1.0
    return into, kernel, back


_INTO, _KERNEL, _BACK = _winograd_matrices()
_IN_TILE, _OUT_TILE, _KERNEL_SIZE = 8, 6, 3


def _winograd_axes(op, attribute: str) -> list[int]:
    sizes = [ir.IntegerAttr(op.attributes[name]).value for name in ("output_tile_size", "kernel_size")]
    if sizes != [_OUT_TILE, _KERNEL_SIZE]:
        raise NoWitness(f"{op.name} of tiles of {sizes[0]} and kernels of {sizes[1]}")
    return list(ir.DenseI64ArrayAttr(op.attributes[attribute]))


def _both_ways(matrix: np.ndarray, tiles: np.ndarray) -> np.ndarray:
    """``matrix`` applied to the first two dimensions."""
    return np.einsum("ai,bj,ij...->ab...", matrix, matrix, tiles)


@evaluates(iree_ops.LINALG_EXT_WINOGRAD_INPUT_TRANSFORM)
def _winograd_input(interpreter, op, operands):
    """Tiles of 8x8, 6 apart, beyond the end 0; the result has them in front: 8x8, batch, rows, columns, channels."""
    image = np.moveaxis(operands[0], _winograd_axes(op, "image_dimensions"), (1, 2))
    rows, columns = operands[1].shape[3:5]
    needed = [(tiles - 1) * _OUT_TILE + _IN_TILE for tiles in (rows, columns)]
    image = np.pad(image, [(0, 0), *((0, max(0, n - have)) for n, have in zip(needed, image.shape[1:3], strict=True)), (0, 0)])  # fmt: skip
    windows = np.lib.stride_tricks.sliding_window_view(image, (_IN_TILE, _IN_TILE), (1, 2))
    tiles = windows[:, : needed[0] : _OUT_TILE, : needed[1] : _OUT_TILE][:, :rows, :columns]
    return [interpreter.settled(_both_ways(_INTO, np.moveaxis(tiles, (-2, -1), (0, 1))), op.results[0].type)]


@evaluates(iree_ops.LINALG_EXT_WINOGRAD_FILTER_TRANSFORM)
def _winograd_filter(interpreter, op, operands):
    """Kernels of 3x3 as tiles of 8x8, which come first."""
    kernels = np.moveaxis(operands[0], _winograd_axes(op, "kernel_dimensions"), (0, 1))
    if kernels.shape[:2] != (_KERNEL_SIZE, _KERNEL_SIZE):
        raise NoWitness(f"{op.name} of kernels of {kernels.shape[0]}x{kernels.shape[1]}")
    if _winograd_axes(op, "kernel_dimensions") == [2, 3]:  # filters come first there, channels in the result
        kernels = np.swapaxes(kernels, 2, 3)
    return [interpreter.settled(_both_ways(_KERNEL, kernels), op.results[0].type)]


@evaluates(iree_ops.LINALG_EXT_WINOGRAD_OUTPUT_TRANSFORM)
def _winograd_output(interpreter, op, operands):
    """Tiles of 8x8, which come first, as tiles of 6x6 side by side."""
    axes = _winograd_axes(op, "image_dimensions")
    tiles = _both_ways(_BACK, operands[0])  # 6, 6, batch, rows, columns, channels
    _, _, batch, rows, columns, channels = tiles.shape
    image = tiles.transpose(2, 3, 0, 4, 1, 5).reshape(batch, rows * _OUT_TILE, columns * _OUT_TILE, channels)
    image = np.moveaxis(image, (1, 2), axes)
    if image.shape != operands[1].shape:
        raise NoWitness(f"{op.name} whose tiles are larger than its result")
    return [interpreter.settled(image, op.results[0].type)]
