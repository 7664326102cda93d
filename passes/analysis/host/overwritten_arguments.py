"""Arguments that a function returns as they came, while IREE updates their buffers in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of
from .in_place import same_buffer, segment, updates

_IMPORT, _RESHAPE = iree_ops.HAL_TENSOR_IMPORT, iree_ops.FLOW_TENSOR_RESHAPE
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
    iree_ops.HAL_TENSOR_BARRIER,
    _RESHAPE,
    iree_ops.FLOW_TENSOR_UPDATE,
    iree_ops.FLOW_TENSOR_SLICE,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END,
    "linalg.transpose",
    "linalg.copy",
)
_BUFFERS = (iree_ops.BUFFER_VIEW_TYPE, iree_ops.BUFFER_TYPE)


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
        if function.name != iree_ops.UTIL_FUNC or not len(function.regions[0].blocks):
            continue
        entry = function.regions[0].blocks[0]
        for number, argument in enumerate(entry.arguments):
            if str(argument.type) in _BUFFERS:
                for use in argument.uses:
                    if use.owner.operation.name == _IMPORT:
                        yield (
                            text_of(function, "sym_name"),
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
    buffer = segment(imported, "source")[0]
    return any(buffer == operand for op in returns(imported.parent.operation) for operand in op.operands)


def _exports(function: ir.Operation) -> Iterator[ir.Operation]:
    return (
        o.operation
        for block in function.regions[0].blocks
        for o in block.operations
        if o.operation.name == iree_ops.HAL_TENSOR_EXPORT
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
    return [op for op in ends if op.name == iree_ops.UTIL_RETURN]


def overwritten_arguments(module: ir.Operation) -> list[OverwrittenArgument]:
    """Those of ``module``, whose dispatches are formed and outlined.

    IREE 3.13 updates in place what nothing else reads (MaterializeCopyOnWrite copies only a value with other uses), and does not count
    as a use that the argument's buffer is returned: `export(import(argument))` is folded away before, and the export of a reshape of
    the argument afterwards.
    """
    found = []
    for function, number, imported in argument_imports(module):
        values = same_buffer(imported.results[0])
        users = [use.owner.operation for value in values for use in value.uses]
        exported = any(user.name == iree_ops.HAL_TENSOR_EXPORT for user in users)
        others = [user for user in users if user.name not in (_RESHAPE, iree_ops.HAL_TENSOR_EXPORT)]
        if len(others) == 1 and (exported or _is_returned(imported)) and updates(others[0], values):
            name = text_of(imported, "name") if "name" in imported.attributes else ""
            found.append(OverwrittenArgument(function, number, name, place_of(others[0])))
    return found
