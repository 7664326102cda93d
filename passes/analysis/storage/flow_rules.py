"""What ops of the flow, hal and iree_tensor_ext dialects must keep to: the sizes that they list are those of their tensors, and
what they read and write lies inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from ..bounds.conditions import all_of, at_most, equal, less
from ..bounds.extents import Extents
from ..bounds.shaped_values import is_shaped, rank_of, static_dimension
from ..bounds.size_terms import Term, product
from .obligations import Requirement
from .sentences import amount, elements, inside, regrouped, room, same_size

_LISTED = (
    ("source", "source_dims"),
    ("target", "target_dims"),
    ("update", "update_dims"),
    ("operand", "operand_dims"),
    ("operand", "dynamic_dims"),
)
"""A tensor among an op's operands, and the operands that repeat its dynamic sizes."""


def listed_sizes(op: ir.Operation) -> Iterator[tuple[ir.Value, str, int, int]]:
    """A tensor, the name of the operands that list its sizes, a number among these, and the dynamic dimension it is for."""
    for tensor, sizes in _LISTED:
        value, given = getattr(view_of(op), tensor, None), getattr(view_of(op), sizes, None)
        if not isinstance(value, ir.Value) or given is None or not is_shaped(value):
            continue
        dynamic = (i for i in range(rank_of(value)) if static_dimension(value.type, i) is None)
        yield from ((value, sizes, number, i) for number, i in enumerate(dynamic))


def listed(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """IREE takes the listed sizes for the tensor's: it computes addresses from them."""
    for value, sizes, number, i in listed_sizes(op):
        have, size_operand = (
            extents.dimension(value, i),
            extents.value(list(getattr(view_of(op), sizes))[number]),
        )
        yield Requirement(
            equal(have, size_operand),
            same_size(value, i, have, size_operand, f"{op.name} lists that size for it"),
            itself=True,
        )


def with_elements(tensor: str, verb: str) -> Callable[[Extents, ir.Operation], Iterator[Requirement]]:
    """An op that reads or writes one place of ``tensor``."""

    def rule(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
        yield from listed(extents, op)
        whole = getattr(view_of(op), tensor)
        for i, operand in enumerate(view_of(op).indices):
            index, capacity = extents.value(operand), extents.dimension(whole, i)
            yield Requirement(
                all_of((at_most(0, index), less(index, capacity))),
                inside(index, whole, i, capacity, op.name, verb),
                itself=True,
            )

    return rule


def update(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    yield from listed(extents, op)
    target, moved = view_of(op).target, view_of(op).update
    starts = [extents.value(v) for v in view_of(op).start_indices]
    yield from _inside(extents, target, starts, extents.shape(moved), "writes", "its destination")


def slice_(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    yield from listed(extents, op)
    starts = [extents.value(v) for v in view_of(op).start_indices]
    lengths = [extents.value(v) for v in view_of(op).lengths]
    yield from _inside(extents, view_of(op).source, starts, lengths, "reads", "its source")
    for i, (size, length) in enumerate(zip(extents.shape(op.results[0]), lengths, strict=False)):
        yield Requirement(
            equal(size, length), f"makes {elements(size)} in dimension {i}; it reads {amount(length)}"
        )


def _inside(
    extents: Extents, whole: ir.Value, starts: list[Term], sizes: list[Term], verb: str, what: str
) -> Iterator[Requirement]:
    # Also where there is no element: IREE copies none, and refuses to begin past the end.
    for i, (offset, size) in enumerate(zip(starts, sizes, strict=False)):
        capacity = extents.dimension(whole, i)
        yield Requirement(
            all_of((at_most(0, size), at_most(0, offset), at_most(offset + size, capacity))),
            f"{verb} {elements(size)} from {amount(offset)} on in dimension {i}; {room(what, capacity)}",
        )


def reshape(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Source and result have as many bytes (a reshape: as many elements)."""
    yield from listed(extents, op)
    shape, have = extents.shape(op.results[0]), extents.shape(view_of(op).source)
    into, out_of = _bits(op.results[0].type), _bits(view_of(op).source.type)
    if into is None or out_of is None:
        return
    same = into == out_of
    if not same and min(into, out_of) < 8:
        return  # whole bytes are compared, or one for each element: that depends on the encoding
    made, given = product(shape) * (1 if same else into), product(have) * (1 if same else out_of)
    yield Requirement(
        all_of((*(at_most(0, s) for s in shape), equal(made, given))),
        regrouped(view_of(op).source, have, shape, "elements" if same else "bits"),
    )


def _bits(type_: ir.Type) -> int | None:
    element = ir.ShapedType(type_).element_type
    if isinstance(element, ir.ComplexType):
        inner = getattr(element.element_type, "width", None)
        return None if inner is None else 2 * inner
    return 64 if isinstance(element, ir.IndexType) else getattr(element, "width", None)


RULES: dict[str, Callable[[Extents, ir.Operation], Iterator[Requirement]]] = {
    iree_ops.FLOW_TENSOR_LOAD: with_elements("source", "reads"),
    iree_ops.FLOW_TENSOR_STORE: with_elements("target", "writes"),
    iree_ops.FLOW_TENSOR_UPDATE: update,
    iree_ops.FLOW_TENSOR_SLICE: slice_,
    iree_ops.FLOW_TENSOR_RESHAPE: reshape,
    iree_ops.FLOW_TENSOR_BITCAST: reshape,
    iree_ops.FLOW_TENSOR_CLONE: listed,
    iree_ops.FLOW_TENSOR_TIE_SHAPE: listed,
    iree_ops.FLOW_TENSOR_TRANSFER: listed,
    iree_ops.HAL_TENSOR_EXPORT: listed,
    iree_ops.HAL_TENSOR_ALIAS: listed,
    iree_ops.TENSOR_EXT_BITCAST: reshape,
}
"""hal.tensor.import is none of them: IREE compares the sizes that it lists with the caller's (INVALID_ARGUMENT; measured)."""
