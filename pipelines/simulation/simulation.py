"""Does the code that IREE generates for a dispatch compute what the dispatch says? On any GPU target, without the device."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from iree.compiler import ir

from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.iree.backends import BACKENDS
from fissile.pipelines.numerics.compare import compare
from fissile.pipelines.numerics.inputs import INTEGER_RANGES
from fissile.pipelines.numerics.tolerance import derived_tolerance, narrowed
from fissile.pipelines.numerics.witness.elements import hold, round_to
from fissile.pipelines.numerics.witness.registry import NoWitness
from fissile.pipelines.probe.conversion import Copy

from . import control, indices, interface, lanes, matrix, memrefs, structured, transfers, vectors  # noqa: F401 (each fills the registry)
from .launch import constants_of, launch_of
from .machine import Machine
from .memory import Buffer, View, storage
from .reference import Reference

MOST_THREADS = 8192
"""Threads of one simulation: of a larger grid some workgroups run, and what they write is compared."""

MOST_WATCHED = 32 << 20
"""Bytes of a binding that is watched for races: each element takes 16 bytes more."""


@dataclass(frozen=True)
class Simulated:
    """One dispatch. ``verdict`` is right, wrong or unknown; ``detail`` says what differs, or why there is no answer.

    ``faults`` are sentences on what threads do to one another or outside of their buffers, whatever the numbers are.
    """

    name: str
    verdict: str
    detail: str = ""
    faults: tuple[str, ...] = ()


def simulate(dispatch: Dispatch, seed: int = 0) -> Simulated:
    """Runs the code of ``dispatch``, which must be configured, for its threads in NumPy, and compares what it writes with the witness."""
    lowering = BACKENDS[dispatch.target.backend].lowering
    copy = Copy(dispatch)
    if failure := copy.generate(lowering):
        return Simulated(dispatch.name, "unknown", f"no code: {failure.message.splitlines()[0][:120]}")
    try:
        with np.errstate(all="ignore"):
            try:
                return _compared(dispatch, copy, seed, INTEGER_RANGES)
            except NoWitness as reason:
                if "beyond" not in str(reason):
                    raise
                small = {name: (0, 1) for name in INTEGER_RANGES}  # integers that are indices
                return _compared(dispatch, copy, seed, small)
    except NoWitness as reason:
        return Simulated(dispatch.name, "unknown", str(reason))


def _compared(dispatch: Dispatch, copy: Copy, seed: int, ranges: Mapping[str, tuple[int, int]]) -> Simulated:
    before = dispatch.inner_module()
    function = _function(before)
    constants = constants_of(function)
    sizing = Reference(before, _Sizes(), constants)
    sizing.skim(function)
    generator = np.random.default_rng([seed, zlib.crc32(dispatch.fingerprint.encode())])
    bindings = _filled(sizing.views, sizing.loaded, generator, ranges)
    reference = Reference(before, bindings, constants)
    reference.call(dispatch.name, [])
    launch = launch_of(copy.inner, dispatch, reference, MOST_THREADS)
    every = len(launch.workgroups) == np.prod(launch.counts)
    rows = np.zeros(launch.threads, np.int64)
    stored = {number: _granule(buffer, reference) for number, buffer in bindings.items()}
    given = {number: _copied(buffer, rows, stored[number]) for number, buffer in bindings.items()}
    machine = Machine(launch, given, constants)
    machine.run(_function(copy.inner))
    wrong = [
        sentence
        for view, expected in reference.stores
        if (
            sentence := _difference(
                view.changed(buffer=_buffer(view, bindings, given)), expected, reference, every
            )
        )
    ]
    _written_elsewhere(machine, reference, bindings, given)
    faults = tuple(f"{what}: {where}, {count} times" for (what, where), count in machine.faults.items())
    detail = "; ".join(wrong) or (
        "" if every else f"{len(launch.workgroups)} of {int(np.prod(launch.counts))} workgroups"
    )
    return Simulated(dispatch.name, "wrong" if wrong else "right", detail, faults)


def _function(module: ir.Operation) -> ir.Operation:
    found = [
        op.operation
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == "func.func" and op.operation.regions[0].blocks
    ]
    if len(found) != 1:
        raise NoWitness(f"{len(found)} functions")
    if len(found[0].regions[0].blocks) != 1:
        raise NoWitness("branches between blocks")
    return found[0]


class _Sizes(dict):
    """Bindings of a size that is not known yet."""

    def __missing__(self, number: int) -> Buffer:
        self[number] = Buffer(f"binding {number}", 1, 0, np.zeros(1, np.int64), False)
        return self[number]


def _number(view: View) -> int:
    return int(view.buffer.name.split()[-1])


def _filled(views: list[View], loaded: set[int], generator, ranges) -> dict[int, Buffer]:
    """The bindings, with random numbers where the dispatch reads."""
    sizes: dict[int, int] = {}
    for view in views:
        end = (view.offset + int(np.prod(view.sizes, dtype=np.int64))) * storage(view.element).itemsize
        sizes[_number(view)] = max(sizes.get(_number(view), 0), end)
    if sum(sizes.values()) > 1 << 30:
        raise NoWitness("more than 1 GiB of bindings")
    buffers = {
        number: Buffer(f"binding {number}", 1, size, np.zeros(1, np.int64), False)
        for number, size in sizes.items()
    }
    for at, view in enumerate(views):
        if at in loaded:
            dtype, count = storage(view.element), int(np.prod(view.sizes, dtype=np.int64))
            held = buffers[_number(view)].elements(dtype)[0]
            held[view.offset : view.offset + count] = _random(view, count, generator, ranges).astype(dtype)
    return buffers


def _random(view: View, count: int, generator, ranges) -> np.ndarray:
    element = view.element
    if element.kind == "integer":
        if element.bits == 1:
            return generator.integers(0, 2, count).astype(bool)
        low, high = ranges.get(element.text, (0, 1))
        return hold(generator.integers(low, high + 1, count), element)
    return round_to(generator.standard_normal(count), element)


def _granule(buffer: Buffer, reference: Reference) -> int:
    """The bytes of the smallest element that is stored in ``buffer``; 0 for none, or where watching it takes too much memory."""
    sizes = [storage(view.element).itemsize for view, _values in reference.stores if view.buffer is buffer]
    return min(sizes) if sizes and buffer.data.shape[1] <= MOST_WATCHED else 0


def _copied(buffer: Buffer, rows: np.ndarray, granule: int) -> Buffer:
    copy = Buffer(buffer.name, 1, buffer.data.shape[1], rows, bool(granule), max(granule, 1))
    copy.data[:] = buffer.data
    return copy


def _buffer(view: View, bindings: Mapping[int, Buffer], given: Mapping[int, Buffer]) -> Buffer:
    return next(given[number] for number, buffer in bindings.items() if buffer is view.buffer)


def _difference(view: View, expected: np.ndarray, reference: Reference, every: bool) -> str:
    """A sentence on how the elements of ``view`` differ from ``expected``; empty where they agree."""
    dtype, count = storage(view.element), expected.size
    if not count:
        return ""
    places = view.every_place().reshape(-1)
    bytes_of = places[:, None] * dtype.itemsize + np.arange(dtype.itemsize)
    if bytes_of.max() >= view.buffer.data.shape[1]:
        raise NoWitness("a store beyond the end of its binding")
    written = view.buffer.written[0][bytes_of].all(axis=1)
    if every and not written.all():
        return f"{count - int(written.sum())} of {count} results are not written"
    actual = view.buffer.elements(dtype)[0][places[written]]
    expected = narrowed(np.broadcast_to(expected, view.sizes).reshape(-1)[written], dtype)
    if not actual.size:
        return ""
    tolerance = derived_tolerance(dtype, view.element.text, reference.roundings, reference.sums)
    if tolerance.steps:
        tolerance = type(tolerance)(steps=1, share=0.02, reason="a value next to a rounding border")
    found = compare(actual, expected, tolerance, reference=True)
    return "" if found.agrees else found.sentence


def _written_elsewhere(machine: Machine, reference: Reference, bindings, given) -> None:
    for number, buffer in bindings.items():
        extra = given[number].written[0].copy()
        for view, _expected in reference.stores:
            if view.buffer is buffer:
                size = storage(view.element).itemsize
                extra[view.every_place().reshape(-1)[:, None] * size + np.arange(size)] = False
        if extra.any():
            machine.fault("write where the dispatch stores nothing", buffer.name, int(extra.sum()))
