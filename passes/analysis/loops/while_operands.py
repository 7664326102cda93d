"""While loops whose condition passes on less than the loop starts with: IREE converts their bodies for other arguments."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.iree import ops as iree_ops

WHILE = "scf.while"
_DEAD = ("scf.yield", "tensor.cast", "tensor.dim", iree_ops.FLOW_TENSOR_TIE_SHAPE)
"""Ops that the canonicaliser removes, or takes an operand from, where nothing uses their result."""


@dataclass(frozen=True)
class Untaken:
    """``loop`` starts with more than its condition passes on. ``order`` has a position among the operands of scf.condition for each
    operand of the loop; None where its argument of the condition's block has to be passed on in addition."""

    loop: ir.Operation
    order: tuple[int | None, ...]


def untaken_operands(module: ir.Operation) -> list[Untaken]:
    """All loops of ``module`` with tensors for which such an order exists, in program order.

    IREE 3.13 converts the body's arguments by the types that the loop starts with, and not by those that scf.condition passes on
    (ConvertToStream). A tensor that the condition alone reads is not passed on, once the program is canonicalised: a loop whose body
    does not use one is among them, although its condition passes it on as yet.
    """
    return [Untaken(loop, order) for loop in ops_of(module, WHILE) if (order := _order(loop)) is not None]


def _order(loop: ir.Operation) -> tuple[int | None, ...] | None:
    types = [value.type for value in loop.operands]
    if not any(isinstance(type_, ir.RankedTensorType) for type_ in types):
        return None
    if types == [value.type for value in loop.results]:
        is_dropped = any(isinstance(one.type, ir.RankedTensorType) for one in unused_arguments(loop))
        return tuple(range(len(types))) if is_dropped else None
    before = loop.regions[0].blocks[0]
    passed = list(before.operations[len(before.operations) - 1].operation.operands)[1:]
    left: dict[int | None, ir.Value] = dict(enumerate(passed))
    order: list[int | None] = [None] * len(types)
    for same in (True, False):  # what is passed on as it came stays in its place
        for number, argument in enumerate(before.arguments):
            if order[number] is None:
                fits = (
                    p
                    for p, v in left.items()
                    if (_untied(v) == argument if same else v.type == argument.type)
                )
                order[number] = next(fits, None)
                left.pop(order[number], None)
    return tuple(order) if not left else None


def _untied(value: ir.Value) -> ir.Value:
    """``value`` as it was before its sizes were tied to it."""
    while (
        not isinstance(value.owner, ir.Block) and value.owner.operation.name == iree_ops.FLOW_TENSOR_TIE_SHAPE
    ):
        value = value.owner.operation.operands[0]
    return value


def unused_arguments(loop: ir.Operation) -> list[ir.Value]:
    """The arguments of the body that are used neither in it nor, as results, behind the loop, but perhaps passed on."""
    body = loop.regions[1].blocks[0].arguments
    return [
        argument
        for argument, result in zip(body, loop.results, strict=True)
        if not _is_used(argument) and not _is_used(result)
    ]


def _is_used(value: ir.Value) -> bool:
    """Whether anything is computed of ``value``: its size, and the tensor as it is tied to a size or passed on, may be dead."""
    users = (use.owner.operation for use in value.uses)
    return any(user.name not in _DEAD or any(map(_is_used, user.results)) for user in users)
