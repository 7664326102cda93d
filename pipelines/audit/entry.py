"""The audit of one program for many targets, in the process of the audit worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fissile.finding import Finding
from fissile.passes.analysis.legality.audit import audit
from fissile.passes.analysis.legality.compiler import Compiler, Outcome
from fissile.passes.analysis.legality.refused import Audit
from fissile.passes.analysis.legality.ways_out import WaysOut, ways_out
from fissile.passes.checks.legality.refused_op import check_refused
from fissile.passes.definition import PassFailed
from fissile.passes.net import ask
from fissile.report import Report

from ..repair.failures import rejected
from ..session import PhaseFailed, Session
from .in_context import check_rest
from .merged import merged


@dataclass(frozen=True)
class AuditJob:
    """What is audited: ``targets`` are names with their flags; ``start`` the phase that the program stands at."""

    source: str
    targets: tuple[tuple[str, tuple[str, ...]], ...]
    start: str = "start"
    to: str = "end"
    allow_pipelines: bool = False
    known: Mapping[str, Outcome] = field(default_factory=dict)


def run_audit_here(
    job: AuditJob,
    begins: Callable[[str, bool], object] = lambda _key, _whole: None,
    ended: Callable[[str, Outcome], object] = lambda _key, _outcome: None,
) -> Report:
    """Audits ``job`` in this process. ``report.facts["audit"]`` has, by target, what was compiled and what each op came to."""
    session = Session()
    try:
        module = session.parse_input(Path(job.source), allow_pipelines=job.allow_pipelines)
    except PhaseFailed as failure:
        return Report("audit", (rejected(failure),), facts={"audit": []})
    except PassFailed as refused:
        return Report("audit", refused.findings, facts={"audit": []})
    compiler = Compiler(job.known, begins, ended)
    findings: list[Finding] = []
    facts: list[dict] = []
    for name, flags in job.targets:
        found = audit(compiler, module.clone().op, flags, job.to, job.start)
        ways = [
            ask(
                "ways out",
                lambda one=one, flags=flags: ways_out(compiler, one, flags),
                WaysOut(),
                about=one.name,
            )
            for one in found.refused
        ]
        told = merged([check_refused(one, way, name) for one, way in zip(found.refused, ways, strict=True)])
        findings += [_with_whole(finding, found) for finding in told]
        findings += check_rest(found, name)
        facts.append(_facts(name, flags, found, told, compiler))
    return Report("audit", tuple(findings), facts={"audit": facts})


def _with_whole(finding: Finding, found: Audit) -> Finding:
    """``finding``, with the message that IREE gives for the whole program as its quote of stock."""
    from ..probe.diagnostics import parse_diagnostic, quoted

    if finding.code in ("FIS406", "FIS412") or found.whole.ok or not found.whole.text:
        return finding
    said = parse_diagnostic("error", found.whole.text)
    place = next(iter(said.places), None)
    elsewhere = place is not None and all(
        (p.file, p.line) != (place.file, place.line) for p in finding.places
    )
    quote = quoted(said.message)
    return finding.with_(stock=f"{quote} (at {place})" if elsewhere else quote)


def _facts(
    name: str, flags: Sequence[str], found: Audit, told: Sequence[Finding], compiler: Compiler
) -> dict:
    return {
        "target": name,
        "flags": list(flags),
        "compiles": found.whole.ok and not any(one.unknown for one in found.refused),
        "stopped_before": found.whole.failed,
        "rest_compiles": found.rest.ok,
        "compiled": compiler.asked,
        "ops": [
            {
                "op": one.name,
                "count": len(one.occurrences),
                "types": one.types,
                "phase": one.outcome.failed,
                "pass": one.outcome.failing_pass,
                "program": one.probe.text if one.probe else "",
            }
            for one in found.refused
        ],
    }
