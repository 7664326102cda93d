"""What structured ops must keep to: operands whose shapes agree with the loops, and bodies that read
inside tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from iree.compiler import ir

from fissile.dialect.linalg_ops import indexing_maps
from fissile.dialect.operands import operand as named
from fissile.dialect.operands import operands_named

from ..bounds.conditions import Condition, all_of, any_of, at_most, equal, less, symbols
from ..bounds.extents import Extents
from ..bounds.shaped_values import is_shaped, rank_of
from ..bounds.size_terms import ZERO, Term, apply, product, term
from ..bounds.value_names import name_of
from ..dispatch.linear_index import extents_of_loops
from .body_rules import body
from .obligations import Requirement
from .sentences import amount, indexed, same_size, span


def structured(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Every operand has the size that the loops give it; every tensor.extract of the body reads
    inside its tensor."""
    maps = indexing_maps(op)
    if not maps:
        return
    sizes = loop_extents(extents, op, maps)
    for operand, map_ in zip(op.operands, maps, strict=False):
        if not is_shaped(operand):
            continue
        for i, expression in enumerate(map_.results):
            have = extents.dimension(operand, i)
            if isinstance(expression, ir.AffineDimExpr):
                loop = ir.AffineDimExpr(expression).position
                if sizes[loop] is not None:
                    yield Requirement(
                        equal(have, sizes[loop]),
                        partial(
                            same_size,
                            operand,
                            i,
                            have,
                            sizes[loop],
                            f"{op.name} goes over both with one loop",
                        ),
                        itself=True,
                    )
                continue
            reach = _reach(expression, sizes)
            if reach is None:
                continue
            low, high = reach
            yield Requirement(
                _unless_empty(sizes, all_of((at_most(0, low), less(high, have)))),
                partial(_reads_up_to, op, operand, i, high, have),
                itself=True,
            )
    for region in op.regions:
        for block in region.blocks:
            yield from body(extents, op, block, sizes)


def _reads_up_to(op: ir.Operation, operand: ir.Value, dimension: int, high: Term, have: Term) -> str:
    return (
        f"{amount(high)} must be in {span(have)}: {op.name} reads {indexed(operand, dimension)} up to there"
    )


def loop_extents(extents: Extents, op: ir.Operation, maps: Sequence[ir.AffineMap]) -> tuple[Term | None, ...]:
    """The extent of each loop, from an operand dimension that it alone indexes: a static one, else
    the last."""

    def size(operand: int, dimension: int) -> Term | None:
        value = op.operands[operand]
        return extents.dimension(value, dimension) if is_shaped(value) else None

    return extents_of_loops(maps, size, lambda known: known.constant is not None, last=True)


def _unless_empty(sizes: Sequence[Term | None], condition: Condition) -> Condition:
    return any_of((*(equal(s, 0) for s in sizes if s is not None and s.constant is None), condition))


def _reach(expression: ir.AffineExpr, sizes: Sequence[Term | None]) -> tuple[Term, Term] | None:
    """The smallest and the largest value of an affine expression over the loops; None where a loop
    has no extent."""
    if isinstance(expression, ir.AffineConstantExpr):
        value = term(ir.AffineConstantExpr(expression).value)
        return value, value
    if isinstance(expression, ir.AffineDimExpr):
        size = sizes[ir.AffineDimExpr(expression).position]
        return None if size is None else (ZERO, size - 1)
    if isinstance(expression, ir.AffineSymbolExpr):
        return None
    binary = ir.AffineBinaryExpr(expression)
    left, right = _reach(binary.lhs, sizes), _reach(binary.rhs, sizes)
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        return left[0] + right[0], left[1] + right[1]
    by = right[0].constant if right[0] == right[1] else None
    if by is None:
        return None
    if isinstance(expression, ir.AffineMulExpr):
        ends = left[0] * by, left[1] * by
        return ends if by >= 0 else ends[::-1]
    if by <= 0:
        return None
    if isinstance(expression, ir.AffineModExpr):
        return ZERO, apply("min", left[1], by - 1)
    name = "floordiv" if isinstance(expression, ir.AffineFloorDivExpr) else "ceildiv"
    return apply(name, left[0], by), apply(name, left[1], by)


def same_shape(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """The input and the output have one shape (softmax)."""
    source = named(op, "input")
    have = extents.shape(named(op, "output"))
    for i, (given, size) in enumerate(zip(extents.shape(source), have, strict=False)):
        yield Requirement(
            equal(given, size),
            partial(same_size, source, i, given, size, f"{op.name} has one shape"),
            itself=True,
        )


def elementwise(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Operands of an op that works element by element on tensors have one shape; scalars have no requirement."""
    shaped = [operand for operand in op.operands if is_shaped(operand)]
    if len(shaped) < 2:
        return
    model, *others = shaped
    for operand in others:
        for i in range(rank_of(operand)):
            have, size = extents.dimension(operand, i), extents.dimension(model, i)
            yield Requirement(
                equal(have, size),
                partial(same_size, operand, i, have, size, f"{op.name} works element by element"),
                itself=True,
            )


def select(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """A choice by one i1 between tensors of different sizes: IREE gives the result as many bytes as its first one has."""
    condition, true, false = (
        operands_named(op, name)[0] for name in ("condition", "true_value", "false_value")
    )
    if not is_shaped(true) or is_shaped(condition):
        yield from elementwise(extents, op)
        return
    taken = extents.condition(condition)
    first, second = product(extents.shape(true)), product(extents.shape(false))
    yield Requirement(
        any_of((taken, at_most(second, first))),
        f"may choose {name_of(false)}, which must not be larger than {name_of(true)}: IREE makes room "
        "for as many elements as that has",
    )


def reads_elements(extents: Extents, condition: Condition) -> bool:
    """Whether ``condition`` is about values that exist only inside an op: its body's, or a tensor's elements."""
    return any(extents.is_inner(symbol) for symbol in symbols(condition).values())
