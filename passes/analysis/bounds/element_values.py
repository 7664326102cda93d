"""What the elements of a tensor can be: one element, any of them, as a term with facts about it.

An index that comes from a constant, an iota, an argmax or a clamp needs no check. An element is followed to the op that
computes it: a constant's smallest and largest number, the body of a structured op, the source of a reshape. Each use gets
symbols of its own: two elements of one tensor need not be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect.linalg_ops import indexing_maps
from fissile.dialect.operands import init_of, knows_operands, operand
from fissile.passes.iree import ops as iree_ops

from .conditions import Condition, all_of, any_of, equal, less, replace, symbols
from .constant_elements import CONSTANTS, array_of
from .intervals import Bounds
from .shaped_values import SAME_ELEMENTS, is_identity, last_of, range_of_type
from .size_terms import Symbol, Term, substitute, symbols_of, term
from .value_names import name_of

if TYPE_CHECKING:
    from .extents import Extents
    from .points import AtPoint

MAX_SYMBOLS = 24
MAX_UNION = 8


@dataclass(frozen=True)
class Element:
    """``term`` under ``facts``; ``inner`` are the symbols of both that stand for values inside ops."""

    term: Term
    facts: tuple[Condition, ...] = ()
    inner: tuple[Symbol, ...] = ()


def element(extents: Extents, tensor: ir.Value, position: int | None = None) -> Element | None:
    """Any element of an integer tensor (at ``position`` of its last dimension, if given), with symbols of its own; None where
    nothing is known beyond its type."""
    extents, key = extents.base, (tensor, position)
    if key not in extents.templates:
        extents.templates[key] = None  # a loop that leads back here learns nothing
        extents.templates[key] = _reduced(extents, _find(extents, tensor, position))
    template = extents.templates[key]
    return None if template is None else _fresh(extents, template)


def any_element(extents: Extents, tensor: ir.Value, position: int | None = None) -> Term:
    """Any element of an integer tensor as a term, the same one each time: what holds of it holds of all elements."""
    extents, key = extents.base, ("any", tensor, position)
    found = extents.templates.get(key) or element(extents, tensor, position)
    if found is None:
        low, high = range_of_type(tensor.type.element_type)
        some = extents.unnamed(f"an element of {name_of(tensor)}", low, high)
        found = Element(term(some), (), (some,))
    extents.templates[key] = found
    return found.term


def operand_of(argument: ir.Value) -> tuple[ir.Operation, ir.Value, ir.AffineMap | None] | None:
    """The structured op, and the operand and its map, that an argument of a body is an element of; None for what earlier rounds
    of a reduction made, and for other arguments."""
    owner = argument.owner.owner.operation if argument.owner.owner is not None else None
    if owner is None or not has_body_of_elements(owner):
        return None
    number = ir.BlockArgument(argument).arg_number
    if number >= len(owner.operands) - len(owner.results) and not all_parallel(owner):
        return None
    maps = indexing_maps(owner)
    return owner, owner.operands[number], maps[number] if maps else None


def elementwise_yield(tensor: ir.Value) -> ir.Value | None:
    """What the body of an op that makes ``tensor`` element by element, in the order of its loops, yields for it."""
    op = None if isinstance(tensor.owner, ir.Block) else tensor.owner.operation
    if op is None or not has_body_of_elements(op) or not all_parallel(op):
        return None
    maps, number = indexing_maps(op), ir.OpResult(tensor).result_number
    made = maps[len(op.operands) - len(op.results) + number] if maps else None
    if made is None or not is_identity(made):
        return None
    return yielded_by(op, number)


def _point_of(extents: Extents, owner: ir.Operation, operand: ir.Value, map_: ir.AffineMap | None) -> AtPoint:
    from .points import AtPoint

    if owner not in extents.points:
        extents.points[owner] = AtPoint(extents)
    return extents.points[owner].at(operand, owner, map_)


def body_argument(extents: Extents, argument: ir.Value) -> Term | None:
    """An integer argument of a structured op's body: the element of its operand that the round reads."""
    read = operand_of(argument)
    if read is None or not isinstance(argument.type, (ir.IntegerType, ir.IndexType)):
        return None
    owner, source, map_ = read
    if not isinstance(source.type, ir.ShapedType):
        return extents.value(source)
    return _point_of(extents, owner, source, map_).element(source) if _is_integer(argument.type) else None


