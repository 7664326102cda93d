"""Names of StableHLO's ops, and what of them several analyses and remedies read."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

DIALECT = "stablehlo."
ADD = "stablehlo.add"
AND = "stablehlo.and"
BITCAST = "stablehlo.bitcast_convert"
BROADCAST = "stablehlo.broadcast_in_dim"
CHOLESKY = "stablehlo.cholesky"
COMPARE = "stablehlo.compare"
COMPLEX = "stablehlo.complex"
CONCATENATE = "stablehlo.concatenate"
CONSTANT = "stablehlo.constant"
CONVERT = "stablehlo.convert"
CONVOLUTION = "stablehlo.convolution"
CUSTOM_CALL = "stablehlo.custom_call"
DIVIDE = "stablehlo.divide"
DOT = "stablehlo.dot"
DOT_GENERAL = "stablehlo.dot_general"
DYNAMIC_BROADCAST = "stablehlo.dynamic_broadcast_in_dim"
DYNAMIC_GATHER = "stablehlo.dynamic_gather"
DYNAMIC_PAD = "stablehlo.dynamic_pad"
DYNAMIC_RESHAPE = "stablehlo.dynamic_reshape"
DYNAMIC_UPDATE_SLICE = "stablehlo.dynamic_update_slice"
FFT = "stablehlo.fft"
GATHER = "stablehlo.gather"
GET_DIMENSION_SIZE = "stablehlo.get_dimension_size"
IMAG = "stablehlo.imag"
IOTA = "stablehlo.iota"
MULTIPLY = "stablehlo.multiply"
NOT = "stablehlo.not"
OR = "stablehlo.or"
PAD = "stablehlo.pad"
REAL = "stablehlo.real"
REDUCE_WINDOW = "stablehlo.reduce_window"
RESHAPE = "stablehlo.reshape"
REVERSE = "stablehlo.reverse"
SCATTER = "stablehlo.scatter"
SELECT = "stablehlo.select"
SELECT_AND_SCATTER = "stablehlo.select_and_scatter"
SLICE = "stablehlo.slice"
SUBTRACT = "stablehlo.subtract"
TRANSPOSE = "stablehlo.transpose"
TRIANGULAR_SOLVE = "stablehlo.triangular_solve"
INDEXED = (
    DYNAMIC_GATHER,
    GATHER,
    SCATTER,
    "stablehlo.torch_index_select",
)
"""Ops that access an operand at indices that are data."""


def owner_of(value: ir.Value, name: str) -> ir.Operation | None:
    """The op called ``name`` that computes ``value``; None for another one, or for an argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) or owner.name != name else owner


def element_of(value: ir.Value) -> ir.Type:
    """The element type of a tensor."""
    return ir.ShapedType(value.type).element_type


def is_unsigned(element: ir.Type) -> bool:
    return isinstance(element, ir.IntegerType) and element.is_unsigned


def width_of(element: ir.Type) -> int:
    """The bits of an integer or a float; 0 of another type."""
    return element.width if isinstance(element, ir.IntegerType | ir.FloatType) else 0


def constant_integers(value: ir.Value) -> list[int] | None:
    """The elements of a constant tensor of integers; None for another value."""
    owner = owner_of(value, CONSTANT)
    if owner is None or not isinstance(element_of(value), ir.IntegerType):
        return None
    found = ir.DenseIntElementsAttr(owner.attributes["value"])
    return [int(found[n]) for n in range(len(found))]


def known_integers(value: ir.Value) -> list[int] | None:
    """The same of one that is put together of constants."""
    if (owner := owner_of(value, CONCATENATE)) is not None:
        parts = [known_integers(one) for one in owner.operands]
        return [number for part in parts for number in part or ()] if None not in parts else None
    for name in (RESHAPE, CONVERT):
        if (owner := owner_of(value, name)) is not None:
            return known_integers(owner.operands[0])
    return constant_integers(value)


def splat_integer(value: ir.Value) -> int | None:
    """The number that each element of a constant tensor of integers is; None for another value."""
    while (owner := owner_of(value, BROADCAST)) is not None:
        value = owner.operands[0]
    if (constant := owner_of(value, CONSTANT)) is None or not isinstance(element_of(value), ir.IntegerType):
        return None
    found = ir.DenseIntElementsAttr(constant.attributes["value"])
    return int(found[0]) if len(found) and found.is_splat else None


def is_uniform(value: ir.Value) -> bool:
    """Whether all elements are known to be the same: a constant, or a scalar, broadcast."""
    while (owner := owner_of(value, BROADCAST)) is not None:
        value = owner.operands[0]
    if ir.RankedTensorType(value.type).rank == 0:
        return True
    constant = owner_of(value, CONSTANT)
    return constant is not None and ir.DenseElementsAttr(constant.attributes["value"]).is_splat


def has_static_shape(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType) and type_.has_static_shape


def shape_of(value: ir.Value) -> Sequence[int]:
    return ir.RankedTensorType(value.type).shape
