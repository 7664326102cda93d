"""`python -m bench.stablehlo`: see the package."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bench.stablehlo
from bench.corpus_numerics import TARGETS
from bench.faults.results import Row, run_trials

from .drawing import MODULE, functions
from .judging import FAILURES, VERDICTS, Judge, keep


def run(trial: str, target: str, failures: Path, constants: float = 0.0) -> Row:
    """One module: how many functions ended how, and what is known of those that did not simply agree."""
    drawn = functions(trial, constants)
    with tempfile.TemporaryDirectory(prefix="stablehlo-bench-") as folder:
        verdicts = Judge(target, Path(folder)).verdicts(drawn)
    kept = []
    for one in verdicts:
        if one.verdict in FAILURES:
            place = failures / f"{target}-{trial}-{one.function.name}"
            keep(one, place)
            kept.append(
                {
                    "function": one.function.name,
                    "verdict": one.verdict,
                    "detail": one.detail[:600],
                    "codes": one.codes,
                    "program": str(place / "program.mlir"),
                }
            )
    others = [
        f"{one.function.name}: {one.verdict}: {' '.join(one.codes)}: {one.detail[:300]}"
        for one in verdicts
        if one.verdict not in FAILURES and one.detail
    ]
    return {
        "broken": [one["verdict"] for one in kept],
        "programs": len(drawn),
        "kept": kept,
        "others": others,
        "verdicts": dict(Counter(one.verdict for one in verdicts)),
        "ops": dict(Counter(op for one in drawn for op in one.ops)),
    }


def table(rows: Sequence[dict[str, Any]], target: str) -> str:
    """How many functions ended how."""
    counts = Counter[str]()
    for row in rows:
        counts.update(row["verdicts"])
    lines = [f"| {target} | functions |", "|---|---|"]
    return "\n".join(
        [*lines, *(f"| {name} | {counts[name]} |" for name in VERDICTS), f"| all | {counts.total()} |"]
    )


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share from 0 to 1")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.stablehlo",
        description=bench.stablehlo.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--programs", type=int, default=80, help=f"how many functions; {MODULE} are a module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=TARGETS, default="llvm-cpu")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("build/stablehlo.jsonl"),
        help="one JSON line for each module; what is in it is not run again",
    )
    parser.add_argument(
        "--failures",
        type=Path,
        default=Path("build/stablehlo"),
        help="a folder for each function that is wrong, or refused by fissile only, is written here",
    )
    parser.add_argument(
        "--constants",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="0 to 1: this share of the arguments are constants instead, of which IREE computes what it can",
    )
    chosen = parser.parse_args(argv)
    chosen.results.parent.mkdir(parents=True, exist_ok=True)
    trials = [f"{chosen.seed}-{index}" for index in range(-(-chosen.programs // MODULE))]
    rows: Sequence[dict[str, Any]] = run_trials(
        chosen.results,
        f"stablehlo {chosen.target}" + (f" constants {chosen.constants}" if chosen.constants else ""),
        trials,
        lambda trial: run(trial, chosen.target, chosen.failures, chosen.constants),
    )
    for row in rows:
        for one in row["kept"]:
            print(f"{one['program']}: {one['verdict']}: {one['detail']}")
    print(table(rows, chosen.target))
    return int(any(row["broken"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
