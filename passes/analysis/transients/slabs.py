"""Which slabs does a module allocate for transients, which slices stand in each, and how large does IREE make it?

Read between two of IREE's passes: one gives all transients of a region one `stream.resource.pack` with their lifetimes, the next one
decides the offsets. Slices of constant size it places first fit, in the order of the program; of the others, those share bytes that have the
same size and never live at once (LayoutSlices.cpp). Alignment and constant sizes are those that IREE's own pass chooses, on a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.dialect import ops_of
from fissile.dialect.attributes import text_of
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.pipelines import LAYOUT_OF_SLICES

from ..dispatch.dispatches import constant_of
from .monomials import Monomial, monomial
from .packing import Slice, aligned

PACK, BARRIER = iree_ops.STREAM_RESOURCE_PACK, iree_ops.UTIL_OPTIMIZATION_BARRIER


@dataclass(frozen=True)
class Part:
    """Slices of one slab whose sizes are multiples of one ``unit``, a product of values; that of constants is empty.

    ``members`` are their numbers in the slab. Sizes, and ``stock``, what IREE gives the part, are in bytes times the unit.
    """

    unit: tuple[ir.Value, ...]
    members: tuple[int, ...]
    slices: tuple[Slice, ...]
    stock: int


@dataclass(frozen=True)
class Slab:
    """``op`` is the stream.resource.pack, ``alignment`` that of its offsets. What no part holds has a size of another form."""

    op: ir.Operation
    function: str
    parts: tuple[Part, ...]
    alignment: int


def slabs_of(module: ir.Operation) -> list[Slab]:
    """The slabs of ``module``, in program order."""
    packs = [op for op in ops_of(module, PACK) if view_of(op).offset is None]
    found = []
    for op, (alignment, stock) in zip(packs, _as_iree_lays_out(module, packs), strict=True):
        found.append(Slab(op, _function(op), _parts(op, alignment, stock), alignment))
    return found


def lives_of(op: ir.Operation) -> list[tuple[int, int]]:
    """The first and last step of each slice of a stream.resource.pack."""
    steps = [int(n) for n in view_of(op).lifetime_intervals]
    return list(zip(steps[::2], steps[1::2], strict=True))


def _parts(op: ir.Operation, alignment: int, stock: int) -> tuple[Part, ...]:
    """A multiple of a unit that is not known is aligned wherever its factor is; one whose factor is not is left out."""
    members: dict[tuple[ir.Value, ...], list[tuple[int, Slice]]] = {}
    for number, (size, (first, last)) in enumerate(
        zip(map(monomial, view_of(op).dynamic_slice_sizes), lives_of(op), strict=True)
    ):
        factor = size.factor if size.unit else aligned(size.factor, alignment)
        if factor > 0 and factor % alignment == 0:
            members.setdefault(size.unit, []).append((number, Slice(first, last, factor)))
    parts = []
    for unit, held in members.items():
        slices = tuple(one for _, one in held)
        parts.append(
            Part(unit, tuple(n for n, _ in held), slices, _shared_by_size(slices) if unit else stock)
        )
    return tuple(parts)


def _shared_by_size(slices: Sequence[Slice]) -> int:
    """What IREE gives slices whose sizes the program computes: room is shared by those of one size that never live at once."""
    rooms: list[list[Slice]] = []
    for one in slices:
        free = (r for r in rooms if r[0].size == one.size and not any(one.meets(other) for other in r))
        room = next(free, None)
        if room is None:
            rooms.append([one])
        else:
            room.append(one)
    return sum(room[0].size for room in rooms)


def _as_iree_lays_out(module: ir.Operation, packs: list[ir.Operation]) -> list[tuple[int, int]]:
    """(alignment, bytes for the slices of constant size) of each of ``packs``. Where two slices of one byte are packed beside a
    slab, the second one's offset is the alignment."""
    if not packs:
        return []
    every = ops_of(module, PACK)
    wanted = [i for i, op in enumerate(every) if op in packs]
    copy = module.operation.clone()
    copies = [ops_of(copy, PACK)[i] for i in wanted]
    held = []
    for op in copies:
        sizes = [monomial(size) for size in view_of(op).dynamic_slice_sizes]
        constant = [(s, life) for s, life in zip(sizes, lives_of(op), strict=True) if not s.unit]
        beside = _pack_beside(op, [(Monomial(1, ()), (0, 0))] * 2)
        alone = _pack_beside(op, constant)
        values = [beside.results[1], beside.results[2], alone.results[0]]
        with op.context, op.location:
            index = ir.IndexType.get()
            held.append(ir.Operation.create(BARRIER, [index] * 3, values, ip=ir.InsertionPoint(op)))
    PassManager.parse(LAYOUT_OF_SLICES, context=copy.context).run(copy)
    read = []
    for barrier in held:
        numbers = [constant_of(value) for value in barrier.operands]
        if any(number is None for number in numbers):
            raise ValueError("IREE laid out a slab of constant sizes at offsets that are not constant")
        first, second, size = (int(number or 0) for number in numbers)
        read.append((max(abs(second - first), 1), size))
    return read


def _pack_beside(op: ir.Operation, slices: Sequence[tuple[Monomial, tuple[int, int]]]) -> ir.Operation:
    """A stream.resource.pack of slices of constant size, with the affinity of ``op`` and in front of it."""
    at = ir.InsertionPoint(op)
    with op.context, op.location:
        index = ir.IndexType.get()
        sizes = [
            ir.Operation.create(
                "arith.constant", [index], attributes={"value": ir.IntegerAttr.get(index, size.factor)}, ip=at
            ).result
            for size, _ in slices
        ]
        attributes = {name: op.attributes[name] for name in op.attributes if name == "affinity"}
        steps = [ir.IntegerAttr.get(index, step) for _, life in slices for step in life]
        attributes["lifetime_intervals"] = ir.ArrayAttr.get(steps)
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([0, len(sizes)])
        return ir.Operation.create(PACK, [index] * (len(sizes) + 1), sizes, attributes=attributes, ip=at)


def _function(op: ir.Operation) -> str:
    around = op.parent
    while around is not None and "sym_name" not in around.operation.attributes:
        around = around.operation.parent
    return text_of(around.operation, "sym_name") if around is not None else ""
