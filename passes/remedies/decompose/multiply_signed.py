"""Products of unsigned 8-bit integers by products of signed ones, for matrix instructions that know no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.dispatch.structure import Structure, loop_extents, loop_structure, structure_of
from fissile.passes.analysis.scalars.unsigned_factors import Factor, factors_of, unsigned_factors
from fissile.passes.definition import option, register_pass

from ..generic_ops import build_generic
from ..narrow.packed_words import Size, sizes_of
from ..rebuilt_ops import elementwise
from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

_HALF = 128
"""Half of the range of 8 bits: an unsigned number minus it is a signed one, and has the same bits but the highest."""


@register_pass
@dataclass(frozen=True)
class MultiplySigned(OpRemedy):
    """Writes each unsigned 8-bit factor u of a matmul or convolution as s + 128, with s signed: the sum of u * v is that of s * v, which
    matrix instructions compute, plus 128 times the sum of v.

    Of two unsigned factors the second is written so as well: the sum of s * v is that of s * t plus 128 times the sum of s. Integers wrap
    around alike in both forms, so that the results are equal in every bit. The sums of one factor are reductions of their own, by as
    many loops as that factor has. For AMD targets (FIS188). ``ops`` chooses source ops by index; without it, every op with such a
    factor. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-multiply-signed"
    order: ClassVar[int] = 44
    cures: ClassVar[tuple[str, ...]] = ("FIS188",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "multiplies unsigned 8-bit integers as signed ones, and adds 128 times the sum of the other factor"
    )
    repairs: ClassVar[str] = "unsigned 8-bit matmuls and convolutions on AMD's matrix instructions (FIS188)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    counterpart: ClassVar[str] = (
        "QuantizedMatmulToMatmul does the same with zero points of `linalg.quantized_matmul`, and takes all numbers for signed ones."
    )
    done: ClassVar[str] = "multiplied signed numbers in place of unsigned ones in {ops}"
    advice: ClassVar[str] = "multiply signed numbers in place of unsigned ones in {ops}"
    refusal: ClassVar[str] = "{op} has no unsigned factor to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "tensor")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with an unsigned 8-bit factor")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        structure = structure_of(op)
        if structure is None:
            return Match("it has no body")
        if not unsigned_factors(op):
            return Match("it adds up no products of unsigned 8-bit integers")
        if not structure.maps[-1].is_projected_permutation:
            return Match("its result is indexed by more than its loops")
        reduced = {loop for loop, parallel in enumerate(structure.parallel) if not parallel}
        extents = loop_extents(op, structure)
        for factor in factors_of(op) or ():
            map_ = structure.maps[factor.position]
            if not reduced <= _loops_in(map_):
                return Match("a factor does not have all loops of the sum")
            if any(extents[loop] is None for loop in reduced - _alone_in(map_)):
                return Match("the size of a window is not known")
        return FITS

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            with ir.InsertionPoint(op), op.location:
                _rewrite(op, loop_structure(op))

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "one factor is read once more, for its sums"


def _rewrite(op: ir.Operation, structure: Structure) -> None:
    operands = list(op.operands)
    factors = factors_of(op)
    assert factors is not None
    sums = []
    signed = {factor.position: not factor.unsigned for factor in factors}
    for factor in factors:
        if not factor.unsigned:
            continue
        other = factors[1 - factor.position]
        sums.append(_sums_of(op, structure, other, operands[other.position], signed[other.position]))
        operands[factor.position] = elementwise(operands[factor.position], _byte(), _minus_half)
        signed[factor.position] = True
    product, block = build_generic(operands[:2], operands[2:], structure.maps, structure.parallel, like=op)
    with ir.InsertionPoint(block):
        first, second, sofar = block.arguments
        term = arith.muli(arith.extsi(_word(), first), arith.extsi(_word(), second))
        linalg.YieldOp([arith.addi(sofar, term)])
    op.results[0].replace_all_uses_with(_with_sums(product.results[0], sums))
    op.erase()


