"""Deallocations on the device that come before a last use: IREE places them, and loses track of storage in loops."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from ..lifetime.explore import Fault, Trouble
from ..lifetime.module import Lifetimes, lifetimes_of


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
