"""Writes size terms and conditions back into a program, as arith ops whose result is exact.

A term is a number without bounds, an index has 64 bits. Where a computation could wrap, the condition
that uses it also checks that it did not: a size that does not fit 64 bits fits no storage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.passes.analysis.bounds.chosen_tensors import choice_of, sizes_before
from fissile.passes.analysis.bounds.conditions import TRUE, All, Compare, Condition
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.intervals import Bounds
from fissile.passes.analysis.bounds.size_terms import (
    INDEX_BITS,
    INDEX_MAX,
    INDEX_MIN,
    Apply,
    Atom,
    Monomial,
    Symbol,
    Term,
)
from fissile.passes.iree import ops as iree_ops

BUFFER_VIEW = iree_ops.BUFFER_VIEW_TYPE
"""The type of a tensor that crosses IREE's ABI."""
_EQ, _NE, _SLT, _SLE, _SGE = 0, 1, 2, 3, 5
"""arith.cmpi predicates."""


@dataclass(frozen=True)
class _Computed:
    """An index value; ``exact`` is an i1 that says it did not wrap, None where it cannot."""

    value: ir.Value
    exact: ir.Value | None = None


class TermWriter:
    """Writes ops at one insertion point. What was written is used again. Use it inside ``with location``."""

    def __init__(self, extents: Extents, at: ir.InsertionPoint) -> None:
        self._extents = extents
        self._at = at
        self._bounds = Bounds()
        self._atoms: dict[Atom, _Computed] = {}
        self._constants: dict[int, ir.Value] = {}
        self._conditions: dict[Condition, ir.Value] = {}
        self._index = ir.IndexType.get()

    def empty(self, sizes: Sequence[Term]) -> ir.Value:
        """A tensor of bytes of these sizes, without contents."""
        given = [self.index(size) if size.constant is None else size.constant for size in sizes]
        return tensor.EmptyOp(given, ir.IntegerType.get_signless(8), ip=self._at).result

    def condition(self, condition: Condition) -> ir.Value:
        """An i1 that is true exactly where ``condition`` holds."""
        if condition not in self._conditions:
            self._conditions[condition] = self._condition(condition)
        return self._conditions[condition]

    def index(self, t: Term) -> ir.Value:
        """The value of ``t`` as an index; for a term whose value fits 64 bits."""
        return self._sum(t.monomials).value

    def _condition(self, condition: Condition) -> ir.Value:
        if isinstance(condition, Compare):
            return self._compare(condition)
        join: Callable = arith.andi if isinstance(condition, All) else arith.ori
        if not condition.parts:
            return arith.constant(ir.IntegerType.get_signless(1), int(condition == TRUE), ip=self._at)
        result = self.condition(condition.parts[0])
        for part in condition.parts[1:]:
            result = join(result, self.condition(part), ip=self._at)
        return result

    def _compare(self, compare: Compare) -> ir.Value:
        """Positive parts on the left, negative ones on the right: a difference could wrap where the
        sides do not.

        ``i + 1 <= n`` is written ``i < n``. It cannot wrap, and IREE does not merge its ``i + 1`` with that of the loop which
        counts ``i``: its VM (3.13) runs such a loop without end where ``i`` is used behind it.
        """
        parts = dict(compare.term.monomials)
        predicate = {"<=": _SLE, "==": _EQ, "!=": _NE}[compare.relation]
        if compare.relation == "<=" and parts.get((), 0) == 1 and len(parts) > 1:
            del parts[()]
            predicate = _SLT
        above, below = ({m: s * c for m, c in parts.items() if s * c > 0} for s in (1, -1))
        for one, other in ((above, below), (below, above)):
            if (
                excess := one.get((), 0) - INDEX_MAX
            ) > 0:  # `d + n - 1 <= INDEX_MAX`: no index holds INDEX_MAX + 1
                other |= {m: -c for m, c in one.items()} | {(): -excess}
                one.clear()
                one[()] = INDEX_MAX
        products: tuple[list, list] = ([], [])
        if not (self._is_small(above) and self._is_small(below)):
            products = self._factored(above, below), self._factored(below, above)
        left, right = self._side(above, products[0]), self._side(below, products[1])
        result = arith.cmpi(predicate, left.value, right.value, ip=self._at)
        for exact in (left.exact, right.exact):
            result = self._both(result, exact)
        return result

    def _factored(self, one: dict[Monomial, int], other: dict[Monomial, int]) -> list[tuple[Atom, Atom]]:
        """Products of ``one`` of which ``other`` has a factor, `n * s` and `s`, as (n, s): taken from both sides, since `(n - 1) * s`
        on the first is the same and wraps less. One element is inside its tensor with any stride, also where `length + s` wraps."""
        found = []
        for monomial in [m for m in one if len(m) == 2 and one[m] == 1]:
            for count, by in (monomial, monomial[::-1]):
                if other.get((by,)) == 1:
                    del one[monomial], other[(by,)]
                    found.append((count, by))
                    break
        return found

    def _side(self, monomials: dict[Monomial, int], factored: list[tuple[Atom, Atom]]) -> _Computed:
        """The sum of the monomials and of `(n - 1) * s` for each (n, s)."""
        total = self._sum(monomials) if monomials or not factored else None
        for count, by in factored:
            part = self._times(self._sum({(count,): 1, (): -1}), self._atom(by))
            total = part if total is None else self._added(total, part, small=False)
        assert total is not None
        return total

    def _both(self, one: ir.Value | None, other: ir.Value | None) -> ir.Value | None:
        if one is None or other is None:
            return other if one is None else one
        return arith.andi(one, other, ip=self._at)

    def _sum(self, monomials: dict[Monomial, int], wraps: bool = False) -> _Computed:
        """The sum of the monomials; ``wraps`` where it is meant to wrap, so that nothing need be checked."""
        total: _Computed | None = None
        small = wraps or self._is_small(monomials)
        for monomial, factor in sorted(monomials.items(), key=lambda mc: -len(mc[0])):
            part = self._product(monomial, factor, wraps)
            total = part if total is None else self._added(total, part, small)
        return total or _Computed(self._constant(0))

    def _is_small(self, monomials: dict[Monomial, int]) -> bool:
        """Whether no order of adding the monomials can wrap."""
        return sum(max(map(abs, self._bounds.of(Term({m: c})))) for m, c in monomials.items()) <= INDEX_MAX

    def _added(self, a: _Computed, b: _Computed, small: bool) -> _Computed:
        value = arith.addi(a.value, b.value, ip=self._at)
        exact = self._both(a.exact, b.exact)
        if not small:
            zero = self._constant(0)
            grew = arith.cmpi(_SGE, value, a.value, ip=self._at)
            upwards = arith.cmpi(_SGE, b.value, zero, ip=self._at)
            exact = self._both(exact, arith.cmpi(_EQ, grew, upwards, ip=self._at))
        return _Computed(value, exact)

    def _product(self, monomial: Monomial, factor: int, wraps: bool) -> _Computed:
        if not monomial:
            fits = INDEX_MIN <= factor <= INDEX_MAX
            value = self._constant(factor if fits else (factor + 2**63) % 2**64 - 2**63)
            no = None if fits or wraps else arith.constant(ir.IntegerType.get_signless(1), 0, ip=self._at)
            return _Computed(value, no)
        result: _Computed | None = None
        so_far: Monomial = ()
        for atom in monomial:
            so_far += (atom,)
            part = self._atom(atom)
            result = part if result is None else self._multiplied(result, part, so_far, wraps)
        assert result is not None  # a monomial of one atom at least
        return result if factor == 1 else self._scaled(result, so_far, factor, wraps)

    def _scaled(self, a: _Computed, monomial: Monomial, factor: int, wraps: bool) -> _Computed:
        by = self._product((), factor, wraps)
        value, exact = arith.muli(a.value, by.value, ip=self._at), self._both(a.exact, by.exact)
        low, high = self._bounds.of(Term({monomial: factor}))
        if wraps or INDEX_MIN <= low and high <= INDEX_MAX:
            return _Computed(value, exact)
        largest = INDEX_MAX // abs(factor)
        ends = self._bounds.of(Term({monomial: 1}))
        if ends[1] > largest:
            exact = self._both(exact, arith.cmpi(_SLE, a.value, self._constant(largest), ip=self._at))
        if ends[0] < -largest:
            exact = self._both(exact, arith.cmpi(_SGE, a.value, self._constant(-largest), ip=self._at))
        return _Computed(value, exact)

    def _multiplied(self, a: _Computed, b: _Computed, monomial: Monomial, wraps: bool) -> _Computed:
        low, high = self._bounds.of(Term({monomial: 1}))
        if wraps or INDEX_MIN <= low and high <= INDEX_MAX:
            value = arith.muli(a.value, b.value, ip=self._at)
            return _Computed(value, self._both(a.exact, b.exact))
        return self._times(a, b)

    def _times(self, a: _Computed, b: _Computed) -> _Computed:
        """The product of two values that may wrap."""
        value = arith.muli(a.value, b.value, ip=self._at)
        exact = self._both(a.exact, b.exact)
        # No overflow exactly where dividing by a gives b back; a = 0 cannot overflow and a = -1 only for
        # the smallest.
        zero, one, minus_one = self._constant(0), self._constant(1), self._constant(-1)
        is_zero = arith.cmpi(_EQ, a.value, zero, ip=self._at)
        is_minus_one = arith.cmpi(_EQ, a.value, minus_one, ip=self._at)
        divisor = arith.select(arith.ori(is_zero, is_minus_one, ip=self._at), one, a.value, ip=self._at)
        back = arith.cmpi(_EQ, arith.divsi(value, divisor, ip=self._at), b.value, ip=self._at)
        negated = arith.cmpi(_NE, b.value, self._constant(INDEX_MIN), ip=self._at)
        fits = arith.ori(is_zero, arith.select(is_minus_one, negated, back, ip=self._at), ip=self._at)
        return _Computed(value, self._both(exact, fits))

    def _atom(self, atom: Atom) -> _Computed:
        if atom not in self._atoms:
            self._atoms[atom] = self._read(atom) if isinstance(atom, Symbol) else self._function(atom)
        return self._atoms[atom]

    def _read(self, symbol: Symbol) -> _Computed:
        """A size of a chosen tensor is computed from both sizes: `tensor.dim` of it would have the tensor chosen before."""
        handle = self._extents.handle(symbol)
        choice = sizes = None
        if handle.dimension is not None and (choice := choice_of(handle.value)) is not None:
            sizes = sizes_before(self._extents, choice, handle.dimension)
        if choice is None or sizes is None:
            return _Computed(self._symbol(symbol))
        yes, no = (self._sum(size.monomials) for size in sizes)
        value = arith.select(choice.condition, yes.value, no.value, ip=self._at)
        if yes.exact is None and no.exact is None:
            return _Computed(value)
        sure = arith.constant(ir.IntegerType.get_signless(1), 1, ip=self._at)
        exact = arith.select(choice.condition, yes.exact or sure, no.exact or sure, ip=self._at)
        return _Computed(value, exact)

    def _symbol(self, symbol: Symbol) -> ir.Value:
        handle = self._extents.handle(symbol)
        value = handle.value
        if handle.dimension is not None:
            if str(value.type) == BUFFER_VIEW:
                index = ir.IntegerAttr.get(self._index, handle.dimension)
                return ir.Operation.create(
                    iree_ops.HAL_BUFFER_VIEW_DIM, [self._index], [value], {"index": index}, ip=self._at
                ).results[0]
            if isinstance(value.type, ir.MemRefType):
                from iree.compiler.dialects import memref

                return memref.dim(value, self._constant(handle.dimension), ip=self._at)
            return tensor.dim(value, self._constant(handle.dimension), ip=self._at)
        if handle.element is not None:
            value = tensor.extract(value, [self._constant(handle.element)], ip=self._at)
        if isinstance(value.type, ir.IndexType):
            return value
        if value.type.width == 1:
            return arith.index_castui(self._index, value, ip=self._at)
        return arith.index_cast(self._index, value, ip=self._at)

    def _function(self, atom: Apply) -> _Computed:
        if atom.function == "wrap":
            value = self._sum(atom.arguments[0].monomials, wraps=True).value
            if atom.parameter < INDEX_BITS:
                # Not by casts: MLIR folds a cast to a narrow integer and back into nothing.
                half, mask = (
                    self._constant(1 << (atom.parameter - 1)),
                    self._constant((1 << atom.parameter) - 1),
                )
                low = arith.andi(arith.addi(value, half, ip=self._at), mask, ip=self._at)
                value = arith.subi(low, half, ip=self._at)
            return _Computed(value)
        parts = [self._sum(a.monomials) for a in atom.arguments]
        exact = None
        for part in parts:
            exact = self._both(exact, part.exact)
        if atom.function in ("min", "max"):
            choose = arith.minsi if atom.function == "min" else arith.maxsi
            value = parts[0].value
            for part in parts[1:]:
                value = choose(value, part.value, ip=self._at)
            return _Computed(value, exact)
        a, b = parts[0].value, parts[1].value
        if atom.arguments[1].constant is None:
            b, defined = self._divisor(a, b, *(self._bounds.of(t)[0] for t in atom.arguments))
            exact = self._both(exact, defined)
        return _Computed(self._divided(atom.function, a, b), exact)

    def _divisor(self, a: ir.Value, b: ir.Value, a_low: int, b_low: int) -> tuple[ir.Value, ir.Value]:
        """A divisor that is safe to divide by, and where it is ``b``: a division by 0, or of the
        smallest index by -1, would end the process."""
        defined = arith.cmpi(_NE, b, self._constant(0), ip=self._at)
        if b_low < 0 and a_low == INDEX_MIN:
            small = arith.cmpi(_NE, a, self._constant(INDEX_MIN), ip=self._at)
            other = arith.cmpi(_NE, b, self._constant(-1), ip=self._at)
            defined = arith.andi(defined, arith.ori(small, other, ip=self._at), ip=self._at)
        return arith.select(defined, b, self._constant(1), ip=self._at), defined

    def _divided(self, function: str, a: ir.Value, b: ir.Value) -> ir.Value:
        direct = {
            "tdiv": arith.divsi,
            "trem": arith.remsi,
            "floordiv": arith.floordivsi,
            "ceildiv": arith.ceildivsi,
            "udiv": arith.divui,
            "urem": arith.remui,
        }
        if function in direct:
            return direct[function](a, b, ip=self._at)
        rest, zero = arith.remsi(a, b, ip=self._at), self._constant(0)  # a mod with a divisor above 0
        below = arith.cmpi(_SLT, rest, zero, ip=self._at)
        return arith.addi(rest, arith.select(below, b, zero, ip=self._at), ip=self._at)

    def _constant(self, value: int) -> ir.Value:
        if value not in self._constants:
            self._constants[value] = arith.constant(self._index, value, ip=self._at)
        return self._constants[value]
