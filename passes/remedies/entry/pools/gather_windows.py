"""The largest elements of windows of uneven sizes, one dimension of the image after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import as_boolean, inserted, size_of, type_of, without
from ..torch_ops import TensorType, apply

_NAME, _DIMS = "aten.adaptive_max_pool2d", 2
_BEHIND_ALL = 2**31 - 1
"""No image has an element of this number. It fits in 32 bits, which some targets compute indices in."""


@register_pass
@dataclass(frozen=True)
class GatherWindows(FrontEndRemedy):
    """Writes `aten.adaptive_max_pool2d` as a gather of the windows of each dimension and a maximum over them.

    A window that is smaller than the others repeats its last element, which changes no maximum. Of equal elements the first one's index is
    given, of several NaN the last one's, as in PyTorch. Sizes may be dynamic, and an image may have no batch dimension. IREE 3.13 lowers the op only
    where all windows have one size, and knows it; of some known sizes that do not divide it makes a program that stops whenever it is run (FIS162). Run it
    on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-gather-windows"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.adaptive_max_pool2d` with windows of several or unknown sizes with gathers and maxima (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.adaptive_max_pool2d` over such windows, which IREE rejects (FIS421), or makes stop when it is run (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as gathers of its windows"
    advice: ClassVar[str] = "rewrite it as gathers of its windows"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != _NAME or len(op.operands) != 2 or len(op.results) != 2:
            return False
        given, *made = (TensorType.of(value) for value in (op.operands[0], *op.results))
        if given is None or given.element not in torch.FLOATS:
            return False
        if any(one is None or 0 in one.shape or len(one.shape) != len(given.shape) for one in made):
            return False
        if len(given.shape) not in (_DIMS + 1, _DIMS + 2) or 0 in given.shape:
            return False
        return len(_counts(op)) == _DIMS

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, counts = op.operands[0], _counts(op)
        index: ir.Value | None = None
        width = size_of(value, len(type_of(value).shape) - 1)
        for dim in reversed(range(_DIMS)):
            axis = len(type_of(value).shape) - _DIMS + dim
            line = _Line.of(value, axis, counts[dim])
            windows = line.taken(value)
            value = apply("aten.amax", _over(windows, axis + 1), without(type_of(windows), axis + 1))
            index = _numbered(windows, value, line, index, width)
        assert index is not None
        return [torch.cast(one, result.type) for one, result in zip((value, index), op.results, strict=True)]


