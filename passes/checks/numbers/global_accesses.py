"""Does IREE move an access of a global across a loop or a branch that accesses the same global (FIS183), or take it for another one (FIS184)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.globals.chained_globals import ChainedGlobal
from fissile.passes.analysis.globals.forwarded_loads import ForwardedLoad
from fissile.passes.analysis.globals.moved_accesses import MovedAccess
from fissile.passes.analysis.globals.scheduled_accesses import Reordered
from fissile.passes.iree import ops as iree_ops

from ..dispatch_places import labelled


def check_moved_accesses(found: Iterable[MovedAccess]) -> list[Finding]:
    """FIS183 of each access and loop or branch."""
    findings = [
        Finding(
            "FIS183",
            f"IREE moves a {_kind(one)} of the global @{one.name} across a loop or a branch in which it is accessed, too",
            subject=f"@{one.name}",
            effect=Effect.WRONG,
            places=(
                *labelled(one.place, f"this {_kind(one)} is moved"),
                *labelled(one.around_at, f"@{one.name} is accessed in here"),
            ),
        )
        for one in found
    ]
    return list(dict.fromkeys(findings))


def _kind(one: MovedAccess) -> str:
    return "load" if one.access.name == iree_ops.UTIL_GLOBAL_LOAD else "store"


def check_reordered_accesses(found: Iterable[Reordered]) -> list[Finding]:
    """FIS183 of each pair of accesses."""
    findings = [
        Finding(
            "FIS183",
            f"IREE schedules an access of the global @{one.name} before one that the program has before it",
            subject=f"@{one.name}",
            effect=Effect.WRONG,
            places=(
                *labelled(one.second.place, "this access is scheduled first"),
                *labelled(one.first.place, f"@{one.name} is accessed here before"),
            ),
        )
        for one in found
    ]
    return list(dict.fromkeys(findings))


def check_chained_globals(found: Iterable[ChainedGlobal]) -> list[Finding]:
    """FIS184 of each global."""
    return [
        Finding(
            "FIS184",
            f"IREE takes the global @{one.name} for "
            + (f"the global @{one.other}" if one.other else "a constant")
            + (
                ", because it does not look into loops and branches"
                if one.fused
                else ", because every store puts that into it"
            ),
            subject=f"@{one.name}",
            effect=Effect.WRONG,
            places=labelled(one.place, "is stored here"),
        )
        for one in found
    ]


def check_forwarded_loads(found: Iterable[ForwardedLoad]) -> list[Finding]:
    """FIS184 of each load."""
    findings = [
        Finding(
            "FIS184",
            f"IREE takes what the global @{one.name} holds for a value that is stored into it elsewhere",
            subject=f"@{one.name}",
            effect=Effect.WRONG,
            places=(
                *labelled(one.load.place, "this load has the value in any case"),
                *labelled(one.store.place, "it is stored here"),
            ),
        )
        for one in found
    ]
    return list(dict.fromkeys(findings))


def check_fused_with_constant(found: Iterable[ChainedGlobal]) -> list[Finding]:
    """FIS184, once for all of ``found``, of which one or more are fused."""
    named = list(found)
    return [
        Finding(
            "FIS184",
            "IREE makes one of a constant and a global that changes, and then refuses what it has made",
            subject=", ".join(f"@{one.name}" for one in named),
            effect=Effect.REFUSED,
            places=tuple(
                place for one in named for place in labelled(one.place, f"@{one.name} is stored here")
            ),
        )
    ]
