"""Lets chosen ops read their inputs element by element: no vectors, no tiles, nothing on chip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect import linalg_ops as linalg
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.structure import loop_structure, structure_of
from fissile.passes.definition import option, register_pass

from ..generic_ops import build_generic
from ..rebuilt_ops import copy_into
from ..remedy import FITS, Exactness, Match, OpRemedy
from .flat_loops import index_of, make_one_loop, why_not_one_loop

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class ReadByElement(OpRemedy):
    """Replaces the inputs in the bodies of chosen linalg ops by `tensor.extract` at the loops' own indices.

    The slowest way to compute an op and the one that needs least from code generation: IREE vectorises no op that uses its
    loops' indices, promotes none of its operands and fuses no producer into it, so producers become dispatches of their
    own. It is what is left where a target cannot take an op's vectors (64-bit integers on default Vulkan) or where every
    schedule fails. Each element is computed by the same ops, and terms are added up in the order of the loops.

    With ``flat`` the loops that do not reduce become one. SPIR-V gives a convolution of an odd size workgroups of 1x1x64 threads and
    distributes its channels along the one thread in x: each of the 64 computes all of them (default Vulkan, IREE 3.13). One
    loop has all threads beside each other.

    With ``flat-sums`` the loops that reduce become one too: a subgroup adds up over one loop rightly, and over two only the diagonal
    of gathered elements (FIS143).

    Run it after global optimisation: before, IREE turns such reads back into operands. A chosen op without a body, or
    without a tensor to read, is FIS114; with ``flat`` also one with results in different orders.
    """

    name: ClassVar[str] = "fissile-read-by-element"
    order: ClassVar[int] = 130
    cures: ClassVar[tuple[str, ...]] = (
        "FIS101",
        "FIS103",
        "FIS104",
        "FIS106",
        "FIS108",
        "FIS125",
        "FIS127",
        "FIS143",
    )
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "makes the chosen ops read their inputs by `tensor.extract` in their bodies, so that IREE does not vectorise, "
        "promote or fuse into them"
    )
    repairs: ClassVar[str] = (
        "what no other remedy repairs: 64-bit integers as vectors on default Vulkan; every schedule that fails; with "
        "`flat=true`, which collapses all loops but the reduction, convolutions, poolings and batched matmuls of odd "
        "sizes that every thread of a workgroup computes completely (SPIR-V, FIS127)"
    )
    numbers: ClassVar[str] = "bit-identical; terms are summed in the order of the loops"
    done: ClassVar[str] = "computed {ops} element by element, without vectors"
    advice: ClassVar[str] = "compute {ops} element by element, without vectors"
    refusal: ClassVar[str] = "{op} cannot read by element: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "arith", "linalg", "tensor")
    ops: tuple[int, ...] = option((), "indices of the source ops")
    flat: bool = option(False, "make the loops that do not reduce one loop")
    flat_sums: bool = option(False, "make the loops that do not reduce one loop, and those that do another")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if structure_of(op) is None:
            return Match("it has no body")
        if not _tensors(op):
            return Match("it reads no tensor")
        return Match(why_not_one_loop(op, self.flat_sums)) if self.flat or self.flat_sums else FITS

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        self.need_ops(f"{self.name}{{ops=3}}")
        super().run(op, report)

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        read_by_element(ops, self.flat or self.flat_sums, self.flat_sums)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "every operand is read from memory for every use, no vectors"

    def sentence(self, advice: bool = False) -> str:
        made = "make" if advice else "made"
        if self.flat_sums:
            return f"{made} the loops of {{ops}} that reduce one, and the others one"
        if self.flat:
            return f"{made} the loops of {{ops}} one, with an element of the result to each thread"
        return super().sentence(advice)


def read_by_element(ops: Iterable[ir.Operation], flat: bool = False, sums: bool = False) -> None:
    """Rewrites ``ops`` in place, each of which matches; they are other operations afterwards."""
    for op in ops:
        make_one_loop(op, sums) if flat else read_in_body(op, _tensors(op), stay=True)


def read_in_body(op: ir.Operation, positions: Sequence[int], stay: bool) -> None:
    """Reads the inputs at ``positions`` of ``op``, which has a structure, in its body, at the indices that their maps are.

    ``stay``: they are operands all the same, as where loops that no output is indexed by have their extents from them.
    """
    structure, old = loop_structure(op), op.regions[0].blocks[0]
    operands, outputs = list(op.operands), len(op.results)
    kept = [i for i in range(len(operands)) if stay or i not in positions]
    inputs = [operands[i] for i in kept[:-outputs]]
    maps = [structure.maps[i] for i in kept]
    with ir.InsertionPoint(op), op.location:
        new, block = build_generic(inputs, operands[-outputs:], maps, structure.parallel, like=op)
        with ir.InsertionPoint(block):
            loops = [linalg.IndexOp(i).result for i in range(structure.loops)]
            values = {old.arguments[i]: given for i, given in zip(kept, block.arguments, strict=False)}
            for i in positions:
                at = [index_of(result, loops) for result in structure.maps[i].results]
                values[old.arguments[i]] = tensor.extract(operands[i], at)
            for inner in old.operations:
                copy_into(inner.operation, values)
    for result, replacement in zip(list(op.results), new.results, strict=False):
        result.replace_all_uses_with(replacement)
    op.erase()


def _tensors(op: ir.Operation) -> list[int]:
    """Positions of the inputs that have dimensions."""
    inputs = list(op.operands)[: len(op.operands) - len(op.results)]
    return [i for i, v in enumerate(inputs) if isinstance(v.type, ir.RankedTensorType) and v.type.rank]
