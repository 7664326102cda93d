"""Do two arrays hold the same numbers? The answer is counted, and put into one sentence. NumPy only."""

from __future__ import annotations

from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

from fissile import wire

from .tolerance import EXACT, Tolerance, default_tolerance, is_float, steps_text, steps_within

__all__ = ["EXACT", "Comparison", "Tolerance", "compare", "default_tolerance", "steps_within"]


@dataclass(frozen=True)
class Comparison:
    """What was counted. ``differing`` counts values with other bits (NaNs apart); shapes are as compared.

    ``max_steps`` is None for floats, ``max_abs`` counts finite pairs only; ``largest`` is the largest expected magnitude,
    ``max_rel`` is ``max_abs`` by it (a value near 0 says nothing about a relative error) and ``max_ulp`` counts the
    units in the last place of that largest value; ``nonfinite`` counts places where one side is NaN or infinite and the
    other is not the same. ``beyond`` counts values outside the tolerance; ``agrees`` is the verdict, ``sentence`` says
    it. ``wrong`` names who is wrong where that was decided: "program", "reference", "both" or nothing; ``witness`` has
    in words what NumPy's evaluation says, or why there is none.
    """

    agrees: bool
    sentence: str
    shape: tuple[int, ...]
    dtype: str
    size: int = 0
    equal_bits: bool = False
    differing: int = 0
    beyond: int = 0
    nonfinite: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0
    max_ulp: float = 0.0
    largest: float = 0.0
    max_steps: int | None = None
    first: tuple[int, ...] | None = None
    tolerance: str = ""
    tolerance_reason: str = ""
    wrong: str = ""
    witness: str = ""

    @property
    def share(self) -> float:
        """The differing values' share of all, 0..1; 0 for an empty array."""
        return self.differing / self.size if self.size else 0.0

    def to_json(self) -> dict:
        """Plain JSON values (infinite differences as strings: JSON has no infinity)."""
        data = wire.plain(self) | {"share": self.share}
        return {k: str(v) if isinstance(v, float) and not np.isfinite(v) else v for k, v in data.items()}


def compare(
    actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance | None = None, reference: bool = False
) -> Comparison:
    """``actual`` against ``expected``, by ``tolerance`` (default: `default_tolerance` of actual's type).

    Shapes must be equal, and dtypes too, but for a ``reference``: there float64 may stand for any float and any
    integer type for any integer, as NumPy references are computed in wide types.
    """
    actual, expected = in_parts(np.asarray(actual)), in_parts(np.asarray(expected))
    tolerance = tolerance or default_tolerance(actual.dtype)
    base = Comparison(
        False,
        "",
        actual.shape,
        actual.dtype.name,
        actual.size,
        tolerance=str(tolerance),
        tolerance_reason=tolerance.reason,
    )
    if actual.shape != expected.shape:
        return replace(
            base, sentence=f"shapes differ: {_shape(actual)} against the expected {_shape(expected)}"
        )
    if actual.dtype != expected.dtype and not (reference and _kind(actual.dtype) == _kind(expected.dtype)):
        return replace(
            base, sentence=f"types differ: {actual.dtype.name} against the expected {expected.dtype.name}"
        )
    if _kind(actual.dtype) == "other":
        return replace(base, sentence=f"values of type {actual.dtype.name} cannot be compared")
    return (_floats if is_float(actual.dtype) else _integers)(base, actual, expected, tolerance)


def in_parts(array: np.ndarray) -> np.ndarray:
    """Complex numbers as a last dimension of real and imaginary parts; other arrays as they are."""
    return np.stack([array.real, array.imag], axis=-1) if array.dtype.kind == "c" else array


