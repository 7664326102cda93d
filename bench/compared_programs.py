"""Programs of a front end through stock IREE and through fissile, run, and compared with what the front end computes.

A folder holds NAME.mlir, or NAME.onnx alone, which stock IREE's own tool imports first, and, beside it, NAME.npz: the arguments (in0, in1, …) and the results (out0, …) of a call. A wrong number is one
beyond 0.2% of the largest value (4% for a program in 16-bit floats). `bench.jax_programs`, `bench.onnx_programs` and `bench.torch_programs` write such folders.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

FLAGS = {
    "llvm-cpu": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                 "--iree-llvmcpu-target-cpu=host"),
    "vulkan": ("--iree-hal-target-device=vulkan",),
    "gfx942": ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"),
    "gfx1100": ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx1100"),
    "sm_86": ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_86"),
}  # fmt: skip
RUNTIMES = {"llvm-cpu": "local-task", "vulkan": "vulkan"}
"""Target -> the runtime that runs it, where there is one here."""
SECONDS = (120.0, 300.0)
"""Of a processor, for stock and for fissile."""
TOLERANCE, HALF_TOLERANCE = 2e-3, 4e-2
RIGHT = "right"


@dataclass(frozen=True)
class Built:
    """What one compiler came to: the module's bytes (None: refused), its findings' codes, and how the run ended."""

    vmfb: bytes | None
    codes: tuple[str, ...]
    numbers: str


def built(words: Sequence[str], program: Path, output: Path, seconds: float, runtime: str | None) -> Built:
    from fissile.pipelines.process.child import run_child

    given = program
    if program.suffix == ".onnx" and "compile" not in words:  # stock IREE
        given = output.with_suffix(".mlir")
        importer = str(Path(sys.executable).parent / "iree-import-onnx")
        run_child([importer, str(program), "-o", str(given)], seconds)
        if not given.exists():
            return Built(None, (), "not imported")
    ended = run_child([*words, str(given), "-o", str(output)], seconds)
    codes = tuple(sorted(set(re.findall(r"^\w+\[(FIS\d+)\]", ended.err, re.MULTILINE))))
    if ended.status != 0 or not output.exists():
        return Built(None, codes, ended.reason or f"exit status {ended.status}")
    return Built(output.read_bytes(), codes, numbers(output, program, runtime) if runtime else "not run")


def write_call(
    path: Path, arguments: Sequence[np.ndarray], results: Sequence[np.ndarray], exact: bool = False
) -> None:
    """The arguments of a call, and what the front end computes of them; ``exact``: an integer beside it is wrong."""
    given = {f"in{number}": value for number, value in enumerate(arguments)}
    if exact:
        given["exact"] = np.array(True)
    np.savez(path, **given, **{f"out{number}": plain(value) for number, value in enumerate(results)})


def plain(values: np.ndarray) -> np.ndarray:
    """``values`` in a type that an .npz file holds: 16-bit brain floats and 8-bit floats as f32."""
    return values.astype(np.float32) if values.dtype.kind == "V" else values


def numbers(vmfb: Path, program: Path, runtime: str) -> str:
    from fissile.pipelines.importers.imported import importable
    from fissile.pipelines.numerics import runtimes
    from fissile.pipelines.numerics.signature import signatures_of_source, signatures_of_vmfb

    call = program.with_suffix(".npz")
    [device] = runtimes.named([runtime])
    # A function with torch's types has no declaration in the module.
    source = importable(program, vmfb.parent)
    signature = signatures_of_vmfb(vmfb).get("main") or signatures_of_source(source)["main"]
    answer = runtimes.run(vmfb, signature, arguments_of(call), device)
    return compared(answer, call, program.stem) if isinstance(answer, list) else answer.message


def arguments_of(call: Path) -> list[np.ndarray]:
    known = np.load(call)
    given = [known[f"in{i}"] for i in range(sum(name.startswith("in") for name in known))]
    return [one.view(ml_dtypes.bfloat16) if one.dtype == "V2" else one for one in given]


def compared(answer: Sequence[np.ndarray], call: Path, program: str) -> str:
    """RIGHT, or how the results differ from those of ``call``, which `write_call` wrote of the program of this name."""
    known = np.load(call)
    tolerance = HALF_TOLERANCE if "f16" in program else TOLERANCE
    for number, got in enumerate(answer):
        wanted = known[f"out{number}"]
        if got.shape != wanted.shape:
            return f"wrong: result {number} has shape {got.shape}, not {wanted.shape}"
        if got.dtype.kind == "i" and wanted.dtype.kind == "u":
            got = got.view(wanted.dtype)  # IREE's integers have no sign
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        got, wanted = got.astype(wide), wanted.astype(wide)
        with np.errstate(invalid="ignore"):
            largest = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0)
            good = (
                (np.abs(got - wanted) <= tolerance * largest)
                | (got == wanted)
                | (np.isnan(got) & np.isnan(wanted))
            )
        if "exact" in known and known[f"out{number}"].dtype.kind not in "fV":
            good = got == wanted
        # A quantised value may be rounded to its neighbour.
        elif known[f"out{number}"].dtype.itemsize == 1 and np.abs(got - wanted).max() <= 1:
            continue
        if not good.all():
            return f"wrong: {np.sum(~good)} of {good.size} in result {number}"
    return RIGHT


def judged(program: Path, target: str) -> dict:
    """Both compilers on ``program``: what each came to, and whether that is as it should be."""
    runtime = RUNTIMES.get(target)
    bin_folder, started = Path(sys.executable).parent, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fissile-compared-") as folder:
        commands = (
            [str(bin_folder / "iree-compile")],
            [str(bin_folder / "fissile"), "compile", "--no-cache"],
        )
        stock, own = (
            built([*words, *FLAGS[target]], program, Path(folder, f"{number}.vmfb"), seconds, runtime)
            for number, (words, seconds) in enumerate(zip(commands, SECONDS, strict=True))
        )
    notes = []
    if own.vmfb is None:
        notes.append("not built" if stock.vmfb is None else "WORSE: only stock builds it")
    elif stock.vmfb is None:
        notes.append("built; stock does not")
    elif (
        stock.vmfb != own.vmfb and not own.codes and program.suffix != ".onnx"
    ):  # fissile's import has places
        if not _varies(program, target, stock.vmfb):
            notes.append("WORSE: changed without a finding")
    if own.vmfb is not None and own.numbers not in (RIGHT, "not run"):
        notes.append(("WORSE: " if stock.numbers == RIGHT else "wrong too: ") + own.numbers)
    elif stock.vmfb is not None and stock.numbers not in (RIGHT, "not run"):
        notes.append(f"right; stock {stock.numbers}")
    return {"program": program.stem, "target": target, "notes": notes, "codes": own.codes,
            "stock": stock.numbers if stock.vmfb else "", "fissile": own.numbers if own.vmfb else "",
            "same": stock.vmfb == own.vmfb, "seconds": round(time.monotonic() - started, 1)}  # fmt: skip


def _varies(program: Path, target: str, before: bytes) -> bool:
    """Whether stock IREE's module is another one from compile to compile, as where several threads warn."""
    with tempfile.TemporaryDirectory(prefix="fissile-compared-") as folder:
        words = [str(Path(sys.executable).parent / "iree-compile"), *FLAGS[target]]
        again = [
            built(words, program, Path(folder, f"{number}.vmfb"), SECONDS[0], None).vmfb
            for number in range(4)
        ]
    return any(one != before for one in again)


