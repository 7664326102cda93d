"""Lets a check compute the indices that it reads, where the program computes them by an elementwise op.

A gather and the op that computes its indices become one dispatch. A check that reads the computed
indices too would make IREE store them: one more dispatch, and everything behind it waits. So the check
computes them again, from what they are computed from.
"""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.analysis.bounds.shaped_values import is_argument
from fissile.passes.remedies.fusion.fold_producers import fold_operand

CHEAP = ("arith.", "linalg.index", "linalg.yield")
"""Ops of a producer's body that may be computed twice: no functions, and no reads elsewhere."""
MOST_OPS = 24
"""Of one body. A longer one costs more than a dispatch."""
RESHAPES = ("tensor.cast", "tensor.expand_shape", "tensor.collapse_shape")


def same_elements(indices: ir.Value) -> ir.Value:
    """The tensor that ``indices`` is a reshape of: it has the same elements."""
    while not is_argument(indices) and indices.owner.operation.name in RESHAPES:
        indices = indices.owner.operation.operands[0]
    return indices


def compute_again(check: ir.Operation, most_inputs: int) -> ir.Operation:
    """Folds into the reduction ``check`` what computes its inputs, while it reads no more than ``most_inputs`` tensors.
    Returns the op that is in its place."""
    position = 0
    while position < len(check.operands) - len(check.results):
        producer = _producer(check.operands[position], check)
        folded = None
        if producer is not None and len(check.operands) + len(producer.operands) <= most_inputs + 3:
            folded = fold_operand(producer, check, position)
        if folded is None:
            position += 1
        else:
            check = folded
    return check


def _producer(value: ir.Value, check: ir.Operation) -> ir.Operation | None:
    """What computes ``value`` for ``check`` and one other op; None where it is stored anyway, or costs too much."""
    if is_argument(value):
        return None
    op = value.owner.operation
    if op.name != "linalg.generic" or len(op.results) != 1:
        return None
    body = [inner.operation for inner in op.regions[0].blocks[0].operations]
    if len(body) > MOST_OPS or not all(inner.name.startswith(CHEAP) for inner in body):
        return None
    users = {use.owner.operation for use in value.uses}
    return op if len(users - {check}) <= 1 else None
