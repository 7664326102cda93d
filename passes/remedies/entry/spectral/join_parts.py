"""Pairs of floats that are complex numbers, where their count is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_ELEMENTS = {"f32": "complex<f32>", "f64": "complex<f64>"}


@register_pass
@dataclass(frozen=True)
class JoinParts(FrontEndRemedy):
    """Writes `aten.view_as_complex` of a tensor whose last size is not known as the complex numbers of its first and its second element.

    The last size is 2, or PyTorch rejects the tensor. IREE 3.13 makes a cast of the bits with too few sizes of it. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-join-parts"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes `aten.view_as_complex` of unknown sizes as `aten.complex` of two slices (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.view_as_complex` of a tensor whose last size is not known, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it as complex numbers of two slices"
    advice: ClassVar[str] = "write it as complex numbers of two slices"

    def fits(self, op: ir.Operation) -> bool:
        if (
            torch.front_end_name(op) != "aten.view_as_complex"
            or len(op.operands) != 1
            or len(op.results) != 1
        ):
            return False
        given, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
        if given is None or made is None or not given.shape or given.shape[-1] is not None:
            return False
        return given.element in _ELEMENTS and made.element == _ELEMENTS[given.element]

    def written(self, op: ir.Operation) -> list[ir.Value]:
        pairs, made = op.operands[0], TensorType.of(op.results[0])
        given = TensorType.of(pairs)
        assert given is not None and made is not None
        part, last = TensorType(made.shape, given.element), torch.integer(-1)
        real, imaginary = (
            apply("aten.select.int", [pairs, last, torch.integer(number)], part) for number in (0, 1)
        )
        return [apply("aten.complex", [real, imaginary], made)]
