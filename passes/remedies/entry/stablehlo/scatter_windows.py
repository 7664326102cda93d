"""Scatters of parts of rows, of one window and of several tensors, written with scatters of elements and of whole rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.scatter_forms import Scatter, is_moved
from fissile.passes.analysis.imports.stablehlo_ops import (
    ADD,
    AND,
    COMPARE,
    CONCATENATE,
    IOTA,
    RESHAPE,
    SCATTER,
    SELECT,
    element_of,
    shape_of,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FRONT_END_OP, FrontEndRemedy
from .values import constant, converted, sliced, spread, transposed

_RETURN = "stablehlo.return"


@register_pass
@dataclass(frozen=True)
class ScatterWindows(FrontEndRemedy):
    """Writes a `stablehlo.scatter` whose windows have a part of the operand's rows as one of their elements, each with an index of its own;
    trailing dimensions that a window has whole stay as they are. A scatter of several tensors becomes one for each.

    A window that does not lie inside is left out whole, as XLA does: its elements go to one more row, which is cut off again.
    IREE 3.13 refuses such scatters, and makes a `stablehlo.dynamic_update_slice` of one that sets one window: that moves the window inside (FIS209).
    Run it on the program as it was imported, of static shapes. Several tensors: only if each result is computed from its own tensor.
    """

    name: ClassVar[str] = "fissile-scatter-windows"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS209")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    candidates: ClassVar[tuple[str, ...]] = (SCATTER,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)
    does: ClassVar[str] = (
        "replaces a `stablehlo.scatter` of parts of rows, of one window or of several tensors by scatters of elements "
        "(in the input)"
    )
    repairs: ClassVar[str] = (
        "`x.at[i:i+n].add(v)` and other scatters of windows, which IREE rejects (FIS421) or moves inside (FIS209)"
    )
    numbers: ClassVar[str] = (
        "the same updates of the windows that lie inside whole, as in XLA; where windows overlap, their order may differ"
    )
    done: ClassVar[str] = "scattered the elements of the windows"
    advice: ClassVar[str] = "scatter the elements of the windows"

    def fits(self, op: ir.Operation) -> bool:
        found = Scatter.of(op)
        if found is None or 0 in (*found.shape, *found.window, *found.windows):
            return False
        return (not found.is_lowered or is_moved(found)) and (found.count == 1 or _parts(found) is not None)

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        found = Scatter.of(op)
        assert found is not None  # `fits`
        places, whole = _places(found)
        return [_scattered(found, number, places, whole) for number in range(found.count)]


def _places(found: Scatter) -> tuple[ir.Value, int]:
    """For each element of each window, or each whole row of it, its place in the operand; and how many dimensions such a row has."""
    shape, window, form = found.shape, found.window, found.form
    rank = len(shape)
    whole = 0
    while whole < rank - 1 and _is_whole(found, rank - 1 - whole):
        whole += 1
    by_element = rank - whole
    starts = _starts(found)
    sizes = [*found.windows, *window[:by_element]]
    around = list(range(len(found.windows)))
    inside: ir.Value | None = None
    columns: list[ir.Value] = []
    for dim in range(by_element):
        column = _counted(sizes, len(around) + dim)
        if dim in starts:
            start = starts[dim]
            within = _within(start, shape[dim] - window[dim])
            inside = within if inside is None else _made(AND, inside, within)
            column = _made(ADD, spread(start, sizes, around), column)
        elif dim in form.batch:
            at = found.around.index(form.indexed_batch[form.batch.index(dim)])
            column = _counted(sizes, at)
        columns.append(column)
    if inside is not None:
        everywhere = spread(inside, sizes, around)
        nowhere = [constant(sizes, _i64(), number) for number in (shape[0], *[0] * (by_element - 1))]
        columns = [_made(SELECT, everywhere, *pair) for pair in zip(columns, nowhere, strict=True)]
    one_each = [_reshaped(column, [prod(sizes), 1]) for column in columns]
    return _joined(one_each, 1) if len(one_each) > 1 else one_each[0], whole


def _is_whole(found: Scatter, dim: int) -> bool:
    form = found.form
    return (
        found.window[dim] == found.shape[dim]
        and dim not in (*form.inserted, *form.batch, *form.addressed)
        and found.window[dim] > 1
    )


def _starts(found: Scatter) -> dict[int, ir.Value]:
    """For each dimension of the operand that is addressed the first position of each window."""
    indices, vector = found.indices, found.form.vector
    given = list(shape_of(indices))
    if vector == len(given):
        indices = _reshaped(indices, [*given, 1])
    elif vector != len(given) - 1:
        indices = transposed(indices, [*found.around, vector])
    indices = converted(indices, _i64())
    sizes = list(shape_of(indices))
    starts = {}
    for number, dim in enumerate(found.form.addressed):
        first = [*([0] * (len(sizes) - 1)), number]
        limit = [*sizes[:-1], number + 1]
        part = sliced(indices, first, limit, [1] * len(sizes))
        starts[dim] = _reshaped(part, sizes[:-1])
    return starts


def _scattered(found: Scatter, number: int, places: ir.Value, whole: int) -> ir.Value:
    """The scatter of the tensor ``number``."""
    operand, updates = found.op.operands[number], found.op.operands[found.count + 1 + number]
    dims = range(len(shape_of(updates)))
    order = [*(dim for dim in dims if dim not in found.form.window), *found.form.window]
    if order != list(dims):
        updates = transposed(updates, order)
    count, scalar = shape_of(places)
    updates = _reshaped(updates, [count, *found.shape[scalar:]])
    window, addressed = list(range(1, whole + 1)), list(range(scalar))
    numbers = ir.Attribute.parse(
        f"#stablehlo.scatter<update_window_dims = {window}, inserted_window_dims = {addressed}, "
        f"scatter_dims_to_operand_dims = {addressed}, index_vector_dim = 1>"
        if window
        else f"#stablehlo.scatter<inserted_window_dims = {addressed}, scatter_dims_to_operand_dims = {addressed}, index_vector_dim = 1>"
    )
    longer = _joined([operand, _first_rows(operand, 1)], 0)
    made = ir.Operation.create(
        SCATTER,
        results=[longer.type],
        operands=[longer, places, updates],
        attributes={"scatter_dimension_numbers": numbers},
        regions=1,
    )
    _copy_part(found, number, made)
    return _first_rows(made.result, found.shape[0])


def _first_rows(value: ir.Value, count: int) -> ir.Value:
    shape = list(shape_of(value))
    return sliced(value, [0] * len(shape), [count, *shape[1:]], [1] * len(shape))


def _parts(found: Scatter) -> list[list[ir.Operation]] | None:
    """For each tensor the ops of the body that compute its element, in order; None where one reads an element of another tensor."""
    block = found.op.regions[0].blocks[0]
    rows = [row.operation for row in block.operations]
    if any(len(row.regions) for row in rows):
        return None
    makes = {result: number for number, row in enumerate(rows) for result in row.results}
    arguments = list(block.arguments)
    parts = []
    for number, result in enumerate(rows[-1].operands):
        own = (arguments[number], arguments[found.count + number])
        needed: set[int] = set()
        pending = [result]
        while pending:
            value = pending.pop()
            if value in arguments and value not in own:
                return None
            if value in makes and makes[value] not in needed:
                needed.add(makes[value])
                pending += list(rows[makes[value]].operands)
        parts.append([rows[row] for row in sorted(needed)])
    return parts


def _copy_part(found: Scatter, number: int, made: ir.Operation) -> None:
    """The body of ``made``: what computes the element of the tensor ``number``."""
    block = found.op.regions[0].blocks[0]
    if found.count == 1:
        block.append_to(made.regions[0])
        return
    parts = _parts(found)
    assert parts is not None  # `fits`
    old, new = block.arguments[number], block.arguments[found.count + number]
    copied = made.regions[0].blocks.append(old.type, new.type, arg_locs=[found.op.location] * 2)
    values = {old: copied.arguments[0], new: copied.arguments[1]}
    end = block.operations[len(block.operations) - 1].operation
    with ir.InsertionPoint(copied):
        for row in parts[number]:
            clone = row.clone()
            for at, operand in enumerate(row.operands):
                clone.operands[at] = values.get(operand, operand)
            values.update(zip(row.results, clone.results, strict=True))
        result = end.operands[number]
        ir.Operation.create(_RETURN, operands=[values.get(result, result)])


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _within(start: ir.Value, last: int) -> ir.Value:
    sizes = shape_of(start)
    return _made(
        AND,
        _compared(start, constant(sizes, _i64(), 0), "GE"),
        _compared(start, constant(sizes, _i64(), last), "LE"),
    )


def _compared(left: ir.Value, right: ir.Value, direction: str) -> ir.Value:
    type_ = ir.RankedTensorType.get(shape_of(left), ir.IntegerType.get_signless(1))
    attribute = {"comparison_direction": ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")}
    return ir.Operation.create(COMPARE, results=[type_], operands=[left, right], attributes=attribute).result


def _counted(sizes: Sequence[int], dim: int) -> ir.Value:
    """The position in dimension ``dim``, of each element of a tensor of ``sizes``."""
    type_ = ir.RankedTensorType.get(list(sizes), _i64())
    attribute = {"iota_dimension": ir.IntegerAttr.get(_i64(), dim)}
    return ir.Operation.create(IOTA, results=[type_], attributes=attribute).result


def _made(name: str, *operands: ir.Value) -> ir.Value:
    """An elementwise op, of the type of its last operand."""
    return ir.Operation.create(name, results=[operands[-1].type], operands=list(operands)).result


def _reshaped(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    if list(shape_of(value)) == list(shape):
        return value
    type_ = ir.RankedTensorType.get(list(shape), element_of(value))
    return ir.Operation.create(RESHAPE, results=[type_], operands=[value]).result


def _joined(parts: list[ir.Value], dim: int) -> ir.Value:
    """``parts``, one behind the other in dimension ``dim``."""
    shape = list(shape_of(parts[0]))
    shape[dim] = sum(shape_of(part)[dim] for part in parts)
    type_ = ir.RankedTensorType.get(shape, element_of(parts[0]))
    attribute = {"dimension": ir.IntegerAttr.get(_i64(), dim)}
    return ir.Operation.create(CONCATENATE, results=[type_], operands=parts, attributes=attribute).result
