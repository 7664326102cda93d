"""Do fissile's artifacts hold on stock IREE? The repaired module, the tuning spec and the reduced program, for a folder of programs.

    python -m bench.artifacts FOLDER_OR_FILE … --target gfx942|sm_86|vulkan|vulkan-llvmpipe|llvm-cpu
        [--only REGEX] [--sample N --seed S] [--limit SECONDS] [--flag=FLAG …]

Every program that `fissile compile` repairs is tested for three properties:

    module   does stock iree-compile build what --emit-mlir wrote, byte for byte what fissile wrote? (lines of the source left out)
    spec     does stock build the program as it is with what --emit-tuning-spec wrote, to the same bytes? (`-`: no spec carries the repair)
    reduce   does the program that `fissile reduce` wrote fail as its first lines say, and with stock's words for the original, where it has any?

Exit status 1 where an answer is no.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.programs.program_files import drawn, existing, pattern
from bench.speed.repair_cost import BIN, FROM_REPAIRED, TARGETS
from fissile.pipelines.process.child import Ended, run_child

YES, NO, NONE = "yes", "NO", "-"
NO_PLACES = ("--iree-vm-bytecode-module-strip-source-map=true", "--iree-hal-executable-debug-level=0")
"""The emitted module has other lines than the program; an executable of AMD's still holds two bytes of a line for each dispatch."""
LINE_BYTES = 2
HOST = "module.fb"
"""The file of a VM module that is no executable."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", type=existing, nargs="+")
    parser.add_argument("--target", choices=TARGETS, default="gfx942")
    parser.add_argument("--only", type=pattern, default="", help="regular expression on the program's name")
    parser.add_argument("--sample", type=int, default=0, help="stop after that many repaired programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one command")
    parser.add_argument("--flag", action="append", default=[], help="added to fissile compile")
    arguments = parser.parse_args()
    sampled = wrong = 0
    for program in drawn(arguments.paths, arguments.only, arguments.seed):
        answers = artifacts_of(
            program, [*TARGETS[arguments.target], *NO_PLACES], arguments.flag, arguments.limit
        )
        if answers is None:
            continue
        sampled += 1
        wrong += any(answer.startswith(NO) for answer in answers.values())
        print(
            f"{program.stem:<40} " + "  ".join(f"{name} {answer}" for name, answer in answers.items()),
            flush=True,
        )
        if sampled == arguments.sample:
            break
    print(
        f"{arguments.target}: {sampled} repaired programs, {sampled - wrong} with artifacts that all hold on stock IREE"
    )
    return 1 if wrong or not sampled else 0


def artifacts_of(
    program: Path, flags: Sequence[str], how: Sequence[str], limit: float
) -> dict[str, str] | None:
    """Question -> answer; None where nothing of ``program`` had to be repaired."""
    with tempfile.TemporaryDirectory(prefix="fissile-bench-") as name:
        folder = Path(name)
        # A VM module holds its source's path: the emitted program takes the original's place.
        ours, emitted, module = folder / "ours.vmfb", folder / "emitted", Path(shutil.copy(program, folder))
        done = run_child(
            [
                BIN / "fissile",
                "compile",
                *flags,
                *how,
                module,
                "-o",
                ours,
                f"--emit-mlir={emitted}",
                "--format=json",
            ],
            limit * 4,
        )
        if done.status != 0:
            return {"compile": f"{NO}: {done.reason or f'exit {done.status}'}"}
        if not any(
            f["severity"] == "repaired" for f in json.loads(done.out[done.out.index("{") :])["findings"]
        ):
            return None
        emitted.replace(module)
        answers = {
            "module": _same(
                stock(FROM_REPAIRED, *flags, module, output=folder / "stock.vmfb", limit=limit),
                ours,
                folder / "stock.vmfb",
            )
        }
        answers["spec"] = spec(program, flags, how, folder, limit)
        answers["reduce"] = reduced(program, flags, folder, limit)
        return answers


def stock(*words: str | Path, output: Path, limit: float) -> Ended:
    """iree-compile's end with ``words``."""
    return run_child([BIN / "iree-compile", *words, "-o", output], limit)