def table(rows: Sequence[dict]) -> str:
    lines = ["| target | functions | built: stock | built: fissile | right: stock | right: fissile | same bytes |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    for target in dict.fromkeys(row["target"] for row in rows):
        own = [row for row in rows if row["target"] == target]
        counts = [sum(bool(row[who]) for row in own) for who in ("stock", "fissile")]
        right = [str(sum(row[who] == RIGHT for row in own)) if target in RUNTIMES else "" for who in ("stock", "fissile")]  # fmt: skip
        lines.append(
            f"| {target} | {len(own)} | {counts[0]} | {counts[1]} | {right[0]} | {right[1]} | {sum(row['same'] for row in own)} |"
        )
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `run` of a bench takes; its `write` has options of its own."""
    parser.add_argument("what", choices=("write", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", action="append", choices=FLAGS, help="default: llvm-cpu, vulkan, gfx942")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, help="append a JSON line for each program and target")


def run(chosen: argparse.Namespace) -> int:
    """Prints a line for each program where the two compilers differ or a number is wrong, and a table; 1 where fissile is worse or wrong."""
    files = [*chosen.folder.glob("*.mlir")]
    files += [file for file in chosen.folder.glob("*.onnx") if not file.with_suffix(".mlir").exists()]
    programs = [file for file in sorted(files) if re.search(chosen.only, file.stem)]
    if not programs:
        print(f"no program to run in {chosen.folder}; `write` makes them", file=sys.stderr)
        return 2
    targets = chosen.target or ["llvm-cpu", "vulkan", "gfx942"]
    rows = []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for row in pool.map(
            lambda job: judged(*job), [(file, target) for file in programs for target in targets]
        ):
            rows.append(row)
            if row["notes"]:
                print(
                    f"{row['program']:24} {row['target']:9} {'; '.join(row['notes'])}  {' '.join(row['codes'])}",
                    flush=True,
                )
            if chosen.results:
                with chosen.results.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(row) + "\n")
    print(table(rows))
    bad = any(note.startswith(("WORSE", "wrong")) for row in rows for note in row["notes"])
    return int(bad)