def _floats(base: Comparison, actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> Comparison:
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    both_nan = np.isnan(a) & np.isnan(e)
    if actual.dtype == expected.dtype:
        differ = (_bits(actual) != _bits(expected)) & ~both_nan
    else:  # a float64 reference: equal where it rounds to the actual value
        differ = (a != e) & ~both_nan
    finite = np.isfinite(a) & np.isfinite(e)
    broken = ~finite & ~both_nan & (a != e)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = np.where(finite, np.abs(a - e), 0.0)
    largest = float(np.max(np.abs(e), where=np.isfinite(e), initial=0.0))
    most = float(np.max(gap, initial=0.0))
    if tolerance.exact:
        beyond = differ
    else:
        allowed = (
            tolerance.absolute
            + tolerance.scaled * largest
            + tolerance.relative * np.where(finite, np.abs(e), 0)
        )
        beyond = (finite & ~(gap <= allowed)) | broken
    return _comparison(
        base,
        actual,
        expected,
        differ,
        beyond,
        nonfinite=int(broken.sum()),
        max_abs=most,
        largest=largest,
        max_rel=most / largest if largest else 0.0,
        max_ulp=_ulps(most, largest, actual.dtype),
    )


def _ulps(gap: float, largest: float, dtype: np.dtype) -> float:
    """``gap`` in units in the last place of ``largest``."""
    if not largest:
        return 0.0
    return gap / (float(ml_dtypes.finfo(dtype).eps) * 2.0 ** np.floor(np.log2(largest)))


def _integers(base: Comparison, actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> Comparison:
    differ = actual != expected
    # Python integers where 64 bits could wrap; the differing values are few or the answer is no anyway.
    wide = np.int64 if actual.dtype.itemsize < 8 and expected.dtype.itemsize < 8 else object
    gap = np.abs(actual[differ].astype(wide) - expected[differ].astype(wide))
    most = int(gap.max()) if gap.size else 0
    if tolerance.exact or not tolerance.steps:
        beyond = differ
        if not tolerance.exact and (tolerance.absolute or tolerance.relative):
            limit = tolerance.absolute + tolerance.relative * np.abs(expected.astype(np.float64))
            beyond = differ & (np.abs(actual.astype(np.float64) - expected.astype(np.float64)) > limit)
    else:
        beyond = np.zeros_like(differ)
        beyond[differ] = (gap > tolerance.steps).astype(bool)
        if differ.sum() >= tolerance.share * differ.size:
            beyond = differ
    return _comparison(base, actual, expected, differ, beyond, max_abs=float(most), max_steps=most)


def _comparison(base, actual, expected, differ, beyond, **counts) -> Comparison:
    """The comparison with its verdict and its sentence."""
    differing, outside = int(differ.sum()), int(beyond.sum())
    where = beyond if outside else differ
    first = tuple(int(i) for i in np.argwhere(where)[0]) if differing else None
    result = replace(
        base,
        agrees=not outside,
        equal_bits=not differing and actual.dtype == expected.dtype,
        differing=differing,
        beyond=outside,
        first=first,
        **counts,
    )
    return replace(result, sentence=_sentence(result, actual, expected))


def _sentence(c: Comparison, actual: np.ndarray, expected: np.ndarray) -> str:
    if not c.differing:
        what = "bit-identical" if c.equal_bits else "equal"
        return f"{what} ({c.size} values)" if c.size else f"{what} (no values)"
    share = f"{c.differing} of {c.size} values ({_percent(c.share)}) differ"
    if c.max_steps is not None:
        share += f" by at most {steps_text(c.max_steps)}"
    elif c.max_abs == 0.0 and not c.nonfinite:
        share += " in the sign of zero only"
    else:
        share += f" by at most {c.max_abs:.3g}"
        if c.largest:
            share += f" ({c.max_rel:.2g} of the largest, {c.largest:.3g}; {c.max_ulp:.3g} ulp of it)"
    if c.agrees:
        return f"{share}: within tolerance"
    assert c.first is not None  # some element differs
    at = f"first at {list(c.first)}: {_value(actual[c.first])} against the expected {_value(expected[c.first])}"
    bad = f"; {c.nonfinite} of them NaN or infinite on one side only" if c.nonfinite else ""
    return f"{share}{bad}; {at}; allowed: {c.tolerance}"


def _kind(dtype: np.dtype) -> str:
    if is_float(dtype):
        return "float"
    return {"i": "integer", "u": "integer", "b": "boolean"}.get(dtype.kind, "other")


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(array.shape).view(f"u{array.dtype.itemsize}")


def _value(value) -> str:
    return f"{float(value):.6g}" if is_float(value.dtype) else str(value)


def _shape(array: np.ndarray) -> str:
    return "x".join(map(str, array.shape)) or "scalar"


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.01 else f"{share:.3%}"
