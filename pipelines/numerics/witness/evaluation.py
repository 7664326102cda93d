"""Has a program evaluated by NumPy in a child process, under a deadline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fissile import wire

from ...process.child import module_command, run_child
from ...process.scratch import scratch
from ..any_order import AnyOrder, in_one_order

MOST_BYTES = 12 << 30
"""Memory of the process: a program beyond it ends in a reason, not in a machine without memory."""


@dataclass(frozen=True)
class WitnessJob:
    """``function`` of ``source`` with ``cases`` times ``arguments`` arrays."""

    source: str
    function: str
    cases: int
    arguments: int


@dataclass(frozen=True)
class WitnessCase:
    """One case: how many results it has, the counts of `Evaluation`, and what may come in any order; or ``why`` it has none."""

    results: int = 0
    roundings: dict[str, int] = field(default_factory=dict)
    sums: dict[str, int] = field(default_factory=dict)
    loose: tuple[AnyOrder, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class WitnessAnswer:
    """``why`` there is no evaluation of any case; else the cases so far."""

    why: str = ""
    cases: tuple[WitnessCase, ...] = ()


@dataclass(frozen=True)
class Evaluation:
    """One case. ``wide`` has the results with float64 in place of every float that the program does not convert itself,
    ``declared`` those with every op rounded to its type. ``roundings`` and ``sums`` are counts by float type. What ``loose``
    names is sorted.
    """

    wide: tuple[np.ndarray, ...]
    declared: tuple[np.ndarray, ...]
    roundings: dict[str, int]
    sums: dict[str, int]
    loose: tuple[AnyOrder, ...] = ()


def evaluate(
    source: Path, function: str, cases: Sequence[Sequence[np.ndarray]], timeout: float
) -> list[Evaluation | str]:
    """One `Evaluation` per case, or in a few words why there is none: an op that is not known, most of all.

    ``source`` is an MLIR file of any phase before dispatches are formed; ``timeout`` is in seconds, for all cases together.
    """
    if source.suffix == ".vmfb":
        return ["a compiled module has no source"] * len(cases)
    with scratch() as folder:
        job = WitnessJob(str(source.resolve()), function, len(cases), len(cases[0]))
        (folder / "job.json").write_bytes(wire.encode(job))
        for case, arrays in enumerate(cases):
            for number, array in enumerate(arrays):
                np.save(folder / f"input{case}_{number}.npy", _plain(np.asarray(array)))
        ended = run_child(module_command(f"{__package__}.process", str(folder)), timeout, MOST_BYTES)
        answer = _answer(folder)
        found = [one.why or _read(folder, number, one) for number, one in enumerate(answer.cases)]
        last = (ended.err.strip().splitlines() or ["it ended without an answer"])[-1]
        why = answer.why or (f"NumPy {ended.reason}" if ended.reason else last[:200])
        return [*found, *[why] * (len(cases) - len(found))]


def _answer(folder: Path) -> WitnessAnswer:
    """What the process wrote last: it is replaced after each case."""
    try:
        return wire.decode(WitnessAnswer, (folder / "answer.json").read_bytes())
    except FileNotFoundError:
        return WitnessAnswer()


def _read(folder: Path, number: int, case: WitnessCase) -> Evaluation:
    wide, declared = (
        tuple(
            in_one_order(
                [np.load(folder / f"{name}{number}_{i}.npy") for i in range(case.results)], case.loose
            )
        )
        for name in ("wide", "declared")
    )
    return Evaluation(wide, declared, case.roundings, case.sums, case.loose)


def _plain(array: np.ndarray) -> np.ndarray:
    """A type that .npy files have; every float fits float64."""
    return array if array.dtype.kind in "biuc" else array.astype(np.float64)
