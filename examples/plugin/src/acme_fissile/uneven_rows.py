"""ACME101: rows that no vector of four fits. Runs in every `fissile check` and `fissile compile`, after IREE's input phase."""

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.effect import Effect
from fissile.finding import Finding, Severity
from fissile.passes.definition import Pass, option, register_pass
from fissile.rules.rule import define

CODE = "ACME101"

define(
    CODE,
    "uneven-rows",
    "the rows of a tensor are no multiple of four elements",
    what="An op has a result whose last dimension is not a multiple of four.",
    why="Loads and stores of such rows are not vectors of four elements.",
    remedy="Pad the dimension when the model is exported.",
    effect=Effect.NONE,
)


@register_pass
@dataclass(frozen=True)
class ReportUnevenRows(Pass):
    """Reports ops with a result whose last dimension is no multiple of four. Changes nothing."""

    name: ClassVar[str] = "acme-report-uneven-rows"
    at_most: int = option(1, "how many ops to report")

    def run(self, op, report):
        uneven = []

        def visit(inner: ir.Operation) -> ir.WalkResult:
            if any(is_uneven(result.type) for result in inner.results):
                uneven.append(inner)
            return ir.WalkResult.ADVANCE

        op.walk(visit, ir.WalkOrder.PRE_ORDER)
        for inner in uneven[: self.at_most]:
            place = place_of(inner)
            message = f"the rows of {inner.results[0].type} are no multiple of four elements"
            report(Finding(CODE, message, Severity.NOTE, inner.name, places=(place,) if place else ()))


def is_uneven(kind: ir.Type) -> bool:
    if not isinstance(kind, ir.RankedTensorType) or not kind.rank or kind.is_dynamic_dim(kind.rank - 1):
        return False
    return kind.get_dim_size(kind.rank - 1) % 4 != 0
