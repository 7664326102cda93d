"""Buffers of a simulated kernel, and what its threads do to one another in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fissile.pipelines.numerics.witness.elements import Element, hold, round_to
from fissile.pipelines.numerics.witness.registry import NoWitness

GARBAGE = 0xFF
"""What each byte of memory holds that nobody has written: NaN, or -1."""

_NOBODY, _SEVERAL = -1, -2


def storage(element: Element) -> np.dtype:
    """The NumPy type of one element in memory. An element of less than a byte has a byte of its own."""
    return np.dtype(element.held) if element.kind == "integer" else element.stored


class Buffer:
    """Bytes that some threads share. ``row_of`` has for each thread which of the copies of the buffer is its own.

    ``shared`` by several threads: accesses are watched for races between groups of threads that run in lockstep, in parts of ``granule`` bytes.
    """

    def __init__(
        self, name: str, copies: int, size: int, row_of: np.ndarray, shared: bool, granule: int = 1
    ) -> None:
        self.name = name
        self.data = np.full((copies, size), GARBAGE, np.uint8)
        self.written = np.zeros((copies, size), bool)
        self.row_of = row_of
        self.shared = shared
        self._granule = granule
        if shared:
            marks = (copies, -(-size // granule))
            self._writer, self._reader = np.full(marks, _NOBODY, np.int32), np.full(marks, _NOBODY, np.int32)
            self._write_epoch, self._read_epoch = np.full(marks, -1, np.int32), np.full(marks, -1, np.int32)

    def elements(self, dtype: np.dtype) -> np.ndarray:
        """All bytes as elements of ``dtype``; what is left over at the end is left out."""
        whole = self.data.shape[1] // dtype.itemsize * dtype.itemsize
        return self.data[:, :whole].view(dtype)

    def races_of_read(self, rows, places, itemsize: int, groups: Groups, epoch: int) -> int:
        """Notes reads of the elements ``places``: how many another group has written since the last barrier, or another workgroup ever."""
        at, mine = (rows, places * itemsize // self._granule), groups.number
        writer = self._writer[at]
        unordered = (self._write_epoch[at] == epoch) | (
            groups.workgroup_of(writer) != groups.workgroup_of(mine)
        )
        racing = (writer != _NOBODY) & (writer != mine) & unordered
        before = np.where(self._read_epoch[at] == epoch, self._reader[at], _NOBODY)
        self._reader[at] = np.where((before == _NOBODY) | (before == mine), mine, _SEVERAL)
        several = self._reader[at] != mine  # two of this very access
        if several.any():
            self._reader[at[0][several], at[1][several]] = _SEVERAL
        self._read_epoch[at] = epoch
        return int(racing.sum())

    def races_of_write(self, rows, places, itemsize: int, groups: Groups, epoch: int) -> int:
        """The same of writes: how many elements another group has read since the last barrier."""
        at, mine = (rows, places * itemsize // self._granule), groups.number
        racing = (self._read_epoch[at] == epoch) & (self._reader[at] != mine)
        self._writer[at], self._write_epoch[at] = mine, epoch
        return int(racing.sum())


@dataclass(frozen=True)
class Groups:
    """Which group of threads that run in lockstep an access belongs to; ``per_workgroup`` of them make a workgroup."""

    number: np.ndarray
    per_workgroup: int

    def workgroup_of(self, number: np.ndarray) -> np.ndarray:
        return number // self.per_workgroup


@dataclass(frozen=True)
class View:
    """A memref: elements of ``buffer`` from ``offset`` on. Each number is an int, or an array with one entry per thread.

    ``checked``: the hardware drops what lies outside of the buffer, so that an access there is none of the program's faults.
    """

    buffer: Buffer
    element: Element
    offset: Any
    sizes: tuple
    strides: tuple
    checked: bool = False

    def changed(self, **fields) -> View:
        return replace(self, **fields)

    def every_place(self) -> np.ndarray:
        """Where each element is, in the shape of the view, whose numbers must be the same for all threads."""
        place = np.full((1,) * len(self.sizes), int(self.offset), np.int64)
        for axis, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            along = np.arange(int(size), dtype=np.int64) * int(stride)
            place = place + along.reshape(tuple(-1 if a == axis else 1 for a in range(len(self.sizes))))
        return place

    def linear(self, indices: Sequence[np.ndarray]) -> np.ndarray:
        """Where in the buffer the element at ``indices`` is. All arrays have the threads' axis first, and as many axes as one another."""
        axes = max((index.ndim for index in indices), default=1)
        place = _per_thread(self.offset, axes)
        for index, stride in zip(indices, self.strides, strict=True):
            place = place + index * _per_thread(stride, axes)
        return np.asarray(place)


