"""Which slabs does a module allocate for transients, which slices stand in each, and how large does IREE make it?

Read between two of IREE's passes: one gives all transients of a region one `stream.resource.pack` with their lifetimes, the next one
decides the offsets (first fit, in the order of the program). Alignment and size are those that IREE's own pass chooses, on a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.dialect import ops_of
from fissile.passes.iree.pipelines import LAYOUT_OF_SLICES

from ..dispatch.dispatches import constant_of
from .packing import Slice, aligned

PACK, BARRIER = "stream.resource.pack", "util.optimization_barrier"


@dataclass(frozen=True)
class Slab:
    """``op`` is the stream.resource.pack. ``stock_bytes`` is the size that IREE gives the slab, ``alignment`` that of its offsets."""

    op: ir.Operation
    function: str
    slices: tuple[Slice, ...]
    alignment: int
    stock_bytes: int


def slabs_of(module: ir.Operation) -> list[Slab]:
    """The slabs whose slices all have constant sizes, in program order."""
    found = []
    packs = [op for op in ops_of(module, PACK) if _sizes(op) is not None and op.opview.offset is None]
    for op, (alignment, stock) in zip(packs, _as_iree_lays_out(module, packs), strict=True):
        sizes, intervals = _sizes(op) or [], [int(n) for n in op.opview.lifetime_intervals]
        slices = tuple(
            Slice(first, last, aligned(size, alignment))
            for first, last, size in zip(intervals[::2], intervals[1::2], sizes, strict=True)
        )
        found.append(Slab(op, _function(op), slices, alignment, stock))
    return found


def _sizes(op: ir.Operation) -> list[int] | None:
    sizes = [constant_of(value) for value in op.opview.dynamic_slice_sizes]
    return None if any(size is None for size in sizes) else [size for size in sizes if size is not None]


def _as_iree_lays_out(module: ir.Operation, packs: list[ir.Operation]) -> list[tuple[int, int]]:
    """(alignment, size of the slab) of each of ``packs``. Where two slices of one byte are packed beside a slab, the second
    one's offset is the alignment."""
    if not packs:
        return []
    every = ops_of(module, PACK)
    wanted = [i for i, op in enumerate(every) if op in packs]
    copy = module.operation.clone()
    copies = [ops_of(copy, PACK)[i] for i in wanted]
    held = []
    for op in copies:
        at = ir.InsertionPoint(op)
        with op.context, op.location:
            index = ir.IndexType.get()
            one = ir.Operation.create(
                "arith.constant", [index], attributes={"value": ir.IntegerAttr.get(index, 1)}, ip=at
            ).result
            attributes = {name: op.attributes[name] for name in op.attributes if name == "affinity"}
            attributes["lifetime_intervals"] = ir.ArrayAttr.get(
                [ir.IntegerAttr.get(index, n) for n in (0, 0, 0, 0)]
            )
            attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([0, 2])
            beside = ir.Operation.create(PACK, [index] * 3, [one, one], attributes=attributes, ip=at)
            values = [beside.results[1], beside.results[2], op.results[0]]
            after = ir.InsertionPoint.after(op)
            held.append(ir.Operation.create(BARRIER, [index] * 3, values, ip=after))
    PassManager.parse(LAYOUT_OF_SLICES, context=copy.context).run(copy)
    read = []
    for barrier in held:
        numbers = [constant_of(value) for value in barrier.operands]
        if any(number is None for number in numbers):
            raise ValueError("IREE laid out a slab of constant sizes at offsets that are not constant")
        first, second, size = (int(number or 0) for number in numbers)
        read.append((max(abs(second - first), 1), size))
    return read


def _function(op: ir.Operation) -> str:
    around = op.parent
    while around is not None and "sym_name" not in around.operation.attributes:
        around = around.operation.parent
    return ir.StringAttr(around.operation.attributes["sym_name"]).value if around is not None else ""
