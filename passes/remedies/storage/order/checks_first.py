"""Brings checks to the front of their blocks, with what they are computed from and nothing else.

Where a producer stands before a check and its consumer behind it, dispatch creation forms one dispatch
at the producer's place, and moves there what the dispatch needs (3.13). So an op that neither the check
nor an earlier side effect needs goes behind the check. What remains in front cannot take the guarded
op along: the check needs its result on the host.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.passes.analysis.bounds.extents import Extents, is_argument
from fissile.passes.analysis.bounds.size_terms import symbols_of
from fissile.passes.analysis.program.defined_before import exists_before
from fissile.passes.iree import ops as iree_ops

from ..term_ops import TermWriter

SCALAR = ("arith.", "affine.", "index.", iree_ops.HAL_BUFFER_VIEW_DIM)
PURE = (
    *SCALAR,
    "math.",
    "complex.",
    "tensor.",
    "linalg.",
    iree_ops.LINALG_EXT_OPS,
    "scf.",
    iree_ops.UTIL_OPTIMIZATION_BARRIER,
)
"""Ops that have no side effects unless an op in their regions has some, and may change places."""


@dataclass(frozen=True)
class Check:
    """``op`` checks what each of ``guarded`` does, in the same block."""

    op: ir.Operation
    guarded: frozenset[ir.Operation]


def checks_first(checks: Iterable[Check]) -> None:
    """Moves each of ``checks`` before all ops of its block that it does not have to follow."""
    blocks: dict[ir.Block, list[Check]] = {}
    for check in checks:
        blocks.setdefault(check.op.block, []).append(check)
    for rows in blocks.values():
        for check in reversed(rows):  # each goes to the front: the first comes last
            _bring_forward(check.op, rows)


def _bring_forward(check: ir.Operation, checks: list[Check]) -> None:
    ahead = _ahead_of(check)
    position = {op: number for number, op in enumerate(ahead)}
    guarded_by: dict[ir.Operation, list[ir.Operation]] = {}
    for other in checks:
        if other.op in position:
            for op in other.guarded:
                guarded_by.setdefault(op, []).append(other.op)
    kept: set[ir.Operation] = set()
    pending = [check, *(op for op in ahead if op.name == "cf.assert" and _is_of_scalars(op, position))]
    last = -1
    while pending:
        op = pending.pop()
        if op in kept:
            continue
        kept.add(op)
        pending += [source for source in _sources(op) if source in position]
        pending += guarded_by.get(op, [])
        if op != check and op.name != "cf.assert" and not is_pure(op):
            # Side effects keep their order: those before one that is needed stay before it.
            pending += [row for row in ahead[last + 1 : position[op]] if not is_pure(row)]
            last = max(last, position[op])
    for op in reversed([op for op in ahead if op not in kept]):
        op.move_after(check)


def sizes_by_terms(extents: Extents, check: ir.Operation) -> None:
    """Writes the sizes that ``check`` is computed from without the tensors that they are sizes of, where these are computed in
    its block: else their producers would have to stand ahead of the check."""
    pending, seen = [check], set()
    while pending:
        for source in _sources(pending.pop()):
            if source in seen:
                continue
            seen.add(source)
            if source.name != "tensor.dim":
                if source.name.startswith((*SCALAR, "scf.if")):
                    pending.append(source)
            elif (size := _without_tensor(extents, source)) is not None:
                source.results[0].replace_all_uses_with(size)


def _without_tensor(extents: Extents, dim: ir.Operation) -> ir.Value | None:
    """What ``dim``, a tensor.dim, gives, computed from what stands before its tensor; None where that is not known."""
    viewed = view_of(dim)
    of, at = viewed.source, extents.value(viewed.index).constant
    if is_argument(of) or of.owner.operation.block != dim.block or at is None:
        return None
    size = extents.dimension(of, at)
    before = of.owner.operation
    if any(
        ident < 0 or not exists_before(extents.handle(symbol).value, before)
        for ident, symbol in symbols_of(size).items()
    ):
        return None
    point = ir.InsertionPoint(dim)
    with dim.context, dim.location:
        return TermWriter(extents, point).index(size)


def _ahead_of(check: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []
    for op in check.block.operations:
        if op.operation == check:
            break
        found.append(op.operation)
    return found


def _is_of_scalars(check: ir.Operation, position: dict[ir.Operation, int]) -> bool:
    """Whether nothing that ``check`` is computed from in its block reads a tensor."""
    pending, seen = [check], set()
    while pending:
        for source in _sources(pending.pop()):
            if source in position and source not in seen:
                if not source.name.startswith((*SCALAR, "tensor.dim")):
                    return False
                seen.add(source)
                pending.append(source)
    return True


def _sources(op: ir.Operation) -> list[ir.Operation]:
    """The ops of the block of ``op`` whose results it reads, in its regions too."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        for value in inner.operands:
            if not is_argument(value) and value.owner.operation.block == op.block:
                found.append(value.owner.operation)
        return ir.WalkResult.ADVANCE

    op.walk(visit)
    return found


def is_pure(op: ir.Operation) -> bool:
    """Whether ``op`` and the ops in its regions have no side effects."""
    pure = True

    def visit(inner: ir.Operation) -> ir.WalkResult:
        nonlocal pure
        if not inner.name.startswith(PURE):
            pure = False
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    op.walk(visit)
    return pure
