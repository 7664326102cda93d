"""Window functions of torch as constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType
from .complex_parts import REAL

_SHAPES = {
    "bartlett": lambda turn: 1 - np.abs(turn / np.pi - 1),
    "blackman": lambda turn: 0.42 - 0.5 * np.cos(turn) + 0.08 * np.cos(2 * turn),
    "hamming": lambda turn: 0.54 - 0.46 * np.cos(turn),
    "hann": lambda turn: 0.5 - 0.5 * np.cos(turn),
}
"""As functions of the angle from 0 to 2 pi along the window."""
_LARGEST = 1 << 20


@register_pass
@dataclass(frozen=True)
class FoldWindows(FrontEndRemedy):
    """Writes `aten.hann_window`, `hamming_window`, `blackman_window` and `bartlett_window` of f32 as the constants that they are.

    The torch dialect of IREE 3.13 has none of them. The length is known. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-fold-windows"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "replaces `aten.hann_window` and its like with constants (in the input)"
    repairs: ClassVar[str] = "`aten.hann_window`, `hamming_window` and the like, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as a constant"
    advice: ClassVar[str] = "rewrite it as a constant"

    def fits(self, op: ir.Operation) -> bool:
        return _window(op) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        window = _window(op)
        assert window is not None
        return [torch.cast(torch.table(window), op.results[0].type)]


def _window(op: ir.Operation) -> np.ndarray | None:
    """The elements; None for another op, and where the length or another number is not known."""
    base, _dot, overload = torch.front_end_name(op).removeprefix("aten.").partition(".")
    shape = _SHAPES.get(base.removesuffix("_window")) if base.endswith("_window") else None
    if shape is None or overload not in ("", "periodic") or len(op.results) != 1 or len(op.operands) < 2:
        return None
    made, length = TensorType.of(op.results[0]), torch.integer_of(op.operands[0])
    is_periodic = torch.boolean_of(op.operands[1]) if overload else True
    if made is None or made.element != REAL or length is None or is_periodic is None:
        return None
    if not 0 < length <= _LARGEST or made.shape not in ((length,), (None,)):
        return None
    steps = length if is_periodic else length - 1
    return shape(2 * np.pi * np.arange(length) / steps) if steps and length > 1 else np.ones(1)
