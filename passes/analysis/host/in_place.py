"""Which ops update a tensor in place, once dispatches are formed."""

from __future__ import annotations

from collections.abc import Container

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

_SEGMENTS = {
    iree_ops.FLOW_DISPATCH: ("workload", "arguments", "argument_dims", "result_dims"),
    iree_ops.FLOW_TENSOR_UPDATE: ("target", "target_dims", "start_indices", "update", "update_dims"),
    iree_ops.FLOW_TENSOR_STORE: ("value", "target", "target_dims", "indices"),
    iree_ops.HAL_TENSOR_IMPORT: ("source", "target_dims", "wait_fence", "affinity"),
}
"""Operand groups of ops that have no Python class, in the order of their ODS definitions (IREE 3.13)."""


def same_buffer(value: ir.Value) -> list[ir.Value]:
    """``value`` and its reshapes."""
    values = [value]
    for one in values:
        values += [
            use.owner.operation.results[0]
            for use in one.uses
            if use.owner.operation.name == iree_ops.FLOW_TENSOR_RESHAPE
        ]
    return values


def updated_in_place(op: ir.Operation) -> list[ir.Value]:
    """The tensors that ``op``, whose results are tied to them, overwrites."""
    if op.name in (iree_ops.FLOW_TENSOR_UPDATE, iree_ops.FLOW_TENSOR_STORE):
        return segment(op, "target")
    if op.name == iree_ops.FLOW_DISPATCH and "tied_operands" in op.attributes:
        arguments = segment(op, "arguments")
        tied = [ir.IntegerAttr(one).value for one in ir.ArrayAttr(op.attributes["tied_operands"])]
        return [arguments[index] for index in tied if index >= 0]
    return []


def updates(op: ir.Operation, values: Container[ir.Value]) -> bool:
    """Whether ``op`` updates one of ``values`` in place."""
    return any(value in values for value in updated_in_place(op))


def segment(op: ir.Operation, name: str) -> list[ir.Value]:
    """The operands of ``op`` in the group ``name``."""
    sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    at = _SEGMENTS[op.name].index(name)
    begin = sum(sizes[:at])
    return list(op.operands)[begin : begin + sizes[at]]
