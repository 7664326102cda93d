"""Does one thread run more loop iterations than every device lets it run?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.target import may_end_loops

from ..dispatch_places import root_places

MOST_ITERATIONS = 65535
"""Iterations of all loops of one invocation, after which lavapipe ends them (Mesa, LP_MAX_TGSI_LOOP_ITERATIONS)."""


def check_serial_loops(dispatch: Dispatch, iterations: int, ops: Sequence[SourceOp] = ()) -> Finding | None:
    """FIS125 where ``iterations`` (of one thread, from the probe) are too many. ``ops`` are the source ops that its tags name."""
    if iterations <= MOST_ITERATIONS:
        return None
    ended = may_end_loops(dispatch.target.arch)
    wrong = f", and wrong on a device that ends them (lavapipe, after {MOST_ITERATIONS})" if ended else ""
    return Finding(
        "FIS125",
        f"one thread of the dispatch runs {iterations} loop iterations: slow{wrong}",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops),
        effect=Effect.MAY_BE_WRONG if ended else Effect.SLOW,
    )
