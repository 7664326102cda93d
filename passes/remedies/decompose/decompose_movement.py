"""Writes ops that only move elements as reads by index: each element of the result from its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import affine, arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.operands import operand, operands_named
from fissile.passes.analysis.dispatch.structure import structure_of
from fissile.passes.definition import option, register_pass
from fissile.passes.iree import ops as iree_ops

from ..generic_ops import build_generic
from ..narrow.packed_words import sizes_of
from ..remedy import FITS, Exactness, Match, OpRemedy
from .read_by_element import read_in_body

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

PACK, UNPACK, GATHER = "linalg.pack", "linalg.unpack", iree_ops.LINALG_EXT_GATHER
MOVEMENTS = (PACK, UNPACK, GATHER)


@register_pass
@dataclass(frozen=True)
class DecomposeMovement(OpRemedy):
    """Replaces linalg.pack, linalg.unpack and iree_linalg_ext.gather by an elementwise op that reads by `tensor.extract`, and lets
    an elementwise op that reads an operand backwards, at n - i, read it in this way.

    IREE 3.13 has no SPIR-V schedule for the first three (`failed to tile to invocations`, `failed to get lowering configuration`), of
    any size, and tiles an op that reads backwards, as a padding that reflects does, in a way that it rejects itself. What a pack adds
    around its source is its padding value. ``ops`` chooses source ops by index; without it, all of these kinds. Every bit stays.

    Where a gather's mask is false, the output's element stays and nothing is read. Run it after global optimisation: before,
    IREE turns reads back into operands. Tiles may be of dynamic size; a chosen op of another kind is FIS114.
    """

    name: ClassVar[str] = "fissile-decompose-movement"
    order: ClassVar[int] = 70
    cures: ClassVar[tuple[str, ...]] = ("FIS103", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces linalg.pack, linalg.unpack and iree_linalg_ext.gather with one elementwise op that reads each element "
        "from its position; the same for what an elementwise op reads backwards"
    )
    repairs: ClassVar[str] = (
        "all three ops on Vulkan, for which SPIR-V has no schedule; where the mask of a gather is false, the output "
        "keeps its element. Paddings that reflect (llvm-cpu)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = (
        "DecomposePackUnPackOps runs inside a dispatch, and SPIR-V's pipelines do not run it; nothing decomposes a "
        "gather."
    )
    done: ClassVar[str] = "read each element of {ops} from its position"
    advice: ClassVar[str] = "read each element of {ops} from its position"
    refusal: ClassVar[str] = "{op} cannot be written as reads by index: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("affine", "arith", "linalg", "tensor")
    ops: tuple[int, ...] = option(
        (), "indices of the source ops to rewrite; empty: every pack, unpack, gather and what reads backwards"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return (
            FITS if self.chooses(op) else Match("it does more than move elements, and reads none backwards")
        )

    def chooses(self, op: ir.Operation) -> bool:
        return op.name in MOVEMENTS or bool(_read_backwards(op))

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            if op.name in MOVEMENTS:
                decompose_movement(op)
            else:
                read_in_body(op, _read_backwards(op), stay=False)


def _read_backwards(op: ir.Operation) -> list[int]:
    """Positions of the inputs of an elementwise linalg.generic that it reads from the end on, at ``n - i``."""
    structure = structure_of(op) if op.name == "linalg.generic" else None
    if structure is None or not structure.all_parallel:
        return []
    inputs = structure.maps[: len(op.operands) - len(op.results)]
    found = [position for position, map_ in enumerate(inputs) if any(map(_falls, map_.results))]
    kept = [map_ for position, map_ in enumerate(structure.maps) if position not in found]
    plain = {e.position for map_ in kept for e in map_.results if isinstance(e, ir.AffineDimExpr)}
    return found if len(plain) == structure.loops else []  # the others give every loop its extent


def _falls(expression: ir.AffineExpr) -> bool:
    """Whether a loop's index has a factor below 0 in a sum."""
    if isinstance(expression, ir.AffineAddExpr):
        return any(_falls(side) for side in (expression.lhs, expression.rhs))
    if not isinstance(expression, ir.AffineMulExpr):
        return False
    return any(isinstance(s, ir.AffineConstantExpr) and s.value < 0 for s in (expression.lhs, expression.rhs))


def decompose_movement(op: ir.Operation) -> None:
    """Rewrites ``op`` in place, which matches."""
    read = {PACK: _packed, UNPACK: _unpacked, GATHER: _gathered}[op.name]
    destination = operand(op, "output" if op.name == GATHER else "dest")
    tensor_type = ir.RankedTensorType(op.results[0].type)
    with ir.InsertionPoint(op), op.location:
        sizes = sizes_of(operand(op, "source"))
        bounds = [s if isinstance(s, ir.Value) else _index(s) for s in sizes] if op.name == PACK else []
        new, block = build_generic(
            [], [destination], [ir.AffineMap.get_identity(tensor_type.rank)], [True] * tensor_type.rank
        )
        with ir.InsertionPoint(block):
            loops = [linalg.IndexOp(i).result for i in range(tensor_type.rank)]
            linalg.YieldOp([read(op, loops, bounds)])
    op.results[0].replace_all_uses_with(new.operation.results[0])
    op.erase()


