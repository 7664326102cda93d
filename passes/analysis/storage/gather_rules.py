"""What gathers and scatters must keep to: slices that fit, and indices inside."""

from __future__ import annotations

from collections.abc import Iterator

from iree.compiler import ir

from fissile.dialect.operands import operand
from fissile.passes.iree import ops as iree_ops

from ..bounds import element_values
from ..bounds.conditions import TRUE, Condition, all_of, at_most, equal, less
from ..bounds.constant_elements import array_of
from ..bounds.extents import Extents
from ..bounds.shaped_values import rank_of
from ..bounds.size_terms import ONE, ZERO
from ..bounds.value_names import name_of
from .guards import UNKNOWN_BRANCH, Branch, Loop
from .obligations import ElementBound, Requirement
from .sentences import amount, elements, indexed, same_size, span


def element_gather(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Every index of a gather lies inside its source, and so does what it reads from there on."""
    source, indices = operand(op, "source"), operand(op, "indices")
    if op.name == "tensor.gather":
        yield from _elements(extents, op, source, indices, "gather_dims", "reads", None)
        return
    mask = operand(op, "mask")
    yield from _slices(extents, op, operand(op, "output"), indices, source, mask)
    yield from _elements(extents, op, source, indices, "dimension_map", "reads", mask)


def element_scatter(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Every index of a scatter lies inside its destination, and so does what it writes from there on."""
    indices = operand(op, "indices")
    if op.name == "tensor.scatter":
        yield from _elements(extents, op, operand(op, "dest"), indices, "scatter_dims", "writes", None)
        return
    original, mask = operand(op, "original"), operand(op, "mask")
    yield from _slices(extents, op, operand(op, "updates"), indices, original, mask)
    yield from _elements(extents, op, original, indices, "dimension_map", "writes", mask)


def _slices(
    extents: Extents,
    op: ir.Operation,
    moved: ir.Value,
    indices: ir.Value,
    whole: ir.Value,
    mask: ir.Value | None,
) -> Iterator[Requirement]:
    """iree_linalg_ext: ``moved`` has the batch of ``indices``, then slices of ``whole`` without its
    indexed dimensions."""
    depth = len(op.attributes["dimension_map"])
    batch = rank_of(moved) - (rank_of(whole) - depth)
    for i in range(min(batch, rank_of(indices))):
        have, given = extents.dimension(moved, i), extents.dimension(indices, i)
        yield Requirement(
            equal(have, given),
            same_size(
                moved,
                i,
                have,
                given,
                f"{op.name} takes one index of {name_of(indices)} for each of its slices",
            ),
            itself=True,
        )
        if mask is not None and i < rank_of(mask):
            has = extents.dimension(mask, i)
            yield Requirement(
                equal(has, given),
                same_size(
                    mask, i, has, given, f"{op.name} masks one index of {name_of(indices)} with each element"
                ),
                itself=True,
            )
    for i in range(max(batch, 0), rank_of(moved)):
        size, capacity = extents.dimension(moved, i), extents.dimension(whole, depth + i - batch)
        yield Requirement(
            at_most(size, capacity),
            f"moves slices of {elements(size)}; {indexed(whole, depth + i - batch)} has {amount(capacity)}",
        )


def _elements(
    extents: Extents,
    op: ir.Operation,
    whole: ir.Value,
    indices: ir.Value,
    attribute: str,
    verb: str,
    mask: ir.Value | None,
) -> Iterator[Requirement]:
    dims = [int(d) for d in op.attributes[attribute]]
    for position, dim in enumerate(dims):
        capacity = extents.dimension(whole, dim)
        at = element_values.any_element(extents, indices, position if len(dims) > 1 else None)
        condition = all_of((at_most(0, at), less(at, capacity)))
        if mask is not None and _only_where_masked(
            op, condition, at, indices, mask, position if len(dims) > 1 else None
        ):
            condition = TRUE
        # How many there are: rounds of loops whose numbers nothing reads.
        rounds = tuple(
            Loop(
                op,
                extents.unnamed(f"loop {i} of {op.name}", 0, (1 << 63) - 1),
                ZERO,
                extents.dimension(indices, i),
                ONE,
            )
            for i in range(rank_of(indices))
            if extents.dimension(indices, i).constant is None
        )
        kept = f", where {name_of(mask)} is set" if mask is not None else ""
        every = (
            f"every element of {name_of(indices)}"
            if len(dims) == 1
            else f"every index {position} in {name_of(indices)}"
        )
        yield Requirement(
            condition,
            f"{every} must be in {span(capacity)}{kept}: {op.name} {verb} {indexed(whole, dim)} there",
            itself=True,
            # Whether the mask lets any index through is not known.
            guards=rounds if mask is None else (*rounds, Branch(op, UNKNOWN_BRANCH)),
            elements=ElementBound(capacity, indices=indices, position=position, depth=len(dims), mask=mask),
            afterwards=condition if mask is None else TRUE,
        )


def _only_where_masked(
    op: ir.Operation, condition: Condition, at, indices: ir.Value, mask: ir.Value, position: int | None
) -> bool:
    """Whether all constant indices that a constant mask lets through are inside."""
    from ..bounds.conditions import holds, symbols
    from ..bounds.size_terms import symbols_of

    found, kept = (_constant(v) for v in (indices, mask))
    if found is None or kept is None or set(symbols(condition)) - set(symbols_of(at)) or at.atom is None:
        return False
    import numpy as np

    shape = tuple(indices.type.shape)
    found = np.broadcast_to(found, shape)
    kept = np.broadcast_to(kept != 0, tuple(mask.type.shape))
    if position is not None:
        found = found[..., position]
    elif found.ndim > kept.ndim:
        found = found[..., 0]
    return all(holds(condition, {at.atom.ident: int(v)}) for v in np.unique(found[kept]))


def _constant(value: ir.Value):
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in (
        iree_ops.UTIL_OPTIMIZATION_BARRIER,
        "tensor.cast",
    ):
        value = value.owner.operation.operands[ir.OpResult(value).result_number]
    return None if isinstance(value.owner, ir.Block) else array_of(value.owner.operation)
