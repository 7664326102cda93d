"""The steps of `storage_fuzz_programs`: one function a kind of op, in one file a kind of place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from storage_fuzz_programs import Writer
from storage_oracle import require

STEPS: dict[str, Callable[[Writer], None]] = {}
"""By name; complete once the files with the steps are imported (see `storage_fuzz`)."""


def step(function: Callable[[Writer], None]) -> Callable[[Writer], None]:
    STEPS[function.__name__] = function
    return function


def element(array: np.ndarray, i: int) -> object:
    require(0 <= i < len(array))
    return array[i]
