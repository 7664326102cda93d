"""Takes a softmax apart: two reductions and two elementwise ops, each of which can be a dispatch of its
own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math, tensor

from fissile.dialect import BoundaryOp
from fissile.dialect import linalg_ops as linalg
from fissile.passes.definition import Contract, option, register_pass

from ..generic_ops import build_generic
from ..narrow.packed_words import sizes_of
from ..remedy import PLACES_BOUNDARIES, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

SOFTMAX = "linalg.softmax"


@register_pass
@dataclass(frozen=True)
class DecomposeSoftmax(OpRemedy):
    """Replaces linalg.softmax by its maximum, exponentials, their sum and the quotient.

    IREE makes one dispatch of a softmax; on SPIR-V its rows are shared through workgroup memory, in one case
    with no barrier, and a long row is worked on by a single thread. ``ops`` chooses source ops by index;
    without it, all. With ``boundaries`` a `fissile.boundary` keeps the parts in dispatches of their own, so
    that the quotients and the exponentials are computed by all threads; without it dispatch creation may join
    them again.

    Each element is computed as by the ops that IREE decomposes a softmax into; the terms of the sum may be added
    in another order.
    """

    name: ClassVar[str] = "fissile-decompose-softmax"
    order: ClassVar[int] = 50
    cures: ClassVar[tuple[str, ...]] = ("FIS103", "FIS106", "FIS108", "FIS111", "FIS125")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "decomposes a softmax into maximum, exponentials, sum and quotient"
    repairs: ClassVar[str] = (
        "the race of a softmax without producers (SPIR-V), a softmax that never finishes compiling (gfx942, sm_86; "
        "gfx1100 in LLVM), one thread per row"
    )
    numbers: ClassVar[str] = "the same ops per element; the sum may be reordered"
    counterpart: ClassVar[str] = "DecomposeSoftmax runs inside the dispatch, so the parts stay in one kernel."
    done: ClassVar[str] = "decomposed {ops} into maximum, exponentials, sum and quotient"
    advice: ClassVar[str] = "decompose {ops} into maximum, exponentials, sum and quotient"
    refusal: ClassVar[str] = "{op} cannot be decomposed as a softmax: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "math", "tensor")
    contract: ClassVar[Contract] = PLACES_BOUNDARIES
    ops: tuple[int, ...] = option((), "indices of the source ops to decompose; empty: every linalg.softmax")
    boundaries: bool = option(True, "keep the parts in dispatches of their own")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return Match("" if op.name == SOFTMAX else "it is not a softmax")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for softmax in ops:
            decompose_softmax(softmax, self.boundaries)


def decompose_softmax(
    op: ir.Operation, boundaries: bool = True, evaluated_twice: bool = False
) -> list[ir.Operation]:
    """Replaces the linalg.softmax ``op`` in place; returns its two reductions.

    ``evaluated_twice``: the exponentials are no op of their own, in global memory; their sum and the quotient each compute them.
    """
    source, result = op.operands[0], ir.RankedTensorType(op.results[0].type)
    dimension = ir.IntegerAttr(op.attributes["dimension"]).value
    element = result.element_type
    with ir.InsertionPoint(op), op.location:
        sizes = sizes_of(source)
    whole = ir.AffineMap.get_identity(result.rank)
    row = ir.AffineMap.get(
        result.rank, 0, [ir.AffineDimExpr.get(i) for i in range(result.rank) if i != dimension]
    )
    parallel = [i != dimension for i in range(result.rank)]
    reductions: list[ir.Operation] = []

    def cut(value: ir.Value) -> ir.Value:
        return BoundaryOp(value).operation.results[0] if boundaries else value

    def reduced(inputs: list[ir.Value], start: float, combine: Callable[..., ir.Value]) -> ir.Value:
        empty = tensor.EmptyOp(sizes[:dimension] + sizes[dimension + 1 :], element).result
        init = linalg.fill(arith.constant(element, start), outs=[empty])
        made = _generic(inputs, init, [whole, *[row] * len(inputs)], parallel, combine)
        reductions.append(made.owner.operation)
        return cut(made)

    def each(inputs: list[ir.Value], body: Callable[..., ir.Value]) -> ir.Value:
        init = tensor.EmptyOp(sizes, element).result
        maps = [whole, *[row] * (len(inputs) - 1), whole]
        return _generic(inputs, init, maps, [True] * result.rank, body)

    def power(x: ir.Value, m: ir.Value) -> ir.Value:
        return math.exp(arith.subf(x, m))

    # Of halves, LLVM has no maxnum on processors without F16C. A row with a NaN is NaN throughout either way.
    larger = arith.maximumf if element.width < 32 else arith.maxnumf
    with ir.InsertionPoint(op), op.location:
        largest = reduced([source], float("-inf"), larger)
        if evaluated_twice:
            total = reduced([source, largest], 0.0, lambda x, m, so_far: arith.addf(power(x, m), so_far))
            quotients = each([source, largest, total], lambda x, m, s, _: arith.divf(power(x, m), s))
        else:
            powers = cut(each([source, largest], lambda x, m, _: power(x, m)))
            total = reduced([powers], 0.0, arith.addf)
            quotients = each([powers, total], lambda x, s, _: arith.divf(x, s))
    op.results[0].replace_all_uses_with(quotients)
    op.erase()
    return reductions


def _generic(
    inputs: Sequence[ir.Value],
    init: ir.Value,
    maps: Sequence[ir.AffineMap],
    parallel: Sequence[bool],
    body: Callable[..., ir.Value],
) -> ir.Value:
    op, block = build_generic(list(inputs), [init], maps, parallel)
    with ir.InsertionPoint(block):
        linalg.YieldOp([body(*block.arguments)])
    return op.results[0]
