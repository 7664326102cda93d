"""Matrix products of narrow integers, multiplied and added up in 32 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import type_of
from ..torch_ops import TensorType, apply

_PRODUCTS = {
    "aten.bmm": 2, "aten.dot": 2, "aten.linear": 3, "aten.matmul": 2, "aten.mm": 2, "aten.mv": 2, "onnx.MatMul": 2,
}  # fmt: skip
"""Op -> how many operands it has at most; all are tensors."""
_SUMS = {"aten.addmm": "aten.mm", "aten.addmv": "aten.mv", "aten.baddbmm": "aten.bmm"}
"""Op -> the product to which it adds its first operand: it takes that, two factors, and two numbers that scale the operand and the product."""
_NARROW = ("si8", "ui8", "si16")
_WIDE = {"si64": "si64"}
"""Type of the result -> the one in which it is computed, where that is not si32."""


@register_pass
@dataclass(frozen=True)
class MultiplyBytes(FrontEndRemedy):
    """Computes matrix products of integers of 8 and 16 bits in 32 bits, and keeps the lowest bits of the result.

    PyTorch's result has the type of the operands and wraps around, which the lowest bits of sums and products of any width do. IREE 3.13 makes
    sums of 32 bits of 8-bit products and crashes where it stores them; a product of integers with a sum (`aten.addmm`) it has no lowering for. Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-multiply-bytes"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "computes matrix products of 8-bit and 16-bit integers whose result has the same type in 32 bits (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.mm`, `bmm`, `matmul`, `linear` and others of such integers, on which IREE crashes, and `aten.addmm` of integers, which it rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "computed it in 32 bits"
    advice: ClassVar[str] = "compute it in 32 bits"

    def fits(self, op: ir.Operation) -> bool:
        name, given = torch.front_end_name(op), list(op.operands)
        if len(op.results) != 1:
            return False
        if name in _SUMS:
            if len(given) != 5 or any(torch.integer_of(number) is None for number in given[3:]):
                return False
            return _elements([*given[:3], op.results[0]]) in ({one} for one in (*_NARROW, "si32", "si64"))
        if not 2 <= len(given) <= _PRODUCTS.get(name, 0):
            return False
        given = [value for value in given if not torch.is_none(value)]
        return _elements([*given, op.results[0]]) in ({one} for one in _NARROW)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, made = torch.front_end_name(op), type_of(op.results[0])
        wide = TensorType(made.shape, _WIDE.get(made.element, "si32"))
        given = [torch.converted(one, wide.element) if TensorType.of(one) else one for one in op.operands]
        if name in _SUMS:
            added, first, second, beta, alpha = given
            product = apply(_SUMS[name], [first, second], wide)
            parts = [_scaled(added, beta), _scaled(product, alpha)]
            result = apply("aten.add.Tensor", [*parts, torch.integer(1)], wide)
        else:
            attributes = {one: op.attributes[one] for one in op.attributes}
            made_type = wide.ir_type()
            result = ir.Operation.create(
                op.name, results=[made_type], operands=given, attributes=attributes
            ).result
        return [torch.converted(result, made.element)]


def _elements(values: Sequence[ir.Value]) -> set[str]:
    types = [TensorType.of(value) for value in values]
    return {type_.element if type_ else "" for type_ in types}


def _scaled(value: ir.Value, number: ir.Value) -> ir.Value:
    if torch.integer_of(number) == 1:
        return value
    return apply("aten.mul.Scalar", [value, number], type_of(value))
