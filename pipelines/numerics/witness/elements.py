"""How the elements of an MLIR type are held in NumPy, wrapped and rounded.

Floats of every width are held in float64, complex numbers in complex128, integers in the next wider signed
NumPy type with the wrap-around of their own width, i1 in bool.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np

from .registry import NoWitness

FLOATS: dict[str, np.dtype] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "f64": np.float64,
        "f32": np.float32,
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn,
        "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
        "f8E5M2": ml_dtypes.float8_e5m2,
        "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
        "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
        "f4E2M1FN": ml_dtypes.float4_e2m1fn,
        "f6E2M3FN": ml_dtypes.float6_e2m3fn,
        "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    }.items()
}


@dataclass(frozen=True)
class Element:
    """An element type: ``kind`` is float, integer or complex; ``bits`` counts one element (of one part for complex)."""

    text: str
    kind: str
    bits: int
    held: np.dtype
    narrow: np.dtype | None = None

    @property
    def stored(self) -> np.dtype:
        """``narrow`` of a float type."""
        assert self.narrow is not None
        return self.narrow

    @property
    def exact(self) -> bool:
        """No rounding when held: integers, and float64."""
        return self.kind == "integer" or self.bits == 64


@cache
def element_of(text: str) -> Element:
    """From MLIR's spelling. `NoWitness` for a type that is none of numbers."""
    if text == "index":
        return Element(text, "integer", 64, np.dtype(np.int64))
    if found := re.fullmatch(r"[su]?i(\d+)", text):
        bits = int(found[1])
        if bits == 1:
            return Element(text, "integer", 1, np.dtype(np.bool_))
        for width in (8, 16, 32, 64):
            if bits <= width:
                return Element(text, "integer", bits, np.dtype(f"int{width}"))
    if text in FLOATS:
        bits = int("".join(re.findall(r"\d+", text)[:1]))
        return Element(text, "float", bits, np.dtype(np.float64), FLOATS[text])
    if text in ("complex<f32>", "complex<f64>"):
        narrow = np.dtype(np.complex64 if "32" in text else np.complex128)
        return Element(text, "complex", int(text[9:11]), np.dtype(np.complex128), narrow)
    raise NoWitness(f"type {text}")


def element_of_type(type_) -> Element:
    """Of an `ir.Type`: a shaped type's elements, or the scalar itself."""
    from iree.compiler import ir

    return element_of(str(ir.ShapedType(type_).element_type if isinstance(type_, ir.ShapedType) else type_))


def hold(array, element: Element) -> np.ndarray:
    """``array`` in the type that holds ``element``; integers wrap to its width."""
    array = np.asarray(array)
    if element.kind != "integer":
        return array.astype(element.held)
    if element.bits == 1:
        return array if array.dtype == np.bool_ else (array.astype(np.int64) & 1).astype(np.bool_)
    return wrap(array, element)


def wrap(array: np.ndarray, element: Element) -> np.ndarray:
    """Integers modulo 2 to the width, as signed numbers."""
    if element.bits in (8, 16, 32, 64):
        return array.astype(element.held)
    top = 1 << (element.bits - 1)
    return (((array.astype(np.int64) & (2 * top - 1)) ^ top) - top).astype(element.held)


def unsigned(array: np.ndarray, element: Element) -> np.ndarray:
    """The same bits read as unsigned numbers, in uint64."""
    if element.bits == 1:
        return array.astype(np.uint64)
    mask = np.uint64((1 << element.bits) - 1)
    return array.astype(np.int64).view(np.uint64) & mask


def round_to(array: np.ndarray, element: Element) -> np.ndarray:
    """Floats rounded once to ``element``, to nearest even, and held again."""
    if element.narrow is None or element.narrow.itemsize == 8:
        return np.asarray(array).astype(element.held)
    with np.errstate(over="ignore"):
        return _rounded(np.asarray(array), element)


def _rounded(array: np.ndarray, element: Element) -> np.ndarray:
    if element.stored.itemsize < 2 or element.text == "bf16":
        # ml_dtypes converts from float32; rounding to odd there keeps the second rounding right.
        single = array.astype(np.float32)
        wide = single.astype(np.float64)
        toward = np.nextafter(single, np.where(wide > array, np.float32(-np.inf), np.float32(np.inf)))
        inexact = np.isfinite(array) & np.isfinite(single) & (wide != array)
        even = (single.view(np.uint32) & 1) == 0
        return np.where(inexact & even, toward, single).astype(element.narrow).astype(np.float64)
    return array.astype(element.narrow).astype(element.held)


def to_bits(array: np.ndarray, element: Element) -> np.ndarray:
    """Each element's bits in an unsigned integer of its own byte size."""
    if element.kind == "integer":
        return unsigned(array, element).astype(f"u{max(element.held.itemsize, 1)}")
    if element.kind == "complex":
        raise NoWitness("bits of complex numbers")
    stored = np.ascontiguousarray(round_to(array, element).astype(element.narrow))
    return stored.view(f"u{element.stored.itemsize}").reshape(np.shape(array))


def from_bits(bits: np.ndarray, element: Element) -> np.ndarray:
    """The reverse of `to_bits`."""
    if element.kind == "integer":
        return hold(bits.astype(np.uint64).view(np.int64), element)
    if element.kind == "complex":
        raise NoWitness("bits of complex numbers")
    stored = np.ascontiguousarray(bits.astype(f"u{element.stored.itemsize}"))
    return stored.view(element.stored).astype(np.float64).reshape(np.shape(bits))
