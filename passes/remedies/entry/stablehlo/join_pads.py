"""Pads of padded tensors, as one pad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.misread_pads import padded_before, padding_of
from fissile.passes.analysis.imports.stablehlo_ops import PAD
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FRONT_END_OP, FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class JoinPads(FrontEndRemedy):
    """Writes a `stablehlo.pad` with interior padding of a padded tensor as one pad of the tensor, if both pad with one value.

    IREE 3.13 joins them as well, at wrong positions (FIS157). Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-join-pads"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS157")
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (PAD,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)
    does: ClassVar[str] = (
        "replaces a `stablehlo.pad` with interior padding of a padded tensor by one pad (in the input)"
    )
    repairs: ClassVar[str] = (
        "such pads, whose elements IREE puts at other positions: wrong numbers on every target (FIS157)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "rewrote both as one pad"
    advice: ClassVar[str] = "rewrite both as one pad"

    def fits(self, op: ir.Operation) -> bool:
        return padded_before(op) is not None

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        inner = padded_before(op)
        assert inner is not None  # `fits`
        before, after = padding_of(inner), padding_of(op)
        steps = [gap + 1 for gap in after.interior]
        sides = {
            "edge_padding_low": [b + a * s for b, a, s in zip(after.low, before.low, steps, strict=True)],
            "edge_padding_high": [b + a * s for b, a, s in zip(after.high, before.high, steps, strict=True)],
            "interior_padding": list(after.interior),
        }
        attributes = {name: ir.DenseI64ArrayAttr.get(values) for name, values in sides.items()}
        operands = [inner.operands[0], op.operands[1]]
        made = ir.Operation.create(
            PAD, results=[op.results[0].type], operands=operands, attributes=attributes
        )
        return list(made.results)
