"""What a caller gave as the inputs of a compiled function, as the arrays that it takes: converted where that changes no value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fissile.errors import UsageError
from fissile.pipelines.numerics.sub_byte import SUB_BYTE_BITS

if TYPE_CHECKING:
    from fissile.pipelines.numerics.signature import Signature, Value


def fitted(given: Sequence[Any], signature: Signature) -> list[np.ndarray]:
    """``given`` as arrays of the element types of ``signature``'s arguments. Raises UsageError for the first that is none.

    An array has an element type of its own, which has to be the argument's. Python's numbers, and lists of them, have none: an
    integer argument takes what is a whole number in its range (3, 3.0, True), a float argument any number, rounded to its type.
    """
    wanted = ", ".join(value.text for value in signature.arguments)
    if len(given) != len(signature.arguments):
        raise UsageError(signature.not_given(len(given)), f"it takes {wanted}")
    return [
        _fitted(one, value, f"input {index} of @{signature.function}", wanted)
        for index, (one, value) in enumerate(zip(given, signature.arguments, strict=True))
    ]


def in_native_order(array: np.ndarray) -> np.ndarray:
    """``array`` with its bytes in this machine's order: another order is the same numbers."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _fitted(given: Any, value: Value, name: str, wanted: str) -> np.ndarray:
    try:
        array = in_native_order(np.asarray(given))
    except (ValueError, TypeError) as error:
        summary = str(error).partition(". ")[0]
        raise UsageError(f"{name} is no array: {summary}", f"it takes {wanted}") from None
    shape = value.shape or ()
    fits = len(shape) == array.ndim and all(d in (None, n) for d, n in zip(shape, array.shape, strict=True))
    is_array = isinstance(given, np.ndarray)
    if fits and not is_array and array.dtype != value.dtype:
        return _converted(array, value, name)
    if not fits or array.dtype != value.dtype:
        spelled = "x".join([*map(str, array.shape), array.dtype.name])
        raise UsageError(
            f"{name} is {spelled}, and {value.text} is needed",
            f"convert it: array.astype({value.dtype.name!r})" if fits else f"it takes {wanted}",
        )
    _in_range(array, value, name)
    return array


def _converted(array: np.ndarray, value: Value, name: str) -> np.ndarray:
    """Numbers of Python's, which have no element type, in the argument's."""
    dtype = value.dtype
    if array.dtype == object and all(type(one) is int for one in array.flat):  # beyond 64 bits
        if dtype.kind in "biu":
            raise _unfit(array, np.ones(array.shape, bool), value, name)
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise _unfit(array, np.ones(array.shape, bool), value, name) from None
    if array.dtype.kind not in "biuf" + "c" * (dtype.kind == "c"):
        first = array.flat[0] if array.size else array.dtype.name
        raise UsageError(f"{name} is {first!r}, and {value.text} is needed", "give numbers, or an array")
    with np.errstate(all="ignore"):
        made = array.astype(dtype)
        unfit = made != array if dtype.kind in "biu" else np.isfinite(array) & ~np.isfinite(made)
    if unfit.any():
        raise _unfit(array, unfit, value, name)
    _in_range(made, value, name)
    return made


def _in_range(array: np.ndarray, value: Value, name: str) -> None:
    """Raises UsageError where an element below a byte, which NumPy holds in one, has a value that its bits do not."""
    if value.element in SUB_BYTE_BITS:
        low, high = _limits(value)
        unfit = (array < low) | (array > high)
        if unfit.any():
            raise _unfit(array, unfit, value, name)


def _limits(value: Value) -> tuple[int, int]:
    if value.dtype.kind == "b":
        return 0, 1
    bits = SUB_BYTE_BITS.get(value.element) or value.dtype.itemsize * 8
    return (0, (1 << bits) - 1) if value.dtype.kind == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _unfit(array: np.ndarray, unfit: np.ndarray, value: Value, name: str) -> UsageError:
    first = array[unfit].flat[0]
    shown = first.item() if isinstance(first, np.generic) else first
    holds = (
        "whole numbers from {} to {}".format(*_limits(value))
        if value.dtype.kind in "biu"
        else "numbers that are finite in its type, or inf"
    )
    what = "is" if array.ndim == 0 else "holds"
    return UsageError(f"{name} {what} {shown!r}, which {value.text} cannot represent", f"it takes {holds}")
