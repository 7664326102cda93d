"""The support table: a row an op, a column an element type."""

from __future__ import annotations

from collections.abc import Sequence

from ..support.measure import RIGHT, WRONG, YES, Cell

LEGEND = """\
- **right**: stock IREE compiles it, and what it computes on this machine is what NumPy computes.
- **yes**: stock IREE compiles it; not run, because no runtime of the target is here or its result has no reference.
- **fissile**: stock IREE rejects it, crashes or miscompiles it; `fissile compile` compiles it, and if it was run, it is right.
- **withheld**: stock IREE miscompiles it; `fissile compile` reports it and writes no output.
- **wrong**: what `fissile compile` writes computes something else than NumPy, and nothing is reported.
- **no**: neither compiles it.
- A type behind it, as in `right (f32)`: IREE changes the function to that type.
- Blank: there is no such op.

NumPy computes the reference in float64 or in whole numbers. A result is right if it is the reference, rounded once to its element type. Functions
that are approximated and sums may differ by units in the last place of that type: 4 in f64 and f16, 16 in f32, 2 in bf16 and 8-bit floats.
"""


def mark(cell: Cell) -> str:
    """What the table says of ``cell``."""
    if not cell.needs_repair:
        word = RIGHT if cell.numbers == RIGHT else "yes"
    elif cell.fissile != YES:
        return "no" if cell.stock != YES else "withheld"
    else:
        word = WRONG if cell.repaired_numbers == WRONG else "fissile"
    return f"{word} ({cell.runs_in})" if cell.runs_in else word


def support_markdown(cells: Sequence[Cell]) -> str:
    """A table for each group of ops."""
    parts = []
    for group in dict.fromkeys(cell.group for cell in cells):
        mine = [cell for cell in cells if cell.group == group]
        elements = list(dict.fromkeys(cell.element for cell in mine))
        marks = {(cell.op, cell.element): mark(cell) for cell in mine}
        lines = [
            f"### {group}\n",
            f"| op | {' | '.join(elements)} |",
            f"| --- | {' | '.join('---' for _ in elements)} |",
        ]
        for op in dict.fromkeys(cell.op for cell in mine):
            lines.append(f"| {op} | {' | '.join(marks.get((op, element), '') for element in elements)} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def support_text(cells: Sequence[Cell]) -> str:
    """The same for a terminal: columns instead of bars."""
    parts = []
    for group in dict.fromkeys(cell.group for cell in cells):
        mine = [cell for cell in cells if cell.group == group]
        elements = list(dict.fromkeys(cell.element for cell in mine))
        marks = {(cell.op, cell.element): mark(cell) for cell in mine}
        rows = [[group, *elements]]
        rows += [
            [op, *(marks.get((op, element), "") for element in elements)]
            for op in dict.fromkeys(cell.op for cell in mine)
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        parts.append(
            "\n".join(
                "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
                for row in rows
            )
        )
    return "\n\n".join(parts) + "\n"
