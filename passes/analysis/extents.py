"""How large values are: the dimensions of tensors and memrefs as size terms, through the ops that
make them.

A dimension is resolved backwards: through casts, slices, reshapes, pads, structured ops (their result
has the shape of their destination) and loops that keep a shape. What cannot be resolved is a symbol,
which can still be read at run time. `value_terms.py` does the same for integers.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import place_of, place_of_location
from fissile.dialect.operands import init_of

from . import value_terms
from .conditions import Condition
from .intervals import wrapped
from .size_terms import DIMENSION_LIMIT, INDEX_MAX, MAX_DEPTH, MAX_MONOMIALS, Symbol, Term, product, term

DYNAMIC = -(2**63)
"""MLIR's mark for a size that is not in the type or attribute (ShapedType::kDynamic)."""
DESTINATION_STYLE = ("linalg.", "iree_linalg_ext.")


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
        self._names: dict[str, int] = {}
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
            low, high = _range(value.type)
            tensor = None
            if dimension is not None:
                name, low, high = f"dim {dimension} of {name}", 0, DIMENSION_LIMIT - 1
                tensor = self._tensors.setdefault(value, len(self._tensors))
            elif element is not None:
                name = f"element {element} of {name}"
                low, high = _range(value.type.element_type)
            same = self._names[name] = self._names.get(name, 0) + 1
            name = (
                name if same == 1 else f"{name} ({same})"
            )  # two values may come from one name in the source
            made = Symbol(len(self._symbols), name, low, high, tensor)
            self._symbols[key] = made
            self._handles[made.ident] = Handle(value, dimension, element)
        return self._symbols[key]

    # -- integers -------------------------------------------------------------------------------------------

    def value(self, value: ir.Value) -> Term:
        """The term of an integer or index value."""
        if value not in self._values:
            found = None if is_argument(value) else value_terms.term_of(self, value)
            self._values[value] = (
                self.bounded(found, value) if found is not None else term(self.symbol(value))
            )
        return self._values[value]

    def condition(self, value: ir.Value) -> Condition:
        """The condition of an i1 value."""
        return value_terms.condition_of(self, value)

    def bounded(self, found: Term, value: ir.Value) -> Term:
        """``found``, or a symbol where it has grown too large to reason about."""
        if len(found.monomials) > MAX_MONOMIALS or found.depth > MAX_DEPTH:
            return term(self.symbol(value))
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
        rule = _DIMENSION_RULES.get(op.name)
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
            if self.dimension(_terminator(owner).operands[carried], index) == own:
                return self.dimension(owner.operands[3 + carried], index)
        if owner.name == "scf.forall":
            outs = list(owner.opview.outputs)
            first = len(argument.owner.arguments) - len(outs)
            if argument.arg_number >= first:
                return self.dimension(outs[argument.arg_number - first], index)
        return own


# -- how ops shape their results: (extents, op, result number, dimension) -> Term or None -------------------


