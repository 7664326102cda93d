"""Checks of indices that only a dispatch sees: what a reduction over them reads and computes.

A gather reads where the elements of a tensor say. No term knows them, and IREE drops an assert inside
a dispatch. So a small structured op computes the same indices and says whether some are out of
bounds, one bit for each check. `element_status.py` joins them and reads them back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.linalg_ops import indexing_maps
from fissile.passes.analysis.bounds.shaped_values import is_argument, is_shaped, rank_of, static_dimension
from fissile.passes.analysis.storage.obligations import ElementBound, Obligation

from ..generic_ops import build_generic
from .body_replay import Watch, can_replay, has_reduction, replayed_flags

_EQ, _NE, _SLT, _UGE = 0, 1, 2, 9
MAX_FLAGS = 31
"""Bits of the i32 that reductions hand back."""
REPEATABLE = (
    "arith.",
    "math.",
    "index.",
    "linalg.index",
    "tensor.extract",
    "tensor.dim",
    "affine.apply",
    "affine.min",
    "affine.max",
)
"""Ops of a body that may be computed a second time."""
UNSAFE = ("tensor.extract", "arith.div", "arith.rem", "arith.ceildiv", "arith.floordiv")
"""Those that must not be computed where a branch keeps them from running."""


def can_check(obligation: Obligation) -> bool:
    """Whether a reduction can make the check."""
    bound = obligation.elements
    if bound is None:
        return False
    if bound.indices is not None:
        return isinstance(bound.indices.type, ir.RankedTensorType)
    op = obligation.op
    return (
        op.name.startswith("linalg.")
        and indexing_maps(op) is not None
        and all(isinstance(v.type, ir.RankedTensorType) or not is_shaped(v) for v in op.operands)
        and (_can_slice(op, bound) or can_replay(op, [bound.at] if bound.at is not None else []))
    )


def _can_slice(op: ir.Operation, bound: ElementBound) -> bool:
    """Whether what computes the index can be repeated without the rest of the body."""
    slice_ = _slice(op, _read_by(bound))
    return (
        not bound.nested
        and all(_repeatable(op, inner) for inner in slice_)
        and not any(_is_inner_argument(op, v) for o in slice_ for v in o.operands)
        and not any(_is_sum(op, v) for v in (*_read_by(bound), *(v for o in slice_ for v in o.operands)))
    )


def _is_sum(op: ir.Operation, value: ir.Value) -> bool:
    """Whether ``value`` is what a sum of ``op`` has come to: an argument of its body that each round changes."""
    body = op.regions[0].blocks[0]
    first = len(body.arguments) - len(op.results)
    return (
        _is_body_argument(value, body) and ir.BlockArgument(value).arg_number >= first and has_reduction(op)
    )


def _maps_of(op: ir.Operation) -> list[ir.AffineMap]:
    """The maps of an op that has a body."""
    maps = indexing_maps(op)
    assert maps is not None
    return maps


@dataclass(frozen=True)
class Reading:
    """A loop nest over ``inputs``, each read by its map. ``bad`` writes the loop's body: for the elements that it is
    given, the flags of each check in turn (see `flags_of`)."""

    inputs: Sequence[ir.Value]
    maps: Sequence[ir.AffineMap]
    loops: int
    bad: Callable[[Sequence[ir.Value], ir.InsertionPoint], list[ir.Value]]


def flags_of(bound: ElementBound) -> int:
    """How many i1 values a check has: a wrong index, after whether it is a negative one; or a condition that is false."""
    return 1 if bound.condition is not None else 2


def plain_indices(obligation: Obligation) -> ir.Value | None:
    """The tensor of which every element is checked as it is, against one size; None where the check is about more."""
    bound, op = obligation.bound, obligation.op
    if bound.indices is not None:
        return bound.indices if bound.depth == 1 and bound.mask is None else None
    if bound.index is None or bound.when:
        return None
    index, block = _before_cast(bound.index), op.regions[0].blocks[0]
    if not _is_body_argument(index, block):
        return None
    number = ir.BlockArgument(index).arg_number
    tensor = op.operands[number]
    map_ = _maps_of(op)[number]
    expressions = list(map_.results)
    plain = len(_plain_dims(map_)) == len(expressions) == len(set(map(str, expressions)))
    if not plain or not is_shaped(tensor) or not expressions:
        return None
    # Where another loop may have no round, nothing is read whatever the indices are.
    return tensor if loops_that_run(op) >= set(range(map_.n_dims)) - set(_plain_dims(map_)) else None


def loops_that_run(op: ir.Operation) -> set[int]:
    """The loops of a structured op that have a round, whatever the call: a dimension of static size says so."""
    found = set()
    for operand, map_ in zip(op.operands, _maps_of(op), strict=False):
        for i, expression in enumerate(map_.results if is_shaped(operand) else ()):
            if isinstance(expression, ir.AffineDimExpr) and (static_dimension(operand.type, i) or 0) > 0:
                found.add(ir.AffineDimExpr(expression).position)
    return found


def read_plain(tensors: Sequence[ir.Value], sizes: Sequence[ir.Value]) -> Reading:
    """Every element of ``tensors``, which have one shape, is in 0 … size - 1 of its own size."""
    rank = rank_of(tensors[0])

    def bad(arguments: Sequence[ir.Value], inner: ir.InsertionPoint) -> list[ir.Value]:
        return [
            flag
            for index, size in zip(arguments, sizes, strict=False)
            for flag in _outside(index, size, inner)
        ]

    return Reading(tensors, [ir.AffineMap.get_identity(rank)] * len(tensors), rank, bad)


def read_elements(
    op: ir.Operation,
    bounds: Sequence[ElementBound],
    sizes: Sequence[ir.Value | None],
    extent_of: Callable[[int], ir.Value | None],
    rounds_of: Callable[[Sequence[int]], ir.Value | None],
) -> Reading:
    """What ``op`` computes of ``bounds``. ``extent_of`` a loop is how many rounds it has; None: at least one. ``rounds_of`` loops is a tensor with
    a dimension for each, to be read for its sizes alone; None: they are not known."""
    if bounds[0].indices is not None:
        return _over_indices(bounds, sizes)
    if all(_can_slice(op, b) for b in bounds):
        return _over_body(op, bounds, sizes, extent_of, rounds_of)
    return _over_whole_body(op, bounds, sizes)


def _over_indices(bounds: Sequence[ElementBound], sizes: Sequence[ir.Value]) -> Reading:
    indices, mask = bounds[0].indices, bounds[0].mask
    rank = rank_of(indices)
    read, maps = [indices], [ir.AffineMap.get_identity(rank)]
    if mask is not None:
        read.append(mask)
        maps.append(ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(i) for i in range(rank_of(mask))]))

    def body(arguments: Sequence[ir.Value], inner: ir.InsertionPoint) -> list[ir.Value]:
        index = arguments[0]
        found = []
        for bound, size in zip(bounds, sizes, strict=False):
            bad = _outside(index, size, inner)
            if bound.depth > 1:
                position = linalg.IndexOp(rank - 1, ip=inner).result
                wanted = arith.constant(ir.IndexType.get(), bound.position, ip=inner)
                bad = _only_where(arith.cmpi(_EQ, position, wanted, ip=inner), bad, inner)
            if mask is not None:
                zero = arith.constant(arguments[1].type, 0, ip=inner)
                bad = _only_where(arith.cmpi(_NE, arguments[1], zero, ip=inner), bad, inner)
            found += bad
        return found

    return Reading(read, maps, rank, body)


def _over_body(
    op: ir.Operation,
    bounds: Sequence[ElementBound],
    sizes: Sequence[ir.Value | None],
    extent_of: Callable[[int], ir.Value | None],
    rounds_of: Callable[[Sequence[int]], ir.Value | None],
) -> Reading:
    watched = [_watched(b) for b in bounds]
    needed = [v for b in bounds for v in _read_by(b)]
    slice_, block = _slice(op, needed), op.regions[0].blocks[0]
    read = [*needed, *(v for o in slice_ for v in o.operands)]
    chosen = sorted({ir.BlockArgument(v).arg_number for v in read if _is_body_argument(v, block)})
    maps = _maps_of(op)
    loops = {ir.IntegerAttr(o.attributes["dim"]).value for o in slice_ if o.name == "linalg.index"}
    # Every loop that is used needs an operand that tells its extent: a shaped one that indexes it alone.
    alone = {d for n in chosen for d in _plain_dims(maps[n])}
    counted = sorted((loops | {d for n in chosen for d in _dims(maps[n])}) - alone)
    rounds = rounds_of(counted) if counted else None
    if counted and rounds is None:
        with_them = (n for n, map_ in enumerate(maps) if set(counted) & set(_plain_dims(map_)))
        chosen += [n for n in with_them if n not in chosen and is_shaped(op.operands[n])]
    kept = sorted(loops | {d for n in chosen for d in _dims(maps[n])})
    renamed = {old: new for new, old in enumerate(kept)}
    # The body runs only if the other loops have a round.
    others = [extent_of(loop) for loop in range(maps[0].n_dims) if loop not in renamed]

    def body(arguments: Sequence[ir.Value], inner: ir.InsertionPoint) -> list[ir.Value]:
        copies = {block.arguments[n]: arguments[i] for i, n in enumerate(chosen)}
        for original in slice_:
            if original.name == "linalg.index":
                dim = renamed[ir.IntegerAttr(original.attributes["dim"]).value]
                copies[original.results[0]] = linalg.IndexOp(dim, ip=inner).result
                continue
            copy = original.clone(ip=inner)
            for i, operand in enumerate(original.operands):
                if operand in copies:
                    copy.operands[i] = copies[operand]
            copies.update(zip(original.results, copy.results, strict=False))
        found = []
        for bound, size, value in zip(bounds, sizes, watched, strict=False):
            if bound.condition is not None:
                bad = [_inverted(copies.get(value, value), inner)]
            else:
                value = _before_cast(value)
                bad = _outside(copies.get(value, value), size, inner)
            for condition, taken in bound.when:
                runs = copies.get(condition, condition)
                bad = _only_where(runs if taken else _inverted(runs, inner), bad, inner)
            for extent in others:
                if extent is not None:
                    zero = arith.constant(extent.type, 0, ip=inner)
                    bad = _only_where(arith.cmpi(_NE, extent, zero, ip=inner), bad, inner)
            found += bad
        return found

    read = [op.operands[n] for n in chosen]
    places = [[_renamed(e, renamed) for e in maps[n].results] for n in chosen]
    if rounds is not None:
        read.append(rounds)
        places.append([ir.AffineDimExpr.get(renamed[d]) for d in counted])
    return Reading(read, [ir.AffineMap.get(len(kept), 0, one) for one in places], len(kept), body)


def _over_whole_body(
    op: ir.Operation, bounds: Sequence[ElementBound], sizes: Sequence[ir.Value | None]
) -> Reading:
    watches, count = [], 0
    for bound, size in zip(bounds, sizes, strict=True):
        assert bound.at is not None  # a bound of a body
        if bound.condition is not None:
            watches.append(Watch(bound.at, bound.condition, lambda v, at: [_inverted(v, at)], count))
        else:
            watches.append(Watch(bound.at, _before_cast(_watched(bound)), partial(_outside_of, size), count))
        count += flags_of(bound)
    maps = _maps_of(op)
    return Reading(
        list(op.operands),
        maps,
        maps[0].n_dims,
        lambda given, at: replayed_flags(op, watches, count, given, at),
    )


def _outside_of(size: ir.Value, index: ir.Value, at: ir.InsertionPoint) -> list[ir.Value]:
    return _outside(index, size, at)


def reduce_flags(reading: Reading, flags: ir.Value, first_bit: int, at: ir.InsertionPoint) -> ir.Value:
    """``flags``, a tensor<i32>, with bit ``first_bit`` + n set where flag n of ``reading`` is set in some round."""
    i32 = ir.IntegerType.get_signless(32)
    maps = [*reading.maps, ir.AffineMap.get(reading.loops, 0, [])]
    with at:
        op, block = build_generic(reading.inputs, [flags], maps, [False] * reading.loops)
    inner = ir.InsertionPoint(block)
    found = block.arguments[len(reading.inputs)]
    for bit, bad in enumerate(reading.bad(list(block.arguments)[:-1], inner), first_bit):
        set_bit = arith.shli(arith.extui(i32, bad, ip=inner), arith.constant(i32, bit, ip=inner), ip=inner)
        found = arith.ori(found, set_bit, ip=inner)
    linalg.YieldOp([found], ip=inner)
    return op.results[0]


def _only_where(runs: ir.Value, flags: Sequence[ir.Value], at: ir.InsertionPoint) -> list[ir.Value]:
    return [arith.andi(flag, runs, ip=at) for flag in flags]


def _outside(index: ir.Value, size: ir.Value, at: ir.InsertionPoint) -> list[ir.Value]:
    """Whether ``index`` is negative, and whether it is wrong at all. It is compared in its own type: a device whose own
    indices have 32 bits would see a part of one of 64. As an unsigned number a negative one is larger than any size."""
    type_ = index.type
    if isinstance(type_, ir.IntegerType):
        if type_.width < 64:
            largest = arith.constant(ir.IndexType.get(), 1 << (type_.width - 1), ip=at)
            size = arith.minui(size, largest, ip=at)
        size = arith.index_cast(type_, size, ip=at)
    negative = arith.cmpi(_SLT, index, arith.constant(type_, 0, ip=at), ip=at)
    return [negative, arith.cmpi(_UGE, index, size, ip=at)]


def _before_cast(index: ir.Value) -> ir.Value:
    """What `arith.index_cast` makes the index of."""
    op = None if is_argument(index) else index.owner.operation
    return op.operands[0] if op is not None and op.name == "arith.index_cast" else index


def _inverted(condition: ir.Value, at: ir.InsertionPoint) -> ir.Value:
    return arith.xori(condition, arith.constant(ir.IntegerType.get_signless(1), 1, ip=at), ip=at)


def _watched(bound: ElementBound) -> ir.Value:
    return bound.index if bound.index is not None else bound.condition


def _read_by(bound: ElementBound) -> list[ir.Value]:
    """The values of the body that a check of ``bound`` reads."""
    return [_watched(bound), *(condition for condition, _ in bound.when)]


def _slice(op: ir.Operation, values: Sequence[ir.Value]) -> list[ir.Operation]:
    """The ops of the body, and of regions in it, that compute ``values``: each behind those that it reads."""
    found: dict[ir.Operation, None] = {}

    def visit(value: ir.Value) -> None:
        if is_argument(value) or value.owner.operation in found:
            return
        inner = value.owner.operation
        if _is_inside(inner, op):
            for operand in inner.operands:
                visit(operand)
            found[inner] = None

    for value in values:
        visit(value)
    return list(found)


def _is_inside(inner: ir.Operation, op: ir.Operation) -> bool:
    parent = inner.parent
    while parent is not None and parent.operation != op:
        parent = parent.operation.parent
    return parent is not None


def _is_inner_argument(op: ir.Operation, value: ir.Value) -> bool:
    """Whether ``value`` is an argument of a region inside of the body: a loop's number."""
    if not is_argument(value) or value.owner.owner is None:
        return False
    owner = value.owner.owner.operation
    return owner != op and _is_inside(owner, op)


