"""Do all threads of a workgroup compute the same?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.kernel.repeated_work import Repeated

from ..dispatch_places import root_places

LEAST_THREADS = 8
"""Threads that compute the same vectors, from which each gets an element of its own.

That shortens the driver's code generation, and costs later runs up to three times their time below 16 threads (lavapipe,
bench/speed/repeated_work.py). With 16 here lavapipe gives no answer for inception_v1 within 200 s; with 8 it does within 71 s.
"""


def is_costly(repeated: Repeated) -> bool:
    """Whether it is to be told: what may be wrong always, and otherwise sums that cost more than their vectors gain."""
    return repeated.accumulated or repeated.summed and repeated.threads >= LEAST_THREADS


def check_repeated_work(
    dispatch: Dispatch, repeated: Repeated, ops: Sequence[SourceOp] = ()
) -> Finding | None:
    """FIS127 where threads do the same work (from the probe). ``ops`` are the source ops that the dispatch's tags name.

    No device was measured to lose a term that threads accumulate: what IREE builds is not withheld for it.
    """
    if not is_costly(repeated):
        return None
    threads = repeated.threads
    what = "accumulate the same terms into" if repeated.accumulated else "compute"
    wrong = ", and may be wrong on a device that does not run them in step" if repeated.accumulated else ""
    return Finding(
        "FIS127",
        f"{threads} threads each {what} the same elements of the result: {threads} times the work{wrong}",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops),
        effect=Effect.UNPROVED if repeated.accumulated else Effect.SLOW,
    )