def body_condition(extents: Extents, argument: ir.Value) -> Condition | None:
    """An i1 argument of a structured op's body."""
    read = operand_of(argument)
    if read is None:
        return None
    owner, source, map_ = read
    if not isinstance(source.type, ir.ShapedType):
        return extents.condition(source)
    if elementwise_yield(source) is None:
        return None
    return _point_of(extents, owner, source, map_).truth(source)


_CASTS = ("arith.index_cast", "arith.extsi", "arith.trunci", "arith.extui", "arith.index_castui")


def _find(extents: Extents, tensor: ir.Value, position: int | None) -> Element | None:
    if not _is_integer(tensor.type.element_type):
        return None
    if isinstance(tensor.owner, ir.Block):
        return None
    op, number = tensor.owner.operation, ir.OpResult(tensor).result_number
    if op.name in CONSTANTS:
        return _constant(extents, op, position)
    if op.name == iree_ops.UTIL_OPTIMIZATION_BARRIER:
        return element(extents, op.operands[number], position)
    if op.name in SAME_ELEMENTS:
        kept = position if op.name == "tensor.cast" else None
        return element(extents, op.operands[0], kept)
    if op.name in _CASTS:
        return _cast(extents, op, position)
    if op.name == "linalg.fill":
        return _of_value(extents, op.operands[0])
    if op.name in ("tensor.from_elements", "tensor.splat", iree_ops.FLOW_TENSOR_SPLAT):
        values = list(op.operands) if op.name == "tensor.from_elements" else [op.operands[0]]
        return _union(extents, [_of_value(extents, v) for v in values])
    if op.name == "tensor.concat":
        return _concat(extents, op, position)
    if op.name == "tensor.pad":
        padding = op.regions[0].blocks[0].operations
        value = padding[len(padding) - 1].operation.operands[0]
        return _union(extents, [element(extents, op.operands[0]), _of_value(extents, value)])
    if op.name == "tensor.insert_slice":
        return _inserted(extents, op, position)
    if op.name == "arith.select":
        return _union(extents, [element(extents, v, position) for v in list(op.operands)[1:]])
    if op.name == "scf.if":
        return _union(extents, [element(extents, last_of(r).operands[number], position) for r in op.regions])
    if op.name in (iree_ops.LINALG_EXT_GATHER, "tensor.gather"):
        parts = [element(extents, operand(op, "source"))]
        if op.name == iree_ops.LINALG_EXT_GATHER and operand(op, "mask") is not None:
            parts.append(element(extents, operand(op, "output")))
        return _union(extents, parts)
    if op.name in _INDEX_OF:
        return _INDEX_OF[op.name](extents, op, number)
    if op.name == "tensor.generate":
        return _of_value(extents, last_of(op.regions[0]).operands[0])
    if has_body_of_elements(op):
        yielded = yielded_by(op, number)
        if all_parallel(op):
            return _of_value(extents, yielded)
        return _reduced_choice(extents, op, yielded, number)
    return None


# -- ops that make elements ---------------------------------------------------------------------------------


def _constant(extents: Extents, op: ir.Operation, position: int | None) -> Element | None:
    found = array_of(op)
    if found is None or not found.size or found.dtype.kind not in "iub":
        return None
    if position is not None and found.shape[-1] > 1:
        found = found[..., position]
    low, high = int(found.min()), int(found.max())
    if low == high:
        return Element(term(low))
    some = extents.unnamed("an element of a constant", low, high)
    return Element(term(some), (), (some,))


def _cast(extents: Extents, op: ir.Operation, position: int | None) -> Element | None:
    from .value_terms import cast_of

    found = element(extents, op.operands[0], position)
    if found is None:
        return None
    made = cast_of(
        op.name, found.term, op.operands[0].type.element_type, op.results[0].type.element_type, found.facts
    )
    return None if made is None else Element(made, found.facts, found.inner)


