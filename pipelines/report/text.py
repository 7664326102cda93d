"""A report as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding, Help, Ledger, Limit, Place, Severity
from fissile.report import Report
from fissile.shown_text import shown, shown_lines

from .untrusted_text import SourceLines, lines_of
from .view import View

WIDTH = 100
"""Columns of a quoted line where there is no terminal."""
PLAIN = View()
PASS = "pass"
"""The row of a repair that names its passes, for who wants to run them."""
_WORDS = {
    Severity.ERROR: "error",
    Severity.REPAIRED: "repaired",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
}


def render(report: Report, source: str | SourceLines = "", view: View = PLAIN) -> str:
    """The findings that ``view`` shows, then one line that counts all; empty where there are none.

    Lines of the file ``source`` are quoted, of no other.
    """
    blocks = finding_blocks(report, source, view)
    if blocks or report.findings and not view.quiet:
        blocks.append("\n".join([*explained(report, view), summary(report)]))
    return "\n\n".join(blocks) + ("\n" if blocks else "")


def finding_blocks(report: Report, source: str | SourceLines, view: View) -> list[str]:
    """Each finding that ``view`` shows."""
    lines = lines_of(source)
    return [
        render_finding(finding, lines, view, report.rejected_for(finding))
        for finding in report.findings
        if view.shows(finding)
    ]


def explained(report: Report, view: View) -> list[str]:
    """The command that prints the manual pages of what is shown."""
    codes = dict.fromkeys(finding.code for finding in report.findings if view.shows(finding))
    return [f"manual page{'s' if len(codes) > 1 else ''}: fissile explain {' '.join(codes)}"] if codes else []


def summary(report: Report) -> str:
    """`1 repaired, 2 warnings; wrote model.vmfb`."""
    counts = []
    for severity in Severity:
        number = sum(f.severity is severity for f in report.findings)
        if number:
            word = _WORDS[severity]
            counts.append(
                f"{number} {word}" + ("s" if number > 1 and severity is not Severity.REPAIRED else "")
            )
    written = "standard output" if report.output == "-" else shown(report.output)
    end = f"wrote {written}" if written else "no output written"
    if report.output and any(
        f.severity is Severity.WARNING and f.effect.spoils_numbers for f in report.findings
    ):
        end += ", WHOSE NUMBERS ARE WRONG OR DEPEND ON LUCK"
    return f"fissile: {', '.join(counts)}; {end}"


def render_finding(
    finding: Finding, source: SourceLines | None = None, view: View = PLAIN, rejected_for: str = ""
) -> str:
    """One finding: headline, places with their source lines, ledger, limit, helps, notes. All of it may quote the input."""
    lines = view.wrapped(f"{_WORDS[finding.severity]}[{finding.code}] {shown(finding.message)}", 4)
    if finding.target and view.names_targets and finding.target not in finding.message:
        lines += _row("target", finding.target, view)
    if stock := finding.stock_line(rejected_for):
        lines += _row("stock", stock, view)
    lines += _places(finding.places, source or SourceLines(), view.columns or WIDTH)
    lines += [line for row in _ledger(finding.ledger, finding.limit) for line in view.wrapped(row, 31)]
    if finding.limit is not None:
        limit = finding.limit
        lines += _row("limit", f"{limit.bytes}  per {limit.per}: {limit.source}", view)
    for help_ in finding.helps:
        lines += _help(help_, view)
    for note in finding.notes:
        first, *rest = shown_lines(note)
        lines += view.wrapped(f"note: {first}", 6)
        lines += [line for text in rest for line in view.wrapped(f"      {text}", 6)]
    return "\n".join(lines)


def _row(name: str, sentence: str, view: View) -> list[str]:
    return view.wrapped(f"     = {name:<8} {shown(sentence)}", 16)


def _places(places: Iterable[Place], known: SourceLines, width: int) -> list[str]:
    """Places by file, the first with an arrow, each with its source line where the file is the input; a name of several once."""
    lines: list[str] = []
    file, named = "", set[str]()
    for number, place in enumerate(places):
        label, name = shown(place.label), shown(place.name)
        if name in named or f"'{name}'" in label or f"-> {name}" in label:
            name = ""
        named.add(name)
        if place.file != file:
            lines.append(
                f"  {'-->' if number == 0 else ':::'} {shown(str(place))}" + (f" in {name}" if name else "")
            )
            file = place.file
        elif name:
            label = f"{label} (in {name})".lstrip()
        source = shown(known.line(place.file, place.line).rstrip().expandtabs(1))
        if not source.strip():
            if number or label:
                lines.append(f"     | {place.line}:{place.column} {label}".rstrip())
            continue
        span = _span(source, place.column)
        head, column = _excerpt(source, place.column, span, width)
        mark = ("^" if number == 0 else "-") * span
        lines.append(f"{place.line:4d} | {head}")
        lines.append(f"     | {' ' * column}{mark} {label}".rstrip())
    return lines


def _excerpt(source: str, column: int, span: int, width: int) -> tuple[str, int]:
    """The part of the source line around the ``span`` characters at ``column`` that fits the terminal, and where they stand in it."""
    line = source.lstrip()
    at = min(max(0, column - 1 - (len(source) - len(line))), len(line))
    room = width - 10
    if len(line) <= room + 2:
        return line, at
    begin = 0 if at + span <= room else max(0, at - room // 3)
    before = "… " if begin else ""
    end = begin + room - len(before)
    return before + line[begin:end] + (" …" if end < len(line) else ""), at - begin + len(before)


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
    room = min(28, max((len(line.value) for line in ledger.lines), default=0) + 2)
    for number, line in enumerate(ledger.lines):
        value = line.bytes.value
        share = f"{100 * value / whole:5.1f}%" if whole and value is not None else "      "
        count = "unknown" if value is None else str(value)
        head = "     = bytes" if number == 0 else "            "
        rows.append(f"{head} {count:>8} {share}  {shown(line.value):<{room}} {shown(line.reason)}".rstrip())
    if whole is not None:
        times = f"{whole / limit.bytes:.1f} times the limit" if limit and limit.bytes else ""
        basis = ledger.total.how_known
        rows.append(f"             {whole:>8}         {times:<{room}} ({basis})")
    return rows


def _help(help_: Help, view: View) -> list[str]:
    lines = view.wrapped(f"{'done' if help_.applied else 'help'}: {shown(help_.title)}", 6)
    for name, sentence in help_.facts:
        if name != PASS or view.verbose:
            lines += _row(name, sentence, view)
    return lines
