"""A value of a drawn function: what NumPy computes for it, and how far a right answer may be from that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fissile.pipelines.numerics.signature import ELEMENT_TYPES

FLOATS = ("f32", "f16", "bf16")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("ui8", "ui16", "ui32")
ELEMENTS = (*FLOATS, *SIGNED, *UNSIGNED, "i1")
DTYPES = {name: ELEMENT_TYPES[name] for name in ELEMENTS}
PRECISION = {"f32": 24, "f16": 11, "bf16": 8}
"""Bits of the significand, the implicit one among them."""
LARGEST = {"f32": 1e30, "f16": 2.0**13, "bf16": 1e30}
"""Beyond these a float is not drawn: an f16 that IREE keeps in f32 does not overflow where NumPy's does."""
SMALLEST = 2.0**-12
"""Below it, an f16 is close to the numbers that a device may flush to zero."""
APPROXIMATION = {"f32": 64, "f16": 4, "bf16": 4}
"""Roundings that an approximated function (exp, sin, division on a GPU) may be away from the exact result."""
VAGUE = 0.1
"""A result is not compared if the error that it may have is a larger part of its largest element."""


def tensor(shape: tuple[int, ...], element: str) -> str:
    """MLIR's spelling of a tensor type."""
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def rounding(element: str) -> float:
    """The relative error of one rounding to ``element``, at most."""
    return 2.0 ** (1 - PRECISION[element])


def largest(data: np.ndarray) -> float:
    """The largest absolute value of ``data``; 0 if it is empty."""
    return float(np.max(np.abs(data), initial=0.0))


def is_representable(data: np.ndarray, element: str) -> bool:
    """Whether the float type ``element`` holds the f64 ``data`` without a rounding, on every device."""
    if not np.array_equal(data.astype(DTYPES[element]).astype(np.float64), data):
        return False
    return bool(np.all((data == 0) | (np.abs(data) >= SMALLEST)))


@dataclass(frozen=True)
class Value:
    """``data`` is NumPy's result, ``error`` the largest absolute error of a right answer."""

    name: str
    data: np.ndarray
    element: str
    error: float = 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def rank(self) -> int:
        return self.data.ndim

    @property
    def type(self) -> str:
        return tensor(self.shape, self.element)

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    @property
    def is_exact(self) -> bool:
        return self.error == 0

    @property
    def is_vague(self) -> bool:
        """Whether a comparison would accept almost anything."""
        return self.is_float and self.error > VAGUE * largest(self.wide)

    @property
    def wide(self) -> np.ndarray:
        """The data in the type that ops are evaluated in: float64, int64 or bool."""
        if self.element == "i1":
            return self.data
        return self.data.astype(np.float64 if self.is_float else np.int64)

    @property
    def comparison(self) -> str:
        """What `stablehlo.compare` calls the order of the elements."""
        return "FLOAT" if self.is_float else "SIGNED" if self.element in SIGNED else "UNSIGNED"
