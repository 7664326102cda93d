"""Recurrent layers of ONNX, and the forms of them that IREE's import reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of

from .onnx_values import OPERATOR, floats_of, integers_of, sizes_of
from .unknown_sizes import number

_ATTRIBUTE = "torch.onnx."
_GATES = {"onnx.LSTM": 4, "onnx.GRU": 3, "onnx.RNN": 1}
BACKWARDS = "reverse"
_DIRECTIONS = {"forward": 1, BACKWARDS: 1, "bidirectional": 2}
_MOST_OPERANDS = 8
_BUILT = {"relu", "sigmoid", "tanh"}
"""The functions of gates that IREE has."""
_ELEMENTS = ("f32", "f16", "bf16")


@dataclass(frozen=True)
class RecurrentLayer:
    """An op and its operands; one that is not given is None. ``value`` has the steps first, or second if ``batch_first``."""

    kind: str
    value: ir.Value
    weights: ir.Value
    recurrence: ir.Value
    bias: ir.Value | None
    lengths: ir.Value | None
    states: tuple[ir.Value | None, ...]
    peepholes: ir.Value | None
    direction: str
    width: int
    """Elements of the hidden state."""
    batch_first: bool
    clip: float | None
    functions: tuple[str, ...]
    alphas: tuple[float, ...]
    betas: tuple[float, ...]
    reset_after: bool
    """GRU: the product of the hidden state is taken before it is reset (linear_before_reset)."""
    input_forget: bool

    @property
    def gates(self) -> int:
        return _GATES[self.kind]

    @property
    def directions(self) -> int:
        return _DIRECTIONS[self.direction]

    @property
    def is_built(self) -> bool:
        """Whether it is of a form that IREE 3.13 builds, and computes right."""
        both = self.kind == "onnx.LSTM" and self.direction == "bidirectional"
        if self.direction == BACKWARDS or self.directions == 2 and (not both or self.batch_first):
            return False
        return self.clip is None and not self.input_forget and not self.left_out

    @property
    def left_out(self) -> str:
        """What IREE 3.13 leaves out without a message, of a form that it builds; empty where it leaves out nothing."""
        parts = [
            *(["the peepholes P"] if self.peepholes is not None else []),
            *(["the lengths of the sequences"] if self.lengths is not None else []),
            *(["the functions of the gates"] if self._has_other_functions else []),
            *(["clip"] if self.clip is not None and self.kind == "onnx.RNN" else []),
        ]
        return " and ".join(parts)

    @property
    def _has_other_functions(self) -> bool:
        return bool(self.alphas or self.betas) or not {one.lower() for one in self.functions} <= _BUILT


def recurrent_layer(op: ir.Operation) -> RecurrentLayer | None:
    """``op``, if it is such a layer whose sizes agree. Peepholes of 0, and lengths of whole sequences, are none."""
    kind = text_of(op, "name") if op.name == OPERATOR and "name" in op.attributes else ""
    if kind not in _GATES or not 3 <= len(op.operands) <= _MOST_OPERANDS or not 1 <= len(op.results) <= 3:
        return None
    given = [None if str(one.type) == "!torch.none" else one for one in op.operands]
    given += [None] * (_MOST_OPERANDS - len(given))
    value, weights, recurrence, bias, lengths, state, cell, peepholes = given
    direction = text_of(op, f"{_ATTRIBUTE}direction") or "forward"
    if value is None or weights is None or recurrence is None or direction not in _DIRECTIONS:
        return None
    width = (sizes_of(recurrence) or [None])[-1]
    batch_first = bool(number(op, "layout", 0))
    layer = RecurrentLayer(
        kind,
        value,
        weights,
        recurrence,
        bias,
        None if lengths is None or _is_whole(lengths, value, batch_first) else lengths,
        (state, cell) if kind == "onnx.LSTM" else (state,),
        None if peepholes is None or kind != "onnx.LSTM" or _is_zero(peepholes) else peepholes,
        direction,
        width or 0,
        batch_first,
        _float(op, "clip"),
        _texts(op, "activations"),
        _floats(op, "activation_alpha"),
        _floats(op, "activation_beta"),
        bool(number(op, "linear_before_reset", 0)),
        bool(number(op, "input_forget", 0)),
    )
    return layer if width and all(_agreements(op, layer)) else None


def _agreements(op: ir.Operation, layer: RecurrentLayer) -> Iterator[bool]:
    """Whether the types are known, and are those of such a layer."""
    count, rows, width = layer.directions, layer.gates * layer.width, layer.width
    value = sizes_of(layer.value)
    yield value is not None and len(value) == 3 and value[2] is not None
    yield value is None or len(value) != 3 or value[1 if layer.batch_first else 0] != 0
    yield sizes_of(layer.weights) == [count, rows, (value or [None])[-1]]
    yield sizes_of(layer.recurrence) == [count, rows, width]
    yield layer.bias is None or sizes_of(layer.bias) == [count, 2 * rows]
    yield layer.peepholes is None or sizes_of(layer.peepholes) == [count, 3 * width]
    yield layer.lengths is None or len(sizes_of(layer.lengths) or ()) == 1
    for one in layer.states:
        sizes = None if one is None else sizes_of(one)
        yield one is None or sizes is not None and len(sizes) == 3 and sizes[2] == width
        yield sizes is None or sizes[1 if layer.batch_first else 0] == count
    values = [layer.value, layer.weights, layer.recurrence, layer.bias, layer.peepholes, *layer.states]
    elements = {str(one.type).rpartition(",")[2].rstrip(">") for one in values if one is not None}
    yield len(elements) == 1 and elements <= set(_ELEMENTS)
    yield len(op.results) <= 1 + len(layer.states)


def _is_whole(lengths: ir.Value, value: ir.Value, batch_first: bool) -> bool:
    """Whether each of the constant ``lengths`` is that of the whole sequence."""
    sizes, numbers = sizes_of(value), integers_of(lengths)
    whole = sizes[1 if batch_first else 0] if sizes and len(sizes) == 3 else None
    return bool(numbers) and whole is not None and all(one >= whole for one in numbers or ())


def _is_zero(value: ir.Value) -> bool:
    numbers = floats_of(value)
    return numbers is not None and not any(numbers)


def _float(op: ir.Operation, name: str) -> float | None:
    held = attribute(op, f"{_ATTRIBUTE}{name}")
    return ir.FloatAttr(held).value if isinstance(held, ir.FloatAttr) else None


def _floats(op: ir.Operation, name: str) -> tuple[float, ...]:
    held = attribute(op, f"{_ATTRIBUTE}{name}")
    return tuple(ir.FloatAttr(one).value for one in held) if isinstance(held, ir.ArrayAttr) else ()


def _texts(op: ir.Operation, name: str) -> tuple[str, ...]:
    held = attribute(op, f"{_ATTRIBUTE}{name}")
    return tuple(ir.StringAttr(one).value for one in held) if isinstance(held, ir.ArrayAttr) else ()
