"""How far two correct compilations of one program may differ, and why that much. NumPy only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from fissile.errors import UsageError

NARROW_FLOATS = tuple(
    np.dtype(t)
    for t in (
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e4m3fnuz,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e5m2fnuz,
        ml_dtypes.float8_e8m0fnu,
        ml_dtypes.float4_e2m1fn,
    )
)
"""Element types that NumPy itself calls 'V' (void); they are floats all the same."""

EPSILON = {
    "f64": 2.0**-52,
    "f32": 2.0**-23,
    "f16": 2.0**-10,
    "bf16": 2.0**-7,
    "f8E4M3FN": 2.0**-3,
    "f8E4M3FNUZ": 2.0**-3,
    "f8E5M2": 2.0**-2,
    "f8E5M2FNUZ": 2.0**-2,
    "f8E8M0FNU": 1.0,
    "f4E2M1FN": 0.5,
    "f6E2M3FN": 2.0**-3,
    "f6E3M2FN": 2.0**-2,
}
"""The distance from 1 to the next number, by MLIR's name."""

_STORED = 64
"""Roundings that every result is allowed beside its sums: 8 epsilons, for math functions that are no correctly rounded ones."""


@dataclass(frozen=True)
class Tolerance:
    """How far an actual value may lie from the expected one, and why that much.

    * exact: equal bits; any two NaNs count as equal, 0.0 and -0.0 do not.
    * floats: ``|a - e| <= absolute + relative * |e| + scaled * max|expected|``. The last term is for
      sums: their rounding error grows with the terms, not with the result, which may cancel to 0.
    * integers: at most ``steps`` apart, and apart at all in less than ``share`` of the values.
    """

    exact: bool = False
    absolute: float = 0.0
    relative: float = 0.0
    scaled: float = 0.0
    steps: int = 0
    share: float = 0.0
    reason: str = ""

    def __post_init__(self) -> None:
        if min(self.absolute, self.relative, self.scaled, self.steps, self.share) < 0 or self.share > 1:
            raise ValueError(f"a tolerance is not negative, and a share is at most 1: {self}")

    @staticmethod
    def parse(text: str) -> Tolerance:
        """From ``exact``, ``1e-5`` (absolute), ``1e-5,1e-4`` (absolute, relative) or ``1steps,0.001``. `UsageError` otherwise."""
        if text == "exact":
            return EXACT
        first, _, second = text.partition(",")
        try:
            if first.endswith(("step", "steps")):
                return steps_within(int(first.removesuffix("s").removesuffix("step")), _finite(second))
            return Tolerance(
                absolute=_finite(first), relative=_finite(second or "0"), reason="given by the caller"
            )
        except ValueError:
            raise UsageError(
                f"'{text}' is not a tolerance", "write exact, ABSOLUTE, ABSOLUTE,RELATIVE or 1steps,0.001"
            ) from None

    def __str__(self) -> str:
        if self.exact:
            return "equal bits"
        if self.steps:
            return f"at most {steps_text(self.steps)} in less than {self.share:.3%} of the values"
        parts = [f"{self.absolute:.3g}"] if self.absolute else []
        parts += [f"{self.relative:.3g} * |expected|"] if self.relative else []
        parts += [f"{self.scaled:.3g} * max|expected|"] if self.scaled else []
        return "|difference| <= " + (" + ".join(parts) or "0")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(text)
    return value


EXACT = Tolerance(
    exact=True, reason="the same operations in the same order on the same target give the same bits"
)
NO_FLOATS = Tolerance(exact=True, reason="the program has no float, and integers have one right answer")


def steps_within(steps: int, share: float) -> Tolerance:
    """For quantised outputs: at most ``steps`` apart, in less than ``share`` (0..1) of the values."""
    return Tolerance(
        steps=steps, share=share, reason="a value next to a rounding border may fall on either side"
    )


def default_tolerance(dtype: np.dtype) -> Tolerance:
    """Where nothing is known of the program but the type of its result.

    Floats: 32 roundings of the type, of the value itself and of the largest value of the output. A sum of n
    terms in two orders differs by about sqrt(n) roundings of its largest partial sum, which the largest output
    stands for; 32 allows n of about 1000. Integers: one step in less than 0.1% of the values, because a float
    next to a rounding border may be requantised to either side. Booleans: likewise, a comparison near equality.
    """
    dtype = np.dtype(dtype)
    if not is_float(dtype):
        return steps_within(1, 0.001)
    rounding = float(ml_dtypes.finfo(dtype).eps)
    return Tolerance(
        relative=32 * rounding,
        scaled=32 * rounding,
        reason=f"sums in another order: 32 roundings of {dtype.name} ({rounding:g} each)",
    )


def derived_tolerance(
    dtype: np.dtype,
    element: str,
    roundings: Mapping[str, int],
    sums: Mapping[str, int],
    sensitivity: float = 0.0,
) -> Tolerance:
    """From the program: its result's type, the roundings on the way by float type, and its longest sums.

    Rounding errors are taken as independent (Higham and Mary, "A new approach to probabilistic rounding error
    analysis", SIAM J. Sci. Comput. 41, 2019): n roundings of epsilon e add up to about sqrt(n) e. ``sensitivity`` is
    measured: the largest difference that rounding every op to its type made, absolute for floats, a share of the values
    that changed for integers; four times as much is allowed, as another order of the same roundings differs as well.
    """
    dtype = np.dtype(dtype)
    if not is_float(dtype):
        if not roundings:
            return NO_FLOATS
        base = steps_within(1, min(1.0, max(0.001, 4 * sensitivity)))
        return base
    own = EPSILON.get(element, float(ml_dtypes.finfo(dtype).eps))
    variance = _STORED * own**2 + sum(
        count * EPSILON.get(kind, own) ** 2 for kind, count in roundings.items()
    )
    allowed = math.sqrt(variance)
    longest = ", ".join(f"sums of {length} terms in {kind}" for kind, length in sums.items() if length > 1)
    reason = (
        f"{sum(roundings.values())} roundings"
        + (f" ({longest})" if longest else "")
        + f", stored as {element}"
    )
    return Tolerance(absolute=4 * sensitivity, relative=allowed, scaled=allowed, reason=reason)


def is_float(dtype: np.dtype) -> bool:
    """Floats of every width, those of ml_dtypes included."""
    return dtype.kind == "f" or dtype in NARROW_FLOATS


def steps_text(count: int) -> str:
    """``count`` steps of an integer, in words."""
    return f"{count} step" + ("" if count == 1 else "s")


def narrowed(exact: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An exact result as a reference for one of type ``dtype``: float64 that is infinite where ``dtype`` overflows."""
    if is_float(np.dtype(dtype)):
        with np.errstate(over="ignore"):
            rounded = exact.astype(dtype).astype(np.float64)
        return np.where(np.isfinite(rounded), exact, rounded).astype(np.float64)
    if dtype.kind == "u":
        return (
            exact.astype(f"i{dtype.itemsize}").view(dtype) if exact.dtype.kind == "i" else exact.astype(dtype)
        )
    return exact.astype(dtype)
