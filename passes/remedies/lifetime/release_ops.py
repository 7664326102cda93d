"""Writes releases: the op that ends a life, by what is released, and a block of its own where an edge needs one."""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir
from iree.compiler.dialects import affine, cf, memref, scf, stream

from fissile.dialect import KillOp
from fissile.passes.analysis.bounds.shaped_values import is_argument
from fissile.passes.analysis.lifetime.kinds import is_resource, is_timepoint
from fissile.passes.analysis.lifetime.placement import Spot, Unplaced


def write_release(owner: ir.Value, point: ir.InsertionPoint, waits: Iterable[ir.Value] = ()) -> ir.Operation:
    """A release of ``owner`` at ``point``; ``waits`` are the timepoints of the work that uses a stream resource."""
    location = owner.location
    if isinstance(owner.type, ir.MemRefType):
        return memref.DeallocOp(owner, loc=location, ip=point).operation
    if not is_resource(owner.type):
        return KillOp(owner, loc=location, ip=point).operation
    made = owner.owner.operation.opview
    waits = list(waits)
    awaited = waits[0] if waits else None
    if len(waits) > 1:
        awaited = stream.TimepointJoinOp(waits, loc=location, ip=point).result_timepoint
    return stream.ResourceDeallocaOp(
        owner, made.storage_size, await_timepoint=awaited, affinity=made.affinity, loc=location, ip=point
    ).operation


def work_on(owner: ir.Value, aliases: Iterable[ir.Value], spot: Spot) -> list[ir.Value]:
    """The timepoints of all work on a stream resource. Raises Unplaced where one is not known at ``spot``."""
    if not is_resource(owner.type):
        return []
    if is_argument(owner) or spot.behind is None:
        raise Unplaced("work on it is queued in another block, and its timepoint is not known here")
    found = []
    for alias in aliases:
        for use in alias.uses:
            op = use.owner.operation
            reached = [r for r in op.results if is_timepoint(r.type)]
            if op.name == "stream.resource.dealloca" or not reached:
                continue
            if op.block != spot.behind.block:
                raise Unplaced("work on it is queued in another block, and its timepoint is not known here")
            found += [r for r in reached if r not in found]
    return found or [r for r in owner.owner.operation.results if is_timepoint(r.type)]


def point_of(spot: Spot) -> ir.InsertionPoint:
    """Where to write for ``spot``; splits the edge where there is none."""
    if spot.behind is not None:
        return ir.InsertionPoint.after(spot.behind)
    if spot.branch is not None:
        return ir.InsertionPoint.at_block_begin(_else_of(spot.branch, spot.region))
    if spot.source is None:
        return ir.InsertionPoint.at_block_begin(spot.block)
    return ir.InsertionPoint.at_block_begin(_between(spot.source, spot.block))


def _else_of(branch: ir.Operation, number: int) -> ir.Block:
    """The block of a region that may be left out; it is written where it is."""
    region = branch.regions[number]
    if not len(region.blocks):
        block = region.blocks.append()
        end = affine.AffineYieldOp if branch.name == "affine.if" else scf.YieldOp
        end([], loc=branch.location, ip=ir.InsertionPoint(block))
    return region.blocks[0]


def _between(source: ir.Block, target: ir.Block) -> ir.Block:
    """A new block on the edge from ``source`` to ``target``."""
    last = source.operations[len(source.operations) - 1].operation
    if last.name not in ("cf.br", "cf.cond_br"):
        raise Unplaced(f"no release can be put on an edge of {last.name}")
    new = source.create_after()
    view = last.opview
    with last.location:
        if last.name == "cf.br":
            cf.br(list(view.destOperands), target, ip=ir.InsertionPoint(new))
            cf.br([], new, ip=ir.InsertionPoint(last))
        else:
            sides: list = []
            for block, values in zip(
                last.successors, (list(view.trueDestOperands), list(view.falseDestOperands)), strict=False
            ):
                if block == target and not len(new.operations):
                    cf.br(values, target, ip=ir.InsertionPoint(new))
                    sides.append((new, []))
                else:
                    sides.append((block, values))
            (true, true_values), (false, false_values) = sides
            cf.cond_br(view.condition, true_values, false_values, true, false, ip=ir.InsertionPoint(last))
    last.erase()
    return new