def stops(op: ir.Operation) -> bool:
    """Whether IREE 3.13 accepts ``op``, which `GatherWindows` fits, though its windows have several sizes: it takes all to be as large as the
    largest, counts those, and finds in the call that they do not end with the image."""
    given = TensorType.of(op.operands[0])
    sizes, counts = (given.shape[-_DIMS:] if given else ()), [torch.integer_of(one) for one in _counts(op)]
    known = [(size, count) for size, count in zip(sizes, counts, strict=False) if size and count]
    if len(known) != _DIMS or any(count > size for size, count in known):
        return False
    windows = [(size, count, -(-size // count), size // count) for size, count in known]
    accepted = all((size - largest) // step + 1 == count for size, count, largest, step in windows)
    return accepted and any((count - 1) * step + largest != size for size, count, largest, step in windows)


def _counts(op: ir.Operation) -> list[ir.Value]:
    """How many windows there are in each dimension; empty where they are not listed."""
    owner = op.operands[1].owner
    if isinstance(owner, ir.Block) or owner.name != "torch.prim.ListConstruct":
        return []
    counts = list(owner.operands)
    if any((number := torch.integer_of(one)) is not None and number < 1 for one in counts):
        return []
    return counts


@dataclass(frozen=True)
class _Line:
    """The windows along ``axis``: ``places`` has a row for each, with the positions of its elements."""

    axis: int
    places: ir.Value

    @staticmethod
    def of(value: ir.Value, axis: int, count: ir.Value) -> _Line:
        size, known = type_of(value).shape[axis], torch.integer_of(count)
        if size is not None and known is not None:
            return _Line(axis, torch.table(_places(size, known)))
        return _Line(axis, _computed_places(size_of(value, axis), count))

    def taken(self, value: ir.Value) -> ir.Value:
        """``value`` with the windows and what is in them in the place of the elements of ``axis``."""
        type_, places = type_of(value), type_of(self.places).shape
        made = TensorType((*type_.shape[: self.axis], *places, *type_.shape[self.axis + 1 :]), type_.element)
        chosen = ir.Operation.create(
            "torch.prim.ListConstruct",
            results=[ir.Type.parse("!torch.list<optional<vtensor>>")],
            operands=[*(torch.none() for _dim in range(self.axis)), self.places],
        ).result
        return apply("aten.index.Tensor", [value, chosen], made)

    def places_in(self, type_: TensorType) -> ir.Value:
        """The positions, with the dimensions of ``type_``, the windows' type, after them."""
        places = self.places
        for dim in range(2, len(type_.shape) - self.axis):
            places = inserted(places, dim)
        return places


def _places(size: int, count: int) -> np.ndarray:
    begins = [row * size // count for row in range(count)]
    lasts = [-(-(row + 1) * size // count) - 1 for row in range(count)]
    most = max(last - begin for begin, last in zip(begins, lasts, strict=True)) + 1
    rows = [np.minimum(begin + np.arange(most), last) for begin, last in zip(begins, lasts, strict=True)]
    return np.stack(rows).astype(np.int64)


def _computed_places(size: ir.Value, count: ir.Value) -> ir.Value:
    """The same where the call decides the numbers. No window has more than size // count + 2 elements."""
    known = torch.integer_of(count)
    most = _number("aten.add.int", _number("aten.floordiv.int", size, count), torch.integer(2))
    rows, columns = _counted(count, known), _counted(most, None)
    row, one = TensorType((known, 1), "si64"), torch.integer(1)
    rows = inserted(rows, 1)
    begins = _quotient(apply("aten.mul.Scalar", [rows, size], row), count)
    ends = apply("aten.mul.Scalar", [apply("aten.add.Scalar", [rows, one, one], row), size], row)
    # Rounded up: (a + count - 1) // count. The last element is one before the end.
    more = _number("aten.sub.int", count, one)
    lasts = _quotient(apply("aten.add.Scalar", [ends, more, one], row), count)
    lasts = apply("aten.sub.Scalar", [lasts, one, one], row)
    made = TensorType((known, None), "si64")
    places = apply("aten.add.Tensor", [begins, inserted(columns, 0), one], made)
    return apply("aten.minimum", [places, lasts], made)


def _number(name: str, *operands: ir.Value) -> ir.Value:
    return apply(name, operands, ir.Type.parse("!torch.int"))


def _counted(end: ir.Value, known: int | None) -> ir.Value:
    options = [*(torch.none() for _option in range(3)), torch.boolean(False)]
    return apply("aten.arange", [end, *options], TensorType((known,), "si64"))


def _quotient(value: ir.Value, divisor: ir.Value) -> ir.Value:
    """``value``, which is not negative, divided and rounded down."""
    return apply("aten.floor_divide.Scalar", [value, divisor], value.type)


def _over(value: ir.Value, axis: int) -> list[ir.Value]:
    return [value, torch.integers([axis]), torch.boolean(False)]


def _numbered(
    windows: ir.Value, largest: ir.Value, line: _Line, inner: ir.Value | None, width: ir.Value
) -> ir.Value:
    """The numbers in the image of the elements that are ``largest`` in ``windows``; ``inner`` has those of the dimensions that are done."""
    axis, type_ = line.axis, type_of(windows)
    places, boolean, whole = line.places_in(type_), as_boolean(type_), TensorType(type_.shape, "si64")
    made = without(whole, axis + 1)
    reached = apply("aten.eq.Tensor", [windows, inserted(largest, axis + 1)], boolean)
    numbers = [reached, places, torch.literal(str(_BEHIND_ALL), "si64")]
    first = apply("aten.amin", _over(apply("aten.where.self", numbers, whole), axis + 1), made)
    unordered = apply("aten.ne.Tensor", [windows, windows], boolean)
    numbers = [unordered, places, torch.literal("-1", "si64")]
    last = apply("aten.amax", _over(apply("aten.where.self", numbers, whole), axis + 1), made)
    found = apply("aten.ge.Scalar", [last, torch.integer(0)], as_boolean(made))
    chosen = apply("aten.where.self", [found, last, first], made)
    if inner is None:
        return chosen
    before = apply("aten.gather", [inner, torch.integer(axis), chosen, torch.boolean(False)], made)
    rows = apply("aten.mul.Scalar", [chosen, width], made)
    return apply("aten.add.Tensor", [rows, before, torch.integer(1)], made)
