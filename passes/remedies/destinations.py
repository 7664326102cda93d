"""Destinations for structured ops whose shape comes from the op, not from hand.

A destination-style op writes into a tensor that somebody has to make in the right size. The loops of
the op and the shapes of its inputs say that size, also where an input is read through a window (a
convolution's image).
"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.errors import UsageError
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.size_terms import Term, apply, term
from fissile.passes.analysis.dispatch.linear_index import extents_of_loops, linear_index

from .storage.term_ops import TermWriter


def make_destination(
    inputs: Sequence[ir.Value],
    input_maps: Sequence[ir.AffineMap],
    output_map: ir.AffineMap,
    element_type: ir.Type,
    ip: ir.InsertionPoint,
) -> ir.Value:
    """A tensor.empty for the output that ``output_map`` indexes, sized by the loops that the inputs
    span.

    Raises UsageError where the inputs do not tell the extent of a loop that the output needs. A
    window of extent k and stride s over n elements gives floor((n - k) / s) + 1. Use it inside ``with
    location``.
    """
    extents = Extents()
    sizes = loop_sizes(extents, inputs, input_maps)
    shape: list[Term] = []
    for number, expression in enumerate(output_map.results):
        if not isinstance(expression, ir.AffineDimExpr):
            raise UsageError(f"result {number} of the output map is not a loop: {expression}")
        size = sizes[ir.AffineDimExpr(expression).position]
        if size is None:
            raise UsageError(
                f"no input tells the extent of loop {expression}",
                "add an operand that it indexes, or give the destination by hand",
            )
        shape.append(size)
    writer = TermWriter(extents, ip)
    given = [size.constant if size.constant is not None else writer.index(size) for size in shape]
    return tensor.EmptyOp(given, element_type, ip=ip).result


def loop_sizes(
    extents: Extents, inputs: Sequence[ir.Value], maps: Sequence[ir.AffineMap]
) -> list[Term | None]:
    """The extent of each loop: first those that index a dimension alone, then those that windows leave over."""
    sizes = list(
        extents_of_loops(maps, lambda operand, dimension: extents.dimension(inputs[operand], dimension))
    )
    windows = [
        (extents.dimension(value, i), linear.steps)
        for value, map_ in zip(inputs, maps, strict=True)
        for i, expression in enumerate(map_.results)
        if (linear := linear_index(expression, map_.n_dims)) is not None
        and linear.loop is None
        and not linear.constant
    ]
    for have, strides in windows:
        unknown = [loop for loop in strides if sizes[loop] is None]
        if len(unknown) == 1 and strides[unknown[0]] > 0:
            covered = term(1)
            for loop, by in strides.items():
                if (size := sizes[loop]) is not None:  # all but the unknown one
                    covered += (size - 1) * by
            sizes[unknown[0]] = apply("floordiv", have - covered, strides[unknown[0]]) + 1
    return sizes