def _per_thread(number, axes: int) -> np.ndarray:
    array = np.atleast_1d(np.asarray(number, np.int64))
    return array.reshape(array.shape + (1,) * (axes - array.ndim))


def suffix_strides(sizes: Sequence) -> tuple:
    """Strides of a buffer without gaps."""
    strides: list = []
    step: Any = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step = step * size
    return tuple(strides)


@dataclass
class Accesses:
    """How threads read and write, and what they did that no program may. ``report(what, buffer name, count)`` is called for that."""

    threads: int
    groups: Groups
    report: Callable[[str, str, int], None]
    epoch: int = 0

    def read(self, view: View, places: np.ndarray, active: np.ndarray) -> np.ndarray:
        """The elements at ``places`` for the threads (and elements) that are ``active``; zeros for others, and outside."""
        rows, places, active = self._spread(view, places, active)
        held = view.buffer.elements(storage(view.element))
        inside = self._inside(view, places, active, held.shape[1], "read outside of a buffer")
        values = (
            held[rows, np.where(inside, places, 0)] if held.shape[1] else np.zeros(places.shape, held.dtype)
        )
        if view.buffer.shared and inside.any():
            racing = view.buffer.races_of_read(
                rows[inside], places[inside], held.itemsize, self._groups(places, inside), self.epoch
            )
            if racing:
                self.report("read what other threads wrote since the last barrier", view.buffer.name, racing)
        found = values if view.element.kind == "integer" else values.astype(np.float64)
        return np.where(inside, found, found.dtype.type(0))

    def write(self, view: View, places: np.ndarray, values: np.ndarray, active: np.ndarray) -> None:
        rows, places, active = self._spread(view, places, active)
        dtype = storage(view.element)
        held = view.buffer.elements(dtype)
        inside = self._inside(view, places, active, held.shape[1], "write outside of a buffer")
        if not inside.any():
            return
        rounded = (
            hold(values, view.element)
            if view.element.kind == "integer"
            else round_to(values, view.element).astype(dtype)
        )
        stored = np.broadcast_to(rounded, places.shape)[inside]
        rows, where = rows[inside], places[inside]
        held[rows, where] = stored
        size = dtype.itemsize
        view.buffer.written[rows[:, None], where[:, None] * size + np.arange(size)] = True
        kept = held[rows, where]
        lost = int(
            (np.ascontiguousarray(kept).view(np.uint8) != np.ascontiguousarray(stored).view(np.uint8)).any()
        )
        if lost:
            self.report("different values written to one place at once", view.buffer.name, lost)
        if view.buffer.shared:
            if racing := view.buffer.races_of_write(
                rows, where, size, self._groups(places, inside), self.epoch
            ):
                self.report("write what other threads read since the last barrier", view.buffer.name, racing)

    def _groups(self, places: np.ndarray, inside: np.ndarray) -> Groups:
        number = self.groups.number.reshape((-1,) + (1,) * (places.ndim - 1))
        return Groups(np.broadcast_to(number, places.shape)[inside], self.groups.per_workgroup)

    def _spread(self, view: View, places: np.ndarray, active: np.ndarray):
        """All three with one entry per thread and element."""
        extra = (1,) * (places.ndim - 1)
        shape = np.broadcast_shapes(
            places.shape, active.shape + (1,) * (places.ndim - active.ndim), (self.threads, *extra)
        )
        rows = np.broadcast_to(view.buffer.row_of.reshape((-1, *extra)), shape)
        active = active.reshape(active.shape + (1,) * (places.ndim - active.ndim))
        return rows, np.broadcast_to(places, shape), np.broadcast_to(active, shape)

    def _inside(self, view: View, places, active, size: int, what: str) -> np.ndarray:
        inside = (places >= 0) & (places < size)
        outside = int((active & ~inside).sum())
        if outside and not view.checked:
            self.report(what, view.buffer.name, outside)
        return active & inside


def uniform(value, what: str) -> int:
    """The one number that all threads have."""
    array = np.asarray(value).reshape(-1)
    if (array != array[0]).any():
        raise NoWitness(f"{what} that differs between threads")
    return int(array[0])
