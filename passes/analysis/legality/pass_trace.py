"""What IREE prints after each pass, read line by line: which pass an op does not survive, and which one drops an op with an effect.

The text is that of `--mlir-print-ir-after-all --mlir-print-ir-after-change --mlir-print-ir-module-scope`: a header for each pass that
changed something, and the whole module behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fissile.passes.iree.legality.traced import PROVING_PASSES

_HEADER = re.compile(
    r"// -----// IR Dump After (?P<class>\w+)(?P<failed> Failed)?(?:: (?P<argument>[\w.-]+))?"
)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[\w$]+)+")


@dataclass(frozen=True)
class Trace:
    """``handled``: op -> the pass after which no op of that name is left. ``dropped``: effect -> the pass that dropped it.

    ``complete`` is False where the text ended before the last pass, or a pass failed.
    """

    handled: Mapping[str, str]
    dropped: Mapping[str, str]
    complete: bool = True


def read_trace(lines: Iterable[str], ops: Iterable[str], effects: Sequence[str]) -> Trace:
    """``ops``: names of ops; ``effects``: quoted texts, each of which one op of the program has, and what the op is lowered to keeps."""
    wanted, marks = frozenset(ops), tuple(effects)
    last: dict[str, str] = {}
    here: set[str] = set()
    current, failed = "", False

    def close() -> None:
        for mark in (*wanted, *marks):
            if mark in here:
                last.pop(mark, None)
            elif current:
                last.setdefault(mark, current)
        here.clear()

    for line in lines:
        header = _HEADER.search(line) if line.startswith("// -----//") else None
        if header is not None:
            close()
            failed = failed or bool(header["failed"])
            current = header["argument"] or header["class"]
            continue
        here.update(wanted.intersection(_NAME.findall(line)))
        here.update(mark for mark in marks if mark in line)
    close()
    return Trace(
        {op: pass_ for op, pass_ in last.items() if op in wanted},
        {
            mark: pass_
            for mark, pass_ in last.items()
            if mark in marks and not any(word in pass_ for word in PROVING_PASSES)
        },
        not failed,
    )
