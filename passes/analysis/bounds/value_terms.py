"""What integers are: index and integer arithmetic as size terms, i1 values as conditions.

Machine arithmetic wraps; a term says so (`wrap`) wherever its ranges allow it. Where the meaning of
an op on negative numbers differs (unsigned ops), it is taken only if the operands cannot be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.dialect.linalg_ops import indexing_maps
from fissile.passes.iree import ops as iree_ops

from . import call_results, element_values, float_ranges
from .bits.bit_terms import BIT_RULES, bits_of, in_ranges
from .chosen_tensors import choice_of
from .conditions import FALSE, TRUE, Condition, all_of, any_of, at_most, different, equal, less, negation
from .intervals import Bounds, of_unsigned, wrapped
from .size_terms import INDEX_BITS, Term, apply, product, term

if TYPE_CHECKING:
    from .extents import Extents

LARGEST_CONSTANT_READ = 64
"""Elements of a constant tensor of integers that are looked at."""

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""In the order of arith.cmpi's predicate attribute."""


def term_of(extents: Extents, value: ir.Value) -> Term | None:
    """The term that an op's integer result is, None where it is only known by itself."""
    op = value.owner.operation
    rule = _RULES.get(op.name)
    return rule(extents, op, value) if rule else None


def condition_of(extents: Extents, value: ir.Value) -> Condition:
    """An i1 value as a condition; as a last resort a symbol that is 1 where it is true."""
    if not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name == "arith.constant":
            return TRUE if int(ir.IntegerAttr(op.attributes["value"]).value) else FALSE
        if op.name in ("arith.cmpi", "index.cmp") and not isinstance(
            op.operands[0].type, (ir.ShapedType, ir.VectorType)
        ):
            found = _compare(extents, op)
            if found is not None:
                return found
        if op.name in ("arith.andi", "arith.ori"):
            join = all_of if op.name == "arith.andi" else any_of
            return join(extents.condition(operand) for operand in op.operands)
        if op.name == "arith.xori":
            parts = [extents.condition(operand) for operand in op.operands]
            for one, other in (parts, parts[::-1]):
                if one in (TRUE, FALSE):
                    return negation(other) if one == TRUE else other
        if (choice := choice_of(value)) is not None:
            chosen, yes, no = (extents.condition(v) for v in (choice.condition, choice.yes, choice.no))
            return any_of((all_of((chosen, yes)), all_of((negation(chosen), no))))
    elif (found := element_values.body_condition(extents, value)) is not None:
        return found
    return equal(term(extents.symbol(value)), 1)


def _predicate(op: ir.Operation) -> str:
    if op.name == "arith.cmpi":
        return _PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    return str(op.attributes["pred"]).rpartition(" ")[2].rstrip(">")  # #index<cmp_predicate slt>


def _compare(extents: Extents, op: ir.Operation) -> Condition | None:
    left, right = (extents.value(operand) for operand in op.operands)
    predicate = _predicate(op)
    if predicate == "eq":
        return equal(left, right)
    if predicate == "ne":
        return different(left, right)
    if predicate.endswith(("gt", "ge")):
        left, right = right, left
    strict = predicate.endswith("t")
    signed = less(left, right) if strict else at_most(left, right)
    if predicate.startswith("s"):
        return signed
    # Unsigned: a negative left is a huge number, so it is not below a right side that is not negative.
    if extents.bounds_of(right)[0] >= 0:
        return all_of((at_most(0, left), signed))
    if extents.bounds_of(left)[0] >= 0:
        return any_of((less(right, 0), signed))
    apart = all_of((at_most(0, left), less(right, 0)))
    same = any_of((all_of((at_most(0, left), at_most(0, right))), all_of((less(left, 0), less(right, 0)))))
    return any_of((apart, all_of((same, signed))))


def element_of(extents: Extents, tensor: ir.Value, index: int) -> Term:
    """Element ``index`` of a one-dimensional tensor of integers (a shape)."""
    if not isinstance(tensor.owner, ir.Block):
        op = tensor.owner.operation
        if op.name == "tensor.from_elements":
            return extents.value(op.operands[index])
        if op.name in ("arith.index_cast", "tensor.cast"):
            return element_of(extents, op.operands[0], index)
        constant = _constant_elements(op)
        if constant is not None:
            return term(constant[index])
    return term(extents.symbol(tensor, element=index))


