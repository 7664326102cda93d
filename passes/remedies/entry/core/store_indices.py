"""Constant tensors of index, as tensors of i64: IREE has no storage for the former."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy

_EXTRACT = "tensor.extract"


@register_pass
@dataclass(frozen=True)
class StoreIndices(FrontEndRemedy):
    """Stores a constant tensor of index as i64, where all that uses it reads elements.

    IREE 3.13 has no size for an element of type index, and crashes as it writes the constant.
    """

    name: ClassVar[str] = "fissile-store-indices"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = ("arith.constant",)
    dialects: ClassVar[tuple[str, ...]] = ("arith", "tensor")
    does: ClassVar[str] = "stores a constant tensor of index, whose elements are read, as i64 (in the input)"
    repairs: ClassVar[str] = "such constants, on which IREE crashes on every target (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "stored it as a tensor of i64"
    advice: ClassVar[str] = "store it as a tensor of i64"

    def fits(self, op: ir.Operation) -> bool:
        type_ = op.results[0].type
        return (
            isinstance(type_, ir.RankedTensorType)
            and isinstance(type_.element_type, ir.IndexType)
            and all(use.owner.operation.name == _EXTRACT for use in op.results[0].uses)
        )

    def named(self, op: ir.Operation) -> str:
        return f"{op.name} : {op.results[0].type}"

    def replace(self, found: Iterable[ir.Operation]) -> None:
        for one in found:
            stored = str(one.attributes["value"]).rsplit("index>", 1)[0] + "i64>"
            with ir.InsertionPoint(one), one.location:
                value = arith.ConstantOp(ir.Attribute.parse(stored).type, ir.Attribute.parse(stored)).result
            for read in [use.owner.operation for use in one.results[0].uses]:
                with ir.InsertionPoint(read), read.location:
                    element = tensor.ExtractOp(value, list(read.operands)[1:]).result
                    index = arith.index_cast(ir.IndexType.get(), element)
                read.results[0].replace_all_uses_with(index)
                read.erase()
            one.erase()
