"""Writes releases: the op that ends a life, by what is released, and a block of its own where an edge needs one."""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir
from iree.compiler.dialects import affine, cf, memref, scf, stream

from fissile.dialect import KillOp
from fissile.dialect.views import view_of
from fissile.passes.analysis.bounds.shaped_values import is_argument
from fissile.passes.analysis.lifetime.kinds import is_resource, is_storage_like, is_timepoint
from fissile.passes.analysis.lifetime.placement import Spot, Unplaced
from fissile.passes.analysis.lifetime.ways_on import Way, branches_of
from fissile.passes.iree import ops as iree_ops


def write_release(owner: ir.Value, point: ir.InsertionPoint, waits: Iterable[ir.Value] = ()) -> ir.Operation:
    """A release of ``owner`` at ``point``; ``waits`` are the timepoints of the work that uses a stream resource."""
    location = owner.location
    if isinstance(owner.type, ir.MemRefType):
        return memref.DeallocOp(owner, loc=location, ip=point).operation
    if not is_resource(owner.type):
        return KillOp(owner, loc=location, ip=point).operation
    made = view_of(owner.owner)
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
    if owner.owner.operation.name != iree_ops.STREAM_RESOURCE_ALLOCA:
        raise Unplaced("its size is not known here: another function allocates it")
    found = []
    for alias in aliases:
        for use in alias.uses:
            op = use.owner.operation
            reached = [r for r in op.results if is_timepoint(r.type)]
            if op.name == iree_ops.STREAM_RESOURCE_DEALLOCA or not reached:
                continue
            if op.block != spot.behind.block:
                raise Unplaced("work on it is queued in another block, and its timepoint is not known here")
            found += [r for r in reached if r not in found]
    return found or [r for r in owner.owner.operation.results if is_timepoint(r.type)]


def point_of(spot: Spot, on_edges: dict[tuple[ir.Block, int], ir.Block]) -> ir.InsertionPoint:
    """Where to write for ``spot``. ``on_edges`` has the blocks that were put on edges, by source and successor; one is added where it lacks."""
    if spot.behind is not None:
        return ir.InsertionPoint.after(spot.behind)
    if spot.branch is not None:
        return ir.InsertionPoint.at_block_begin(_else_of(spot.branch, spot.region))
    if spot.source is None:
        return ir.InsertionPoint.at_block_begin(spot.block)
    edge = spot.source, spot.way
    if edge not in on_edges:
        branch = spot.source.operations[len(spot.source.operations) - 1].operation
        on_edges[edge] = split_edge(branch, spot.way)
    return ir.InsertionPoint.at_block_begin(on_edges[edge])


def _else_of(branch: ir.Operation, number: int) -> ir.Block:
    """The block of a region that may be left out; it is written where it is."""
    region = branch.regions[number]
    if not len(region.blocks):
        block = region.blocks.append()
        end = affine.AffineYieldOp if branch.name == "affine.if" else scf.YieldOp
        end([], loc=branch.location, ip=ir.InsertionPoint(block))
    return region.blocks[0]


def split_edge(branch: ir.Operation, number: int) -> ir.Block:
    """A new block on the edge of ``branch`` to its successor ``number``. Raises Unplaced for a branch that is not known."""
    ways = branches_of(branch)
    if not ways:
        raise Unplaced(f"no release can be put on an edge of {branch.name}")
    new = branch.block.create_after()
    with branch.location:
        cf.br(list(ways[number].values), ways[number].block, ip=ir.InsertionPoint(new))
        ways[number] = Way(new, ())
        at, view = ir.InsertionPoint(branch), view_of(branch)
        if branch.name == "cf.br":
            cf.br([], new, ip=at)
        elif branch.name == "cf.cond_br":
            true, false = ways
            cf.cond_br(view.condition, list(true.values), list(false.values), true.block, false.block, ip=at)
        else:
            default, *cases = ways
            cf.switch(
                view.flag,
                list(default.values),
                [value for way in cases for value in way.values],
                [len(way.values) for way in cases],
                default.block,
                [way.block for way in cases],
                case_values=view.case_values,
                ip=at,
            )
    branch.erase()
    return new


def split_doubled_edges(function: ir.Operation) -> None:
    """Gives each edge a block of its own where a branch hands storage to the same block on several edges.

    Which of them is taken says what is given away, so each needs a place for the releases of the rest.
    """
    pending = [view.operation for region in function.regions for view in _last_ops(region)]
    while pending:
        branch = pending.pop()
        block = branch.block
        for number, way in enumerate(branches_of(branch)):
            others = [other for other in branches_of(branch) if other.block == way.block]
            if len(others) > 1 and any(is_storage_like(value.type) for value in way.values):
                split_edge(branch, number)
                pending.append(block.operations[len(block.operations) - 1].operation)
                break


def _last_ops(region: ir.Region) -> list[ir.OpView]:
    """The last op of each block in ``region`` and the regions inside it, of blocks with a block behind them."""
    found = []
    for block in region.blocks:
        for view in block.operations:
            found += [one for inner in view.operation.regions for one in _last_ops(inner)]
            if view.operation.successors:
                found.append(view)
    return found
