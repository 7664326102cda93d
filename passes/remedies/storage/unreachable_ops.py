"""Takes away ops that fail whenever they run, behind the check that keeps every call from them.

IREE refuses a program with an access that it can see to be out of bounds, also in a branch that few calls take. Where an assert
guards such an op, nothing passes it: the op's result is never used, and any value of its type stands in for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect.operands import init_of
from fissile.dialect.views import view_of
from fissile.passes.analysis.storage.obligations import Obligation
from fissile.passes.iree.ops import UTIL_OPTIMIZATION_BARRIER


def take_away(obligations: Iterable[Obligation]) -> int:
    """Replaces the ops of ``obligations``, each of which an assert guards. Returns how many could be."""
    ops = dict.fromkeys(o.op for o in obligations)
    return sum(_replaced(op) for op in ops)


def _replaced(op: ir.Operation) -> bool:
    with op.context, op.location:
        instead = _stand_in(op)
    if instead is None or instead.type != op.results[0].type:
        return False
    op.results[0].replace_all_uses_with(instead)
    op.erase()
    return True


def _stand_in(op: ir.Operation) -> ir.Value | None:
    if len(op.results) != 1:
        return None
    type_, at = op.results[0].type, ir.InsertionPoint(op)
    if op.name in ("tensor.insert_slice", "tensor.insert"):
        return view_of(op).dest
    if op.name == "tensor.extract":
        return _zero(type_, at)
    if op.name == "tensor.extract_slice":
        # Dynamic sizes become 0: those of the slice may be none that a tensor can have. The 0 stays hidden: IREE 3.12 cannot lower
        # the cast that canonicalising a `tensor.empty` with a constant size leaves in a branch.
        sizes = [size for i, size in enumerate(type_.shape) if not type_.is_dynamic_dim(i)]
        if len(sizes) == len(type_.shape):
            return tensor.EmptyOp(sizes, type_.element_type, ip=at).result
        none = arith.constant(ir.IndexType.get(), 0, ip=at)
        none = ir.Operation.create(UTIL_OPTIMIZATION_BARRIER, [none.type], [none], ip=at).results[0]
        return tensor.EmptyOp(
            [none if type_.is_dynamic_dim(i) else size for i, size in enumerate(type_.shape)],
            type_.element_type,
            ip=at,
        ).result
    return init_of(op, 0)


def _zero(type_: ir.Type, at: ir.InsertionPoint) -> ir.Value | None:
    if isinstance(type_, ir.FloatType):
        return arith.ConstantOp(type_, ir.FloatAttr.get(type_, 0.0), ip=at).result
    if isinstance(type_, (ir.IntegerType, ir.IndexType)):
        return arith.ConstantOp(type_, ir.IntegerAttr.get(type_, 0), ip=at).result
    return None
