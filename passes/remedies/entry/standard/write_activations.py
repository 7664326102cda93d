"""Activations of ONNX that IREE has no lowering for in every version of the standard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply


def _softsign(value: ir.Value) -> ir.Value:
    """x / (1 + |x|)."""
    size = apply("aten.abs", [value], value.type)
    below = apply("aten.add.Scalar", [size, torch.real(1.0), torch.integer(1)], value.type)
    return apply("aten.div.Tensor", [value, below], value.type)


def _mish(value: ir.Value) -> ir.Value:
    return apply("aten.mish", [value], value.type)


_WRITTEN: dict[str, Callable[[ir.Value], ir.Value]] = {"onnx.Mish": _mish, "onnx.Softsign": _softsign}


@register_pass
@dataclass(frozen=True)
class WriteActivations(FrontEndRemedy):
    """Writes `onnx.Softsign` as a quotient, and `onnx.Mish` as `aten.mish`.

    IREE 3.13 has these ops for models of opset 22 or newer, and of opset 18. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-write-activations"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `onnx.Softsign` with a quotient, and `onnx.Mish` with `aten.mish` (in the input)"
    )
    repairs: ClassVar[str] = "these ops in models of older opsets, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "wrote it with other ops"
    advice: ClassVar[str] = "write it with other ops"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _WRITTEN or len(op.operands) != 1 or len(op.results) != 1:
            return False
        given, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
        return given is not None and made is not None and given.element == made.element

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = _WRITTEN[torch.front_end_name(op)](op.operands[0])
        return [torch.cast(made, op.results[0].type)]
