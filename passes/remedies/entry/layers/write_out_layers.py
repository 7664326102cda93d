"""Recurrent layers of ONNX as products, sums and gates, step after step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.recurrent_layers import BACKWARDS, RecurrentLayer, recurrent_layer
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..torch_ops import TensorType
from .gate_functions import clamped, gate_functions
from .recurrent_steps import plus, times, type_of
from .time_steps import over_time, select, unsqueeze

_DEFAULTS = {"onnx.LSTM": ("Sigmoid", "Tanh", "Tanh"), "onnx.GRU": ("Sigmoid", "Tanh"), "onnx.RNN": ("Tanh",)}
"""Kind of layer -> the functions of its gates, where the model names none."""


@register_pass
@dataclass(frozen=True)
class WriteOutLayers(FrontEndRemedy):
    """Writes an `onnx.LSTM`, `onnx.GRU` or `onnx.RNN` as ONNX documents it: products, sums and gates.

    A few steps are written one after the other; many, or an unknown number of them, are a loop. IREE 3.13 has some forms of these layers:
    others it rejects, and in some it leaves out the peepholes or the lengths of the sequences (FIS162). Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-write-out-layers"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "writes the forms of `onnx.LSTM`, `onnx.GRU` and `onnx.RNN` that IREE lacks with products, sums and gates for each step (in the input)"
    )
    repairs: ClassVar[str] = (
        "recurrent layers of ONNX that run backwards, clip or have other functions, which IREE rejects (FIS421), and those with peepholes or "
        "lengths of sequences, which it leaves out (FIS162)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as products, sums and gates for each step"
    advice: ClassVar[str] = "rewrite it as products, sums and gates for each step"

    def fits(self, op: ir.Operation) -> bool:
        layer = recurrent_layer(op)
        return layer is not None and not layer.is_built and bool(_functions(layer))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        layer = recurrent_layer(op)
        assert layer is not None  # `fits`
        functions = _functions(layer)
        outputs, ended = [], []
        for index in range(layer.directions):
            output, states = _Direction(layer, index, functions[index]).run()
            outputs.append(unsqueeze(output, 2 if layer.batch_first else 1))
            ended.append([unsqueeze(one, 1 if layer.batch_first else 0) for one in states])
        values = [_joined(outputs, 2 if layer.batch_first else 1)]
        values += [_joined(list(parts), 1 if layer.batch_first else 0) for parts in zip(*ended, strict=True)]
        results = [one.type for one in op.results]
        return [
            torch.none() if str(made) == "!torch.none" else torch.cast(value, made)
            for value, made in zip(values, results, strict=False)
        ]


def _joined(parts: list[ir.Value], dim: int) -> ir.Value:
    return parts[0] if len(parts) == 1 else torch.concatenated(parts, dim)


Function = Callable[[ir.Value], ir.Value]


def _functions(layer: RecurrentLayer) -> list[list[Function]]:
    """The functions of the gates of each direction; empty where one is unknown."""
    defaults = _DEFAULTS[layer.kind]
    names = list(layer.functions) or list(defaults) * layer.directions
    found = gate_functions(names, layer.alphas, layer.betas)
    if found is None or len(found) != len(defaults) * layer.directions:
        return []
    return [found[at : at + len(defaults)] for at in range(0, len(found), len(defaults))]


class _Direction:
    """One direction of a layer."""

    def __init__(self, layer: RecurrentLayer, index: int, functions: Sequence[Function]):
        self.layer, self.functions = layer, functions
        self.backwards = layer.direction == BACKWARDS or index == 1
        direction = torch.integer(index)
        self.given = select(layer.weights, 0, direction)
        self.hidden = select(layer.recurrence, 0, direction)
        self.bias = self.hidden_bias = torch.none()
        if layer.bias is not None:
            both = select(layer.bias, 0, direction)
            rows = layer.gates * layer.width
            self.bias, self.hidden_bias = torch.sliced(both, 0, 0, -rows), torch.sliced(both, 0, rows, None)
        self.peepholes = None if layer.peepholes is None else select(layer.peepholes, 0, direction)
        self.states = [self._state(one, index) for one in layer.states]

    def _state(self, initial: ir.Value | None, index: int) -> ir.Value:
        if initial is not None:
            return select(initial, 1 if self.layer.batch_first else 0, torch.integer(index))
        value = type_of(self.layer.value)
        at = 0 if self.layer.batch_first else 1
        batch, none = value.shape[at], torch.none()
        rows = torch.size(self.layer.value, at) if batch is None else torch.integer(batch)
        sizes = torch.listed([rows, torch.integer(self.layer.width)])
        made = TensorType((batch, self.layer.width), value.element)
        operands = [sizes, torch.integer(torch.NUMBERS[value.element]), none, none, torch.boolean(False)]
        return torch.apply("aten.zeros", operands, made)

    def run(self) -> tuple[ir.Value, list[ir.Value]]:
        layer, type_ = self.layer, type_of(self.layer.value)
        products = torch.apply(
            "aten.linear",
            [layer.value, self.given, self.bias],
            type_.with_size(2, layer.gates * layer.width),
        )
        dim = 1 if layer.batch_first else 0
        return over_time(
            products, dim, self.states, self._advance, backwards=self.backwards, layers=layer.directions
        )

    def _advance(
        self, product: ir.Value, states: Sequence[ir.Value], number: ir.Value, first: bool
    ) -> tuple[ir.Value, list[ir.Value]]:
        """A step; where a sequence has ended, its states stay and its output is 0."""
        at_rest = first and self.layer.states[0] is None
        made = _STEPS[self.layer.kind](self, product, states, at_rest)
        if self.layer.lengths is None:
            return made[0], made
        lengths = type_of(self.layer.lengths)
        runs = torch.apply("aten.gt.Scalar", [self.layer.lengths, number], TensorType(lengths.shape, "i1"))
        runs = unsqueeze(runs, 1)
        kept = [_where(runs, new, old) for new, old in zip(made, states, strict=True)]
        nothing = torch.apply("aten.mul.Scalar", [made[0], torch.real(0.0)], type_of(made[0]))
        return _where(runs, made[0], nothing), kept

    def lstm(self, product: ir.Value, states: Sequence[ir.Value], at_rest: bool) -> list[ir.Value]:
        hidden, cell = states
        gate, candidate, shown = self.functions
        taken, put_out, kept, new = self._split(plus(product, self._of_hidden(hidden, at_rest)), 4)
        peeps = [None] * 3 if self.peepholes is None else self._split(self.peepholes, 3)
        taken = gate(self._clipped(plus(taken, _peep(peeps[0], cell))))
        kept = (
            _rest(taken)
            if self.layer.input_forget
            else gate(self._clipped(plus(kept, _peep(peeps[2], cell))))
        )
        cell = plus(times(kept, cell), times(taken, candidate(self._clipped(new))))
        put_out = gate(self._clipped(plus(put_out, _peep(peeps[1], cell))))
        return [times(put_out, shown(cell)), cell]

    def gru(self, product: ir.Value, states: Sequence[ir.Value], at_rest: bool) -> list[ir.Value]:
        (hidden,) = states
        gate, candidate = self.functions
        width = self.layer.width
        if self.layer.reset_after:
            of_input, of_hidden = product, self._of_hidden(hidden, at_rest)
            last = None if of_hidden is None else _cut(of_hidden, 2 * width, None)
            both = None if of_hidden is None else _cut(of_hidden, 0, -width)
        else:
            of_input, last = product, None
            both = self._linear(hidden, 0, -width, at_rest)
        update, reset = self._split(plus(_cut(of_input, 0, -width), both), 2)
        update, reset = gate(self._clipped(update)), gate(self._clipped(reset))
        if self.layer.reset_after:
            inner = None if last is None else times(reset, last)
        else:
            inner = self._linear(None if at_rest else times(reset, hidden), 2 * width, None, at_rest)
        new = candidate(self._clipped(plus(_cut(of_input, 2 * width, None), inner)))
        return [plus(times(_rest(update), new), times(update, hidden))]

    def rnn(self, product: ir.Value, states: Sequence[ir.Value], at_rest: bool) -> list[ir.Value]:
        (hidden,) = states
        return [self.functions[0](self._clipped(plus(product, self._of_hidden(hidden, at_rest))))]

    def _of_hidden(self, hidden: ir.Value, at_rest: bool) -> ir.Value | None:
        return self._linear(hidden, 0, None, at_rest)

    def _linear(self, value: ir.Value | None, begin: int, end: int | None, at_rest: bool) -> ir.Value | None:
        """The product with rows of the recurrence's weights, and their bias; the bias alone where the state is zero."""
        bias = self.hidden_bias
        if not torch.is_none(bias) and (begin or end):
            bias = torch.sliced(bias, 0, begin, end)
        if at_rest or value is None:
            return None if torch.is_none(bias) else bias
        weights = torch.sliced(self.hidden, 0, begin, end) if begin or end else self.hidden
        rows = type_of(weights).shape[0]
        return torch.apply("aten.linear", [value, weights, bias], type_of(value).with_size(1, rows))

    def _clipped(self, value: ir.Value) -> ir.Value:
        limit = self.layer.clip
        return value if limit is None else clamped(value, -limit, limit)

    def _split(self, value: ir.Value, count: int) -> list[ir.Value]:
        width = self.layer.width
        return [_cut(value, at * width, (at + 1 - count) * width or None) for at in range(count)]


_STEPS = {"onnx.LSTM": _Direction.lstm, "onnx.GRU": _Direction.gru, "onnx.RNN": _Direction.rnn}


def _cut(value: ir.Value, begin: int, end: int | None) -> ir.Value:
    """``value[begin:end]`` along the last dimension."""
    return torch.sliced(value, len(type_of(value).shape) - 1, begin, end)


def _peep(weights: ir.Value | None, cell: ir.Value) -> ir.Value | None:
    return None if weights is None else times(cell, weights)


def _rest(value: ir.Value) -> ir.Value:
    """1 - ``value``."""
    return torch.apply("aten.rsub.Scalar", [value, torch.real(1.0), torch.integer(1)], type_of(value))


def _where(condition: ir.Value, one: ir.Value, other: ir.Value) -> ir.Value:
    return torch.apply("aten.where.self", [condition, one, other], type_of(one))
