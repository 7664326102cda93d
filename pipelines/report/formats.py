"""The formats of a report for machines: one value, `Report`, and a renderer for each format. Renderers decide nothing."""

from __future__ import annotations

import json

from fissile.report import Report

from .github import workflow_commands
from .json_document import document
from .sarif import sarif


def rendered(report: Report, form: str, exit_status: int) -> str:
    """``report`` in the machine format ``form``, as text that ends in a line break; empty where the format has nothing to say."""
    if form == "github":
        return workflow_commands(report)
    value = {"json": document, "sarif": sarif}[form](report, exit_status)
    # `##[` begins a command in a log of GitHub Actions; in JSON it is only in strings.
    return json.dumps(value, indent=2, allow_nan=False).replace("##[", r"##\u005b") + "\n"
