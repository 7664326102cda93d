"""Inputs of the programs of the support table, and what they compute, in NumPy: in float64 or in whole numbers, rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..numerics.signature import ELEMENT_TYPES
from ..numerics.sub_byte import SUB_BYTE_BITS

FLOAT_UNARY: dict[str, Callable] = {
    "absf": np.abs,
    "acos": np.arccos,
    "atan": np.arctan,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "round": lambda x: np.trunc(x + 0.5),
    "roundeven": np.round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}
"""Op of the math dialect -> NumPy's."""
FLOAT_BINARY: dict[str, Callable] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "remf": np.fmod,
}
INTEGER_BINARY: dict[str, Callable] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "divsi": np.floor_divide,
    "divui": np.floor_divide,
    "remsi": np.remainder,
    "maxsi": np.maximum,
    "minui": np.minimum,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "shli": np.left_shift,
    "shrsi": np.right_shift,
}
_UNITS = {"f64": 4, "f32": 16, "f16": 4, "bf16": 2, "f8E4M3FN": 2, "f8E5M2": 2}
"""How many units in the last place of a type a result may differ: functions that IREE approximates, and sums in another order."""
_MANTISSA_BITS = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7, "f8E4M3FN": 3, "f8E5M2": 2}
EXACT = frozenset(
    "absf ceil floor round roundeven trunc addf subf mulf maximumf minimumf transpose sort".split()
)
"""References whose result is rounded once or not at all: another number than NumPy's, rounded to the type, is wrong."""
_LEAST = 2.0**-4
"""Below this, a unit is that of this number: what cancels is judged by its operands."""

_NAMED_SUMS = (
    "matmul", "batch_matmul", "matvec", "dot", "conv_2d_nhwc_hwcf", "conv_2d_nchw_fchw", "depthwise_conv_2d_nhwc_hwc",
    "pooling_nhwc_sum",
)  # fmt: skip
"""The references of linalg's named ops that add up."""


def inputs(shapes: Sequence[tuple[int, ...]], element: str, reference: str) -> list[np.ndarray]:
    """Arrays that are the same in every run. Of small whole numbers in sums, so that hardly anything is rounded."""
    made = []
    for number, shape in enumerate(shapes):
        values: np.ndarray
        flat = np.arange(math.prod(shape), dtype=np.int64) * (7 + 4 * number) + 3 * number
        if element == "i1":
            values = flat % 3 % 2
        elif element.startswith("i"):
            values = 1 + flat % 3 if reference in ("shli", "shrsi") and number else 1 + flat % 7
            if reference not in INTEGER_BINARY:
                values = (flat % 5 == 0).astype(np.int64)
        elif reference in FLOAT_UNARY:
            values = (1 + flat % (4 if reference == "acos" else 8)) / 4
        elif reference in FLOAT_BINARY:
            values = (1 + flat % 8) / 4
        elif reference in ("sort", "softmax", "transpose"):
            values = (flat % 8) / 4
        else:
            values = (flat % 5 == 0).astype(np.float64)
        made.append(values.reshape(shape).astype(ELEMENT_TYPES[element]))
    return made


def expected(reference: str, arrays: Sequence[np.ndarray], element: str) -> np.ndarray:
    """What the op computes of ``arrays``: float64, or whole numbers as they are in ``element``."""
    whole = element.startswith("i")
    wide = [a.astype(np.int64 if whole else np.float64) for a in arrays]
    with np.errstate(all="ignore"):
        result = _computed(reference, wide)
    if not whole:
        return result
    if element == "i1" and reference in _NAMED_SUMS:
        return result != 0  # linalg's named ops multiply booleans by `and` and add them by `or`
    bits = SUB_BYTE_BITS.get(element, 1 if element == "i1" else ELEMENT_TYPES[element].itemsize * 8)
    wrapped = np.bitwise_and(result, (1 << bits) - 1) if bits < 64 else result
    if element == "i1":
        return wrapped.astype(bool)
    return np.where(wrapped >= 1 << (bits - 1), wrapped - (1 << bits), wrapped) if bits < 64 else wrapped


def _computed(reference: str, arrays: Sequence[np.ndarray]) -> np.ndarray:
    known = {**FLOAT_UNARY, **FLOAT_BINARY, **INTEGER_BINARY}.get(reference)
    if known is not None:
        return np.asarray(known(*arrays))
    return np.asarray(_OPS[reference](*arrays))


def agrees(got: np.ndarray, right: np.ndarray, element: str, reference: str = "") -> bool:
    """Whether ``got`` is ``right`` up to rounding in ``element``.

    Whole numbers, and what a reference of `EXACT` computes, have to be equal to ``right`` rounded once.
    """
    if got.shape != right.shape:
        return False
    if element == "i1" and got.dtype == bool and np.any(got.view(np.uint8) > 1):
        return False  # a byte that is no truth value: another op may read its lowest bit
    if element.startswith("i"):
        return bool(np.array_equal(got.astype(right.dtype), right))
    with np.errstate(all="ignore"):
        rounded = right.astype(ELEMENT_TYPES[element]).astype(np.float64)
        mine = got.astype(np.float64)
        same = (mine == rounded) | (np.isnan(mine) & np.isnan(rounded))
        if reference in EXACT:
            return bool(np.all(same))
        close = np.abs(mine - right) <= _UNITS.get(element, 1) * _unit(right, element)
    return bool(np.all(same | close))


def _unit(numbers: np.ndarray, element: str) -> np.ndarray:
    """The unit in the last place of ``element`` at ``numbers``."""
    exponents = np.floor(np.log2(np.maximum(np.abs(numbers), _LEAST)))
    return 2.0 ** (exponents - _MANTISSA_BITS.get(element, 1))


def _softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _windows(x: np.ndarray, sizes: tuple[int, int], axes: tuple[int, int]) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, sizes, axis=axes)


_OPS: dict[str, Callable] = {
    "matmul": np.matmul,
    "batch_matmul": np.matmul,
    "matvec": np.matmul,
    "dot": np.dot,
    "conv_2d_nhwc_hwcf": lambda x, f: np.einsum("nhwcij,ijcf->nhwf", _windows(x, (3, 3), (1, 2)), f),
    "conv_2d_nchw_fchw": lambda x, f: np.einsum("nchwij,fcij->nfhw", _windows(x, (3, 3), (2, 3)), f),
    "depthwise_conv_2d_nhwc_hwc": lambda x, f: np.einsum("nhwcij,ijc->nhwc", _windows(x, (3, 3), (1, 2)), f),
    "pooling_nhwc_sum": lambda x, _f: _windows(x, (3, 3), (1, 2)).sum(axis=(-1, -2)),
    "sum": lambda x: x.sum(axis=-1),
    "transpose": lambda x: x.T,
    "softmax": _softmax,
    "sort": lambda x: np.sort(x, axis=-1),
    "cumsum": lambda x: np.cumsum(x, axis=-1),
    "attention": lambda q, k, v: _softmax(0.25 * np.einsum("bmk,bok->bmo", q, k)) @ v,
}
