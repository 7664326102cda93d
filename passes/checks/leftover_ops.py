"""Is any op of the fissile dialect left where IREE takes over? IREE cannot translate one (FIS401)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import ops_of, place_of
from fissile.finding import Finding, ordered
from fissile.passes.definition import Contract, Pass, PassFailed, register_pass
from fissile.passes.properties import NO_FISSILE_OPS

LOWERED_BY: dict[str, str] = {
    "fissile.boundary": "fissile-lower-boundaries",
    "fissile.group": "fissile-lower-groups",
    "fissile.require": "fissile-lower-requires",
    "fissile.alloc_storage": "fissile-lower-storage",
    "fissile.alloc_tensor": "fissile-lower-storage",
    "fissile.kill": "fissile-lower-storage",
}
"""Op -> the pass after which none of its kind is left."""


def leftover_ops(root: ir.Operation) -> list[Finding]:
    """FIS401 for each fissile op in ``root``: its place, and the pass that lowers it."""
    return list(ordered(_finding(op) for op in ops_of(root, "fissile.")))


def _finding(op: ir.Operation) -> Finding:
    place = place_of(op)
    lowering = LOWERED_BY.get(op.name)
    way_out = f"run {lowering} after the pass that makes it" if lowering else "the dialect has no such op"
    return Finding(
        code="FIS401",
        message=f"{op.name} is left over: IREE cannot translate it",
        subject=op.name,
        places=(place,) if place else (),
        notes=(way_out,),
    )


@register_pass
@dataclass(frozen=True)
class CheckLeftovers(Pass):
    """Stops the pipeline with FIS401 for every op of the fissile dialect that is left, all at once.

    Changes nothing. Run it last, before IREE translates.
    """

    name: ClassVar[str] = "fissile-check-leftovers"
    contract: ClassVar[Contract] = Contract(establishes=(NO_FISSILE_OPS,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if found := leftover_ops(op):
            raise PassFailed(found)
