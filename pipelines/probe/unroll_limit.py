"""Does code generation unroll a dispatch so far that its code is not to be generated?"""

from __future__ import annotations

from collections.abc import Callable

from fissile.passes import net
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.kernel.narrow_access import (
    missing_storage,
)
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.unrolling import VECTORISED, Unrolled, unrolled
from fissile.passes.checks.speed.unrolled_code import ENDLESS_FROM, unrolled_from
from fissile.passes.iree.backends import backend_named

Foresee = Callable[[Dispatch], Unrolled]
"""What of a dispatch is unrolled so far that its code is not to be generated."""


def unrolls(dispatch: Dispatch, tune: bool = False) -> Unrolled:
    """What SPIR-V code generation will unroll of ``dispatch``, where that is too much; no code is generated to know it.

    What lavapipe takes seconds for counts where the target may be it, or with ``tune``.
    """
    if not backend_named(dispatch.target.backend).spirv or dispatch.codegen != VECTORISED:
        return Unrolled()
    found = net.ask("unrolled code", lambda: unrolled(read_configured(dispatch)), Unrolled(), about=dispatch)
    return found if found.elements >= unrolled_from(dispatch.target.arch, tune) else Unrolled()


def unrolls_endlessly(dispatch: Dispatch) -> Unrolled:
    """As `unrolls`, of what IREE was never seen to build: less is a matter of seconds, and may be refused."""
    found = unrolls(dispatch)
    return found if found.elements >= ENDLESS_FROM and missing_storage(dispatch) else Unrolled()


def foresees_nothing(_dispatch: Dispatch) -> Unrolled:
    return Unrolled()
