"""Rows about compiling: a healthy program on one to all cores, `check`, a repair, the same repair again, growth."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from bench.faults.growth import program as many_dispatches
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

from .kept import Row, Unit
from .paired import Cost, Ratio, in_turns, ratio

BIN = Path(sys.executable).parent
PART = "compiling"
HEALTHY_GOAL, CHECK_GOAL, REPAIR_GOAL, AGAIN_GOAL = 1.05, 0.25, 1.5, 1.1
OPS_A_DISPATCH = 4
"""Of `bench.faults.growth`: a constant, an empty tensor, a fill and a matmul."""
DISPATCHES_CONFIGURED = "--compile-to=executable-configurations"
"""As far as fissile looks at every dispatch; behind it only IREE's own code generation is left."""


def stock(source: Path, target: str, output: Path, *flags: str) -> list[str]:
    words = [str(BIN / "iree-compile"), str(source), *flags_for(find_target(target)), *flags]
    return [*words, "-o", str(output)]


def fissile(source: Path, target: str, output: Path, *flags: str) -> list[str]:
    words = [str(BIN / "fissile"), "compile", str(source), *flags_for(find_target(target)), *flags]
    return [*words, "-o", str(output)]


def core_counts() -> list[int]:
    """1, 2, 4, … and 0 for all of this machine's."""
    count = len(os.sched_getaffinity(0))
    return [1 << power for power in range(count.bit_length()) if 1 << power < count] + [0]


def healthy(programs: Sequence[Path], targets: Sequence[str], folder: Path, rounds: int) -> Iterator[Unit]:
    """Without the cache: what a program costs that was never compiled before."""
    for source in programs:
        for target in targets:
            for cores in core_counts():
                few = {0: "all cores", 1: "1 core"}.get(cores, f"{cores} cores")
                shown = f"healthy compile, {few}"
                yield _unit(shown, source, target, partial(_healthy, source, target, folder, rounds, cores))


def _healthy(source: Path, target: str, folder: Path, rounds: int, cores: int) -> tuple[Ratio | None, float]:
    commands = {
        "stock": stock(source, target, folder / "stock.vmfb"),
        "fissile": fissile(source, target, folder / "fissile.vmfb", "--no-cache"),
    }
    costs = in_turns(commands, rounds, cores, warm=rounds > 1)
    refused = any(cost.status for cost in costs["stock"])
    return None if refused else ratio(costs["fissile"], costs["stock"]), HEALTHY_GOAL


def checks(programs: Sequence[Path], targets: Sequence[str], folder: Path, rounds: int) -> Iterator[Unit]:
    for source in programs:
        for target in targets:
            yield _unit("check", source, target, partial(_check, source, target, folder, rounds))


def _check(source: Path, target: str, folder: Path, rounds: int) -> tuple[Ratio, float]:
    words = [str(BIN / "fissile"), "check", str(source), "--target", target, "--no-cache"]
    commands = {"stock": stock(source, target, folder / "stock.vmfb"), "check": words}
    costs = in_turns(commands, rounds, warm=rounds > 1)
    return ratio(costs["check"], costs["stock"]), CHECK_GOAL


def repairs(programs: Sequence[Path], targets: Sequence[str], folder: Path, rounds: int) -> Iterator[Unit]:
    """Beside what stock takes for the module that the repair made: from the program to it, and from there to the end."""
    for source in programs:
        for target in targets:
            yield Unit(f"repair {source.stem} {target}", partial(_repair, source, target, folder, rounds))


def _repair(source: Path, target: str, folder: Path, rounds: int) -> list[Row]:
    repaired = folder / "repaired.mlir"
    repaired.unlink(missing_ok=True)
    emitting = fissile(source, target, folder / "a.vmfb", "--no-cache", f"--emit-mlir={repaired}")
    if in_turns({"": emitting}, 1, warm=False)[""][0].status or not repaired.exists():
        return [_none("repair", source, target, "no repair")]
    commands = {
        "back half": stock(repaired, target, folder / "b.vmfb", "--compile-from=global-optimization"),
        "front half": stock(source, target, folder / "front.mlir", "--compile-to=global-optimization"),
        "fissile": fissile(source, target, folder / "c.vmfb", "--no-cache"),
        "again": fissile(source, target, folder / "d.vmfb"),
    }
    costs = in_turns(commands, rounds)
    whole = [_sum(a, b) for a, b in zip(costs["back half"], costs["front half"], strict=True)]
    return [
        _row("repair", source, target, ratio(costs["fissile"], whole), REPAIR_GOAL),
        _row("repair, a second time", source, target, ratio(costs["again"], whole), AGAIN_GOAL),
    ]


def _sum(a: Cost, b: Cost) -> Cost:
    return Cost(a.wall + b.wall, a.processor + b.processor, max(a.memory, b.memory), a.status or b.status, "")


def growth(sizes: Sequence[int], folder: Path) -> Iterator[Unit]:
    """Programs of so many ops in different dispatches, as far as fissile looks at each of them."""
    for size in sizes:
        source = folder / f"{size}_ops.mlir"
        yield _unit("growth", source, "llvm-cpu", partial(_growth, source, size, folder))


def _growth(source: Path, size: int, folder: Path) -> tuple[Ratio, float]:
    source.write_text(many_dispatches(max(1, size // OPS_A_DISPATCH), True), encoding="utf-8")
    commands = {
        "stock": stock(source, "llvm-cpu", folder / "stock.mlir", DISPATCHES_CONFIGURED),
        "fissile": fissile(source, "llvm-cpu", folder / "own.mlir", "--no-cache", DISPATCHES_CONFIGURED),
    }
    few = size > 1000
    costs = in_turns(commands, 1 if few else 3, warm=not few, limit=3600.0)
    return ratio(costs["fissile"], costs["stock"]), 0.0


def _unit(what: str, source: Path, target: str, measured) -> Unit:
    def rows() -> list[Row]:
        value, goal = measured()
        return [_row(what, source, target, value, goal) if value else _none(what, source, target, "refused")]

    return Unit(f"{what} {source.stem} {target}", rows)


def _none(what: str, source: Path, target: str, why: str) -> Row:
    return Row(PART, what, source.stem, target, None, None, note=why)


def _row(what: str, source: Path, target: str, value: Ratio, goal: float) -> Row:
    return Row(PART, what, source.stem, target, value.processor, value.wall, value.memory, value.rounds, goal)
