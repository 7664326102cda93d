"""Values of StableHLO, built at the current insertion point: IREE has no Python classes for the dialect."""

from __future__ import annotations

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.passes.analysis.imports.stablehlo_ops import (
    BITCAST,
    CONVERT,
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


def _made(name: str, value: ir.Value, element: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[with_element(value.type, element)], operands=[value]).result
