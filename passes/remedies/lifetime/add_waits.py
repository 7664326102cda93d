"""Has command buffers wait for the storage that they use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.dropped_waits import DroppedWait, dropped_waits
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

_SEGMENTS = "operandSegmentSizes"


@register_pass
@dataclass(frozen=True)
class AddWaits(Remedy):
    """Adds to what a `stream.cmd.execute` waits for the allocation of the storage that it uses, and what writes into it (FIS194).

    Run it after phase stream.
    """

    name: ClassVar[str] = "fissile-add-waits"
    cures: ClassVar[tuple[str, ...]] = ("FIS194",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "has command buffers wait for the storage that they use (after phase stream)"
    repairs: ClassVar[str] = (
        "command buffers that may begin before what they read is there: a call fails, or the numbers depend on timing (FIS194)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "had the command buffer wait for the storage that it uses"
    advice: ClassVar[str] = "have the command buffer wait for the storage that it uses"
    dialects: ClassVar[tuple[str, ...]] = ("stream",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        while found := dropped_waits(op):
            _wait(found[0])  # may make the op anew whose timepoint the next one lacks


def _wait(one: DroppedWait) -> None:
    execute = one.execute
    awaited = [value for value in execute.operands if str(value.type) == iree_ops.TIMEPOINT_TYPE]
    with ir.InsertionPoint(execute), execute.location:
        joined = _joined([*awaited, *one.timepoints])
        if awaited:
            execute.operands[len(execute.operands) - 1] = joined
        else:
            _with_timepoint(execute, joined)


def _joined(timepoints: list[ir.Value]) -> ir.Value:
    if len(timepoints) == 1:
        return timepoints[0]
    return ir.Operation.create(iree_ops.STREAM_TIMEPOINT_JOIN, [timepoints[0].type], timepoints).results[0]


def _with_timepoint(execute: ir.Operation, timepoint: ir.Value) -> None:
    """Makes ``execute`` anew, with the operand that it has not: the last one, of the last of its groups."""
    segments = list(ir.DenseI32ArrayAttr(execute.attributes[_SEGMENTS]))
    attributes = {name: execute.attributes[name] for name in execute.attributes if name != _SEGMENTS}
    attributes[_SEGMENTS] = ir.DenseI32ArrayAttr.get([*segments[:-1], 1])
    made = ir.Operation.create(
        execute.name,
        [result.type for result in execute.results],
        [*execute.operands, timepoint],
        attributes=attributes,
        regions=1,
    )
    execute.regions[0].blocks[0].append_to(made.regions[0])
    for old, new in zip(execute.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    execute.erase()
