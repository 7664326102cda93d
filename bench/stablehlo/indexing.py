"""Ops whose elements are chosen by index at run time: gather, scatter, dynamic slices and updates."""

from __future__ import annotations

import numpy as np

from .binary import COMBINATIONS
from .function import Function, combining, region
from .reducing import array
from .value import Value, rounding, tensor


def gather(f: Function) -> Value:
    """Rows along a dimension; indices outside are moved to the border, as StableHLO defines."""
    v = f.pick(lambda v: v.rank >= 1)
    axis, many = f.draw.randrange(v.rank), f.draw.choice((1, 3, 5, 8))
    size = v.shape[axis]
    lowest, end = -int(f.draw.random() < 0.3), size + int(f.draw.random() < 0.3)
    at = f.indices(f.generator().integers(lowest, end, (many,)), f.draw.choice(("i32", "i64")))
    data = np.take(v.wide, np.clip(at.wide, 0, size - 1), axis=axis)
    others = [n for n in range(v.rank) if n != axis]
    sizes = [1 if n == axis else size for n, size in enumerate(v.shape)]
    text = (
        f'"stablehlo.gather"({v.name}, {at.name}) <{{dimension_numbers = #stablehlo.gather<'
        f"offset_dims = {others}, collapsed_slice_dims = [{axis}], "
        f"start_index_map = [{axis}], index_vector_dim = 1>, "
        f"slice_sizes = {array(sizes)}}}> : ({v.type}, {at.type}) -> {tensor(data.shape, v.element)}"
    )
    return f.op(text, data, v.element, "gather", v.error)


def scatter(f: Function) -> Value:
    """Rows that are replaced, or combined with updates; indices repeat where the order does not matter."""
    v = f.pick(lambda v: v.rank >= 1 and v.element != "i1")
    rows, many = v.shape[0], f.draw.choice((1, 2, 3, 5))
    ops = ("set", "add", "maximum") if v.element in ("f32", "i32") else ("set",)
    op = f.draw.choice(ops)
    numbers = f.generator()
    places = numbers.permutation(rows)[:many] if op == "set" else numbers.integers(0, rows, (many,))
    at = f.indices(places.reshape(-1, 1), "i32")
    updates = f.argument((len(places), *v.shape[1:]), v.element)
    data, error = v.wide.copy(), v.error
    for place, update in zip(places, updates.wide, strict=True):
        data[place] = update if op == "set" else COMBINATIONS[op](data[place], update)
    if op == "add" and v.error:
        error += many * rounding("f32") * float(np.max(np.abs(data)))
    scalar = tensor((), v.element)
    body = combining(v.element, op) if op != "set" else region(v.element, f"stablehlo.return %r : {scalar}")
    text = (
        f'"stablehlo.scatter"({v.name}, {at.name}, {updates.name}) <{{indices_are_sorted = false, '
        f"scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {list(range(1, v.rank))}, "
        f"inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, "
        f"unique_indices = {'true' if op == 'set' else 'false'}}}> {body} "
        f": ({v.type}, {at.type}, {updates.type}) -> {v.type}"
    )
    return f.op(text, data, v.element, f"scatter {op}", error)


def dynamic(f: Function) -> Value:
    """A slice at places that are arguments, or an update of one; the places are moved so that it fits."""
    v = f.pick(lambda v: v.rank >= 1)
    places = [f.argument((), "i32") for _ in v.shape]
    sizes = [f.draw.randrange(1, size + 1) for size in v.shape]
    begins = [
        min(max(int(place.data), 0), whole - size)
        for place, whole, size in zip(places, v.shape, sizes, strict=True)
    ]
    part = tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))
    names, types = ", ".join(p.name for p in places), ", ".join(p.type for p in places)
    if f.draw.random() < 0.5:
        head = f"stablehlo.dynamic_slice {v.name}, {names}, sizes = {sizes}"
        text = f"{head} : ({v.type}, {types}) -> {tensor(tuple(sizes), v.element)}"
        return f.op(text, v.wide[part], v.element, "dynamic_slice", v.error)
    update, data = f.argument(tuple(sizes), v.element), v.wide.copy()
    data[part] = update.wide
    head = f"stablehlo.dynamic_update_slice {v.name}, {update.name}, {names}"
    text = f"{head} : ({v.type}, {update.type}, {types}) -> {v.type}"
    return f.op(text, data, v.element, "dynamic_update_slice", v.error)
