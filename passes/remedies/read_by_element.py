"""Lets chosen ops read their inputs element by element: no vectors, no tiles, nothing on chip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import affine, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect import place_of
from fissile.errors import UsageError
from fissile.finding import Finding
from fissile.passes.analysis.provenance import source_ops
from fissile.passes.analysis.structure import Structure, iterators_attribute, loop_extents, maps_attribute, structure_of
from fissile.passes.definition import Contract, Pass, PassFailed, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS

from .chosen_ops import check_indices
from .rebuilt_ops import copy_into, discardable_attributes, element_type


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

    Run it after global optimisation: before, IREE turns such reads back into operands. A chosen op without a body, or
    without a tensor to read, is FIS123; with ``flat`` also one with loops of dynamic size, or results in different orders.
    """

    name: ClassVar[str] = "fissile-read-by-element"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "linalg", "tensor")
    contract: ClassVar[Contract] = Contract(requires=(DISPATCHES_NOT_FORMED, LINALG_ON_TENSORS))
    ops: tuple[int, ...] = option((), "indices of the source ops")
    flat: bool = option(False, "make the loops that do not reduce one loop")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if not self.ops:
            raise UsageError(f"{self.name} needs `ops`", f"{self.name}{{ops=3}}")
        known = source_ops(op)
        check_indices(self.ops, known, self.name)
        chosen = [known[i] for i in dict.fromkeys(self.ops)]
        if refused := [_refusal(one, why) for one in chosen if (why := (why_not_flat if self.flat else why_not_by_element)(one))]:
            raise PassFailed(refused)
        read_by_element(chosen, self.flat)


def why_not_by_element(op: ir.Operation) -> str:
    """Why ``op`` cannot read by element; empty where it can."""
    structure = structure_of(op)
    if structure is None:
        return "it has no body"
    if not _tensors(op):
        return "it reads no tensor"
    return ""


def why_not_flat(op: ir.Operation) -> str:
    """Why ``op`` cannot read by element in one loop; empty where it can."""
    if why := why_not_by_element(op):
        return why
    structure = structure_of(op)
    results = structure.maps[-len(op.results):]
    if any(m != results[0] for m in results) or not results[0].is_projected_permutation:
        return "its results are indexed in different orders"
    if len(results[0].results) != structure.parallel.count(True) or len(results[0].results) < 2:
        return "it has one loop already"
    return "its loops are of dynamic size" if None in loop_extents(op, structure) else ""


def read_by_element(ops: Iterable[ir.Operation], flat: bool = False) -> None:
    """Rewrites ``ops`` in place, for each of which `why_not_by_element` (`why_not_flat`) is empty; they are other operations afterwards."""
    for op in ops:
        (_flatten if flat else _rewrite)(op, structure_of(op))


def _flatten(op: ir.Operation, structure: Structure) -> None:
    operands, count, extents = list(op.operands), len(op.results), loop_extents(op, structure)
    order = [ir.AffineDimExpr(r).position for r in structure.maps[-1].results]
    summed = [loop for loop, parallel in enumerate(structure.parallel) if not parallel]
    groups = [list(range(len(order)))]
    with ir.InsertionPoint(op), op.location:
        inits = [tensor.collapse_shape(ir.RankedTensorType.get([prod(extents[i] for i in order)], v.type.element_type), v, groups)
                 for v in operands[-count:]]
        # Only a shape: the sum's loops have their extents from it.
        sizes = tensor.EmptyOp([extents[i] for i in summed], ir.F32Type.get()).result
        inner = [ir.AffineDimExpr.get(1 + i) for i in range(len(summed))]
        maps = [ir.AffineMap.get(1 + len(summed), 0, inner), *[ir.AffineMap.get(1 + len(summed), 0, [ir.AffineDimExpr.get(0)])] * count]
        new = linalg.GenericOp([v.type for v in inits], [sizes], inits, maps_attribute(maps),
                               iterators_attribute([True, *[False] * len(summed)]))
        old = op.regions[0].blocks[0]
        block = new.regions[0].blocks.append(ir.F32Type.get(), *[element_type(v.type) for v in inits])
        with ir.InsertionPoint(block):
            loops = _loops_of_one(order, summed, extents)
            values = dict(zip(list(old.arguments)[-count:], list(block.arguments)[-count:], strict=True))
            for position, value in enumerate(operands[:-count]):
                if isinstance(value.type, ir.RankedTensorType):
                    at = [_index(result, loops) for result in structure.maps[position].results]
                    value = tensor.extract(value, at)
                values[old.arguments[position]] = value
            for inner_op in [o.operation for o in old.operations]:
                if inner_op.name == "linalg.index":
                    values[inner_op.results[0]] = loops[ir.IntegerAttr(inner_op.attributes["dim"]).value]
                else:
                    copy_into(inner_op, values)
        shape = [extents[i] for i in order]
        whole = [tensor.expand_shape(old_result.type, result, groups, [], shape)
                 for old_result, result in zip(op.results, new.operation.results, strict=True)]
    for result, replacement in zip(list(op.results), whole, strict=True):
        result.replace_all_uses_with(replacement)
    op.erase()


def _loops_of_one(order: list[int], summed: list[int], extents: Sequence[int]) -> list[ir.Value]:
    """The indices of an op's loops from those of its flat form: one for those in ``order``, then those that are ``summed``."""
    at, stride = {}, 1
    flat = linalg.IndexOp(0).result
    for loop in reversed(order):
        place = ir.AffineExpr.get_floor_div(ir.AffineDimExpr.get(0), stride) % extents[loop]
        at[loop] = affine.apply(ir.AffineMap.get(1, 0, [place]), [flat])
        stride *= extents[loop]
    at |= {loop: linalg.IndexOp(1 + i).result for i, loop in enumerate(summed)}
    return [at[loop] for loop in range(len(extents))]


def _rewrite(op: ir.Operation, structure: Structure) -> None:
    operands = list(op.operands)
    outputs = len(op.results)
    old = op.regions[0].blocks[0]
    with ir.InsertionPoint(op), op.location:
        # The operands stay: loops that no output is indexed by have their extents from them.
        new = linalg.GenericOp([r.type for r in op.results], operands[:-outputs], operands[-outputs:],
                               structure.maps_attribute, structure.iterators_attribute)
        for named in discardable_attributes(op):
            new.operation.attributes[named.name] = named.attr
        block = new.regions[0].blocks.append(*[element_type(v.type) for v in operands])
        with ir.InsertionPoint(block):
            loops = [linalg.IndexOp(i).result for i in range(structure.loops)]
            values = dict(zip(old.arguments, block.arguments))
            for position in _tensors(op):
                at = [_index(result, loops) for result in structure.maps[position].results]
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


def _index(expression: ir.AffineExpr, loops: list[ir.Value]) -> ir.Value:
    if isinstance(expression, ir.AffineDimExpr):
        return loops[expression.position]
    return affine.apply(ir.AffineMap.get(len(loops), 0, [expression]), loops)


def _refusal(op: ir.Operation, why: str) -> Finding:
    place = place_of(op)
    return Finding("FIS123", f"{op.name} cannot read by element: {why}", subject=op.name, places=(place,) if place else ())
