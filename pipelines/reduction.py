"""The smallest program that fails as a given one does: one dispatch's ops, as few as still fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fissile.passes.analysis.dispatches import dispatches
from fissile.passes.analysis.provenance import source_ops, tag_source_ops
from fissile.passes.analysis.slice import slice_of
from fissile.passes.checks.narrow_storage import check_narrow_storage
from fissile.passes.checks.sign_extension import check_sign_extension

from fissile.errors import UsageError, closest
from fissile.finding import Finding

from .dispatch_check import sign_losses
from .iree.names import BOUNDARIES_PLACED_AT, DISPATCHES_CONFIGURED_AT
from .itinerary import Itinerary
from .packing import NARROW
from .probe_pool import ProbePool
from .repair import Repairer
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


@dataclass(frozen=True)
class _Failing:
    """A dispatch, the source ops in it, and what is wrong with it."""

    name: str
    tags: tuple[int, ...]
    finding: Finding


def reduce(itinerary: Itinerary, origin: Module, pool: ProbePool, dispatch: str = "") -> Reduced:
    """Reduces ``origin`` (at global optimisation) to one failing dispatch: the one called ``dispatch``, or the first.

    Ops are left out one by one as long as the same rule still fires. Raises UsageError where nothing fails, or
    ``dispatch`` does not.
    """
    try:
        chosen = _choose([*_refused(itinerary, origin, pool), *_narrow(itinerary, origin, pool)], dispatch)
    except PhaseFailed as failed:
        raise UsageError(f"the program does not reach code generation: {failed.message}",
                         "fissile compile tells where and why") from None
    tags = list(dict.fromkeys(chosen.tags))
    found = _fails(itinerary, origin, pool, tags, chosen.finding.code)
    if found is None:
        raise UsageError(f"{chosen.name} fails only within its program ({chosen.finding.code})",
                         "IREE decides its fusion or its tiles from ops outside of the dispatch")
    for tag in list(tags):
        fewer = [other for other in tags if other != tag]
        if fewer and (still := _fails(itinerary, origin, pool, fewer, chosen.finding.code)) is not None:
            tags, found = fewer, still
    text, finding = found
    return Reduced(text, finding, len(tags), len(source_ops(origin.op)))


def _choose(failing: Sequence[_Failing], name: str) -> _Failing:
    by_name = {failed.name: failed for failed in reversed(failing)}
    if name and name not in by_name:
        raise UsageError(f"no failing dispatch is called '{name}'", closest(name, list(by_name)) or "nothing fails")
    if not failing:
        raise UsageError("every dispatch of the program generates code and fits", "there is nothing to reduce")
    return by_name[name] if name else failing[0]


def _refused(itinerary: Itinerary, origin: Module, pool: ProbePool) -> list[_Failing]:
    """What code generation refuses, or is seen to do wrong."""
    diagnosis = Repairer(itinerary, origin, pool).diagnose()
    if diagnosis.failed is not None:
        raise diagnosis.failed
    return [_Failing(c.dispatch.name, c.dispatch.tags, c.finding) for c in diagnosis.failing if c.finding is not None]


def _narrow(itinerary: Itinerary, origin: Module, pool: ProbePool) -> list[_Failing]:
    """Dispatches whose narrow elements are read or written wrongly (FIS110, FIS118): IREE builds them."""
    clone = origin.clone()
    tag_source_ops(clone.op)
    itinerary.advance(clone, DISPATCHES_CONFIGURED_AT)
    losing = sign_losses(clone, lambda dispatch: pool.probe_all([dispatch], convert=False)[0].probed)
    found = [(d, finding) for d in dispatches(clone.op) for finding in check_narrow_storage([d])]
    found += [(d, finding) for d, types in losing for finding in check_sign_extension([(d, types)])]
    return [_Failing(d.name, d.tags, finding) for d, finding in found]


def _fails(itinerary: Itinerary, origin: Module, pool: ProbePool, tags: Sequence[int], code: str) -> tuple[str, Finding] | None:
    """The slice of ``tags`` as text and its finding, where it fails under the same rule as the whole program."""
    text = slice_of(origin.op, tags).get_asm(use_local_scope=False)
    try:
        module = itinerary.session.parse_text(text, "reduced.mlir")
        itinerary.advance(module, BOUNDARIES_PLACED_AT)
        failing = (_narrow if code in NARROW else _refused)(itinerary, module, pool)
    except PhaseFailed:
        return None
    return next(((text, failed.finding) for failed in failing if failed.finding.code == code), None)
