"""A report as workflow commands of GitHub Actions: `::error file=…,line=…,col=…,title=…::message`, one line for each finding."""

from __future__ import annotations

from fissile.finding import Finding, Severity
from fissile.report import Report
from fissile.rules import RULES
from fissile.shown_text import shown

_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.REPAIRED: "notice",
    Severity.NOTE: "notice",
}


def workflow_commands(report: Report) -> str:
    """One annotation for each finding; nothing else, so that no line of a program is read as a command."""
    return "".join(
        workflow_command(finding, report.rejected_for(finding)) + "\n" for finding in report.findings
    )


def workflow_command(finding: Finding, rejected_for: str = "") -> str:
    """The workflow command of one finding, at the place to blame; without a place where the program carries no line."""
    properties: dict[str, object] = {}
    if finding.places and finding.places[0].line:
        place = finding.places[0]
        properties = {"file": place.file, "line": place.line, "col": max(1, place.column)}
    properties["title"] = f"{finding.code} {RULES[finding.code].name}"
    spelled = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_LEVELS[finding.severity]} {spelled}::{_data(_message(finding, rejected_for))}"


def _message(finding: Finding, rejected_for: str) -> str:
    lines = [shown(finding.message)]
    if finding.severity is Severity.REPAIRED:
        lines[0] = f"repaired: {lines[0]}"
    names = dict.fromkeys(place.name for place in finding.places if place.name)
    if names:
        lines.append(f"in {', '.join(map(shown, names))}")
    if stock := finding.stock_line(rejected_for):
        lines.append(f"stock IREE: {shown(stock)}")
    for help_ in finding.helps:
        lines.append(f"{'done' if help_.applied else 'help'}: {shown(help_.title)}")
    lines += [f"note: {shown(note)}" for note in finding.notes]
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(shown(text)).replace(":", "%3A").replace(",", "%2C")
