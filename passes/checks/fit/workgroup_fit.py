"""Does a dispatch fit the on-chip memory of its target?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.effect import Effect
from fissile.finding import Finding, Ledger, LedgerLine, Limit, Place
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.kernel.evidence import Evidence
from fissile.passes.analysis.memory.footprint import PRIVATE, STACK, WORKGROUP, Allocation, Footprint
from fissile.passes.failures.failure import memory_failure
from fissile.quantity import total
from fissile.rules import RULES
from fissile.target import Claim, device_claim

from ..dispatch_places import labelled, root_of, root_places

IREE_DEFAULT_STACK_BYTES = 32 * 1024
"""LLVMCPUCheckIRBeforeLLVMConversion, IREE 3.13, where the target attribute states no limit."""


def space_of(dispatch: Dispatch) -> str:
    """The on-chip memory that the target of ``dispatch`` is short of: stack or workgroup memory."""
    return STACK if dispatch.target.backend == "llvm-cpu" else WORKGROUP


def limit_of(dispatch: Dispatch, instead: Limit | None = None) -> Limit | None:
    """The limit of ``dispatch``: ``instead`` (a queried device, `--budget`), IREE's, or the device's own where that is smaller, and not more
    than the budget that the program states; None where its target has none (VMVX)."""
    limit = instead or _limit_of_target(dispatch)
    if limit is None or dispatch.budget is None or dispatch.budget >= limit.bytes:
        return limit
    return Limit(dispatch.budget, limit.per, f"fissile.budget of the program; {limit.source}")


def _limit_of_target(dispatch: Dispatch) -> Limit | None:
    target = dispatch.target
    if target.workgroup_bytes is not None:
        if (device := stricter_device(dispatch)) is not None:
            source = f"{device.source}; IREE's target attribute says {target.workgroup_bytes}"
            return Limit(device.bytes, "workgroup", source)
        return Limit(
            target.workgroup_bytes, "workgroup", f"{target.name}, IREE's target attribute; device not queried"
        )
    if target.backend == "llvm-cpu":
        stated = target.stack_bytes
        source = "llvm-cpu, IREE's target attribute" if stated is not None else "llvm-cpu, IREE's default"
        return Limit(stated if stated is not None else IREE_DEFAULT_STACK_BYTES, "stack frame", source)
    return None


def stricter_device(dispatch: Dispatch) -> Claim | None:
    """What the device of ``dispatch`` has, where IREE's target attribute allows more: IREE builds what cannot be loaded."""
    allowed, device = (
        dispatch.target.workgroup_bytes,
        device_claim(dispatch.target.backend, dispatch.target.arch),
    )
    return device if device is not None and allowed is not None and device.bytes < allowed else None


def exceeding(dispatch: Dispatch, footprint: Footprint, limit: Limit | None, code: str) -> Evidence | None:
    """The buffers, where they exceed the limit, or may, and ``code`` is the failure that this is.

    ``limit`` stands in for IREE's own (`limit_of`): a vendor's figure, a queried device, a budget.
    """
    limit = limit_of(dispatch, limit)
    space = space_of(dispatch)
    spaces = (space,) if space == STACK else (space, PRIVATE)
    buffers = tuple(a for a in footprint.allocations if a.space in spaces)
    if limit is None or not buffers:
        return None
    exceeds = total(a.bytes for a in buffers).exceeds(limit.bytes)
    if exceeds is False or code != memory_failure(space, exceeds is not None).code:
        return None
    return Evidence(buffers, limit=limit)


def check_fit(dispatch: Dispatch, code: str, evidence: Evidence, ops: Sequence[SourceOp]) -> Finding:
    """A finding under rule ``code`` about the buffers of ``evidence`` and the limit that they exceed, or may exceed."""
    limit, buffers = evidence.limit, evidence.buffers
    assert limit is not None
    needed = total(a.bytes for a in buffers).value
    memory = "stack" if space_of(dispatch) == STACK else "workgroup memory"
    has = allowance(dispatch, limit)
    if any(a.space == PRIVATE for a in buffers):
        headline = "each thread of the dispatch allocates memory of unknown size"
    elif needed is None:
        headline = f"dispatch allocates {memory} of unknown size; {has} bytes"
    else:
        headline = f"dispatch needs {needed} bytes of {memory}; {has}"
    return Finding(
        code,
        headline,
        subject=dispatch.name,
        target=dispatch.target.name,
        places=_places(dispatch, buffers, ops),
        ledger=Ledger.of(LedgerLine(a.bytes, _value(a, ops), _reason(a, ops)) for a in buffers),
        limit=limit,
        stock=evidence.message,
        effect=effect_of(code, dispatch, limit, needed),
    )


def allowance(dispatch: Dispatch, limit: Limit) -> str:
    """Who sets ``limit``, with the bytes."""
    return f"{'the program allows' if _is_budget(dispatch, limit) else f'{dispatch.target.name} has'} {limit.bytes}"


def effect_of(code: str, dispatch: Dispatch, limit: Limit, needed: int | None) -> Effect:
    """That of the rule ``code``; a budget of the program is nothing to stock IREE, which builds what fits the target."""
    target = _limit_of_target(dispatch)
    if not _is_budget(dispatch, limit) or needed is None or target is None or needed > target.bytes:
        return RULES[code].effect
    return Effect.NONE


def _is_budget(dispatch: Dispatch, limit: Limit) -> bool:
    return dispatch.budget == limit.bytes


def _owner(allocation: Allocation, ops: Sequence[SourceOp]) -> SourceOp | None:
    """The source op that a buffer belongs to: by tag, else by the place in the source."""
    for tag in allocation.tags:
        if tag < len(ops):
            return ops[tag]
    for op in ops:
        if allocation.place is not None and op.place == allocation.place:
            return op
    return None


def _value(allocation: Allocation, ops: Sequence[SourceOp]) -> str:
    owner = _owner(allocation, ops)
    if owner is None:
        return allocation.type
    return f"{owner.name or owner.op} {allocation.type}"


def _reason(allocation: Allocation, ops: Sequence[SourceOp]) -> str:
    owner = _owner(allocation, ops)
    if owner is None:
        return "temporary"
    if _holds_all(allocation.type, owner.type):
        return "whole tensor, no tile reaches it"
    return "tile"


def _holds_all(buffer: str, tensor: str) -> bool:
    """Whether a buffer has the elements of the whole tensor, unit dimensions aside."""

    def sizes(text: str) -> list[str]:
        return [part for part in text.split("x")[:-1] if part != "1"]

    return sizes(buffer) == sizes(tensor)


def _places(dispatch: Dispatch, buffers: Sequence[Allocation], ops: Sequence[SourceOp]) -> tuple[Place, ...]:
    """The value to blame first (the largest buffer's), the root of the dispatch second."""
    places: list[Place] = []
    blamed = max(buffers, key=lambda a: a.bytes.value if a.bytes.value is not None else float("inf"))
    owner = _owner(blamed, ops)
    at = (owner.place if owner else None) or blamed.place
    root = root_of(dispatch, ops)
    if at is not None and at != root:
        whole = owner is not None and _holds_all(blamed.type, owner.type)
        label = (
            "fused into the dispatch: kept on chip as a whole"
            if whole
            else "fused into the dispatch: its tile is kept on chip"
        )
        places += labelled(at, label)
    places += root_places(dispatch, ops)
    return tuple(places)
