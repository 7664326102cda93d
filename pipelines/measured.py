"""What is known of one dispatch's on-chip bytes, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fissile.passes.analysis.dispatches import Dispatch
from fissile.passes.analysis.footprint import Footprint
from fissile.passes.analysis.prediction import Prediction
from fissile.passes.analysis.provenance import SourceOp
from fissile.passes.checks.codegen_failure import check_codegen
from fissile.passes.checks.misplaced_vectors import check_vector_places
from fissile.passes.checks.repeated_work import check_repeated_work
from fissile.passes.checks.serial_loops import check_serial_loops
from fissile.passes.checks.workgroup_fit import check_fit, space_of
from fissile.passes.checks.workgroup_prediction import check_agreement, check_prediction
from fissile.passes.checks.workgroup_race import check_races

from fissile.finding import Finding
from fissile.quantity import Bytes, total
from fissile.target import Target

from .diagnostics import failure_code
from .probe_pool import ProbeResult

_UNBOUNDED = str(2**53 - 1)
"""The extent that IREE gives a buffer dimension that nothing bounds (util.assume.int's default, 3.13)."""


@dataclass(frozen=True)
class Measured:
    """One dispatch with what is known of its bytes. ``result`` is None where code generation was not
    asked."""

    dispatch: Dispatch
    prediction: Prediction
    result: ProbeResult | None

    @property
    def exact(self) -> Bytes | None:
        if self.result is None or self.result.ended or self.result.probed.failure is not None:
            return None
        return total(a.bytes for a in self.footprint.allocations)

    @property
    def footprint(self) -> Footprint:
        """The probed buffers in the memory that this target is short of."""
        space = space_of(self.dispatch)
        buffers = (a for a in self.result.probed.footprint.allocations if a.space == space)
        return Footprint(
            tuple(replace(a, bytes=Bytes.unknown("no bound")) if _UNBOUNDED in a.type else a for a in buffers)
        )

    @property
    def bytes(self) -> Bytes:
        exact = self.exact
        if exact is not None and exact.value is not None:
            return exact
        return (
            Bytes.unknown("; ".join(self.prediction.doubts))
            if self.prediction.doubts
            else self.prediction.total
        )


def findings_of(one: Measured, target: Target, ops: Sequence[SourceOp]) -> list[Finding]:
    """What there is to say about one dispatch: its bytes, then code generation's own failures."""
    dispatch, prediction, exact = one.dispatch, one.prediction, one.exact
    found: list[Finding | None] = []
    if exact is not None and (exact.value is not None or prediction.doubts):
        same = exact.value is not None and exact.value == prediction.total.value
        fit = (
            check_prediction(dispatch, prediction, target.limit, ops, exact=True)
            if same
            else check_fit(dispatch, one.footprint, ops, target.limit)
        )
        found += [fit, check_agreement(dispatch, prediction, exact)]
    elif not prediction.doubts:
        found.append(check_prediction(dispatch, prediction, target.limit, ops))
    if one.result is not None and not any(found):
        found.append(_codegen(dispatch, one.result, ops))
    return [finding for finding in found if finding is not None]


def _codegen(dispatch: Dispatch, result: ProbeResult, ops: Sequence[SourceOp]) -> Finding | None:
    """What code generation itself said: it ended, failed, shares memory without a barrier, or cannot
    convert."""
    said = result.probed.failure
    if result.ended:
        code = "FIS106" if result.ended == "timed out" else "FIS107"
        return check_codegen(dispatch, code, said.message, said.text, (), ops)
    if said is None and result.probed.misplaced:
        return check_vector_places(dispatch, result.probed.misplaced, ops)
    if said is None and result.probed.races:
        return check_races(dispatch, result.probed.races, ops)
    said = said or result.converted
    if said is None:
        return (check_serial_loops(dispatch, result.probed.iterations, ops)
                or check_repeated_work(dispatch, result.probed.repeated, ops))
    return check_codegen(dispatch, failure_code(said.text), said.message, said.text, said.tags, ops)


def between(measured: Sequence[Measured], target: Target) -> list[str]:
    """Dispatches that fit what IREE checks and not what counts."""
    own = target.compiler_bytes
    if own is None:
        return []
    counts = ((one.dispatch.name, one.bytes.value) for one in measured)
    return [name for name, value in counts if value is not None and target.limit.bytes < value <= own]


def facts_of(one: Measured, target: Target, ops: Sequence[SourceOp]) -> dict:
    """One dispatch as JSON values; docs/footprint.md describes them."""
    count = one.bytes
    doubts = list(one.prediction.doubts) if one.exact is None else []
    agrees = one.exact is None or one.exact.value == one.prediction.total.value
    if agrees:
        buffers = [
            {
                "bytes": b.bytes.value,
                "value": _named(b.tags, b.type, ops),
                "reason": b.reason,
                "scales_with_tile": b.scales,
                "formula": str(b.size),
            }
            for b in one.prediction.buffers
        ]
    else:
        buffers = [
            {
                "bytes": a.bytes.value,
                "value": _named(a.tags, a.type, ops),
                "reason": "",
                "scales_with_tile": None,
                "formula": None,
            }
            for a in one.footprint.allocations
        ]
    place = one.dispatch.place
    return {
        "name": one.dispatch.name,
        "codegen": one.dispatch.codegen,
        "place": str(place) if place else "",
        "bytes": count.value,
        "certainty": count.certainty.value,
        "formula": str(one.prediction.formula) if one.prediction.dimensions else None,
        "largest": one.prediction.largest(target.limit.bytes) if one.prediction.dimensions else {},
        "fits": None if count.value is None else count.value <= target.limit.bytes,
        "doubts": doubts,
        "buffers": buffers,
    }


def _named(tags: Sequence[int], type_: str, ops: Sequence[SourceOp]) -> str:
    owner = next((ops[tag] for tag in tags if tag < len(ops)), None)
    return f"{owner.name or owner.op} {type_}" if owner else type_
