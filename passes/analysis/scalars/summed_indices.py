"""Gathers that IREE takes for one load of consecutive elements, since a loop's index is one term of their index.

MLIR's vectoriser classifies each `tensor.extract` in the body of an op with one loop longer than 1: it takes it for a contiguous load where
the last index is a sum (`arith.addi`) in which that loop's `linalg.index` is a term. It asks nothing of the other terms: with
a loaded one, `k[i] + i`, or with the loop itself, `i + i`, the elements are not consecutive, and only the first is right (LLVM at IREE 3.13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from iree.compiler import ir

from fissile.dialect.linalg_ops import indexing_maps
from fissile.passes.iree.attributes import lowering_of

from ..dispatch.linear_index import linear_index
from .bodies import ops_in_bodies

_GENERIC, _EXTRACT, _SUM, _INDEX = "linalg.generic", "tensor.extract", "arith.addi", "linalg.index"
_TILES = (
    "vector_common_parallel",
    "vector_reduction",
    "vector_inner_parallel",
    "reduction",
    "partial_reduction",
    "thread",
)
"""What cuts the vectors of llvm-cpu, then of AMD and NVIDIA GPUs; the later ones cut a part of the earlier ones."""
_DISTRIBUTED = "VectorDistribute"
_DISTRIBUTED_TILES = ("workgroup", "reduction", "partial_reduction")
"""The pipeline that makes vectors of a workgroup, gathers what is at loaded indices by itself, and gives the vectors to threads then."""

_WITHOUT_VECTORS = ("Distribute", "BaseLowering")


def summed_indices(op: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """Each `tensor.extract` in the body of ``op`` of which the last index is such a sum, with the loop."""
    if op.name != _GENERIC:
        return []
    found = []
    for extract in ops_in_bodies(op):
        if extract.name == _EXTRACT and len(extract.operands) > 1:
            *leading, last = list(extract.operands)[1:]
            terms = list(_terms(last))
            loops = dict.fromkeys(_loop(term) for term in terms)
            found += [
                (extract, loop)
                for loop in loops
                if loop is not None and _is_misread(op, terms, loop) and not _depend(op, leading, loop)
            ]
    return found


def misread_sums(op: ir.Operation, pipeline: str) -> list[ir.Operation]:
    """Those extracts of ``op``, configured for ``pipeline``, whose loop is the only one of a vector."""
    found = [] if pipeline in _WITHOUT_VECTORS else summed_indices(op)
    if not found:
        return []
    is_distributed = pipeline == _DISTRIBUTED
    sizes = _vector(op, _DISTRIBUTED_TILES if is_distributed else _TILES)
    long = [loop for loop, size in enumerate(sizes) if size != 1]
    misread = dict.fromkeys(extract for extract, loop in found if long == [loop])
    return [one for one in misread if not (is_distributed and _is_loaded(op, list(one.operands)[1:]))]


def _terms(value: ir.Value) -> Iterable[ir.Value]:
    op = _maker(value)
    if op is None or op.name != _SUM:
        yield value
        return
    for operand in op.operands:
        yield from _terms(operand)


def _maker(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _loop(term: ir.Value) -> int | None:
    op = _maker(term)
    return _dimension(op) if op is not None and op.name == _INDEX else None


def _dimension(index: ir.Operation) -> int:
    return ir.IntegerAttr(index.attributes["dim"]).value


def _is_misread(op: ir.Operation, terms: list[ir.Value], loop: int) -> bool:
    """Whether ``loop`` is a term, and a further term depends on it."""
    own = next(i for i, term in enumerate(terms) if _loop(term) == loop)
    return _depend(op, [term for i, term in enumerate(terms) if i != own], loop)


def _depend(op: ir.Operation, values: Iterable[ir.Value], loop: int) -> bool:
    """Whether one of ``values`` in the body of ``op`` may differ from one round of ``loop`` to the next."""
    return _any_from(op, values, lambda number: _read_along(op, number, loop), lambda index: index == loop)


def _is_loaded(op: ir.Operation, values: Iterable[ir.Value]) -> bool:
    """Whether one of ``values`` is computed from what ``op`` reads."""
    return _any_from(op, values, lambda number: True, lambda index: False)


def _any_from(
    op: ir.Operation,
    values: Iterable[ir.Value],
    is_argument: Callable[[int], bool],
    is_index: Callable[[int], bool],
) -> bool:
    """Whether one of ``values`` in the body of ``op`` is computed from an argument of the body, by its number, or the index of a loop that
    counts."""
    known: dict[ir.Operation, bool] = {}
    body = op.regions[0].blocks[0]

    def depends(value: ir.Value) -> bool:
        maker = _maker(value)
        if maker is None:
            block = value.owner
            if block != body:
                return _is_inside(block.owner, op)  # of a loop in the body
            return is_argument(ir.BlockArgument(value).arg_number)
        if not _is_inside(maker, op):
            return False
        if maker not in known:
            known[maker] = False
            known[maker] = (
                is_index(_dimension(maker))
                if maker.name == _INDEX
                else bool(maker.regions) or any(depends(operand) for operand in maker.operands)
            )
        return known[maker]

    return any(depends(value) for value in values)


def _is_inside(maker: ir.Operation, op: ir.Operation) -> bool:
    parent = maker.operation.parent
    while parent is not None and parent.operation != op:
        parent = parent.operation.parent
    return parent is not None


def _read_along(op: ir.Operation, number: int, loop: int) -> bool:
    maps = indexing_maps(op)
    if maps is None:
        return True
    read = [linear_index(result, maps[number].n_dims) for result in maps[number].results]
    return any(index is None or loop in index.loops for index in read)


def _vector(op: ir.Operation, tiles: Iterable[str]) -> list[int]:
    """How many rounds of each loop of ``op`` one vector has; 0 where it is not known."""
    sizes = _loop_sizes(op)
    lowering = lowering_of(op)
    lists: Mapping[str, tuple[int, ...]] = lowering.lists if lowering else {}
    for name in tiles:
        for loop, tile in enumerate(lists.get(name, ())[: len(sizes)]):
            if tile and sizes[loop] != 1:
                sizes[loop] = tile
    return sizes


def _loop_sizes(op: ir.Operation) -> list[int]:
    maps = indexing_maps(op) or []
    sizes = [0] * (maps[0].n_dims if maps else 0)
    for value, map_ in zip(op.operands, maps, strict=False):
        shaped = ir.ShapedType(value.type)
        for dimension, result in enumerate(map_.results):
            if isinstance(result, ir.AffineDimExpr) and not shaped.is_dynamic_dim(dimension):
                sizes[result.position] = shaped.get_dim_size(dimension)
    return sizes
