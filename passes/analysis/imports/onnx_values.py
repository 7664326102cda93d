"""Sizes and constants of an ONNX model, as IREE's importer writes them."""

from __future__ import annotations

import re
import struct
from typing import Any

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of
from fissile.dialect.element_bytes import bytes_of

OPERATOR, VALUE = "torch.operator", "torch.onnx.value"
_CONSTANT, _LITERAL = "onnx.Constant", "torch.vtensor.literal"
_MOST = 65536
"""Elements: lists of sizes and positions, scales and zero points of channels, the peepholes of an LSTM."""
_VTENSOR = re.compile(r"!torch\.vtensor<\[(?P<shape>[\d,?]*)\]")
_INTEGER = re.compile(r"[su]?i(\d+)$")


def sizes_of(value: ir.Value) -> list[int | None] | None:
    """The sizes of a tensor of torch's; None where it has no rank."""
    found = _VTENSOR.match(str(value.type))
    if found is None:
        return None
    return [None if size == "?" else int(size) for size in found["shape"].split(",") if size]


def integers_of(value: ir.Value) -> list[int] | None:
    """The elements of the constant tensor of integers or booleans that ``value`` is; None for another value.

    An initialiser of the model is a resource of the module.
    """
    held = _held(value)
    width = held and _INTEGER.match(str(held.type.element_type))
    if held is None or not width:
        return None
    if isinstance(held, ir.DenseIntElementsAttr):
        return [int(held[number]) for number in range(_count(held.type))]
    signed, size = not str(held.type.element_type).startswith("u"), max(8, int(width[1])) // 8
    return [int.from_bytes(one, "little", signed=signed) for one in _elements(value, held, size)] or None


def floats_of(value: ir.Value) -> list[float] | None:
    """The same of a constant tensor of f32."""
    held = _held(value)
    if held is None or str(held.type.element_type) != "f32":
        return None
    if isinstance(held, ir.DenseFPElementsAttr):
        return [float(held[number]) for number in range(_count(held.type))]
    return [struct.unpack("<f", one)[0] for one in _elements(value, held, 4)] or None


def _held(value: ir.Value) -> Any:
    """The constant that ``value`` is, of sizes that are not too large."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    if op.name not in (OPERATOR, _LITERAL) or op.name == OPERATOR and text_of(op, "name") != _CONSTANT:
        return None
    held = attribute(op, VALUE if op.name == OPERATOR else "value")
    type_ = getattr(held, "type", None)
    known = isinstance(type_, ir.RankedTensorType) and type_.has_static_shape and _count(type_) <= _MOST
    return held if known else None


def _elements(value: ir.Value, held: Any, size: int) -> list[bytes]:
    """The bytes of each element of a resource; none where it is no resource."""
    if not str(held).startswith("dense_resource") or not size:
        return []
    data = bytes_of(value.owner.operation)
    whole = len(data) == _count(held.type) * size
    return [data[at : at + size] for at in range(0, len(data), size)] if whole else []


def _count(type_: ir.RankedTensorType) -> int:
    count = 1
    for size in type_.shape:
        count *= size
    return count