def _minus_half(element: ir.Value) -> ir.Value:
    return arith.xori(element, arith.constant(_byte(), -_HALF))


def _sums_of(
    op: ir.Operation, structure: Structure, factor: Factor, operand: ir.Value, signed: bool
) -> tuple[ir.Value, list[int]]:
    """The sums of ``operand`` over the loops that reduce, by its other loops; and which dimensions of the result of ``op`` these are."""
    map_, extents = structure.maps[factor.position], loop_extents(op, structure)
    used = _loops_in(map_)
    written = [expression.position for expression in map(ir.AffineDimExpr, structure.maps[-1].results)]
    kept = [loop for loop in written if loop in used]
    reduced = [loop for loop, parallel in enumerate(structure.parallel) if not parallel]
    loops = [*kept, *reduced]
    place = [
        ir.AffineDimExpr.get(loops.index(loop) if loop in loops else 0) for loop in range(structure.loops)
    ]
    init_sizes = sizes_of(op.operands[2])
    sizes: list[Size] = [init_sizes[written.index(loop)] for loop in kept]
    zero = arith.constant(_word(), 0)
    start = linalg.fill(zero, outs=[tensor.EmptyOp(sizes, _word()).result])
    windows = [loop for loop in reduced if loop not in _alone_in(map_)]
    inputs = [operand]
    maps = [ir.AffineMap.get(len(loops), 0, [_composed(expression, place) for expression in map_.results])]
    if windows:
        inputs.append(tensor.EmptyOp([extents[loop] for loop in windows], _byte()).result)
        maps.append(ir.AffineMap.get(len(loops), 0, [place[loop] for loop in windows]))
    maps.append(ir.AffineMap.get(len(loops), 0, [place[loop] for loop in kept]))
    total, block = build_generic(inputs, [start], maps, [True] * len(kept) + [False] * len(reduced))
    with ir.InsertionPoint(block):
        extend = arith.extsi if signed else arith.extui
        linalg.YieldOp([arith.addi(block.arguments[-1], extend(_word(), block.arguments[0]))])
    return total.results[0], [written.index(loop) for loop in kept]


def _with_sums(product: ir.Value, sums: Sequence[tuple[ir.Value, list[int]]]) -> ir.Value:
    """``product`` plus 128 times each of ``sums``."""
    rank = ir.RankedTensorType(product.type).rank
    identity = ir.AffineMap.get_identity(rank)
    of_sums = [
        ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(axis) for axis in axes]) for _sum, axes in sums
    ]
    init = tensor.EmptyOp(sizes_of(product), _word()).result
    op, block = build_generic(
        [product, *(one for one, _axes in sums)], [init], [identity, *of_sums, identity], [True] * rank
    )
    with ir.InsertionPoint(block):
        result, half = block.arguments[0], arith.constant(_word(), _HALF)
        for one in list(block.arguments)[1:-1]:
            result = arith.addi(result, arith.muli(one, half))
        linalg.YieldOp([result])
    return op.results[0]


def _composed(expression: ir.AffineExpr, place: Sequence[ir.AffineExpr]) -> ir.AffineExpr:
    return expression.compose(ir.AffineMap.get(len(place), 0, list(place)))


def _loops_in(map_: ir.AffineMap) -> set[int]:
    """The loops that ``map_`` depends on."""
    found: set[int] = set()
    pending = list(map_.results)
    while pending:
        expression = pending.pop()
        if isinstance(expression, ir.AffineDimExpr):
            found.add(expression.position)
        elif isinstance(expression, ir.AffineBinaryExpr):
            pending += [expression.lhs, expression.rhs]
    return found


def _alone_in(map_: ir.AffineMap) -> set[int]:
    """The loops that index a dimension by themselves."""
    return {expression.position for expression in map_.results if isinstance(expression, ir.AffineDimExpr)}


def _byte() -> ir.Type:
    return ir.IntegerType.get_signless(8)


def _word() -> ir.Type:
    return ir.IntegerType.get_signless(32)
