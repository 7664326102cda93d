"""Do all threads of a workgroup compute the same sum in the same place?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatches import Dispatch
from fissile.passes.analysis.provenance import SourceOp

from .dispatch_places import root_places


def check_repeated_sums(dispatch: Dispatch, threads: int, ops: Sequence[SourceOp] = ()) -> Finding | None:
    """FIS127 where several ``threads`` (from the probe) of a workgroup add to one element. ``ops``: those that its tags name."""
    if threads == 1:
        return None
    return Finding(
        "FIS127",
        f"{threads} threads each accumulate the same terms into the same elements of the result: {threads} times the work, "
        "and wrong on a device that does not run them in step",
        severity=Severity.WARNING,
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops),
    )
