"""Storage that changes hands at a function's borders: what leaves with a tensor on every path, and what a function takes for good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from iree.compiler import ir

from fissile.passes.analysis.bounds.shaped_values import is_argument

from . import kinds
from .aliases import same_storage
from .joins import ONCE, Entry
from .regions import is_end


@dataclass(frozen=True)
class SameAs:
    """A result that names storage which the caller gets as result ``number``, too."""

    number: int


def handed_on(
    returns: Sequence[ir.Operation],
    owner_of: Callable[[ir.Value], ir.Value | None],
    is_whole: Callable[[ir.Value], bool],
) -> tuple[dict[int, frozenset[SameAs] | None], set[ir.Value]]:
    """Of the results of a function that ends with ``returns``, those whose storage the caller owns then, and owners that it does not know.

    Two results may be one piece of storage: then one of them owns it, a whole name of it if there is one, and the other is the same (`SameAs`).
    Where that depends on the path, or where other paths return storage of others, the caller cannot know what to release.
    ``owner_of`` a value: None where it is not owned here.
    """
    owners = {
        at: [owner_of(op.operands[at]) for op in returns]
        for at in range(min((len(op.operands) for op in returns), default=0))
    }
    unknown: set[ir.Value] = set()
    while True:
        owned = {
            at: [owner for owner in held if owner is not None and owner not in unknown]
            for at, held in owners.items()
        }
        owned = {at: held for at, held in owned.items() if len(held) == len(returns)}
        lost = set(owners) - set(owned)
        together = {at: [at] for at in owned}
        for one, other in combinations(owned, 2):
            same = [a == b for a, b in zip(owned[one], owned[other], strict=True)]
            if all(same):
                together[one].append(other)
                together[other].append(one)
            elif any(same):
                lost |= {one, other}
        more = {owner for at in lost for owner in owners[at] if owner is not None} - unknown
        if not more:
            break
        unknown |= more
    found: dict[int, frozenset[SameAs] | None] = {}
    for at, group in together.items():
        whole = (one for one in sorted(group) if all(is_whole(op.operands[one]) for op in returns))
        first = next(whole, min(group))
        found[at] = None if first == at else frozenset([SameAs(first)])
    return found, unknown


def of_call(op: ir.Operation, part: int | SameAs | None) -> ir.Value | None:
    """What a part of `Ownership.results` is where ``op`` calls the function; None for storage from elsewhere."""
    if part is None:
        return None
    return op.results[part.number] if isinstance(part, SameAs) else op.operands[part]


def leaving_tensors(tensors: Mapping[ir.Value, list[Entry]]) -> set[ir.Value]:
    """Those results of branches in ``tensors`` that leave the function, returned or stored, whenever the branch has run.

    Storage under such a name is given away by the branch that yields it; on the other paths it has to be released before.
    """
    known: dict[ir.Value, bool] = {}

    def leaves(value: ir.Value) -> bool:
        if value not in known:
            known[value] = False
            known[value] = not is_argument(value) and any(map(gone_with, _names_beside(value)))
        return known[value]

    def gone_with(name: ir.Value) -> bool:
        for use in name.uses:
            op = use.owner.operation
            if op.block != name.owner.operation.block:
                continue
            if op.name in kinds.RETURNS or kinds.stores(op):
                return True
            around = op.parent.operation
            if around.name in ONCE and is_end(op) and use.operand_number < len(around.results):
                if leaves(around.results[use.operand_number]):
                    return True
        return False

    return {value for value in tensors if not is_argument(value) and _is_of_branch(value) and leaves(value)}


def _is_of_branch(value: ir.Value) -> bool:
    return value.owner.operation.name in ONCE


def _names_beside(value: ir.Value) -> list[ir.Value]:
    """``value`` and its other names in the same block."""
    found = [value]
    for name in found:
        for use in name.uses:
            op = use.owner.operation
            if op.block == value.owner.operation.block:
                found += [new for new, old in same_storage(op) if old == name and new not in found]
    return found


def released_arguments(function: ir.Operation, ops: Iterable[ir.Operation]) -> frozenset[int]:
    """The numbers of the arguments that ``function`` itself releases."""
    numbers = {a: n for n, a in enumerate(function.regions[0].blocks[0].arguments)}
    released = [value for op in ops if (value := kinds.released(op)) is not None]
    return frozenset(n for value in released if (n := _argument(value, numbers)) is not None)


def _argument(value: ir.Value, numbers: Mapping[ir.Value, int]) -> int | None:
    """The number of the argument that ``value`` is a view of."""
    while value not in numbers:
        if is_argument(value):
            return None
        named = dict(same_storage(value.owner.operation))
        if value not in named:
            return None
        value = named[value]
    return numbers[value]
