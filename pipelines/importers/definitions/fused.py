"""Activations of ONNX Runtime, and products and convolutions with what it fuses to them."""

from __future__ import annotations

import math

from .writer import NotDefined, Writer, defines


@defines("Gelu", "BiasGelu")
def _gelu(w: Writer) -> None:
    x = w.sum(w.operand(0), w.operand(1))
    erf = w.op("Erf", w.op("Mul", x, w.number(math.sqrt(0.5), w.operand(0))))
    half = w.op("Mul", x, w.number(0.5, w.operand(0)))
    w.end(0, w.op("Mul", half, w.op("Add", erf, w.number(1.0, w.operand(0)))))


@defines("FastGelu")
def _fast_gelu(w: Writer) -> None:
    like = w.operand(0)
    x = w.sum(like, w.operand(1))
    cube = w.op("Mul", w.op("Mul", w.op("Mul", x, x), x), w.number(0.044715, like))
    inner = w.op("Mul", w.op("Add", x, cube), w.number(math.sqrt(2 / math.pi), like))
    half = w.op("Mul", x, w.number(0.5, like))
    w.end(0, w.op("Mul", half, w.op("Add", w.op("Tanh", inner), w.number(1.0, like))))


@defines("QuickGelu")
def _quick_gelu(w: Writer) -> None:
    x = w.operand(0)
    w.end(0, w.op("Mul", x, w.op("Sigmoid", w.op("Mul", x, w.number(w.attribute("alpha", 1.702), x)))))


@defines("FusedMatMul", "TransposeMatMul")
def _fused_matmul(w: Writer) -> None:
    w.only(transBatchA=0, transBatchB=0)
    a, b = w.operand(0), w.operand(1)
    a = w.swapped(a) if w.attribute("transA", 0) and w.rank(a) > 1 else a
    b = w.swapped(b) if w.attribute("transB", 0) and w.rank(b) > 1 else b
    product, alpha = w.op("MatMul", a, b), w.attribute("alpha", 1.0)
    w.end(0, product if alpha == 1.0 else w.op("Mul", product, w.number(alpha, w.operand(0))))


@defines("FusedGemm")
def _fused_gemm(w: Writer) -> None:
    given = {name: w.attribute(name, 1.0) for name in ("alpha", "beta")}
    turned = {name: w.attribute(name, 0) for name in ("transA", "transB")}
    product = w.op("Gemm", *w.node.input, **given, **turned)
    numbers = [w.attribute(f"activation_{name}", None) for name in ("alpha", "beta", "gamma")]
    w.end(0, _activated(w, product, [n for n in numbers if n is not None]))


@defines("FusedConv")
def _fused_conv(w: Writer) -> None:
    taken = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
    given = {name: value for name in taken if (value := w.attribute(name, None)) is not None}
    made = w.op("Conv", *(w.operand(index) for index in range(3)), **given)
    w.end(0, _activated(w, w.sum(made, w.operand(3)), list(w.attribute("activation_params", []))))


def _activated(w: Writer, value: str, numbers: list[float]) -> str:
    like, kind = w.operand(0), w.attribute("activation", "")
    if kind in ("Relu", "Tanh", "Sigmoid", "Softplus", "Softsign"):
        return w.op(kind, value)
    if kind in ("LeakyRelu", "Elu", "ThresholdedRelu"):
        return w.op(kind, value, **({"alpha": numbers[0]} if numbers else {}))
    if kind == "HardSigmoid":
        return w.op(kind, value, **dict(zip(("alpha", "beta"), numbers, strict=False)))
    if kind == "Clip" and len(numbers) == 2:
        return w.op(kind, value, *(w.number(one, like) for one in numbers))
    if kind:
        raise NotDefined(f"activation {kind}")
    return value
