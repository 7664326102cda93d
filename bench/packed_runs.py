"""Builds programs here, runs them on a machine that has the device, and compares the numbers and the times.

    python -m bench.packed_runs pack PACK PROGRAM... --target sm_80 [--only REGEX] [--sample N] [--seed S]
    python -m bench.packed_runs run PACK --on cuda [--json FILE] [--no-times] [--jobs N]   # on the machine with the device
    python -m bench.packed_runs table FILE

``pack`` compiles each program three times: by stock iree-compile and by `fissile compile` for ``--target``, and by
`fissile compile` for llvm-cpu, whose results are the expected ones unless a file NAME.npz beside the program has a front end's
own (`bench.compared_programs`). All of it lies in the folder PACK then. ``run`` needs
this repository, `iree-base-runtime`, NumPy, ml_dtypes, msgspec and cattrs, but no compiler: it gives every public function the same seeded
inputs, compares with the expected results (the tolerances of `fissile verify`; large results at some of their elements), and times stock's module and fissile's in
turns. IREE 3.13 has no limits for sm_90: an H100 takes what is packed for sm_80, which is PTX. ``table`` prints what a ``run``
wrote. Exit status 1 where fissile is worse than stock: a function that stock's module computes right and fissile's does not, or
a program that stock builds and fissile refuses.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.compared_programs import arguments_of, compared
from bench.programs.program_files import drawn, existing, pattern
from fissile.errors import FissileError, UsageError
from fissile.finding import Finding
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics.compare import compare
from fissile.pipelines.numerics.inputs import draw
from fissile.pipelines.numerics.runtimes import Runtime, named, run
from fissile.pipelines.numerics.signature import Signature, Value, parse_value
from fissile.pipelines.process.child import run_child
from fissile.pipelines.targets import resolve_target

COMPILERS = ("stock", "fissile")
COMPILE_SECONDS = 120.0
RUN_SECONDS = 60.0
MANIFEST = "manifest.json"
KEPT = 1 << 14
CALL = "call.npz"
"""What a front end computes of its own program (`bench.compared_programs`), where it is known."""


@dataclass(frozen=True)
class Outcome:
    """One function on the device. A verdict is "right", "wrong: …", "not run: …" or "not built: …" (with the compiler's line);
    ``ratio`` is fissile's time by stock's, 0 where one of them has none."""

    program: str
    function: str
    stock: str
    fissile: str
    identical: bool
    codes: tuple[str, ...] = ()
    ratio: float = 0.0
    stock_ms: float = 0.0
    fissile_ms: float = 0.0

    @property
    def is_worse(self) -> bool:
        return (
            self.stock == "right"
            and self.fissile != "right"
            or self.stock[:9] != self.fissile[:9] == "not built"
        )


# --- pack


def pack(folder: Path, programs: list[Path], target: str) -> int:
    flags = flags_for(resolve_target(target))
    host = named(["local-task"])[0]
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        entries = pool.map(lambda program: _packed(folder / program.stem, program, flags, host), programs)
        packed = [entry for entry in entries if entry]
    (folder / MANIFEST).write_text(json.dumps(packed, indent=1))
    return 0


def _packed(own: Path, program: Path, flags: list[str], host: Runtime) -> dict:
    """What the manifest says of ``program``, whose modules and expected results now lie in ``own``; empty where it is left out."""
    from fissile.pipelines.numerics.signature import signatures_of_source

    own.mkdir(exist_ok=True)
    try:
        signatures = [s for s in signatures_of_source(program).values() if not s.opaque]
    except FissileError as error:
        print(f"{program.stem:44} left out: {error.message}", flush=True)
        return {}
    entry = {"program": program.stem, "functions": []}
    entry |= {name: _compiled(name, program, own / f"{name}.vmfb", flags) for name in COMPILERS}
    entry["identical"] = _same(own)
    if (call := program.with_suffix(".npz")).exists():
        shutil.copyfile(call, own / CALL)
        refused = ""
    else:
        host_flags = flags_for(resolve_target("llvm-cpu"))
        refused = _compiled("fissile", program, own / "expected.vmfb", host_flags)["error"]
    for number, signature in enumerate(signatures):
        shapes = []
        if not (own / CALL).exists():
            expected = _expected(own / "expected.vmfb", signature, host) if not refused else refused
            if isinstance(expected, str):
                print(f"{program.stem:44} @{signature.function}: nothing to compare with: {expected[:120]}", flush=True)  # fmt: skip
                continue
            shapes = [list(array.shape) for array in expected]
            for index, array in enumerate(expected):
                (own / f"{number}.{index}.expected").write_bytes(_kept(array).tobytes())
        entry["functions"].append(
            {
                "name": signature.function,
                "number": number,
                "shapes": shapes,
                "arguments": [v.text for v in signature.arguments],
                "results": [v.text for v in signature.results],
            }
        )
    (own / "expected.vmfb").unlink(missing_ok=True)
    if entry["identical"]:
        (own / "fissile.vmfb").unlink()
    states = ", ".join(f"{name} {'refuses' if entry[name]['error'] else 'builds'}" for name in COMPILERS)
    print(f"{program.stem:44} {states}; {len(entry['functions'])} functions", flush=True)
    return entry


def _compiled(compiler: str, program: Path, output: Path, flags: list[str]) -> dict:
    """Builds ``program``; {"error": the compiler's first line, empty where it builds, "codes": of findings}."""
    beside = Path(sys.executable).parent
    command = [str(beside / "iree-compile")] if compiler == "stock" else [str(beside / "fissile"), "compile"]
    ended = run_child([*command, *flags, str(program), "-o", str(output)], COMPILE_SECONDS)
    if ended.status == 0 and output.exists():
        return {
            "error": "",
            "codes": sorted({word[:6] for word in ended.err.split("[") if word.startswith("FIS")}),
        }
    output.unlink(missing_ok=True)
    lines = [line for line in ended.err.splitlines() if "error" in line]
    return {"error": ended.reason or (lines or ["no message"])[0][:200], "codes": []}


def _same(own: Path) -> bool:
    stock, fissile = own / "stock.vmfb", own / "fissile.vmfb"
    return stock.exists() and fissile.exists() and stock.read_bytes() == fissile.read_bytes()


def _expected(vmfb: Path, signature: Signature, host: Runtime) -> list[np.ndarray] | str:
    try:
        results = run(vmfb, signature, draw(signature, 0), host, RUN_SECONDS)
    except FissileError as error:
        return error.message
    return results.message if isinstance(results, Finding) else results


def _kept(array: np.ndarray) -> np.ndarray:
    """What a pack holds of a result: all elements in order, or, of more than KEPT, that many in even, odd-numbered steps."""
    return np.ascontiguousarray(array.reshape(-1)[:: 1 if array.size <= KEPT else array.size // KEPT | 1])


# --- run


def run_packed(folder: Path, driver: str, timed: bool, jobs: int = 8) -> list[Outcome]:
    """``jobs`` modules run beside each other; times are taken afterwards, one at a time."""
    device = named([driver])[0]
    if jobs < 1:
        raise UsageError(f"--jobs is {jobs}", "give a number from 1 on")
    if not (folder / MANIFEST).is_file():
        raise UsageError(
            f"{folder} is no pack: it has no {MANIFEST}", "write one with `python -m bench.packed_runs pack`"
        )
    entries = json.loads((folder / MANIFEST).read_text())
    todo = [(entry, function) for entry in entries for function in entry["functions"]]
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(lambda one: _judge(folder, *one, device), todo))
    if timed:
        outcomes = [_timed(folder, o, e, f, device) for o, (e, f) in zip(outcomes, todo, strict=True)]
    return outcomes


def _judge(folder: Path, entry: dict, function: dict, device: Runtime) -> Outcome:
    verdicts = {
        name: _verdict(folder, entry, function, name, device)
        for name in COMPILERS
        if name == "stock" or not entry["identical"]
    }
    return Outcome(
        entry["program"],
        function["name"],
        verdicts["stock"],
        verdicts.get("fissile", verdicts["stock"]),
        entry["identical"],
        tuple(entry["fissile"]["codes"]),
    )


def _verdict(folder: Path, entry: dict, function: dict, compiler: str, device: Runtime) -> str:
    if entry[compiler]["error"]:
        return f"not built: {entry[compiler]['error']}"
    own, signature = folder / entry["program"], _signature(function)
    call = own / CALL
    inputs = arguments_of(call) if call.exists() else draw(signature, 0)
    try:
        results = run(own / f"{compiler}.vmfb", signature, inputs, device, RUN_SECONDS)
    except FissileError as error:
        return f"not run: {error.message}"
    if isinstance(results, Finding):
        return f"not run: {results.message}"
    if call.exists():
        return compared(results, call, entry["program"])
    for index, (result, value, shape) in enumerate(
        zip(results, signature.results, function["shapes"], strict=True)
    ):
        stored = (own / f"{function['number']}.{index}.expected").read_bytes()
        if list(result.shape) != shape:
            return f"wrong: result {index} has shape {list(result.shape)}, not {shape}"
        comparison = compare(_kept(result), np.frombuffer(stored, value.dtype))
        if not comparison.agrees:
            return f"wrong: result {index}: {comparison.sentence}"
    return "right"


def _signature(function: dict) -> Signature:
    def values(name: str) -> tuple[Value, ...]:
        return tuple(map(parse_value, function[name]))

    return Signature(function["name"], values("arguments"), values("results"))


def _timed(folder: Path, outcome: Outcome, entry: dict, function: dict, device: Runtime) -> Outcome:
    """With both modules' times, in turns, where both run and differ."""
    if outcome.identical or {outcome.stock[:3], outcome.fissile[:3]} & {"not"}:
        return outcome
    from fissile.pipelines.tune.timing import time_in_turns

    own = folder / outcome.program
    timed = {
        t.name: t.seconds
        for t in time_in_turns(
            [(c, own / f"{c}.vmfb") for c in COMPILERS], [_signature(function)], device, RUN_SECONDS
        )
    }
    stock, fissile = timed["stock"], timed["fissile"]
    if not stock or not fissile:
        return outcome
    return Outcome(
        **asdict(outcome) | {"ratio": fissile / stock, "stock_ms": stock * 1e3, "fissile_ms": fissile * 1e3}
    )


# --- table


def show(outcomes: list[Outcome]) -> int:
    for o in outcomes:
        if o.is_worse or "right" not in (o.fissile, o.stock):
            print(
                f"{o.program:40} @{o.function:34} {'WORSE ' if o.is_worse else ''}stock {o.stock[:90]} | fissile {o.fissile[:140]} {' '.join(o.codes)}"
            )

    def counted(name: str) -> str:
        kinds = Counter(getattr(o, name).partition(":")[0] for o in outcomes)
        return ", ".join(f"{kinds[kind]} {kind}" for kind in ("right", "wrong", "not run", "not built"))

    print(f"{len(outcomes)} functions of {len({o.program for o in outcomes})} programs")
    print(f"stock    {counted('stock')}\nfissile  {counted('fissile')}")
    ratios = [o.ratio for o in outcomes if o.ratio]
    if ratios:
        print(
            f"time of fissile's module by stock's, {len(ratios)} functions: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3g}, "
            f"{min(ratios):.3g} to {max(ratios):.3g}"
        )
    worse = sum(o.is_worse for o in outcomes)
    print(f"worse than stock: {worse}")
    return 1 if worse else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("pack", type=Path)
    packing.add_argument("programs", nargs="+", type=existing)
    packing.add_argument("--target", required=True)
    packing.add_argument("--only", type=pattern, default="")
    packing.add_argument("--sample", type=int)
    packing.add_argument("--seed", type=int, default=0)
    running = commands.add_parser("run")
    running.add_argument("pack", type=existing)
    running.add_argument("--on", required=True, help="the runtime's driver: cuda, hip, vulkan, local-task")
    running.add_argument("--json", type=Path)
    running.add_argument("--no-times", action="store_true")
    running.add_argument("--jobs", type=int, default=8, help="modules that run beside each other, untimed")
    table = commands.add_parser("table")
    table.add_argument("file", type=existing)
    chosen = parser.parse_args()
    try:
        if chosen.command == "pack":
            return pack(
                chosen.pack, drawn(chosen.programs, chosen.only, chosen.seed)[: chosen.sample], chosen.target
            )
        if chosen.command == "table":
            return show([Outcome(**row) for row in json.loads(chosen.file.read_text())])
        outcomes = run_packed(chosen.pack, chosen.on, not chosen.no_times, chosen.jobs)
    except UsageError as error:
        parser.error(f"{error.message} ({error.hint})" if error.hint else error.message)
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(o) for o in outcomes], indent=1))
    return show(outcomes)


if __name__ == "__main__":
    sys.exit(main())
