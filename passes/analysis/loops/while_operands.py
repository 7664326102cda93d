"""While loops whose condition passes on less than the loop starts with: IREE converts their bodies for other arguments."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import ops_of

WHILE = "scf.while"


@dataclass(frozen=True)
class Untaken:
    """``loop`` starts with more than its condition passes on. ``order`` has a position among the operands of scf.condition for each
    operand of the loop; None where its argument of the condition's block has to be passed on in addition."""

    loop: ir.Operation
    order: tuple[int | None, ...]


def untaken_operands(module: ir.Operation) -> list[Untaken]:
    """All loops of ``module`` with tensors for which such an order exists, in program order.

    IREE 3.13 converts the body's arguments by the types that the loop starts with, and not by those that scf.condition passes on
    (ConvertToStream). A tensor that the condition alone reads is not passed on, once the program is canonicalised.
    """
    return [Untaken(loop, order) for loop in ops_of(module, WHILE) if (order := _order(loop)) is not None]


def _order(loop: ir.Operation) -> tuple[int | None, ...] | None:
    types = [value.type for value in loop.operands]
    if types == [value.type for value in loop.results]:
        return None
    if not any(isinstance(type_, ir.RankedTensorType) for type_ in types):
        return None
    before = loop.regions[0].blocks[0]
    passed = list(before.operations[len(before.operations) - 1].operation.operands)[1:]
    left: dict[int | None, ir.Value] = dict(enumerate(passed))
    order: list[int | None] = [None] * len(types)
    for same in (True, False):  # what is passed on as it came stays in its place
        for number, argument in enumerate(before.arguments):
            if order[number] is None:
                fits = (p for p, v in left.items() if (v == argument if same else v.type == argument.type))
                order[number] = next(fits, None)
                left.pop(order[number], None)
    return tuple(order) if not left else None
