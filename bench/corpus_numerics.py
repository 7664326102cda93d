"""Does every program of a folder compute what NumPy computes, once `fissile compile` has built it?

    python -m bench.corpus_numerics FOLDER --target vulkan|vulkan-matched|llvm-cpu
        [--sample N --seed S] [--only REGEX] [--max-macs N] [--compile-seconds S] [--run-seconds S]
        [--seeds 0,1] [--flag=FLAG …] [--json FILE] [--reference numpy|llvm-cpu]

Each program is compiled, run on the runtime that is present, and compared with bench/programs/linalg_reference.py
(float64), with the tolerance of its result's type (pipelines/numerics/compare.py). ``--reference llvm-cpu``
compares with what stock IREE builds for llvm-cpu instead, whatever ops the program has. One line per program:

    right     the numbers agree
    wrong     they do not
    refused   the compile has an error
    not run   the module did not load, or the run failed or took too long
    left out  more loop iterations than --max-macs, or an op that the reference does not know

Exit status 1 where anything is wrong, refused or not run. ``vulkan-matched`` is the default Vulkan target
with ``--match-device=vulkan``.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.programs.linalg_reference import NotEvaluated, Program
from bench.programs.program_files import existing, pattern
from fissile.errors import UsageError
from fissile.pipelines.numerics.verify import Options, verify
from fissile.pipelines.process.child import run_child

TARGETS = {
    "vulkan": ("vulkan", ["--iree-hal-target-device=vulkan"]),
    "vulkan-matched": ("vulkan", ["--iree-hal-target-device=vulkan", "--match-device=vulkan"]),
    "llvm-cpu": (
        "local-task",
        [
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=host",
        ],
    ),
}
"""Target -> (runtime, flags)."""


@dataclass(frozen=True)
class Outcome:
    """One program. ``iterations`` counts its loops' steps, ``codes`` are the findings that were reported."""

    program: str
    verdict: str
    detail: str
    iterations: int
    codes: tuple[str, ...] = ()
    seconds: float = 0.0


def check(
    program: Path,
    target: str,
    most: int,
    limits: tuple[float, float],
    seeds: tuple[int, ...],
    flags: list[str],
    numpy: bool = True,
) -> Outcome:
    """``most`` loop iterations; ``limits`` are seconds for the compile and for a run."""
    started = time.monotonic()
    runtime, chosen = TARGETS[target]

    def outcome(verdict: str, detail: str, codes=()) -> Outcome:
        return Outcome(
            program.stem, verdict, detail, work, tuple(codes), round(time.monotonic() - started, 1)
        )

    work, reference = 0, None
    if numpy:
        try:
            reference = Program(program)
            work = reference.work()
        except NotEvaluated as reason:
            return outcome("left out", f"no reference: {reason}")
    if work > most:
        return outcome("left out", f"more than {most:.2g} loop iterations")
    with tempfile.TemporaryDirectory(prefix="fissile-bench-") as folder:
        vmfb = Path(folder, "out.vmfb")
        command = [
            str(Path(sys.executable).parent / "fissile"),
            "compile",
            *chosen,
            *flags,
            "--format=json",
            str(program),
            "-o",
            str(vmfb),
        ]
        ended = run_child(command, limits[0])
        codes, error = _findings_of(ended.out)
        if ended.status != 0 or not vmfb.exists():
            return outcome(
                "refused", ended.reason or error or f"exit {ended.status}: {ended.err[-300:]}", codes
            )
        options = Options(on=(runtime,), seeds=seeds, run_timeout=limits[1])
        try:
            if reference is None:
                certificate = verify(program, vmfb, options=options)
            else:
                certificate = verify(vmfb, reference=reference, options=options)
        except UsageError as reason:  # the reference met an op that it does not know
            return outcome("left out", str(reason), codes)
    failed = [check.finding for check in certificate.checks if check.finding]
    if failed:
        return outcome("not run", failed[0].message, codes)
    detail = "; ".join(c.sentence for check in certificate.checks for c in check.comparisons)
    return outcome("right" if certificate.agrees else "wrong", detail, codes)


def _findings_of(report: str) -> tuple[list[str], str]:
    """The findings' ``code severity``, and the first error's sentence."""
    try:
        findings = json.loads(report)["findings"]
    except (ValueError, KeyError):
        return [], ""
    errors = [f"{f['code']} {f['message']}" for f in findings if f["severity"] == "error"]
    return sorted({f"{f['code']} {f['severity']}" for f in findings}), errors[0] if errors else ""


def _left_out(outcomes: list[Outcome]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for one in outcomes:
        if one.verdict == "left out":
            reasons.setdefault(one.detail, []).append(one.program)
    return reasons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=existing)
    parser.add_argument("--target", choices=TARGETS, default="vulkan")
    parser.add_argument("--sample", type=int, default=0, help="that many programs, drawn with --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=pattern, default="", help="regular expression on the program's name")
    parser.add_argument("--skip", default="", help="regular expression on the program's name")
    parser.add_argument(
        "--max-macs", type=float, default=float("inf"), help="loop iterations above which none runs"
    )
    parser.add_argument("--compile-seconds", type=float, default=300.0)
    parser.add_argument("--run-seconds", type=float, default=120.0)
    parser.add_argument("--seeds", default="0", help="of the inputs")
    parser.add_argument("--flag", action="append", default=[], help="added to fissile compile")
    parser.add_argument("--reference", choices=("numpy", "llvm-cpu"), default="numpy")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    programs = [
        p
        for p in sorted(arguments.folder.glob("*.mlir"))
        if re.search(arguments.only, p.stem) and not (arguments.skip and re.search(arguments.skip, p.stem))
    ]
    if arguments.sample:
        programs = sorted(
            random.Random(arguments.seed).sample(programs, min(arguments.sample, len(programs)))
        )
    seeds = tuple(map(int, arguments.seeds.split(",")))
    outcomes = []
    for program in programs:
        one = check(
            program,
            arguments.target,
            arguments.max_macs,
            (arguments.compile_seconds, arguments.run_seconds),
            seeds,
            arguments.flag,
            arguments.reference == "numpy",
        )
        outcomes.append(one)
        if one.verdict != "left out":
            print(
                f"{one.verdict:<8} {one.program:<28} {one.seconds:>6.1f} s  "
                f"{', '.join(one.codes) or '-'}  {one.detail}",
                flush=True,
            )
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(o) for o in outcomes], indent=1))
    counts = Counter(o.verdict for o in outcomes)
    print(
        f"{arguments.target}: {len(outcomes)} programs: "
        + ", ".join(f"{n} {v}" for v, n in counts.most_common())
    )
    for why, names in _left_out(outcomes).items():
        print(f"left out, {why}: {' '.join(names)}")
    return 1 if counts.keys() & {"wrong", "refused", "not run"} else 0


if __name__ == "__main__":
    sys.exit(main())
