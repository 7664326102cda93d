"""Rows about running: a repaired program beside the alternatives that a user has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from fissile.finding import Finding
from fissile.pipelines.numerics.compare import compare
from fissile.pipelines.numerics.inputs import draw
from fissile.pipelines.numerics.runtimes import Runtime, named, run
from fissile.pipelines.numerics.signature import Signature, signatures_of_source
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
SAME, WRONG = "the same module", "wrong numbers"
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
    signatures = list(signatures_of_source(source).values())
    device = named([DEVICES[target]])[0]
    expected = _expected(source, signatures, folder)
    notes |= {
        name: why for name, vmfb in built.items() if (why := _wrong(vmfb, signatures, device, expected))
    }
    if OWN in notes:
        return [Row(PART, OWN, source.stem, target, None, None, note=notes[OWN])]
    same = [name for name in built if name != OWN and built[name].read_bytes() == built[OWN].read_bytes()]
    candidates = {name: vmfb for name, vmfb in built.items() if name not in notes and name not in same}
    timed = []
    if len(candidates) > 1:
        candidates[ITSELF] = built[OWN]
        timed = time_in_turns(list(candidates.items()), signatures, device, _RUN_SECONDS)
    by_name = {row.name: row for row in timed if row.seconds}
    noise = _noise(by_name)
    rows = []
    for name in [*built, *(name for name in notes if name not in built)]:
        if name == OWN:
            continue
        goal = LARGER_GOAL if name == LARGER else GOAL
        own, other = by_name.get(OWN), by_name.get(name)
        if own and other:
            ratios = own.processor / other.processor, own.seconds / other.seconds
            rows.append(Row(PART, name, source.stem, target, *ratios, rounds=ROUNDS, goal=goal, noise=noise))
        else:
            why = SAME if name in same else notes.get(name, "not timed")
            rows.append(Row(PART, name, source.stem, target, None, None, goal=goal, note=why))
    return rows


def _expected(source: Path, signatures: Sequence[Signature], folder: Path) -> list[list[np.ndarray] | None]:
    """What each function computes as stock builds it for llvm-cpu; None where it does not."""
    reference = folder / "reference.vmfb"
    reference.unlink(missing_ok=True)
    measure(stock(source, "llvm-cpu", reference), limit=_COMPILE_SECONDS)
    host = named([DEVICES["llvm-cpu"]])[0]
    return [_results(reference, signature, host) if reference.exists() else None for signature in signatures]


def _wrong(
    vmfb: Path,
    signatures: Sequence[Signature],
    device: Runtime,
    expected: Sequence[Sequence[np.ndarray] | None],
) -> str:
    """Why the module's time is worth nothing; empty where its numbers are right or nothing is known of them."""
    for signature, wanted in zip(signatures, expected, strict=True):
        found = _results(vmfb, signature, device)
        if found is None:
            return "does not run"
        if wanted is not None and not all(compare(a, b).agrees for a, b in zip(found, wanted, strict=True)):
            return WRONG
    return ""


def _results(vmfb: Path, signature: Signature, device: Runtime) -> list[np.ndarray] | None:
    results = run(vmfb, signature, draw(signature, 0), device, _RUN_SECONDS)
    return None if isinstance(results, Finding) else results


def _noise(timed: Mapping[str, Timed]) -> float:
    """How much the repaired program differs from itself, as a factor of at least 1."""
    if OWN not in timed or ITSELF not in timed:
        return 1.0
    share = timed[OWN].processor / timed[ITSELF].processor
    return max(share, 1 / share)
