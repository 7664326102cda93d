"""Rows about compiling: a healthy program, `check`, a repair, the same repair again, growth."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.faults.growth import program as many_dispatches
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

from .paired import Ratio, in_turns, ratio

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Row:
    """``goal`` is the most that ``measured`` (a field of the ratio) is to be; 0: none."""

    what: str
    program: str
    target: str
    value: Ratio
    goal: float = 0.0


def stock(source: Path, target: str, output: Path, *flags: str) -> list[str]:
    return [
        str(BIN / "iree-compile"),
        str(source),
        *flags_for(find_target(target)),
        *flags,
        "-o",
        str(output),
    ]


def fissile(source: Path, target: str, output: Path, *flags: str) -> list[str]:
    words = [str(BIN / "fissile"), "compile", str(source), *flags_for(find_target(target)), *flags]
    return [*words, "-o", str(output)]


def healthy(programs: Sequence[Path], targets: Sequence[str], folder: Path, rounds: int) -> Iterator[Row]:
    """Without the cache: what a program costs that was never compiled before."""
    for source in programs:
        for target in targets:
            for cores in (1, 0):
                commands = {
                    "stock": stock(source, target, folder / "stock.vmfb"),
                    "fissile": fissile(source, target, folder / "fissile.vmfb", "--no-cache"),
                }
                costs = in_turns(commands, rounds, cores)
                if any(cost.status for cost in costs["stock"]):
                    break  # not healthy for this target
                shown = "healthy compile, 1 core" if cores else "healthy compile, all cores"
                yield Row(shown, source.stem, target, ratio(costs["fissile"], costs["stock"]), 1.05)


def checks(programs: Sequence[Path], targets: Sequence[str], folder: Path, rounds: int) -> Iterator[Row]:
    for source in programs:
        for target in targets:
            words = [str(BIN / "fissile"), "check", str(source), "--target", target, "--no-cache"]
            costs = in_turns({"stock": stock(source, target, folder / "stock.vmfb"), "check": words}, rounds)
            yield Row("check", source.stem, target, ratio(costs["check"], costs["stock"]), 0.25)


def repairs(programs: Sequence[Path], targets: Sequence[str], folder: Path, rounds: int) -> Iterator[Row]:
    """Beside what stock takes for the module that the repair made: from the program to it, and from there to the end."""
    for source in programs:
        for target in targets:
            repaired = folder / "repaired.mlir"
            repaired.unlink(missing_ok=True)
            first = in_turns(
                {"": fissile(source, target, folder / "a.vmfb", "--no-cache", f"--emit-mlir={repaired}")}, 1
            )
            if first[""][0].status or not repaired.exists():
                continue
            commands = {
                "back half": stock(repaired, target, folder / "b.vmfb", "--compile-from=global-optimization"),
                "front half": stock(
                    source, target, folder / "front.mlir", "--compile-to=global-optimization"
                ),
                "fissile": fissile(source, target, folder / "c.vmfb", "--no-cache"),
                "again": fissile(source, target, folder / "d.vmfb"),
            }
            costs = in_turns(commands, rounds)
            whole = [_sum(a, b) for a, b in zip(costs["back half"], costs["front half"], strict=True)]
            yield Row("repair", source.stem, target, ratio(costs["fissile"], whole), 1.5)
            yield Row("repair, a second time", source.stem, target, ratio(costs["again"], whole), 1.1)


def _sum(a, b):
    from .paired import Cost

    return Cost(a.wall + b.wall, a.processor + b.processor, max(a.memory, b.memory), a.status or b.status, "")


def growth(sizes: Sequence[int], folder: Path) -> Iterator[Row]:
    """Programs of so many different dispatches, to the end."""
    for size in sizes:
        source = folder / f"{size}_dispatches.mlir"
        source.write_text(many_dispatches(size, True), encoding="utf-8")
        commands = {
            "stock": stock(source, "llvm-cpu", folder / "stock.vmfb"),
            "fissile": fissile(source, "llvm-cpu", folder / "fissile.vmfb", "--no-cache"),
        }
        costs = in_turns(commands, 1)
        yield Row("growth", source.stem, "llvm-cpu", ratio(costs["fissile"], costs["stock"]), 1.05)
        shutil.rmtree(folder / "growth", ignore_errors=True)