def _repeatable(op: ir.Operation, inner: ir.Operation) -> bool:
    """Whether ``inner`` may be computed again, and, where a branch of the body decides whether it runs, at any time."""
    if not inner.name.startswith(REPEATABLE) or len(inner.regions):
        return False
    return inner.parent.operation == op or not inner.name.startswith(UNSAFE)


def _is_body_argument(value: ir.Value, block: ir.Block) -> bool:
    return is_argument(value) and value.owner == block


def _plain_dims(map_: ir.AffineMap) -> list[int]:
    return [ir.AffineDimExpr(e).position for e in map_.results if isinstance(e, ir.AffineDimExpr)]


def _dims(map_: ir.AffineMap) -> set[int]:
    found: set[int] = set()
    pending = list(map_.results)
    while pending:
        e = pending.pop()
        if isinstance(e, ir.AffineDimExpr):
            found.add(ir.AffineDimExpr(e).position)
        elif isinstance(e, ir.AffineBinaryExpr):
            binary = ir.AffineBinaryExpr(e)
            pending += [binary.lhs, binary.rhs]
    return found


def _renamed(e: ir.AffineExpr, names: dict[int, int]) -> ir.AffineExpr:
    if isinstance(e, ir.AffineDimExpr):
        return ir.AffineDimExpr.get(names[ir.AffineDimExpr(e).position])
    if not isinstance(e, ir.AffineBinaryExpr):
        return e
    binary = ir.AffineBinaryExpr(e)
    left, right = _renamed(binary.lhs, names), _renamed(binary.rhs, names)
    return type(e).get(left, right)
