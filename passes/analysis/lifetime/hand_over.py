"""Storage that changes hands at a function's borders: what leaves with a tensor on every path, and what a function takes for good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from iree.compiler import ir

from fissile.passes.analysis.bounds.shaped_values import is_argument

from . import kinds
from .aliases import same_storage
from .joins import ONCE, Entry
from .regions import is_end


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
