"""What `fissile audit` does: the audit in a child process, then what `fissile compile` makes of what IREE refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fissile.finding import Finding, Severity
from fissile.passes.iree.targets import flags_for
from fissile.report import Report

from ..importers.imported import Imported, with_import
from ..process.scratch import scratch
from ..targets import resolve_target
from .audit_worker import run_audit
from .merged import merged_targets
from .repairable import without_repairable
from .reproducers import write_reproducers
from .traced import with_trace

DEAD_CODE = ("FIS412", "FIS413")


def audit_command(
    source: str,
    targets: Sequence[str],
    flags: Sequence[str] = (),
    *,
    command: str = "",
    strict: bool = False,
    reproducers: str = "",
    dispatch_timeout: float = 30.0,
    allow_pipelines: bool = False,
    every_op: bool = False,
) -> Report:
    """The report for ``source`` on each of ``targets``; ``every_op``: with the pass that handles each op. Raises UsageError."""
    named = [(name, (*flags, *flags_for(resolve_target(name)))) for name in dict.fromkeys(targets)]
    with scratch() as folder:

        def audited(model: Imported | None) -> Report:
            program = str(model.program) if model else source
            found = run_audit(
                program,
                named,
                command=command,
                dispatch_timeout=dispatch_timeout,
                allow_pipelines=allow_pipelines,
            )
            return with_trace(without_repairable(found, dispatch_timeout), program, every_op)

        report = with_import(source, folder, "audit", audited, advice="`fissile compile` applies it")
    findings = [_strictly(finding) if strict else finding for finding in merged_targets(report.findings)]
    if reproducers:
        report.facts["reproducers"] = write_reproducers(reproducers, report)
    return replace(report, findings=tuple(findings))


def _strictly(finding: Finding) -> Finding:
    """With --strict, what compiles only because it is dead is an error."""
    return finding.with_(severity=Severity.ERROR) if finding.code in DEAD_CODE else finding