def _concat(extents: Extents, op: ir.Operation, position: int | None) -> Element | None:
    parts = list(op.operands)
    along = ir.IntegerAttr(op.attributes["dim"]).value
    last = len(op.results[0].type.shape) - 1
    if position is not None and along == last and all(p.type.has_static_shape for p in parts):
        for part in parts:
            width = part.type.get_dim_size(last)
            if position < width:
                return element(extents, part, position if width > 1 else None)
            position -= width
    return _union(extents, [element(extents, p, position if along != last else None) for p in parts])


def _inserted(extents: Extents, op: ir.Operation, position: int | None) -> Element | None:
    """Of a slice that is inserted, and of the tensor around it: of one of them where the position in the last dimension decides."""
    source, target = list(op.operands)[:2]
    names = ("static_offsets", "static_sizes", "static_strides")
    at, size, stride = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in names)
    if position is None or at[-1] < 0 or size[-1] < 0 or stride[-1] != 1:
        return _union(extents, [element(extents, source), element(extents, target)])
    inside = position - at[-1]
    if not 0 <= inside < size[-1]:
        return element(extents, target, position)
    has_position = size[-1] > 1 and len(source.type.shape) == len(target.type.shape)
    found = element(extents, source, inside if has_position else None)
    is_whole = size[:-1] == list(target.type.shape)[:-1]
    return found if is_whole else _union(extents, [found, element(extents, target, position)])


def _index_of_topk(extents: Extents, op: ir.Operation, number: int) -> Element | None:
    """Positions along the dimension that was searched, or what the destination had where there are too few."""
    if number != 1 or not knows_operands(op):
        return None
    given = operand(op, "indices" if op.name.endswith(".topk") else "input_indices")
    chosen = element(extents, given) if given is not None else _position(extents, op, operand(op, "values"))
    if op.name.endswith(".topk"):
        return _union(extents, [chosen, element(extents, init_of(op, 1))])
    return chosen


def _index_of_compare(extents: Extents, op: ir.Operation, number: int) -> Element | None:
    if number != 1 or not knows_operands(op):
        return None
    given, base = operand(op, "input_index"), operand(op, "index_base")
    if given is not None:
        return element(extents, given)
    found = _position(extents, op, operand(op, "input_value"))
    if base is not None:
        found = Element(found.term + extents.value(base), found.facts, found.inner)
    return _union(extents, [found, element(extents, init_of(op, 1))])


def _sorted(extents: Extents, op: ir.Operation, number: int) -> Element | None:
    inputs = list(op.operands)
    if len(inputs) == len(op.results):  # sorted in place
        return element(extents, inputs[number])
    return element(extents, inputs[number]) if len(inputs) == 2 * len(op.results) else None


_INDEX_OF: dict[str, Callable] = {
    iree_ops.LINALG_EXT_TOPK: _index_of_topk,
    iree_ops.LINALG_EXT_TOPK_V2: _index_of_topk,
    iree_ops.LINALG_EXT_ARG_COMPARE: _index_of_compare,
    iree_ops.LINALG_EXT_SORT: _sorted,
}


def _position(extents: Extents, op: ir.Operation, searched: ir.Value) -> Element:
    size = extents.dimension(searched, ir.IntegerAttr(op.attributes["dimension"]).value)
    some = extents.unnamed(f"an index from {op.name}", 0, (1 << 63) - 1)
    return Element(term(some), (less(term(some), term(size)),), (some,))


def _reduced_choice(extents: Extents, op: ir.Operation, yielded: ir.Value, number: int) -> Element | None:
    """A reduction that keeps one of its terms (an argmax, a largest index): a term, or what it started from."""
    block = op.regions[0].blocks[0]
    sofar = block.arguments[len(op.operands) - len(op.results) + number]
    leaves = _leaves(yielded, sofar)
    start = init_of(op, number)
    if leaves is None or start is None or len(leaves) >= MAX_UNION:
        return None
    return _union(extents, [*(_of_value(extents, v) for v in leaves), element(extents, start)])


_CHOICES = ("arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui")


