"""Gives the slices of a slab offsets that need less memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.dialect.views import view_of
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import constant_of
from fissile.passes.analysis.transients.packing import Layout, overlapping, pack
from fissile.passes.analysis.transients.slabs import PACK, Part, Slab, lives_of, slabs_of
from fissile.passes.checks.storage.slab_size import check_slab
from fissile.passes.definition import Contract, Pass, option, register_pass
from fissile.passes.properties import WELL_FORMED


@register_pass
@dataclass(frozen=True)
class PackTransients(Pass):
    """Packs the transients that IREE allocates in one slab by size and lifetime, where that makes the slab smaller.

    IREE 3.13 gives the transients of a region one stream.resource.pack with the steps in which each slice lives. Slices of constant size
    it places first fit, in the order of the program; of the others only those of one size share bytes. This pass decides the offsets
    before IREE does, separately for constants and for the multiples of each computed value: it tries several orders and two ways to
    choose a gap, and writes its own offsets where a part becomes smaller (FIS311). Two slices share bytes only where IREE's own
    lifetimes say that they never live at once; alignment is IREE's. A size that is no such multiple stays with IREE.

    Run it behind iree-stream-schedule-allocation; `fissile compile --pack-transients` does. With ``only-report`` nothing changes.
    """

    name: ClassVar[str] = "fissile-pack-transients"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "stream", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))
    only_report: bool = option(False, "report what the slabs could be, and change nothing")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for slab in slabs_of(op):
            smaller: list[tuple[Part, Layout]] = []
            for part in slab.parts:
                layout = pack(part.slices)
                found = check_slab(slab, part, layout, packed=not self.only_report)
                if found is None:
                    continue
                if (shared := overlapping(part.slices, layout.offsets)) is not None:
                    raise AssertionError(
                        f"slices {shared[0]} and {shared[1]} of '{slab.function}' share bytes"
                    )
                smaller.append((part, layout))
                report(found)
            if smaller and not self.only_report:
                _write(slab, smaller)


def _write(slab: Slab, packed: Sequence[tuple[Part, Layout]]) -> None:
    """Offsets instead of the results of the slab's op: part behind part, then what is left to IREE in a slab of its own."""
    op = slab.op
    with op.context, op.location, ir.InsertionPoint(op):
        base = arith.constant(ir.IndexType.get(), 0)
        for part, layout in packed:
            for number, offset in zip(part.members, layout.offsets, strict=True):
                op.results[1 + number].replace_all_uses_with(_sum(base, _times(offset, part.unit)))
            base = _sum(base, _times(layout.size, part.unit))
        mine = {number for part, _ in packed for number in part.members}
        rest = [number for number in range(len(op.results) - 1) if number not in mine]
        if rest:
            left = _pack_behind(op, base, rest)
            for result, number in zip(left.results[1:], rest, strict=True):
                op.results[1 + number].replace_all_uses_with(result)
            base = left.results[0]
        op.results[0].replace_all_uses_with(base)
    op.erase()


def _times(factor: int, unit: Sequence[ir.Value]) -> ir.Value:
    product = arith.constant(ir.IndexType.get(), factor)
    for value in unit if factor else ():
        product = arith.muli(product, value)
    return product


def _sum(base: ir.Value, more: ir.Value) -> ir.Value:
    if constant_of(base) == 0:
        return more
    return base if constant_of(more) == 0 else arith.addi(base, more)


def _pack_behind(op: ir.Operation, base: ir.Value, members: Sequence[int]) -> ir.Operation:
    """A stream.resource.pack of some slices of ``op``, which begin at ``base``; its size includes what stands before it."""
    view, lives = view_of(op), lives_of(op)
    index = ir.IndexType.get()
    sizes = [view.dynamic_slice_sizes[number] for number in members]
    attributes = {name: op.attributes[name] for name in op.attributes if name == "affinity"}
    steps = [ir.IntegerAttr.get(index, step) for number in members for step in lives[number]]
    attributes["lifetime_intervals"] = ir.ArrayAttr.get(steps)
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, len(sizes)])
    return ir.Operation.create(PACK, [index] * (len(sizes) + 1), [base, *sizes], attributes=attributes)
