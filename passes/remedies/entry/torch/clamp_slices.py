"""Slices that run backwards from behind the end, from the last element on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.onnx_values import integers_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_FAR = 2**30
_INT32 = 6
"""ONNX's number of the element type (TensorProto.DataType)."""


@register_pass
@dataclass(frozen=True)
class ClampSlices(FrontEndRemedy):
    """Begins an `onnx.Slice` with a negative step at the last element, where it begins behind it.

    IREE 3.13 clamps such a beginning to the number of elements, and reads one behind the end (FIS162). Beginnings, axes and steps are
    constants; of an unknown size the clamp is computed at run time. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-clamp-slices"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "begins an `onnx.Slice` with a negative step at the last element (in the input)"
    repairs: ClassVar[str] = (
        "backward slices that begin behind the end, of which IREE reads one element too far: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "began it at the last element"
    advice: ClassVar[str] = "begin it at the last element"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.Slice" or len(op.operands) != 5:
            return False
        found = _clamped(op)
        return found is not None and (found != integers_of(op.operands[1]) or any(_unknown(op)))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        starts = _clamped(op)
        assert starts is not None  # `fits`
        source, given, ends, axes, steps = op.operands
        begin = _constant(starts, given.type)
        if any(_unknown(op)):
            begin = _at_most(begin, _last_elements(op))
        return [torch.apply_onnx("Slice", [source, begin, ends, axes, steps], op.results[0].type)]


def _constant(numbers: list[int], made: ir.Type) -> ir.Value:
    type_ = torch.TensorType.of_type(made)
    assert type_ is not None
    listed = ", ".join(map(str, numbers))
    value = ir.Attribute.parse(f"dense<[{listed}]> : tensor<{len(numbers)}x{type_.element}>")
    return torch.apply_onnx("Constant", [], made, value=value)


def _unknown(op: ir.Operation) -> list[bool]:
    """Of each axis: whether it is read backwards from a position that may be behind its end, which is not known."""
    type_ = torch.TensorType.of(op.operands[0])
    starts, steps = integers_of(op.operands[1]) or [], integers_of(op.operands[4]) or []
    assert type_ is not None
    return [
        type_.shape[axis] is None and step < 0 <= start
        for start, step, axis in zip(starts, steps, _axes(op) or [], strict=True)
    ]


def _last_elements(op: ir.Operation) -> ir.Value:
    """The position of the last element along each axis, where `_unknown`; elsewhere a position behind all of them."""
    source, given = op.operands[:2]
    type_ = torch.TensorType.of(given)
    assert type_ is not None
    axes = _axes(op) or []
    shape = torch.TensorType((len(torch.TensorType.of(source).shape),), "si64")  # type: ignore[union-attr]
    long = torch.TensorType((len(axes),), "si64")
    sizes = torch.apply_onnx("Shape", [source], shape)
    chosen = torch.apply_onnx("Gather", [sizes, _constant(axes, long.ir_type())], long)
    offsets = [-1 if unknown else _FAR for unknown in _unknown(op)]
    moved = torch.apply_onnx("Add", [chosen, _constant(offsets, long.ir_type())], long)
    if type_.element == "si64":
        return moved
    to = ir.Attribute.parse(f"{_INT32} : si64")
    return torch.apply_onnx("Cast", [moved], given.type, to=to)


def _at_most(value: ir.Value, most: ir.Value) -> ir.Value:
    return torch.apply_onnx("Min", [value, most], value.type)


def _axes(op: ir.Operation) -> list[int] | None:
    count = len(integers_of(op.operands[1]) or [])
    return list(range(count)) if torch.is_none(op.operands[3]) else integers_of(op.operands[3])


def _clamped(op: ir.Operation) -> list[int] | None:
    """The beginnings, with those of a negative step at most at the last element; None where they are not known."""
    type_ = torch.TensorType.of(op.operands[0])
    starts, steps = integers_of(op.operands[1]), integers_of(op.operands[4])
    if type_ is None or starts is None or steps is None:
        return None
    axes = _axes(op)
    if axes is None or not len(starts) == len(steps) == len(axes):
        return None
    sizes = [type_.shape[axis] for axis in axes]
    return [
        start if size is None or step > 0 else min(start, size - 1)
        for start, step, size in zip(starts, steps, sizes, strict=True)
    ]
