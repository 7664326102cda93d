"""A report as a person reads it in a terminal."""

from __future__ import annotations

import linecache
from collections.abc import Iterable

from fissile.finding import Finding, Help, Ledger, Limit, Place, Severity
from fissile.report import Report

WIDTH = 100
_WORDS = {Severity.ERROR: "error", Severity.REPAIRED: "repaired", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render(report: Report) -> str:
    """All findings, then one line that counts them; empty where there is nothing to say."""
    blocks = [render_finding(finding) for finding in report.findings]
    if report.findings:
        blocks.append(summary(report))
    return "\n\n".join(blocks) + ("\n" if blocks else "")


def summary(report: Report) -> str:
    """`1 repaired, 2 warnings; wrote model.vmfb`."""
    counts = []
    for severity in Severity:
        number = sum(f.severity is severity for f in report.findings)
        if number:
            word = _WORDS[severity]
            counts.append(f"{number} {word}" + ("s" if number > 1 and severity is not Severity.REPAIRED else ""))
    end = f"wrote {report.output}" if report.output else "no output written"
    if report.output and any(f.severity is Severity.WARNING and f.effect.spoils_numbers for f in report.findings):
        end += ", WHOSE NUMBERS ARE WRONG OR DEPEND ON LUCK"
    return f"fissile: {', '.join(counts)}; {end}"


def render_finding(finding: Finding) -> str:
    """One finding: headline, places with their source lines, ledger, limit, helps, notes."""
    lines = [f"{_WORDS[finding.severity]}[{finding.code}] {finding.message}"]
    if finding.stock:
        lines.append(f"     = stock    {finding.stock}")
    lines += _places(finding.places)
    lines += _ledger(finding.ledger, finding.limit)
    if finding.limit is not None:
        lines.append(f"     = limit    {finding.limit.bytes}  per {finding.limit.per}: {finding.limit.source}")
    for help_ in finding.helps:
        lines += _help(help_)
    lines += [f"note: {note}" for note in finding.notes]
    return "\n".join(lines)


def _places(places: Iterable[Place]) -> list[str]:
    """Places by file, the first with an arrow, each with its source line where the file can be read."""
    lines: list[str] = []
    file = ""
    for number, place in enumerate(places):
        if place.file != file:
            lines.append(f"  {'-->' if number == 0 else ':::'} {place}")
            file = place.file
        source = linecache.getline(place.file, place.line).rstrip("\n") if place.line else ""
        if not source.strip():
            if number or place.label:
                lines.append(f"     | {place.line}:{place.column} {place.label}".rstrip())
            continue
        head, column = _excerpt(source, place.column)
        mark = ("^" if number == 0 else "-") * _span(source, place.column)
        lines.append(f"{place.line:4d} | {head}")
        lines.append(f"     | {' ' * column}{mark} {place.label}".rstrip())
    return lines


def _excerpt(source: str, column: int) -> tuple[str, int]:
    """The source line cut to the terminal, and where ``column`` stands in it."""
    shown = source.lstrip()
    indent = len(source) - len(shown)
    at = max(0, column - 1 - indent)
    if len(shown) > WIDTH - 8:
        shown = shown[: WIDTH - 10] + " …"
    return shown, min(at, WIDTH - 10)


def _span(source: str, column: int) -> int:
    """How many characters the op's name at ``column`` takes."""
    rest = source[column - 1 :]
    length = 0
    while length < len(rest) and (rest[length].isalnum() or rest[length] in "._%"):
        length += 1
    return max(1, min(length, 40))


def _ledger(ledger: Ledger | None, limit: Limit | None) -> list[str]:
    if ledger is None:
        return []
    rows, whole = [], ledger.total.value
    for number, line in enumerate(ledger.lines):
        value = line.bytes.value
        share = f"{100 * value / whole:5.1f}%" if whole and value is not None else "      "
        shown = "unknown" if value is None else str(value)
        head = "     = bytes" if number == 0 else "            "
        rows.append(f"{head} {shown:>8} {share}  {line.value:<28} {line.reason}".rstrip())
    if whole is not None:
        times = f"{whole / limit.bytes:.1f} times the limit" if limit and limit.bytes else ""
        basis = ledger.total.how_known
        rows.append(f"             {whole:>8}         {times:<28} ({basis})")
    return rows


def _help(help_: Help) -> list[str]:
    lines = [f"{'done' if help_.applied else 'help'}: {help_.title}"]
    lines += [f"     = {name:<8} {sentence}" for name, sentence in help_.facts]
    return lines
