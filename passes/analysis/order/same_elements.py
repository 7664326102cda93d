"""Does a dispatch read of a tensor only the elements that it is about to overwrite?"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

from ..dispatch.structure import structure_of
from ..host.in_place import segment

_LOAD, _STORE = iree_ops.TENSOR_EXT_DISPATCH_TENSOR_LOAD, iree_ops.TENSOR_EXT_DISPATCH_TENSOR_STORE
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")


def reads_what_it_writes(
    module: ir.Operation, dispatch: ir.Operation, read: Sequence[ir.Value], made: ir.Value
) -> bool:
    """Whether ``dispatch``, of ``module`` at phase flow, reads each element of the tensors ``read`` for the element at the same position of its
    result ``made`` alone, so that both may be one buffer. False where its code does not say so."""
    function = _function(module, dispatch)
    if function is None:
        return False
    arguments = list(function.regions[0].blocks[0].arguments)
    operands = segment(dispatch, "arguments")
    target = _argument_of_result(dispatch, ir.OpResult(made).result_number, len(operands))
    stores = [op for op in ops_of(function, _STORE) if op.operands[1] == arguments[target]]
    read_by = [arguments[i] for i, one in enumerate(operands) if one in read]
    loads = [op for op in ops_of(function, _LOAD) if op.operands[0] in read_by]
    if (
        len(stores) != 1
        or len(loads) != len(read_by)
        or any(op.operands[0] == arguments[target] for op in loads)
    ):
        return False
    (store,) = stores
    return all(_is_whole(load) and _same_type(load, store) and _reaches(load, store) for load in loads)


def _function(module: ir.Operation, dispatch: ir.Operation) -> ir.Operation | None:
    points = ir.ArrayAttr(dispatch.attributes["entry_points"])
    if len(points) != 1:
        return None
    executable, _, name = str(points[0]).replace('"', "").partition("::")
    for op in module.regions[0].blocks[0].operations:
        if (
            op.operation.name == iree_ops.FLOW_EXECUTABLE
            and f"@{text_of(op.operation, 'sym_name')}" == executable
        ):
            for function in ops_of(op.operation, "func.func"):
                if f"@{text_of(function, 'sym_name')}" == name:
                    return function
    return None


def _argument_of_result(dispatch: ir.Operation, result: int, operands: int) -> int:
    """The number of the argument of a dispatch's function that ``result`` is stored to: one of its own behind the ``operands``, unless it is
    tied to one of these."""
    tied = [-1] * len(dispatch.results)
    if "tied_operands" in dispatch.attributes:
        tied = [ir.IntegerAttr(one).value for one in ir.ArrayAttr(dispatch.attributes["tied_operands"])]
    return tied[result] if tied[result] >= 0 else operands + sum(one < 0 for one in tied[:result])


def _is_whole(load: ir.Operation) -> bool:
    held = str(load.operands[0].type)
    return f":{load.results[0].type}>" in held


def _same_type(load: ir.Operation, store: ir.Operation) -> bool:
    """Whether both have elements of one width, and as many of them as far as is known."""
    one, other = (ir.RankedTensorType(value.type) for value in (load.results[0], store.operands[0]))
    return one.element_type == other.element_type


def _reaches(load: ir.Operation, store: ir.Operation) -> bool:
    """Whether what ``load`` reads goes to the same positions of what ``store`` writes, by way of one op, and of elementwise ops and reshapes
    alone: whatever is written comes behind all that is read."""
    arrived = False
    pending, seen = [load.results[0]], {load.results[0]}
    readers: set[int] = set()
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name == _STORE:
                arrived = arrived or user == store
                continue
            if value == load.results[0]:
                readers.add(hash(user))
            if user.name not in _RESHAPES and not _is_elementwise(user, value):
                return False
            new = [one for one in user.results if one not in seen]
            seen.update(new)
            pending += new
    return arrived and len(readers) <= 1


def _is_elementwise(op: ir.Operation, value: ir.Value) -> bool:
    """Whether ``op`` reads ``value`` for the same position of each of its results."""
    structure = structure_of(op)
    if structure is None or not structure.all_parallel:
        return False
    results = structure.maps[len(structure.maps) - len(op.results) :]
    read = [structure.maps[i] for i, one in enumerate(op.operands) if one == value]
    first = results[0]
    all_dims = first.is_projected_permutation and len(first.results) == first.n_dims
    return all_dims and all(one == first for one in (*read, *results))
