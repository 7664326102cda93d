"""Recurrent layers as products, sums and gates, step after step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from . import recurrent_steps as steps
from .time_steps import over_time, select, unsqueeze

_LISTED = "torch.prim.ListConstruct"
_KINDS = {f"aten.{kind}.input": kind for kind in steps.GATES}
_RESHAPES = ("aten.unsqueeze", "aten.expand", "aten.view", "aten.transpose.int")
"""What may lie between the zeros that PyTorch makes and a layer."""


@dataclass(frozen=True)
class _Weights:
    """Of one layer in one direction."""

    of_input: ir.Value
    of_hidden: ir.Value
    biases: tuple[ir.Value, ...]
    projection: ir.Value | None


@dataclass(frozen=True)
class _Layers:
    """The operands of an op that holds one or more layers."""

    kind: str
    value: ir.Value
    states: tuple[ir.Value, ...]
    weights: tuple[_Weights, ...]
    directions: int
    time: int
    """The dimension of ``value`` that holds the steps; the other of the first two is the batch."""

    @staticmethod
    def of(op: ir.Operation) -> _Layers | None:
        """None for another op, and where an operand is not known or layers drop values in training."""
        kind = _KINDS.get(torch.front_end_name(op))
        if kind is None or len(op.operands) != 9:
            return None
        value, state, parameters, biased, number, dropout, trained, both, first = op.operands
        has_biases, train, bidirectional, batch_first = (
            torch.boolean_of(one) for one in (biased, trained, both, first)
        )
        count, dropped = torch.integer_of(number), torch.number_of(dropout)
        if count is None or None in (has_biases, train, bidirectional, batch_first, dropped):
            return None
        states = _items(state) if kind == steps.LSTM else (state,)
        directions = 2 if bidirectional else 1
        weights = _weights(_items(parameters), bool(has_biases), count * directions)
        if len(states) + 1 != len(op.results) or not weights or train and dropped and count > 1:
            return None
        return _Layers(kind, value, states, weights, directions, int(bool(batch_first)))


@register_pass
@dataclass(frozen=True)
class DecomposeRecurrentLayers(FrontEndRemedy):
    """Writes `aten.lstm.input`, `aten.gru.input` and `aten.rnn_*.input` as torch.nn documents them: products, sums and gates.

    The product of the input with its weights is taken for all steps at once, as in PyTorch's own decomposition; a layer that runs
    backwards takes the steps from the last to the first. A few steps are written one after the other; many, or an unknown number of
    them, are a loop. Where there is no loop, an initial state of zeros is not multiplied with its weights, which are taken to be
    finite. Batch and length may be dynamic. The torch dialect of IREE 3.13 has no op for such layers. Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-decompose-recurrent-layers"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.lstm.input`, `aten.gru.input` and `aten.rnn_*.input` with products, sums and gates for each step (in the input)"
    )
    repairs: ClassVar[str] = "whole recurrent layers, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as products, sums and gates for each step"
    advice: ClassVar[str] = "rewrite it as products, sums and gates for each step"

    def fits(self, op: ir.Operation) -> bool:
        layers = _Layers.of(op)
        return layers is not None and all(_agreements(layers))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        layers = _Layers.of(op)
        assert layers is not None
        value, last = layers.value, []
        for first in range(0, len(layers.weights), layers.directions):
            outputs = []
            for index in range(first, first + layers.directions):
                states = [select(one, 0, torch.integer(index)) for one in layers.states]
                weights, backwards = layers.weights[index], index > first
                output, states = _run(layers, value, states, weights, backwards=backwards)
                outputs.append(output)
                last.append([unsqueeze(one, 0) for one in states])
            value = outputs[0] if len(outputs) == 1 else torch.concatenated(outputs, 2)
        values = [value, *(torch.concatenated(parts, 0) for parts in zip(*last, strict=True))]
        return [torch.cast(one, result.type) for one, result in zip(values, op.results, strict=True)]


def _items(value: ir.Value) -> tuple[ir.Value, ...]:
    """What a list holds; nothing where it is not made in the program."""
    owner = value.owner
    made = not isinstance(owner, ir.Block) and owner.name == _LISTED
    return tuple(owner.operands) if made else ()


