"""`fissile report`: a report that was written as JSON, as an HTML page."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fissile.errors import ExitCode, UsageError
from fissile.given_files import written_apart
from fissile.report import Report


def run(args: argparse.Namespace) -> int:
    """Writes the page; returns 0. Raises UsageError for a file that is no report of fissile's."""
    from jinja2 import UndefinedError

    from fissile.cli.report_output import write_page
    from fissile.pipelines.report.json_document import SCHEMA

    if Path(args.results).exists() and not Path(args.results).is_file():  # a device or a pipe may have no end
        raise UsageError(f"not a file: {args.results}")
    try:
        text = Path(args.results).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {args.results}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _no_report(args.results) from None
    output = args.output or str(Path(args.results).with_suffix(".html"))
    written_apart((("the report", args.results), ("--output", output)))
    try:
        document = json.loads(text)
        Report.from_json(document)
        if document.get("schema") != SCHEMA:
            raise ValueError("a report of another schema")
    except (UsageError, ValueError, RecursionError):
        raise _no_report(args.results) from None
    try:
        write_page("output", output, document)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, UndefinedError):
        raise _no_report(args.results) from None
    return int(ExitCode.CLEAN)


def _no_report(file: str) -> UsageError:
    return UsageError(
        f"{file} is not a report of this fissile in JSON",
        "write one: fissile check MODEL --format=json --report-file=FILE",
    )
