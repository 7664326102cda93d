"""Convolutions over time whose first dimension is the time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import permuted
from ..torch_ops import TensorType, apply


@register_pass
@dataclass(frozen=True)
class ConvolveSteps(FrontEndRemedy):
    """Writes `aten.conv_tbc` as `aten.conv1d` between transposes.

    Its image is (time, batch, channels), its kernel (time, channels, channels of the result). IREE 3.13 exchanges the dimensions of the result
    otherwise, which contradicts its type. Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-convolve-steps"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "replaces `aten.conv_tbc` with a `conv1d` between transposes (in the input)"
    repairs: ClassVar[str] = "`aten.conv_tbc`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as a convolution between transposes"
    advice: ClassVar[str] = "rewrite it as a convolution between transposes"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.conv_tbc" or len(op.operands) != 4 or len(op.results) != 1:
            return False
        given, kernel, bias, made = (TensorType.of(one) for one in (*list(op.operands)[:3], op.results[0]))
        if given is None or kernel is None or bias is None or made is None:
            return False
        ranks = tuple(len(one.shape) for one in (given, kernel, bias, made))
        alike = {one.element for one in (given, kernel, bias, made)}
        padding = torch.integer_of(op.operands[3])
        known = padding is not None and padding >= 0
        return ranks == (3, 3, 1, 3) and len(alike) == 1 and given.element in torch.FLOATS and known

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, kernel, bias, padding = op.operands
        made = TensorType.of(op.results[0])
        assert made is not None  # `fits`
        steps, batch, channels = made.shape
        ones, pads = torch.integers([1]), torch.integers([torch.integer_of(padding) or 0])
        operands = [
            permuted(value, (1, 2, 0)),
            permuted(kernel, (2, 1, 0)),
            bias,
            ones,
            pads,
            ones,
            torch.integer(1),
        ]
        found = apply("aten.conv1d", operands, TensorType((batch, channels, steps), made.element))
        return [torch.cast(permuted(found, (2, 0, 1)), op.results[0].type)]
