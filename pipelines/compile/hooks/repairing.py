"""What every hook does that finds something and has a remedy for it: the remedy is run, and the findings say so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from fissile.finding import Finding, Severity

from ...session import Module

if TYPE_CHECKING:
    from fissile.passes.remedies.remedy import Remedy


def repaired(finding: Finding, remedy: Remedy) -> Finding:
    """``finding`` as it reads once ``remedy`` has been run."""
    done = remedy.help(("pass", str(remedy)), ("numerics", remedy.numbers))
    title, advice = (text.format(ops="it", them="it") for text in (done.title, done.advice))
    return finding.with_(severity=Severity.REPAIRED, helps=(replace(done, title=title, advice=advice),))


def apply(module: Module, remedy: Remedy, found: Iterable[Finding]) -> list[Finding]:
    """Runs ``remedy`` on ``module``; returns ``found``, repaired, and what the pass itself reports."""
    reported = [repaired(finding, remedy) for finding in found]
    run(module, remedy, reported)
    return reported


def run(module: Module, remedy: Remedy, reported: list[Finding]) -> None:
    """Runs ``remedy`` on ``module``; what the pass itself reports is added to ``reported``."""
    from ...pass_runner import run_pipeline

    module.about_to_change()
    run_pipeline(f"builtin.module({remedy})", module.op, report=reported.append)
