"""A finished sweep as text, as JSON and as one HTML page; the three hold the same numbers."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence

from fissile.pipelines.sweep.cells import Cell
from fissile.pipelines.sweep.entry import Sweep
from fissile.pipelines.sweep.outcome import Outcome, Verdict
from fissile.rules import RULES
from fissile.shown_text import shown

from .json_document import versions

_MOST_TEXT_ROWS = 200


def column_of(cell: Cell, several: bool) -> str:
    """The name of a cell's column: its target, with the options and, where there are ``several``, IREE's version."""
    return " ".join(
        filter(None, (cell.target, cell.environment.label if several else "", cell.shown_options))
    )


def columns(sweep: Sweep) -> tuple[list[str], dict[tuple[str, str], Outcome]]:
    """The matrix as column names and (model, column) -> outcome, in the order of the sweep."""
    several = len({cell.environment.iree for cell in sweep.outcomes}) > 1
    rows = {(cell.model.name, column_of(cell, several)): outcome for cell, outcome in sweep.outcomes.items()}
    return list(dict.fromkeys(column for _model, column in rows)), rows


def sentence_of(sweep: Sweep) -> str:
    """One line with what a reader wants first."""
    counts = ", ".join(f"{sweep.counts[verdict]} {verdict}" for verdict in Verdict if sweep.counts[verdict])
    reused = f", {sweep.reused} of them from earlier runs" if sweep.reused else ""
    return f"{len(sweep.outcomes)} compiles{reused}: {counts}"


def failures_of(sweep: Sweep) -> list[tuple[str, list[str], str, str]]:
    """Model, columns, verdict and why of what is not built: columns that fail alike are one row."""
    several = len({cell.environment.iree for cell in sweep.outcomes}) > 1
    alike: dict[tuple[str, str, str], list[str]] = {}
    for cell, outcome in sweep.outcomes.items():
        if not outcome.verdict.is_well:
            key = (cell.model.name, outcome.verdict.value, outcome.why)
            alike.setdefault(key, []).append(column_of(cell, several))
    return [(model, where, verdict, why) for (model, verdict, why), where in alike.items()]


def text_of(sweep: Sweep) -> str:
    """The matrix, why each cell that is not well is not, and what changed since the last run."""
    names, rows = columns(sweep)
    models = list(dict.fromkeys(model for model, _column in rows))
    widths = [
        max(len(name), *(len(rows[m, name].verdict) for m in models if (m, name) in rows)) for name in names
    ]
    first = max(map(len, models), default=0)
    lines = [
        "  ".join(
            [" " * first, *(f"{name:<{width}}" for name, width in zip(names, widths, strict=True))]
        ).rstrip()
    ]
    for model in models[:_MOST_TEXT_ROWS]:
        verdicts = [rows[model, name].verdict.value if (model, name) in rows else "" for name in names]
        cells = (f"{verdict:<{width}}" for verdict, width in zip(verdicts, widths, strict=True))
        lines.append("  ".join([f"{shown(model):<{first}}", *cells]).rstrip())
    if len(models) > _MOST_TEXT_ROWS:
        lines.append(f"({len(models) - _MOST_TEXT_ROWS} more models; the JSON and HTML reports have all)")
    if failed := failures_of(sweep):
        lines += ["", "not built:"]
        lines += [
            f"  {shown(model)} ({', '.join(where)}): {verdict}: {shown(why)}"
            for model, where, verdict, why in failed
        ]
    if sweep.since:
        lines += [
            "",
            f"changed since the run of {sweep.since}:"
            if sweep.changes
            else f"no change since the run of {sweep.since}",
        ]
        lines += [
            f"  {change.kind:<8}  {shown(change.label)}: {shown(change.sentence)}" for change in sweep.changes
        ]
    return "\n".join([*lines, "", sentence_of(sweep), ""])


def document_of(sweep: Sweep, exit_status: int) -> dict:
    """``sweep`` as plain JSON values. The whole report of a cell is in the results folder, under its ``key``."""
    return versions() | {
        "command": "sweep",
        "exit_code": exit_status,
        "results": sweep.folder,
        "counts": {verdict.value: count for verdict, count in sorted(sweep.counts.items())},
        "reused": sweep.reused,
        "seconds": round(sweep.seconds, 3),
        "since": sweep.since,
        "changes": [{"cell": c.label, "kind": c.kind, "change": c.sentence} for c in sweep.changes],
        "cells": [_row(cell, outcome) for cell, outcome in sweep.outcomes.items()],
    }


def _row(cell: Cell, outcome: Outcome) -> dict:
    return {
        "model": cell.model.name,
        "target": cell.target,
        "iree": cell.environment.iree,
        "options": list(cell.options),
        "key": cell.key,
        "verdict": outcome.verdict.value,
        "codes": outcome.codes,
        "why": outcome.why,
        "module": outcome.module,
        "module_bytes": outcome.module_bytes,
        "seconds": outcome.seconds,
        "machine": outcome.machine,
    }


def json_of(sweep: Sweep, exit_status: int) -> str:
    return json.dumps(document_of(sweep, exit_status), indent=1) + "\n"


_STYLE = """
:root { color-scheme: light dark; --ok: #1a7f37; --fixed: #0969da; --bad: #cf222e; --line: #8884; }
@media (prefers-color-scheme: dark) { :root { --ok: #3fb950; --fixed: #58a6ff; --bad: #ff7b72; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem; text-align: left; vertical-align: top; }
td small { display: block; opacity: .7; } abbr { text-decoration: none; } code { overflow-wrap: anywhere; }
.built { color: var(--ok); } .repaired { color: var(--fixed); }
.refused, .usage, .endless, .internal, .lost, .worse { color: var(--bad); font-weight: 600; }
@media print { body { margin: 0; max-width: none; } }
"""


def page_of(sweep: Sweep) -> str:
    """One HTML page that needs no network and runs no script."""
    names, rows = columns(sweep)
    models = list(dict.fromkeys(model for model, _column in rows))
    head = "".join(f"<th>{_text(name)}</th>" for name in ("model", *names))
    body = "".join(
        f"<tr><td><code>{_text(model)}</code></td>{''.join(_cell(rows.get((model, name))) for name in names)}</tr>\n"
        for model in models
    )
    about = versions()
    parts = [
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>fissile sweep</title>",
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style></head><body>",
        f"<h1>{_text(sentence_of(sweep))}</h1>",
        _changes(sweep),
        f"<h2>Models and targets</h2><div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>",
        _failed(sweep),
        f"<p><small>fissile {_text(about['fissile'])}, IREE {_text(about['iree'])}; results in {_text(sweep.folder)}</small></p>",
        "</body></html>\n",
    ]
    return "\n".join(filter(None, parts))


def _text(value: str) -> str:
    return html.escape(shown(value))


def _cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return "<td></td>"
    codes = sorted({code for row in outcome.codes.values() for code in row})
    below = f"<small>{' '.join(map(_code, codes))}</small>" if codes else ""
    return f"<td class='{outcome.verdict}'>{outcome.verdict}{below}</td>"


def _code(code: str) -> str:
    """With what it stands for as its tooltip."""
    title = RULES[code].title if code in RULES else ""
    return f"<abbr title='{_text(title)}'>{_text(code)}</abbr>"


def _table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], style: Callable[[Sequence[str]], str]
) -> str:
    cells = "".join(
        f"<tr class='{style(row)}'>{''.join(f'<td>{_text(value)}</td>' for value in row)}</tr>\n"
        for row in rows
    )
    heads = "".join(f"<th>{_text(name)}</th>" for name in head)
    return f"<h2>{_text(title)}</h2><div class='wide'><table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table></div>"


def _changes(sweep: Sweep) -> str:
    if not sweep.since:
        return ""
    if not sweep.changes:
        return f"<p>No change since the run of {_text(sweep.since)}.</p>"
    rows = [(change.kind, change.label, change.sentence) for change in sweep.changes]
    return _table(
        f"Changed since the run of {sweep.since}", ("", "compile", "change"), rows, lambda row: row[0]
    )


def _failed(sweep: Sweep) -> str:
    rows = [(model, ", ".join(where), verdict, why) for model, where, verdict, why in failures_of(sweep)]
    return _table("Not built", ("model", "where", "verdict", "why"), rows, lambda _row: "") if rows else ""
