"""Where control goes on: the blocks that a branch goes to, ops that end a block with none behind it, and how often a counted loop runs."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.views import view_of

from .sizes import constant


@dataclass(frozen=True)
class Way:
    """One edge of a branch: it goes to ``block`` with ``values``, where the condition ``when`` (a value, and what it is) holds."""

    block: ir.Block
    values: tuple[ir.Value, ...]
    when: tuple[ir.Value, bool] | None = None


def branches_of(op: ir.Operation) -> list[Way]:
    """The edges of a branch between blocks, in the order of its successors; none where its operands are not known."""
    view = view_of(op)
    if op.name == "cf.br":
        return [Way(op.successors[0], tuple(view.destOperands))]
    if op.name == "cf.cond_br":
        true, false = op.successors
        return [
            Way(true, tuple(view.trueDestOperands), (view.condition, True)),
            Way(false, tuple(view.falseDestOperands), (view.condition, False)),
        ]
    if op.name == "cf.switch":
        default, *cases = op.successors
        ways = [Way(default, tuple(view.defaultOperands))]
        values = list(view.caseOperands)
        for block, count in zip(cases, ir.DenseI32ArrayAttr(view.case_operand_segments), strict=True):
            ways.append(Way(block, tuple(values[:count])))
            values = values[count:]
        return ways
    return []


def leaves(op: ir.Operation) -> bool:
    """Whether ``op`` ends its block without another block behind it."""
    return (
        op.name.endswith((".return", ".yield", ".condition", ".in_parallel", ".reduce.return"))
        or op.name == "cf.unreachable"
    )


def trips_of(op: ir.Operation) -> int | None:
    """0, 1 or 2 (for more) where the bounds are constants, None where they are not."""
    if op.name != "scf.for":
        return None
    low, high, step = (
        constant(v) for v in (view_of(op).lowerBound, view_of(op).upperBound, view_of(op).step)
    )
    if low is None or high is None or not step or step < 0:
        return None
    return max(0, min(2, -(-(high - low) // step)))
