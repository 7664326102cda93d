"""A refusal of IREE's for a whole program, replaced by what an audit finds: the ops to blame, each with its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from fissile.effect import Effect
from fissile.errors import FissileError
from fissile.finding import Finding, Severity
from fissile.passes.failures.failure import codes_of
from fissile.report import Report

from .audit_worker import run_audit
from .blamed_options import finding_of_options
from .repairable import CONFIRMED, without_repairable

CRASHES = codes_of(lambda one: one.ending)
IMPORT_MESSAGE = "FIS421"
"""What is read from the import's message, which may name another op than the one that is refused."""
MESSAGES = codes_of(lambda one: one.lacks_code)
"""Rules that quote IREE's message: where they are about no dispatch, they say no more."""
BARE_REFUSALS = ("FIS001", "FIS002", IMPORT_MESSAGE, *CRASHES, *MESSAGES)
"""Rules of a refusal that only repeats IREE's message, and of a compiler that crashed or did not end."""
_BY_IREE = (Effect.REFUSED, Effect.CRASHES)
_TIMES = re.compile(r", (\d+) times$")
OPS = ("FIS406", "FIS407", *CONFIRMED)


def explained(
    report: Report,
    source: str,
    targets: Sequence[tuple[str, Sequence[str]]],
    *,
    dispatch_timeout: float = 30.0,
    **options,
) -> Report:
    """``report``, with the options or the ops to blame in the place of a refusal that names none; as it is where none are found.

    ``targets``: (name, flags) as findings name them. ``options`` as `run_audit`. Never raises: without an audit the refusal stays.
    """
    report = with_options(report, source, targets, str(options.get("start", "start")), dispatch_timeout)
    bare = [finding for finding in report.findings if is_bare(finding)]
    concerned = {finding.target for finding in bare}
    chosen = [(name, flags) for name, flags in targets if name in concerned or "" in concerned]
    if not chosen:
        return report
    try:
        audited = run_audit(source, chosen, dispatch_timeout=dispatch_timeout, **options)
        if report.command != "compile" or not _is_one_to_blame(audited):
            audited = without_repairable(audited, dispatch_timeout)
    except FissileError:
        return report
    repaired = [f for f in report.findings if f.severity is Severity.REPAIRED]
    blamed = [
        f
        for f in audited.findings
        if f.code in OPS and f.severity is Severity.ERROR and not _is_written(f, repaired)
    ]
    in_context = {f.target: f for f in audited.findings if f.code == "FIS414"}
    findings = [f for f in report.findings if f not in bare]
    for refusal in bare:
        if refusal.code == IMPORT_MESSAGE and (same := [f for f in blamed if _op(f) == _op(refusal)]):
            findings.append(refusal)  # it names the node of the model as well
            blamed = [f for f in blamed if f not in same]
            continue
        if not any(_stands_for(finding, refusal) for finding in blamed):
            findings.append(_with_context(refusal, in_context.get(refusal.target)))
    return replace(report, findings=(*findings, *(_with_stock(finding, bare[0]) for finding in blamed)))


def with_options(
    report: Report,
    source: str,
    targets: Sequence[tuple[str, Sequence[str]]],
    start: str,
    dispatch_timeout: float,
) -> Report:
    """``report``, where an option of the command line is what IREE refuses the program for: in the place of IREE's own message, as help
    of a finding about a dispatch.
    """
    for name, flags in targets:
        refusals = [
            f
            for f in report.findings
            if f.stops and f.effect in _BY_IREE and (not name or f.target in ("", name))
        ]
        if not refusals:
            continue
        found = finding_of_options(source, flags, refusals[0], start=start, dispatch_timeout=dispatch_timeout)
        if found is None:
            continue
        about_dispatches = [f for f in refusals if not is_bare(f)]
        rest = [f for f in report.findings if f not in refusals]
        helped = [f.with_(helps=(*f.helps, *found.helps)) for f in about_dispatches] or [found]
        report = replace(report, findings=(*rest, *helped))
    return report


def _is_one_to_blame(audited: Report) -> bool:
    """Whether IREE takes the program without one of its ops: `fissile compile` has tried to repair that op already."""
    targets = cast(list[dict], audited.facts.get("audit", []))
    return all(target["rest_compiles"] and len(target["ops"]) == 1 for target in targets)


def _keys(finding: Finding) -> set[tuple[str, int, int]]:
    """Where its ops are, as far as the program says so."""
    return {(one.file, one.line, one.column) for one in finding.places if one.line}


def _is_written(blamed: Finding, repaired: Sequence[Finding]) -> bool:
    """Whether the op of ``blamed`` has been written with others: it is not to blame. A finding about many ops has the first places alone."""
    keys = _keys(blamed)
    if not keys:
        return False
    if {key for one in repaired for key in _keys(one)} >= keys:
        return True
    cut = [one for one in repaired if (count := _TIMES.search(one.message)) and int(count[1]) > len(one.places)]  # fmt: skip
    return any(_op(one) == _op(blamed) and _keys(one) & keys for one in cut)


def _op(finding: Finding) -> str:
    """The op that ``finding`` blames, as its front end calls it."""
    return finding.subject.removeprefix("torch.").removeprefix("onnx.")


def _stands_for(finding: Finding, refusal: Finding) -> bool:
    return not finding.target or not refusal.target or finding.target == refusal.target


def is_bare(finding: Finding) -> bool:
    """Whether ``finding`` is IREE's own message about the whole program."""
    return (
        finding.code in BARE_REFUSALS
        and finding.severity is Severity.ERROR
        and (not finding.subject or finding.code == IMPORT_MESSAGE)
        and (bool(finding.stock) or finding.code in CRASHES)
    )


def _with_stock(finding: Finding, refusal: Finding) -> Finding:
    return finding if finding.stock else finding.with_(stock=refusal.stock)


def _with_context(refusal: Finding, in_context: Finding | None) -> Finding:
    """``refusal`` with the notes of the audit: the pass, the smallest part that fails, how to get it as a file."""
    if in_context is None:
        return refusal
    return refusal.with_(
        places=refusal.places or in_context.places,
        notes=tuple(dict.fromkeys((*refusal.notes, *in_context.notes))),
    )
