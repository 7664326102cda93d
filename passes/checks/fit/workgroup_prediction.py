"""Does a dispatch fit its target, by prediction, and do prediction and code generation agree?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fissile.finding import Finding, Ledger, LedgerLine, Limit, Place, Severity
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.memory.footprint import STACK
from fissile.passes.analysis.memory.prediction import PredictedBuffer, Prediction, dimensions_of, size_at
from fissile.passes.failures.failure import memory_failure
from fissile.quantity import Bytes, Certainty

from .workgroup_fit import allowance, effect_of, space_of


def check_prediction(
    dispatch: Dispatch, prediction: Prediction, limit: Limit, ops: Sequence[SourceOp]
) -> Finding | None:
    """A finding where the predicted buffers exceed ``limit``, or a dimension has no bound. For a dispatch that no code was
    generated for; `workgroup_fit` has the exact sums."""
    needed = prediction.total
    if needed.value is not None and needed.value <= limit.bytes:
        return None
    space = space_of(dispatch)
    code = memory_failure(space, needed.value is not None).code
    memory = "stack" if space == STACK else "workgroup memory"
    rows = [LedgerLine(_count(b, prediction), _value(b, ops), b.reason) for b in prediction.buffers]
    places = _places(dispatch, prediction, ops)
    common: dict[str, Any] = dict(
        subject=dispatch.name,
        target=dispatch.target.name,
        places=places,
        ledger=Ledger.of(rows),
        limit=limit,
        effect=effect_of(code, dispatch, limit, needed.value),
    )
    if needed.value is None:
        largest = prediction.largest(limit.bytes)
        if all(value == -1 for value in largest.values()):
            return None
        message = f"dispatch needs {prediction.formula} bytes of {memory}; {allowance(dispatch, limit)}"
        return Finding(code, message, notes=_sizes(largest), **common)
    hedge = "" if needed.certainty is Certainty.PREDICTED else "at most "
    message = f"dispatch needs {hedge}{needed.value} bytes of {memory}; {allowance(dispatch, limit)}"
    notes: tuple[str, ...] = ()
    if hedge:
        notes = (f"the size is {prediction.formula} bytes", *_sizes(prediction.largest(limit.bytes)))
    return with_floor(Finding(code, message, notes=notes, **common), prediction)


def with_floor(finding: Finding, prediction: Prediction) -> Finding:
    """``finding`` about bytes, with a note where no tile is small enough."""
    if finding.limit is None or prediction.floor <= finding.limit.bytes:
        return finding
    note = f"a smaller tile cannot fix this: with no tile at all {prediction.floor} bytes remain"
    return finding.with_(notes=(note, *finding.notes))


def check_agreement(dispatch: Dispatch, prediction: Prediction, exact: Bytes) -> Finding | None:
    """FIS121 where a prediction without doubts differs from what code generation allocates."""
    predicted = prediction.total
    if prediction.doubts or predicted.value is None or exact.value is None or predicted.value == exact.value:
        return None
    if predicted.certainty is Certainty.AT_MOST and exact.value <= predicted.value:
        return None
    message = f"predicted {predicted.value} bytes, code generation allocates {exact.value}"
    places = (dispatch.place,) if dispatch.place else ()
    return Finding("FIS121", message, Severity.WARNING, dispatch.name, dispatch.target.name, places)


def _count(buffer: PredictedBuffer, prediction: Prediction) -> Bytes:
    if buffer.size.constant is None and set(dimensions_of(buffer.size)) <= set(prediction.bounds):
        return Bytes(size_at(buffer.size, prediction.bounds), Certainty.AT_MOST, str(buffer.size))
    return buffer.bytes


def _sizes(largest: dict[str, int | None]) -> tuple[str, ...]:
    """For which sizes it fits, one sentence per dynamic dimension."""
    predicted = []
    for dimension, value in largest.items():
        others = "" if len(largest) == 1 else ", the other sizes being 1"
        if value is None:
            predicted.append(f"no size of {dimension} fits, not even 1{others}")
        elif value == -1:
            predicted.append(f"{dimension} may have any size{others}")
        else:
            predicted.append(f"fits for {dimension} up to {value}{others}")
    return tuple(predicted)


def _owner(buffer: PredictedBuffer, ops: Sequence[SourceOp]) -> SourceOp | None:
    return next((ops[tag] for tag in buffer.tags if tag < len(ops)), None)


def _value(buffer: PredictedBuffer, ops: Sequence[SourceOp]) -> str:
    owner = _owner(buffer, ops)
    return f"{owner.name or owner.op} {buffer.type}" if owner else buffer.type


def _places(dispatch: Dispatch, prediction: Prediction, ops: Sequence[SourceOp]) -> tuple[Place, ...]:
    """The value to blame first (the largest buffer, a dynamic one before all), the root of the dispatch
    second."""
    root = (
        ops[dispatch.root].place if dispatch.root is not None and dispatch.root < len(ops) else dispatch.place
    )
    places = []
    if prediction.buffers:
        blamed = max(
            prediction.buffers, key=lambda b: float("inf") if b.bytes.value is None else b.bytes.value
        )
        owner = _owner(blamed, ops)
        at = (owner.place if owner else None) or blamed.place
        if at is not None and at != root:
            places.append(replace(at, label=f"fused into the dispatch: {blamed.reason}"))
    if root is not None:
        places.append(replace(root, label="root of the dispatch"))
    return tuple(places)
