"""What failures have in common whose dispatch needs more on-chip memory than there is: they are read off its buffers."""

from __future__ import annotations

from .refusal import Refusal


class OnChipMemory(Refusal):
    """``exceeds`` is the memory that is short, empty for either; ``bounded``: whether the bytes are known."""

    def measure(self, dispatch, footprint, limit):
        from fissile.passes.checks.fit.workgroup_fit import exceeding

        return exceeding(dispatch, footprint, limit, self.code)

    def explain(self, dispatch, evidence, ops):
        """With what only the prediction knows: for which sizes it fits, and what remains with the smallest tile. Without buffers
        (a message of IREE's), as any refusal."""
        from fissile.passes.analysis.memory.configured import read_configured
        from fissile.passes.analysis.memory.predict import predict
        from fissile.passes.checks.fit.workgroup_fit import check_fit
        from fissile.passes.checks.fit.workgroup_prediction import check_prediction, with_floor

        if not evidence.buffers or evidence.limit is None:
            return super().explain(dispatch, evidence, ops)
        finding = check_fit(dispatch, self.code, evidence, ops)
        predicted = predict(read_configured(dispatch))
        if predicted.doubts:
            return finding
        if not self.bounded:
            return check_prediction(dispatch, predicted, evidence.limit, ops) or finding
        return with_floor(finding, predicted)
