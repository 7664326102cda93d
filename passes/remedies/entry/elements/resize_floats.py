"""Images of integers that ONNX resizes by weights: computed in f32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_INTEGERS = ("ui8", "si8", "si16", "si32")
_WEIGHTED = ("linear", "cubic")


@register_pass
@dataclass(frozen=True)
class ResizeFloats(FrontEndRemedy):
    """Computes an `onnx.Resize` of integers whose mode is linear or cubic on floats, and converts the result back.

    IREE 3.13 multiplies the weights, floats, by the integers, and rejects what comes of it. The standard drops what is behind the point.
    Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-resize-floats"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "computes an `onnx.Resize` of integers, linear or cubic, in f32 (in the input)"
    repairs: ClassVar[str] = "such resizes, as of quantised images, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "computed in f32: an element next to an integer may be one off"
    done: ClassVar[str] = "computed it in f32"
    advice: ClassVar[str] = "compute it in f32"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.Resize" or len(op.results) != 1 or not op.operands:
            return False
        value, made = torch.TensorType.of(op.operands[0]), torch.TensorType.of(op.results[0])
        if value is None or made is None or value.element not in _INTEGERS or made.element != value.element:
            return False
        return text_of(op, "torch.onnx.mode") in _WEIGHTED

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = torch.TensorType.of(op.results[0])
        assert made is not None  # `fits`
        attributes = {name: op.attributes[name] for name in op.attributes}
        resized = ir.Operation.create(
            op.name,
            results=[torch.TensorType(made.shape, "f32").ir_type()],
            operands=[torch.converted(op.operands[0], "f32"), *list(op.operands)[1:]],
            attributes=attributes,
        ).result
        return [torch.converted(resized, made.element)]