def _operand_shape(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    return extents.dimension(op.operands[0], index)


def _dynamic_sizes(first: int) -> Callable:
    """The result's dynamic sizes are operands, from operand ``first`` on."""

    def rule(_extents, op: ir.Operation, number: int, index: int) -> Term:
        shape = op.results[number].type
        before = sum(static_dimension(shape, i) is None for i in range(index))
        return _extents.value(op.operands[first + before])

    return rule


def _named_sizes(operands: str) -> Callable:
    def rule(extents: Extents, op: ir.Operation, number: int, index: int) -> Term:
        shape = op.results[number].type
        before = sum(static_dimension(shape, i) is None for i in range(index))
        return extents.value(list(getattr(op.opview, operands))[before])

    return rule


def _slice(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term | None:
    sizes = extents.mixed(i64s(op, "static_sizes"), list(op.opview.sizes))
    kept = kept_dimensions(i64s(op, "static_sizes"), op.results[0].type)
    return sizes[kept[index]] if kept is not None else None


def _insert(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    return extents.dimension(op.operands[1], index)


def _expand(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    return extents.mixed(i64s(op, "static_output_shape"), list(op.opview.output_shape))[index]


def _collapse(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    group = [int(i) for i in op.attributes["reassociation"][index]]
    return wrapped(product(extents.dimension(op.operands[0], i) for i in group))


def _pad(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    low = extents.mixed(i64s(op, "static_low"), list(op.opview.low))
    high = extents.mixed(i64s(op, "static_high"), list(op.opview.high))
    return wrapped(low[index] + extents.dimension(op.operands[0], index) + high[index])


def _concat(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    parts = [extents.dimension(operand, index) for operand in op.operands]
    if index != ir.IntegerAttr(op.attributes["dim"]).value:
        return parts[0]
    return wrapped(sum(parts[1:], parts[0]))


def _reshape(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    return value_terms.element_of(extents, op.operands[1], index)


def _if(extents: Extents, op: ir.Operation, number: int, index: int) -> Term | None:
    yielded = {
        extents.dimension(_terminator(op, r).operands[number], index)
        for r in range(2)
        if len(op.regions[r].blocks)
    }
    return yielded.pop() if len(yielded) == 1 else None


def _for(extents: Extents, op: ir.Operation, number: int, index: int) -> Term | None:
    carried = op.regions[0].blocks[0].arguments[1 + number]
    kept = extents.dimension(carried, index)
    return None if kept == term(extents.symbol(carried, index)) else kept


def _forall(extents: Extents, op: ir.Operation, number: int, index: int) -> Term:
    return extents.dimension(list(op.opview.outputs)[number], index)


_DIMENSION_RULES: dict[str, Callable] = {
    "tensor.cast": _operand_shape,
    "memref.cast": _operand_shape,
    "util.optimization_barrier": lambda e, op, number, i: e.dimension(op.operands[number], i),
    "iree_tensor_ext.compute_barrier.start": _operand_shape,
    "iree_tensor_ext.compute_barrier.end": _operand_shape,
    "flow.tensor.transfer": _operand_shape,
    "bufferization.to_tensor": _operand_shape,
    "fissile.boundary": _operand_shape,
    "bufferization.to_buffer": _operand_shape,
    "bufferization.materialize_in_destination": _insert,
    "tensor.insert": _insert,
    "tensor.insert_slice": _insert,
    "tensor.empty": _dynamic_sizes(0),
    "bufferization.alloc_tensor": _dynamic_sizes(0),
    "memref.alloc": _dynamic_sizes(0),
    "memref.alloca": _dynamic_sizes(0),
    "tensor.splat": _dynamic_sizes(1),
    "tensor.generate": _dynamic_sizes(0),
    "flow.tensor.splat": _dynamic_sizes(1),
    "memref.view": _dynamic_sizes(2),
    "fissile.alloc_tensor": _dynamic_sizes(2),
    "hal.tensor.import": _named_sizes("target_dims"),
    "flow.tensor.reshape": _named_sizes("result_dims"),
    "flow.tensor.slice": _named_sizes("result_dims"),
    "tensor.extract_slice": _slice,
    "memref.subview": _slice,
    "memref.reinterpret_cast": _slice,
    "tensor.expand_shape": _expand,
    "memref.expand_shape": _expand,
    "tensor.collapse_shape": _collapse,
    "memref.collapse_shape": _collapse,
    "tensor.pad": _pad,
    "tensor.concat": _concat,
    "tensor.reshape": _reshape,
    "memref.reshape": _reshape,
    "scf.if": _if,
    "scf.for": _for,
    "scf.forall": _forall,
    "arith.select": lambda e, op, _n, i: (
        e.dimension(op.operands[1], i)
        if e.dimension(op.operands[1], i) == e.dimension(op.operands[2], i)
        else None
    ),
}


ELEMENTWISE = ("arith.", "math.")
"""Dialects whose ops on tensors work element by element: operands and results have one shape (MLIR's
ElementwiseMappable). `arith.select` has a rule of its own: its condition may be one scalar."""


# -- reading IR ---------------------------------------------------------------------------------------------


def is_argument(value: ir.Value) -> bool:
    return isinstance(value.owner, ir.Block)


def i64s(op: ir.Operation, attribute: str) -> list[int]:
    return list(op.attributes[attribute])


def rank_of(value: ir.Value) -> int:
    return len(ir.ShapedType(value.type).shape) if ir.ShapedType(value.type).has_rank else 0


def is_shaped(value: ir.Value) -> bool:
    return isinstance(value.type, (ir.RankedTensorType, ir.MemRefType))


def static_dimension(shape: ir.Type, index: int) -> int | None:
    """The size that the type says, None where it is dynamic."""
    shaped = ir.ShapedType(shape)
    return None if shaped.is_dynamic_dim(index) else shaped.get_dim_size(index)


def kept_dimensions(sizes: list[int], result: ir.Type) -> list[int] | None:
    """Which dimensions of a slice its (possibly rank-reduced) type keeps; None where that is
    ambiguous and matters."""
    shape = [static_dimension(result, i) for i in range(len(ir.ShapedType(result).shape))]
    kept: list[int] = []
    for position, size in enumerate(sizes):
        wanted = shape[len(kept)] if len(kept) < len(shape) else "none"
        matches = wanted == (None if size == DYNAMIC else size)
        # A size of 1 is dropped only if what follows could not be placed otherwise.
        if matches and not (
            size == 1
            and len(sizes) - position - 1 >= len(shape) - len(kept)
            and not _places(sizes[position + 1 :], shape[len(kept) + 1 :])
        ):
            kept.append(position)
        elif size != 1:
            return None
    return kept if len(kept) == len(shape) else None


def _places(sizes: list[int], shape: list[int | None]) -> bool:
    position = 0
    for size in sizes:
        if position < len(shape) and shape[position] == (None if size == DYNAMIC else size):
            position += 1
        elif size != 1:
            return False
    return position == len(shape)


def _terminator(op: ir.Operation, region: int = 0) -> ir.Operation:
    operations = op.regions[region].blocks[0].operations
    return operations[len(operations) - 1].operation


def _range(kind: ir.Type) -> tuple[int, int]:
    if isinstance(kind, ir.IntegerType) and kind.width < 64:
        return (0, 1) if kind.width == 1 else (-(1 << (kind.width - 1)), (1 << (kind.width - 1)) - 1)
    return -INDEX_MAX - 1, INDEX_MAX


def name_of(value: ir.Value) -> str:
    """The name that the source gives ``value``, or words for it."""
    if is_argument(value):
        argument = ir.BlockArgument(value)
        place = place_of_location(value.location)
        line = linecache.getline(place.file, place.line)[place.column - 1 :] if place else ""
        owner = argument.owner.owner
        if owner is not None and owner.operation.name.startswith(DESTINATION_STYLE):
            # A linalg op's body has an argument for each operand; a scatter's, an attention's have others.
            each = len(argument.owner.arguments) == len(owner.operation.operands)
            return f"an element of {name_of(owner.operation.operands[argument.arg_number])}" if each else f"a value in {owner.operation.name}"
        match = re.match(r"%[\w$.-]+", line)
        return match[0] if match else f"argument {argument.arg_number}"
    op = value.owner.operation
    if op.name == "hal.tensor.import":
        return name_of(op.operands[0])
    if op.name == "linalg.index":
        return f"loop index {ir.IntegerAttr(op.attributes['dim']).value}"
    place = place_of(op)
    match = (
        re.match(r"\s*(%[\w$.-]+)(?::\d+)?\s*(?:=|,)", linecache.getline(place.file, place.line))
        if place
        else None
    )
    number = ir.OpResult(value).result_number
    if match:
        return match[1] + (f"#{number}" if len(op.results) > 1 else "")
    return f"the result of {op.name}" + (f" in line {place.line}" if place and place.line else "")
