"""The discrete Fourier transform along the last dimension, as products with constant tables."""

from __future__ import annotations

from math import isqrt, pi

import numpy as np
from iree.compiler import ir

from .. import torch_ops as torch
from ..torch_ops import TensorType, apply
from .complex_parts import Parts, added, multiplied, negated, subtracted

DIRECT = 64
"""Up to this length one product with a table of length x length; above, two transforms of its factors."""
LARGEST_TABLE = 1024
"""The largest prime factor that is written: its two tables have 4 MiB each."""


def is_writable(length: int) -> bool:
    """Whether the tables of a transform of ``length`` elements stay small."""
    return length > 0 and (
        length <= LARGEST_TABLE or _factor(length) > 1 and is_writable(length // _factor(length))
    )


def transformed(x: Parts, sign: int) -> Parts:
    """sum over j of x[j] exp(sign 2 pi i j k / n) for every k < n, along the last dimension, whose size n is static."""
    length = x.type.shape[-1]
    assert length is not None
    rows = _factor(length) if length > DIRECT else 1
    return _direct(x, length, sign) if rows == 1 else _split(x, rows, length // rows, sign)


def of_half(x: Parts, length: int, sign: int) -> Parts:
    """The same of ``length`` numbers whose first half, n // 2 + 1 of them, is ``x``, and the others are conjugates of those: real.

    What is its own conjugate, the first and for an even length the last, counts as real whatever its imaginary part is.
    """
    held = length // 2 + 1
    alone = np.isin(np.arange(held), [0, length / 2])
    if length > DIRECT:
        return Parts(transformed(_mirrored(x, length, alone), sign).real)
    cosine, sine = _turns(held, length, length, sign)
    counted = np.where(alone, 1, 2)[:, None]
    made = x.type.with_size(len(x.type.shape) - 1, length)
    real = apply("aten.matmul", [x.real, torch.table(cosine * counted)], made)
    if x.imaginary is None:
        return Parts(real)
    sine[alone] = 0
    return Parts(subtracted(real, apply("aten.matmul", [x.imaginary, torch.table(sine * counted)], made)))


def _mirrored(x: Parts, length: int, alone: np.ndarray) -> Parts:
    """``x`` and the conjugates of those that are not ``alone``, from the last on."""
    last, more = len(x.type.shape) - 1, length - len(alone)
    places = np.arange(more, 0, -1, dtype=np.int64)

    def with_reversed(side: ir.Value, reverse) -> ir.Value:
        index = [torch.integer(last), torch.table(places)]
        behind = apply("aten.index_select", [side, *index], x.type.with_size(last, more))
        return torch.concatenated([side, reverse(behind)], last)

    real = with_reversed(x.real, lambda side: side)
    if x.imaginary is None:
        return Parts(real)
    return Parts(real, with_reversed(multiplied(x.imaginary, torch.table(~alone)), negated))


def along(x: Parts, dim: int, written) -> Parts:
    """``written`` of ``x`` with ``dim`` as its last dimension."""
    last = len(x.type.shape) - 1
    if dim == last:
        return written(x)
    return written(x.each(lambda side: swapped(side, dim, last))).each(lambda side: swapped(side, dim, last))


def first(x: Parts, count: int) -> Parts:
    """The first ``count`` elements of the last dimension."""
    size = x.type.shape[-1]
    assert size is not None and size >= count
    last = len(x.type.shape) - 1
    return x if size == count else x.each(lambda side: torch.sliced(side, last, 0, count - size))


def resized(x: Parts, count: int) -> Parts:
    """The first ``count`` elements of the last dimension, and zeros behind them where there are fewer."""
    size, last = x.type.shape[-1], len(x.type.shape) - 1
    if size is None or size >= count:
        return first(x, count) if size else x
    made = x.type.with_size(last, count)
    behind = [torch.integers([0, count - size]), torch.real(0.0)]
    return x.each(lambda side: apply("aten.constant_pad_nd", [side, *behind], made))


def _factor(length: int) -> int:
    """The largest factor up to the square root; 1 of a prime."""
    return next(n for n in range(isqrt(length), 0, -1) if length % n == 0)


def _turns(rows: int, columns: int, length: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of sign 2 pi j k / length, as rows x columns: the angle is reduced while it is an integer, and what is 0 is 0."""
    angle = sign * 2 * pi * (np.outer(np.arange(rows), np.arange(columns)) % length) / length
    cosine, sine = (np.where(np.abs(found) < 1e-12, 0.0, found) for found in (np.cos(angle), np.sin(angle)))
    return cosine, sine


def _direct(x: Parts, length: int, sign: int) -> Parts:
    cosine, sine = map(torch.table, _turns(length, length, length, sign))

    def product(side: ir.Value, by: ir.Value) -> ir.Value:
        return apply("aten.matmul", [side, by], x.type)

    real, imaginary = product(x.real, cosine), product(x.real, sine)
    if x.imaginary is None:
        return Parts(real, imaginary)
    return Parts(subtracted(real, product(x.imaginary, sine)), added(imaginary, product(x.imaginary, cosine)))


def _split(x: Parts, rows: int, columns: int, sign: int) -> Parts:
    """Cooley and Tukey's: transforms of ``rows`` elements, a turn of each, transforms of ``columns`` elements."""
    square = x.each(lambda side: _unflattened(side, rows, columns))
    inner = transformed(square.each(swapped), sign)
    cosine, sine = map(torch.table, _turns(columns, rows, rows * columns, sign))
    assert inner.imaginary is not None
    turned = Parts(
        subtracted(multiplied(inner.real, cosine), multiplied(inner.imaginary, sine)),
        added(multiplied(inner.real, sine), multiplied(inner.imaginary, cosine)),
    )
    outer = transformed(turned.each(swapped), sign)
    return outer.each(swapped).each(_flattened)


def swapped(value: ir.Value, one: int = -2, other: int = -1) -> ir.Value:
    """``value`` with two of its dimensions exchanged."""
    type_ = TensorType.of(value)
    assert type_ is not None
    shape = list(type_.shape)
    shape[one], shape[other] = shape[other], shape[one]
    places = [torch.integer(one), torch.integer(other)]
    return apply("aten.transpose.int", [value, *places], TensorType(tuple(shape), type_.element))


def _unflattened(value: ir.Value, rows: int, columns: int) -> ir.Value:
    type_ = TensorType.of(value)
    assert type_ is not None
    made = TensorType((*type_.shape[:-1], rows, columns), type_.element)
    return apply("aten.unflatten.int", [value, torch.integer(-1), torch.integers([rows, columns])], made)


def _flattened(value: ir.Value) -> ir.Value:
    type_ = TensorType.of(value)
    assert type_ is not None
    rows, columns = type_.shape[-2:]
    assert rows is not None and columns is not None
    made = TensorType((*type_.shape[:-2], rows * columns), type_.element)
    return apply("aten.flatten.using_ints", [value, torch.integer(-2), torch.integer(-1)], made)
