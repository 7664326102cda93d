"""What the body of a structured op must keep to: it reads inside of tensors, also under the ifs and loops of the body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.operands import operands_named

from ..bounds.conditions import TRUE, Condition, all_of, any_of, at_most, less, negation
from ..bounds.extents import Extents
from ..bounds.shaped_values import DESTINATION_STYLE, is_argument
from ..bounds.size_terms import ONE, ZERO, Symbol, Term
from ..bounds.value_names import name_of
from .guards import UNKNOWN_BRANCH, Branch, Guard, Loop
from .obligations import ElementBound, Requirement
from .sentences import inside as inside_of


@dataclass(frozen=True)
class _Inside:
    """Where in the body: ``guards`` decide whether this part of it runs, ``when`` says the same by i1 values; None where no
    such values do."""

    guards: tuple[Guard, ...] = ()
    when: tuple[tuple[ir.Value, bool], ...] | None = ()


def body(
    extents: Extents, op: ir.Operation, block: ir.Block, sizes: Sequence[Term | None]
) -> Iterator[Requirement]:
    """Reads first: an assert of a front end about the same index is then one that holds already."""
    loops = [
        Loop(op, symbol, ZERO, size, ONE)
        for inner in block.operations
        if inner.operation.name == "linalg.index"
        for size in [sizes[ir.IntegerAttr(inner.operation.attributes["dim"]).value]]
        for symbol in [extents.value(inner.operation.results[0]).atom]
        if size is not None and isinstance(symbol, Symbol)
    ]
    around = (*loops, *runs(op, sizes))
    for wanted in ("tensor.extract", "cf.assert"):
        yield from _in_block(extents, op, block, around, _Inside(), wanted)


def runs(op: ir.Operation, sizes: Sequence[Term | None]) -> list[Loop]:
    """A body runs only if no loop is empty; expressed as loops over extents whose variable nothing uses."""
    unused = [Symbol(-1 - i, f"loop {i} of {op.name}") for i in range(len(sizes))]
    return [
        Loop(op, u, ZERO, s, ONE)
        for u, s in zip(unused, sizes, strict=False)
        if s is not None and s.constant is None
    ]


def _in_block(
    extents: Extents,
    op: ir.Operation,
    block: ir.Block,
    around: tuple[Guard, ...],
    inside: _Inside,
    wanted: str,
) -> Iterator[Requirement]:
    for inner in block.operations:
        inner = inner.operation
        if inner.name == wanted:
            yield from (_read if wanted == "tensor.extract" else _assert)(extents, op, inner, around, inside)
        elif inner.name == "scf.if":
            condition = extents.condition(inner.operands[0])
            for region, taken in zip(inner.regions, (True, False), strict=False):
                branch = Branch(op, condition if taken else negation(condition))
                when = None if inside.when is None else (*inside.when, (inner.operands[0], taken))
                for part in region.blocks:
                    yield from _in_block(
                        extents, op, part, around, _Inside((*inside.guards, branch), when), wanted
                    )
        elif inner.name == "scf.for":
            low, high, step = (extents.value(v) for v in list(inner.operands)[:3])
            rounds = Loop(op, extents.symbol(inner.regions[0].blocks[0].arguments[0]), low, high, step)
            deeper = _Inside((*inside.guards, rounds), None)
            yield from _in_block(extents, op, inner.regions[0].blocks[0], around, deeper, wanted)
        elif inner.regions:
            deeper = _Inside((*inside.guards, Branch(op, UNKNOWN_BRANCH)), None)
            for region in inner.regions:
                for part in region.blocks:
                    yield from _in_block(extents, op, part, around, deeper, wanted)


def _read(
    extents: Extents, op: ir.Operation, inner: ir.Operation, around: tuple[Guard, ...], inside: _Inside
) -> Iterator[Requirement]:
    [source], indices = operands_named(inner, "tensor"), operands_named(inner, "indices")
    sizes = source.type.shape if isinstance(source.type, ir.RankedTensorType) else []
    for i, index in enumerate(indices):
        if i < len(sizes) and sizes[i] == 1 and _is_loop_index(index):
            continue  # an import broadcasts it in this way: IREE folds the dimension away, and its index with it
        capacity, at = extents.dimension(source, i), extents.value(index)
        condition = all_of((at_most(0, at), less(at, capacity)))
        yield Requirement(
            condition,
            inside_of(at, source, i, capacity, op.name, "reads", _what(op, index)),
            itself=True,
            guards=(*around, *inside.guards),
            elements=ElementBound(
                capacity, index=index, when=inside.when or (), at=inner, nested=inside.when is None
            ),
            here=_where_it_runs(condition, inside),
        )


def _is_loop_index(index: ir.Value) -> bool:
    return not isinstance(index.owner, ir.Block) and index.owner.name == "linalg.index"


def _assert(
    extents: Extents, op: ir.Operation, inner: ir.Operation, around: tuple[Guard, ...], inside: _Inside
) -> Iterator[Requirement]:
    # IREE drops asserts inside dispatches: nobody would check this one at run time.
    if _limits_a_lowering(inner):
        return
    condition = extents.condition(inner.operands[0])
    yield Requirement(
        condition,
        f"asserts inside its body: {text_of(inner, 'msg')}",
        guards=(*around, *inside.guards),
        elements=ElementBound(
            condition=inner.operands[0], when=inside.when or (), at=inner, nested=inside.when is None
        ),
        here=_where_it_runs(condition, inside),
    )


def _limits_a_lowering(inner: ir.Operation) -> bool:
    """Whether an assert is the import's about itself, not about the program: torch's `reciprocal` of 0.0 is an infinity.

    IREE's import of `aten.reciprocal` asserts that no element is 0.0 ("unimplemented: tensor with zero element"). Division of floats is
    defined there, and what is built computes it.
    """
    condition = inner.operands[0]
    compared = not is_argument(condition) and condition.owner.operation.name == "arith.cmpf"
    return compared and text_of(inner, "msg").startswith(_UNIMPLEMENTED)


_UNIMPLEMENTED = "unimplemented: "


def _where_it_runs(condition: Condition, inside: _Inside) -> Condition:
    """What the rest of the body knows once ``condition`` was checked."""
    skipped = [negation(guard.runs) for guard in inside.guards]
    return TRUE if any(not isinstance(g, Branch) for g in inside.guards) else any_of((*skipped, condition))


_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")


def _what(op: ir.Operation, index: ir.Value) -> str:
    """An index in words: the elements that it is, or is computed from; empty where it comes from outside of the body."""
    direct = index
    while not is_argument(direct) and direct.owner.operation.name in _CASTS:
        direct = direct.owner.operation.operands[0]
    read, loops, pending, seen = [], False, [index], set()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if is_argument(value):
            owner = value.owner.owner
            if owner is not None and owner.operation == op:
                read.append(op.operands[ir.BlockArgument(value).arg_number])
            continue
        inner = value.owner.operation
        loops |= inner.name == "linalg.index"
        if inner.name == "tensor.extract":
            read += operands_named(inner, "tensor")
        elif inner.name != "linalg.index" and inner.block.owner.operation.name.startswith(DESTINATION_STYLE):
            pending.extend(list(inner.operands)[::-1])
    names = list(dict.fromkeys(name_of(v) for v in read))
    if not names:
        return "every index that its body computes" if loops else ""
    return (
        f"every element of {names[0]}"
        if is_argument(direct)
        else f"every index computed from {' and '.join(names)}"
    )
