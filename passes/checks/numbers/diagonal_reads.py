"""Do the threads of a subgroup reduction add up the whole tile?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.memory.footprint import Allocation

from ..dispatch_places import root_places


def check_diagonal_reads(
    dispatch: Dispatch, reads: Sequence[Allocation], ops: Sequence[SourceOp]
) -> Finding | None:
    """FIS143 where ``reads`` (from the probe) is not empty. ``ops`` are the source ops that the dispatch's tags name."""
    if not reads:
        return None
    return Finding(
        "FIS143",
        f"threads add up only the diagonal of a {reads[0].type} tile: the numbers will be wrong",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops),
    )
