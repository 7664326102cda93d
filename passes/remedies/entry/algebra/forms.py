"""What an op of linear algebra takes and returns: its matrices, its flags, and the kinds of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from iree.compiler import ir

from .. import torch_ops as torch
from ..torch_ops import TensorType

Flag: TypeAlias = "bool | str | float | list[int]"
NONE = "none"
"""A flag that is Python's None."""


def flag(value: ir.Value) -> Flag | None:
    """The constant that ``value`` is; None for another one."""
    if torch.is_none(value):
        return NONE
    for read in (torch.boolean_of, torch.string_of, torch.number_of, torch.integers_of):
        found = read(value)
        if found is not None:
            return found
    return None


@dataclass(frozen=True)
class Form:
    """An op: its matrices come first, then ``flags``, which may be left out from the end. ``results``: what it returns, see `KINDS`. ``takes``: whether it is
    written with these flags, on matrices of so many dimensions, the batch's included."""

    matrices: int
    flags: tuple[str, ...]
    results: str
    write: Callable[..., list[ir.Value]]
    allows: Callable[[list[TensorType]], bool]
    takes: Callable[[Mapping[str, Flag], int], bool] = lambda _flags, _rank: True

    def returns(self, results: list[TensorType | None], rank: int) -> bool:
        """Whether an op on matrices of ``rank`` dimensions, the batch's included, has ``results``."""
        kinds = [KINDS[kind] for kind in self.results]
        return len(kinds) == len(results) and all(
            one is not None and one.element == element and (less is None or len(one.shape) == rank - less)
            for one, (element, less) in zip(results, kinds, strict=True)
        )


def unless_false(name: str) -> Callable[[Mapping[str, Flag], int], bool]:
    """Whether the flag of this name is True or left out."""
    return lambda flags, _rank: flags.get(name) is not False


KINDS: dict[str, tuple[str, int | None]] = {
    "m": ("f32", 0),
    "v": ("f32", 1),
    "n": ("f32", 2),
    "p": ("si32", 1),
    "i": ("si32", 2),
    "r": ("f32", None),
    "c": ("si64", 2),
}
"""Matrices, vectors and numbers, pivots, a number for an error, what the right side is like, a count: their elements, and how many dimensions fewer
than the matrix they have."""


def square(types: list[TensorType]) -> bool:
    return all(
        one.element == "f32" and len(one.shape) >= 2 and one.shape[-1] == one.shape[-2] for one in types
    )


def known(types: list[TensorType]) -> bool:
    """QR needs the number of its steps."""
    matrix = types[0]
    return matrix.element == "f32" and len(matrix.shape) >= 2 and None not in matrix.shape[-2:]


def known_square(types: list[TensorType]) -> bool:
    return square(types) and known(types)
