"""A convolution as one product for each element of its window, each of which IREE vectorises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.layout.windows import Windows, windows_of
from fissile.passes.checks.speed.unvectorised import MOST_ELEMENTS
from fissile.passes.definition import register_pass

from ..fusion.place_boundaries import BOUNDARY
from ..generic_ops import build_generic
from ..rebuilt_ops import copy_into
from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class UnrollWindows(OpRemedy):
    """Replaces chosen convolutions by a chain of ops, one for each element of the window, each of which adds its terms to what the one before computed.

    On llvm-cpu IREE 3.13 vectorises a convolution in three orders of its operands only: none of three dimensions, none with groups, no depthwise one in
    the order of PyTorch and ONNX. What reads one element of the window is a product without windows, which it vectorises in any order; those of a
    depthwise convolution are elementwise, and become one dispatch. Run it after global optimisation.
    """

    name: ClassVar[str] = "fissile-unroll-windows"
    order: ClassVar[int] = 49
    cures: ClassVar[tuple[str, ...]] = ("FIS212",)
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "computes a convolution as one product for each element of its window"
    repairs: ClassVar[str] = (
        "convolutions that IREE does not vectorise on llvm-cpu (FIS212): of three dimensions, with groups, depthwise ones in the order NCHW"
    )
    numbers: ClassVar[str] = "terms are summed in another order"
    counterpart: ClassVar[str] = (
        "IREE's preprocessing converts convolutions to the order NHWC, which is slower on llvm-cpu (`iree-preprocessing-convert-conv-to-channels-last`)."
    )
    done: ClassVar[str] = "computed {ops} as one product for each element of the window"
    advice: ClassVar[str] = "compute {ops} as one product for each element of the window"
    refusal: ClassVar[str] = "{op} cannot be unrolled: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("linalg", "tensor")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        found = windows_of(op)
        if found is None:
            return Match("it is no convolution of static sizes")
        if not 1 < found.count <= MOST_ELEMENTS:
            return Match(f"its window has {found.count} elements, and not 2 to {MOST_ELEMENTS}")
        return FITS

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        unroll_windows(ops)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the sums so far are read and written once for each element of the window"


def unroll_windows(ops: Iterable[ir.Operation]) -> None:
    """Rewrites ``ops``, each of which matches; they are other operations afterwards."""
    for op in ops:
        found = windows_of(op)
        assert found is not None  # `match`
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(_chain(op, found))
        op.erase()


def _chain(op: ir.Operation, found: Windows) -> ir.Value:
    """The value that takes the place of ``op``'s. Without sums over channels all steps are one op: they are elementwise."""
    weights, order = _weights(op, found)
    steps = []
    for at in product(*(range(window.extent) for window in found.windows)):
        element = dict(zip((window.loop for window in found.windows), at, strict=True))
        steps.append((_part_of_image(op, found, element), _part_of_weights(weights, order, element)))
    value = op.operands[len(op.operands) - 1]
    for some in [[step] for step in steps] if found.sums_channels else [steps]:
        value = _added(op, found, some, order, value)
    return value


def _added(
    op: ir.Operation,
    found: Windows,
    steps: Sequence[tuple[ir.Value, ir.Value]],
    order: Sequence[int],
    value: ir.Value,
) -> ir.Value:
    """``value`` with the terms of ``steps``, parts of the image and of the weights, in the order of the parts."""
    windows = {window.loop for window in found.windows}
    written = _written(
        found
    )  # the order of the loops is that of the result: IREE vectorises the last one that is parallel
    summed = [loop for loop in range(found.structure.loops) if loop not in windows and loop not in written]
    loops = [*written, *summed]
    numbered = {loop: number for number, loop in enumerate(loops)}
    image, weights, result = (
        _map([numbered[loop] for loop in dims], len(loops))
        for dims in (_image_loops(found), [loop for loop in order if loop in numbered], written)
    )
    parts = [part for step in steps for part in step]
    operands = [*parts, *(op.operands[number] for number in found.scalars)]
    scalar = _map([], len(loops))
    maps = [*(image, weights) * len(steps), *[scalar] * len(found.scalars), result]
    parallel = [found.structure.parallel[loop] for loop in loops]
    generic, block = build_generic(operands, [value], maps, parallel, op)
    body = op.regions[0].blocks[0]
    sum_so_far = block.arguments[len(operands)]
    scalars = {
        body.arguments[number]: block.arguments[len(parts) + at] for at, number in enumerate(found.scalars)
    }
    with ir.InsertionPoint(block):
        for number in range(len(steps)):
            given = {
                body.arguments[found.image]: block.arguments[2 * number],
                body.arguments[found.weights]: block.arguments[2 * number + 1],
                body.arguments[len(body.arguments) - 1]: sum_so_far,
                **scalars,
            }
            *inside, end = [inner.operation for inner in body.operations]
            for inner in inside:
                copy_into(inner, given)
            sum_so_far = given.get(end.operands[0], end.operands[0])
        linalg.YieldOp([sum_so_far])
    return generic.results[0]


