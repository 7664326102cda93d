"""Single elements that the host writes into tensors of two dimensions or more: IREE writes more than one."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of
from ..globals.evaluated import constant_ops
from .on_host import ops_on_host

INSERT, FROM_ELEMENTS, STORE = "tensor.insert", "tensor.from_elements", iree_ops.FLOW_TENSOR_STORE


@dataclass(frozen=True)
class HostInsert:
    """``op`` writes single elements into a tensor of ``shape`` (None: dynamic); ``extra`` elements too many, None where that depends."""

    op: ir.Operation
    shape: tuple[int | None, ...]
    extra: int | None
    place: Place | None


def host_inserts(module: ir.Operation, constants: bool = False) -> list[HostInsert]:
    """Every such op of ``module``, before dispatches are formed, in program order; ``constants``: each insert into a constant that computes
    one, which IREE evaluates by a module of its own in global optimisation.

    IREE 3.13 makes a fill of a range out of each (`stream.tensor.fill`), and computes the range's length as the position that a
    tile of 1x1x… ends at, counted from its begin in a row-major order: 1 + the number of columns for a matrix, and not 1
    (EncodeHostTensors). With one dimension the two are the same.
    """
    found = []
    for op in constant_ops(module) if constants else ops_on_host(module):
        if op.name not in ((INSERT,) if constants else (INSERT, FROM_ELEMENTS, STORE)):
            continue
        tensor_type = ir.RankedTensorType(op.results[0].type)
        several = op.name != FROM_ELEMENTS or len(op.operands) > 1
        if tensor_type.rank > 1 and several:
            shape = tuple(
                None if tensor_type.is_dynamic_dim(d) else tensor_type.get_dim_size(d)
                for d in range(tensor_type.rank)
            )
            found.append(HostInsert(op, shape, _extra(shape), place_of(op)))
    return found


def _extra(shape: tuple[int | None, ...]) -> int | None:
    """Elements that are written beside the one: the strides of all dimensions but the last, added up."""
    extra, stride = 0, 1
    for size in reversed(shape[1:]):
        if size is None:
            return None
        stride *= size
        extra += stride
    return extra
