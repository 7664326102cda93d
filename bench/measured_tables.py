"""Writes a measured table into docs/, between `<!-- measured: NAME (COMMAND) -->` and `<!-- end -->`."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def write_table(page: str, name: str, table: str) -> None:
    """Replaces table ``name`` of docs/``page``. Raises ValueError where the page has no such place."""
    file = DOCS / page
    begin, end = re.escape(f"<!-- measured: {name} ("), re.escape("<!-- end -->")
    part = re.compile(rf"({begin}[^\n]*\n)(.*?)({end})", re.S)
    text, count = part.subn(lambda found: f"{found[1]}\n{table.strip()}\n\n{found[3]}", file.read_text())
    if count != 1:
        raise ValueError(f"docs/{page} has {count} places for the table '{name}'")
    file.write_text(text)