def _constant_elements(op: ir.Operation) -> list[int] | None:
    if op.name != "arith.constant":
        return None
    held = attribute(op, "value")  # None: complex numbers
    try:
        dense = ir.DenseIntElementsAttr(held) if held is not None else ()
    except ValueError:
        return None
    if not dense or len(dense) > LARGEST_CONSTANT_READ:
        return None
    return [int(v) for v in dense]


# -- rules: (extents, op, result) -> Term or None -----------------------------------------------------------


def _constant(_extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    if not isinstance(value.type, (ir.IndexType, ir.IntegerType)):
        return None
    return term(int(ir.IntegerAttr(op.attributes["value"]).value))


def _polynomial(combine: Callable[[Term, Term], Term]) -> Callable:
    def rule(extents: Extents, op: ir.Operation, value: ir.Value) -> Term:
        left, right = (extents.value(operand) for operand in op.operands)
        return wrapped(combine(left, right), bits_of(value.type))

    return rule


def _function(name: str, unsigned: bool = False) -> Callable:
    def rule(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
        terms = [extents.value(operand) for operand in op.operands]
        negative = [extents.bounds_of(t)[0] < 0 for t in terms] if unsigned else []
        if any(negative) and name == "min" and not all(negative):
            known = [t for t, below in zip(terms, negative, strict=True) if not below]
            return _smaller_unsigned(extents, value, known)
        if any(negative):
            found = of_unsigned(name, terms, bits_of(value.type))
            return in_ranges(extents, op, value) if found is None and name in ("min", "max") else found
        return wrapped(apply(name, *terms), bits_of(value.type))

    return rule


def _smaller_unsigned(extents: Extents, value: ir.Value, known: Sequence[Term]) -> Term:
    """The unsigned minimum of numbers of which ``known`` are not negative: a negative one is larger than they are."""
    made = extents.symbol(value)
    bounds = (at_most(term(made), one) for one in known)
    extents.define(made, all_of((at_most(0, term(made)), *bounds)))
    return term(made)


def _same(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    """A cast that keeps the number where it fits, and wraps where it does not; of an i1 -1 or 0 (on the host after FIS148's repair)."""
    if not isinstance(value.type, (ir.IndexType, ir.IntegerType)):
        return None
    if bits_of(op.operands[0].type) == 1:
        return _chosen(extents, value, extents.condition(op.operands[0]), term(-1), term(0))
    if _there_and_back(op):
        return None
    return wrapped(extents.value(op.operands[0]), bits_of(value.type))


def _there_and_back(op: ir.Operation) -> bool:
    """index_cast of an index_cast of the same type: MLIR folds both away even where the type between
    is too narrow, so that the value is not what the casts say (see IndexCastOfIndexCast in
    ArithCanonicalization.td)."""
    source = op.operands[0].owner
    if isinstance(source, ir.Block) or source.operation.name != op.name or op.name != "arith.index_cast":
        return False
    between, outside = op.operands[0].type, source.operation.operands[0].type
    return outside == op.results[0].type and bits_of(between) < bits_of(outside)


def _same_if_not_negative(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    if not isinstance(value.type, (ir.IndexType, ir.IntegerType)):
        return None
    if bits_of(op.operands[0].type) == 1:
        return _chosen(extents, value, extents.condition(op.operands[0]), term(1), term(0))
    known = extents.value(op.operands[0])
    return _zero_extended(
        known, bits_of(op.operands[0].type), bits_of(value.type), extents.bounds_of(known)[0]
    )


def _zero_extended(known: Term, width: int, wanted: int, low: int) -> Term | None:
    """A negative number of n bits is 2**n more; a cast to fewer bits keeps the lower ones."""
    if low >= 0 or wanted <= width:
        return wrapped(known, wanted)
    return apply("mod", known, 1 << width) if width < INDEX_BITS else None


def cast_of(
    name: str, known: Term, source: ir.Type, result: ir.Type, facts: Sequence[Condition]
) -> Term | None:
    """What the cast ``name`` makes of ``known``, which ``facts`` bound."""
    if bits_of(source) == 1:
        return None
    bounds = Bounds(facts)
    if name in ("arith.extui", "arith.index_castui"):
        return _zero_extended(known, bits_of(source), bits_of(result), bounds.of(known)[0])
    return wrapped(known, bits_of(result), bounds)


def _select(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    if not isinstance(value.type, (ir.IndexType, ir.IntegerType)) or bits_of(value.type) == 1:
        return None
    yes, no = extents.value(op.operands[1]), extents.value(op.operands[2])
    return _chosen(extents, value, extents.condition(op.operands[0]), yes, no)


def _chosen(extents: Extents, value: ir.Value, condition: Condition, yes: Term, no: Term) -> Term:
    if condition == TRUE or yes == no:
        return yes
    if condition == FALSE:
        return no
    if condition in (at_most(yes, no), less(yes, no)):
        return apply("min", yes, no)
    if condition in (at_most(no, yes), less(no, yes)):
        return apply("max", yes, no)
    chosen = extents.symbol(value)
    cases = (
        all_of((condition, equal(term(chosen), yes))),
        all_of((negation(condition), equal(term(chosen), no))),
    )
    extents.define(chosen, any_of(cases))
    return term(chosen)


def _dimension(extents: Extents, op: ir.Operation, _value: ir.Value) -> Term | None:
    index = extents.value(op.operands[1]).constant
    rank = len(ir.ShapedType(op.operands[0].type).shape) if ir.ShapedType(op.operands[0].type).has_rank else 0
    return extents.dimension(op.operands[0], index) if index is not None and 0 <= index < rank else None


def _buffer_dimension(extents: Extents, op: ir.Operation, _value: ir.Value) -> Term:
    """A dimension of what the caller passes; front ends with an ABI of their own read it before
    IREE's import."""
    return term(extents.symbol(op.operands[0], ir.IntegerAttr(op.attributes["index"]).value))


def _affine(combine: Callable[[list[Term]], Term]) -> Callable:
    def rule(extents: Extents, op: ir.Operation, _value: ir.Value) -> Term:
        map_ = ir.AffineMapAttr(op.attributes["map"]).value
        operands = [extents.value(operand) for operand in op.operands]
        dims, symbols = operands[: map_.n_dims], operands[map_.n_dims :]
        return combine([wrapped(affine_term(e, dims, symbols)) for e in map_.results])

    return rule


_AFFINE_DIVISIONS = {
    ir.AffineModExpr: "mod",
    ir.AffineFloorDivExpr: "floordiv",
    ir.AffineCeilDivExpr: "ceildiv",
}


def affine_term(expression: ir.AffineExpr, dims: list[Term], symbols: list[Term]) -> Term:
    """An affine expression over the terms of its dimensions and symbols, exactly."""
    if isinstance(expression, ir.AffineConstantExpr):
        return term(ir.AffineConstantExpr(expression).value)
    if isinstance(expression, ir.AffineDimExpr):
        return dims[ir.AffineDimExpr(expression).position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return symbols[ir.AffineSymbolExpr(expression).position]
    binary = ir.AffineBinaryExpr(expression)
    left, right = affine_term(binary.lhs, dims, symbols), affine_term(binary.rhs, dims, symbols)
    if isinstance(expression, ir.AffineAddExpr):
        return left + right
    if isinstance(expression, ir.AffineMulExpr):
        return left * right
    return apply(_AFFINE_DIVISIONS[type(expression)], left, right)


def _extract(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    """An element of a small tensor of sizes whose place is known; any element of another whose makers are."""
    if not isinstance(value.type, (ir.IndexType, ir.IntegerType)) or bits_of(value.type) == 1:
        return None
    source = op.operands[0].owner
    if isinstance(source, ir.Block):
        return None
    source, index = (
        source.operation,
        extents.value(op.operands[1]).constant if len(op.operands) == 2 else None,
    )
    if index is not None and source.name == "tensor.from_elements" and 0 <= index < len(source.operands):
        return extents.value(source.operands[index])
    constant = _constant_elements(source) if index is not None else None
    if constant is not None and index is not None and 0 <= index < len(constant):
        return term(constant[index])
    found = element_values.element(extents, op.operands[0])
    if found is None:
        return None
    if found.term.constant is not None:
        return found.term
    read = extents.symbol(value)
    extents.define(read, all_of((equal(term(read), found.term), *found.facts)))
    return term(read)


def _loop_index(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    """The number of a round: from 0 to the loop's extent, without it."""
    from ..storage.structured_rules import loop_extents

    owner = op.parent.operation
    maps = indexing_maps(owner) if owner.name.startswith("linalg.") else None
    at = extents.symbol(value)
    if maps:
        size = loop_extents(extents, owner, maps)[ir.IntegerAttr(op.attributes["dim"]).value]
        if size is not None:
            extents.define(at, all_of((at_most(0, term(at)), less(term(at), size))))
    return term(at)


def _from_float(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    if not isinstance(value.type, ir.IntegerType):
        return None
    found = float_ranges.integer_range(extents, op)
    if found is None:
        return None
    made = extents.symbol(value)
    extents.define(made, all_of((at_most(found[0], term(made)), at_most(term(made), found[1]))))
    return term(made)


def _called(extents: Extents, op: ir.Operation, value: ir.Value) -> Term | None:
    is_integer = isinstance(value.type, (ir.IndexType, ir.IntegerType))
    return call_results.integer(extents, op, ir.OpResult(value).result_number) if is_integer else None


def _assumed(extents: Extents, op: ir.Operation, value: ir.Value) -> Term:
    return extents.value(op.operands[ir.OpResult(value).result_number])


def _first(extents: Extents, op: ir.Operation, _value: ir.Value) -> Term:
    return extents.value(op.operands[0])


_RULES: dict[str, Callable] = {
    "arith.constant": _constant,
    iree_ops.UTIL_UNFOLDABLE_CONSTANT: _constant,
    "arith.addi": _polynomial(lambda a, b: a + b),
    "arith.subi": _polynomial(lambda a, b: a - b),
    "arith.muli": _polynomial(lambda a, b: product((a, b))),
    "arith.divsi": _function("tdiv"),
    "arith.divui": _function("tdiv", unsigned=True),
    "arith.remsi": _function("trem"),
    "arith.remui": _function("trem", unsigned=True),
    "arith.floordivsi": _function("floordiv"),
    "arith.ceildivsi": _function("ceildiv"),
    "arith.ceildivui": _function("ceildiv", unsigned=True),
    "arith.minsi": _function("min"),
    "arith.maxsi": _function("max"),
    "arith.minui": _function("min", unsigned=True),
    "arith.maxui": _function("max", unsigned=True),
    "arith.index_cast": _same,
    "arith.extsi": _same,
    "arith.trunci": _same,
    "arith.index_castui": _same_if_not_negative,
    "arith.extui": _same_if_not_negative,
    **BIT_RULES,
    "arith.select": _select,
    "arith.fptosi": _from_float,
    "arith.fptoui": _from_float,
    "linalg.index": _loop_index,
    iree_ops.HAL_BUFFER_VIEW_DIM: _buffer_dimension,
    "tensor.dim": _dimension,
    "memref.dim": _dimension,
    "affine.apply": _affine(lambda results: results[0]),
    "affine.min": _affine(lambda results: apply("min", *results)),
    "affine.max": _affine(lambda results: apply("max", *results)),
    "tensor.extract": _extract,
    "func.call": _called,
    iree_ops.UTIL_CALL: _called,
    iree_ops.UTIL_ASSUME_INT: _assumed,
    iree_ops.UTIL_OPTIMIZATION_BARRIER: _assumed,
    "fissile.boundary": _first,
}
_INDEX_OPS = {
    "constant": "constant", "add": "addi", "sub": "subi", "mul": "muli", "divs": "divsi", "divu": "divui", "rems": "remsi",
    "remu": "remui", "floordivs": "floordivsi", "ceildivs": "ceildivsi", "ceildivu": "ceildivui", "mins": "minsi",
    "minu": "minui", "maxs": "maxsi", "maxu": "maxui", "casts": "index_cast", "castu": "index_castui", "and": "andi",
    "or": "ori", "xor": "xori", "shl": "shli", "shrs": "shrsi", "shru": "shrui",
}  # fmt: skip
"""Ops of MLIR's index dialect, and those of arith that compute the same."""
_RULES |= {f"index.{name}": _RULES[f"arith.{same}"] for name, same in _INDEX_OPS.items()}
