"""Tensors that an op takes as its destination, and that are used elsewhere as well."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.operands import inits, operands_named
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from .on_host import ops_on_host

MOVES_NOTHING = (
    "tensor.cast",
    "tensor.collapse_shape",
    "tensor.expand_shape",
    iree_ops.FLOW_TENSOR_RESHAPE,
    iree_ops.FLOW_TENSOR_TIE_SHAPE,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START,
)
_MADE_ANEW = ("arith.constant", "tensor.empty", iree_ops.FLOW_TENSOR_EMPTY)
"""What makes tensors that IREE copies, or of which no element is read."""


def shared_destinations(module: ir.Operation) -> list[list[ir.Value]]:
    """Each tensor of ``module`` (before dispatches are formed) that an op on the host may update in place while another op uses it,
    with its reshapes."""
    found: dict[ir.Value, list[ir.Value]] = {}
    for op in ops_on_host(module):
        for destination in destinations(op):
            root = root_of(destination)
            maker = "" if isinstance(root.owner, ir.Block) else root.owner.operation.name
            if maker in _MADE_ANEW or (maker == "linalg.fill" and op.name.startswith("linalg.")):
                continue  # a fill is made again in the dispatch of the op that it is for
            values = _with_reshapes(root)
            users = {hash(user): user for value in values for user in _users(value)}
            if len(users) > 1:
                found[root] = values
    return list(found.values())


def destinations_shared(module: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """The ops that update one of `shared_destinations`, each with the number of that operand, in program order."""
    shared = {value for values in shared_destinations(module) for value in values}
    return [
        (op, number)
        for op in ops_on_host(module)
        if (updated := destinations(op))
        for number, value in enumerate(op.operands)
        if value in shared and value in updated
    ]


def destinations(op: ir.Operation) -> list[ir.Value]:
    """The tensors that ``op`` (before dispatches are formed) may update in place."""
    if op.name in ("tensor.insert", "tensor.insert_slice"):
        return operands_named(op, "dest")
    if op.name in (iree_ops.FLOW_TENSOR_UPDATE, iree_ops.FLOW_TENSOR_STORE):
        return [view_of(op).target]
    return [value for value in inits(op) if isinstance(value.type, ir.RankedTensorType)]


def root_of(value: ir.Value) -> ir.Value:
    """The tensor that ``value`` is a cast or a reshape of."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in MOVES_NOTHING:
        value = value.owner.operation.operands[0]
    return value


def _with_reshapes(root: ir.Value) -> list[ir.Value]:
    values = [root]
    for value in values:
        values += [
            use.owner.operation.results[0] for use in value.uses if use.owner.operation.name in MOVES_NOTHING
        ]
    return values


def _users(value: ir.Value) -> list[ir.Operation]:
    """The ops that use ``value``, its sizes and reshapes not counted."""
    users = (use.owner.operation for use in value.uses)
    return [user for user in users if user.name != "tensor.dim" and user.name not in MOVES_NOTHING]
