"""What becomes of an output whose numbers are known to be wrong: withheld, or written where the user insists."""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding, Severity

OPTION = "--allow-wrong-numbers"


def settled(findings: Iterable[Finding], allowed: bool) -> list[Finding]:
    """``findings`` with the errors that withhold an output made warnings where wrong numbers are ``allowed``; else with a note
    of the option, where nothing but wrong numbers stands in the way.
    """
    findings = list(findings)
    if allowed:
        return [_allowed(f) if f.withholds else f for f in findings]
    if any(f.severity is Severity.ERROR and not f.effect.spoils_numbers for f in findings):
        return findings
    note = f"no output is written; {OPTION} writes it, wrong as it is"
    return [f.with_(notes=(*f.notes, note)) if f.withholds else f for f in findings]


def _allowed(finding: Finding) -> Finding:
    return finding.with_(
        severity=Severity.WARNING, notes=(*finding.notes, f"the output is written all the same: {OPTION}")
    )
