"""The smallest program that fails as a given one does: one dispatch's ops, as few as still fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fissile.passes.analysis.slice import slice_of

from fissile.errors import UsageError, closest
from fissile.finding import Finding

from .dispatch_check import CheckedDispatch
from .iree.names import BOUNDARIES_PLACED_AT
from .itinerary import Itinerary
from .probe_pool import ProbePool
from .repair import Diagnosis, Repairer
from .session import Module, PhaseFailed


@dataclass(frozen=True)
class Reduced:
    """``text`` is MLIR that stock iree-compile takes from the start; it fails with ``finding``.

    ``kept`` of ``of`` source ops of the whole program are in it.
    """

    text: str
    finding: Finding
    kept: int
    of: int


def reduce(itinerary: Itinerary, origin: Module, pool: ProbePool, dispatch: str = "") -> Reduced:
    """Reduces ``origin`` (at global optimisation) to one failing dispatch: the one called ``dispatch``, or the first.

    Ops are left out one by one as long as the same rule still fires. Raises UsageError where nothing fails, or
    ``dispatch`` does not.
    """
    repairer = Repairer(itinerary, origin, pool)
    diagnosis = repairer.diagnose()
    if diagnosis.failed is not None:
        raise UsageError(f"the program does not reach code generation: {diagnosis.failed.message}",
                         "fissile compile tells where and why")
    chosen = _choose(diagnosis, dispatch)
    tags = [tag for tag in dict.fromkeys(chosen.dispatch.tags)]
    found = _fails(itinerary, origin, pool, tags, chosen.finding.code)
    if found is None:
        raise UsageError(f"{chosen.dispatch.name} fails only within its program ({chosen.finding.code})",
                         "IREE decides its fusion or its tiles from ops outside of the dispatch")
    for tag in list(tags):
        fewer = [other for other in tags if other != tag]
        if fewer and (still := _fails(itinerary, origin, pool, fewer, chosen.finding.code)) is not None:
            tags, found = fewer, still
    text, finding = found
    return Reduced(text, finding, len(tags), len(repairer.ops))


def _choose(diagnosis: Diagnosis, name: str) -> CheckedDispatch:
    failing = {c.dispatch.name: c for c in diagnosis.failing}
    if name and name not in failing:
        raise UsageError(f"no failing dispatch is called '{name}'", closest(name, list(failing)) or "nothing fails")
    if not failing:
        raise UsageError("every dispatch of the program generates code and fits", "there is nothing to reduce")
    return failing[name] if name else diagnosis.failing[0]


def _fails(itinerary: Itinerary, origin: Module, pool: ProbePool, tags: Sequence[int], code: str) -> tuple[str, Finding] | None:
    """The slice of ``tags`` as text and its finding, where it fails under the same rule as the whole program."""
    text = slice_of(origin.op, tags).get_asm(use_local_scope=False)
    session = itinerary.session
    try:
        module = session.parse_text(text, "reduced.mlir")
        itinerary.advance(module, BOUNDARIES_PLACED_AT)
        failing = Repairer(itinerary, module, pool).diagnose().failing
    except PhaseFailed:
        return None
    return next(((text, c.finding) for c in failing if c.finding.code == code), None)
