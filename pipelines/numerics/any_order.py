"""Results that have no order of their own: the values and places of a top-k that is not sorted, along one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class AnyOrder:
    """The results ``outputs`` of a function may be permuted along ``axis``, all in the same way."""

    outputs: tuple[int, ...]
    axis: int


def in_one_order(arrays: Sequence[np.ndarray], loose: Sequence[AnyOrder]) -> list[np.ndarray]:
    """``arrays`` with what may come in any order sorted: by the first array of each `AnyOrder`, then by the next."""
    found = [np.asarray(array) for array in arrays]
    for group in loose:
        keys = [found[output] for output in reversed(group.outputs)]  # the last key of lexsort counts first
        places = np.lexsort(keys, axis=group.axis)
        for output in group.outputs:
            found[output] = np.take_along_axis(found[output], places, group.axis)
    return found
