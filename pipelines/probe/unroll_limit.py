"""Is the code of a dispatch unrolled so far that it is not to be generated?"""

from __future__ import annotations

from collections.abc import Callable

from fissile.effect import Effect
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.kernel.evidence import NOTHING, Evidence
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.containment import contained
from fissile.passes.failures.unrolled_code import UnrolledCode
from fissile.passes.iree.backends import backend_named

UNROLLED = UnrolledCode()
Foresee = Callable[[Dispatch], Evidence]
"""What of a dispatch is unrolled so far that its code is not to be generated."""


def unrolls(dispatch: Dispatch, tune: bool = False, changed: bool = False) -> Evidence:
    """What SPIR-V code generation will unroll of ``dispatch``, where that is too much; no code is generated to know it.

    What lavapipe takes seconds for counts where it is the target, in a program that is ``changed`` anyway where it may be, or with ``tune``.
    """
    concerned = UNROLLED.concerns(backend_named(dispatch.target.backend))
    if not concerned or not UNROLLED.may_occur(dispatch, lambda: read_configured(dispatch)):
        return NOTHING
    found = contained(
        "unrolled code",
        lambda: UNROLLED.detect(dispatch, dispatch.inner_module()) or NOTHING,
        NOTHING,
        about=dispatch,
    )
    return found if found and UNROLLED.matters(dispatch, found, tune, changed) else NOTHING


def unrolls_endlessly(dispatch: Dispatch) -> Evidence:
    """As `unrolls`, of what IREE was never seen to build: less is a matter of seconds, and may be refused."""
    found = unrolls(dispatch)
    return found if found.effect is Effect.ENDLESS else NOTHING


def foresees_nothing(_dispatch: Dispatch) -> Evidence:
    return NOTHING
