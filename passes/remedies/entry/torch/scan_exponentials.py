"""Running sums of exponentials, as scans of logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.scan_extremes import scanned
from ..tensors.values import axis_of
from ..torch_ops import FLOATS, TensorType

RUNNING = "aten.logcumsumexp"


@register_pass
@dataclass(frozen=True)
class ScanExponentials(FrontEndRemedy):
    """Writes `aten.logcumsumexp` as a scan (`iree_linalg_ext.scan`) that adds two logarithms: the larger one, and log1p of the other's share.

    IREE 3.13 adds the exponentials themselves, which are infinite from 89 on and 0 below -104. It computes in f32, as PyTorch does for 16-bit
    floats. The size may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-scan-exponentials"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS179")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "replaces `aten.logcumsumexp` with a scan of logarithms (in the input)"
    repairs: ClassVar[str] = "`aten.logcumsumexp`, of whose exponentials IREE's sum overflows (FIS179)"
    numbers: ClassVar[str] = "different rounding; exponentials do not overflow"
    done: ClassVar[str] = "rewrote it as a scan of logarithms"
    advice: ClassVar[str] = "rewrite it as a scan of logarithms"
    dialects: ClassVar[tuple[str, ...]] = (
        "torch", "torch_c", "iree_linalg_ext", "linalg", "tensor", "arith", "math",
    )  # fmt: skip

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != RUNNING or len(op.operands) != 2 or len(op.results) != 1:
            return False
        type_, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
        if type_ is None or made is None or type_.element not in FLOATS:
            return False
        return axis_of(op.operands[1], len(type_.shape)) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        type_ = TensorType.of(op.operands[0])
        assert type_ is not None
        axis = axis_of(op.operands[1], len(type_.shape))
        assert axis is not None
        found = scanned(torch.converted(op.operands[0], "f32"), axis, -inf, _added)
        return [torch.cast(torch.converted(found, type_.element), op.results[0].type)]


def _added(one: ir.Value, other: ir.Value) -> ir.Value:
    """The logarithm of the sum of two exponentials."""
    # Both are kept apart where they are equal: the difference of two infinities is NaN.
    apart = arith.negf(math.absf(arith.subf(one, other)))
    equal = arith.cmpf(arith.CmpFPredicate.OEQ, one, other)
    share = arith.select(equal, arith.constant(one.type, 0.0), apart)
    return arith.addf(arith.maximumf(one, other), math.log1p(math.exp(share)))
