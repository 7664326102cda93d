"""An op that IREE's parser does not take: one that it does not know (FIS406), whose syntax it cannot read; one of fissile's in short
form, and a call in a group (FIS402)."""

from __future__ import annotations

import re

from fissile.dialect.ops import NAMESPACE, OP_NAMES
from fissile.effect import Effect
from fissile.errors import closest
from fissile.finding import Finding, Help, Place
from fissile.passes.analysis.program.source_lines import text_before
from fissile.passes.iree.messages import NO_SUCH_SYMBOL, UNKNOWN_OP

_EXPORTED_WITHOUT = {
    "sdy": "export it without shardings of Shardy: jax.config.update('jax_use_shardy_partitioner', False), or without in_shardings and meshes"
}
"""By dialect: how its exporter leaves it out."""


_GROUP = re.compile(r'"fissile\.group"[^{}]*?\(\s*(?=\{)')
"""A group up to the brace that its body begins with."""


def check_unread_op(message: str, places: tuple[Place, ...]) -> Finding | None:
    """`check_unknown_op`, or `check_group_call`."""
    return check_unknown_op(message, places) or check_group_call(message, places)


def check_group_call(message: str, places: tuple[Place, ...]) -> Finding | None:
    """FIS402 for a function or a global that is named in a group; None where the parser's ``message`` is about something else.

    The parser takes the group for a table of symbols of its own, and does not look for names outside of it.
    """
    found = NO_SUCH_SYMBOL.search(message)
    if found is None or not places or not _in_group(text_before(places[0])):
        return None
    name = found["function"] or found["callee"] or found["global"]
    of_global = found["global"] is not None
    what = "ops in a group do not name globals" if of_global else "a group has no calls"
    way_out = (
        "load it before the group" if of_global else "call it before the group, or write its ops into it"
    )
    return Finding(
        "FIS402",
        f"fissile.group: {found['op']} of @{name} in its body: {what}",
        subject="fissile.group",
        places=places,
        effect=Effect.REFUSED,
        helps=(Help(f"{way_out}; the body may use values from outside"),),
    )


def _in_group(before: str) -> bool:
    """Whether a group is open behind the text ``before``."""
    text = re.sub(r"//[^\n]*", "", before)
    return any(_stays_open(text[group.end() :]) for group in _GROUP.finditer(text))


def _stays_open(body: str) -> bool:
    depth = 0
    for brace in re.findall(r"[{}]", body):
        depth += 1 if brace == "{" else -1
        if not depth:
            return False
    return True


def check_unknown_op(message: str, places: tuple[Place, ...]) -> Finding | None:
    """FIS406, or FIS402 for an op of fissile's, for the parser's ``message``; None where that is about something else."""
    found = UNKNOWN_OP.search(message)
    if found is None:
        return None
    op, dialect = found["op"] or found["known"] or found["generic"], found["dialect"]
    if dialect == NAMESPACE:
        return _in_short_form(op, places)
    in_one_run = Help(
        "to find all such ops in one run, write the program in generic form (--mlir-print-op-generic)"
    )
    lacking = f"dialect '{dialect}'" if dialect else f"op '{op}'"
    return Finding(
        "FIS406",
        f"{op} is unknown: IREE has no {lacking}",
        subject=op,
        places=places,
        notes=(
            "class: unknown op or dialect",
            "IREE cannot read the program beyond this op: there may be more",
        ),
        helps=(
            Help(
                _EXPORTED_WITHOUT.get(
                    dialect or "",
                    "replace it in the model with ops that IREE has, or lower it before you compile the program",
                )
            ),
            *([] if found["generic"] else [in_one_run]),
        ),
    )


def _in_short_form(op: str, places: tuple[Place, ...]) -> Finding:
    """An op of fissile's without quotes: MLIR reads such a form only of a dialect that is registered in C++."""
    near = "" if op in OP_NAMES else closest(op, list(OP_NAMES))
    return Finding(
        "FIS402",
        f"{op} is not in generic form, the only one that fissile's ops have{f'; {near}' if near else ''}",
        subject=op,
        places=places,
        effect=Effect.REFUSED,
        helps=(
            Help(
                f'write it with its name in quotes and its types in full: "{op}"(…) : (…) -> …; docs/dialect.md shows each op'
            ),
        ),
    )
