"""Do prediction and code generation agree? Every dispatch of every program of a folder, on GPU targets.

    python -m bench.check_agreement FOLDER [--target NAME …] [--timeout SECONDS]

Prints one row per target: dispatches, verdicts that agree, byte counts that agree, upper bounds that hold
(llvm-cpu), predictions with doubts (which `fissile check` hands to the probe), dispatches whose code
generation fails or does not end in time (no bytes to compare with), and dispatches of a calibrated structure that fit by
prediction, of which no code would be generated. Every difference is listed, and every calibrated dispatch that IREE refuses. Exit
status 1 where a prediction without doubts has the wrong verdict, or a calibrated dispatch is refused.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

from bench.programs.program_files import existing
from fissile.pipelines.check.measured import Measured
from fissile.pipelines.check.measuring import measure
from fissile.pipelines.session import PhaseFailed
from fissile.pipelines.targets import resolve_target
from fissile.quantity import Certainty

TARGETS = ("gfx942", "gfx1100", "sm_86", "vulkan", "vulkan:ampere", "vulkan:rdna3", "vulkan:valhall4")


@dataclass
class Tally:
    """Counts of one target; ``differences`` are sentences."""

    dispatches: int = 0
    compared: int = 0
    same_bytes: int = 0
    same_verdict: int = 0
    bounds: int = 0
    doubtful: int = 0
    failed: int = 0
    calibrated: int = 0
    wrong: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, program: str, one: Measured, limit: int) -> None:
        self.dispatches += 1
        doubts, exact = one.prediction.doubts, one.exact
        self.doubtful += bool(doubts)
        if one.calibrated and not doubts and one.prediction.total.exceeds(limit) is False:
            self.calibrated += 1
            if refusal := _refusal(one):
                self.wrong += 1
                self.differences.append(f"{program} {one.dispatch.name}: calibrated, and refused: {refusal}")
        if exact is None:
            self.failed += 1
            return
        self.compared += 1
        predicted = one.prediction.total.value
        verdict = (predicted is None or predicted > limit) == (exact.value is None or exact.value > limit)
        bound = one.prediction.total.certainty is Certainty.AT_MOST and predicted >= (exact.value or 0)
        self.same_bytes += predicted == exact.value
        self.bounds += bound and predicted != exact.value
        self.same_verdict += verdict
        self.wrong += not verdict and not doubts
        if predicted != exact.value and not bound:
            shown = one.prediction.formula if predicted is None else predicted
            why = f" (doubt: {'; '.join(doubts)})" if doubts else ""
            self.differences.append(
                f"{program} {one.dispatch.name}: predicted {shown}, exact {exact.value}{why}"
            )


def _refusal(one: Measured) -> str:
    """What IREE says of a dispatch that it does not build."""
    if one.result is None:
        return ""
    error = one.result.probed.failure or one.result.converted
    return error.message if error else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=existing)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds of code generation per dispatch")
    arguments = parser.parse_args()
    programs = sorted(arguments.folder.glob("*.mlir"))
    if not programs:
        parser.error(f"no programs (*.mlir) in {arguments.folder}")
    wrong = 0
    print(
        f"{'target':<18} {'dispatches':>10} {'compared':>9} {'verdict':>16} {'bytes':>16} "
        f"{'bounds':>7} {'doubtful':>9} "
        f"{'no code':>8} {'calibrated':>11}"
    )
    for name in arguments.target or TARGETS:
        target, tally = resolve_target(name), Tally()
        for program in programs:
            try:
                measured = measure(program, target, dispatch_timeout=arguments.timeout)
            except PhaseFailed as failure:
                tally.differences.append(
                    f"{program.name}: IREE stops before dispatches are configured: {failure}"
                )
                continue
            for one in measured:
                tally.add(program.name, one, target.compiler_bytes or target.limit.bytes)
        wrong += tally.wrong
        print(
            f"{name:<18} {tally.dispatches:>10} {tally.compared:>9} "
            f"{_share(tally.same_verdict, tally.compared):>16} "
            f"{_share(tally.same_bytes, tally.compared):>16} "
            f"{tally.bounds:>7} {tally.doubtful:>9} {tally.failed:>8} {tally.calibrated:>11}",
            flush=True,
        )
        for difference in tally.differences:
            print(f"    {difference}", flush=True)
    return 1 if wrong else 0


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.2f}%)" if whole else "-"


if __name__ == "__main__":
    sys.exit(main())
