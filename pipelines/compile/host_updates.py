"""What IREE's host code does wrong to tensors that it updates: found and repaired, most when global optimisation is done."""

from __future__ import annotations

from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.program.growing_loops import growing_loops
from fissile.passes.analysis.program.host_inserts import host_inserts
from fissile.passes.analysis.program.overwritten_arguments import may_return_arguments, overwritten_arguments
from fissile.passes.checks.numbers.growing_loops import check_growing_loops
from fissile.passes.checks.numbers.host_inserts import check_host_inserts
from fissile.passes.checks.numbers.overwritten_arguments import check_overwritten_arguments
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_OUTLINED_AT
from fissile.passes.remedies.host.flatten_inserts import can_flatten

from ..itinerary import Stop
from ..pass_runner import run_pipeline
from ..session import Module, PhaseFailed, Session
from .guard import GUARDED_AT

FLATTEN, KEEP, HIDE = "fissile-flatten-inserts", "fissile-keep-arguments", "fissile-hide-sizes"
NAMES = ("flatten-inserts", "keep-arguments", "hide-sizes")
_HIDDEN = "hid the constant size, so that the loop's tensor keeps a dynamic one"
_FLAT = "wrote through a view of one dimension, where IREE writes one element"
_KEPT = "kept the argument in use until the end, so that IREE updates a copy of it"


def single_elements(repair: bool) -> Stop:
    """Finds FIS141, and repairs it where ``repair`` says so."""

    def act(module: Module) -> list[Finding]:
        inserts = host_inserts(module.op)
        found = check_host_inserts(inserts)
        able = [can_flatten(one) for one in inserts]
        if repair and any(able):
            found = [
                _done(finding, _FLAT, FLATTEN) if yes else finding
                for finding, yes in zip(found, able, strict=True)
            ]
            run_pipeline(f"builtin.module({FLATTEN})", module.op, report=found.append)
        return found

    return Stop(BOUNDARIES_PLACED_AT, NAMES[0], act)


def _done(finding: Finding, title: str, name: str, text: str = "") -> Finding:
    help_ = Help(
        title, name, True, (("pass", text or name), ("numerics", "as the program says, in every bit"))
    )
    return finding.with_(severity=Severity.REPAIRED, helps=(help_,))


def returned_arguments(session: Session, repair: bool) -> Stop:
    """Finds FIS142, and repairs it where ``repair`` says so. Only a module with a function that may return an argument as it came is looked at closer:
    on a clone, since what is updated in place is known when dispatches are formed."""

    def act(module: Module) -> list[Finding]:
        if not may_return_arguments(module.op):
            return []
        clone = module.clone()
        try:
            session.run(clone, DISPATCHES_OUTLINED_AT)
        except PhaseFailed:
            return []  # the compile comes there as well, and says why
        overwritten = overwritten_arguments(clone.op)
        found = check_overwritten_arguments(overwritten)
        if repair and found:
            name = f"{KEEP}{{arguments={','.join(f'{one.function}:{one.number}' for one in overwritten)}}}"
            found = [_done(finding, _KEPT, KEEP, name) for finding in found]
            run_pipeline(f"builtin.module({name})", module.op, report=found.append)
        return found

    return Stop(BOUNDARIES_PLACED_AT, NAMES[1], act)


def growing(module: Module) -> list[Finding]:
    """FIS137 of each loop of ``module`` (phase input)."""
    return check_growing_loops(growing_loops(module.op))


def changing_sizes(repair: bool) -> Stop:
    """Finds FIS137, and repairs it where ``repair`` says so: before anything is canonicalised."""

    def act(module: Module) -> list[Finding]:
        found = growing(module)
        if repair and found:
            found = [_done(finding, _HIDDEN, HIDE) for finding in found]
            run_pipeline(f"builtin.module({HIDE})", module.op, report=found.append)
        return found

    return Stop(GUARDED_AT, NAMES[2], act)


def stops(session: Session, repair: bool) -> list[Stop]:
    """What is looked at and, where ``repair`` says so, repaired in every module that comes by."""
    return [changing_sizes(repair), single_elements(repair), returned_arguments(session, repair)]


def told(module: Module, session: Session) -> list[Finding]:
    """What there is to repair in ``module`` (at global optimisation), which is not changed."""
    return [
        finding
        for stop in stops(session, False)
        if stop.phase == BOUNDARIES_PLACED_AT
        for finding in stop.act(module)
    ]
