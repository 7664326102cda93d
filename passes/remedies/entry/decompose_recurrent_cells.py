"""One step of a recurrent layer as products, sums and gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

_LISTED = "torch.prim.ListConstruct"
_GATES = {"aten.lstm_cell": 4, "aten.gru_cell": 3, "aten.rnn_tanh_cell": 1, "aten.rnn_relu_cell": 1}
"""How many gates the weights of each cell hold, one below the other."""
_FLOATS = {"f16", "bf16", "f32", "f64"}


@register_pass
@dataclass(frozen=True)
class DecomposeRecurrentCells(FrontEndRemedy):
    """Writes `aten.lstm_cell`, `aten.gru_cell` and `aten.rnn_*_cell` as torch.nn documents them.

    The torch dialect of IREE 3.13 has none of them. The gates lie one below the other in the weights: input, forget, cell, output in an
    LSTM; reset, update, new in a GRU. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-recurrent-cells"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.lstm_cell`, `aten.gru_cell` and `aten.rnn_*_cell` with products, sums and gates (in the input)"
    )
    repairs: ClassVar[str] = "the cells of recurrent layers, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as products, sums and gates"
    advice: ClassVar[str] = "rewrite it as products, sums and gates"

    def fits(self, op: ir.Operation) -> bool:
        gates = _GATES.get(torch.front_end_name(op))
        if gates is None or len(op.operands) != 6:
            return False
        states = _states(op)
        if len(states) != len(op.results):
            return False
        values = (op.operands[0], *states, *op.operands[2:4])
        types = [found for one in values if (found := torch.TensorType.of(one)) is not None]
        given = [one for one in op.operands[4:] if not torch.is_none(one)]
        biases = [found for one in given if (found := torch.TensorType.of(one)) is not None]
        elements = {one.element for one in (*types, *biases)}
        known = len(types) == len(values) and len(biases) == len(given)
        return known and len(elements) == 1 and elements < _FLOATS and all(_is_step(gates, types, biases))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, (hidden, *cell) = torch.front_end_name(op), _states(op)
        type_ = torch.TensorType.of(hidden)
        assert type_ is not None and type_.shape[-1] is not None
        wide = type_.with_size(len(type_.shape) - 1, _GATES[name] * type_.shape[-1])
        value, _hidden, w_in, w_hidden, b_in, b_hidden = op.operands
        new = torch.apply("aten.linear", [value, w_in, b_in], wide)
        old = torch.apply("aten.linear", [hidden, w_hidden, b_hidden], wide)
        if name == "aten.gru_cell":
            return [_gru(_split(new, 3), _split(old, 3), hidden)]
        both = _add(new, old)
        if name == "aten.lstm_cell":
            return _lstm(_split(both, 4), *cell)
        return [_unary("tanh" if name == "aten.rnn_tanh_cell" else "relu", both)]


def _states(op: ir.Operation) -> list[ir.Value]:
    """The values that the cell carries: a list of two for an LSTM. Empty where the list is not made in the program."""
    state = op.operands[1]
    if torch.front_end_name(op) != "aten.lstm_cell":
        return [state]
    owner = state.owner
    made = not isinstance(owner, ir.Block) and owner.name == _LISTED
    return list(owner.operands) if made else []


def _is_step(
    gates: int, types: Sequence[torch.TensorType], biases: Sequence[torch.TensorType]
) -> Iterator[bool]:
    """Whether sizes are those of a step: torch refuses others, so that a program that holds them is none of torch's."""
    value, *states, w_in, w_hidden = types
    width = states[0].shape[-1] if states[0].shape else None
    yield width is not None and value.shape[:-1] == states[0].shape[:-1]
    yield all(one.shape == states[0].shape for one in states)
    yield w_hidden.shape == (gates * (width or 0), width)
    yield w_in.shape == (gates * (width or 0), value.shape[-1] if value.shape else None)
    yield all(one.shape == (gates * (width or 0),) for one in biases)


def _gru(new: list[ir.Value], old: list[ir.Value], hidden: ir.Value) -> ir.Value:
    reset, update = (_unary("sigmoid", _add(new[k], old[k])) for k in (0, 1))
    candidate = _unary("tanh", _add(new[2], _mul(reset, old[2])))
    kept = torch.apply("aten.sub.Tensor", [hidden, candidate, torch.integer(1)], _type(hidden))
    return _add(_mul(kept, update), candidate)


def _lstm(gates: list[ir.Value], cell: ir.Value) -> list[ir.Value]:
    taken, kept, shown = (_unary("sigmoid", gates[k]) for k in (0, 1, 3))
    cell = _add(_mul(kept, cell), _mul(taken, _unary("tanh", gates[2])))
    return [_mul(shown, _unary("tanh", cell)), cell]


def _split(value: ir.Value, count: int) -> list[ir.Value]:
    """``value`` in ``count`` equal parts along its last dimension."""
    type_ = _type(value)
    last = len(type_.shape) - 1
    part = (type_.shape[last] or 0) // count
    ends = [(k + 1 - count) * part or None for k in range(count)]
    return [torch.sliced(value, last, k * part, end) for k, end in enumerate(ends)]


def _type(value: ir.Value) -> torch.TensorType:
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    return type_


def _unary(name: str, value: ir.Value) -> ir.Value:
    return torch.apply(f"aten.{name}", [value], _type(value))


def _add(one: ir.Value, other: ir.Value) -> ir.Value:
    return torch.apply("aten.add.Tensor", [one, other, torch.integer(1)], _type(one))


def _mul(one: ir.Value, other: ir.Value) -> ir.Value:
    return torch.apply("aten.mul.Tensor", [one, other], _type(one))
