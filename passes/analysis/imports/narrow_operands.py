"""Operands of matrix products and convolutions that are narrower than the result, as IREE's import reads them."""

from __future__ import annotations

import re

from iree.compiler import ir

from fissile.dialect.places import ops_of

from .stablehlo_ops import (
    ADD,
    BROADCAST,
    CONSTANT,
    CONVERT,
    CONVOLUTION,
    DIVIDE,
    DOT,
    DOT_GENERAL,
    MULTIPLY,
    RESHAPE,
    SUBTRACT,
    TRANSPOSE,
    element_of,
    is_unsigned,
    shape_of,
    splat_integer,
    width_of,
)

PRODUCTS = (DOT, DOT_GENERAL, CONVOLUTION)
_NEUTRAL = {ADD: 0, SUBTRACT: 0, MULTIPLY: 1, DIVIDE: 1}
"""Ops on integers -> the second operand that leaves the first as it is."""
_COMMUTE = (ADD, MULTIPLY)
_MOVES = {RESHAPE: "", TRANSPOSE: "permutation", BROADCAST: "broadcast_dimensions"}
"""Ops that leave a tensor as it is if its type stays and the dimensions in this attribute are in order."""
_LAYOUT = re.compile(r"\]x\[(?P<kernel>[^\]]*)\]->")
"""Of `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`."""


def read_instead_of(operand: ir.Value) -> ir.Value:
    """What IREE reads in the place of ``operand``: it drops conversions to a wider type in front of a product, and ops that change
    nothing."""
    while (before := _dropped(operand)) is not None:
        operand = before
    return operand


def _dropped(value: ir.Value) -> ir.Value | None:
    """The operand of the op that computes ``value``, if IREE drops that op in front of a product."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    if owner.name in _NEUTRAL and isinstance(element_of(value), ir.IntegerType):
        left, right = owner.operands
        if splat_integer(right) == _NEUTRAL[owner.name]:
            return left
        return right if owner.name in _COMMUTE and splat_integer(left) == _NEUTRAL[owner.name] else None
    if owner.name in _MOVES and owner.operands[0].type == value.type:
        dims = owner.attributes[_MOVES[owner.name]] if _MOVES[owner.name] else []
        return owner.operands[0] if list(dims) == sorted(dims) else None
    return owner.operands[0] if owner.name == CONVERT and _widens(owner) else None


def _widens(convert: ir.Operation) -> bool:
    """Whether no element is rounded, so that IREE drops ``convert``."""
    narrow, wide = element_of(convert.operands[0]), element_of(convert.results[0])
    rounds = isinstance(narrow, ir.FloatType) and not isinstance(wide, ir.FloatType)
    return narrow == wide or (not rounds and width_of(narrow) < width_of(wide))


def is_sign_extended(operand: ir.Value, result: ir.Value) -> bool:
    """Whether ``operand`` of a product has no sign and IREE extends its elements as if they had.

    IREE 3.13's linalg ops for products convert operands that are narrower than the result as signed numbers, and the import keeps
    no note of the sign. True is -1 then on GPUs; code for llvm-cpu reads a byte for each boolean, and is right.
    """
    element = element_of(read_instead_of(operand))
    return (is_unsigned(element) or width_of(element) == 1) and width_of(element) < max(
        width_of(element_of(operand)), width_of(element_of(result))
    )


def is_depthwise(op: ir.Operation) -> bool:
    """Whether ``op`` is a convolution with one filter for each channel: IREE takes two dimensions of its kernel together."""
    layout = _LAYOUT.search(str(op.attributes["dimension_numbers"])) if op.name == CONVOLUTION else None
    if layout is None:
        return False
    groups = ir.IntegerAttr(op.attributes["feature_group_count"]).value
    kernel, dims = shape_of(op.operands[1]), layout["kernel"].split(", ")
    return groups > 1 and (kernel[dims.index("i")], kernel[dims.index("o")]) == (1, groups)


def has_unequal_elements(op: ir.Operation) -> bool:
    """Whether IREE reads an operand of a product with another element type than the result's."""
    result = element_of(op.results[0])
    return any(element_of(read_instead_of(operand)) != result for operand in op.operands)


def sign_extended_products(module: ir.Operation, gpu: bool) -> list[ir.Operation]:
    """The products in ``module`` (phase start) with an operand that `is_sign_extended`, in program order; booleans count for a ``gpu``."""
    return [op for name in PRODUCTS for op in ops_of(module, name) if sign_extended_operands(op, gpu)]


def sign_extended_operands(op: ir.Operation, gpu: bool = True) -> list[ir.Type]:
    """The element types of such operands of ``op``, as IREE reads them."""
    found = [element_of(read_instead_of(one)) for one in op.operands if is_sign_extended(one, op.results[0])]
    return [element for element in found if gpu or is_unsigned(element)]


def misread_kernels(module: ir.Operation) -> list[ir.Operation]:
    """The depthwise convolutions in ``module`` (phase start) whose kernel is a constant of another element type than the result.

    IREE 3.13 takes two dimensions of the kernel together by a `tensor.collapse_shape` to the result's element type, which is no valid op.
    It rejects that, unless it folds the op with the constant before: then the bytes of the constant, and those behind it, are read as
    elements of that type.
    """
    return [
        op
        for op in ops_of(module, CONVOLUTION)
        if is_depthwise(op)
        and element_of(kernel := read_instead_of(op.operands[1])) != element_of(op.results[0])
        and _is_constant(kernel)
    ]


def _is_constant(value: ir.Value) -> bool:
    """Whether ``value`` is one, or IREE makes one of it: a constant that is converted or moved."""
    owner = value.owner
    while not isinstance(owner, ir.Block) and owner.name in (CONVERT, *_MOVES):
        owner = owner.operands[0].owner
    return not isinstance(owner, ir.Block) and owner.name in (CONSTANT, "arith.constant")