def _map(dims: Sequence[int], count: int) -> ir.AffineMap:
    return ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(dim) for dim in dims])


def _image_loops(found: Windows) -> list[int]:
    """The loop over each dimension of one element's part of the image."""
    positions = {window.dim: window.position for window in found.windows}
    read = found.structure.maps[found.image].results
    return [
        positions[dim] if dim in positions else ir.AffineDimExpr(one).position for dim, one in enumerate(read)
    ]


def _written(found: Windows) -> list[int]:
    return [ir.AffineDimExpr(one).position for one in found.structure.maps[-1].results]


def _weights(op: ir.Operation, found: Windows) -> tuple[ir.Value, list[int]]:
    """The weights, and the loop of each of their dimensions: the windows' first where channels are summed, so that a part of them is read in one piece."""
    value = op.operands[found.weights]
    order = [ir.AffineDimExpr(one).position for one in found.structure.maps[found.weights].results]
    windows = [window.loop for window in found.windows]
    wanted = [*(loop for loop in order if loop in windows), *(loop for loop in order if loop not in windows)]
    if order == wanted or not found.sums_channels:
        return value, order
    type_ = ir.RankedTensorType(value.type)
    sizes = dict(zip(order, type_.shape, strict=True))
    empty = tensor.EmptyOp([sizes[loop] for loop in wanted], type_.element_type).result
    maps = [
        _map([wanted.index(loop) for loop in order], len(order)),
        ir.AffineMap.get_identity(len(order)),
    ]
    generic, block = build_generic([value], [empty], maps, [True] * len(order))
    with ir.InsertionPoint(block):
        linalg.YieldOp([block.arguments[0]])
    moved = generic.results[0]
    return ir.Operation.create(BOUNDARY, [moved.type], [moved]).results[0], wanted


def _part_of_image(op: ir.Operation, found: Windows, element: dict[int, int]) -> ir.Value:
    value = op.operands[found.image]
    type_ = ir.RankedTensorType(value.type)
    written = dict(zip(_written(found), ir.RankedTensorType(op.results[0].type).shape, strict=True))
    offsets, sizes, strides = [0] * type_.rank, list(type_.shape), [1] * type_.rank
    for window in found.windows:
        offsets[window.dim] = window.start + window.dilation * element[window.loop]
        sizes[window.dim], strides[window.dim] = written[window.position], window.stride
    made = ir.RankedTensorType.get(sizes, type_.element_type)
    return tensor.ExtractSliceOp(made, value, [], [], [], offsets, sizes, strides).result


def _part_of_weights(value: ir.Value, order: Sequence[int], element: dict[int, int]) -> ir.Value:
    type_ = ir.RankedTensorType(value.type)
    offsets = [element.get(loop, 0) for loop in order]
    sizes = [1 if loop in element else size for loop, size in zip(order, type_.shape, strict=True)]
    kept = [size for loop, size in zip(order, type_.shape, strict=True) if loop not in element]
    made = ir.RankedTensorType.get(kept, type_.element_type)
    return tensor.ExtractSliceOp(made, value, [], [], [], offsets, sizes, [1] * type_.rank).result
