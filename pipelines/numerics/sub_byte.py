"""Integers below a byte, as IREE's buffers hold them: without gaps, the first in the lowest bits. Pure: NumPy only."""

from __future__ import annotations

import numpy as np

SUB_BYTE_BITS = {"i4": 4, "i2": 2, "si4": 4, "ui4": 4}
"""By MLIR's name. i1 is not among them: it takes a byte. NumPy holds each in an 8-bit integer."""


def pack(array: np.ndarray, bits: int) -> bytes:
    """The lowest ``bits`` of each element, 8 / ``bits`` elements a byte; the last byte is filled with zeros."""
    each = 8 // bits
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    rows = np.pad(flat, (0, -len(flat) % each)).reshape(-1, each)
    return (
        np.bitwise_or.reduce(rows << (np.arange(each, dtype=np.uint8) * bits), axis=1)
        .astype(np.uint8)
        .tobytes()
    )


def unpack(data: bytes, bits: int, dtype: np.dtype) -> np.ndarray:
    """The elements of ``data`` in order, as int8 or uint8 (``dtype``), with those that fill the last byte."""
    each = 8 // bits
    rows = np.frombuffer(data, np.uint8)[:, None] >> (np.arange(each, dtype=np.uint8) * bits)
    flat = (rows.reshape(-1) & ((1 << bits) - 1)).astype(np.uint8)
    if np.dtype(dtype).kind == "u":
        return flat
    top = 1 << (bits - 1)
    return ((flat ^ top).astype(np.int16) - top).astype(np.int8)
