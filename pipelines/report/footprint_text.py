"""The report of `fissile check` as a person reads it: findings first, then one line per target."""

from __future__ import annotations

from dataclasses import replace

from fissile.finding import Severity
from fissile.report import Report
from fissile.shown_text import shown

from .text import PLAIN, explained, finding_blocks
from .untrusted_text import SourceLines
from .view import View


def render_check(report: Report, source: str | SourceLines = "", view: View = PLAIN) -> str:
    """Findings, then per target how many dispatches fit and which needs most; where ``view`` is verbose all of
    them. Lines of the file ``source`` are quoted."""
    several = len(report.facts.get("targets", [])) > 1
    blocks = finding_blocks(report, source, replace(view, names_targets=several))
    if view.quiet and not blocks:
        return ""
    lines = []
    for target in report.facts.get("targets", []):
        lines += [] if view.quiet else _target(target, view.verbose)
    if lines:
        blocks.append("\n".join(lines))
    for function, conditions in report.facts.get("contract", {}).items():
        if conditions:
            blocks.append(
                "\n".join([f"{shown(function)} asks of its callers:", *(f"  {shown(c)}" for c in conditions)])
            )
    counts = []
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        number = sum(f.severity is severity for f in report.findings)
        if number:
            counts.append(f"{number} {severity.value}" + ("s" if number > 1 else ""))
    last = "fissile: " + (", ".join(counts) if counts else _clean(report.facts.get("targets", [])))
    blocks.append("\n".join([*explained(report, view), last]))
    return "\n\n".join(blocks) + "\n"


def _clean(targets: list[dict]) -> str:
    """What it means that nothing was found."""
    rows = [row for target in targets for row in target["dispatches"]]
    generated = sum(row["code_generated"] for row in rows)
    if not rows or generated == len(rows):
        return "no findings"
    if not generated:
        return "fits (predicted); code generation not run"
    return f"no findings; {_count(len(rows) - generated)} fit by prediction, code was generated for {_count(generated)}"


def _target(target: dict, every_dispatch: bool) -> list[str]:
    rows = target["dispatches"]
    if not rows:
        return [f"{shown(target['name'])}: no dispatches"]
    fitting = sum(row["fits"] is True for row in rows)
    unknown = sum(row["fits"] is None for row in rows)
    needy = max((row for row in rows if row["bytes"] is not None), key=lambda row: row["bytes"], default=None)
    line = f"{shown(target['name'])}: {fitting} of {_count(len(rows))} fit {target['limit']} bytes per {target['per']}"
    if unknown:
        line += f", {unknown} of unknown size"
    if needy is not None and needy["bytes"]:
        line += f"; the largest needs {needy['bytes']} ({shown(needy['name'])})"
    lines = [line, *_simulation(target.get("simulation"))]
    for function in target.get("memory", []):
        lines += _memory(function)
    if every_dispatch:
        for row in rows:
            lines += _dispatch(row)
    return lines


def _simulation(found: dict | None) -> list[str]:
    """How many dispatches were simulated, and why others were not."""
    if found is None:
        return []
    lines = [f"  simulated: {_count(found['right'] + found['wrong'])}, {found['right']} of them right"]
    return lines + [f"  not simulated: {shown(name)}: {shown(why)}" for name, why in found["unknown"].items()]


def _memory(function: dict) -> list[str]:
    """The peak of live bytes of one function, the tensors alive there, and the bytes over program time."""
    at = f" at {shown(function['at'])}" if function["at"] else ""
    partly = "" if function["complete"] else "; not all paths were walked"
    lines = [
        f"  memory of {shown(function['function'])}: peak {_bytes(function['peak'])} live bytes{at}; "
        f"{_bytes(function['bound'])} are needed at once{partly}"
    ]
    for one in function["alive"]:
        idle = "" if one["needed"] else "  no longer used"
        lines.append(f"  {_bytes(one['bytes']):>12}   {shown(', '.join(one['tensors']))}{idle}")
    lines += [
        f"  {_bytes(one['live']):>12}   live, {_bytes(one['needed'])} needed: {shown(one['op'])} {shown(one['at'])}".rstrip()
        for one in function["over_time"]
    ]
    return lines


def _bytes(count: int | None) -> str:
    return "unknown" if count is None else str(count)


def _dispatch(row: dict) -> list[str]:
    size = row["formula"] or "unknown" if row["bytes"] is None else str(row["bytes"])
    lines = [
        f"  {shown(size):>10} {row['certainty']:<10} {shown(row['name'])}  {shown(row['codegen'])}  {shown(row['place'])}".rstrip()
    ]
    for buffer in row["buffers"]:
        size = buffer["formula"] if buffer["bytes"] is None else buffer["bytes"]
        scales = "" if buffer["scales_with_tile"] is not False else "; no tile makes it smaller"
        lines.append(
            f"  {shown(str(size)):>10}   {shown(buffer['value']):<28} {shown(buffer['reason'])}{scales}".rstrip()
        )
    for doubt in row["doubts"]:
        lines.append(f"             doubt: {shown(doubt)}")
    return lines


def _count(number: int) -> str:
    return f"{number} dispatch{'es' if number != 1 else ''}"
