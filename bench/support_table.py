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
from fissile.pipelines.support.measure import CRASHES, REFUSED, RIGHT, WRONG, Cell, measured

from .measured_tables import write_table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.support_table", description=__doc__)
    parser.add_argument("--target", action="append", required=True)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--no-run", action="store_true", help="only make the table of what was measured")
    args = parser.parse_args()
    programs = list(all_programs())
    parts = []
    measured_before: list[Cell] = []
    for target in args.target:
        file = kept.file_for(target)
        known = {} if args.again else kept.read(file, programs)
        chosen = [one for one in programs if one.key in known] if args.no_run else programs
        cells = measured(target, chosen, known, kept.keeper(file, programs), _print_progress)
        so_far = (
            f" ({len(cells)} of {len(programs)} were measured so far.)" if len(cells) < len(programs) else ""
        )
        parts.append(
            f"## {target}\n\n{_counts(cells)}{so_far}{whose_result(cells, measured_before)}\n\n{support_markdown(cells)}"
        )
        measured_before += cells
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


def whose_result(cells: list[Cell], elsewhere: list[Cell]) -> str:
    """Who is to blame for the wrong ones: the same driver and the same reference are tried in other ways. ``elsewhere``: other targets."""
    wrong = [cell for cell in cells if cell.numbers == WRONG]
    repaired = sum(cell.repaired_numbers == RIGHT for cell in wrong)
    keys = {(cell.op, cell.element) for cell in elsewhere if cell.numbers == RIGHT}
    confirmed = sum((cell.op, cell.element) in keys for cell in wrong)
    if not wrong:
        return ""
    verdict = (
        "The driver and NumPy agree on all of them, so that the code which stock IREE generates for this target is wrong."
        if repaired == len(wrong)
        else f"Of the other {len(wrong) - repaired}, whose result is wrong is not known."
    )
    return (
        f"\n\nWhose result is wrong: {repaired} of the {len(wrong)} are right where the same driver runs what fissile builds, "
        f"and {confirmed} where stock IREE builds them for another target of this page. {verdict}"
    )


def _compiled(cells: list[Cell]) -> int:
    return sum(mark(cell).startswith("fissile") for cell in cells)


def _print_progress(done: int, of: int) -> None:
    print(f"{done} of {of}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
