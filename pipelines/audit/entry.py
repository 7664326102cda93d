"""The audit of one program for many targets, in the process of the audit worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fissile import wire
from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.legality.audit import audit
from fissile.passes.analysis.legality.boundary_types import with_ways_out
from fissile.passes.analysis.legality.compiler import Compiler, Outcome
from fissile.passes.analysis.legality.effects import effects, op_counts
from fissile.passes.analysis.legality.isolation import Isolated
from fissile.passes.analysis.legality.refused import Audit
from fissile.passes.analysis.legality.ways_out import WaysOut, ways_out
from fissile.passes.analysis.program.call_cycles import call_cycles
from fissile.passes.checks.legality.boundary_type import check_boundary
from fissile.passes.checks.legality.refused_in_context import check_in_context
from fissile.passes.checks.legality.refused_op import check_refused
from fissile.passes.checks.legality.unranked_value import check_unranked
from fissile.passes.checks.refusals.other_program import note_other_program
from fissile.passes.containment import contained
from fissile.passes.definition import PassFailed
from fissile.passes.failures.failure import codes_of
from fissile.passes.iree.phases import CALLS_FOLLOWED_AT
from fissile.report import Report

from ..compile.hooks.early_stops import endless_calls, lacking_constants
from ..compile.hooks.guard import GUARDED_AT
from ..compile.hooks.plan import DIALECT_LOWERINGS, lower_dialect
from ..probe.diagnostics import failure_code, parse_diagnostic, quoted
from ..repair.failures import rejected
from ..session import Module, PhaseFailed, Session, phase_index
from .merged import merged

OWN_RULES = ("FIS003", "FIS004", *codes_of(lambda one: one.exceeds))
"""Rules that say more of a refusal than that it is one."""


@dataclass(frozen=True)
class AuditJob:
    """What is audited: ``targets`` are names with their flags; ``start`` the phase that the program stands at."""

    source: str
    targets: tuple[tuple[str, tuple[str, ...]], ...]
    start: str = "start"
    name: str = ""
    """Stands for the file in places, where it is not the file's own."""
    to: str = "end"
    allow_pipelines: bool = False
    known: Mapping[str, Outcome] = field(default_factory=dict)


def run_audit_here(
    job: AuditJob,
    begins: Callable[[str, bool, str], object] = lambda _key, _whole, _step: None,
    ended: Callable[[str, Outcome], object] = lambda _key, _outcome: None,
    compiler: Compiler | None = None,
) -> Report:
    """Audits ``job`` in this process. ``report.facts["audit"]`` has, by target, what was compiled and what each op came to.

    ``compiler`` is that of earlier audits in this process, whose answers hold for this one.
    """
    session = Session()
    try:
        module = session.parse_input(Path(job.source), job.name, allow_pipelines=job.allow_pipelines)
    except PhaseFailed as failure:
        return Report("audit", (rejected(failure),), facts={"audit": []})
    except PassFailed as refused:
        return Report("audit", refused.findings, facts={"audit": []})
    contained("fissile's own ops", lambda: _lower(module), None)
    stops = contained("early stops", lambda: _early_stops(session, module, job), [])
    if any(one.effect is Effect.ENDLESS for one in stops):
        return Report("audit", tuple(stops), facts={"audit": []})
    effects_found = contained("ops with an effect", lambda: effects(module.op), [])
    counts = contained("ops by name", lambda: op_counts(module.op), {})
    compiler = compiler or Compiler(job.known, begins, ended)
    findings: list[Finding] = list(stops)
    facts: list[dict] = []
    for name, flags in job.targets:
        changed = module.clone()  # the ops in it live as long as this name does
        found = audit(compiler, changed.op, flags, job.to, job.start)
        ways = [
            contained("ways out", partial(ways_out, compiler, one, flags), WaysOut(), about=one.name)
            for one in found.refused
        ]
        unranked = bool(found.unranked or found.without_rank)
        by_value = [
            unranked and (way.needs_rank or one.is_without_rank)
            for one, way in zip(found.refused, ways, strict=True)
        ]
        reported = merged(
            check_refused(one, way, name)
            for one, way, reported_as_value in zip(found.refused, ways, by_value, strict=True)
            if not reported_as_value
        )
        findings += [_with_whole(finding, found) for finding in reported]
        if any(by_value) or not found.rest.ok:
            findings += [check_unranked(value) for value in found.unranked]
        findings += [check_unranked(value) for value in found.without_rank]
        findings += [
            check_boundary(contained("types instead", partial(with_ways_out, compiler, value, flags), value))
            for value in found.boundaries
        ]
        findings += [
            check_in_context(one.outcome, one.part, True, name, one.unprobed, one.function, one.place)
            for one in found.functions
        ]
        if not found.rest.ok and not found.unranked and not found.is_explained and not stops:
            rest = _of_the_rest(found, name)
            findings.append(
                contained("the kind of program", partial(note_other_program, rest, module.op), rest)
            )
        facts.append(_facts(name, flags, job.start, found, compiler))
    more = {"ops": counts, "effects": [wire.plain(effect) for effect in effects_found]}
    return Report("audit", tuple(merged(findings)), facts={"audit": facts, **more})


