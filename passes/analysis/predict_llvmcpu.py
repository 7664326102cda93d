"""Stack that IREE's LLVMCPU pipelines allocate, from the configuration alone."""

from __future__ import annotations

from .prediction import Prediction
from .tiles import ConfiguredDispatch


def stack(dispatch: ConfiguredDispatch) -> Prediction:
    """Nothing for one op, or for elementwise ops alone; else vectorization decides, and only a probe is exact."""
    working = [op for op in dispatch.ops if not op.is_fill]
    doubts = []
    if len(working) > 1 and any(op.reduces or not op.understood for op in working):
        doubts.append("vectorization decides which temporaries of several fused ops stay in registers")
    return Prediction((), tuple(doubts))
