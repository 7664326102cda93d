"""The functions of a trial, drawn from its name."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np

from .binary import binary, compare
from .function import Function, Rejected
from .indexing import dynamic, gather, scatter
from .moving import broadcast, concatenate, iota, pad, reshape, reverse, slice_, transpose
from .products import convolution, dot
from .reducing import reduce, reduce_window, sort
from .unary import clamp, convert, unary
from .value import Value

WEIGHTS: dict[Callable[[Function], Value], int] = {
    unary: 4, binary: 6, compare: 2, convert: 4, clamp: 1,
    broadcast: 3, transpose: 3, reshape: 3, slice_: 2, pad: 2, concatenate: 2, reverse: 1, iota: 1,
    reduce: 4, reduce_window: 2, sort: 1, dot: 3, convolution: 2, gather: 2, scatter: 2, dynamic: 2,
}  # fmt: skip
MODULE = 8
"""Functions that share a compile."""
ATTEMPTS = 40
TWO_RESULTS = 0.3
_FIRST_ELEMENTS = 20000


def functions(trial: str, constants: float = 0.0) -> list[Function]:
    """The functions of one module; ``constants`` is the share of arguments that are constants instead."""
    return [function(f"f{number}", f"{trial}:{number}", constants) for number in range(MODULE)]


def function(name: str, seed: str, constants: float = 0.0) -> Function:
    """A function with one result or two, none of which is vague. ``constants`` changes nothing else of it."""
    draw = random.Random(f"stablehlo:{seed}")
    while True:
        with np.errstate(all="ignore"):
            made = _grown(Function(name, draw))
        if made.results:
            choose = random.Random(f"constants:{seed}")
            made.constants = {v.name for v in made.arguments if choose.random() < constants}
            return made


def _grown(f: Function) -> Function:
    shape = f.shape()
    if math.prod(shape) > _FIRST_ELEMENTS:
        return f
    f.argument(shape, f.draw.choice(f.elements))
    wanted = f.draw.choice((2, 3, 4, 5, 6, 8))
    for _ in range(ATTEMPTS):
        (op,) = f.draw.choices(list(WEIGHTS), list(WEIGHTS.values()))
        try:
            with f.attempt():
                op(f)
        except Rejected:
            continue
        wanted -= 1
        if not wanted:
            break
    computed = [value for value in f.computed if not value.is_vague]
    if computed:
        f.results = [computed[-1]]
        other = f.draw.choice(computed)
        if f.draw.random() < TWO_RESULTS and other is not computed[-1]:
            f.results.append(other)
    return f
