"""Rows about running: a repaired program beside the alternatives that a user has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from fissile.pipelines.numerics.runtimes import named
from fissile.pipelines.numerics.signature import signatures_of_source
from fissile.pipelines.tune.timing import ROUNDS, Timed, time_in_turns

from .compiling import fissile, stock
from .kept import Row, Unit
from .paired import measure

DEVICES = {"llvm-cpu": "local-task", "vulkan": "vulkan"}
PART = "running"
OWN = "repaired"
ITSELF = "itself, a second time"
"""The same file under another name: how much two equal programs differ in the rounds."""
LARGER = "stock, for a budget of 32768 bytes (default: 16384)"
GOAL, LARGER_GOAL = 1.0, 1.2
_MOST_OPS = 400
_RUN_SECONDS = 120.0
_COMPILE_SECONDS = 120.0
"""Stock has programs that it never ends."""


def alternatives(source: Path, target: str, folder: Path) -> dict[str, list[str]]:
    """What a user could do instead, as the command that compiles it."""
    every = ",".join(map(str, range(_linalg_ops(source, target, folder))))
    boundaries = (
        f"--pipeline-after=global-optimization:builtin.module(fissile-place-boundaries{{ops={every}}})"
    )
    own = (
        ("--fusion=tune",) if target == "llvm-cpu" else ()
    )  # llvm-cpu refuses none of them: its repair is for speed
    named = {
        OWN: fissile(source, target, folder / "repaired.vmfb", "--no-cache", *own),
        "stock": stock(source, target, folder / "stock.vmfb"),
        "stock, --iree-opt-level=O0": stock(source, target, folder / "o0.vmfb", "--iree-opt-level=O0"),
        "every op its own dispatch": fissile(source, target, folder / "every.vmfb", "--no-cache", boundaries),
    }
    if target == "vulkan":
        wider = "--iree-vulkan-target=llvmpipe"
        named[LARGER] = stock(source, target, folder / "wider.vmfb", wider)
    return named


def _linalg_ops(source: Path, target: str, folder: Path) -> int:
    """How many ops `fissile-place-boundaries` can name: linalg ops when global optimisation is done."""
    output = folder / "counted.mlir"
    measure(stock(source, target, output, "--compile-to=global-optimization"))
    text = output.read_text(encoding="utf-8") if output.exists() else ""
    return min(_MOST_OPS, sum("linalg." in line and "= linalg." in line for line in text.splitlines()))


def runs(programs: Sequence[Path], targets: Sequence[str], folder: Path) -> Iterator[Unit]:
    for source in programs:
        for target in targets:
            yield Unit(f"run {source.stem} {target}", partial(_run, source, target, folder))


def _run(source: Path, target: str, folder: Path) -> list[Row]:
    built, notes = {}, {}
    for name, command in alternatives(source, target, folder).items():
        cost = measure(command, limit=_COMPILE_SECONDS)
        if cost.status:
            ended = f"exit status {cost.status}" if cost.wall < _COMPILE_SECONDS else "endless"
            notes[name] = "refused" if cost.status == 1 else ended
        else:
            built[name] = Path(command[-1])
    if OWN not in built:
        return []
    built[ITSELF] = built[OWN]
    signatures = list(signatures_of_source(source).values())
    timed = time_in_turns(list(built.items()), signatures, named([DEVICES[target]])[0], _RUN_SECONDS)
    by_name = {row.name: row for row in timed if row.seconds}
    noise = _noise(by_name)
    rows = []
    for name in [*built, *notes]:
        if name in (OWN, ITSELF):
            continue
        goal = LARGER_GOAL if name == LARGER else GOAL
        own, other = by_name.get(OWN), by_name.get(name)
        if own and other:
            ratios = own.processor / other.processor, own.seconds / other.seconds
            rows.append(Row(PART, name, source.stem, target, *ratios, rounds=ROUNDS, goal=goal, noise=noise))
        else:
            rows.append(Row(PART, name, source.stem, target, None, None, note=notes.get(name, "not timed")))
    return rows


def _noise(timed: Mapping[str, Timed]) -> float:
    """How much the repaired program differs from itself, as a factor of at least 1."""
    if OWN not in timed or ITSELF not in timed:
        return 1.0
    share = timed[OWN].processor / timed[ITSELF].processor
    return max(share, 1 / share)
