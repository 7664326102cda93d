"""What is known of one dispatch's on-chip bytes: predicted, and counted where code was generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.memory.footprint import Footprint
from fissile.passes.analysis.memory.prediction import Prediction
from fissile.passes.checks.fit.workgroup_fit import limit_of, space_of
from fissile.quantity import Bytes, total
from fissile.target import Target

from ..probe.probe_pool import ProbeResult


@dataclass(frozen=True)
class Measured:
    """One dispatch with what is known of its bytes. ``result`` is None where no code was generated. ``calibrated``: a check generates
    none where the dispatch fits by prediction (`is_calibrated`)."""

    dispatch: Dispatch
    prediction: Prediction
    result: ProbeResult | None
    calibrated: bool = False

    @property
    def exact(self) -> Bytes | None:
        if self.result is None or self.result.ended or self.result.probed.failure is not None:
            return None
        return total(a.bytes for a in self.footprint.allocations)

    @property
    def footprint(self) -> Footprint:
        """The probed buffers in the memory that this target is short of."""
        space = space_of(self.dispatch)
        probed = self.result.probed.footprint.allocations if self.result else ()
        return Footprint(tuple(a for a in probed if a.space == space))

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
    place, limit = one.dispatch.place, limit_of(one.dispatch, target.limit) or target.limit
    return {
        "name": one.dispatch.name,
        "codegen": one.dispatch.codegen,
        "place": str(place) if place else "",
        "bytes": count.value,
        "certainty": count.certainty.value,
        "formula": str(one.prediction.formula) if one.prediction.dimensions else None,
        "largest": one.prediction.largest(limit.bytes) if one.prediction.dimensions else {},
        "fits": None if count.value is None else count.value <= limit.bytes,
        "code_generated": one.result is not None,
        "doubts": doubts,
        "buffers": buffers,
    }


def _named(tags: Sequence[int], type_: str, ops: Sequence[SourceOp]) -> str:
    owner = next((ops[tag] for tag in tags if tag < len(ops)), None)
    return f"{owner.name or owner.op} {type_}" if owner else type_


def no_facts(target: Target) -> dict:
    """The JSON values of a target of which no dispatch is known."""
    limit = target.limit
    return {
        "name": target.name,
        "limit": limit.bytes,
        "per": limit.per,
        "source": limit.source,
        "dispatches": [],
    }
