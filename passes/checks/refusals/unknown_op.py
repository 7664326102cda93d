"""An op that IREE's parser does not know (FIS406): without a definition of it, its syntax cannot be read."""

from __future__ import annotations

from fissile.dialect.ops import NAMESPACE, OP_NAMES
from fissile.effect import Effect
from fissile.errors import closest
from fissile.finding import Finding, Help, Place
from fissile.passes.iree.messages import UNKNOWN_OP

_EXPORTED_WITHOUT = {
    "sdy": "export it without shardings of Shardy: jax.config.update('jax_use_shardy_partitioner', False), or without in_shardings and meshes"
}
"""By dialect: how its exporter leaves it out."""


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
