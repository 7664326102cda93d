"""A report as one JSON object with the versions that it depends on; `json_schema.py` is its schema."""

from __future__ import annotations

import fissile
from fissile.passes.iree.version import installed
from fissile.report import Report

SCHEMA = 1
"""The version of the format: it grows when a field is removed or changes its meaning, not when one is added."""


def versions() -> dict:
    """The versions of the format, of fissile and of the installed IREE (empty where it has no metadata)."""
    return {"schema": SCHEMA, "fissile": fissile.__version__, "iree": installed()}


def document(report: Report, exit_status: int) -> dict:
    """``report`` as plain JSON values, with the exit status of the command that gave it."""
    return versions() | report.to_json() | {"exit_code": exit_status}
