"""Recurrent layers: those that run backwards, as layers that run forwards over a reversed sequence, and GRU and RNN, step by step."""

from __future__ import annotations

from collections.abc import Callable

from .writer import NotDefined, Writer, defines

_TAKEN = ("activation_alpha", "activation_beta", "activations", "clip", "hidden_size", "input_forget", "linear_before_reset")  # fmt: skip
_LENGTHS = 4
_MOST_STEPS = 128
_ACTIVATIONS = {"GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


@defines("GRU", "RNN", "LSTM", domain="")
def _layers(w: Writer) -> None:
    direction = w.attribute("direction", "forward")
    w.only(layout=0)
    if w.operand(_LENGTHS) or (w.node.op_type == "LSTM" and direction == "forward"):
        raise NotDefined("rows of different lengths, or a layer that IREE has")
    many = 3 if w.node.op_type == "LSTM" else 2
    if direction != "bidirectional":
        parts = [_one(w, direction == "reverse", 0, 1, many)]
    else:
        parts = [_one(w, number == 1, number, 2, many) for number in range(2)]
    for index in range(many):
        found = [part[index] for part in parts]
        if w.result(index):
            w.end(index, found[0] if len(found) == 1 else w.op("Concat", *found, axis=1 if index == 0 else 0))


def _one(w: Writer, backwards: bool, number: int, count: int, many: int) -> list[str]:
    """The results of one direction: the sequence [steps, 1, batch, hidden], and the last states [1, batch, hidden]."""
    given = {name: value for name in _TAKEN if (value := w.attribute(name, None)) is not None}
    for name in ("activations", "activation_alpha", "activation_beta"):
        if name in given and count == 2:
            each = len(given[name]) // 2
            given[name] = given[name][number * each : (number + 1) * each]
    operands = [_reversed(w, w.operand(0)) if backwards else w.operand(0)]
    for index in range(1, 8):
        value = w.operand(index)
        operands.append(w.slice(value, number, number + 1, 0) if value and count == 2 else value)
    if _is_plain(w, given):
        made = _steps(w, operands, _gru if w.node.op_type == "GRU" else _rnn)
    else:
        made = w.ops(w.node.op_type, operands, many, direction="forward", **given)
    return [_reversed(w, made[0]) if backwards else made[0], *made[1:]]


def _is_plain(w: Writer, given: dict) -> bool:
    """Whether a GRU or RNN has its usual activations and a known number of steps."""
    kind = w.node.op_type
    if (
        kind not in _ACTIVATIONS
        or "clip" in given
        or "activation_alpha" in given
        or "activation_beta" in given
    ):
        return False
    names = [name.decode() if isinstance(name, bytes) else name for name in given.get("activations", [])]
    steps = w.sizes(w.operand(0))[0]
    return names in ([], _ACTIVATIONS[kind]) and steps is not None and steps <= _MOST_STEPS


_Step = Callable[[Writer, str, str, str, str, int], str]


def _steps(w: Writer, operands: list[str], step: _Step) -> list[str]:
    """The results of a layer, one step after the other. The weights are [1, gates * hidden, …]."""
    value, weights, again, bias, _lengths, state, *_ = operands
    size = w.size(again, 2)
    weights, again = (w.transpose(w.along("Squeeze", one, [0]), 1, 0) for one in (weights, again))
    gates = w.size(weights, 1)
    product = w.op("MatMul", value, weights)
    beside = ""
    if bias:
        first, beside = w.split(w.along("Squeeze", bias, [0]), [gates, gates], 0)
        product = w.op("Add", product, first)
    hidden, found = w.along("Squeeze", state, [0]) if state else "", []
    for number in range(w.size(value, 0)):
        given = w.along("Squeeze", w.slice(product, number, number + 1, 0), [0])
        if not hidden:  # 0, in the shape that the first step has
            hidden = w.op("Mul", w.slice(given, 0, size, 1), w.number(0.0, given))
        hidden = step(w, given, hidden, again, beside, size)
        found.append(w.along("Unsqueeze", hidden, [0, 1]))
    return [w.op("Concat", *found, axis=0), w.along("Unsqueeze", hidden, [0])]


def _rnn(w: Writer, given: str, hidden: str, again: str, beside: str, size: int) -> str:
    return w.op("Tanh", w.sum(given, w.op("MatMul", hidden, again), beside))


def _gru(w: Writer, given: str, hidden: str, again: str, beside: str, size: int) -> str:
    """Gates are update, reset and new, in this order."""
    both, new = w.split(given, [2 * size, size], 1)
    again_both, again_new = w.split(again, [2 * size, size], 1)
    beside_both, beside_new = w.split(beside, [2 * size, size], 0) if beside else ("", "")
    gates = w.op("Sigmoid", w.sum(both, w.op("MatMul", hidden, again_both), beside_both))
    update, reset = w.split(gates, [size, size], 1)
    if w.attribute("linear_before_reset", 0):
        turned = w.op("Mul", reset, w.sum(w.op("MatMul", hidden, again_new), beside_new))
    else:
        turned = w.sum(w.op("MatMul", w.op("Mul", reset, hidden), again_new), beside_new)
    made = w.op("Tanh", w.op("Add", new, turned))
    kept = w.op("Mul", update, w.op("Sub", hidden, made))
    return w.op("Add", made, kept)


def _reversed(w: Writer, value: str) -> str:
    """``value`` with its first dimension backwards."""
    size = w.size_of(value, 0)
    known = w.value(size)
    if known is not None:
        return w.op("Gather", value, w.ints(*reversed(range(int(known[0])))), axis=0)
    last = w.op("Sub", size, w.ints(1))
    return w.op("Gather", value, w.op("Sub", last, w.places(size)), axis=0)
