"""What one step of a recurrent layer computes, as torch.nn documents it.

The gates lie one below the other in the weights: input, forget, cell, output in an LSTM; reset, update, new in a GRU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iree.compiler import ir

from .. import torch_ops as torch

LSTM, GRU, TANH, RELU = "lstm", "gru", "rnn_tanh", "rnn_relu"
GATES = {LSTM: 4, GRU: 3, TANH: 1, RELU: 1}
"""How many gates the weights of each kind hold."""
FLOATS = {"f16", "bf16", "f32", "f64"}
"""The element types of torch's recurrent layers."""


def is_step(
    kind: str,
    types: Sequence[torch.TensorType],
    biases: Sequence[torch.TensorType],
    projection: torch.TensorType | None = None,
) -> bool:
    """Whether ``types`` (the input, the states, the weights of the input and of the hidden state) have the sizes of one step.

    torch refuses others, so that a program that holds them is none of torch's.
    """
    return all(_agreements(GATES[kind], types, biases, projection))


def _agreements(
    gates: int,
    types: Sequence[torch.TensorType],
    biases: Sequence[torch.TensorType],
    projection: torch.TensorType | None,
) -> Iterator[bool]:
    value, *states, w_in, w_hidden = types
    hidden = states[0].shape[-1] if states[0].shape else None
    width = states[-1].shape[-1] if states[-1].shape else None
    yield hidden is not None and width is not None
    yield all(value.shape[:-1] == one.shape[:-1] for one in states)
    yield hidden == width if projection is None else projection.shape == (hidden, width)
    yield w_hidden.shape == (gates * (width or 0), hidden)
    yield w_in.shape == (gates * (width or 0), value.shape[-1] if value.shape else None)
    yield all(one.shape == (gates * (width or 0),) for one in biases)


def step(
    kind: str,
    product: ir.Value,
    states: Sequence[ir.Value],
    weight: ir.Value,
    bias: ir.Value,
    projection: ir.Value | None = None,
    *,
    at_rest: bool = False,
) -> list[ir.Value]:
    """The new states, the hidden one first, from the input's ``product`` with its weights, and the weights of the hidden state.

    Where the hidden state is zero (``at_rest``), its product is the bias.
    """
    hidden = states[0]
    old: ir.Value | None = None if torch.is_none(bias) else bias
    if not at_rest:
        old = torch.apply("aten.linear", [hidden, weight, bias], type_of(product))
    if kind == GRU:
        return [_gru(_split(product, 3), [None] * 3 if old is None else _split(old, 3), hidden)]
    both = plus(product, old)
    if kind != LSTM:
        return [_unary("tanh" if kind == TANH else "relu", both)]
    shown, cell = _lstm(_split(both, 4), states[1])
    if projection is not None:
        none = torch.none()
        shown = torch.apply("aten.linear", [shown, projection, none], type_of(hidden))
    return [shown, cell]


def _gru(new: Sequence[ir.Value], old: Sequence[ir.Value | None], hidden: ir.Value) -> ir.Value:
    reset, update = (_unary("sigmoid", plus(new[k], old[k])) for k in (0, 1))
    candidate = _unary("tanh", plus(new[2], None if old[2] is None else times(reset, old[2])))
    kept = torch.apply("aten.sub.Tensor", [hidden, candidate, torch.integer(1)], type_of(hidden))
    return plus(times(kept, update), candidate)


def _lstm(gates: list[ir.Value], cell: ir.Value) -> list[ir.Value]:
    taken, kept, shown = (_unary("sigmoid", gates[k]) for k in (0, 1, 3))
    cell = plus(times(kept, cell), times(taken, _unary("tanh", gates[2])))
    return [times(shown, _unary("tanh", cell)), cell]


def _split(value: ir.Value, count: int) -> list[ir.Value]:
    """``value`` in ``count`` equal parts along its last dimension."""
    type_ = type_of(value)
    last = len(type_.shape) - 1
    part = (type_.shape[last] or 0) // count
    ends = [(k + 1 - count) * part or None for k in range(count)]
    return [torch.sliced(value, last, k * part, end) for k, end in enumerate(ends)]


def type_of(value: ir.Value) -> torch.TensorType:
    """The type of a value that `fits` has seen to be a tensor."""
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    return type_


def _unary(name: str, value: ir.Value) -> ir.Value:
    return torch.apply(f"aten.{name}", [value], type_of(value))


def plus(one: ir.Value, other: ir.Value | None) -> ir.Value:
    """``one + other``; ``one`` alone where there is no other."""
    if other is None:
        return one
    return torch.apply("aten.add.Tensor", [one, other, torch.integer(1)], type_of(one))


def times(one: ir.Value, other: ir.Value) -> ir.Value:
    """``one * other``, of the shape of ``one``."""
    return torch.apply("aten.mul.Tensor", [one, other], type_of(one))
