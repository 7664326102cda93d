"""Rows about running: a repaired program beside the alternatives that a user has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fissile.pipelines.numerics.runtimes import named
from fissile.pipelines.numerics.signature import signatures_of_source
from fissile.pipelines.repair.tuning import time_in_turns

from .compiling import fissile, stock
from .paired import measure

DEVICES = {"llvm-cpu": "local-task", "vulkan": "vulkan"}
_MOST_OPS = 400
_RUN_SECONDS = 120.0


@dataclass(frozen=True)
class RunRow:
    """Median time of one call of the repaired program, divided by the alternative's; below 1 the repair is faster."""

    program: str
    target: str
    alternative: str
    ratio: float | None
    note: str = ""


def alternatives(source: Path, target: str, folder: Path) -> dict[str, list[str]]:
    """What a user could do instead, as the command that compiles it."""
    every = ",".join(map(str, range(_linalg_ops(source, target, folder))))
    boundaries = (
        f"--pipeline-after=global-optimization:builtin.module(fissile-place-boundaries{{ops={every}}})"
    )
    named = {
        "repaired": fissile(source, target, folder / "repaired.vmfb", "--no-cache"),
        "stock": stock(source, target, folder / "stock.vmfb"),
        "stock, --iree-opt-level=O0": stock(source, target, folder / "o0.vmfb", "--iree-opt-level=O0"),
        "every op its own dispatch": fissile(source, target, folder / "every.vmfb", "--no-cache", boundaries),
    }
    if target == "vulkan":
        wider = "--iree-vulkan-target=llvmpipe"
        named["stock for the device (32768 bytes)"] = stock(source, target, folder / "wider.vmfb", wider)
    return named


def _linalg_ops(source: Path, target: str, folder: Path) -> int:
    """How many ops `fissile-place-boundaries` can name: linalg ops when global optimisation is done."""
    output = folder / "counted.mlir"
    measure(stock(source, target, output, "--compile-to=global-optimization"))
    text = output.read_text(encoding="utf-8") if output.exists() else ""
    return min(_MOST_OPS, sum("linalg." in line and "= linalg." in line for line in text.splitlines()))


def runs(programs: Sequence[Path], targets: Sequence[str], folder: Path) -> Iterator[RunRow]:
    for source in programs:
        for target in targets:
            built, notes = {}, {}
            for name, command in alternatives(source, target, folder).items():
                cost = measure(command)
                if cost.status:
                    notes[name] = "refused" if cost.status == 1 else f"exit status {cost.status}"
                else:
                    built[name] = Path(command[-1])
            if "repaired" not in built:
                continue
            timed = time_in_turns(
                list(built.items()),
                list(signatures_of_source(source).values()),
                named([DEVICES[target]])[0],
                _RUN_SECONDS,
            )
            seconds = {row.name: row.seconds for row in timed}
            own = seconds["repaired"]
            for name in [*built, *notes]:
                if name != "repaired":
                    other = seconds.get(name)
                    value = own / other if own and other else None
                    yield RunRow(
                        source.stem, target, name, value, notes.get(name, "" if value else "not timed")
                    )
