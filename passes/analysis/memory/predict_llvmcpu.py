"""Stack that IREE's LLVMCPU pipelines allocate at most, from the configuration alone.

Vectorization decides what stays in registers, so this is a bound and not a count: a result that one fused op
hands to another costs at most `COPIES` of its vector tile. The bound is tested, not proved:
tests/py/fit/test_agreement.py.
"""

from __future__ import annotations

from math import prod

from fissile.quantity import round_up

from ..bounds.size_terms import term
from .prediction import PredictedBuffer, Prediction
from .tiles import ConfiguredDispatch, Op, bytes_of, clamp, whole_bytes

COPIES = 3
"""Most vector tiles of one result that were seen on the stack (ConvTileAndDecomposeExpert, IREE 3.13)."""
ALIGNMENT = 64
"""Bytes that every stack buffer is rounded up to (bufferization's default alignment)."""


def stack(dispatch: ConfiguredDispatch) -> Prediction:
    """Nothing for one op, or for elementwise ops alone; a bound for ops that hand tiles on; else a doubt."""
    working = [op for op in dispatch.ops if not op.is_fill]
    if dispatch.opaque or not all(op.understood for op in working):
        return Prediction((), ("an op that this model does not know",))
    buffers = []
    for op in working:
        for value in op.inputs:
            if value.shape_only:
                size = bytes_of(value.shape, value.bits)
                buffers.append(
                    PredictedBuffer(
                        value.shape,
                        value.element,
                        size,
                        "a pooling window",
                        False,
                        ALIGNMENT,
                        op.tags,
                        op.place,
                    )
                )
            elif value.maker is not None and not dispatch.ops[value.maker].is_fill and not value.plain:
                return Prediction((), ("a fused producer is read through a window, a stride or a reshape",))
    if len(working) > 1 and any(op.reduces for op in working):
        for op in working:
            if op.stored or not dispatch.users(op):
                continue
            bound = _vector_tiles(op)
            if bound is None:
                return Prediction((), ("a fused op has no vector tile",))
            buffers.append(bound)
    return Prediction(tuple(buffers), (), at_most=bool(buffers))


def _vector_tiles(op: Op) -> PredictedBuffer | None:
    """The bound for one result: its vector tile, or all of it where it has none; None where that is
    dynamic."""
    value = op.inits[0]
    shape: list[int] = []
    for index, extent in zip(value.index, value.shape, strict=True):
        if index is not None and index.loop is not None and op.config is not None:
            extent = clamp(op.config.tile("vector_common_parallel", index.loop), extent)
        if isinstance(extent, str):
            return None
        shape.append(extent)
    each = round_up(whole_bytes(prod(shape), value.bits), ALIGNMENT)
    return PredictedBuffer(
        (COPIES, *shape),
        value.element,
        term(COPIES * each),
        f"at most {COPIES} vector tiles of a result that a fused op reads",
        True,
        1,
        op.tags,
        op.place,
    )
