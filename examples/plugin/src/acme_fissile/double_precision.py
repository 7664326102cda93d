"""ACME101: a program computes in f64, for which most GPUs are slow. Runs in every `fissile check` and `fissile compile`."""

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
    "double-precision",
    "a program computes in f64",
    what="An op has a result of f64 elements.",
    why="Most GPUs compute f64 at a small part of their speed for f32.",
    remedy="Export the model in f32.",
    effect=Effect.NONE,
)


@register_pass
@dataclass(frozen=True)
class ReportDoubles(Pass):
    """Reports the first op of each function that has f64 elements. Changes nothing."""

    name: ClassVar[str] = "acme-report-doubles"
    limit: int = option(1, "how many ops to report")

    def run(self, op, report):
        found = []

        def visit(inner: ir.Operation) -> ir.WalkResult:
            if any("f64" in str(result.type) for result in inner.results):
                found.append(inner)
            return ir.WalkResult.ADVANCE

        op.walk(visit, ir.WalkOrder.PRE_ORDER)
        for inner in found[: self.limit]:
            place = place_of(inner)
            places = (place,) if place else ()
            report(Finding(CODE, f"{inner.name} computes in f64", Severity.NOTE, inner.name, places=places))
