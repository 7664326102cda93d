"""Lets chosen ops read their inputs element by element: no vectors, no tiles, nothing on chip."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect import place_of
from fissile.errors import UsageError
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.analysis.dispatch.structure import Structure, structure_of
from fissile.passes.definition import Contract, Pass, PassFailed, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS

from ..chosen_ops import check_indices
from ..rebuilt_ops import copy_into, discardable_attributes, element_type
from .flat_loops import index_of, make_one_loop, why_not_one_loop


@register_pass
@dataclass(frozen=True)
class ReadByElement(Pass):
    """Replaces the inputs in the bodies of chosen linalg ops by `tensor.extract` at the loops' own indices.

    The slowest way to compute an op and the one that asks least of code generation: IREE vectorises no op that uses its
    loops' indices, promotes none of its operands and fuses no producer into it, so producers become dispatches of their
    own. It is what is left where a target cannot take an op's vectors (64-bit integers on default Vulkan) or where every
    schedule fails. Each element is computed by the same ops, and terms are added up in the order of the loops.

    With ``flat`` the loops that do not reduce become one. SPIR-V gives a convolution of an odd size workgroups of 1x1x64 threads and
    distributes its channels along the one thread in x: each of the 64 computes all of them (default Vulkan, IREE 3.13). One
    loop has all threads beside each other.

    With ``flat-sums`` the loops that reduce become one too: a subgroup adds up over one loop rightly, and over two only the diagonal
    of gathered elements (FIS143).

    Run it after global optimisation: before, IREE turns such reads back into operands. A chosen op without a body, or
    without a tensor to read, is FIS123; with ``flat`` also one with results in different orders.
    """

    name: ClassVar[str] = "fissile-read-by-element"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "arith", "linalg", "tensor")
    contract: ClassVar[Contract] = Contract(requires=(DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS))
    ops: tuple[int, ...] = option((), "indices of the source ops")
    flat: bool = option(False, "make the loops that do not reduce one loop")
    flat_sums: bool = option(False, "make the loops that do not reduce one loop, and those that do another")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if not self.ops:
            raise UsageError(f"{self.name} needs `ops`", f"{self.name}{{ops=3}}")
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        chosen = [known[i] for i in dict.fromkeys(self.ops)]
        if refused := [_refusal(one, why) for one in chosen if (why := self._why_not(one))]:
            raise PassFailed(refused)
        read_by_element(chosen, self.flat or self.flat_sums, self.flat_sums)

    def _why_not(self, op: ir.Operation) -> str:
        return why_not_flat(op, self.flat_sums) if self.flat or self.flat_sums else why_not_by_element(op)


def why_not_by_element(op: ir.Operation) -> str:
    """Why ``op`` cannot read by element; empty where it can."""
    structure = structure_of(op)
    if structure is None:
        return "it has no body"
    if not _tensors(op):
        return "it reads no tensor"
    return ""


def why_not_flat(op: ir.Operation, sums: bool = False) -> str:
    """Why ``op`` cannot read by element in one loop (with ``sums`` and one that reduces); empty where it can."""
    return why_not_by_element(op) or why_not_one_loop(op, sums)


def read_by_element(ops: Iterable[ir.Operation], flat: bool = False, sums: bool = False) -> None:
    """Rewrites ``ops`` in place, for each of which `why_not_by_element` (`why_not_flat`) is empty; they are other operations afterwards."""
    for op in ops:
        make_one_loop(op, sums) if flat else _rewrite(op, structure_of(op))


def _rewrite(op: ir.Operation, structure: Structure) -> None:
    operands = list(op.operands)
    outputs = len(op.results)
    old = op.regions[0].blocks[0]
    with ir.InsertionPoint(op), op.location:
        # The operands stay: loops that no output is indexed by have their extents from them.
        new = linalg.GenericOp(
            [r.type for r in op.results],
            operands[:-outputs],
            operands[-outputs:],
            structure.maps_attribute,
            structure.iterators_attribute,
        )
        for named in discardable_attributes(op):
            new.operation.attributes[named.name] = named.attr
        block = new.regions[0].blocks.append(*[element_type(v.type) for v in operands])
        with ir.InsertionPoint(block):
            loops = [linalg.IndexOp(i).result for i in range(structure.loops)]
            values = dict(zip(old.arguments, block.arguments))
            for position in _tensors(op):
                at = [index_of(result, loops) for result in structure.maps[position].results]
                values[old.arguments[position]] = tensor.extract(operands[position], at)
            for inner in old.operations:
                copy_into(inner.operation, values)
    for result, replacement in zip(list(op.results), new.results):
        result.replace_all_uses_with(replacement)
    op.erase()


def _tensors(op: ir.Operation) -> list[int]:
    """Positions of the inputs that have dimensions."""
    inputs = list(op.operands)[: len(op.operands) - len(op.results)]
    return [i for i, v in enumerate(inputs) if isinstance(v.type, ir.RankedTensorType) and v.type.rank]


def _refusal(op: ir.Operation, why: str) -> Finding:
    place = place_of(op)
    return Finding(
        "FIS123",
        f"{op.name} cannot read by element: {why}",
        subject=op.name,
        places=(place,) if place else (),
    )
