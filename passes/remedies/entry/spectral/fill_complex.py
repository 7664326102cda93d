"""Complex tensors of zeros, of ones, and without numbers, as tensors of one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_COMPLEX = ("complex<f32>", "complex<f64>")
_MADE = {
    "aten.zeros": (0, 0.0),
    "aten.ones": (0, 1.0),
    "aten.empty.memory_format": (0, 0.0),
    "aten.new_zeros": (1, 0.0),
    "aten.new_ones": (1, 1.0),
}
"""Op -> its operand that lists the sizes, and the number."""
_LIST = "!torch.list<int>"


@register_pass
@dataclass(frozen=True)
class FillComplex(FrontEndRemedy):
    """Writes `aten.zeros`, `ones`, `new_zeros`, `new_ones` and `empty` of complex numbers as `aten.full`.

    IREE 3.13 crashes on the first four of complex elements, in its decompositions. Of an `empty` it takes the element type by the number that
    PyTorch has for it, and its importer writes another number (10 for complex64, which is 9): the types differ then. Sizes may be dynamic. Run it
    on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-fill-complex"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.zeros`, `ones`, `new_zeros`, `new_ones` and `empty` of complex numbers with `aten.full` (in the input)"
    )
    repairs: ClassVar[str] = (
        "`torch.zeros` and its like of complex64 and complex128, on which IREE crashes (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "filled it with one number"
    advice: ClassVar[str] = "write torch.full((...), 0.0, dtype=torch.complex64)"

    def fits(self, op: ir.Operation) -> bool:
        made = _MADE.get(torch.front_end_name(op))
        if made is None or len(op.results) != 1 or len(op.operands) <= made[0]:
            return False
        type_ = TensorType.of(op.results[0])
        return type_ is not None and type_.element in _COMPLEX and str(op.operands[made[0]].type) == _LIST

    def written(self, op: ir.Operation) -> list[ir.Value]:
        at, number = _MADE[torch.front_end_name(op)]
        made = TensorType.of(op.results[0])
        assert made is not None  # `fits`
        return [apply("aten.full", [op.operands[at], torch.real(number), *[torch.none()] * 4], made)]
