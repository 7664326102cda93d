"""Loops and branches on the host that compute tensors and that IREE does not take. IREE 3.13."""

from __future__ import annotations

from iree.compiler import ir
from iree.compiler.dialects import arith

from ..host.on_host import is_on_host

AFFINE = "affine."
_WITH_TENSORS = ("scf.index_switch", "scf.forall", "scf.parallel", "affine.for", "affine.if")
"""Taken without tensors among the results. `scf.for`, `scf.if`, `scf.while` and `scf.execute_region` are always taken."""
_WITH_RESULTS = ("affine.parallel",)
Bounds = list[tuple[ir.Value, ir.Value, ir.Value]]


def is_unlowered(op: ir.Operation) -> bool:
    """Whether phase stream crashes on ``op`` or refuses it for its results, and it is of a form that can be written with `scf.for` and `scf.if`."""
    if op.name in _WITH_RESULTS:
        tensors = len(op.results) > 0
    else:
        tensors = op.name in _WITH_TENSORS and any(
            isinstance(result.type, ir.RankedTensorType) for result in op.results
        )
    return tensors and is_on_host(op) and _is_plain(op)


def _is_plain(op: ir.Operation) -> bool:
    """Whether regions and terminator are those that the rewriting knows."""
    if any(len(region.blocks) != 1 for region in op.regions):
        return False
    if op.name == "scf.index_switch":
        return len(op.regions) > 1  # a default alone folds away
    end = list(op.regions[0].blocks[0].operations)[-1].operation
    if op.name == "scf.forall":
        block = op.regions[0].blocks[0]
        shared = list(block.arguments)[len(block.arguments) - len(op.results) :]
        return all(
            one.operation.name == "tensor.parallel_insert_slice" and one.operands[1] in shared
            for one in end.regions[0].blocks[0].operations
        )
    if op.name == "scf.parallel":
        return all(len(region.blocks) == 1 for region in end.regions)
    return True


def bounds_of_forall(op: ir.Operation) -> tuple[Bounds, list[ir.Value]]:
    """(lower bound, upper bound, step) of each dimension of an `scf.forall`, and its shared outputs. Builds constants at the insertion point."""
    sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    operands = iter(op.operands)
    dynamic = [[next(operands) for _ in range(size)] for size in sizes]
    parts = [
        _mixed(list(ir.DenseI64ArrayAttr(op.attributes[name])), values)
        for name, values in zip(
            ("staticLowerBound", "staticUpperBound", "staticStep"), dynamic[:3], strict=True
        )
    ]
    return list(zip(*parts, strict=True)), dynamic[3]


def bounds_of_parallel(op: ir.Operation) -> tuple[Bounds, list[ir.Value]]:
    """(lower bound, upper bound, step) of each dimension of an `scf.parallel`, and the initial values of its reductions."""
    sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    operands = iter(op.operands)
    lower, upper, step, initial = [[next(operands) for _ in range(size)] for size in sizes]
    return list(zip(lower, upper, step, strict=True)), initial


def _mixed(static: list[int], dynamic: list[ir.Value]) -> list[ir.Value]:
    values = iter(dynamic)
    return [
        next(values) if size == ir.ShapedType.get_dynamic_size() else arith.constant(ir.IndexType.get(), size)
        for size in static
    ]
