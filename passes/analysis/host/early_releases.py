"""Deallocations on the device that come before a last use: IREE places them, and loses track of storage in loops."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.iree import ops as iree_ops

from ..lifetime.explore import Fault, Trouble
from ..lifetime.joins import Entry, joins_of
from ..lifetime.module import Lifetimes, lifetimes_of
from ..program.devices import has_device
from ..program.private_calls import FUNCTIONS

_SAME = ("arith.select", iree_ops.STREAM_TIMEPOINT_AWAIT, iree_ops.UTIL_OPTIMIZATION_BARRIER)
"""Ops whose results are storage among their operands, under another name."""


@dataclass(frozen=True)
class EarlyRelease:
    """``release`` deallocates storage that ``trouble`` says is used, or released, behind it; both in ``seen``."""

    release: ir.Operation
    seen: Lifetimes
    trouble: Trouble


def early_releases(module: ir.Operation) -> list[EarlyRelease]:
    """One for each such deallocation of ``module``, at a phase after its work is scheduled, in program order.

    IREE 3.13 counts the references to storage as it schedules it (AutomaticReferenceCounting). Where a loop passes one piece of
    storage on beside another, or keeps it in two places, it releases it with one of them. What the caller owns is left alone: the
    runtime does not free it.
    """
    found: dict[ir.Operation, EarlyRelease] = {}
    for seen in lifetimes_of(module):
        for trouble in seen.walk.troubles:
            made = seen.flow.steps[trouble.made].op
            if made is None or made.name != iree_ops.STREAM_RESOURCE_ALLOCA:
                continue
            number = trouble.other if trouble.fault in (Fault.AFTER, Fault.TWICE) else None
            release = seen.flow.steps[number].op if number is not None else None
            if (
                release is not None
                and release.name == iree_ops.STREAM_RESOURCE_DEALLOCA
                and release not in found
            ):
                found[release] = EarlyRelease(release, seen, trouble)
    return list(found.values())


def released_parts(module: ir.Operation) -> list[ir.Operation]:
    """The deallocations of ``module``, at a phase after its work is scheduled, whose storage may be a part of a buffer, in program order.

    IREE 3.13 deallocates what a loop passes on, also where it comes from a slab that is passed on in parts. The Vulkan runtime ends the call
    then ("buffer was not returned by Vulkan queue_alloca"); another one ignores it.
    """
    if not has_device(module, "vulkan"):
        return []
    found = []
    for function in module.regions[0].blocks[0].operations:
        if function.operation.name not in FUNCTIONS:
            continue
        releases = ops_of(function.operation, iree_ops.STREAM_RESOURCE_DEALLOCA)
        joins = joins_of(function.operation) if releases else {}
        found += [op for op in releases if any(_may_be_part(value, joins) for value in op.operands)]
    return found


def _may_be_part(value: ir.Value, joins: dict[ir.Value, list[Entry]]) -> bool:
    pending, seen = [value], set[ir.Value]()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        pending += [entry.value for entry in joins.get(one, ())]
        if isinstance(one.owner, ir.Block):
            continue
        op = one.owner.operation
        if op.name == iree_ops.STREAM_RESOURCE_SUBVIEW:
            return True
        if op.name in _SAME:
            pending += [operand for operand in op.operands if operand.type == one.type]
    return False
