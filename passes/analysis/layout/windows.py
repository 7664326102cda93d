"""The windows of a convolution: which loops step through them, and where each of their elements is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from iree.compiler import ir

from ..dispatch.linear_index import Linear, linear_index
from ..dispatch.structure import Structure, structure_of


@dataclass(frozen=True)
class Window:
    """One windowed dimension of the image: it is read at ``stride * position + dilation * loop + start``."""

    dim: int
    loop: int
    position: int
    stride: int
    dilation: int
    start: int
    extent: int
    """Elements of the window along it."""


@dataclass(frozen=True)
class Windows:
    """``image`` and ``weights`` are numbers of operands, as are ``scalars``, which are zero points, for example; the last operand is the sum so far."""

    structure: Structure
    image: int
    weights: int
    windows: tuple[Window, ...]
    scalars: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Elements of one window, channels aside."""
        return prod(window.extent for window in self.windows)

    @property
    def sums_channels(self) -> bool:
        """Whether a loop besides the windows' is a reduction."""
        own = {window.loop for window in self.windows}
        return any(not parallel and loop not in own for loop, parallel in enumerate(self.structure.parallel))


def windows_of(op: ir.Operation) -> Windows | None:
    """Those of ``op``, a reduction over two tensors; None where it has none, a size is not static, or an index no such sum."""
    structure = structure_of(op)
    if structure is None or structure.all_parallel or len(op.results) != 1:
        return None
    scalars = tuple(number for number, each in enumerate(structure.maps) if not each.results)
    tensors = [number for number in range(len(structure.maps)) if number not in scalars]
    if len(tensors) != 3 or tensors[-1] != len(structure.maps) - 1:
        return None
    types = {number: op.operands[number].type for number in tensors}
    if not all(isinstance(type_, ir.RankedTensorType) and type_.has_static_shape for type_ in types.values()):
        return None
    indices = {number: _indices(structure.maps[number], structure.loops) for number in tensors}
    result = indices[tensors[-1]]
    if any(each is None for each in indices.values()) or result is None or not _combines(op, tensors):
        return None
    for image, weights in (tensors[:2], tensors[1::-1]):
        read, weighted = indices[image], indices[weights]
        assert read is not None and weighted is not None
        if any(one.loop is None for one in (*weighted, *result)):
            continue
        sizes = dict(
            zip((one.loop for one in weighted), ir.RankedTensorType(types[weights]).shape, strict=True)
        )
        loops = [[one.loop for one in each] for each in (weighted, result)]
        found = _windows(read, loops[1], sizes)
        if found and all(len(set(each)) == len(each) for each in loops):
            return Windows(structure, image, weights, found, scalars)
    return None


def _indices(map_: ir.AffineMap, loops: int) -> list[Linear] | None:
    found = [linear_index(one, loops) for one in map_.results]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def _windows(
    read: Sequence[Linear], written: Sequence[int | None], sizes: dict[int | None, int]
) -> tuple[Window, ...]:
    """Of the image's indices; empty where one of them is anything else than a loop, or a position and its window."""
    found = []
    for dim, index in enumerate(read):
        if index.loop is not None:
            continue
        steps = index.steps
        inside = [loop for loop in steps if loop not in written]
        if len(steps) != 2 or len(inside) != 1 or inside[0] not in sizes or index.constant < 0:
            return ()
        [position] = [loop for loop in steps if loop in written] or [-1]
        if position < 0 or min(steps.values()) < 1:
            return ()
        loop = inside[0]
        found.append(Window(dim, loop, position, steps[position], steps[loop], index.constant, sizes[loop]))
    loops = [window.loop for window in found]
    alone = {index.loop for index in read}
    return tuple(found) if len(set(loops)) == len(loops) and not alone & {*loops} else ()


def _combines(op: ir.Operation, tensors: Sequence[int]) -> bool:
    """Whether the body reads all ``tensors``, the sum so far among them, and no index of a loop."""
    body = op.regions[0].blocks[0]
    names = [one.operation.name for one in body.operations]
    return "linalg.index" not in names and all(len(list(body.arguments[number].uses)) for number in tensors)
