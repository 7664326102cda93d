"""The indexing maps and loop kinds of a structured op, named or generic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.linalg_ops import indexing_maps

from .linear_index import dimensions_of_loops, extents_of_loops


@dataclass(frozen=True)
class Structure:
    """One map from loops to element positions for each operand, outputs last; ``parallel`` says it of each
    loop."""

    maps: tuple[ir.AffineMap, ...]
    parallel: tuple[bool, ...]

    @property
    def loops(self) -> int:
        return len(self.parallel)

    @property
    def all_parallel(self) -> bool:
        return all(self.parallel)

    @property
    def maps_attribute(self) -> ir.ArrayAttr:
        return maps_attribute(self.maps)

    @property
    def iterators_attribute(self) -> ir.ArrayAttr:
        return iterators_attribute(self.parallel)

    def covers_all_loops(self, maps: Sequence[ir.AffineMap] | None = None) -> bool:
        """Whether each loop's extent can be read off an operand: its dimension stands alone in some map."""
        alone = {loop for loop, _, _ in dimensions_of_loops(self.maps if maps is None else maps)}
        return alone >= set(range(self.loops))


def structure_of(op: ir.Operation) -> Structure | None:
    """The structure of a linalg op with a body; None for others (linalg.softmax and its like have none)."""
    if not op.name.startswith("linalg.") or not op.results or not op.regions or not op.regions[0].blocks:
        return None
    found = indexing_maps(op)
    if found is None:
        return None
    maps = tuple(found)
    if op.name == "linalg.generic":
        return Structure(maps, tuple("parallel" in str(kind) for kind in op.attributes["iterator_types"]))
    # In every named op of linalg a loop is a reduction exactly when no output is indexed by it.
    written = {str(result) for m in maps[-len(op.results) :] for result in m.results}
    return Structure(maps, tuple(f"d{i}" in written for i in range(maps[0].n_dims)))


def loop_structure(op: ir.Operation) -> Structure:
    """The structure of an op that is known to have one."""
    structure = structure_of(op)
    assert structure is not None, op.name
    return structure


def maps_attribute(maps: Sequence[ir.AffineMap]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])


def iterators_attribute(parallel: Sequence[bool]) -> ir.ArrayAttr:
    names = ["parallel" if kind else "reduction" for kind in parallel]
    return ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{name}>") for name in names])


def loop_extents(op: ir.Operation, structure: Structure) -> tuple[int | None, ...]:
    """How often each loop of ``op`` runs, read off an operand that it alone indexes; None: dynamic or not
    readable."""

    def size(operand: int, dimension: int) -> int | None:
        shaped = ir.ShapedType(op.operands[operand].type)
        return None if shaped.is_dynamic_dim(dimension) else shaped.get_dim_size(dimension)

    return extents_of_loops(structure.maps, size)


def iterations_of(op: ir.Operation) -> int | None:
    """The product of all loop ranges, None where one is dynamic or no operand is indexed by it directly."""
    maps = [ir.AffineMapAttr(attribute).value for attribute in ir.ArrayAttr(op.attributes["indexing_maps"])]
    ranges: dict[int, int] = {}
    for loop, operand, dimension in dimensions_of_loops(maps):
        shaped = op.operands[operand].type
        if isinstance(shaped, ir.RankedTensorType) and not shaped.is_dynamic_dim(dimension):
            ranges[loop] = shaped.shape[dimension]
    if len(ranges) != maps[0].n_dims:
        return None
    count = 1
    for size in ranges.values():
        count *= size
    return count
