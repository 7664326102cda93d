"""Ops of ONNX that took the dimensions from an axis on as one, up to opset 12."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of

from .onnx_values import OPERATOR, sizes_of
from .unknown_sizes import number

_OPS = ("onnx.Softmax", "onnx.Hardmax")
_OPSET = "torch.onnx_meta.opset_version"
_ALONG_ONE = 13
"""The opset from which on they work along one dimension."""


def legacy_axis(op: ir.Operation) -> int | None:
    """The first of the dimensions that ``op`` takes as one, in a model of such an opset; None for another op."""
    if op.name != OPERATOR or text_of(op, "name") not in _OPS or len(op.operands) != 1:
        return None
    opset, sizes = opset_of(op), sizes_of(op.operands[0])
    if opset is None or opset >= _ALONG_ONE or not sizes:
        return None
    axis = number(op, "axis", 1)
    axis += len(sizes) if axis < 0 else 0
    return axis if 0 <= axis < len(sizes) else None


def merges_dims(op: ir.Operation) -> bool:
    """Whether it takes more than one dimension longer than 1 as one."""
    axis, sizes = legacy_axis(op), sizes_of(op.operands[0]) if len(op.operands) == 1 else None
    return axis is not None and bool(sizes) and any(size != 1 for size in (sizes or [])[axis + 1 :])


def opset_of(op: ir.Operation) -> int | None:
    """The opset of the function that ``op`` is in, as IREE's importer notes it."""
    parent = op.parent
    while parent is not None:
        held = attribute(parent.operation, _OPSET)
        if isinstance(held, ir.IntegerAttr):
            return held.value
        parent = parent.operation.parent
    return None
