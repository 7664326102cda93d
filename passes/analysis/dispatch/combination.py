"""How does a reduction combine its terms: may they be taken in parts, and what does a part start from?"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

_ZERO, _ONE, _ALL, _LEAST, _MOST = "zero", "one", "all bits", "least", "most"
NEUTRAL = {
    "arith.addf": _ZERO,
    "arith.addi": _ZERO,
    "arith.ori": _ZERO,
    "arith.xori": _ZERO,
    "arith.mulf": _ONE,
    "arith.muli": _ONE,
    "arith.andi": _ALL,
    "arith.maximumf": _LEAST,
    "arith.maxnumf": _LEAST,
    "arith.maxsi": _LEAST,
    "arith.maxui": _ZERO,
    "arith.minimumf": _MOST,
    "arith.minnumf": _MOST,
    "arith.minsi": _MOST,
    "arith.minui": _ALL,
}
"""Associative and commutative ops (floats: but for rounding), and the value that changes nothing."""
_GREATER = {"arith.cmpf": (2, 3, 9, 10), "arith.cmpi": (4, 5, 8, 9)}
_LESS = {"arith.cmpf": (4, 5, 11, 12), "arith.cmpi": (2, 3, 6, 7)}
"""Predicates by the numbers that MLIR gives them: ordered and unordered floats, signed and unsigned integers."""
_UNSIGNED = (6, 7, 8, 9)


@dataclass(frozen=True)
class Combination:
    """``ops`` of the body combine ``sofar`` (the block's arguments of the results) with ``terms``, one each, of the same type.

    ``neutral`` is what a part starts from, for each result; ``in_order``: parts have to be combined in the order of their terms
    (a position, of which the first or the last that is largest counts).
    """

    ops: tuple[ir.Operation, ...]
    terms: tuple[ir.Value, ...]
    sofar: tuple[ir.Value, ...]
    neutral: tuple[int | float, ...]
    in_order: bool = False


def combination_of(op: ir.Operation) -> Combination | None:
    """How the structured ``op`` combines its terms; None where it is no such combination: each result by an op of its own that
    is associative, or a largest or smallest value and its position."""
    block = op.regions[0].blocks[0]
    operations = [o.operation for o in block.operations]
    sofar, yielded = tuple(block.arguments)[-len(op.results) :], tuple(operations[-1].operands)
    ops = _depending(operations[:-1], sofar)
    return _each_by_itself(ops, sofar, yielded) or _with_position(ops, sofar, yielded)


def _depending(operations: list[ir.Operation], values: tuple[ir.Value, ...]) -> tuple[ir.Operation, ...]:
    known, found = list(values), []
    for op in operations:
        if any(operand in known for operand in op.operands):
            found.append(op)
            known += list(op.results)
    return tuple(found)


def _each_by_itself(
    ops: tuple[ir.Operation, ...], sofar: tuple[ir.Value, ...], yielded: tuple[ir.Value, ...]
) -> Combination | None:
    if len(ops) != len(sofar):
        return None
    terms, neutral = [], []
    for before, after in zip(sofar, yielded, strict=True):
        op = None if isinstance(after.owner, ir.Block) else after.owner.operation
        if op is None or op not in ops or op.name not in NEUTRAL or list(op.operands).count(before) != 1:
            return None
        [term] = [v for v in op.operands if v != before]
        if term in sofar:
            return None
        terms.append(term)
        neutral.append(_number(NEUTRAL[op.name], after.type))
    return Combination(ops, tuple(terms), sofar, tuple(neutral))


def _with_position(
    ops: tuple[ir.Operation, ...], sofar: tuple[ir.Value, ...], yielded: tuple[ir.Value, ...]
) -> Combination | None:
    """The largest or smallest value and its position: one comparison chooses the position, it or a maximum the value."""
    compares = [op for op in ops if op.name in _GREATER]
    if (
        len(sofar) != 2
        or len(ops) != 3
        or len(compares) != 1
        or not isinstance(sofar[1].type, ir.IntegerType)
    ):
        return None
    [compare], (value, position) = compares, sofar
    operands = list(compare.operands)
    if operands.count(value) != 1:
        return None
    [term] = [v for v in operands if v != value]
    predicate = ir.IntegerAttr(compare.attributes["predicate"]).value
    if predicate not in (*_GREATER[compare.name], *_LESS[compare.name]):
        return None
    chosen = _chosen(yielded[1], compare, position)
    if chosen is None or term in sofar or chosen[0] in sofar:
        return None
    other, if_so = chosen
    # Whether the new term is taken where it is the greater one: turned by each of three.
    greater = (predicate in _GREATER[compare.name]) ^ (operands[0] == value) ^ (not if_so)
    kept = yielded[0].owner.operation if not isinstance(yielded[0].owner, ir.Block) else None
    unsigned = compare.name == "arith.cmpi" and predicate in _UNSIGNED
    neutral = _number(
        (_ZERO if unsigned else _LEAST) if greater else (_ALL if unsigned else _MOST), value.type
    )
    if kept is not None and kept.name in NEUTRAL:
        same = set(kept.operands) == {term, value} and _number(NEUTRAL[kept.name], value.type) == neutral
    else:
        same = _chosen(yielded[0], compare, value) == (term, if_so)
    return Combination(ops, (term, other), sofar, (neutral, 0), True) if same else None


def _chosen(value: ir.Value, compare: ir.Operation, before: ir.Value) -> tuple[ir.Value, bool] | None:
    """What stands beside ``before`` in the select by ``compare`` that is ``value``, and whether it is taken where that holds."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or op.name != "arith.select" or op.operands[0] != compare.results[0]:
        return None
    if op.operands[2] == before:
        return op.operands[1], True
    return (op.operands[2], False) if op.operands[1] == before else None


def _number(which: str, type_: ir.Type) -> int | float:
    if isinstance(type_, ir.FloatType):
        return {_ZERO: -0.0, _ONE: 1.0, _LEAST: float("-inf"), _MOST: float("inf")}[which]
    width = ir.IntegerType(type_).width
    return {_ZERO: 0, _ONE: 1, _ALL: -1, _LEAST: -(1 << (width - 1)), _MOST: (1 << (width - 1)) - 1}[which]
