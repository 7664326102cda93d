"""Sizes that are elements of a tensor, as values of the host, built at the current insertion point."""

from __future__ import annotations

from typing import TypeAlias

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.stablehlo_ops import (
    ADD,
    CONCATENATE,
    CONVERT,
    GET_DIMENSION_SIZE,
    MULTIPLY,
    RESHAPE,
    SUBTRACT,
    constant_integers,
    element_of,
    has_static_shape,
    is_unsigned,
    shape_of,
    width_of,
)
from fissile.passes.analysis.program.private_calls import CALLS, calls_of_private_functions

from .values import converted, without_sign

Size: TypeAlias = int | ir.Value
UNKNOWN = ir.ShapedType.get_dynamic_size()
_COMPUTED = {ADD: arith.addi, MULTIPLY: arith.muli, SUBTRACT: arith.subi}


def sizes_in(operand: ir.Value) -> list[Size]:
    """The elements of ``operand``, a tensor of integers with one dimension: numbers, sizes of tensors, or elements that are read.

    JAX hands the sizes of its arguments on as tensors of integers: what they are the size of is looked for through reshapes, concatenations,
    arithmetic and the call of a private function, so that IREE sees one size and not two.
    """
    return [_element(operand, number) for number in range(shape_of(operand)[0])]


def as_value(size: Size) -> ir.Value:
    return index(size) if isinstance(size, int) else size


def index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def minus(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    if isinstance(right, int) and right == 0:
        return as_value(left)
    return arith.subi(as_value(left), as_value(right))


def host_integers(operand: ir.Value) -> ir.Value:
    """``operand`` as integers with which the host computes: signless ones of 32 bits or more."""
    given = element_of(operand)
    if isinstance(given, ir.IndexType):
        return operand
    narrow = width_of(given) < 32 or (is_unsigned(given) and width_of(given) == 32)
    return without_sign(converted(operand, ir.IntegerType.get_signless(64)) if narrow else operand)


def extracted(operand: ir.Value, place: list[int]) -> ir.Value:
    """The element at ``place`` as an index."""
    wide = host_integers(operand)
    one = tensor.ExtractOp(wide, [index(n) for n in place]).result
    return one if isinstance(one.type, ir.IndexType) else arith.index_cast(ir.IndexType.get(), one)


def _element(operand: ir.Value, number: int) -> Size:
    known = _known(operand, number)
    if known is not None:
        return known
    return extracted(operand, [number] if ir.RankedTensorType(operand.type).rank else [])


def _known(operand: ir.Value, number: int) -> Size | None:
    """Element ``number``, where it is not to be read from the tensor."""
    constants = constant_integers(operand)
    if constants is not None:
        return constants[number if len(constants) > 1 else 0]
    if isinstance(operand.owner, ir.Block):
        return _passed(operand)
    op = operand.owner.operation
    if op.name == GET_DIMENSION_SIZE:
        return _size(op.operands[0], ir.IntegerAttr(op.attributes["dimension"]).value)
    if op.name in (CONVERT, RESHAPE) and has_static_shape(op.operands[0].type):
        return _known(op.operands[0], number)
    if op.name == CONCATENATE:
        for piece in op.operands:
            if number < (count := shape_of(piece)[0]):
                return _known(piece, number)
            number -= count
    if op.name in _COMPUTED:
        left, right = (_known(side, number) for side in op.operands)
        if left is not None and right is not None:
            return _COMPUTED[op.name](as_value(left), as_value(right))
    return None


def _size(value: ir.Value, dimension: int) -> Size:
    if not ir.RankedTensorType(value.type).is_dynamic_dim(dimension):
        return ir.RankedTensorType(value.type).get_dim_size(dimension)
    return tensor.DimOp(without_sign(value), index(dimension)).result


def _passed(argument: ir.Value) -> Size | None:
    """The size that the only call of a private function passes as ``argument``, where it is that of another argument."""
    block = argument.owner
    function = block.owner
    module = function.operation.parent if function is not None else None
    if module is None or not isinstance(argument, ir.BlockArgument):
        return None
    calls = calls_of_private_functions(module.operation).get(text_of(function.operation, "sym_name"), [])
    if len(calls) != 1 or calls[0].name not in CALLS:
        return None
    given = list(calls[0].operands)
    passed = given[argument.arg_number].owner
    if isinstance(passed, ir.Block) or passed.operation.name != GET_DIMENSION_SIZE:
        return None
    of, dimension = (
        passed.operation.operands[0],
        ir.IntegerAttr(passed.operation.attributes["dimension"]).value,
    )
    return next(
        (_size(block.arguments[number], dimension) for number, one in enumerate(given) if one == of), None
    )
