"""Attention of ONNX Runtime with as many key heads as query heads. Heads are [batch, heads, sequence, head size]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .quantised import rescaled
from .writer import NotDefined, Writer, defines

MASKED = -10000.0
"""What ONNX Runtime adds to a masked score, where the node does not say."""
LEAST = -1e30
"""What is added where a causal attention does not look."""


def heads(w: Writer, value: str, count: int, order: tuple[int, ...] = (0, 2, 1, 3)) -> str:
    """[batch, sequence, heads * size] as heads."""
    return w.transpose(w.reshape(value, 0, 0, count, w.size(value, 2) // count), *order)


def allowed(w: Writer, condition: str, like: str, otherwise: float) -> str:
    """What is added to a score: 0 where ``condition``, else ``otherwise``."""
    return w.op("Where", condition, w.number(0.0, like), w.number(otherwise, like))


@dataclass
class Heads:
    """The operands of an attention, and what is added to its scores."""

    query: str
    key: str
    value: str
    added: list[str]


def attend(w: Writer, given: Heads, scale: float) -> str:
    """[batch, sequence, heads * size of a value]."""
    key = w.swapped(given.key)
    scores = w.op("MatMul", w.op("Mul", given.query, w.number(scale, given.query)), key)
    for one in given.added:
        scores = w.op("Add", scores, one)
    mixed = w.op("MatMul", w.op("Softmax", scores, axis=w.rank(scores) - 1), given.value)
    return w.reshape(w.transpose(mixed, 0, 2, 1, 3), 0, 0, w.size(mixed, 1) * w.size(mixed, 3))


def masks(w: Writer, given: Heads, mask: str, bias: str) -> list[str]:
    """What the node adds to the scores: its mask, 1 for what counts, its bias, and that of a causal attention."""
    like, filter_ = given.query, w.attribute("mask_filter_value", MASKED)
    found = [bias] if bias else []
    total = w.size_of(given.key, 2)
    if mask:
        found.append(allowed(w, _mask(w, mask, given, total), like, filter_))
    if w.attribute("unidirectional", 0):
        columns = w.places(total)
        rows = w.along("Unsqueeze", w.op("Add", w.places(w.size_of(like, 2)), _past(w, given, total)), [1])
        found.append(allowed(w, w.op("Not", w.op("Greater", columns, rows)), like, LEAST))
    return found


def _past(w: Writer, given: Heads, total: str) -> str:
    return w.op("Sub", total, w.size_of(given.query, 2))


def _mask(w: Writer, mask: str, given: Heads, total: str) -> str:
    """Where a key counts: ``mask`` is a number for each key ([batch, keys]), for each query and key, or the count of the keys."""
    rank = w.rank(mask)
    if rank == 1:
        if not w.same_size(mask, 0, given.query, 0):
            raise NotDefined("a mask by first and last keys")
        counts = w.along("Unsqueeze", w.op("Cast", mask, to=7), [1, 2, 3])
        return w.op("Less", w.places(total), counts)
    if rank > 3:
        raise NotDefined("a mask of four dimensions")
    return w.op("Cast", w.along("Unsqueeze", mask, [1, 2] if rank == 2 else [1]), to=9)


@defines("Attention")
def _attention(w: Writer) -> None:
    product = w.op("MatMul", w.operand(0), w.operand(1))
    _from_product(w, w.sum(product, w.operand(2)), w.operand(3), w.operand(4), w.operand(5))


@defines("QAttention")
def _quantised_attention(w: Writer) -> None:
    total = w.op("MatMulInteger", w.operand(0), w.operand(1), w.operand(6), w.operand(7))
    product = rescaled(w, total, [w.operand(3), w.operand(4)])
    _from_product(w, w.sum(product, w.operand(2)), w.operand(5), w.operand(8), "")


def _from_product(w: Writer, product: str, mask: str, past: str, bias: str) -> None:
    """An attention whose queries, keys and values are side by side in ``product``."""
    w.only(do_rotary=0, past_present_share_buffer=0)
    count, width = w.attribute("num_heads", 0), w.size(product, 2)
    widths = list(w.attribute("qkv_hidden_sizes", [])) or [width // 3] * 3
    query, key, value = (heads(w, part, count) for part in w.split(product, widths, 2))
    given = Heads(query, _after(w, past, 0, key), _after(w, past, 1, value), [])
    given.added += masks(w, given, mask, bias)
    w.end(0, attend(w, given, w.attribute("scale", 0.0) or (widths[0] // count) ** -0.5))
    if w.result(1):
        both = [w.along("Unsqueeze", one, [0]) for one in (given.key, given.value)]
        w.end(1, w.op("Concat", *both, axis=0))


def _after(w: Writer, past: str, index: int, new: str) -> str:
    """``new`` behind part ``index`` of ``past``, [2, batch, heads, sequence, size]."""
    if not past:
        return new
    return w.op("Concat", w.op("Gather", past, w.array(np.int64(index)), axis=0), new, axis=2)


@defines("MultiHeadAttention")
def _multi_head(w: Writer) -> None:
    if any(w.operand(index) for index in (8, 9)):  # a cache that keeps its length, and where it is
        raise NotDefined("a cache that keeps its length")
    count = w.attribute("num_heads", 0)
    query, key, value = _parts(w, count)
    if past := w.operand(6):
        key = w.op("Concat", past, key, axis=2)
        value = w.op("Concat", w.operand(7), value, axis=2)
    given = Heads(query, key, value, [])
    given.added += masks(w, given, w.operand(4), w.operand(5))
    w.end(0, attend(w, given, w.attribute("scale", 0.0) or w.size(query, 3) ** -0.5))
    w.end(1, key)
    w.end(2, value)


def _parts(w: Writer, count: int) -> list[str]:
    """The heads of the queries, keys and values, in any of the forms that the op takes."""
    query, key, value, bias = (w.operand(index) for index in range(4))
    if not key or not value:
        if bias:
            raise NotDefined("a bias of packed operands")
        packed, many = (query, 3) if not key else (key, 2)  # [batch, sequence, heads, 3, size]
        parts = [
            w.transpose(w.op("Gather", packed, w.array(np.int64(index)), axis=3), 0, 2, 1, 3)
            for index in range(many)
        ]
        return parts if many == 3 else [heads(w, query, count), *parts]
    operands = [query, key, value]
    if bias:
        if any(w.rank(one) != 3 for one in operands):
            raise NotDefined("a bias of keys that are heads")
        widths = [w.size(one, 2) for one in operands]
        operands = [
            w.op("Add", one, part) for one, part in zip(operands, w.split(bias, widths, 0), strict=True)
        ]
    return [one if w.rank(one) == 4 else heads(w, one, count) for one in operands]