def _leaves(value: ir.Value, sofar: ir.Value, depth: int = 0) -> list[ir.Value] | None:
    """The values that ``value`` is one of, besides ``sofar``; None where it is computed from ``sofar`` otherwise."""
    if value == sofar:
        return []
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is not None and (op.name == "arith.select" or op.name in _CHOICES) and depth < 8:
        found: list[ir.Value] = []
        for inner in list(op.operands)[1 if op.name == "arith.select" else 0 :]:
            leaves = _leaves(inner, sofar, depth + 1)
            if leaves is None:
                return None
            found += leaves
        return found
    return None if _uses(value, sofar) else [value]


def _uses(value: ir.Value, sofar: ir.Value) -> bool:
    pending, seen = [value], set()
    while pending:
        value = pending.pop()
        if value == sofar:
            return True
        if isinstance(value.owner, ir.Block) or value in seen:
            continue
        seen.add(value)
        pending.extend(value.owner.operation.operands)
    return False


# -- putting elements together ------------------------------------------------------------------------------


def _of_value(extents: Extents, value: ir.Value) -> Element | None:
    """A scalar, inside an op's body or outside of it, with all that is known of the symbols in its term."""
    if not _is_integer(value.type):
        return None
    found = extents.value(value)
    facts = extents.facts_about(symbols_of(found))
    everything = {**symbols_of(found), **symbols(all_of(facts))}
    inner = tuple(s for s in everything.values() if extents.is_inner(s))
    if isinstance(atom := found.atom, Symbol) and atom in inner and not facts:
        if (atom.low, atom.high) == range_of_type(value.type):
            return None  # known only by its type
    return Element(found, tuple(facts), inner)


def _union(extents: Extents, parts: Iterable[Element | None]) -> Element | None:
    parts = list(parts)
    if not parts or None in parts or len(parts) > MAX_UNION:
        return None
    distinct = list(dict.fromkeys(part for part in parts if part is not None))
    if len(distinct) == 1:
        return distinct[0]
    bounds = [Bounds(p.facts).of(p.term) for p in distinct]
    some = extents.unnamed("an element", min(b[0] for b in bounds), max(b[1] for b in bounds))
    cases = any_of(all_of((equal(term(some), p.term), *p.facts)) for p in distinct)
    return Element(term(some), (cases,), (some, *(s for p in distinct for s in p.inner)))


def _reduced(extents: Extents, found: Element | None) -> Element | None:
    """``found``, or no more than its range where it has grown too large."""
    if found is None or (len(found.inner) <= MAX_SYMBOLS and found.term.depth <= 6):
        return found
    low, high = Bounds(found.facts).of(found.term)
    some = extents.unnamed("an element", low, high)
    return Element(term(some), (), (some,))


def _fresh(extents: Extents, template: Element) -> Element:
    renamed = {s.ident: extents.unnamed(s.text, s.low, s.high) for s in template.inner}
    by = {ident: term(s) for ident, s in renamed.items()}
    facts = tuple(replace(fact, by) for fact in template.facts)
    for fact in facts:
        for _ident, symbol in symbols(fact).items():
            if symbol in renamed.values():
                extents.define(symbol, fact)
    return Element(substitute(template.term, by), facts, tuple(renamed.values()))


# -- reading ops --------------------------------------------------------------------------------------------


def _is_integer(type_: ir.Type) -> bool:
    return isinstance(type_, (ir.IntegerType, ir.IndexType)) and getattr(type_, "width", 64) > 1


def has_body_of_elements(op: ir.Operation) -> bool:
    """Whether the op is a linalg op whose body has one argument for each operand."""
    return (
        op.name.startswith("linalg.")
        and len(op.regions) == 1
        and len(op.regions[0].blocks) == 1
        and len(op.regions[0].blocks[0].arguments) == len(op.operands)
        and op.name != "linalg.map"
    )


def all_parallel(op: ir.Operation) -> bool:
    return "iterator_types" in op.attributes and all(
        "parallel" in str(a) for a in op.attributes["iterator_types"]
    )


def yielded_by(op: ir.Operation, number: int) -> ir.Value:
    return last_of(op.regions[0]).operands[number]
