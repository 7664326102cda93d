"""`fissile reduce` inside its worker process: a small program that fails as the request's input does, written and reported."""

from __future__ import annotations

import shlex

from fissile.finding import Finding, Severity
from fissile.passes.definition import PassFailed
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT
from fissile.report import Report

from ..compile.compile_run import CompileRun
from ..probe.probe_pool import ProbePool
from ..repair.failures import rejected, suggested
from ..repair.whole_program import rewritable
from ..session import PhaseFailed, phase_index
from . import reduction
from .reduced_again import fails_otherwise

STOCK_SECONDS = 120.0
"""Of stock IREE, for a reduced program, where the request has no limit for one dispatch."""
NO_CODE = (
    "the program does not reach code generation: no dispatch fails; `fissile compile` reports where and why"
)
NOT_ON_STOCK = (
    "stock IREE was not run on it: it has no target for the device that is present (--match-device)"
)
"""A note on a reduced program whose failure was seen in fissile's own code generation alone."""


def reduce(run: CompileRun) -> Report:
    """Writes a small program that fails as the request's input does, instead of compiling it."""
    request = run.request
    try:
        origin, _on_the_way = run.origin()
        with ProbePool(request.flags, request.dispatch_timeout) as pool:
            reduced = reduction.reduce(run.phase_pipeline, origin, pool, request.dispatch)
    except PassFailed as refused:
        return run.report(refused.findings)
    except PhaseFailed as failure:
        found = [suggested(f, "`fissile compile` applies it") for f in rewritable(run, failure)]
        return run.report(found or [_rejected(failure)])
    finding = reduced.finding
    silent = finding.effect.is_built
    device = request.match_device
    matched = [f"--match-device={device}"] if device else []
    compiler = "fissile compile --repair=suggest " if silent or device else "iree-compile "
    command = compiler + shlex.join([*matched, *request.flags, request.output, "-o", "/dev/null"])
    head = f"// {finding.code}: {finding.message}\n// shown by: {command}\n"
    run.output.write_text(head + reduced.text + "\n", encoding="utf-8")
    run.facts.update(kept=reduced.kept, of=reduced.of)
    otherwise = reduced.differs or _fails_otherwise(run, finding)
    run.facts["otherwise"] = otherwise
    shown = "IREE says nothing of it; shown" if silent else "shown" if device else "shown on stock IREE"
    kept = finding.with_(
        severity=Severity.NOTE,
        places=(),
        notes=(f"{shown} by: {command}", *((NOT_ON_STOCK,) if device else ())),
    )
    not_kept = Finding(
        "FIS152",
        f"the reduced program does not fail as its program does: {otherwise}",
        subject=finding.subject,
    )
    return run.report([kept, *([not_kept] if otherwise else [])], written=True)


def _rejected(failure: PhaseFailed) -> Finding:
    """A finding for what IREE stops at on its way to the code of dispatches; there is nothing to reduce to."""
    finding = rejected(failure)
    if phase_index(failure.phase) <= phase_index(BOUNDARIES_PLACED_AT):
        return finding
    return finding.with_(notes=(*finding.notes, NO_CODE))


def _fails_otherwise(run: CompileRun, finding: Finding) -> str:
    """What stock IREE does with the reduced program instead; empty also where it has no target for the device (NOT_ON_STOCK)."""
    request = run.request
    if request.match_device:
        return ""
    return fails_otherwise(run.output, request.flags, finding, request.dispatch_timeout or STOCK_SECONDS)
