"""Arguments that a function returns as they came, while IREE updates their buffers in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place

from ..dispatch.provenance import place_of

_SEGMENTS = {
    "flow.dispatch": ("workload", "arguments", "argument_dims", "result_dims"),
    "flow.tensor.update": ("target", "target_dims", "start_indices", "update", "update_dims"),
    "flow.tensor.store": ("value", "target", "target_dims", "indices"),
    "flow.tensor.reshape": ("source", "source_dims", "result_dims"),
    "hal.tensor.import": ("source", "target_dims", "wait_fence", "affinity"),
}
"""Operand groups of ops that have no Python class, in the order of their ODS definitions (IREE 3.13)."""
_IMPORT, _RESHAPE = "hal.tensor.import", "flow.tensor.reshape"
_MAY_MOVE_NOTHING = (
    "tensor.insert_slice",
    "tensor.extract_slice",
    "tensor.cast",
    "tensor.expand_shape",
    "tensor.collapse_shape",
    "tensor.pad",
    "tensor.concat",
    "arith.select",
    "scf.if",
    "hal.tensor.barrier",
    _RESHAPE,
    "flow.tensor.update",
    "flow.tensor.slice",
    "iree_tensor_ext.compute_barrier.start",
    "iree_tensor_ext.compute_barrier.end",
    "linalg.transpose",
    "linalg.copy",
)
_BUFFERS = ("!hal.buffer_view", "!hal.buffer")


@dataclass(frozen=True)
class OverwrittenArgument:
    """``function`` returns its argument ``number`` (from 0), and an op at ``place`` overwrites the buffer. ``name``: the program's."""

    function: str
    number: int
    name: str
    place: Place | None


def argument_imports(module: ir.Operation) -> Iterator[tuple[str, int, ir.Operation]]:
    """Function, number and import of each argument that is imported as a tensor."""
    for function in (o.operation for o in module.regions[0].blocks[0].operations):
        if function.name != "util.func" or not len(function.regions[0].blocks):
            continue
        entry = function.regions[0].blocks[0]
        for number, argument in enumerate(entry.arguments):
            if str(argument.type) in _BUFFERS:
                for use in argument.uses:
                    if use.owner.operation.name == _IMPORT:
                        yield (
                            ir.StringAttr(function.attributes["sym_name"]).value,
                            number,
                            use.owner.operation,
                        )


def may_return_arguments(module: ir.Operation) -> bool:
    """Whether a function returns an argument's buffer as it came, or may do so once what copies all of it is folded away."""
    for _function, _number, imported in argument_imports(module):
        if _is_returned(imported) or any(
            _reaches(op.operands[0], imported.results[0]) for op in _exports(imported.parent.operation)
        ):
            return True
    return False


def _is_returned(imported: ir.Operation) -> bool:
    buffer = _segment(imported, "source")[0]
    return any(buffer == operand for op in returns(imported.parent.operation) for operand in op.operands)


def _exports(function: ir.Operation) -> Iterator[ir.Operation]:
    return (
        o.operation
        for block in function.regions[0].blocks
        for o in block.operations
        if o.operation.name == "hal.tensor.export"
    )


def _reaches(value: ir.Value, wanted: ir.Value) -> bool:
    """Whether ``value`` is ``wanted`` behind ops that may move nothing."""
    seen: set[ir.Value] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value == wanted:
            return True
        if (
            value not in seen
            and not isinstance(value.owner, ir.Block)
            and value.owner.operation.name in _MAY_MOVE_NOTHING
        ):
            seen.add(value)
            pending.extend(value.owner.operation.operands)
    return False


def returns(function: ir.Operation) -> list[ir.Operation]:
    ends = [block.operations[len(block.operations) - 1].operation for block in function.regions[0].blocks]
    return [op for op in ends if op.name == "util.return"]


def overwritten_arguments(module: ir.Operation) -> list[OverwrittenArgument]:
    """Those of ``module``, whose dispatches are formed and outlined.

    IREE 3.13 updates in place what nothing else reads (MaterializeCopyOnWrite copies only a value with other uses), and does not count
    the return of the argument's buffer as a use: `export(import(argument))` is folded away before.
    """
    found = []
    for function, number, imported in argument_imports(module):
        if _is_returned(imported) and (update := _update(imported.results[0])) is not None:
            name = ir.StringAttr(imported.attributes["name"]).value if "name" in imported.attributes else ""
            found.append(OverwrittenArgument(function, number, name, place_of(update)))
    return found


def _update(value: ir.Value) -> ir.Operation | None:
    """The op that updates ``value`` in place: its only use, or the only use of a reshape of it."""
    uses = list(value.uses)
    if len(uses) != 1:
        return None
    op = uses[0].owner.operation
    if op.name == _RESHAPE:
        return _update(op.results[0])
    if op.name in ("flow.tensor.update", "flow.tensor.store"):
        return op if value in _segment(op, "target") else None
    if op.name == "flow.dispatch" and "tied_operands" in op.attributes:
        arguments = _segment(op, "arguments")
        tied = [ir.IntegerAttr(one).value for one in ir.ArrayAttr(op.attributes["tied_operands"])]
        return op if any(index >= 0 and arguments[index] == value for index in tied) else None
    return None


def _segment(op: ir.Operation, name: str) -> list[ir.Value]:
    sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    at = _SEGMENTS[op.name].index(name)
    begin = sum(sizes[:at])
    return list(op.operands)[begin : begin + sizes[at]]
