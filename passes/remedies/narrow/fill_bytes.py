"""Tensors of elements below a byte whose last byte would not be full, computed in 32 bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.narrow_types import NarrowSet
from fissile.passes.analysis.layout.partial_bytes import partial_bytes
from fissile.passes.definition import register_pass

from ..remedy import Exactness, Remedy
from .packed_program import pack_narrow_storage


@register_pass
@dataclass(frozen=True)
class FillBytes(Remedy):
    """Computes i2, i4 and f4E2M1FN in 32 bits wherever a program has tensors of them that fill no whole bytes: 21 elements of i4.

    IREE 3.13 refuses such tensors. Constants become words, the last one filled up with zeros; arguments and results that fill their bytes
    keep them; in between, tensors have 32 bits for an element. A program without such tensors stays as it is. Run it after global
    optimisation. Not for arguments and results: their bytes are the caller's.
    """

    name: ClassVar[str] = "fissile-fill-bytes"
    cures: ClassVar[tuple[str, ...]] = ("FIS223",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "reads i2, i4 and f4E2M1FN as 32-bit words and computes them in 32 bits, if a tensor of them fills no whole bytes"
    )
    repairs: ClassVar[str] = (
        "constants and intermediate results with an odd number of 4-bit elements, which IREE rejects (FIS223)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "computed them in 32 bits"
    advice: ClassVar[str] = "compute them in 32 bits"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "iree_tensor_ext", "linalg", "math", "tensor")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if found := partial_bytes(op):
            pack_narrow_storage(op, NarrowSet({one.element for one in found}))
