"""Values of StableHLO, built at the current insertion point: IREE has no Python classes for the dialect."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.passes.analysis.imports.stablehlo_ops import (
    BITCAST,
    BROADCAST,
    CONSTANT,
    CONVERT,
    PAD,
    SLICE,
    TRANSPOSE,
    element_of,
    is_unsigned,
    width_of,
)


def with_element(type_: ir.Type, element: ir.Type) -> ir.Type:
    """The tensor type ``type_`` with other elements."""
    shaped = ir.RankedTensorType(type_)
    return ir.RankedTensorType.get(shaped.shape, element, shaped.encoding)


def signless(element: ir.Type) -> ir.Type:
    return ir.IntegerType.get_signless(width_of(element)) if is_unsigned(element) else element


def bits_as(value: ir.Value, element: ir.Type) -> ir.Value:
    """The bits of ``value`` as elements of the same width."""
    return _made(BITCAST, value, element) if element_of(value) != element else value


def without_sign(value: ir.Value) -> ir.Value:
    """``value``; an unsigned tensor as one of signless integers, whose bits are the same."""
    return bits_as(value, signless(element_of(value)))


def converted(value: ir.Value, element: ir.Type) -> ir.Value:
    return _made(CONVERT, value, element) if element_of(value) != element else value


def widened(value: ir.Value, element: ir.Type) -> ir.Value:
    """``value`` as elements of a wider type, with ops of arith: IREE would drop a `stablehlo.convert` in front of a product."""
    given = element_of(value)
    if given == element:
        return value
    made = with_element(value.type, signless(element))
    bits = without_sign(value)
    if isinstance(given, ir.FloatType):
        return arith.extf(made, bits)
    unsigned = is_unsigned(given) or width_of(given) == 1
    if isinstance(element, ir.FloatType):
        return arith.uitofp(made, bits) if unsigned else arith.sitofp(made, bits)
    return bits_as(arith.extui(made, bits) if unsigned else arith.extsi(made, bits), element)


def transposed(value: ir.Value, permutation: list[int]) -> ir.Value:
    shape = ir.RankedTensorType(value.type).shape
    made = ir.RankedTensorType.get([shape[dim] for dim in permutation], element_of(value))
    attribute = {"permutation": ir.DenseI64ArrayAttr.get(permutation)}
    return ir.Operation.create(TRANSPOSE, results=[made], operands=[value], attributes=attribute).result


def constant(shape: Sequence[int], element: ir.Type, number: float) -> ir.Value:
    """A constant tensor with ``number``, an integer of an integer ``element``, everywhere."""
    floats = isinstance(element, ir.FloatType)
    one = ir.FloatAttr.get(element, number) if floats else ir.IntegerAttr.get(element, int(number))
    type_ = ir.RankedTensorType.get(shape, element)
    value = {"value": ir.DenseElementsAttr.get_splat(type_, one)}
    return ir.Operation.create(CONSTANT, results=[type_], attributes=value).result


def broadcast(scalar: ir.Value, shape: Sequence[int]) -> ir.Value:
    """A tensor of ``shape`` with the element of ``scalar`` everywhere."""
    return _shaped(BROADCAST, scalar, [scalar], shape, broadcast_dimensions=[])


def spread(value: ir.Value, shape: Sequence[int], dims: Sequence[int]) -> ir.Value:
    """A tensor of ``shape`` whose dimensions ``dims`` are those of ``value``, with the same elements along the others."""
    return _shaped(BROADCAST, value, [value], shape, broadcast_dimensions=dims)


def sliced(value: ir.Value, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> ir.Value:
    shape = [-((a - z) // s) for a, z, s in zip(start, limit, strides, strict=True)]
    return _shaped(SLICE, value, [value], shape, start_indices=start, limit_indices=limit, strides=strides)


def padded(
    value: ir.Value, border: float, low: Sequence[int], high: Sequence[int], between: Sequence[int]
) -> ir.Value:
    """``value`` with ``low`` and ``high`` elements in front of and behind it, and ``between`` between its elements: ``border``."""
    given = ir.RankedTensorType(value.type).shape
    shape = [a + n + (n - 1) * b + z for n, a, z, b in zip(given, low, high, between, strict=True)]
    operands = [value, constant([], element_of(value), border)]
    sides = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": between}
    return _shaped(PAD, value, operands, shape, **sides)


def _shaped(
    name: str, like: ir.Value, operands: list[ir.Value], shape: Sequence[int], **numbers: Sequence[int]
) -> ir.Value:
    """The op ``name`` with the elements of ``like``."""
    type_ = ir.RankedTensorType.get(shape, element_of(like))
    attributes = {key: ir.DenseI64ArrayAttr.get(list(found)) for key, found in numbers.items()}
    return ir.Operation.create(name, results=[type_], operands=operands, attributes=attributes).result


def _made(name: str, value: ir.Value, element: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[with_element(value.type, element)], operands=[value]).result