def _packed(op: ir.Operation, loops: Sequence[ir.Value], bounds: Sequence[ir.Value]) -> ir.Value:
    """Outer loops count tiles, the loops behind them stand within one; beyond the source there is padding."""
    rank, outer, tiles = _tiling(op, operand(op, "source"))
    tiled = list(tiles)
    at = []
    for dimension in range(rank):
        position = loops[outer.index(dimension)]
        if dimension in tiles:
            inner = loops[rank + tiled.index(dimension)]
            position = _position(position, tiles[dimension], inner)
        at.append(position)
    source, padding = operand(op, "source"), operand(op, "padding_value")
    if padding is None:  # the tiles are full
        return tensor.extract(source, at)
    inside, safe = None, []
    for dimension, position in enumerate(at):
        if dimension in tiles:
            here = arith.cmpi(arith.CmpIPredicate.ult, position, bounds[dimension])
            inside = here if inside is None else arith.andi(inside, here)
            position = arith.select(here, position, _index(0))
        safe.append(position)
    value = tensor.extract(source, safe)
    return value if inside is None else arith.select(inside, value, padding)


def _unpacked(op: ir.Operation, loops: Sequence[ir.Value], _bounds: Sequence[ir.Value]) -> ir.Value:
    """Each index is that of a tile and one within it."""
    rank, outer, tiles = _tiling(op, op.results[0])
    at = [_quotient(loops[d], tiles[d]) if d in tiles else loops[d] for d in outer[:rank]]
    at += [_remainder(loops[dimension], tile) for dimension, tile in tiles.items()]
    return tensor.extract(operand(op, "source"), at)


def _gathered(op: ir.Operation, loops: Sequence[ir.Value], _bounds: Sequence[ir.Value]) -> ir.Value:
    """The indices give the leading positions in the source, the loops behind the batch's give the others.

    An index whose mask is false may lie anywhere: 0 is read for it, and the output's own element is taken.
    """
    (source,), (indices,) = operands_named(op, "source"), operands_named(op, "indices")
    mask = operand(op, "mask")
    dimensions = _integers(op, "dimension_map")
    rank = ir.RankedTensorType(source.type).rank
    batch = list(loops)[: len(loops) - (rank - len(dimensions))]
    each = ir.RankedTensorType(indices.type).rank > len(batch)
    taken = None if mask is None else _is_set(tensor.extract(mask, batch))
    at: list[ir.Value | None] = [None] * len(dimensions) + list(loops)[len(batch) :]
    for number, dimension in enumerate(dimensions):
        found = tensor.extract(indices, [*batch, _index(number)] if each else batch)
        position = (
            found if isinstance(found.type, ir.IndexType) else arith.index_cast(ir.IndexType.get(), found)
        )
        at[dimension] = position if taken is None else arith.select(taken, position, _index(0))
    value = tensor.extract(source, at)
    if taken is None:
        return value
    [before] = ir.InsertionPoint.current.block.arguments
    return arith.select(taken, value, before)


def _is_set(mask: ir.Value) -> ir.Value:
    """An element of a mask as a boolean; IREE stores masks as bytes from some phase on."""
    return mask if str(mask.type) == "i1" else arith.trunci(ir.IntegerType.get_signless(1), mask)


def _tiling(op: ir.Operation, plain: ir.Value) -> tuple[int, list[int], dict[int, int | ir.Value]]:
    """Rank of the ``plain`` tensor, its dimensions in the order of the outer loops, and dimension -> size of its tiles."""
    rank = ir.RankedTensorType(plain.type).rank
    outer = _integers(op, "outer_dims_perm") or list(range(rank))
    dynamic = iter(operands_named(op, "inner_tiles"))
    sizes = [
        next(dynamic) if size == ir.ShapedType.get_dynamic_size() else size
        for size in _integers(op, "static_inner_tiles")
    ]
    return rank, outer, dict(zip(_integers(op, "inner_dims_pos"), sizes, strict=True))


def _position(tile: ir.Value, size: int | ir.Value, within: ir.Value) -> ir.Value:
    """The position ``within`` a ``tile``, counted from the first tile's begin. An affine map takes no value as a factor."""
    if isinstance(size, int):
        return _apply(lambda t, w: t * size + w, tile, within)
    return arith.addi(arith.muli(tile, size), within)


def _quotient(position: ir.Value, size: int | ir.Value) -> ir.Value:
    if isinstance(size, int):
        return _apply(lambda p: ir.AffineExpr.get_floor_div(p, size), position)
    return arith.divui(position, size)


def _remainder(position: ir.Value, size: int | ir.Value) -> ir.Value:
    return _apply(lambda p: p % size, position) if isinstance(size, int) else arith.remui(position, size)


def _integers(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else []


def _apply(build: Callable[..., ir.AffineExpr], *values: ir.Value) -> ir.Value:
    """An affine function of index ``values``."""
    dims = [ir.AffineDimExpr.get(i) for i in range(len(values))]
    return affine.apply(ir.AffineMap.get(len(values), 0, [build(*dims)]), list(values))


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)
