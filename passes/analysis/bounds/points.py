"""Elements of tensors at one point of a structured op's loops.

A front end may compute an index with several ops of one element each: whether it is negative, the index from the end, the choice.
At one point they all read the same element. An `AtPoint` gives every value of those bodies one term, so that what is known
of one is known of the others.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, cast

from iree.compiler import ir

from . import element_values, value_terms
from .conditions import Condition, equal
from .shaped_values import SAME_ELEMENTS, is_argument, is_identity, range_of_type
from .size_terms import Symbol, Term, term

if TYPE_CHECKING:
    from .extents import Extents

MAX_DEPTH = 24
"""Ops between an index and what it is computed from."""


class AtPoint:
    """Terms of the values in the bodies of elementwise ops, all at one point. Where it says nothing else it is ``extents``."""

    def __init__(self, extents: Extents, depth: int = 0) -> None:
        self.base = self._extents = extents.base
        self._depth = depth
        self._values: dict[ir.Value, Term] = {}
        self._symbols: dict[Hashable, Symbol] = {}
        self._elements: dict[ir.Value, Term | None] = {}
        self._others: dict[Hashable, AtPoint] = {}

    def __getattr__(self, name: str):
        return getattr(self._extents, name)

    @property
    def _as_extents(self) -> Extents:
        return cast("Extents", self)

    def value(self, value: ir.Value) -> Term:
        if not _in_body(value):
            return self._extents.value(value)
        if value not in self._values:
            found = self._read(value) if is_argument(value) else value_terms.term_of(self._as_extents, value)
            bounded = None if found is None else type(self.base).bounded(self._as_extents, found, value)
            self._values[value] = term(self.symbol(value)) if bounded is None else bounded
        return self._values[value]

    def condition(self, value: ir.Value) -> Condition:
        read = element_values.operand_of(value) if is_argument(value) else None
        if read is not None and isinstance(read[1].type, ir.ShapedType):
            return self.at(read[1], read[0], read[2]).truth(read[1])
        return value_terms.condition_of(self._as_extents, value)

    def symbol(self, value: ir.Value, dimension: int | None = None, element: int | None = None) -> Symbol:
        if dimension is not None or element is not None or not _in_body(value):
            return self._extents.symbol(value, dimension, element)
        key: Hashable = value
        if not is_argument(value) and value.owner.operation.name == "linalg.index":
            key = ir.IntegerAttr(value.owner.operation.attributes["dim"]).value
        if key not in self._symbols:
            named = self._extents.symbol(value)
            self._symbols[key] = self._extents.unnamed(named.text, named.low, named.high)
        return self._symbols[key]

    def element(self, tensor: ir.Value) -> Term | None:
        """The element of an integer tensor that is read here; None where only its type is known."""
        if tensor not in self._elements:
            self._elements[tensor] = None  # a loop that leads back here learns nothing
            self._elements[tensor] = self._find(tensor)
        return self._elements[tensor]

    def truth(self, tensor: ir.Value) -> Condition:
        """Whether the element of a tensor of i1 that is read here is true."""
        made = element_values.elementwise_yield(tensor)
        if made is not None and self._depth < MAX_DEPTH:
            return self.condition(made)
        key = ("truth", tensor)
        if key not in self._symbols:
            self._symbols[key] = self._extents.unnamed("an element", *range_of_type(tensor.type.element_type))
        return equal(term(self._symbols[key]), 1)

    def at(self, operand: ir.Value, owner: ir.Operation, map_: ir.AffineMap | None) -> AtPoint:
        """Where ``owner``, whose loops are at this point, reads ``operand``."""
        if map_ is not None and is_identity(map_):
            return self
        return self._other(str(map_) if map_ is not None else (owner, operand))

    def _other(self, key: Hashable) -> AtPoint:
        if key not in self._others:
            self._others[key] = AtPoint(self._extents, self._depth + 1)
        return self._others[key]

    def _read(self, argument: ir.Value) -> Term | None:
        read = element_values.operand_of(argument)
        if read is None or not isinstance(argument.type, (ir.IntegerType, ir.IndexType)):
            return None
        owner, operand, map_ = read
        if not isinstance(operand.type, ir.ShapedType):
            return self._extents.value(operand)
        return self.at(operand, owner, map_).element(operand)

    def _find(self, tensor: ir.Value) -> Term | None:
        if not isinstance(tensor.owner, ir.Block) and self._depth < MAX_DEPTH:
            op = tensor.owner.operation
            if op.name == "tensor.cast":
                return self.element(op.operands[0])
            if op.name in SAME_ELEMENTS:
                return self._other((op, "source")).element(op.operands[0])
            made = element_values.elementwise_yield(tensor)
            if made is not None:
                return self.value(made)
        found = element_values.element(self._extents, tensor)
        return None if found is None else found.term


def _in_body(value: ir.Value) -> bool:
    block = value.owner if is_argument(value) else value.owner.operation.block
    owner = block.owner
    return owner is not None and owner.operation.name.startswith("linalg.")
