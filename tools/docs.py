"""Writes the parts of docs/ that are generated from declarations: `python tools/docs.py`; with --check it only compares.

A part stands between `<!-- generated: NAME (tools/docs.py) -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from fissile.cli.command_line.reference import reference as commands
from fissile.cli.command_line.table import COMMANDS
from fissile.pipelines.report import declared_tables

sys.path.insert(0, str(Path(__file__).parent))
import reference  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
PARTS = {
    "remedies": declared_tables.remedies_markdown,
    "counterparts": declared_tables.counterparts_markdown,
    "contracts": declared_tables.contracts_markdown,
    "properties": declared_tables.properties_markdown,
    "commands": lambda: commands(COMMANDS.values()),
    "strategies": declared_tables.strategies_markdown,
    "findings": reference.findings,
    "targets": reference.targets,
    "dialect": reference.dialect,
    "python": reference.python,
}
_PART = re.compile(r"(<!-- generated: ([a-z-]+) \(tools/docs\.py\) -->\n)(.*?)(<!-- end -->\n)", re.S)


def generated(text: str) -> str:
    """``text`` with its generated parts as they are today."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[4]}", text)


def stale() -> list[Path]:
    """Pages whose generated parts are not current."""
    return [
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if generated(page.read_text()) != page.read_text()
    ]


def main(arguments: list[str]) -> int:
    pages = stale()
    for page in pages:
        print(f"{'not current' if '--check' in arguments else 'written'}: {page.relative_to(ROOT)}")
        if "--check" not in arguments:
            page.write_text(generated(page.read_text()))
    return int(bool(pages)) if "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
