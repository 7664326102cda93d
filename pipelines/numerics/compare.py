"""Do two arrays hold the same numbers? The answer is counted, and told in one sentence. NumPy only."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import ml_dtypes
import numpy as np

_NARROW_FLOATS = tuple(
    np.dtype(t)
    for t in (
        ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz,
        ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz,
    )
)
"""Element types that NumPy itself calls 'V' (void); they are floats all the same."""


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

    def __str__(self) -> str:
        if self.exact:
            return "equal bits"
        if self.steps:
            return f"at most {_steps(self.steps)} in less than {self.share:.3%} of the values"
        parts = [f"{self.absolute:g}"] if self.absolute else []
        parts += [f"{self.relative:g} * |expected|"] if self.relative else []
        parts += [f"{self.scaled:g} * max|expected|"] if self.scaled else []
        return "|difference| <= " + (" + ".join(parts) or "0")


EXACT = Tolerance(exact=True, reason="the same operations in the same order on the same target give the same bits")


def steps_within(steps: int, share: float) -> Tolerance:
    """For quantised outputs: at most ``steps`` apart, in less than ``share`` (0..1) of the values."""
    return Tolerance(steps=steps, share=share, reason="a value next to a rounding border may fall on either side")


def default_tolerance(dtype: np.dtype) -> Tolerance:
    """What two correct compilations of one program may differ by: other targets sum in another order.

    Floats: 32 roundings of the type, of the value itself and of the largest value of the output. A sum of n
    terms in two orders differs by about sqrt(n) roundings of its largest partial sum, which the largest output
    stands for; 32 allows n of about 1000. Integers: one step in less than 0.1% of the values, because a float
    next to a rounding border may be requantised to either side. Booleans: likewise, a comparison near equality.
    """
    dtype = np.dtype(dtype)
    if not _is_float(dtype):
        return steps_within(1, 0.001)
    rounding = float(ml_dtypes.finfo(dtype).eps)
    return Tolerance(
        relative=32 * rounding, scaled=32 * rounding,
        reason=f"sums in another order: 32 roundings of {dtype.name} ({rounding:g} each)",
    )


@dataclass(frozen=True)
class Comparison:
    """What was counted. ``differing`` counts values with other bits (NaNs apart); shapes are as compared.

    ``max_steps`` is None for floats, ``max_abs`` and ``max_rel`` count finite pairs only; ``nonfinite`` counts
    places where one side is NaN or infinite and the other is not the same. ``beyond`` counts values outside
    the tolerance; ``agrees`` is the verdict, ``sentence`` says it.
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
    max_steps: int | None = None
    first: tuple[int, ...] | None = None
    tolerance: str = ""

    @property
    def share(self) -> float:
        """The differing values' share of all, 0..1; 0 for an empty array."""
        return self.differing / self.size if self.size else 0.0

    def to_json(self) -> dict:
        """Plain JSON values (infinite differences as strings: JSON has no infinity)."""
        data = asdict(self) | {"share": self.share, "shape": list(self.shape)}
        data["first"] = None if self.first is None else list(self.first)
        return {k: str(v) if isinstance(v, float) and not np.isfinite(v) else v for k, v in data.items()}


