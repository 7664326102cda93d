"""Tensors that IREE makes anew for ops that update them in place, and the copies that it loses while it does so.

A dispatch that reads no tensor (positions, a table of a formula) is cheap: where one of its results has to be copied before an update, IREE
3.13 runs the dispatch again in place of the copy (PropagateCloneableOps). It takes the first result of what it runs again, whichever it
needs, and where a program has several such dispatches, all alike, common-subexpression elimination makes one of them: the updates
then work on one tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of
from ..host.in_place import same_buffer, segment, updates
from ..host.on_host import ops_on_host
from ..host.shared_destinations import root_of
from .private_calls import function_of

_SIZES = "tensor.dim"
_NO_ELEMENTS = ("arith.constant", "tensor.empty")
_COMPUTES = ("linalg.", "tensor.")


@dataclass(frozen=True)
class Remade:
    """Result ``number`` of the dispatch at position ``maker`` of ``function``, which reads no tensor. ``updates``: the ops that update it
    in place, or store it in a global (``stored``: which copies it). ``needed``: how many tensors with these elements the program has to
    have: one for each update, and one for who reads it after the first of them."""

    function: str
    maker: int
    number: int
    needed: int
    stored: bool
    made_at: Place | None
    updates: tuple[Place | None, ...]


def is_made_of_nothing(root: ir.Value) -> bool:
    """Whether an op makes ``root`` (before dispatches are formed), and no element of a tensor is read for it."""
    seen, values = {root}, [root]
    for value in values:
        maker = None if isinstance(value.owner, ir.Block) else value.owner.operation
        if maker is None or not maker.name.startswith(("linalg.", "tensor.", *_NO_ELEMENTS)):
            return False
        if maker.name not in _NO_ELEMENTS:
            tensors = [one for one in maker.operands if isinstance(one.type, ir.RankedTensorType)]
            values += [one for one in tensors if one not in seen]
            seen.update(tensors)
    return True


def tables(module: ir.Operation) -> list[ir.Value]:
    """What ``module`` (before dispatches are formed) computes from nothing but numbers, and keeps in a global or returns: IREE may have the
    initializer of a global compute it, and not the compiler."""
    found: dict[ir.Value, None] = {}
    of_nothing: set[int] = set()
    for op in ops_on_host(module):  # what makes an operand comes first
        if _is_made_of(op, of_nothing):
            of_nothing.add(hash(op))
        if op.name == iree_ops.UTIL_GLOBAL_STORE:
            values = [root_of(op.operands[0])]
        else:
            values = list(op.results) if op.name == "linalg.generic" else []
        found.update(dict.fromkeys(value for value in values if _is_table(value, of_nothing)))
    return list(found)


def _is_made_of(op: ir.Operation, of_nothing: set[int]) -> bool:
    """Whether ``op`` reads no element of a tensor but of those whose makers are ``of_nothing``."""
    if op.name in _NO_ELEMENTS or not op.name.startswith(_COMPUTES):
        return op.name in _NO_ELEMENTS
    tensors = [one for one in op.operands if isinstance(one.type, ir.RankedTensorType)]
    return all(
        not isinstance(one.owner, ir.Block) and hash(one.owner.operation) in of_nothing for one in tensors
    )


def _is_table(value: ir.Value, of_nothing: set[int]) -> bool:
    if isinstance(value.owner, ir.Block) or not value.owner.operation.name.startswith("linalg."):
        return False
    return ir.RankedTensorType(value.type).has_static_shape and hash(value.owner.operation) in of_nothing


def remade_tensors(module: ir.Operation) -> list[Remade]:
    """Those of ``module``, at phase flow, that are needed more than once."""
    ops = ops_on_host(module)
    position = {hash(op): i for i, op in enumerate(ops)}
    found = []
    for op in ops:
        if op.name != iree_ops.FLOW_DISPATCH or any(
            isinstance(value.type, ir.RankedTensorType) for value in segment(op, "arguments")
        ):
            continue
        for number, result in enumerate(op.results):
            buffer = same_buffer(result)
            users = {hash(use.owner.operation): use.owner.operation for value in buffer for use in value.uses}
            changing = sorted(
                (user for user in users.values() if updates(user, buffer)),
                key=lambda user: position[hash(user)],
            )
            stores = [user for user in users.values() if user.name == iree_ops.UTIL_GLOBAL_STORE]
            if stores and number:
                places = tuple(place_of(user) for user in stores)
                found.append(
                    Remade(function_of(op), position[hash(op)], number, 1, True, place_of(op), places)
                )
            if not changing:
                continue
            first = position[hash(changing[0])]
            kept = any(
                not updates(user, buffer) and position.get(hash(user), first) >= first
                for user in users.values()
                if user.name not in (_SIZES, iree_ops.FLOW_TENSOR_RESHAPE)
            )
            if (needed := len(changing) + kept) > 1:
                places = tuple(place_of(user) for user in changing)
                found.append(
                    Remade(function_of(op), position[hash(op)], number, needed, False, place_of(op), places)
                )
    return found


def wrongly_remade(tensors: Iterable[Remade], runs: Mapping[int, Sequence[object]]) -> tuple[Remade, ...]:
    """Those of ``tensors`` that IREE makes too few of, or takes for another result; ``runs``: the commands that each position comes to."""
    return tuple(
        one
        for one in tensors
        if (made := len(runs.get(one.maker, ())))
        and (made < one.needed or (one.number > 0 and (made > 1 or one.stored)))
    )
