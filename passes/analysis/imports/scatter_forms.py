"""What a `stablehlo.scatter` writes where, and which of its forms IREE lowers. IREE 3.13."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.places import ops_of

from .stablehlo_ops import SCATTER, constant_integers, has_static_shape, shape_of


@dataclass(frozen=True)
class ScatterForm:
    """StableHLO's dimension numbers of a scatter: dimensions of the operand, of the indices (``indexed_batch``) and of the updates (``window``)."""

    window: tuple[int, ...]
    inserted: tuple[int, ...]
    batch: tuple[int, ...]
    indexed_batch: tuple[int, ...]
    addressed: tuple[int, ...]
    """For each number of an index the dimension of the operand that it is a position in."""
    vector: int
    """The dimension of the indices that holds one index; their rank where an index is one number."""

    @staticmethod
    def of(op: ir.Operation) -> ScatterForm:
        text = str(op.attributes["scatter_dimension_numbers"])

        def numbers(name: str) -> tuple[int, ...]:
            found = re.search(rf"\b{name} = \[([^\]]*)\]", text)
            return tuple(int(one) for one in found[1].split(",") if one.strip()) if found else ()

        vector = re.search(r"index_vector_dim = (\d+)", text)
        return ScatterForm(
            numbers("update_window_dims"),
            numbers("inserted_window_dims"),
            numbers("input_batching_dims"),
            numbers("scatter_indices_batching_dims"),
            numbers("scatter_dims_to_operand_dims"),
            int(vector[1]) if vector else 0,
        )


@dataclass(frozen=True)
class Scatter:
    """One scatter of static shapes. Its operands are ``count`` tensors, the indices, and as many updates."""

    op: ir.Operation
    form: ScatterForm

    @staticmethod
    def of(op: ir.Operation) -> Scatter | None:
        """None where a shape is not static."""
        if not all(has_static_shape(value.type) for value in op.operands):
            return None
        return Scatter(op, ScatterForm.of(op))

    @property
    def count(self) -> int:
        return len(self.op.operands) // 2

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(shape_of(self.op.operands[0]))

    @property
    def indices(self) -> ir.Value:
        return self.op.operands[self.count]

    @property
    def around(self) -> tuple[int, ...]:
        """The dimensions of the indices that count windows."""
        rank = len(shape_of(self.indices))
        return tuple(dim for dim in range(rank) if dim != self.form.vector)

    @property
    def windows(self) -> tuple[int, ...]:
        """How many windows there are, by each of the dimensions that count them."""
        sizes = shape_of(self.indices)
        return tuple(sizes[dim] for dim in self.around)

    @property
    def window(self) -> tuple[int, ...]:
        """The size of a window in each dimension of the operand."""
        sizes = shape_of(self.op.operands[self.count + 1])
        given = iter(sizes[dim] for dim in self.form.window)
        left_out = (*self.form.inserted, *self.form.batch)
        return tuple(1 if dim in left_out else next(given) for dim in range(len(self.shape)))

    @property
    def is_set(self) -> bool:
        """Whether an update takes the place of the element, whatever that is."""
        block = self.op.regions[0].blocks[0]
        rows = list(block.operations)
        return len(rows) == 1 and list(rows[0].operation.operands) == list(block.arguments)[self.count :]

    @property
    def is_lowered(self) -> bool:
        """Whether IREE lowers it: windows that have all elements of each dimension that no index addresses by one, or one window that it sets.

        Several dimensions that are addressed or batched have to be the first ones.
        """
        one_window = not self.windows
        if self.count > 1:
            return False
        if one_window and self.is_set and not self.form.inserted and not self.form.batch:
            return True
        whole = all(
            size == length
            for dim, (size, length) in enumerate(zip(self.window, self.shape, strict=True))
            if dim not in (*self.form.inserted, *self.form.batch)
        )
        left_out = {*self.form.inserted, *self.form.batch}
        placed = {*self.form.addressed, *self.form.batch}
        in_front = len(placed) == 1 or placed == set(range(len(placed)))
        return whole and placed <= left_out and bool(placed) and in_front

    @property
    def may_reach_outside(self) -> bool:
        """Whether the place of the one window is not known to lie inside."""
        places = constant_integers(self.indices)
        lasts = [self.shape[dim] - self.window[dim] for dim in self.form.addressed]
        return places is None or not all(0 <= at <= last for at, last in zip(places, lasts, strict=True))


def moved_windows(module: ir.Operation) -> list[ir.Operation]:
    """The scatters of one window that IREE makes a `stablehlo.dynamic_update_slice` of: that moves a window that lies outside inside, a scatter leaves it out."""
    return [one.op for one in _scatters(module) if is_moved(one)]


def is_moved(one: Scatter) -> bool:
    """Whether ``one`` is of those."""
    return (
        not one.windows
        and one.count == 1
        and one.is_set
        and not one.form.inserted
        and not one.form.batch
        and one.may_reach_outside
    )


def _scatters(module: ir.Operation) -> Iterator[Scatter]:
    for op in ops_of(module, SCATTER):
        if (found := Scatter.of(op)) is not None:
            yield found
