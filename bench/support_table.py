"""Writes docs/support.md: `python -m bench.support_table --target llvm-cpu --target vulkan --target gfx942`.

What was measured before is taken from the cache (`fissile support`); --again measures everything.
"""

from __future__ import annotations

import argparse
import sys

from fissile.passes.iree import version
from fissile.pipelines.report.support_table import LEGEND, mark, support_markdown
from fissile.pipelines.support import kept
from fissile.pipelines.support.all_programs import all_programs
from fissile.pipelines.support.measure import CRASHES, REFUSED, WRONG, Cell, measured

from .measured_tables import write_table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.support_table", description=__doc__)
    parser.add_argument("--target", action="append", required=True)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--no-run", action="store_true", help="only make the table of what was measured")
    args = parser.parse_args()
    programs = list(all_programs())
    parts = []
    for target in args.target:
        file = kept.file_for(target)
        known = {} if args.again else kept.read(file, programs)
        chosen = [one for one in programs if one.key in known] if args.no_run else programs
        cells = measured(target, chosen, known, kept.keeper(file, programs), _tell)
        so_far = (
            f" ({len(cells)} of {len(programs)} were measured so far.)" if len(cells) < len(programs) else ""
        )
        parts.append(f"## {target}\n\n{_counts(cells)}{so_far}\n\n{support_markdown(cells)}")
    head = f"IREE {version.installed()}.\n\n{LEGEND}"
    write_table("support.md", "support", "\n".join([head, *parts]))
    return 0


def _counts(cells: list[Cell]) -> str:
    refused = [cell for cell in cells if cell.stock in (REFUSED, CRASHES)]
    crashes = sum(cell.stock == CRASHES for cell in cells)
    wrong = [cell for cell in cells if cell.numbers == WRONG]
    return (
        f"{len(cells)} programs. Stock IREE compiles {len(cells) - len(refused)} of them, {len(wrong)} of those wrong, and crashes on {crashes}. "
        f"fissile compiles {_compiled(refused)} of the {len(refused)} others, and repairs or withholds "
        f"{sum(not mark(cell).startswith(WRONG) for cell in wrong)} of the {len(wrong)} wrong ones. "
        f"{sum(mark(cell).startswith(WRONG) for cell in cells)} are wrong without a report."
    )


def _compiled(cells: list[Cell]) -> int:
    return sum(mark(cell).startswith("fissile") for cell in cells)


def _tell(done: int, of: int) -> None:
    print(f"{done} of {of}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
