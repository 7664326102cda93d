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


@register_pass
@dataclass(frozen=True)
class ClampSlices(FrontEndRemedy):
    """Begins an `onnx.Slice` with a negative step at the last element, where it begins behind it.

    IREE 3.13 clamps such a beginning to the number of elements, and reads one behind the end (FIS162). Beginnings, axes and steps are
    constants, and the sizes are known. Run it on the program as it was imported.
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
        return found is not None and found != integers_of(op.operands[1])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        starts = _clamped(op)
        assert starts is not None  # `fits`
        source, given, ends, axes, steps = op.operands
        type_ = torch.TensorType.of(given)
        assert type_ is not None
        width = int(type_.element.removeprefix("si"))
        listed = ", ".join(map(str, starts))
        value = ir.Attribute.parse(f"dense<[{listed}]> : tensor<{len(starts)}xsi{width}>")
        begin = torch.apply_onnx("Constant", [], given.type, value=value)
        return [torch.apply_onnx("Slice", [source, begin, ends, axes, steps], op.results[0].type)]


def _clamped(op: ir.Operation) -> list[int] | None:
    """The beginnings, with those of a negative step at most at the last element; None where they are not known."""
    type_ = torch.TensorType.of(op.operands[0])
    starts, steps = integers_of(op.operands[1]), integers_of(op.operands[4])
    if type_ is None or starts is None or steps is None:
        return None
    none = torch.is_none(op.operands[3])
    axes = list(range(len(starts))) if none else integers_of(op.operands[3])
    if axes is None or not len(starts) == len(steps) == len(axes):
        return None
    sizes = [type_.shape[axis] for axis in axes]
    return [
        start if size is None or step > 0 else min(start, size - 1)
        for start, step, size in zip(starts, steps, sizes, strict=True)
    ]
