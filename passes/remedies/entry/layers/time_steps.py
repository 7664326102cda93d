"""A recurrent layer in one direction: its steps one after the other, or as a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iree.compiler import ir

from .. import torch_ops as torch
from .recurrent_steps import type_of

MOST_UNROLLED = 32
"""How many steps of all layers and directions are written one after the other.

Each adds dispatches of its own: a hundred take IREE minutes to compile. A loop takes seconds, and about twice the time to run.
"""

Advance = Callable[[ir.Value, Sequence[ir.Value], ir.Value, bool], tuple[ir.Value, list[ir.Value]]]
"""From the product of a step's input, the states, the number of the step, and whether it is known to be the first one: the step's output
and the new states."""


def over_time(
    products: ir.Value,
    dim: int,
    states: Sequence[ir.Value],
    advance: Advance,
    *,
    backwards: bool,
    layers: int = 1,
) -> tuple[ir.Value, list[ir.Value]]:
    """The output of every step, in the order of the input, and the states at the end.

    ``products`` has three dimensions, the steps along ``dim``. ``layers`` is the number of layers and directions of the program's op.
    """
    length = type_of(products).shape[dim]
    if length is None or length * layers > MOST_UNROLLED:
        return _looped(products, dim, states, advance, backwards=backwards)
    outputs: dict[int, ir.Value] = {}
    now = list(states)
    for moment in reversed(range(length)) if backwards else range(length):
        number = torch.integer(moment)
        output, now = advance(select(products, dim, number), now, number, not outputs)
        outputs[moment] = unsqueeze(output, dim)
    return torch.concatenated([outputs[moment] for moment in range(length)], dim), now


def _looped(
    products: ir.Value, dim: int, states: Sequence[ir.Value], advance: Advance, *, backwards: bool
) -> tuple[ir.Value, list[ir.Value]]:
    """The same as a loop, which carries the states and the output. Each step overwrites its part of that, which may start as anything."""
    one, whole, number = torch.integer(1), torch.boolean(True), torch.integer(dim)
    count, last = torch.size(products, dim), None
    if backwards:
        last = torch.apply("aten.sub.int", [count, one], one.type)
    surplus = (type_of(states[0]).shape[-1] or 0) - (type_of(products).shape[-1] or 0)
    output = torch.sliced(products, 2, 0, surplus or None)
    carried = [*states, output]
    types = [value.type for value in carried]
    loop = ir.Operation.create("torch.prim.Loop", types, [count, whole, *carried], regions=1)
    block = loop.regions[0].blocks.append(one.type, *types)
    with ir.InsertionPoint(block):
        moment, *now, output = block.arguments
        if last is not None:
            moment = torch.apply("aten.sub.int", [last, moment], one.type)
        made, now = advance(select(products, dim, moment), now, moment, False)
        end = torch.apply("aten.add.int", [moment, one], one.type)
        part = [unsqueeze(made, dim), number, moment, end, one]
        output = torch.apply("aten.slice_scatter", [output, *part], output.type)
        ir.Operation.create("torch.prim.Loop.condition", [], [whole, *now, output])
    *ended, output = loop.results
    return output, ended


def select(value: ir.Value, dim: int, index: ir.Value) -> ir.Value:
    """``value`` at ``index`` of dimension ``dim``, without that dimension."""
    type_ = type_of(value)
    made = torch.TensorType((*type_.shape[:dim], *type_.shape[dim + 1 :]), type_.element)
    return torch.apply("aten.select.int", [value, torch.integer(dim), index], made)


def unsqueeze(value: ir.Value, dim: int) -> ir.Value:
    """``value`` with a dimension of 1 at ``dim``."""
    type_ = type_of(value)
    made = torch.TensorType((*type_.shape[:dim], 1, *type_.shape[dim:]), type_.element)
    return torch.apply("aten.unsqueeze", [value, torch.integer(dim)], made)
