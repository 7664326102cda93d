"""Quantised ops of ONNX Runtime: integer products where it has them, else dequantised, computed in floats and quantised again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .writer import NotDefined, Writer, defines


def dequantised(w: Writer, first: int) -> str:
    """The operand at ``first``, with its scale and zero point behind it, in floats."""
    return w.op("DequantizeLinear", w.operand(first), w.operand(first + 1), w.operand(first + 2))


def quantise(w: Writer, value: str, scale: int) -> None:
    """Ends the definition with ``value``, quantised by the operands from ``scale`` on."""
    w.end(0, w.op("QuantizeLinear", value, w.operand(scale), w.operand(scale + 1)))


@defines("QLinearAdd", "QLinearMul")
def _binary(w: Writer) -> None:
    kind = w.node.op_type.removeprefix("QLinear")
    quantise(w, w.op(kind, dequantised(w, 0), dequantised(w, 3)), 6)


@defines("QLinearSigmoid")
def _sigmoid(w: Writer) -> None:
    quantise(w, w.op("Sigmoid", dequantised(w, 0)), 3)


@defines("QLinearLeakyRelu")
def _leaky_relu(w: Writer) -> None:
    quantise(w, w.op("LeakyRelu", dequantised(w, 0), alpha=w.attribute("alpha", 0.01)), 3)


@defines("QLinearSoftmax")
def _softmax(w: Writer) -> None:
    value, axis = dequantised(w, 0), w.attribute("axis", -1)
    if w.attribute("opset", 13) >= 13:
        quantise(w, _softmax_at(w, value, axis), 3)
        return
    rank = w.rank(w.operand(0))
    if axis % rank != rank - 1:  # all dimensions from the axis on are one
        raise NotDefined("a softmax over several dimensions")
    quantise(w, _softmax_at(w, value, -1), 3)


def _softmax_at(w: Writer, value: str, axis: int) -> str:
    if w.known.opset >= 13:
        return w.op("Softmax", value, axis=axis)
    rank = w.rank(w.operand(0))
    if axis % rank == rank - 1:
        return w.op("Softmax", value, axis=rank - 1)
    order = [*(dim for dim in range(rank) if dim != axis % rank), axis % rank]
    back = [order.index(dim) for dim in range(rank)]
    return w.transpose(w.op("Softmax", w.transpose(value, *order), axis=rank - 1), *back)


@defines("QLinearConcat")
def _concat(w: Writer) -> None:
    parts = [dequantised(w, first) for first in range(2, len(w.node.input), 3)]
    quantise(w, w.op("Concat", *parts, axis=w.attribute("axis", 0)), 0)


@defines("QLinearWhere")
def _where(w: Writer) -> None:
    quantise(w, w.op("Where", w.operand(0), dequantised(w, 1), dequantised(w, 4)), 7)


@defines("QLinearAveragePool")
def _average_pool(w: Writer) -> None:
    taken = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")
    given = {name: value for name in taken if (value := w.attribute(name, None)) is not None}
    quantise(w, _channels(w, dequantised(w, 0), lambda value: w.op("AveragePool", value, **given)), 3)


@defines("QLinearGlobalAveragePool")
def _global_average_pool(w: Writer) -> None:
    quantise(w, _channels(w, dequantised(w, 0), lambda value: w.op("GlobalAveragePool", value)), 3)


def _channels(w: Writer, value: str, pool: Callable[[str], str]) -> str:
    """``pool`` of ``value``, whose channels are its last dimension where the node says so."""
    if not w.attribute("channels_last", 0):
        return pool(value)
    rank = w.rank(w.operand(0))
    first = w.transpose(value, 0, rank - 1, *range(1, rank - 1))
    return w.transpose(pool(first), 0, *range(2, rank), 1)


@defines("QGemm")
def _gemm(w: Writer) -> None:
    a, b = w.operand(0), w.operand(3)
    if w.attribute("transA", 0):
        a = w.transpose(a, 1, 0)
    if w.attribute("transB", 0):
        b = w.transpose(b, 1, 0)
    total = w.op("MatMulInteger", a, b, w.operand(2), w.operand(5))
    if w.operand(6):
        total = w.op("Add", total, w.operand(6))
    value = rescaled(w, total, [w.operand(1), w.operand(4)], w.attribute("alpha", 1.0))
    if w.operand(7):
        quantise(w, value, 7)
    else:
        w.end(0, value)


@defines("MatMulIntegerToFloat")
def _matmul_to_float(w: Writer) -> None:
    total = w.op("MatMulInteger", w.operand(0), w.operand(1), w.operand(4), w.operand(5))
    value = rescaled(w, total, [w.operand(2), w.operand(3)])
    w.end(0, w.sum(value, w.operand(6)))


@defines("DynamicQuantizeMatMul")
def _dynamic_matmul(w: Writer) -> None:
    narrow, scale, zero = w.ops("DynamicQuantizeLinear", [w.operand(0)], 3)
    total = w.op("MatMulInteger", narrow, w.operand(1), zero, w.operand(3))
    w.end(0, w.sum(rescaled(w, total, [scale, w.operand(2)]), w.operand(4)))


def rescaled(w: Writer, total: str, scales: Sequence[str], factor: float = 1.0) -> str:
    """The 32-bit integers ``total`` as floats, times all ``scales``."""
    product = w.op("Mul", *scales)
    if factor != 1.0:
        product = w.op("Mul", product, w.number(factor, scales[0]))
    return w.op("Mul", w.cast(total, scales[0]), product)


@defines("QuantizeLinear", "DequantizeLinear")
def _linear(w: Writer) -> None:
    """The standard's own, which ONNX Runtime had before the standard took 16 bits in."""
    axis = {"axis": w.attribute("axis", 1)} if w.known.opset >= 13 else {}
    w.end(0, w.op(w.node.op_type, *w.node.input, **axis))


@defines("DynamicQuantizeLSTM")
def _dynamic_lstm(w: Writer) -> None:
    """Weights in 8 bits, [directions, input, 4 * hidden]; the activations stay floats, which is closer to the float model."""
    weights = [
        _lstm_weights(w, w.operand(1), w.operand(8), w.operand(9)),
        _lstm_weights(w, w.operand(2), w.operand(10), w.operand(11)),
    ]
    taken = ("activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget")  # fmt: skip
    given = {name: value for name in taken if (value := w.attribute(name, None)) is not None}
    operands = [w.operand(0), *weights, *(w.operand(index) for index in (3, 4, 5, 6, 7))]
    for index, result in enumerate(w.ops("LSTM", operands, 3, **given)):
        w.end(index, result)


def _lstm_weights(w: Writer, weight: str, scale: str, zero: str) -> str:
    if w.rank(scale) == 1:  # one for each direction
        scale, zero = (w.along("Unsqueeze", one, [1]) if one else "" for one in (scale, zero))
    scale, zero = (w.along("Unsqueeze", one, [1]) if one else "" for one in (scale, zero))
    value = w.cast(weight, scale)
    if zero:
        value = w.op("Sub", value, w.cast(zero, scale))
    return w.swapped(w.op("Mul", value, scale))
