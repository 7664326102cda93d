"""A size as a constant factor times a product of values: 4096 x d, or 4 x d x d."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.operands import operands_named
from fissile.dialect.views import view_of
from fissile.passes.analysis.bounds.shaped_values import is_argument
from fissile.passes.analysis.bounds.value_names import name_of
from fissile.passes.iree import ops as iree_ops

from ..lifetime.sizes import constant

DEEPEST = 16
"""Products of products that are followed; the sizes of tensors have one for each dimension."""


@dataclass(frozen=True)
class Monomial:
    """``factor`` times each value of ``unit``; a constant has no unit."""

    factor: int
    unit: tuple[ir.Value, ...]


def monomial(value: ir.Value, depth: int = 0) -> Monomial:
    """``value`` as a product. Where it is none, or one with too many factors, it is its own unit."""
    number = constant(value)
    if number is not None:
        return Monomial(number, ())
    if is_argument(value) or value.owner.operation.name != "arith.muli" or depth == DEEPEST:
        return Monomial(1, (value,))
    product = value.owner.operation
    [lhs], [rhs] = operands_named(product, "lhs"), operands_named(product, "rhs")
    left, right = monomial(lhs, depth + 1), monomial(rhs, depth + 1)
    return Monomial(left.factor * right.factor, _in_order((*left.unit, *right.unit)))


def _in_order(values: tuple[ir.Value, ...]) -> tuple[ir.Value, ...]:
    """By name, so that equal products have equal units."""
    return tuple(sorted(values, key=lambda value: value.get_name()))


def unit_text(unit: tuple[ir.Value, ...]) -> str:
    """The unit as a person reads it: dimensions of inputs where they are some, names of values else."""
    return " x ".join(_text(value) for value in unit)


def _text(value: ir.Value) -> str:
    if not is_argument(value) and value.owner.operation.name == iree_ops.HAL_BUFFER_VIEW_DIM:
        view = view_of(value.owner)
        if is_argument(view.buffer_view):
            number = ir.BlockArgument(view.buffer_view).arg_number
            return f"dimension {view.index.value} of input {number}"
    return name_of(value)
