"""Products over a dimension without elements: the result is what it begins with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.layout.empty_products import empty_products
from fissile.passes.definition import Contract, register_pass
from fissile.passes.remedies.remedy import ON_TENSORS, Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class DropEmptyProducts(Remedy):
    """Replaces each product over a dimension of size 0 with the tensor that it is added to.

    IREE 3.13 ends in SIGFPE on one (FIS416). Run it on the output of phase input.
    """

    name: ClassVar[str] = "fissile-drop-empty-products"
    cures: ClassVar[tuple[str, ...]] = ("FIS416",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "replaces a product over a dimension without elements with what it is added to"
    repairs: ClassVar[str] = "a crash of IREE on every target (FIS416)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "took what the product is added to: there is nothing to add"
    advice: ClassVar[str] = "take what the product is added to: there is nothing to add"
    contract: ClassVar[Contract] = ON_TENSORS

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for product in empty_products(op):
            product.results[0].replace_all_uses_with(product.operands[2])
            product.erase()