def _weights(parameters: Sequence[ir.Value], biased: bool, count: int) -> tuple[_Weights, ...]:
    """Those of ``count`` layers and directions; torch lists the weights, the biases and an LSTM's projection of each.

    Empty if they are not as many.
    """
    known = 4 if biased else 2
    size = len(parameters) // count if count > 0 else 0
    if size not in (known, known + 1) or size * count != len(parameters):
        return ()
    groups = [parameters[begin : begin + size] for begin in range(0, len(parameters), size)]
    return tuple(
        _Weights(group[0], group[1], tuple(group[2:known]), group[known] if size > known else None)
        for group in groups
    )


def _agreements(layers: _Layers) -> Iterator[bool]:
    """Whether the types are known, and are those of such layers."""
    value = torch.TensorType.of(layers.value)
    states = [found for one in layers.states if (found := torch.TensorType.of(one)) is not None]
    if value is None or len(value.shape) != 3 or len(states) != len(layers.states):
        yield False
        return
    length, batch = value.shape[layers.time], value.shape[1 - layers.time]
    count = len(layers.weights)
    yield length != 0
    if any(len(one.shape) != 3 or one.shape[0] != count for one in states):
        yield False
        return
    inner = [torch.TensorType(one.shape[1:], one.element) for one in states]
    width, elements = value.shape[2], {value.element, *(one.element for one in states)}
    for number, weights in enumerate(layers.weights):
        if number and number % layers.directions == 0:
            hidden = inner[0].shape[-1]
            width = None if hidden is None else hidden * layers.directions
        values = (weights.of_input, weights.of_hidden, *weights.biases)
        types = [found for one in values if (found := torch.TensorType.of(one)) is not None]
        projection = None if weights.projection is None else torch.TensorType.of(weights.projection)
        if len(types) != len(values) or (projection is None) != (weights.projection is None):
            yield False
            return
        elements |= {one.element for one in (*types, *([projection] if projection else []))}
        given = torch.TensorType((batch, width), value.element)
        yield projection is None or layers.kind == steps.LSTM
        yield steps.is_step(layers.kind, [given, *inner, *types[:2]], types[2:], projection)
    yield len(elements) == 1 and elements < steps.FLOATS


def _run(
    layers: _Layers, value: ir.Value, states: list[ir.Value], weights: _Weights, *, backwards: bool
) -> tuple[ir.Value, list[ir.Value]]:
    """What one layer computes in one direction: its output at every step, in the order of the input, and the states it ends in."""
    type_, rows = steps.type_of(value), steps.type_of(weights.of_input).shape[0]
    bias = weights.biases[0] if weights.biases else torch.none()
    products = torch.apply("aten.linear", [value, weights.of_input, bias], type_.with_size(2, rows))
    begins_with_zero = _is_zero(layers.states[0])

    def advance(product: ir.Value, now: Sequence[ir.Value], _number: ir.Value, first: bool):
        made = _step(layers, product, now, weights, at_rest=first and begins_with_zero)
        return made[0], made

    return over_time(products, layers.time, states, advance, backwards=backwards, layers=len(layers.weights))


def _step(
    layers: _Layers,
    product: ir.Value,
    states: Sequence[ir.Value],
    weights: _Weights,
    *,
    at_rest: bool = False,
) -> list[ir.Value]:
    bias = weights.biases[1] if weights.biases else torch.none()
    return steps.step(
        layers.kind, product, states, weights.of_hidden, bias, weights.projection, at_rest=at_rest
    )


def _is_zero(value: ir.Value) -> bool:
    """Whether the program makes it of zeros, as PyTorch does where a call gives no state.

    IREE fuses the zeros into the first product of the hidden state, and on Vulkan its threads then race (FIS111).
    """
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    name, given = torch.front_end_name(owner.operation), list(owner.operands)
    if name in _RESHAPES:
        return _is_zero(given[0])
    return name == "aten.zeros" or name == "aten.full" and torch.number_of(given[1]) == 0.0
