"""Does IREE access what lies outside where StableHLO does not (FIS209)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.iree import ops as iree_ops
from fissile.verdict import Answer

from ..dispatch_places import labelled
from .storage_fit import Judged, StorageReport

_READ = "IREE may read outside of a gather's operand, where the program reads the nearest element"
_WRITTEN = "IREE may write an update outside of a scatter's operand, which the program leaves out"


def outside_indices(report: StorageReport) -> list[Judged]:
    """What ``report`` has of gathers and scatters with an index that is not proved to lie inside, in program order."""
    return [one for one in report.judged if one.answer is not Answer.PROVED and _is_indexed(one)]


def _is_indexed(one: Judged) -> bool:
    bound = one.obligation.elements
    if bound is None:
        return False
    read = bound.at is not None and bound.at.name == "tensor.extract"
    return read or one.obligation.op.name == iree_ops.LINALG_EXT_SCATTER


def indexed_op(one: Judged) -> ir.Operation:
    """The op that accesses an operand at the index: the read in a body, or the gather or scatter itself."""
    return one.obligation.bound.at or one.obligation.op


def check_outside_indices(found: Iterable[Judged]) -> list[Finding]:
    """FIS209 of each gather and scatter."""
    first = {(one.obligation.op, one.obligation.place): one for one in reversed(list(found))}
    return [
        Finding(
            "FIS209",
            f"@{one.obligation.function}: {_WRITTEN if one.obligation.op.name == iree_ops.LINALG_EXT_SCATTER else _READ}",
            subject=f"@{one.obligation.function}",
            places=labelled(one.obligation.place, "may have an index outside"),
            notes=(f"not proved: {one.sentence}",),
        )
        for one in reversed(first.values())
    ]
