"""Normalisations of ONNX Runtime over the last dimension."""

from __future__ import annotations

import numpy as np

from .writer import NotDefined, Writer, defines

_SKIP_EPSILON = 1e-12
"""ONNX Runtime's default for the fused normalisations; 1e-5 for the plain one."""


def normalised(w: Writer, value: str, weight: str, bias: str, epsilon: float) -> tuple[str, str, str]:
    """``value`` over its last dimension, its mean, and one by its standard deviation."""
    wide = _wide(w, value)
    mean = w.mean(wide)
    centred = w.op("Sub", wide, mean)
    inverse = _inverse_root(w, w.mean(w.op("Mul", centred, centred)), epsilon)
    result = w.cast(w.op("Mul", centred, inverse), value)
    return w.sum(w.op("Mul", result, weight), bias), mean, inverse


def scaled(w: Writer, value: str, weight: str, epsilon: float) -> tuple[str, str]:
    """``value`` by the root of the mean of its squares over the last dimension, and one by that root."""
    wide = _wide(w, value)
    inverse = _inverse_root(w, w.mean(w.op("Mul", wide, wide)), epsilon)
    return w.op("Mul", w.cast(w.op("Mul", wide, inverse), value), weight), inverse


def _wide(w: Writer, value: str) -> str:
    """``value`` in f32, in which ONNX Runtime computes the mean and the root of 16-bit floats."""
    from onnx import TensorProto

    narrow = w.dtype(value) in (TensorProto.FLOAT16, TensorProto.BFLOAT16)
    return w.op("Cast", value, to=TensorProto.FLOAT) if narrow else value


def _inverse_root(w: Writer, value: str, epsilon: float) -> str:
    shifted = w.op("Add", value, w.number(epsilon, value))
    return w.op("Div", w.number(1.0, value), w.op("Sqrt", shifted))


@defines("SimplifiedLayerNormalization", domain="")
def _simplified(w: Writer) -> None:
    value = w.operand(0)
    if w.attribute("axis", -1) not in (-1, w.rank(value) - 1):
        raise NotDefined("several dimensions")
    result, inverse = scaled(w, value, w.operand(1), w.attribute("epsilon", 1e-5))
    w.end(0, result)
    w.end(1, inverse)


@defines("LayerNormalization", domain="")
def _plain(w: Writer) -> None:
    """In models of an older version of the standard, where ONNX Runtime's optimiser puts it as well."""
    value = w.operand(0)
    if w.attribute("axis", -1) not in (-1, w.rank(value) - 1):
        raise NotDefined("several dimensions")
    made = normalised(w, value, w.operand(1), w.operand(2), w.attribute("epsilon", 1e-5))
    for index, one in enumerate(made):
        w.end(index, one)


@defines("SkipLayerNormalization")
def _skip(w: Writer) -> None:
    total = w.sum(w.operand(0), w.operand(1), w.operand(4))
    epsilon = w.attribute("epsilon", _SKIP_EPSILON)
    for index, value in enumerate((*normalised(w, total, w.operand(2), w.operand(3), epsilon), total)):
        w.end(index, value)


@defines("SkipSimplifiedLayerNormalization")
def _skip_simplified(w: Writer) -> None:
    total = w.sum(w.operand(0), w.operand(1), w.operand(3))
    result, inverse = scaled(w, total, w.operand(2), w.attribute("epsilon", _SKIP_EPSILON))
    w.end(0, result)
    w.end(2, inverse)
    w.end(3, total)


@defines("EmbedLayerNormalization")
def _embed(w: Writer) -> None:
    _embedded(w, [w.operand(index) for index in range(2, 7)], w.operand(8))


@defines("QEmbedLayerNormalization")
def _quantised_embed(w: Writer) -> None:
    """The tables, the weight and the bias in 8 bits; their scales begin at operand 8, their zero points at 13."""
    tables = [
        w.op("DequantizeLinear", w.operand(index), w.operand(index + 6), w.operand(index + 11))
        if w.operand(index)
        else ""
        for index in range(2, 7)
    ]
    _embedded(w, tables, "")


def _embedded(w: Writer, tables: list[str], places: str) -> None:
    ids, segments, mask = w.operand(0), w.operand(1), w.operand(7)
    word, position, segment, weight, bias = tables
    if w.attribute("mask_index_type", 0) not in (0, 1):
        raise NotDefined("this form of mask index")
    length = w.size_of(ids, 1)
    if places:
        at = w.op("Gather", position, places, axis=0)
    else:
        at = w.along("Unsqueeze", w.slice(position, 0, length, 0), [0])
    total = w.op("Add", w.op("Gather", word, ids, axis=0), at)
    if segment:
        total = w.op("Add", total, w.op("Gather", segment, segments, axis=0))
    result, _mean, _inverse = normalised(w, total, weight, bias, w.attribute("epsilon", _SKIP_EPSILON))
    w.end(0, result)
    if w.result(1):
        counted = mask or w.op("Mul", ids, w.op("Cast", w.array(np.zeros((), np.int32)), to=w.dtype(ids)))
        w.end(1, w.along("ReduceSum", counted, [1], keepdims=0))
    w.end(2, total)
