"""Ops of unsigned integers that IREE lowers only for signless ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.stablehlo_ops import (
    GET_DIMENSION_SIZE,
    REDUCE_WINDOW,
    REVERSE,
    SELECT_AND_SCATTER,
    element_of,
    is_unsigned,
    shape_of,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from .values import bits_as, signless, with_element, without_sign


@register_pass
@dataclass(frozen=True)
class UseSignlessOps(FrontEndRemedy):
    """Applies `stablehlo.reverse`, `select_and_scatter`, `get_dimension_size` and cumulative `reduce_window` of unsigned integers to
    the same bits as signless integers.

    What a region computes of the elements stays an op on unsigned integers. IREE 3.13 does not convert the element type of these ops.
    It lowers pooling and other windows, which stay as they are. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-use-signless-ops"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (REVERSE, REDUCE_WINDOW, SELECT_AND_SCATTER, GET_DIMENSION_SIZE)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)
    does: ClassVar[str] = (
        "moves `stablehlo.reverse`, `select_and_scatter`, `get_dimension_size` and cumulative `reduce_window` from unsigned to "
        "signless integers (in the input)"
    )
    repairs: ClassVar[str] = "these ops on unsigned integers, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "applied it to signless integers with the same bits"
    advice: ClassVar[str] = "apply it to signless integers with the same bits"

    def fits(self, op: ir.Operation) -> bool:
        if not any(is_unsigned(element_of(operand)) for operand in op.operands):
            return False
        return op.name != REDUCE_WINDOW or _is_cumulative(op)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = ir.Operation.create(
            op.name,
            results=[with_element(one.type, signless(element_of(one))) for one in op.results],
            operands=[without_sign(operand) for operand in op.operands],
            attributes={name: op.attributes[name] for name in op.attributes},
            regions=len(op.regions),
        )
        for before, after in zip(op.regions, made.regions, strict=True):
            _move(before.blocks[0], after)
        return [bits_as(new, element_of(old)) for old, new in zip(op.results, made.results, strict=True)]


def _is_cumulative(op: ir.Operation) -> bool:
    """Whether each result is reduced from all elements up to it, or from it on, of which IREE makes a scan; it takes other windows as they are."""
    shape, window = shape_of(op.operands[0]), list(ir.DenseI64ArrayAttr(op.attributes["window_dimensions"]))
    along = [dim for dim, size in enumerate(window) if size > 1]
    if len(along) != 1 or window[along[0]] != shape[along[0]] or "padding" not in op.attributes:
        return False
    edges = ir.DenseIntElementsAttr(op.attributes["padding"])
    before, after = edges[2 * along[0]], edges[2 * along[0] + 1]
    return list(shape) == list(shape_of(op.results[0])) and window[along[0]] - 1 in (before, after)


def _move(block: ir.Block, region: ir.Region) -> None:
    """Moves a region of scalars to signless arguments and results; its own ops keep their types."""
    types = [with_element(one.type, signless(element_of(one))) for one in block.arguments]
    made = region.blocks.append(*types, arg_locs=[one.location for one in block.arguments])
    with ir.InsertionPoint(made):
        for old, new in zip(block.arguments, made.arguments, strict=True):
            old.replace_all_uses_with(bits_as(new, element_of(old)))
        here = ir.InsertionPoint.current
        for one in list(block.operations):
            here.insert(one.operation.detach_from_parent())
    last = made.operations[len(made.operations) - 1].operation
    with ir.InsertionPoint(last):
        for position, operand in enumerate(last.operands):
            last.operands[position] = without_sign(operand)
