"""Does one thread run more loop iterations than every device lets it run?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatches import Dispatch
from fissile.passes.analysis.provenance import SourceOp

from .dispatch_places import root_places

MOST_ITERATIONS = 65535
"""Iterations of all loops of one invocation, after which lavapipe ends them (Mesa, LP_MAX_TGSI_LOOP_ITERATIONS)."""


def check_serial_loops(dispatch: Dispatch, iterations: int, ops: Sequence[SourceOp] = ()) -> Finding | None:
    """FIS125 where ``iterations`` (of one thread, from the probe) are too many. ``ops`` are the source ops that its tags name."""
    if iterations <= MOST_ITERATIONS:
        return None
    return Finding(
        "FIS125",
        f"one thread of the dispatch runs {iterations} loop iterations: slow, and wrong on a device that ends them "
        f"(lavapipe, after {MOST_ITERATIONS})",
        severity=Severity.WARNING,
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops),
    )
