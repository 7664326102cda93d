"""Loads and stores of globals that IREE schedules in another order than the program has: seen in the schedule of a clone.

Two modules are compared: one whose dispatches are formed (phase flow), and the same one as it is scheduled (phase stream). Each access, and
each call of a function with some, has its number as location in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.finding import Place

from ..dispatch.provenance import place_of
from ..host.on_host import ops_on_host
from ..program.private_calls import CALLS
from .accesses import ACCESSES, Accesses, GlobalAccesses, mutable_globals

_NUMBER = "fissile-access"


_Path = tuple[tuple[int, int], ...]


def _block(path: _Path) -> tuple[_Path, int]:
    return path[:-1], path[-1][0]


@dataclass(frozen=True)
class Access:
    """``path``: the block and the position in it of each op around the access, from the function on, and of itself."""

    accessed: Accesses
    path: _Path
    place: Place | None
    is_call: bool = False
    late: tuple[bool, ...] = ()
    """For each part of the path whether one of the submissions that `late_ops` asks for stands behind it in its block."""

    def shares_block(self, other: Access) -> bool:
        return _block(self.path) == _block(other.path)

    def is_before(self, other: Access) -> bool:
        """Whether the program has it before ``other``: one of them is in a loop or a branch, or both are in the same block."""
        for (block, position), (other_block, other_position) in zip(self.path, other.path, strict=False):
            if block != other_block:
                return False
            if position != other_position:
                return position < other_position
        return False


@dataclass(frozen=True)
class Reordered:
    """``second`` is scheduled before ``first``; both access the global ``name``."""

    name: str
    first: Access
    second: Access


def number_accesses(module: ir.Operation, submitted: Iterable[ir.Operation] = ()) -> list[Access]:
    """The accesses of mutable globals in ``module``, at phase flow; each has its number as location then, so it is to be a clone.

    ``submitted``: the ops of ``module`` before which `late_ops` asks for a submission."""
    names = mutable_globals(module)
    accesses = GlobalAccesses.of_module(module)
    found: list[Access] = []
    blocks: list[ir.Block] = []
    places = [_path(op, blocks) for op in submitted]
    for op in ops_on_host(module):
        if op.name in (*ACCESSES, *CALLS) and (accessed := accesses.of(op).only(names)):
            path = _path(op, blocks)
            late = tuple(
                any(_block(place) == _block(path[:depth]) and place[-1] > path[depth - 1] for place in places)
                for depth in range(1, len(path) + 1)
            )
            found.append(Access(accessed, path, place_of(op), op.name in CALLS, late))
            op.location = ir.Location.file(_NUMBER, len(found), 1, context=op.context)
    return found


def _path(op: ir.Operation, blocks: list[ir.Block]) -> _Path:
    path: list[tuple[int, int]] = []
    while op.parent is not None:
        block = op.block
        if block not in blocks:
            blocks.append(block)
        position = next(i for i, one in enumerate(block) if one.operation == op)
        path.append((blocks.index(block), position))
        op = op.parent.operation
    return tuple(reversed(path))


def reordered_accesses(scheduled: ir.Operation, accesses: list[Access]) -> list[Reordered]:
    """The pairs of ``accesses`` that are in another order in ``scheduled`` (phase stream) than in the program, if that counts.

    Loops and branches are blocks there, in the order of their ops. A store that is gone although the load behind it is not has been moved
    behind the load, to another store that replaces it; one that is gone although the store before it is not has been moved before that. A load
    that is gone although what is before the store in front of it is not has been moved there.
    """
    found: dict[Reordered, None] = {}
    left: set[int] = set()
    for op in scheduled.regions[0].blocks[0]:
        in_order = _inside(op.operation)
        left.update(number for number, _name in in_order)
        for i, (number, name) in enumerate(in_order):
            one = accesses[number]
            for later_number, later_name in in_order[i + 1 :]:
                later = accesses[later_number]
                if name and later_name and name != later_name:
                    continue  # of the several globals that a tensor becomes each has an order of its own
                if one.accessed.conflict(later.accessed) and later.is_before(one):
                    found[Reordered(_shared(one.accessed, later.accessed), later, one)] = None
    for number in sorted(left):
        load = accesses[number]
        store = _last_store(accesses, load)
        if store is not None and store not in left:
            found[Reordered(min(load.accessed.loads), accesses[store], load)] = None
    for passed, by in _passed_over(accesses, left):
        found[Reordered(min(accesses[by].accessed.loads), accesses[passed], accesses[by])] = None
    for stores in _overwritten(accesses):
        if stores[-1] not in left and (kept := left.intersection(stores)):
            last = accesses[stores[-1]]
            found[Reordered(min(last.accessed.stores), accesses[max(kept)], last)] = None
    return list(found)


def _passed_over(accesses: list[Access], left: set[int]) -> Iterable[tuple[int, int]]:
    """Each store and load of one global, the store late in the load's block, where IREE has made one of the load and an access before the
    store."""
    for i, load in enumerate(accesses):
        if i in left or load.accessed.stores or len(load.accessed.loads) != 1:
            continue
        others = [
            j
            for j, one in enumerate(accesses[:i])
            if _all(one) >= load.accessed.loads and one.is_before(load)
        ]
        before = [j for j in others if accesses[j].shares_block(load)]
        depth = len(load.path)
        for store in others:
            one = accesses[store]
            if not (one.accessed.stores >= load.accessed.loads and _is_late(one, load)):
                continue
            if any(j in left and accesses[j].path[-1] < one.path[depth - 1] for j in before):
                yield store, i
                break


def _is_late(store: Access, load: Access) -> bool:
    depth = len(load.path)
    return (
        len(store.path) >= depth and _block(store.path[:depth]) == _block(load.path) and store.late[depth - 1]
    )


def _all(one: Access) -> frozenset[str]:
    return one.accessed.loads | one.accessed.stores


def _overwritten(accesses: list[Access]) -> Iterable[list[int]]:
    """The positions of two or more stores of the same global in a block, with no access of it between: whichever of them IREE keeps, the
    last one is among them, or it has become an earlier one."""
    stores: list[int] = []
    for name in sorted({name for one in accesses for name in one.accessed.stores}):
        for i, one in enumerate(accesses):
            if name not in one.accessed.loads | one.accessed.stores:
                continue
            is_store = one.accessed == Accesses(stores=frozenset((name,)))
            if is_store and stores and accesses[stores[-1]].shares_block(one):
                stores.append(i)
                continue
            yield from [stores] if len(stores) > 1 else []
            stores = [i] if is_store else []
        yield from [stores] if len(stores) > 1 else []
        stores = []


def _last_store(accesses: list[Access], load: Access) -> int | None:
    """The position of the last access before ``load`` that stores its global, if that is an op of the same block that stores it only."""
    if load.accessed.stores:
        return None
    before = [
        i for i, one in enumerate(accesses) if one.accessed.conflict(load.accessed) and one.is_before(load)
    ]
    if not before:
        return None
    one = accesses[before[-1]]
    is_store = not one.accessed.loads and one.shares_block(load)
    return before[-1] if is_store else None


def _shared(one: Accesses, other: Accesses) -> str:
    return min(one.stores & (other.loads | other.stores) | other.stores & one.loads)


def _inside(op: ir.Operation) -> list[tuple[int, str]]:
    """The number of each access in ``op``, with the global that it is of; no name for a call."""
    return [
        (number, text_of(one, "global") if one.name in ACCESSES else "")
        for number, one in numbered_accesses(op)
    ]


def numbered_accesses(op: ir.Operation) -> list[tuple[int, ir.Operation]]:
    """The position of each access in ``op`` among those that `number_accesses` returned, with the op that it has become there."""
    found: list[tuple[int, ir.Operation]] = []

    def visit(one: ir.Operation) -> ir.WalkResult:
        if one.name in (*ACCESSES, *CALLS):
            found.extend((number, one) for number in _numbers(one.location))
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _numbers(location: ir.Location) -> Iterable[int]:
    """The number of the access; of the outermost call, where the function of the access has been inlined."""
    found = re.findall(rf'"{_NUMBER}":(\d+)', str(location))
    return [int(found[-1]) - 1] if found else []


def replaced_globals(scheduled: ir.Operation, accesses: list[Access]) -> list[tuple[str, str]]:
    """Each global of ``accesses`` that ``scheduled`` does not have, and the one that it accesses instead."""
    names = frozenset(name for one in accesses for name in one.accessed.loads | one.accessed.stores)
    found: dict[tuple[str, str], None] = {}
    for op in scheduled.regions[0].blocks[0]:
        for number, name in _inside(op.operation):
            accessed = accesses[number].accessed
            held = accessed.loads | accessed.stores
            owner = _owner(name, names)
            if owner and len(held) == 1 and owner not in held:
                found[min(held), owner] = None
    return list(found)


def _owner(name: str, names: frozenset[str]) -> str:
    """The global of ``names`` that ``name`` is, or holds the size, the offset or the timepoint of."""
    return max((one for one in names if name == one or name.startswith(f"{one}__")), key=len, default="")
