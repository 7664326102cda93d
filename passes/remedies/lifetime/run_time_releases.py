"""Releases that the program decides on while it runs, where the path decides who owns a buffer: by MLIR's own pass."""

from __future__ import annotations

from collections.abc import Mapping

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.dialect import ops_of
from fissile.passes.analysis.lifetime.explore import walk
from fissile.passes.analysis.lifetime.flow import flow_of
from fissile.passes.analysis.lifetime.kinds import ALLOCATIONS, CLONE, MEMREF, RELEASES
from fissile.passes.iree.pipelines import RELEASES_AT_RUN_TIME


def may_release_at_run_time(function: ir.Operation) -> bool:
    """Whether MLIR's pass takes ``function``: one that allocates buffers only, and releases none."""
    made = {name for name in ALLOCATIONS if ops_of(function, name)}
    return (
        function.name == "func.func" and bool(made) and made <= {MEMREF, CLONE} and not has_releases(function)
    )


def has_releases(function: ir.Operation) -> bool:
    return any(ops_of(function, name) for name in RELEASES)


def is_released_once(function: ir.Operation, functions: Mapping[str, ir.Operation]) -> bool:
    """Whether all storage is released once on every path, behind its last use; False where the paths cannot be walked."""
    flow = flow_of(function, functions)
    seen = walk(flow)
    return seen.complete and not seen.troubles and not flow.unknown


def release_at_run_time(function: ir.Operation) -> bool:
    """Places the releases of ``function``, which stands in no module, by MLIR's ownership-based deallocation; False where it refuses.

    That pass carries a flag beside each name that owns storage on some paths. Where it makes a copy the result is refused as well: a
    copy of a buffer that the caller writes, or reads, under another name changes what the program computes.
    """
    before = sum(len(ops_of(function, name)) for name in ALLOCATIONS)
    try:
        PassManager.parse(RELEASES_AT_RUN_TIME, context=function.context).run(function)
    except ir.MLIRError:  # a branch to several blocks, or an op that it does not know
        return False
    return sum(len(ops_of(function, name)) for name in ALLOCATIONS) == before