def spec(program: Path, flags: Sequence[str], how: Sequence[str], folder: Path, limit: float) -> str:
    """Whether stock with the written spec builds ``program`` as fissile does with `--emit-tuning-spec`."""
    ours, written, built = folder / "spec-ours.vmfb", folder / "spec.mlir", folder / "spec-stock.vmfb"
    done = run_child(
        [
            BIN / "fissile",
            "compile",
            *flags,
            *how,
            program,
            "-o",
            ours,
            f"--emit-tuning-spec={written}",
            "--format=json",
        ],
        limit * 4,
    )
    if done.status != 0:
        return f"{NO}: exit {done.status}"
    report = json.loads(done.out[done.out.index("{") :])
    if (
        not written.exists()
        or any(f["code"] == "FIS122" for f in report["findings"])
        or report["facts"]["edits"]
    ):
        return NONE
    return _same(
        stock(*flags, f"--iree-codegen-tuning-spec-path={written}", program, output=built, limit=limit),
        ours,
        built,
    )


def reduced(program: Path, flags: Sequence[str], folder: Path, limit: float) -> str:
    """Whether the reduced program fails by the command that it names, and with stock's words."""
    small, output = folder / "reduced.mlir", folder / "reduced.vmfb"
    done = run_child([BIN / "fissile", "reduce", *flags, program, "-o", small], limit * 4)
    if done.status != 0 or not small.exists():
        return f"{NO}: exit {done.status} {done.err.strip()[-120:]}"
    shown = re.search(r"^// shown by: (.*)$", small.read_text(), re.MULTILINE)
    if not shown:
        return f"{NO}: no command"
    command, _input, _dash, _out = (words := shlex.split(shown[1]))[:-3], *words[-3:]
    ended = run_child([BIN / command[0], *command[1:], small, "-o", output], limit)
    if ended.status == 0:
        return f"{NO}: {command[0]} builds it"
    if command[0] != "iree-compile" or ended.status is None:
        return YES
    before = stock(*flags, program, output=output, limit=limit)
    return (
        YES
        if before.status is None or words_of(before) & words_of(ended)
        else f"{NO}: fails otherwise: {sorted(words_of(ended))}"
    )


def words_of(ended: Ended) -> set[str]:
    """The errors that it reported, without names and numbers."""
    return {
        re.sub(r"'[^']*'|%?\w*\d+\w*|<.*>", "", line) for line in re.findall(r"error: (.*)", ended.err)
    } or {f"status {ended.status}"}


def _same(ended: Ended, ours: Path, theirs: Path) -> str:
    if ended.status != 0:
        error = re.search(r"error: .*", ended.err)
        return f"{NO}: {ended.reason or (error[0][:120] if error else f'exit {ended.status}')}"
    return (
        YES
        if members(ours) == members(theirs) or _lines_only(members(ours), members(theirs))
        else f"{NO}: other bytes"
    )


def members(module: Path) -> dict[str, bytes]:
    """The files of a VM module, by name."""
    with zipfile.ZipFile(module) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def _lines_only(ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> bool:
    """Whether nothing but executables' lines of the source differs: a few bytes of files that are as long."""
    if [(name, len(data)) for name, data in ours.items()] != [
        (name, len(data)) for name, data in theirs.items()
    ]:
        return False
    counted = {
        name: sum(a != b for a, b in zip(data, theirs[name], strict=True)) for name, data in ours.items()
    }
    dispatches = ours[HOST].count(b"_dispatch_")
    return not counted[HOST] and sum(counted.values()) <= LINE_BYTES * max(1, dispatches)


if __name__ == "__main__":
    sys.exit(main())
