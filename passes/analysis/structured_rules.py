"""What structured ops must keep to: operands whose shapes agree with the loops, and bodies that read
inside tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iree.compiler import ir

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.operands import operand as named

from .conditions import Condition, all_of, any_of, at_most, equal, less, symbols
from .extents import Extents, is_argument, is_shaped, name_of, rank_of
from .obligations import ElementBound, Loop, Requirement
from .size_terms import ONE, ZERO, Symbol, Term, apply, term


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap] | None:
    """The map of each operand of a structured op, None where the op has none."""
    if "indexing_maps" in op.attributes:
        maps = [ir.AffineMapAttr(a).value for a in op.attributes["indexing_maps"]]
    elif op.name.startswith("linalg."):
        try:
            maps = [
                m if isinstance(m, ir.AffineMap) else ir.AffineMapAttr(m).value
                for m in linalg.get_indexing_maps(op) or ()
            ]
        except (TypeError, ValueError, RuntimeError):
            return None
    else:
        return None
    return maps if len(maps) == len(op.operands) else None


def structured(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Every operand has the size that the loops give it; every tensor.extract of the body reads
    inside its tensor."""
    maps = indexing_maps(op)
    if not maps:
        return
    sizes = loop_extents(extents, op, maps)
    for number, (operand, map_) in enumerate(zip(op.operands, maps)):
        if not is_shaped(operand):
            continue
        for i, expression in enumerate(map_.results):
            have = extents.dimension(operand, i)
            if isinstance(expression, ir.AffineDimExpr):
                loop = ir.AffineDimExpr(expression).position
                if sizes[loop] is not None:
                    yield Requirement(
                        equal(have, sizes[loop]),
                        f"reads operand {number} as {sizes[loop]} elements in dimension {i}; it has {have}",
                    )
                continue
            reach = _reach(expression, sizes)
            if reach is None:
                continue
            low, high = reach
            yield Requirement(
                _unless_empty(sizes, all_of((at_most(0, low), less(high, have)))),
                f"reaches element {high} of dimension {i} of operand {number}, which has {have}",
            )
    for region in op.regions:
        for block in region.blocks:
            yield from _body(extents, op, block, sizes)


def loop_extents(extents: Extents, op: ir.Operation, maps: Sequence[ir.AffineMap]) -> list[Term | None]:
    """The extent of each loop, from an operand dimension that it alone indexes: a static one, else
    the last."""
    found: list[Term | None] = [None] * maps[0].n_dims
    for operand, map_ in reversed(list(zip(op.operands, maps))):
        if not is_shaped(operand):
            continue
        for i, expression in enumerate(map_.results):
            if isinstance(expression, ir.AffineDimExpr):
                loop = ir.AffineDimExpr(expression).position
                size = extents.dimension(operand, i)
                if found[loop] is None or (found[loop].constant is None and size.constant is not None):
                    found[loop] = size
    return found


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


def _body(
    extents: Extents, op: ir.Operation, block: ir.Block, sizes: Sequence[Term | None]
) -> Iterator[Requirement]:
    loops: list[Loop] = []
    for inner in block.operations:
        inner = inner.operation
        if inner.name == "linalg.index":
            size = sizes[ir.IntegerAttr(inner.attributes["dim"]).value]
            if size is not None:
                loops.append(Loop(op, extents.symbol(inner.results[0]), ZERO, size, ONE))
        elif inner.name == "tensor.extract":
            source = inner.operands[0]
            for i, index in enumerate(list(inner.operands)[1:]):
                capacity = extents.dimension(source, i)
                at = extents.value(index)
                yield Requirement(
                    all_of((at_most(0, at), less(at, capacity))),
                    f"reads dimension {i} of {name_of(source)}, which has {capacity}, at {at}",
                    guards=(*loops, *_runs(op, sizes)),
                    elements=ElementBound(capacity, index=index),
                )
        elif inner.name == "cf.assert":
            # IREE drops asserts inside dispatches: nobody would check this one at run time.
            yield Requirement(
                extents.condition(inner.operands[0]),
                f"asserts inside its body: {ir.StringAttr(inner.attributes['msg']).value}",
                guards=(*loops, *_runs(op, sizes)),
                elements=ElementBound(condition=inner.operands[0]),
            )


