"""Ops that make tensors and that IREE does not take, written with linalg ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.views import view_of
from fissile.passes.analysis.host.on_host import is_on_host
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.remedy import Exactness

from .core.tensor_slices import GATHER, SCATTER, can_lower, gathered, scattered
from .front_end import FrontEndRemedy

Sizes = list[int | ir.Value]


@register_pass
@dataclass(frozen=True)
class LowerTensorOps(FrontEndRemedy):
    """Writes `tensor.splat` as a fill, `tensor.generate` as a generic op over its indices, a `tensor.pad` whose border depends on the place as
    such an op with the tensor put into it, `tensor.gather` as one that reads elements, and `tensor.scatter` as IREE's own.

    IREE 3.13 lowers none of these outside of a dispatch. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-lower-tensor-ops"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (
        "tensor.splat",
        "tensor.generate",
        "tensor.pad",
        "tensor.gather",
        "tensor.scatter",
    )
    dialects: ClassVar[tuple[str, ...]] = ("tensor", "linalg", "arith", "iree_linalg_ext")
    does: ClassVar[str] = (
        "replaces `tensor.splat`, `tensor.generate`, `tensor.gather`, `tensor.scatter` and a `tensor.pad` whose border depends on "
        "the position by `linalg.fill`, `linalg.generic` and a scatter of IREE's (in the input)"
    )
    repairs: ClassVar[str] = "these ops, which IREE rejects on every target (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it with linalg ops"
    advice: ClassVar[str] = "rewrite it with linalg ops"

    def fits(self, op: ir.Operation) -> bool:
        if not is_on_host(op) or any(len(region.blocks) != 1 for region in op.regions):
            return False
        if op.name in (GATHER, SCATTER):
            return can_lower(op)
        return op.name != "tensor.pad" or _depends_on_place(op)

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        return [_WRITTEN[op.name](op)]


def _depends_on_place(op: ir.Operation) -> bool:
    """Whether the border of a `tensor.pad` is computed from the indices; IREE takes one value for all of it, and expands no other."""
    return any(list(argument.uses) for argument in op.regions[0].blocks[0].arguments)


def _sizes(type_: ir.Type, dynamic: Sequence[ir.Value]) -> Sizes:
    """Of each dimension of ``type_``; those that it does not know are ``dynamic``, in order."""
    shaped, values = ir.RankedTensorType(type_), iter(dynamic)
    return [next(values) if shaped.is_dynamic_dim(i) else shaped.shape[i] for i in range(shaped.rank)]


def _splat(op: ir.Operation) -> ir.Value:
    value, *dynamic = op.operands
    return linalg.fill(value, outs=[tensor.EmptyOp(_sizes(op.results[0].type, dynamic), value.type).result])


def _generate(op: ir.Operation) -> ir.Value:
    return _filled(_sizes(op.results[0].type, list(op.operands)), op)


def _filled(sizes: Sizes, op: ir.Operation) -> ir.Value:
    """A tensor of ``sizes`` whose elements the body of ``op`` computes from their indices; the body is taken away."""
    body = op.regions[0].blocks[0]
    element = ir.RankedTensorType(op.results[0].type).element_type
    rank = len(sizes)
    made, block = build_generic(
        [],
        [tensor.EmptyOp(sizes, element).result],
        [ir.AffineMap.get_identity(rank)],
        [True] * rank,
    )
    with ir.InsertionPoint(block):
        for dimension, argument in enumerate(body.arguments):
            argument.replace_all_uses_with(linalg.IndexOp(dimension).result)
        *ops, terminator = list(body.operations)
        here = ir.InsertionPoint.current
        for one in ops:
            here.insert(one.operation.detach_from_parent())
        linalg.YieldOp([terminator.operation.operands[0]])
    return made.results[0]


def _pad(op: ir.Operation) -> ir.Value:
    """The border everywhere, and the tensor put into it."""
    view = view_of(op)
    source, low, high = view.source, list(view.low), list(view.high)
    known = ir.RankedTensorType(source.type)
    before = _sides(op, "static_low", low)
    after = _sides(op, "static_high", high)
    inside: Sizes = [
        tensor.DimOp(source, _index(i)).result if known.is_dynamic_dim(i) else known.shape[i]
        for i in range(known.rank)
    ]
    sizes = [_sum(*row) for row in zip(before, inside, after, strict=True)]
    border = _filled(sizes, op)
    if border.type != op.results[0].type:
        border = tensor.CastOp(op.results[0].type, border).result
    unknown = ir.ShapedType.get_dynamic_size()
    return tensor.InsertSliceOp(
        source,
        border,
        [one for one in before if isinstance(one, ir.Value)],
        [one for one in inside if isinstance(one, ir.Value)],
        [],
        [unknown if isinstance(one, ir.Value) else one for one in before],
        [unknown if isinstance(one, ir.Value) else one for one in inside],
        [1] * len(sizes),
    ).result


def _sides(op: ir.Operation, name: str, dynamic: Sequence[ir.Value]) -> Sizes:
    values = iter(dynamic)
    unknown = ir.ShapedType.get_dynamic_size()
    return [next(values) if one == unknown else one for one in ir.DenseI64ArrayAttr(op.attributes[name])]


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def _sum(*sizes: int | ir.Value) -> int | ir.Value:
    if all(isinstance(one, int) for one in sizes):
        return sum(one for one in sizes if isinstance(one, int))
    total, *others = (one if isinstance(one, ir.Value) else _index(one) for one in sizes)
    for one in others:
        total = arith.addi(total, one)
    return total


_WRITTEN = {
    "tensor.splat": _splat,
    "tensor.generate": _generate,
    "tensor.pad": _pad,
    GATHER: gathered,
    SCATTER: scattered,
}