def _early_stops(session: Session, module: Module, job: AuditJob) -> list[Finding]:
    """What no compile to the audit's last phase comes past: on functions that call themselves (FIS145) the audit would not end."""
    if job.start != "start":
        return []
    cycles = phase_index(job.to) >= phase_index(CALLS_FOLLOWED_AT) and bool(call_cycles(module.op))
    return [
        *(endless_calls(session.run(module.clone(), GUARDED_AT)) if cycles else ()),
        *lacking_constants(
            module,
            Path(job.source).read_bytes(),
            job.to,
            [flag for _name, flags in job.targets for flag in flags],
        ),
    ]


def _lower(module: Module) -> None:
    """Lowers fissile's own ops as a compile does; where that is refused, the compile says why."""
    clone = module.clone()
    try:
        for _phase, pipeline in DIALECT_LOWERINGS:
            lower_dialect(pipeline)(clone)
    except PassFailed:
        return
    module.op = clone.op


def _with_whole(finding: Finding, found: Audit) -> Finding:
    """``finding``, with the message that IREE gives for the whole program as its quote of stock."""
    if finding.code in ("FIS406", "FIS412") or found.whole.ok or not found.whole.text:
        return finding
    diagnostic = parse_diagnostic("error", found.whole.text)
    place = next(iter(diagnostic.places), None)
    elsewhere = place is not None and all(
        (p.file, p.line) != (place.file, place.line) for p in finding.places
    )
    quote = quoted(diagnostic.message)
    return finding.with_(stock=f"{quote} (at {place})" if elsewhere else quote)


def _of_the_rest(found: Audit, target: str) -> Finding:
    """What IREE refuses without the ops that were found: of a rule of its own, or FIS414."""
    in_context = check_in_context(found.rest, found.part, bool(found.refused), target, found.unprobed)
    code = failure_code(found.rest.text)
    if code == "FIS003":
        return in_context.with_(
            code=code, message="the module has no functions: there is nothing to compile", notes=()
        )
    return in_context.with_(code=code) if code in OWN_RULES else in_context


def _facts(name: str, flags: Sequence[str], start: str, found: Audit, compiler: Compiler) -> dict:
    return {
        "target": name,
        "flags": list(flags),
        "start": start,
        "compiles": found.whole.ok and not any(one.unknown for one in found.refused),
        "stopped_before": found.whole.failed,
        "rest_compiles": found.rest.ok and not found.functions,
        "compiled": compiler.compiled,
        "part": _row(
            ", ".join(name for name, _place in found.part.ops), "", 1, found.part.outcome, found.part.program
        )
        if found.part
        else None,
        "ops": [
            _row(one.name, one.types, len(one.occurrences), one.outcome, one.probe) for one in found.refused
        ],
    }


def _row(op: str, types: str, count: int, outcome: Outcome, program: Isolated | None) -> dict:
    return {
        "op": op,
        "count": count,
        "types": types,
        "phase": outcome.failed,
        "pass": outcome.failing_pass,
        "program": program.text if program else "",
    }
