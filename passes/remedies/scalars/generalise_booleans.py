"""Writes products of booleans with a body of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.structure import loop_structure
from fissile.passes.analysis.scalars.boolean_products import boolean_products
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED

from ..generic_ops import build_generic
from ..rebuilt_ops import copy_into
from ..remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class GeneraliseBooleans(Remedy):
    """Makes a `linalg.generic`, with `arith.andi` and `arith.ori` in its body, of each named op that reduces booleans.

    IREE 3.13 computes booleans as bytes (TypePropagation), and the body of a named op follows the types of its elements: as bytes they are
    multiplied and added (FIS216). Run it after global optimisation.
    """

    name: ClassVar[str] = "fissile-generalise-booleans"
    cures: ClassVar[tuple[str, ...]] = ("FIS216",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes matrix products of booleans as `linalg.generic`, with `and` and `or` in the body"
    )
    repairs: ClassVar[str] = "matrix products of booleans on llvm-cpu (FIS216)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    counterpart: ClassVar[str] = "`linalg-generalize-named-ops` takes every named op of a function."
    done: ClassVar[str] = "wrote it with `and` and `or`"
    advice: ClassVar[str] = "write it with `and` and `or`"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for product in boolean_products(op):
            with ir.InsertionPoint(product), product.location:
                _generalise(product)


def _generalise(op: ir.Operation) -> None:
    structure, body = loop_structure(op), op.regions[0].blocks[0]
    results = len(op.results)
    inputs, inits = list(op.operands)[:-results], list(op.operands)[-results:]
    new, block = build_generic(inputs, inits, structure.maps, structure.parallel, like=op)
    values: dict[ir.Value, ir.Value] = dict(zip(body.arguments, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for inner in body.operations:
            copy_into(inner.operation, values)
    for before, after in zip(op.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    op.erase()
