"""Which of the refused ops `fissile compile` repairs: each is compiled in a child process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from fissile.errors import FissileError
from fissile.finding import Finding, Severity
from fissile.passes.iree.phases import INPUT_CONVERTED_AT
from fissile.report import Report

from ..compile.request import CompileRequest
from ..process.scratch import scratch

CONFIRMED = ("FIS408", "FIS409", "FIS410", "FIS411")
"""Rules of ops that a repair may help: those behind the import."""
IN_CONTEXT = "FIS414"


def without_repairable(report: Report, dispatch_timeout: float = 30.0) -> Report:
    """``report`` of an audit; what `fissile compile` repairs, compiled alone, is a note: an op, the smallest part that is refused."""
    findings = list(report.findings)
    for target in cast(list[dict], report.facts.get("audit", [])):
        for finding in report.findings:
            rows = [row for row in target["ops"] if _is_about(row, finding, target)]
            if (
                finding.code == IN_CONTEXT
                and not finding.subject
                and finding.target == target["target"]
                and target["part"]
            ):
                rows = [target["part"]]
            if rows and all(_repaired(row, target, dispatch_timeout) for row in rows):
                findings[findings.index(finding)] = _as_note(
                    finding, "part" if finding.code == IN_CONTEXT else "op"
                )
                target["repairable"] = True
    return replace(report, findings=tuple(findings))


def compiled_by_fissile(
    source: Path,
    flags: Sequence[str],
    start: str = "start",
    dispatch_timeout: float = 30.0,
    output: Path | None = None,
    time_limit: float = 0.0,
) -> Report:
    """What `fissile compile` reports of ``source``; it is thrown away without ``output``. Raises FissileError as the command does."""
    from ..process.supervisor import run_compile

    with scratch() as folder:
        request = CompileRequest(
            input=str(source),
            output=str(output or folder / "out.vmfb"),
            flags=tuple(flags),
            compile_from=start,
            dispatch_timeout=dispatch_timeout,
            time_limit=time_limit,
            inner=True,
        )
        return run_compile(request)


def _is_about(row: dict, finding: Finding, target: dict) -> bool:
    return (
        finding.code in CONFIRMED
        and finding.severity is Severity.ERROR
        and finding.subject == row["op"]
        and finding.target == target["target"]
        and row["phase"] != INPUT_CONVERTED_AT
        and bool(row["program"])
    )


def _repaired(row: dict, target: dict, dispatch_timeout: float) -> bool:
    with scratch() as folder:
        file = folder / "op.mlir"
        file.write_text(row["program"], encoding="utf-8")
        try:
            report = compiled_by_fissile(file, target["flags"], target["start"], dispatch_timeout)
        except FissileError:
            return False
        return not report.errors


def _as_note(finding: Finding, what: str) -> Finding:
    """IREE refuses the op, or a part of the program, and that is no obstacle."""
    return finding.with_(
        severity=Severity.NOTE,
        helps=(),
        notes=(*finding.notes, f"handled later: `fissile compile` repairs the {what} alone"),
    )
