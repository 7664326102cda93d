"""What IREE schedules wrongly, seen in the schedule itself: storage that is freed too early (FIS303), copies that are replayed (FIS175), command
buffers that wait for too little (FIS194)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.dropped_waits import dropped_waits
from fissile.passes.analysis.host.early_releases import early_releases, released_parts
from fissile.passes.analysis.loops.branch_operands import carries_references
from fissile.passes.analysis.program.replayed_copies import replayed_copies
from fissile.passes.catalogue import find_pass
from fissile.passes.checks.numbers.replayed_copies import check_replayed_copies
from fissile.passes.checks.storage.dropped_waits import check_dropped_waits
from fissile.passes.checks.storage.lifetimes import check_early_releases, check_released_parts
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module
from . import repairing

if TYPE_CHECKING:
    from fissile.passes.remedies.remedy import Remedy


def of_schedule(repair: bool) -> tuple[PhaseHook, ...]:
    """The hooks, at the phase at which a compile looks at the dispatches anyway."""
    return (
        _hook("early deallocations", _freed_early, "fissile-drop-early-releases", repair),
        _hook("replayed copies", _replayed, "fissile-record-once", repair),
        _hook("dropped waits", _not_waited_for, "fissile-add-waits", repair),
    )


def findings_of(module: Module) -> list[Finding]:
    """What there is to repair in ``module``, which is not changed."""
    return [finding for hook in of_schedule(False) for finding in hook.act(module)]


def _freed_early(module: ir.Operation) -> list[Finding]:
    """Only a program with a branch that passes two references is looked at: without one IREE counts right."""
    if not carries_references(module):
        return []
    return check_early_releases(early_releases(module)) + check_released_parts(released_parts(module))


def _replayed(module: ir.Operation) -> list[Finding]:
    return check_replayed_copies(replayed_copies(module))


def _not_waited_for(module: ir.Operation) -> list[Finding]:
    return check_dropped_waits(dropped_waits(module))


def _hook(
    name: str, find: Callable[[ir.Operation], list[Finding]], remedy_name: str, repair: bool
) -> PhaseHook:
    def act(module: Module) -> list[Finding]:
        found = find(module.op.operation)
        if not (found and repair):
            return found
        return repairing.apply(module, cast("Remedy", find_pass(remedy_name)()), found)

    return PhaseHook(DISPATCHES_CONFIGURED_AT, name, act)
