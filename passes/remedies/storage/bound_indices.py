"""Keeps gathers and scatters inside of their operands, as StableHLO defines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.attributes import attributes
from fissile.dialect.operands import operand, operands_named, positions_named
from fissile.finding import Finding
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.shaped_values import rank_of
from fissile.passes.analysis.bounds.size_terms import Term
from fissile.passes.checks.storage.outside_indices import check_outside_indices, outside_indices
from fissile.passes.checks.storage.storage_fit import Judged, StorageReport, judge_storage
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree.ops import LINALG_EXT_SCATTER
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

from ..generic_ops import build_generic
from ..narrow.packed_words import sizes_of
from .element_clamps import clamp_indices, clear_mask, last_at, last_index

_UNSIGNED_AT_MOST = 7


@register_pass
@dataclass(frozen=True)
class BoundIndices(Remedy):
    """Clamps the indices of gathers that are not proved to lie inside, and masks such updates of scatters.

    StableHLO reads the nearest element in the place of one outside, and leaves out an update outside; IREE 3.13 reads and writes what
    lies in memory there (FIS209). An index that is loaded in a dispatch is clamped in it. The mask of a scatter is computed from
    its indices in a dispatch of its own. What is proved stays as it is. For programs of StableHLO: in others such an index is an
    error.
    """

    name: ClassVar[str] = "fissile-bound-indices"
    cures: ClassVar[tuple[str, ...]] = ("FIS209",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "clamps indices of gathers, and masks updates of scatters that fall outside"
    repairs: ClassVar[str] = (
        "accesses of a `stablehlo.gather` or `stablehlo.scatter` that IREE makes out of bounds, on every target (FIS209)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "kept the accesses inside: indices clamped, updates outside left out"
    advice: ClassVar[str] = "keep the accesses inside: clamp indices, leave updates outside out"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "tensor")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        judged = judge_storage(op)
        _left, found = keep_inside(judged, outside_indices(judged), lambda: judge_storage(op))
        for finding in found:
            report(finding)


def keep_inside(
    report: StorageReport, outside: Sequence[Judged], judge: Callable[[], StorageReport]
) -> tuple[StorageReport, list[Finding]]:
    """Keeps each access of ``outside`` inside. What is left of ``report``, by ``judge`` on the changed program, and FIS209 of each access.

    Scatters with the same indices into tensors of the same size have one obligation: the next of them is found once the one before it is masked.
    """
    findings: list[Finding] = []
    bounded: set[ir.Operation] = set()
    while outside:
        findings += check_outside_indices(outside)
        bounded |= bound_indices(report.extents, outside)
        report = judge().without(bounded)
        outside = [one for one in outside_indices(report) if one.obligation.op.name == LINALG_EXT_SCATTER]
    return report, findings


def bound_indices(extents: Extents, found: Iterable[Judged]) -> set[ir.Operation]:
    """Keeps each access of ``found`` inside. Returns the ops that stay inside now whatever their indices are."""
    bounded: set[ir.Operation] = set()
    scatters: dict[ir.Operation, None] = {}
    for one in found:
        op, bound = one.obligation.op, one.obligation.bound
        if bound.at is None or bound.index is None or bound.size is None:
            scatters[op] = None
            continue
        _clamp(extents, op, bound.at, bound.index, bound.size)
        if bound.size.constant:  # of an empty tensor there is nothing to read
            bounded.add(bound.at)
    for op in scatters:
        with op.context, op.location:
            bounded.add(_drop(extents, op))
    return bounded


def _clamp(extents: Extents, op: ir.Operation, read: ir.Operation, index: ir.Value, size: Term) -> None:
    """``index`` of ``read``, in the body of ``op``, as the nearest one of 0 to ``size`` - 1."""
    with op.context, read.location:
        last, inner = last_index(extents, size, ir.InsertionPoint(op)), ir.InsertionPoint(read)
        first = arith.constant(ir.IndexType.get(), 0, ip=ir.InsertionPoint(op))
        nearest = arith.minui(arith.maxsi(index, first, ip=inner), last, ip=inner)
    whole, indices = operands_named(read, "tensor")[0], positions_named(read, "indices")
    for dimension, number in enumerate(indices):  # the same number may be an index of several
        if read.operands[number] == index and extents.dimension(whole, dimension) == size:
            read.operands[number] = nearest


def _drop(extents: Extents, op: ir.Operation) -> ir.Operation:
    """In the place of the scatter ``op`` one with the updates masked that fall outside. What is masked has an index inside as well."""
    at, original = ir.InsertionPoint(op), operand(op, "original")
    (indices,) = operands_named(op, "indices")
    sizes = [extents.dimension(original, int(d)) for d in op.attributes["dimension_map"]]
    lasts = [last_index(extents, size, at, indices.type) for size in sizes]
    some = all(size.constant != 0 for size in sizes)
    with at:
        inside = _inside(
            indices, rank_of(operand(op, "updates")) - rank_of(original) + len(sizes), lasts, some
        )
        if (mask := operand(op, "mask")) is not None:
            inside = arith.andi(mask, inside)
        masked = ir.Operation.create(
            op.name,
            results=[result.type for result in op.results],
            operands=[operand(op, "updates"), indices, inside, original],
            attributes=dict(attributes(op)),
            regions=1,
        )
    op.regions[0].blocks[0].append_to(masked.regions[0])
    for old, new in zip(op.results, masked.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    clamp_indices(extents, masked)
    for size in sizes:
        clear_mask(extents, masked, size)
    return masked


def _inside(indices: ir.Value, batch: int, lasts: list[ir.Value], some: bool) -> ir.Value:
    """For each of the first ``batch`` dimensions' indices whether all of its elements are at most ``lasts``, as unsigned numbers, which a
    negative one is not; nowhere, unless there are ``some`` elements at all."""
    rank, bit = rank_of(indices), ir.IntegerType.get_signless(1)
    identity = ir.AffineMap.get_identity(rank)
    row = ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(i) for i in range(batch)])
    empty = tensor.EmptyOp(sizes_of(indices)[:batch], bit).result
    init = linalg.fill(arith.constant(bit, int(some)), outs=[empty])
    op, block = build_generic([indices], [init], [identity, row], [i < batch for i in range(rank)])
    with ir.InsertionPoint(block) as inner:
        index, so_far = block.arguments
        within = arith.cmpi(_UNSIGNED_AT_MOST, index, last_at(lasts, rank - 1, inner))
        linalg.YieldOp([arith.andi(within, so_far)])
    return op.results[0]
