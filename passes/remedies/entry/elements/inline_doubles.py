"""Constants of f64 whose elements lie in a resource of the module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.dialect.element_bytes import resource_bytes, stands_in_resource
from fissile.passes.definition import register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.flags import IN_F64
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FRONT_END_OP, FrontEndRemedy

_NAMES = {
    "torch.vtensor.literal": "value",
    "arith.constant": "value",
    "stablehlo.constant": "value",
    iree_ops.FLOW_TENSOR_CONSTANT: "value",
    iree_ops.UTIL_GLOBAL: "initial_value",
    "ml_program.global": "value",
}
"""Op -> the attribute that holds the constant."""
GLOBALS = (iree_ops.UTIL_GLOBAL, "ml_program.global")
"""Those that IREE does not reject."""


@register_pass
@dataclass(frozen=True)
class InlineDoubles(FrontEndRemedy):
    """Writes the elements of a constant of f64 into the program, where they lie in a resource of the module (`dense_resource`).

    IREE computes f64 as f32 by default (`--iree-input-demote-f64-to-f32`). IREE 3.13's pass converts the elements of a `dense` constant, and of one
    that is a resource the type alone. It rejects the program then, unless the constant is the value of a global: iree-turbine makes one of a large
    weight, and its bytes are read as f32 (FIS228). Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-inline-doubles"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS228")
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = tuple(_NAMES)
    does: ClassVar[str] = (
        "writes the elements of a constant of f64 that is a resource into the program, where IREE converts them to f32 (in the input)"
    )
    repairs: ClassVar[str] = (
        "weights of f64 that are resources, as iree-turbine writes them: IREE rejects them as it converts f64 to f32 (FIS421), or reads their bytes as f32 (FIS228)"
    )
    numbers: ClassVar[str] = "bit-identical; IREE rounds them to f32, as all of f64"
    done: ClassVar[str] = (
        "wrote the elements of f64 into the program, where IREE converts them, instead of into a resource"
    )
    advice: ClassVar[str] = (
        f"write the elements of f64 as `dense<...>`, convert the model to f32, or compile with {IN_F64}"
    )

    def fits(self, op: ir.Operation) -> bool:
        held = attribute(op, _NAMES.get(op.name, ""))
        type_ = getattr(held, "type", None)
        if held is None or not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
            return False
        return isinstance(type_.element_type, ir.F64Type) and stands_in_resource(held)

    def replace(self, found: Iterable[ir.Operation]) -> None:
        """In place; a resource without all of the elements stays (FIS415)."""
        made: dict[ir.Attribute, ir.Attribute] = {}
        for op in found:
            name = _NAMES[op.name]
            held = op.attributes[name]
            if held not in made:
                made[held] = _inlined(held)
            op.attributes[name] = made[held]


def _inlined(held: ir.Attribute) -> ir.Attribute:
    type_ = ir.RankedTensorType(held.type)
    data, shape = resource_bytes(held), list(type_.shape)
    if not data or len(data) != 8 * prod(shape):
        return held
    return ir.DenseElementsAttr.get(
        np.frombuffer(data, np.float64), type=type_.element_type, shape=shape, context=held.context
    )
