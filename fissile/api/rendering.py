"""A result as text, as the command that does the same prints it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fissile.pipelines.report.footprint_text import render_check
from fissile.pipelines.report.html.page import page
from fissile.pipelines.report.text import render
from fissile.report import Report
from fissile.shown_text import shown

from .programs import Program, source_lines

if TYPE_CHECKING:
    from fissile.pipelines.numerics.certificate import Certificate


def text_of(report: Report, program: Program, certificate: Certificate | None) -> str:
    """``report`` for a terminal, without a line break at its end; lines of ``program`` are quoted."""
    if certificate is not None:
        runs = [
            f"{'ok' if one.agrees else 'not ok'}: {shown(one.program)} on {shown(one.sentence)}"
            for one in certificate.checks
        ]
        return "\n".join([*runs, f"{shown(certificate.subject)}: {shown(certificate.sentence)}"])
    lines = source_lines(program)
    if report.command == "check":
        return render_check(report, source=lines).rstrip("\n")
    return (render(report, lines) or _clean(report)).rstrip("\n")


def page_of(document: Mapping[str, Any], program: Program) -> str:
    """The JSON values of a report as an HTML page."""
    title = os.fspath(program) if isinstance(program, os.PathLike) else ""
    return page(document, source_lines(program), title)


def _clean(report: Report) -> str:
    return "fissile: no findings" + (f"; wrote {shown(report.output)}" if report.output else "")
