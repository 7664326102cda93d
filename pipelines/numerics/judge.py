"""Two answers and a witness: do they agree, which of them is nearer to the exact one, and who is wrong? NumPy only."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .compare import Comparison, compare, in_parts
from .tolerance import Tolerance, derived_tolerance, is_float, narrowed
from .witness.evaluation import Evaluation

EVALUATION = "NumPy's evaluation"
"""What the witness is called in sentences."""


@dataclass(frozen=True)
class Sides:
    """What the two answers are called: the program's, and the reference's."""

    program: str
    reference: str


def judged(
    actual: np.ndarray,
    expected: np.ndarray | None,
    evaluation: Evaluation,
    output: int,
    element: str,
    sides: Sides,
    given: Tolerance | None = None,
) -> Comparison:
    """``actual`` against ``expected`` with the tolerance that the program's own roundings give, and the witness's verdict.

    Without ``expected`` the witness is the reference. ``given`` replaces the derived tolerance. ``element`` is the MLIR
    type of the output. Beyond the tolerance the program is right where the witness agrees with it and not with the
    reference; where the witness agrees with neither, nobody is called right.
    """
    actual, wide, declared = map(in_parts, (actual, evaluation.wide[output], evaluation.declared[output]))
    expected = None if expected is None else in_parts(expected)
    if np.shape(wide) != actual.shape:
        return _without(
            actual, expected, f"{EVALUATION} has another shape: {'x'.join(map(str, np.shape(wide)))}", given
        )
    wide, declared = narrowed(wide, actual.dtype), narrowed(declared, actual.dtype)
    tolerance = given or derived_tolerance(
        actual.dtype, element, evaluation.roundings, evaluation.sums, _sensitivity(wide, declared)
    )
    own = compare(actual, wide, tolerance, reference=True)
    if expected is None:
        if own.agrees and own.max_steps is None and own.largest and own.max_abs:
            # The bits of float64 differ from narrower ones in most values, which says nothing.
            verdict = f"at most {own.max_abs:.3g} off ({own.max_rel:.2g} of the largest, {own.largest:.3g}; {own.max_ulp:.3g} ulp of it)"
            own = replace(own, sentence=f"{verdict}: within tolerance")
        return own
    found = compare(actual, expected, tolerance)
    if found.equal_bits and own.agrees:
        return replace(found, witness=f"{EVALUATION} agrees")
    other = compare(expected, wide, tolerance, reference=True)
    distances = f"{sides.program} {_distance(own)}, {sides.reference} {_distance(other)}"
    if not own.agrees and not other.agrees:
        verdict = f"{EVALUATION} agrees with neither: {distances}"
        return replace(found, wrong="both", witness=verdict, sentence=f"{found.sentence}; {verdict}")
    if found.agrees and own.agrees and other.agrees:
        verdict = _nearer(own, other, sides)
        return replace(found, witness=verdict, sentence=f"{found.sentence}; {verdict}")
    if own.agrees and other.agrees:  # on two sides of the exact answer
        verdict = f"both agree with {EVALUATION}: {distances}"
        return replace(
            found, agrees=True, beyond=0, witness=verdict, sentence=f"{_counted(found)}; {verdict}"
        )
    if own.agrees:
        verdict = f"{sides.reference} is wrong: {EVALUATION} agrees with {sides.program} ({distances})"
        return replace(
            found, agrees=True, wrong="reference", witness=verdict, sentence=f"{_counted(found)}; {verdict}"
        )
    verdict = f"{sides.program} is wrong: {EVALUATION} agrees with {sides.reference} ({distances})"
    return replace(
        found, agrees=False, wrong="program", witness=verdict, sentence=f"{found.sentence}; {verdict}"
    )


def unwitnessed(comparison: Comparison, why: str) -> Comparison:
    """A comparison that no witness could look at."""
    verdict = f"no witness: {why}"
    return replace(
        comparison,
        witness=verdict,
        sentence=comparison.sentence if comparison.agrees else f"{comparison.sentence}; {verdict}",
    )


def _without(actual, expected, why: str, given: Tolerance | None) -> Comparison:
    if expected is None:
        return replace(compare(actual, actual, given), agrees=False, equal_bits=False, sentence=why)
    return unwitnessed(compare(actual, expected, given), why)


def _counted(comparison: Comparison) -> str:
    """The counts of a sentence, without the verdict."""
    return comparison.sentence.split(": within tolerance")[0].split("; first at")[0]


def _distance(comparison: Comparison) -> str:
    if comparison.max_steps is not None:
        return f"{comparison.differing} of {comparison.size} values off"
    if comparison.nonfinite:
        return f"{comparison.nonfinite} of {comparison.size} values NaN or infinite on one side only"
    return f"at most {comparison.max_abs:.3g} off"


def _nearer(own: Comparison, other: Comparison, sides: Sides) -> str:
    """Which side the float64 evaluation is nearer to, by the largest error (integers: by the values that are off)."""
    errors = (own.max_abs, other.max_abs) if own.max_steps is None else (own.differing, other.differing)
    names = (sides.program, sides.reference)
    unit = "at most {:.3g} off" if own.max_steps is None else "{} values off"
    if errors[0] == errors[1]:
        return f"as near to float64: {unit.format(errors[0])}"
    near = int(errors[1] < errors[0])
    return (
        f"{names[near]} is nearer to float64: {unit.format(errors[near])}, "
        f"{names[1 - near]} {unit.format(errors[1 - near])}"
    )


def _sensitivity(wide: np.ndarray, declared: np.ndarray) -> float:
    """What rounding every op changed: absolute for floats (few outliers do not count), a share of the values for integers."""
    if not wide.size:
        return 0.0
    if not is_float(wide.dtype):
        return float(np.mean(wide != declared))
    with np.errstate(invalid="ignore"):
        gap = np.abs(wide - declared)
    gap = gap[np.isfinite(gap)]
    return min(float(gap.max()), 8 * float(np.sqrt(np.mean(gap**2)))) if gap.size else 0.0
