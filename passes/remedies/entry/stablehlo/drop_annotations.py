"""Custom calls of JAX that say where a tensor is placed, and compute nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.stablehlo_ops import CUSTOM_CALL
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy

_TARGET = "call_target_name"
ANNOTATIONS = ("Sharding", "annotate_device_placement")
"""What JAX calls for `jax.lax.with_sharding_constraint` and `jax.device_put` in a traced function."""


@register_pass
@dataclass(frozen=True)
class DropAnnotations(FrontEndRemedy):
    """Takes the operand in the place of a `stablehlo.custom_call` that only says how a tensor is split over devices, or in which memory it lies.

    A program that IREE compiles runs on one device, and each value of it has one place. IREE 3.13 rejects the calls. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-drop-annotations"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (CUSTOM_CALL,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)
    does: ClassVar[str] = (
        "removes the custom calls with which JAX says where a tensor is placed: `Sharding`, `annotate_device_placement` (in the input)"
    )
    repairs: ClassVar[str] = "these calls, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "removed it"
    advice: ClassVar[str] = "remove it"

    def fits(self, op: ir.Operation) -> bool:
        return text_of(op, _TARGET) in ANNOTATIONS and [value.type for value in op.operands] == [
            result.type for result in op.results
        ]

    def named(self, op: ir.Operation) -> str:
        return f"{op.name} @{text_of(op, _TARGET)}"

    def written(self, op: ir.Operation) -> list[ir.Value]:
        return list(op.operands)
