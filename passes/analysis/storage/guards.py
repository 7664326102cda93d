"""What decides whether an op runs: the branches and loops around it, as conditions over size terms."""

from __future__ import annotations

from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.dialect.views import view_of

from ..bounds.conditions import Condition, any_of, at_most, equal, less
from ..bounds.extents import Extents
from ..bounds.size_terms import Symbol, Term, apply, term
from ..bounds.value_terms import affine_term

UNKNOWN_BRANCH: Condition = any_of(())
"""The condition of a region of which nothing is known. As a guard it cannot be moved out of."""


@dataclass(frozen=True)
class Branch:
    """The op runs only where ``condition`` holds."""

    op: ir.Operation = field(compare=False)
    condition: Condition

    @property
    def runs(self) -> Condition:
        return self.condition


@dataclass(frozen=True)
class Loop:
    """The op runs for ``variable`` = low, low + step, … below ``high``; ``step`` is positive."""

    op: ir.Operation = field(compare=False)
    variable: Symbol
    low: Term
    high: Term
    step: Term

    @property
    def runs(self) -> Condition:
        """Whether it runs at all."""
        return less(self.low, self.high)

    @property
    def facts(self) -> list[Condition]:
        v = term(self.variable)
        found = [at_most(self.low, v), less(v, self.high)]
        if self.step.constant not in (1, None):
            found.append(equal(apply("mod", v - self.low, self.step), 0))
        return found


Guard = Branch | Loop


def loops_of(extents: Extents, op: ir.Operation) -> list[Loop]:
    """The loops that ``op`` is, the outermost first; none where it is no loop over integers whose steps are known to be positive."""
    bounds = _BOUNDS.get(op.name)
    if bounds is None:
        return []
    low, high, step = bounds(extents, op)
    variables = list(op.regions[0].blocks[0].arguments)[: len(low)]
    return [
        Loop(op, extents.symbol(variable), *row)
        for variable, *row in zip(variables, low, high, step, strict=True)
    ]


Bounds = tuple[list[Term], list[Term], list[Term]]


def _for(extents: Extents, op: ir.Operation) -> Bounds:
    low, high, step = (extents.value(value) for value in list(op.operands)[:3])
    return [low], [high], [step]


def _forall(extents: Extents, op: ir.Operation) -> Bounds:
    view = view_of(op)
    return (
        extents.mixed(list(op.attributes["staticLowerBound"]), list(view.dynamicLowerBound)),
        extents.mixed(list(op.attributes["staticUpperBound"]), list(view.dynamicUpperBound)),
        extents.mixed(list(op.attributes["staticStep"]), list(view.dynamicStep)),
    )


def _parallel(extents: Extents, op: ir.Operation) -> Bounds:
    view = view_of(op)
    low, high, step = (
        [extents.value(value) for value in part] for part in (view.lowerBound, view.upperBound, view.step)
    )
    return low, high, step


def _affine_for(extents: Extents, op: ir.Operation) -> Bounds:
    """From the largest of the lower bounds to the smallest of the upper ones."""
    view = view_of(op)
    low = _affine(extents, view.lowerBoundMap, list(view.lowerBoundOperands))
    high = _affine(extents, view.upperBoundMap, list(view.upperBoundOperands))
    step = ir.IntegerAttr(op.attributes["step"]).value
    return [apply("max", *low)], [apply("min", *high)], [term(step)]


def _affine(extents: Extents, map_: ir.AffineMapAttr, operands: list[ir.Value]) -> list[Term]:
    known = [extents.value(operand) for operand in operands]
    dims, symbols = known[: map_.value.n_dims], known[map_.value.n_dims :]
    return [affine_term(expression, dims, symbols) for expression in map_.value.results]


_BOUNDS = {"scf.for": _for, "scf.forall": _forall, "scf.parallel": _parallel, "affine.for": _affine_for}