def compare(
    actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance | None = None, reference: bool = False
) -> Comparison:
    """``actual`` against ``expected``, by ``tolerance`` (default: `default_tolerance` of actual's type).

    Shapes must be equal, and dtypes too, but for a ``reference``: there float64 may stand for any float and any
    integer type for any integer, as NumPy references are computed in wide types.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    tolerance = tolerance or default_tolerance(actual.dtype)
    base = Comparison(False, "", actual.shape, actual.dtype.name, actual.size, tolerance=str(tolerance))
    if actual.shape != expected.shape:
        return replace(base, sentence=f"shapes differ: {_shape(actual)} against the expected {_shape(expected)}")
    if actual.dtype != expected.dtype and not (reference and _kind(actual.dtype) == _kind(expected.dtype)):
        return replace(base, sentence=f"types differ: {actual.dtype.name} against the expected {expected.dtype.name}")
    if _kind(actual.dtype) == "other":
        return replace(base, sentence=f"values of type {actual.dtype.name} cannot be compared")
    return (_floats if _is_float(actual.dtype) else _integers)(base, actual, expected, tolerance)


def _floats(base: Comparison, actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> Comparison:
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    both_nan = np.isnan(a) & np.isnan(e)
    if actual.dtype == expected.dtype:
        differ = (_bits(actual) != _bits(expected)) & ~both_nan
    else:  # a float64 reference: equal where it rounds to the actual value
        differ = (a != e) & ~both_nan
    finite = np.isfinite(a) & np.isfinite(e)
    broken = ~finite & ~both_nan & (a != e)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        gap = np.where(finite, np.abs(a - e), 0.0)
        relative = np.where(gap > 0, gap / np.abs(e), 0.0)
    if tolerance.exact:
        beyond = differ
    else:
        largest = float(np.max(np.abs(e), where=np.isfinite(e), initial=0.0))
        allowed = tolerance.absolute + tolerance.scaled * largest + tolerance.relative * np.where(finite, np.abs(e), 0)
        beyond = (finite & ~(gap <= allowed)) | broken
    return _told(
        base, actual, expected, differ, beyond,
        nonfinite=int(broken.sum()),
        max_abs=float(np.max(gap, initial=0.0)),
        max_rel=float(np.max(relative, where=finite, initial=0.0)),
    )


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
    return _told(base, actual, expected, differ, beyond, max_abs=float(most), max_steps=most)


def _told(base, actual, expected, differ, beyond, **counts) -> Comparison:
    """The comparison with its verdict and its sentence."""
    differing, outside = int(differ.sum()), int(beyond.sum())
    where = beyond if outside else differ
    first = tuple(int(i) for i in np.argwhere(where)[0]) if differing else None
    result = replace(
        base, agrees=not outside, equal_bits=not differing and actual.dtype == expected.dtype,
        differing=differing, beyond=outside, first=first, **counts,
    )
    return replace(result, sentence=_sentence(result, actual, expected))


def _sentence(c: Comparison, actual: np.ndarray, expected: np.ndarray) -> str:
    if not c.differing:
        what = "bit-identical" if c.equal_bits else "equal"
        return f"{what} ({c.size} values)" if c.size else f"{what} (no values)"
    share = f"{c.differing} of {c.size} values ({_percent(c.share)}) differ"
    if c.max_steps is not None:
        share += f" by at most {_steps(c.max_steps)}"
    elif c.max_abs == 0.0 and not c.nonfinite:
        share += " in the sign of zero only"
    else:
        share += f" by at most {c.max_abs:.3g} (relative {c.max_rel:.3g})"
    if c.agrees:
        return f"{share}: within tolerance"
    at = f"first at {list(c.first)}: {_value(actual[c.first])} against the expected {_value(expected[c.first])}"
    bad = f"; {c.nonfinite} of them NaN or infinite on one side only" if c.nonfinite else ""
    return f"{share}{bad}; {at}; allowed: {c.tolerance}"


def _is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype in _NARROW_FLOATS


def _kind(dtype: np.dtype) -> str:
    if _is_float(dtype):
        return "float"
    return {"i": "integer", "u": "integer", "b": "boolean"}.get(dtype.kind, "other")


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(array.shape).view(f"u{array.dtype.itemsize}")


def _value(value) -> str:
    return f"{float(value):.6g}" if _is_float(value.dtype) else str(value)


def _shape(array: np.ndarray) -> str:
    return "x".join(map(str, array.shape)) or "scalar"


def _steps(count: int) -> str:
    return f"{count} step" + ("" if count == 1 else "s")


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.01 else f"{share:.3%}"