def _runs(op: ir.Operation, sizes: Sequence[Term | None]) -> list[Loop]:
    """A body runs only if no loop is empty; told as loops over extents whose variable nothing uses."""
    unused = [Symbol(-1 - i, f"loop {i} of {op.name}") for i in range(len(sizes))]
    return [Loop(op, u, ZERO, s, ONE) for u, s in zip(unused, sizes) if s is not None and s.constant is None]


def same_shape(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """The first and the last operand have one shape (softmax and its like)."""
    have = extents.shape(op.operands[len(op.operands) - 1])
    for i, (given, size) in enumerate(zip(extents.shape(op.operands[0]), have)):
        yield Requirement(
            equal(given, size), f"reads operand 0 as {size} elements in dimension {i}; it has {given}"
        )


def elementwise(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Operands of an op that works element by element on tensors have one shape; on scalars nothing is asked."""
    shaped = [(number, operand) for number, operand in enumerate(op.operands) if is_shaped(operand)]
    if len(shaped) < 2:
        return
    (first, model), *others = shaped
    for number, operand in others:
        for i in range(rank_of(operand)):
            have, size = extents.dimension(operand, i), extents.dimension(model, i)
            yield Requirement(
                equal(have, size),
                f"reads operand {number} as {size} elements in dimension {i}, as operand {first} has; it has {have}",
            )


def element_gather(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Every index of a gather lies inside its source, and so does what it reads from there on."""
    source, indices = named(op, "source"), named(op, "indices")
    if op.name == "tensor.gather":
        yield from _elements(extents, op, source, indices, "gather_dims", "reads")
        return
    yield from _slices(extents, op, named(op, "output"), indices, source)
    yield from _elements(extents, op, source, indices, "dimension_map", "reads")


def element_scatter(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Every index of a scatter lies inside its destination, and so does what it writes from there on."""
    indices = named(op, "indices")
    if op.name == "tensor.scatter":
        yield from _elements(extents, op, named(op, "dest"), indices, "scatter_dims", "writes")
        return
    original = named(op, "original")
    yield from _slices(extents, op, named(op, "updates"), indices, original)
    yield from _elements(extents, op, original, indices, "dimension_map", "writes")


def _slices(
    extents: Extents, op: ir.Operation, moved: ir.Value, indices: ir.Value, whole: ir.Value
) -> Iterator[Requirement]:
    """iree_linalg_ext: ``moved`` has the batch of ``indices``, then slices of ``whole`` without its
    indexed dimensions."""
    depth = len(op.attributes["dimension_map"])
    batch = rank_of(moved) - (rank_of(whole) - depth)
    for i in range(min(batch, rank_of(indices))):
        have, given = extents.dimension(moved, i), extents.dimension(indices, i)
        yield Requirement(
            equal(have, given), f"moves {have} slices in dimension {i}; there are {given} indices"
        )
    for i in range(max(batch, 0), rank_of(moved)):
        size, capacity = extents.dimension(moved, i), extents.dimension(whole, depth + i - batch)
        yield Requirement(
            at_most(size, capacity),
            f"moves slices of {size} elements; dimension {depth + i - batch} has {capacity}",
        )


def _elements(
    extents: Extents, op: ir.Operation, whole: ir.Value, indices: ir.Value, attribute: str, verb: str
) -> Iterator[Requirement]:
    dims = [int(d) for d in op.attributes[attribute]]
    for position, dim in enumerate(dims):
        capacity = extents.dimension(whole, dim)
        at = term(extents.symbol(indices, element=position))
        yield Requirement(
            all_of((at_most(0, at), less(at, capacity))),
            f"{verb} dimension {dim}, which has {capacity}, at the elements of {name_of(indices)}",
            guards=tuple(
                Loop(op, extents.symbol(indices, i), ZERO, extents.dimension(indices, i), ONE)
                for i in range(rank_of(indices))
                if extents.dimension(indices, i).constant is None
            ),
            elements=ElementBound(capacity, indices=indices, position=position, depth=len(dims)),
        )


def reads_elements(extents: Extents, op: ir.Operation, condition: Condition) -> bool:
    """Whether ``condition`` is about values that exist only inside ``op``: its body's, or a tensor's
    elements."""
    for symbol in symbols(condition).values():
        if symbol.ident < 0:
            return True
        handle = extents.handle(symbol)
        if handle.element is not None:
            return True
        block = handle.value.owner if is_argument(handle.value) else handle.value.owner.operation.block
        owner = block.owner
        if owner is not None and owner.operation == op:
            return True
    return False
