"""How much of a report a person sees, and how wide."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from fissile.finding import Finding, Severity

LEAST = 60
"""Columns below which lines are not wrapped any further."""


@dataclass(frozen=True)
class View:
    """``columns``: the width of the terminal; 0 where there is none, and then no line is wrapped, so that it can be searched.

    ``verbose`` shows passes too, ``quiet`` errors and warnings only.
    """

    columns: int = 0
    verbose: bool = False
    quiet: bool = False
    names_targets: bool = False
    """The report is about several targets: each finding names its own."""

    def shows(self, finding: Finding) -> bool:
        return not self.quiet or finding.severity in (Severity.ERROR, Severity.WARNING)

    def wrapped(self, line: str, indent: int) -> list[str]:
        """``line`` in lines of the terminal's width, the further ones with ``indent`` blanks."""
        width = max(self.columns, LEAST)
        if not self.columns or len(line) <= width:
            return [line]
        return textwrap.wrap(
            line,
            width,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
            replace_whitespace=False,
        )
