"""Which inputs a verification runs on: seeded, in ranges that keep quantised programs meaningful."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fissile.errors import UsageError

from .signature import Signature, Value
from .sub_byte import SUB_BYTE_BITS

INTEGER_RANGES: dict[str, tuple[int, int]] = {
    # 16 bits and below are quantised data: all values. Wider ones are mostly biases, sums and indices, where the
    # full range would overflow every sum or leave every bound.
    "i4": (-8, 7),
    "si4": (-8, 7),
    "ui4": (0, 15),
    "i2": (-2, 1),
    "i8": (-128, 127),
    "si8": (-128, 127),
    "ui8": (0, 255),
    "i16": (-(2**15), 2**15 - 1),
    "si16": (-(2**15), 2**15 - 1),
    "ui16": (0, 2**16 - 1),
    "i32": (-1024, 1023),
    "si32": (-1024, 1023),
    "ui32": (0, 1023),
    "i64": (-1024, 1023),
    "si64": (-1024, 1023),
    "ui64": (0, 1023),
    "index": (0, 7),
}
"""Closed ranges by MLIR element type; floats are normal with standard deviation 1, i1 is a coin."""

FLOAT_EDGES = (0.0, -0.0, 1.0, -1.0)
"""Infinities and NaNs are left out: one of them in a sum hides every other value of the result."""


_WIDEST = np.dtype(np.complex128).itemsize
"""Bytes of the widest element that anything is drawn in."""


@dataclass(frozen=True)
class Sizes:
    """The size of each dynamic dimension: one for all, but where ``at[(argument, dimension)]`` says otherwise.

    One size for all is the safe guess: dynamic dimensions of one function mostly have to agree.
    """

    default: int = 8
    at: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def of(self, argument: int, dimension: int) -> int:
        return self.at.get((argument, dimension), self.default)

    @staticmethod
    def parse(text: str) -> Sizes:
        """From ``8`` or ``8,0.1=16``: argument 0's dimension 1 is 16. `UsageError` otherwise."""
        default, at = 8, {}
        try:
            for part in text.split(","):
                place, _, size = part.rpartition("=")
                if int(size) < 0:
                    raise ValueError
                if place:
                    argument, dimension = place.split(".")
                    at[int(argument), int(dimension)] = int(size)
                else:
                    default = int(size)
        except ValueError:
            raise UsageError(
                f"'{text}' gives no sizes for dynamic dimensions",
                "write SIZE, or SIZE,ARGUMENT.DIMENSION=SIZE,…, as in 8,0.1=16",
            ) from None
        return Sizes(default, at)


def check_places(signature: Signature, sizes: Sizes, ranges: Mapping[int, tuple[float, float]]) -> None:
    """Raises UsageError where ``sizes`` or ``ranges`` name an argument that there is not, or a dimension that has another size."""
    count = len(signature.arguments)
    listed = ", ".join(value.text for value in signature.arguments) or "none"
    for argument in (*ranges, *(argument for argument, _dimension in sizes.at)):
        if not 0 <= argument < count:
            raise UsageError(
                f"@{signature.function} has no argument {argument}",
                f"arguments are counted from 0; it takes {listed}",
            )
    for (argument, dimension), size in sizes.at.items():
        value = signature.arguments[argument]
        shape = value.shape or ()
        if not 0 <= dimension < len(shape):
            raise UsageError(
                f"argument {argument} of @{signature.function}, {value.text}, has no dimension {dimension}",
                "dimensions are counted from 0; a scalar has none",
            )
        if shape[dimension] not in (None, size):
            raise UsageError(
                f"dimension {dimension} of argument {argument} of @{signature.function} is {shape[dimension]}, not {size}",
                f"sizes are for dimensions that are dynamic, a '?' in {value.text}",
            )


def draw(
    signature: Signature,
    seed: int,
    sizes: Sizes = Sizes(),
    ranges: Mapping[int, tuple[float, float]] | None = None,
) -> list[np.ndarray]:
    """One array per argument (0-d for scalars), the same for the same seed on every machine.

    The first elements are edge values (smallest, largest, 0, 1, -1, as far as the range has them), the
    rest uniform integers or normal floats. ``ranges`` overrides the closed range of an argument by its index;
    floats are then uniform in it. `UsageError` for a type or a size that no data can be made for.
    """
    arrays = []
    for index, value in enumerate(signature.arguments):
        shape = (
            ()
            if value.shape is None
            else tuple(sizes.of(index, d) if size is None else size for d, size in enumerate(value.shape))
        )
        if math.prod(max(1, size) for size in shape) * _WIDEST > sys.maxsize:
            raise UsageError(
                f"no input can be made of argument {index}, {'x'.join(map(str, shape))} elements",
                "no machine has that much memory",
            )
        generator = np.random.default_rng([seed, index])
        arrays.append(_array(value, shape, generator, (ranges or {}).get(index)))
    return arrays


def _array(value: Value, shape: tuple[int, ...], generator, limits: tuple[float, float] | None) -> np.ndarray:
    dtype = value.dtype
    edges: list[complex]
    if value.element == "i1":
        return generator.integers(0, 2, shape).astype(dtype)
    if value.element in INTEGER_RANGES:
        low, high = map(int, limits or INTEGER_RANGES[value.element])
        data = np.asarray(generator.integers(low, high, shape, dtype=np.int64, endpoint=True))
        edges = [e for e in dict.fromkeys((low, high, 0, 1, -1)) if low <= e <= high]
    elif limits:
        data = np.asarray(generator.uniform(*limits, shape))
        edges = list(limits)
    elif value.element == "f8E8M0FNU":  # powers of two, the scales of a block: neither signs nor zeros
        data = np.asarray(2.0 ** generator.integers(-4, 5, shape))
        edges = [1.0, 0.5, 2.0]
    elif dtype.kind == "c":
        data = np.asarray(generator.standard_normal(shape) + 1j * generator.standard_normal(shape))
        edges = [*FLOAT_EDGES, 1j]
    else:
        data = np.asarray(generator.standard_normal(shape))
        edges = list(FLOAT_EDGES)
    # Edges take at most half of a small tensor: another seed must make another input.
    count = min(len(edges), data.size // 2)
    data.reshape(-1)[:count] = edges[:count]
    return data.astype(dtype)


def checked(inputs: Sequence[np.ndarray], signature: Signature) -> list[np.ndarray]:
    """``inputs`` where they are what the function takes. Raises UsageError, with the first that is not."""
    if len(inputs) != len(signature.arguments):
        raise UsageError(
            signature.not_given(len(inputs)),
            "give one array (--input=FILE.npy) for each argument, in order",
        )
    for index, (array, value) in enumerate(zip(inputs, signature.arguments, strict=False)):
        shape = value.shape or ()
        fits = len(shape) == array.ndim and all(
            d in (None, n) for d, n in zip(shape, array.shape, strict=False)
        )
        if not fits or array.dtype != value.dtype:
            given = "x".join([*map(str, array.shape), array.dtype.name])
            raise UsageError(
                f"input {index} of @{signature.function} is {given}, and {value.text} is needed",
                f"convert it: array.astype({value.dtype.name!r})"
                if fits
                else f"the function takes {value.text}",
            )
        if bits := SUB_BYTE_BITS.get(value.element):
            low = 0 if array.dtype.kind == "u" else -(1 << (bits - 1))
            if array.size and not (low <= array.min() and array.max() < low + (1 << bits)):
                raise UsageError(
                    f"input {index} of @{signature.function} has values from {array.min()} to {array.max()}",
                    f"{value.element} holds {low} to {low + (1 << bits) - 1}",
                )
    return list(inputs)
