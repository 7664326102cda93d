"""How large values are: the dimensions of tensors and memrefs as size terms, through the ops that
make them.

A dimension is resolved backwards: through casts, slices, reshapes, pads, structured ops (their result
has the shape of their destination) and loops that keep a shape. What cannot be resolved is a symbol,
which can still be read at run time. `value_terms.py` does the same for integers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect.operands import init_of
from fissile.dialect.views import view_of

from ..program.private_calls import FUNCTIONS
from .conditions import Condition, all_of, at_most, symbols
from .intervals import Bounds
from .shaped_values import (
    DESTINATION_STYLE,
    DYNAMIC,
    ELEMENTWISE,
    is_argument,
    is_shaped,
    last_of,
    range_of_type,
    rank_of,
    static_dimension,
)
from .size_terms import (
    DIMENSION_LIMIT,
    MAX_ATOMS,
    MAX_DEPTH,
    MAX_MONOMIALS,
    Symbol,
    Term,
    product,
    symbols_of,
    term,
)
from .value_names import name_of, where_of

if TYPE_CHECKING:
    from . import element_values
    from .points import AtPoint

FIRST_UNNAMED = -1_000_000
"""Symbols that no value holds count down from here; those of `structured_rules` that stand for loops count down from -1."""


@dataclass(frozen=True)
class Handle:
    """Where a symbol's value is found at run time: ``value`` itself, its dimension, or an element of
    a tensor."""

    value: ir.Value
    dimension: int | None = None
    element: int | None = None


class Extents:
    """Terms for the values of one module. Valid as long as the module is not changed, except by
    adding ops."""

    def __init__(self) -> None:
        self._symbols: dict[tuple, Symbol] = {}
        self._handles: dict[int, Handle] = {}
        self._values: dict[ir.Value, Term] = {}
        self._dimensions: dict[tuple[ir.Value, int], Term] = {}
        self._tensors: dict[ir.Value, int] = {}
        self._names: dict[tuple, list[ir.Value]] = {}
        self._unnamed = FIRST_UNNAMED
        self.base = self
        """The terms of the whole module: those here, also where they are read at one point."""
        self.points: dict[ir.Operation, AtPoint] = {}
        """By structured op: its operands' elements at one point of its loops (see points)."""
        self.functions: dict[str, ir.Operation] | None = None
        self.entered: set[ir.Operation] = set()
        """Functions of one block by name, and those whose results are being followed (see call_results)."""
        self.templates: dict[tuple, element_values.Element | None] = {}
        """What is known of a tensor's elements (see element_values)."""
        self.definitions: dict[int, Condition] = {}
        """By symbol ident: what is always true of a symbol, beyond its range (a select is one of its
        two values)."""

    # -- symbols --------------------------------------------------------------------------------------------

    def handle(self, symbol: Symbol) -> Handle:
        return self._handles[symbol.ident]

    def symbol(self, value: ir.Value, dimension: int | None = None, element: int | None = None) -> Symbol:
        """The symbol for a value, a dimension of it or an element of it; the same one each time."""
        key = (value, dimension, element)
        if key not in self._symbols:
            name = name_of(value)
            low, high = range_of_type(value.type)
            tensor = None
            if dimension is not None:
                low, high = 0, DIMENSION_LIMIT - 1
                tensor = self._tensors.setdefault(value, len(self._tensors))
            elif element is not None:
                low, high = range_of_type(value.type.element_type)
            name = self._distinguished(name, value)
            if dimension is not None:
                name = (
                    f"the length of {name}"
                    if is_shaped(value) and rank_of(value) == 1
                    else f"dimension {dimension} of {name}"
                )
            elif element is not None:
                name = f"element {element} of {name}"
            made = Symbol(len(self._symbols), name, low, high, tensor)
            self._symbols[key] = made
            self._handles[made.ident] = Handle(value, dimension, element)
        return self._symbols[key]

    def _distinguished(self, name: str, value: ir.Value) -> str:
        """Two values of one function may come from one name in the source: then the second has its place."""
        known = self._names.setdefault((_function_of(value), name), [])
        if value not in known:
            known.append(value)
        number = known.index(value)
        if not number:
            return name
        where = where_of(value)
        alike = [where_of(v) for v in known[:number]]
        if not where or where in alike:
            return f"{name} (value {number + 1} with this name)"
        return f"{re.sub(r' in line [0-9]+$', '', name)} in {where}"

    def unnamed(self, text: str, low: int, high: int) -> Symbol:
        """A new symbol for a number that no value of the program holds: it can be reasoned about, and not be read at run time."""
        self._unnamed -= 1
        return Symbol(self._unnamed, text, low, high)

    def define(self, symbol: Symbol, fact: Condition) -> None:
        """Adds to what is always true of ``symbol``."""
        known = self.definitions.get(symbol.ident)
        self.definitions[symbol.ident] = fact if known is None else all_of((known, fact))

    def facts_about(self, about: Iterable[int]) -> list[Condition]:
        """What is always true of these symbols (idents), and of those that this brings in."""
        found: dict[Condition, None] = {}
        pending, seen = list(about), set()
        while pending:
            ident = pending.pop()
            if ident in seen:
                continue
            seen.add(ident)
            fact = self.definitions.get(ident)
            if fact is not None and fact not in found:
                found[fact] = None
                pending.extend(symbols(fact))
        return list(found)

    def bounds_of(self, t: Term) -> tuple[int, int]:
        """The smallest and the largest number that ``t`` can be, by what is always true of its symbols."""
        return Bounds(self.facts_about(symbols_of(t))).of(t)

    def is_inner(self, symbol: Symbol) -> bool:
        """Whether ``symbol`` stands for a value inside a structured op, or for any element of a tensor: none that the host has."""
        if symbol.ident < 0:
            return True
        value = self.handle(symbol).value
        block = value.owner if is_argument(value) else value.owner.operation.block
        while block is not None and block.owner is not None:
            owner = block.owner.operation
            if owner.name.startswith(DESTINATION_STYLE):
                return True
            block = owner.block if owner.parent is not None else None
        return False

    # -- integers -------------------------------------------------------------------------------------------

    def value(self, value: ir.Value) -> Term:
        """The term of an integer or index value."""
        if value not in self._values:
            if is_argument(value):
                from . import element_values

                found = element_values.body_argument(self, value)
            else:
                from . import value_terms

                found = value_terms.term_of(self, value)
            self._values[value] = (
                self.bounded(found, value) if found is not None else term(self.symbol(value))
            )
        return self._values[value]

    def condition(self, value: ir.Value) -> Condition:
        """The condition of an i1 value."""
        from . import value_terms

        return value_terms.condition_of(self, value)

    def bounded(self, found: Term, value: ir.Value) -> Term:
        """``found``, or a symbol where it has grown too large to reason about."""
        if len(found.monomials) > MAX_MONOMIALS or found.depth > MAX_DEPTH or found.atoms > MAX_ATOMS:
            symbol = self.symbol(value)
            low, high = self.bounds_of(found)
            self.define(symbol, all_of((at_most(low, term(symbol)), at_most(term(symbol), high))))
            return term(symbol)
        return found

    def mixed(self, static: list[int], dynamic: list[ir.Value]) -> list[Term]:
        """MLIR's pair of a static list and the values for its dynamic places, as terms."""
        values = iter(dynamic)
        return [self.value(next(values)) if n == DYNAMIC else term(n) for n in static]

    # -- shapes ---------------------------------------------------------------------------------------------

    def shape(self, value: ir.Value) -> list[Term]:
        return [self.dimension(value, i) for i in range(rank_of(value))]

    def elements(self, value: ir.Value) -> Term:
        """The number of elements, as an exact product."""
        return product(self.shape(value))

    def dimension(self, value: ir.Value, index: int) -> Term:
        """The size of dimension ``index`` of a tensor, memref or vector."""
        key = (value, index)
        if key not in self._dimensions:
            static = static_dimension(value.type, index)
            if static is not None:
                return term(static)
            if is_argument(value):  # a loop may lead back here: then this is what it finds
                self._dimensions[key] = term(self.symbol(value, index))
                self._dimensions[key] = self._resolve_argument(value, index, self._dimensions[key])
            else:
                found = self._resolve_result(value, index)
                self._dimensions[key] = term(self.symbol(value, index)) if found is None else found
        return self._dimensions[key]

    def _resolve_result(self, value: ir.Value, index: int) -> Term | None:
        op, number = value.owner.operation, ir.OpResult(value).result_number
        from . import dimension_rules

        rule = dimension_rules.RULES.get(op.name)
        if rule is not None:
            return rule(self, op, number, index)
        if op.name.startswith(ELEMENTWISE) and len(op.operands) and is_shaped(op.operands[0]):
            return self.dimension(op.operands[0], index)
        destination = init_of(op, number)
        return self.dimension(destination, index) if destination is not None else None

    def _resolve_argument(self, value: ir.Value, index: int, own: Term) -> Term:
        """A loop-carried tensor keeps its shape if what the loop yields has the shape of what it was
        given."""
        argument = ir.BlockArgument(value)
        owner = argument.owner.owner
        owner = owner.operation if owner is not None else None
        if owner is None:
            return own
        if owner.name == "scf.for" and argument.arg_number > 0:
            carried = argument.arg_number - 1
            if self.dimension(last_of(owner.regions[0]).operands[carried], index) == own:
                return self.dimension(owner.operands[3 + carried], index)
        if owner.name == "scf.forall":
            outs = list(view_of(owner).outputs)
            first = len(argument.owner.arguments) - len(outs)
            if argument.arg_number >= first:
                return self.dimension(outs[argument.arg_number - first], index)
        return own


def _function_of(value: ir.Value) -> ir.Operation | None:
    op = value.owner.owner if is_argument(value) else value.owner.operation
    while op is not None and op.operation.name not in FUNCTIONS:
        op = op.operation.parent
    return op.operation if op is not None else None
