"""Puts a release behind the last use of what a function allocates, on every path once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import ops_of, place_of
from fissile.dialect.attributes import text_of
from fissile.finding import Finding, ordered
from fissile.passes.analysis.bounds.shaped_values import is_argument
from fissile.passes.analysis.bounds.value_names import name_of
from fissile.passes.analysis.lifetime.calls import callees_first, in_circles, summaries_of_circles
from fissile.passes.analysis.lifetime.kinds import CONSTANTS, MEMREF, RELEASES, STACK, STORAGE, released
from fissile.passes.analysis.lifetime.module import functions_of
from fissile.passes.analysis.lifetime.ownership import FOREIGN, Ownership, ownership_of
from fissile.passes.analysis.lifetime.placement import Spot, Unplaced, is_inside, spots_of
from fissile.passes.analysis.lifetime.regions import Regions, op_making, region_of
from fissile.passes.analysis.program.defined_before import exists_before
from fissile.passes.checks.storage.lifetimes import ONE_RELEASE, PURE_REGIONS
from fissile.passes.definition import Contract, Pass, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import WELL_FORMED

from .release_ops import point_of, split_doubled_edges, work_on, write_release
from .run_time_releases import (
    has_releases,
    is_released_once,
    may_release_at_run_time,
    release_at_run_time,
)


@register_pass
@dataclass(frozen=True)
class InsertKills(Pass):
    """Releases everything that a function allocates, once on every path, right behind its last use.

    Writes memref.dealloc for memref.alloc, fissile.kill for fissile.alloc_storage, stream.resource.dealloca for
    stream.resource.alloca. The last use is that of any name: views, casts, tensors computed in place, arguments of loops and blocks,
    results of branches and calls. Storage that a branch, a loop or a function hands on is released by who gets it last. A release
    names the allocation, which no folding replaces, and never stands in a pure region. Releases that are there already are
    moved to where they belong, those of constants are removed: a second run changes nothing.

    Storage that leaves the function is not released. Where it depends on the path whether a function owns what it holds, the
    allocation is hoisted in front of the branch if it can be, or the program decides with a flag that it carries (MLIR's
    ownership-based-buffer-deallocation, where that needs no copy); what is left is reported (FIS310).
    """

    name: ClassVar[str] = "fissile-insert-kills"
    dialects: ClassVar[tuple[str, ...]] = (
        "affine",
        "arith",
        "bufferization",
        "cf",
        "memref",
        "scf",
        "stream",
    )
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,), establishes=(ONE_RELEASE, PURE_REGIONS))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        found: list[Finding] = []
        summaries: dict[str, Ownership] = summaries_of_circles(in_circles(op))
        functions = functions_of(op)
        for name, function in callees_first(op):
            placed, findings = _best_of(function, summaries, functions)
            found += findings
            functions[name], summaries[name] = placed, ownership_of(placed, summaries)
        for finding in ordered(found):
            report(finding)


def _best_of(
    function: ir.Operation, summaries: dict[str, Ownership], functions: dict[str, ir.Operation]
) -> tuple[ir.Operation, list[Finding]]:
    """The function with its releases, and FIS310 for what has none. What has no place at compile time is decided at run time if it can be."""
    name = text_of(function, "sym_name")
    had_releases = has_releases(function)
    other = function.clone() if may_release_at_run_time(function) else None
    unplaced = insert_kills(function, summaries)
    if not unplaced or (had_releases and is_released_once(function, functions)):
        return function, []  # an earlier run let the program decide
    if other is None or not release_at_run_time(other):
        return function, unplaced
    if not is_released_once(other, {**functions, name: other}):
        return function, unplaced
    ir.InsertionPoint(function).insert(other)
    function.erase()
    return other, []


def insert_kills(function: ir.Operation, summaries: dict[str, Ownership]) -> list[Finding]:
    """Places the releases of one function; returns FIS310 for storage that has no place for one."""
    split_doubled_edges(function)
    ownership = ownership_of(function, summaries)
    while hoist(function, ownership):
        ownership = ownership_of(function, summaries)
    regions = Regions(function)
    spots: dict[ir.Value, list[tuple[Spot, list[ir.Value]]]] = {}
    unplaced: dict[ir.Value, str] = {}
    for owner in ownership.owners:
        if owner in ownership.undecided:
            unplaced[owner] = (
                "whether it leaves the function, or other storage in its place, depends on the path"
            )
            continue
        try:
            found = spots_of(owner, ownership, regions)
            spots[owner] = [(spot, work_on(owner, ownership.aliases[owner], spot)) for spot in found]
        except Unplaced as why:
            unplaced[owner] = str(why)
    for owner in _remove_releases(function, ownership, spots):
        unplaced[owner] = "a release that is there may end other storage, too; it stays as it is"
    # What stands behind one op is written from the last to the first: it comes out in the order of the allocations.
    on_edges: dict[tuple[ir.Block, int], ir.Block] = {}
    for owner in reversed(ownership.owners):
        for spot, waits in spots.get(owner, ()):
            write_release(owner, point_of(spot, on_edges), waits)
    return [_unplaced(owner, why) for owner, why in unplaced.items()]


def hoist(function: ir.Operation, ownership: Ownership) -> bool:
    """Moves one allocation in front of the branch that yields it, where its name lives on behind. True where one was moved."""
    for owner in ownership.owners:
        if (
            is_argument(owner)
            or owner in ownership.kept
            or owner.owner.operation.name not in (MEMREF, STORAGE)
        ):
            continue
        op = owner.owner.operation
        outside = [a for a in ownership.aliases[owner] if not is_inside(a, region_of(owner), function)]
        around = op.parent.operation
        if not outside or around.name not in ("scf.if", "scf.index_switch", "scf.execute_region"):
            continue
        if all(exists_before(value, around) for value in op.operands):
            op.move_before(around)
            return True
    return False


def _remove_releases(function: ir.Operation, ownership: Ownership, spots: dict) -> list[ir.Value]:
    """Removes the releases of what is released anew, and of constants; returns the owners of which one cannot be removed.

    Their releases stay as they were: those owners are left out of ``spots``.
    """
    for op in ops_of(function, iree_ops.STREAM_RESOURCE_DEALLOCA):
        for base in ownership.bases.get(released(op)) or ():
            spots.pop(base, None)  # other work waits for it: it stays where it is, and nothing is added
    placed = list(spots)
    mine: list[ir.Operation] = []
    for name in RELEASES:
        for op in ops_of(function, name):
            value = released(op)
            assert value is not None  # of an op of RELEASES
            bases = ownership.bases.get(value)
            if name == iree_ops.STREAM_RESOURCE_DEALLOCA:
                continue
            if _is_constant(value) or (
                not bases and isinstance(value.type, ir.RankedTensorType) and not is_argument(value)
            ):
                op.erase()  # nobody allocated it: IREE places and frees what stands on no storage
            elif bases and FOREIGN not in bases:
                mine.append(op)
            else:
                for base in bases or ():
                    spots.pop(base, None)
    while True:
        kept = [
            op
            for op in mine
            if any(b not in spots and b not in ownership.kept for b in ownership.bases[released(op)])
        ]
        more = {b for op in kept for b in ownership.bases[released(op)] if b in spots}
        if not more:
            break
        for base in more:
            del spots[base]
    for op in mine:
        if op not in kept:
            op.erase()
    return [owner for owner in placed if owner not in spots]


def _is_constant(value: ir.Value) -> bool:
    return not is_argument(value) and value.owner.operation.name in (*CONSTANTS, *STACK)


def _unplaced(owner: ir.Value, why: str) -> Finding:
    place = place_of(op_making(owner))
    return Finding(
        "FIS310",
        f"no release of {name_of(owner)} was placed: {why}",
        subject=name_of(owner),
        places=(place,) if place else (),
    )
