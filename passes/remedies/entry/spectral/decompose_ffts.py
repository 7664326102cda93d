"""Fourier transforms of torch as products with constant tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType
from .complex_parts import COMPLEX, REAL, joined, parts_of, scaled
from .fourier import along, first, is_writable, of_half, resized, transformed

_NAME = re.compile(r"aten\.fft_(?P<inverse>i?)(?P<half>[rh]?)fft(?P<dims>2|n|)$")
_BACKWARD, _ORTHO, _FORWARD = "backward", "ortho", "forward"
_NORMALIZATIONS = {0: 1.0, 1: 0.5, 2: 1.0}


@dataclass(frozen=True)
class _Plan:
    """The transforms of one op: along each dimension, with that many elements, the last of the list with a half of the spectrum."""

    sizes: tuple[tuple[int, int], ...]
    sign: int
    scale: float
    to_half: bool = False
    """The last dimension keeps the first n // 2 + 1 results: the others are their conjugates."""
    from_half: bool = False
    """Of the last dimension those are given, and the results are real."""


@register_pass
@dataclass(frozen=True)
class DecomposeFfts(FrontEndRemedy):
    """Writes torch.fft's transforms on f32 and complex<f32> as products with tables of cosines and sines.

    IREE 3.13 lowers `aten.fft_rfft` with its default arguments and none of the others. The sizes that are transformed are known; those above 64 are
    split into two factors each (Cooley and Tukey), so that n = a * b costs a + b products for each element. Run it on the program as it
    was imported.
    """

    name: ClassVar[str] = "fissile-decompose-ffts"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `torch.fft`'s transforms with products with constant tables (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.fft_fft`, `fft_irfft`, `fft_fftn` and the like, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as products with tables of cosines and sines"
    advice: ClassVar[str] = "rewrite it as products with tables of cosines and sines"

    def fits(self, op: ir.Operation) -> bool:
        return (plan := _planned(op)) is not None and all(is_writable(n) for _dim, n in plan.sizes)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        plan = _planned(op)
        assert plan is not None
        x = parts_of(op.operands[0])
        others, (last, count) = plan.sizes[:-1], plan.sizes[-1]
        if plan.to_half:
            x = along(x, last, lambda one: first(transformed(resized(one, count), plan.sign), count // 2 + 1))
        for dim, n in others:
            x = along(x, dim, lambda one, n=n: transformed(resized(one, n), plan.sign))
        if plan.from_half:
            x = along(x, last, lambda one: of_half(resized(one, count // 2 + 1), count, plan.sign))
        elif not plan.to_half:
            x = along(x, last, lambda one: transformed(resized(one, count), plan.sign))
        x = x.each(lambda side: scaled(side, plan.scale))
        return [torch.cast(x.real if plan.from_half else joined(x), op.results[0].type)]


def _planned(op: ir.Operation) -> _Plan | None:
    name = torch.front_end_name(op)
    is_fft = name.startswith(("aten.fft_", "aten._fft_")) and len(op.operands) == 4 and len(op.results) == 1
    given, made = (TensorType.of(v) for v in (op.operands[0], op.results[0])) if is_fft else (None, None)
    if given is None or made is None or not {given.element, made.element} <= {REAL, COMPLEX}:
        return None
    plan = _composite(op, name, given) if name.startswith("aten.fft_") else _core(op, name, given)
    if plan is None or not plan.sizes or (made.element == REAL) != plan.from_half:
        return None
    return plan


def _composite(op: ir.Operation, name: str, given: TensorType) -> _Plan | None:
    """An op as users write it, (x, n, dim, norm): of one dimension, of two, or of any number."""
    found = _NAME.match(name)
    if found is None:
        return None
    inverse, half = bool(found["inverse"]), found["half"]
    from_half = half == ("r" if inverse else "h")
    to_half = bool(half) and not from_half
    sizes = _sizes(op.operands[1], op.operands[2], given, from_half, one=not found["dims"])
    norm = _BACKWARD if torch.is_none(op.operands[3]) else torch.string_of(op.operands[3])
    if sizes is None or norm not in (_BACKWARD, _ORTHO, _FORWARD) or (to_half and given.element != REAL):
        return None
    count = prod(n for _dim, n in sizes)
    scale = 1 / sqrt(count) if norm == _ORTHO else 1 / count if (norm == _BACKWARD) == inverse else 1.0
    return _Plan(sizes, 1 if inverse else -1, scale, to_half, from_half)


def _core(op: ir.Operation, name: str, given: TensorType) -> _Plan | None:
    """What `run_decompositions` makes of them: (x, dims, normalisation, and what the op is called for)."""
    dims = _dims(torch.integers_of(op.operands[1]), given)
    power = _NORMALIZATIONS.get(torch.integer_of(op.operands[2]) or 0)
    sizes = None if dims is None else _known([(dim, given.shape[dim]) for dim in dims])
    flag = torch.boolean_of(op.operands[3])
    if sizes is None or power is None:
        return None
    if name == "aten._fft_c2r" and (last := torch.integer_of(op.operands[3])) is not None:
        sizes = (*sizes[:-1], (sizes[-1][0], last))
    count = prod(n for _dim, n in sizes)
    scale = 1.0 if not torch.integer_of(op.operands[2]) else float(count) ** -power
    if name == "aten._fft_r2c" and flag is not None and given.element == REAL:
        return _Plan(sizes, -1, scale, to_half=flag)
    if name == "aten._fft_c2c" and flag is not None:
        return _Plan(sizes, -1 if flag else 1, scale)
    return _Plan(sizes, 1, scale, from_half=True) if name == "aten._fft_c2r" else None


def _sizes(
    sizes: ir.Value, dims: ir.Value, given: TensorType, from_half: bool, one: bool
) -> tuple[tuple[int, int], ...] | None:
    """The dimensions and how many elements each is cut or filled up to; None where a number is not known."""

    def numbers(value: ir.Value) -> list[int] | None:
        single = torch.integer_of(value) if one else None
        return torch.integers_of(value) if not one else None if single is None else [single]

    counts, places = numbers(sizes), numbers(dims)
    if (counts is None and not torch.is_none(sizes)) or (places is None and not torch.is_none(dims)):
        return None
    rank = len(given.shape)
    if places is None:
        places = list(range(rank)) if counts is None else list(range(-len(counts), 0))
    if (where := _dims(places, given)) is None or (counts is not None and len(counts) != len(where)):
        return None
    held = [given.shape[dim] for dim in where]
    if from_half and held[-1] is not None:
        held[-1] = 2 * (held[-1] - 1)
    wanted = held if counts is None else [h if n == -1 else n for h, n in zip(held, counts, strict=True)]
    return _known(list(zip(where, wanted, strict=True)))


def _dims(dims: Sequence[int] | None, given: TensorType) -> list[int] | None:
    """Counted from 0, without one twice."""
    rank = len(given.shape)
    if not dims or any(not -rank <= dim < rank for dim in dims):
        return None
    found = [dim % rank for dim in dims]
    return found if len({*found}) == len(found) else None


def _known(sizes: Sequence[tuple[int, int | None]]) -> tuple[tuple[int, int], ...] | None:
    known = tuple((dim, n) for dim, n in sizes if n is not None and n > 0)
    return known if len(known) == len(sizes) else None
