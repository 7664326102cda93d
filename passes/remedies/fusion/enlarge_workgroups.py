"""Gives each workgroup of an elementwise op more elements, so that the op has fewer workgroups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.passes.analysis.dispatch.structure import loop_extents, loop_structure, structure_of
from fissile.passes.definition import option, register_pass
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.lowerings import spirv_tiles

from ..remedy import FITS, Exactness, Match, OpRemedy
from .set_lowering import set_lowering

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

THREADS = 64
"""Of a workgroup, along the innermost loop; every Vulkan target allows 128."""


@register_pass
@dataclass(frozen=True)
class EnlargeWorkgroups(OpRemedy):
    """Configures elementwise ops so that no more than ``most`` workgroups compute one.

    IREE 3.13 gives every workgroup a tile of a fixed size on SPIR-V, and does not compare their number with what the target allows
    (FIS144). Here tiles are doubled, from the innermost loop outwards, until there are few enough; the 64 threads of a workgroup
    take its elements in turns. ``ops`` chooses source ops by index; without it, every elementwise op of known size that would have more
    than ``most`` tiles of 256 elements. No number changes. A chosen op that reduces, or is of dynamic size, is FIS114.
    """

    name: ClassVar[str] = "fissile-enlarge-workgroups"
    order: ClassVar[int] = 35
    cures: ClassVar[tuple[str, ...]] = ("FIS144",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "gives elementwise ops a lowering configuration with larger tiles"
    repairs: ClassVar[str] = "dispatches with more workgroups than a Vulkan target allows (with `--tune`)"
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = (
        "SPIR-V's tile sizes depend only on the op's shape; no flag bounds the number of workgroups."
    )
    done: ClassVar[str] = "gave each workgroup of {ops} more elements"
    advice: ClassVar[str] = "give each workgroup of {ops} more elements"
    refusal: ClassVar[str] = "{op} cannot have larger workgroups: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("iree_codegen", "iree_gpu")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: large elementwise ops")
    most: int = option(65535, "workgroups that one op may have")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        structure = structure_of(op)
        if dispatch is not None and not backend_named(dispatch.target.backend).spirv:
            return Match("only SPIR-V targets bound the number of workgroups")
        if structure is None or not structure.all_parallel:
            return Match("it is not elementwise")
        return Match("a size is dynamic") if None in loop_extents(op, structure) else FITS

    def chooses(self, op: ir.Operation) -> bool:
        return bool(self.match(op)) and prod(_static_extents(op)) > 256 * self.most

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            tiles = self._tiles(_static_extents(op))
            set_lowering([op], spirv_tiles(tiles, [1] * len(tiles), THREADS))

    def _tiles(self, extents: Sequence[int]) -> list[int]:
        """A tile for each loop; all of them together leave at most ``most`` workgroups."""
        tiles = [1] * (len(extents) - 1) + [THREADS]
        for loop in reversed(range(len(extents))):
            while tiles[loop] < extents[loop] and _count(extents, tiles) > self.most:
                tiles[loop] *= 2
        return tiles


def _static_extents(op: ir.Operation) -> list[int]:
    """The extents of the loops of ``op``, which matches: none is dynamic."""
    return [extent for extent in loop_extents(op, loop_structure(op)) if extent is not None]


def _count(extents: Sequence[int], tiles: Sequence[int]) -> int:
    return prod(-(-extent // tile) for extent, tile in zip(extents, tiles, strict=True))
