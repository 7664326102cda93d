"""Is any op or marking attribute of the fissile dialect left where IREE takes over (FIS401)?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import BUDGET, place_of
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
    """FIS401 for each fissile op in ``root``, with its place and the pass that lowers it, and for each
    `fissile.` attribute. `fissile.budget` may stay: it is a statement about the program, and IREE ignores it."""
    found: list[Finding] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("fissile."):
            lowering = LOWERED_BY.get(op.name)
            way_out = (
                f"run {lowering} after the pass that makes it" if lowering else "the dialect has no such op"
            )
            found.append(_finding(op, f"{op.name} remains, and IREE cannot translate it", way_out))
        for name in op.attributes:
            if name.startswith("fissile.") and name != BUDGET:
                found.append(
                    _finding(
                        op,
                        f"attribute {name} is left over on {op.name}",
                        "the pass that reads it takes it off",
                    )
                )
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(ordered(found))


def _finding(op: ir.Operation, message: str, way_out: str) -> Finding:
    place = place_of(op)
    return Finding(
        code="FIS401", message=message, subject=op.name, places=(place,) if place else (), notes=(way_out,)
    )


@register_pass
@dataclass(frozen=True)
class CheckLeftovers(Pass):
    """Stops the pipeline with FIS401 for every op and marking attribute of the dialect that is left, all at once.

    Changes nothing. Run it last, before IREE translates.
    """

    name: ClassVar[str] = "fissile-check-leftovers"
    contract: ClassVar[Contract] = Contract(establishes=(NO_FISSILE_OPS,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if found := leftover_ops(op):
            raise PassFailed(found)
