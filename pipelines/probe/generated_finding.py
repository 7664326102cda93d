"""What does the generated code of a dispatch say is wrong with it, and is that repaired or only reported?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fissile.effect import Effect
from fissile.finding import Finding, Limit
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.kernel.evidence import Evidence
from fissile.passes.analysis.memory.footprint import Footprint
from fissile.passes.failures.failure import (
    CONVERTED,
    Failure,
    codes_of,
    failure_named,
    failure_that_ends,
    failures_of,
)
from fissile.passes.iree.backends import backend_named
from fissile.target import repairs_slow

from .diagnostics import Diagnostic, quoted
from .one_dispatch import Probed
from .probe_pool import ProbeResult

Shown = Iterator[tuple[Failure, Evidence]]
"""Failures of a dispatch with what shows them; the first is reported."""


def finding_of(
    dispatch: Dispatch, result: ProbeResult, ops: Sequence[SourceOp], limit: Limit | None = None
) -> Finding | None:
    """The first of the failures that code generation shows and that matters."""
    return _first(dispatch, _shown(dispatch, result, limit), ops)


def first_seen(dispatch: Dispatch, probed: Probed, ops: Sequence[SourceOp]) -> Finding | None:
    """The first of the failures that the code itself shows."""
    return _first(dispatch, _seen(dispatch, probed), ops)


def _first(dispatch: Dispatch, shown: Shown, ops: Sequence[SourceOp]) -> Finding | None:
    found = (one.explain(dispatch, evidence, ops) for one, evidence in shown)
    return next((finding for finding in found if finding is not None), None)


def _shown(dispatch: Dispatch, result: ProbeResult, limit: Limit | None) -> Shown:
    probed = result.probed
    if result.ended and probed.failure is not None:
        error = probed.failure
        yield failure_that_ends(result.ended), Evidence(message=error.message, text=error.text)
        return
    refusal = quoted(probed.refusal) if probed.refusal else ""
    for one, evidence in exceeded(dispatch, probed.footprint, limit):
        yield one, replace(evidence, message=refusal)
    yield from _of_diagnostic(probed.failure)
    seen = list(_seen(dispatch, probed))
    yield from (shown for shown in seen if shown[0].order < CONVERTED)
    yield from _of_diagnostic(result.converted)
    yield from (shown for shown in seen if shown[0].order >= CONVERTED)


def exceeded(dispatch: Dispatch, footprint: Footprint, limit: Limit | None = None) -> Shown:
    """The failures that the on-chip buffers show."""
    for one in failures_of(backend_named(dispatch.target.backend)):
        if evidence := one.measure(dispatch, footprint, limit):
            yield one, evidence


def _of_diagnostic(diagnostic: Diagnostic | None) -> Shown:
    """The failure that IREE's message names."""
    if diagnostic is not None:
        text = diagnostic.text
        yield (
            failure_named(text),
            Evidence(message=quoted(diagnostic.message), text=text, tags=diagnostic.tags),
        )


def _seen(dispatch: Dispatch, probed: Probed) -> Shown:
    """What the code shows, but for narrow elements: they are no failure that edits repair."""
    for one in failures_of(backend_named(dispatch.target.backend)):
        if (evidence := probed.seen.get(one.code)) and not one.packed:
            yield one, evidence


def is_left(finding: Finding, dispatch: Dispatch, tune: bool, changed: bool = False) -> bool:
    """Whether, without ``tune``, ``finding`` is reported and the dispatch left as it is: failures that declare so, and what is right
    and slow on a target that is not the device that was measured. ``changed``: the program is, for another reason.
    """
    slow_elsewhere = finding.effect is Effect.SLOW and not repairs_slow(dispatch.target.arch, changed)
    return not tune and (finding.code in REPORTED_ONLY or slow_elsewhere)


REPORTED_ONLY = frozenset(codes_of(lambda one: one.reported_only))


def as_it_is(finding: Finding) -> Finding:
    """``finding`` with the reason why nothing is done about it."""
    if finding.code in REPORTED_ONLY:
        return finding
    note = "the numbers are right and nothing is changed: what is slow was measured on lavapipe; --tune repairs it"
    return finding.with_(notes=(*finding.notes, note))
