"""Gives the slices of a slab offsets that need less memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.lifetime.packing import Layout, overlapping, pack
from fissile.passes.analysis.lifetime.slabs import Slab, slabs_of
from fissile.passes.checks.storage.slab_size import check_slab
from fissile.passes.definition import Contract, Pass, option, register_pass
from fissile.passes.properties import WELL_FORMED


@register_pass
@dataclass(frozen=True)
class PackTransients(Pass):
    """Packs the transients that IREE allocates in one slab by size and lifetime, where that makes the slab smaller.

    IREE 3.13 gives the transients of a region one stream.resource.pack with the steps in which each slice lives, and places them first fit,
    in the order of the program. This pass decides the offsets before IREE does: it tries several orders and two ways to
    choose a gap, and replaces the op by constants where the slab becomes smaller (FIS311). Two slices share bytes only where
    IREE's own lifetimes say that they never live at once; alignment is IREE's. A slab with a slice of dynamic size stays as it is.

    Run it behind iree-stream-schedule-allocation; `fissile compile --pack-transients` does. With ``only-report`` nothing changes.
    """

    name: ClassVar[str] = "fissile-pack-transients"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "stream", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))
    only_report: bool = option(False, "report what the slabs could be, and change nothing")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for slab in slabs_of(op):
            layout = pack(slab.slices)
            found = check_slab(slab, layout, packed=not self.only_report)
            if found is None:
                continue
            if (shared := overlapping(slab.slices, layout.offsets)) is not None:
                raise AssertionError(f"slices {shared[0]} and {shared[1]} of '{slab.function}' share bytes")
            if not self.only_report:
                _write(slab, layout)
            report(found)


def _write(slab: Slab, layout: Layout) -> None:
    """Constants instead of the results of the slab's op: its size, then the offset of each slice."""
    op, at = slab.op, ir.InsertionPoint(slab.op)
    with op.context, op.location:
        index = ir.IndexType.get()
        for result, number in zip(op.results, (layout.size, *layout.offsets), strict=True):
            value = ir.IntegerAttr.get(index, number)
            constant = ir.Operation.create("arith.constant", [index], attributes={"value": value}, ip=at)
            result.replace_all_uses_with(constant.result)
    op.erase()
