"""Selections in windows that overlap or are padded: the gradient of a maximum over them, written with comparisons of slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attributes
from fissile.passes.analysis.imports.stablehlo_ops import (
    ADD,
    AND,
    COMPARE,
    NOT,
    OR,
    SELECT,
    SELECT_AND_SCATTER,
    element_of,
    has_static_shape,
    shape_of,
)
from fissile.passes.analysis.imports.tied_selections import Windows, windows_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from .values import broadcast, constant, padded, sliced

MOST_PLACES = 128
"""Places of a window: each one is a handful of ops."""
_RETURN = "stablehlo.return"


@register_pass
@dataclass(frozen=True)
class SelectInWindows(FrontEndRemedy):
    """Writes a `stablehlo.select_and_scatter` that adds up, of windows that overlap, are padded or have one element, with slices, comparisons
    and pads.

    The elements of all windows at one place are a slice with steps. From place to place each window keeps the element that is selected so
    far, and where it was; then the source elements of the windows that selected a place are added to the elements there. IREE 3.13 lowers
    such an op of other windows alone. Run it on the program as it was imported.
    Windows of up to 128 places, and of static shape.
    """

    name: ClassVar[str] = "fissile-select-in-windows"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    candidates: ClassVar[tuple[str, ...]] = (SELECT_AND_SCATTER,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)
    does: ClassVar[str] = (
        "replaces a `stablehlo.select_and_scatter` of windows that overlap or are padded by comparisons of slices (in the input)"
    )
    repairs: ClassVar[str] = (
        "the gradient of a max pooling whose windows overlap, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "the same selections; the sum over windows may be reordered"
    done: ClassVar[str] = "rewrote it with comparisons of slices"
    advice: ClassVar[str] = "rewrite it with comparisons of slices"

    def fits(self, op: ir.Operation) -> bool:
        windows = windows_of(op)
        return (
            has_static_shape(op.operands[0].type)
            and has_static_shape(op.operands[1].type)
            and not windows.are_lowered
            and prod(windows.sizes) <= MOST_PLACES
            and min((*windows.low, *windows.high), default=0) >= 0
            and _compares(op.regions[0].blocks[0])
            and _adds(op.regions[1].blocks[0])
        )

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        operand, source, init = op.operands
        windows, selection, shape = windows_of(op), op.regions[0].blocks[0], shape_of(source)
        places = list(product(*map(range, windows.sizes)))
        inside = None
        if windows.are_padded:
            inside = _with_borders(constant(shape_of(operand), _bit(), 1), windows)
            operand = _with_borders(operand, windows)
        best, chosen = _at(operand, windows, places[0], shape), constant(shape, _i32(), 0)
        seen = None if inside is None else _at(inside, windows, places[0], shape)
        for number, place in enumerate(places[1:], 1):
            next_one = _at(operand, windows, place, shape)
            stays = _stays(selection, best, next_one)
            if inside is not None and seen is not None:
                exists = _at(inside, windows, place, shape)
                stays = _made(OR, _made(NOT, exists), _made(AND, seen, stays))
                seen = _made(OR, seen, exists)
            best = _made(SELECT, stays, best, next_one)
            chosen = _made(SELECT, stays, chosen, constant(shape, _i32(), number))
        nothing = constant(shape, element_of(source), -0.0)
        total: ir.Value | None = None
        for number, place in enumerate(places):
            selected = _equal(chosen, constant(shape, _i32(), number))
            added = _back(_made(SELECT, selected, source, nothing), windows, place, shape_of(operand))
            total = added if total is None else _made(ADD, total, added)
        assert total is not None  # a window has a place
        whole = _without_borders(total, windows)
        return [_made(ADD, whole, broadcast(init, shape_of(whole)))]


def _with_borders(value: ir.Value, windows: Windows) -> ir.Value:
    return padded(value, 0, windows.low, windows.high, [0] * len(windows.low))


def _without_borders(value: ir.Value, windows: Windows) -> ir.Value:
    if not windows.are_padded:
        return value
    ends = [n - z for n, z in zip(shape_of(value), windows.high, strict=True)]
    return sliced(value, windows.low, ends, [1] * len(ends))


def _at(value: ir.Value, windows: Windows, place: Sequence[int], count: Sequence[int]) -> ir.Value:
    """Of each of the ``count`` windows the element at ``place``."""
    ends = [p + (n - 1) * s + 1 for p, n, s in zip(place, count, windows.strides, strict=True)]
    return sliced(value, place, ends, windows.strides)


def _back(value: ir.Value, windows: Windows, place: Sequence[int], shape: Sequence[int]) -> ir.Value:
    """A tensor of ``shape`` with the elements of ``value`` where `_at` takes them from, and nothing elsewhere."""
    steps = zip(shape, place, shape_of(value), windows.strides, strict=True)
    high = [whole - p - ((n - 1) * s + 1) for whole, p, n, s in steps]
    return padded(value, -0.0, place, high, [s - 1 for s in windows.strides])


def _bit() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def _i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)


def _made(name: str, *operands: ir.Value) -> ir.Value:
    """An elementwise op, of the type of its last operand."""
    return ir.Operation.create(name, results=[operands[-1].type], operands=list(operands)).result


def _equal(left: ir.Value, right: ir.Value) -> ir.Value:
    direction = ir.Attribute.parse("#stablehlo<comparison_direction EQ>")
    return _compared(left, right, {"comparison_direction": direction})


def _compared(left: ir.Value, right: ir.Value, attributes: dict[str, ir.Attribute]) -> ir.Value:
    type_ = ir.RankedTensorType.get(shape_of(left), _bit())
    return ir.Operation.create(COMPARE, results=[type_], operands=[left, right], attributes=attributes).result


def _compares(selection: ir.Block) -> bool:
    """Whether ``selection`` is one comparison of its values."""
    rows = [row.operation for row in selection.operations]
    return [row.name for row in rows] == [COMPARE, _RETURN] and rows[1].operands[0] == rows[0].results[0]


def _stays(selection: ir.Block, selected: ir.Value, next_one: ir.Value) -> ir.Value:
    """Whether ``selected`` stays before ``next_one``, in each window."""
    values = dict(zip(selection.arguments, (selected, next_one), strict=True))
    comparison = selection.operations[0].operation
    left, right = (values[operand] for operand in comparison.operands)
    return _compared(left, right, dict(attributes(comparison)))


def _adds(scatter: ir.Block) -> bool:
    rows = [row.operation for row in scatter.operations]
    return [row.name for row in rows] == [ADD, _RETURN] and set(rows[0].operands) == set(scatter.arguments)
