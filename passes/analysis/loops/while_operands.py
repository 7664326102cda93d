"""While loops whose condition passes on less or more than the loop starts with: IREE converts their bodies for other arguments."""

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
    """``loop`` starts with other tensors than its condition passes on. ``order`` has a position among the operands of scf.condition for each
    operand of the loop; None where its argument of the condition's block has to be passed on in addition. ``extra``: the positions of those
    that the loop starts with nothing for."""

    loop: ir.Operation
    order: tuple[int | None, ...]
    extra: tuple[int, ...] = ()


def untaken_operands(module: ir.Operation) -> list[Untaken]:
    """All loops of ``module`` with tensors for which such an order exists, in program order.

    IREE 3.13 converts the body's arguments by the types that the loop starts with, and not by those that scf.condition passes on
    (ConvertToStream). A tensor that the condition alone reads is not passed on, once the program is canonicalised: a loop whose body
    does not use one is among them, although its condition passes it on as yet.
    """
    return [found for loop in ops_of(module, WHILE) if (found := _untaken(loop)) is not None]


def overfull_loops(module: ir.Operation) -> list[Untaken]:
    """Those whose condition passes on more than the loop starts with: the conversion of their bodies reads past the types that it has. IREE 3.13
    stops, crashes, or goes on with damaged memory."""
    return [one for one in untaken_operands(module) if len(one.loop.results) > len(one.loop.operands)]


def _untaken(loop: ir.Operation) -> Untaken | None:
    types = [value.type for value in loop.operands]
    if not any(isinstance(value.type, ir.RankedTensorType) for value in (*loop.operands, *loop.results)):
        return None
    if types == [value.type for value in loop.results]:
        is_dropped = any(isinstance(one.type, ir.RankedTensorType) for one in unused_arguments(loop))
        return Untaken(loop, tuple(range(len(types)))) if is_dropped else None
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
    extra = tuple(p for p in left if p is not None)
    return Untaken(loop, tuple(order), extra) if all(may_start(passed[p].type) for p in extra) else None


def may_start(type_: ir.Type) -> bool:
    """Whether there is a constant of ``type_`` for a loop to start with."""
    if isinstance(type_, ir.RankedTensorType):
        return type_.has_static_shape and may_start(type_.element_type)
    return isinstance(type_, (ir.IntegerType, ir.IndexType, ir.FloatType))


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
