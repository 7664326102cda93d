"""Matrix products of tensors of unknown size, each written as one op of linalg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.imports.products.dot_forms import DotForm, needs_known_sizes
from fissile.passes.analysis.imports.stablehlo_ops import (
    DOT_GENERAL,
    element_of,
    is_unsigned,
    shape_of,
    width_of,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from ..stablehlo.sizes import UNKNOWN, Size, index
from ..stablehlo.values import bits_as, signless, without_sign


@register_pass
@dataclass(frozen=True)
class MultiplyUnsized(FrontEndRemedy):
    """Writes a `stablehlo.dot_general` of a tensor with an unknown size as one `linalg.generic`, where an operand has no or several free
    or summed dimensions: a dense layer over sequences (`?x6x16` and `16x8`), heads that are split or joined, a product with a vector.

    IREE 3.13 lowers such a product only where all sizes are known. Operands of integers or floats, narrower than the result or of its
    type. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-multiply-unsized"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    candidates: ClassVar[tuple[str, ...]] = (DOT_GENERAL,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "tensor", "arith", "linalg")
    does: ClassVar[str] = (
        "replaces a `stablehlo.dot_general` over an unknown size, of operands that are no matrices, by one `linalg.generic` (in the "
        "input)"
    )
    repairs: ClassVar[str] = (
        "dense layers, attention and other products over a batch whose size is not known, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "wrote it as a reduction of linalg"
    advice: ClassVar[str] = "write it as a reduction of linalg"

    def fits(self, op: ir.Operation) -> bool:
        result = element_of(op.results[0])
        return (
            needs_known_sizes(op)
            and "algorithm" not in op.attributes
            and width_of(result) > 1
            and all(_can_extend(element_of(one), result) for one in op.operands)
        )

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        left, right = op.operands
        return [multiplied(left, right, DotForm.of(op), op.results[0].type)]


def multiplied(left: ir.Value, right: ir.Value, form: DotForm, type_: ir.Type) -> ir.Value:
    """The product of two tensors, of the tensor type ``type_``."""
    made = ir.RankedTensorType(type_)
    operands = left, right
    values = [without_sign(one) for one in operands]
    loops = _loops(form)
    count = len(form.batch[0]) + len(form.free(0)) + len(form.free(1))
    total = count + len(form.summed[0])
    maps = [
        ir.AffineMap.get(total, 0, [ir.AffineDimExpr.get(loop) for loop in one])
        for one in (*loops, range(count))
    ]
    element = signless(made.element_type)
    empty = tensor.EmptyOp([_size(values, loops, loop) for loop in range(count)], element).result
    zero = arith.constant(element, 0.0 if isinstance(element, ir.FloatType) else 0)
    parallel = [loop < count for loop in range(total)]
    generic, body = build_generic(values, [linalg.fill(zero, outs=[empty])], maps, parallel)
    floats = isinstance(element, ir.FloatType)
    with ir.InsertionPoint(body):
        *factors, so_far = body.arguments
        factors = [
            _extended(one, element, is_unsigned(element_of(of)) or width_of(element_of(of)) == 1)
            for one, of in zip(factors, operands, strict=True)
        ]
        product = (arith.mulf if floats else arith.muli)(*factors)
        linalg.YieldOp([(arith.addf if floats else arith.addi)(so_far, product)])
    signs = ir.RankedTensorType.get(made.shape, element)
    value = generic.results[0]
    value = value if value.type == signs else tensor.CastOp(signs, value).result
    return bits_as(value, made.element_type)


def _loops(form: DotForm) -> tuple[list[int], list[int]]:
    """The loop of each dimension of both operands: batch, free ones of the first, of the second, those summed over."""
    batch, first, second = len(form.batch[0]), len(form.free(0)), len(form.free(1))
    starts = batch, batch + first
    found = []
    for side in (0, 1):
        loops = [0] * form.ranks[side]
        rows = (form.batch[side], 0), (form.free(side), starts[side]), (form.summed[side], starts[1] + second)
        for dims, start in rows:
            for number, dim in enumerate(dims):
                loops[dim] = start + number
        found.append(loops)
    return found[0], found[1]


def _size(values: list[ir.Value], loops: tuple[list[int], list[int]], loop: int) -> Size:
    """How often ``loop`` runs: a known size where one operand has it."""
    places = [(value, dims.index(loop)) for value, dims in zip(values, loops, strict=True) if loop in dims]
    known = [size for value, dim in places if (size := shape_of(value)[dim]) != UNKNOWN]
    value, dim = places[0]
    return known[0] if known else tensor.DimOp(value, index(dim)).result


def _can_extend(given: ir.Type, made: ir.Type) -> bool:
    if isinstance(made, ir.FloatType):
        return given == made or (isinstance(given, ir.FloatType) and width_of(given) < width_of(made))
    if not (isinstance(given, ir.IntegerType) and isinstance(made, ir.IntegerType)):
        return False
    return width_of(given) < width_of(made) or given == made


def _extended(value: ir.Value, element: ir.Type, unsigned: bool) -> ir.Value:
    if value.type == element:
        return value
    if isinstance(element, ir.FloatType):
        return arith.extf(element, value)
    return arith.extui(element, value) if unsigned else arith.extsi(element, value)
