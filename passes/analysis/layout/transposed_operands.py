"""Transpositions that a convolution reads: IREE folds them into its indexing map, and on llvm-cpu no longer vectorises it.

IREE 3.13 vectorises a convolution over one or two windowed dimensions whose operands are in the order of linalg's `nhwc_hwcf`, `nchw_fchw` or
`nhwc_hwc` ops, batches and windows of one element left out. A transposition that dispatch creation folds into it (ElementwiseOpFusion) changes the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir

from ..dispatch.linear_index import Linear, linear_index
from ..dispatch.structure import structure_of


@dataclass(frozen=True)
class Convolution:
    """The loops of one: those over the result's positions, each with its window's, over the result's and the operands' channels."""

    positions: tuple[int, ...]
    windows: tuple[int, ...]
    results: tuple[int, ...]
    channels: tuple[int, ...]


def transpositions_read(op: ir.Operation) -> list[ir.Operation]:
    """The transpositions whose results ``op`` reads, where it is a convolution in an order that IREE vectorises; else none."""
    if len(op.operands) != 3:
        return []
    made = [value.owner.operation for value in op.operands if not isinstance(value.owner, ir.Block)]
    found = [one for one in made if is_transposition(one)]
    return found if found and is_vectorised_convolution(op) else []


def is_transposition(op: ir.Operation) -> bool:
    """Whether ``op`` moves the elements of one tensor to the places of another order, and computes nothing."""
    if op.name not in ("linalg.generic", "linalg.transpose") or len(op.operands) != 2:
        return False
    body = op.regions[0].blocks[0]
    first = body.operations[0].operation
    if first.name != "linalg.yield" or first.operands[0] != body.arguments[0]:
        return False
    structure = structure_of(op)
    if structure is None or not structure.all_parallel:
        return False
    source, result = structure.maps
    moved = sorted(str(one) for one in source.results) == sorted(str(one) for one in result.results)
    return moved and source != result


def is_vectorised_convolution(op: ir.Operation) -> bool:
    """Whether IREE vectorises ``op`` on llvm-cpu, as it stands, as a convolution."""
    structure = structure_of(op)
    if structure is None or len(structure.maps) != 3:
        return False
    indices = [[linear_index(one, structure.loops) for one in each.results] for each in structure.maps]
    if any(one is None for each in indices for one in each):
        return False
    image, weights, result = ([one for one in each if one is not None] for each in indices)
    loops = _loops(image, weights, result)
    if loops is None:
        return False
    order = [one.loop for one in weights]
    if not loops.channels:  # nhwc_hwc
        return order == [*loops.windows, *loops.results] and result[-1].loop == image[-1].loop == order[-1]
    if order == [*loops.windows, *loops.channels, *loops.results]:  # nhwc_hwcf
        return image[-1].loop == loops.channels[-1] and result[-1].loop == loops.results[-1]
    first = len(image) - len(loops.positions)
    return (
        order == [*loops.results, *loops.channels, *loops.windows]
        and all(  # nchw_fchw
            len(one.loops) == 2 for one in image[first:]
        )
    )


def _loops(
    image: Sequence[Linear], weights: Sequence[Linear], result: Sequence[Linear]
) -> Convolution | None:
    """None where it is no convolution of one or two windows, with one loop for each channel."""
    if any(one.loop is None for one in (*weights, *result)):
        return None
    written, weighted = [one.loop for one in result], [one.loop for one in weights]
    windowed = [one for one in image if len(one.loops) == 2]
    pairs = [sorted(one.loops, key=lambda loop: loop not in written) for one in windowed]
    if not 1 <= len(pairs) <= 2 or any(window in written or place not in written for place, window in pairs):
        return None
    windows = tuple(window for _place, window in pairs)
    alone = [one.loop for one in image if one.loop is not None]
    channels = tuple(loop for loop in weighted if loop in alone and loop not in written and loop is not None)
    results = tuple(loop for loop in weighted if loop in written and loop is not None)
    if len(channels) > 1 or len(results) != 1:
        return None
    return Convolution(tuple(place for place, _window in pairs), windows, results, channels)
