"""The report of `fissile audit` as a person reads it: findings, then one line per target."""

from __future__ import annotations

from typing import cast

from fissile.finding import Severity
from fissile.report import Report
from fissile.shown_text import shown

from .text import PLAIN, explained, finding_blocks
from .view import View


def render_audit(report: Report, source: str = "", view: View = PLAIN) -> str:
    """Findings, then what became of the program on each target; where ``view`` is verbose which pass handles each op."""
    blocks = finding_blocks(report, source, view)
    if view.quiet and not blocks:
        return ""
    audited = cast(list[dict], report.facts.get("audit", []))
    written = cast(list[dict], report.facts.get("reproducers", []))
    lines = [line for target in audited for line in _target(target, view.verbose)]
    lines += [f"wrote {shown(one['file'])}: {shown(one['op'])}" for one in written]
    if lines:
        blocks.append("\n".join(lines))
    counts = []
    for severity in Severity:
        number = sum(f.severity is severity for f in report.findings)
        if number:
            counts.append(f"{number} {severity.value}" + ("s" if number > 1 else ""))
    last = "fissile: " + (", ".join(counts) if counts else "no findings: IREE compiles every op")
    blocks.append("\n".join([*explained(report, view), last]))
    return "\n\n".join(blocks) + "\n"


def _target(target: dict, every_op: bool) -> list[str]:
    refused = sum(op["count"] for op in target["ops"])
    if target["compiles"]:
        line = "IREE compiles the program"
    elif target["rest_compiles"]:
        line = f"IREE refuses {_count(refused)}, and compiles the program without"
    else:
        line = (
            f"IREE refuses {_count(refused)}, and the program without them"
            if refused
            else "IREE refuses the program"
        )
    lines = [f"{shown(target['target'])}: {line}"]
    for row in target.get("handled", []) if every_op else []:
        lines.append(f"  {row['count']:>6} {shown(row['op'])}: handled later, by pass {shown(row['pass'])}")
    return lines


def _count(number: int) -> str:
    return f"{number} op" + ("s" if number != 1 else "")
