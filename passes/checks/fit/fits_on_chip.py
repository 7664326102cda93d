"""The property that every configured dispatch fits the on-chip memory of its target."""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.predict import predict
from fissile.passes.definition import Offence, define_property
from fissile.quantity import Certainty

from .workgroup_fit import limit_of
from .workgroup_prediction import check_prediction


@define_property(
    "fits-on-chip", "no configured dispatch needs more on-chip memory than its target has (predicted)"
)
def FITS_ON_CHIP(op: ir.Operation) -> list[Offence]:
    # A prediction that the model doubts, or that is an upper bound only, refuses nothing.
    found = []
    for dispatch in dispatches(op):
        limit, prediction = limit_of(dispatch), predict(read_configured(dispatch))
        if limit is None or prediction.doubts or prediction.total.certainty is not Certainty.PREDICTED:
            continue
        if (exceeds := check_prediction(dispatch, prediction, limit, ())) is not None:
            found.append(Offence(exceeds.message, exceeds.places[0] if exceeds.places else None))
    return found
