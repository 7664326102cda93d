"""Loads of globals for which IREE takes a value that another path of the program stores.

The host waits for some of the device's results. IREE 3.13 follows each of them to the work of the device that uses it, through stores into
globals to all of their loads (ElideTimepoints), and has that work use the result itself, wherever the result has been computed before the
load. A global that holds something else by then, since the store is in a branch that was not taken or was followed by another one, is
not asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from .accesses import mutable_tensors
from .scheduled_accesses import Access, numbered_accesses


@dataclass(frozen=True)
class ForwardedLoad:
    """``load`` of the global ``name`` has what ``store`` stores, although the global may hold something else."""

    name: str
    load: Access
    store: Access


def candidates(module: ir.Operation, accesses: list[Access]) -> dict[int, ForwardedLoad]:
    """By the position in ``accesses`` (of ``module``, at phase flow): the loads of tensors that the rule would get wrong, if the host waits
    for what is stored."""
    names = mutable_tensors(module)
    found: dict[int, ForwardedLoad] = {}
    for i, load in enumerate(accesses):
        for name in load.accessed.loads & names if len(load.accessed.loads) == 1 else ():
            stores = [
                j
                for j, one in enumerate(accesses)
                if name in one.accessed.stores and _may_reach(j, i, accesses)
            ]
            if stores and not _is_certain(name, i, accesses):
                found[i] = ForwardedLoad(name, load, accesses[stores[0]])
    return found


def _may_reach(store: int, load: int, accesses: list[Access]) -> bool:
    """Whether what is stored may have been computed before the load: it stands before it, or both are in one op with regions."""
    one, other = accesses[store].path, accesses[load].path
    return one[0] == other[0] and (store < load or (one[1] == other[1] and min(len(one), len(other)) > 2))


def _is_certain(name: str, load: int, accesses: list[Access]) -> bool:
    """Whether the load has what the access of the same global before it in the text stored or loaded, however the program runs."""
    path = accesses[load].path
    for before in reversed(accesses[:load]):
        if name not in before.accessed.loads | before.accessed.stores:
            continue
        depth = len(before.path)
        if before.is_call or depth > len(path) or before.path[: depth - 1] != path[: depth - 1]:
            return False
        if before.path[depth - 1][0] != path[depth - 1][0]:
            return False
        around = path[:depth] if depth < len(path) else None
        return around is None or not any(
            name in one.accessed.stores and one.path[:depth] == around for one in accesses
        )
    return False


def device_uses(scheduled: ir.Operation, accesses: Iterable[int]) -> dict[int, int]:
    """How often the device's work in ``scheduled`` (phase stream) uses what each of ``accesses`` loads."""
    found = dict.fromkeys(accesses, 0)
    for number, op in numbered_accesses(scheduled):
        if number in found and op.name == iree_ops.UTIL_GLOBAL_LOAD and not _is_size(op.results[0]):
            found[number] += _uses(op.results[0])
    return found


def _is_size(value: ir.Value) -> bool:
    """Of what the global holds: IREE loads it as well where it does not know it, as behind an optimisation barrier."""
    return isinstance(value.type, ir.IndexType)


def _uses(value: ir.Value) -> int:
    total = 0
    for use in value.uses:
        user = use.owner
        if user.name == iree_ops.STREAM_TIMEPOINT_AWAIT:
            total += sum(
                _uses(result)
                for operand, result in zip(user.operands, user.results, strict=False)
                if operand == value
            )
        elif user.name == iree_ops.STREAM_CMD_EXECUTE:
            total += 1
    return total


def forwarded(
    found: Mapping[int, ForwardedLoad], uses: Mapping[int, int], hidden: Mapping[int, int]
) -> list[ForwardedLoad]:
    """Those of ``found`` that the device uses less often (``uses``) than where IREE cannot follow what is stored (``hidden``)."""
    return [one for i, one in found.items() if uses[i] < hidden[i]]
