"""`python -m bench.legality_sweep`: runs the sweep, prints the table, and writes it to the docs where wanted."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from fissile.errors import FissileError
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.compile.entry import compile as compile_guarded
from fissile.pipelines.targets import resolve_target

from . import results as kept
from .models import onnx_models

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "legality-sweep.md"
_PART = re.compile(r"(<!-- measured: onnx -->\n).*?(<!-- end -->)", re.S)
SECONDS_PER_CASE = 300.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.legality_sweep", description=__doc__)
    parser.add_argument("front_end", choices=("onnx",))
    parser.add_argument("--limit", type=int, default=0, help="how many models; 0: all")
    parser.add_argument("--target", action="append", default=[], help="may be repeated (default llvm-cpu)")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "legality-sweep.jsonl")
    parser.add_argument("--docs", action="store_true", help=f"write the table to {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--no-run", action="store_true", help="only make the table of the results that are there"
    )
    args = parser.parse_args()
    targets = args.target or ["llvm-cpu"]
    args.results.parent.mkdir(parents=True, exist_ok=True)
    if not args.no_run:
        models = onnx_models(args.results.parent / "onnx-operator-tests", args.limit)
        for target in targets:  # one after the other: a table of one is worth having
            _sweep([str(model) for model in models], target, args.results)
    table = kept.markdown(kept.read(args.results))
    print(table, end="")
    if args.docs:
        PAGE.write_text(_PART.sub(lambda part: f"{part[1]}\n{table}\n{part[2]}", PAGE.read_text()))
    return 0


def _sweep(models: list[str], target: str, file: Path) -> None:
    """Adds what is missing of ``target`` to ``file``."""
    while True:
        found = kept.read(file)
        left = [model for model in models if (model, target) not in found]
        if not left:
            break
        for result in _stock_and_audit(left, target):
            with file.open("a") as out:
                out.write(json.dumps(result) + "\n")
    for (model, at), result in kept.read(file).items():
        if (
            at == target
            and model in models
            and "fissile" not in result
            and result["stock"] not in ("compiles", "not imported")
        ):
            with file.open("a") as out:
                out.write(json.dumps(result | _fissile(model, target)) + "\n")


def _stock_and_audit(models: list[str], target: str):
    """Results as a worker has them, until all are done or it ends; what it was at then is one more: a crash."""
    with tempfile.TemporaryDirectory(prefix="fissile-sweep-") as folder:
        job = Path(folder, "job.json")
        job.write_text(json.dumps({"models": models, "targets": [target], "done": []}))
        command = [sys.executable, "-m", "bench.legality_sweep.worker", str(job)]
        limit = ["timeout", "--signal=KILL", f"{SECONDS_PER_CASE * len(models):.0f}"]
        at = None
        with subprocess.Popen(
            [*limit, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
        ) as worker:
            for line in worker.stdout or ():
                result = json.loads(line)
                if result.pop("begins", False):
                    at = result
                else:
                    at = None
                    yield result
        if at is not None:
            yield at | {"stock": "crashes", "said": "", "audit": []}


def _fissile(model: str, target: str) -> dict:
    """What `fissile compile` makes of what stock IREE refuses."""
    with tempfile.TemporaryDirectory(prefix="fissile-sweep-") as folder:
        flags = [*flags_for(resolve_target(target)), "--guard=off"]
        try:
            report = compile_guarded(model, Path(folder, "out.vmfb"), flags)
        except FissileError as error:
            return {"fissile": f"exit {int(error.exit_code)}", "why": error.message[:200]}
    if not report.errors:
        return {"fissile": "compiles", "how": [help_.remedy for f in report.findings for help_ in f.helps]}
    return {"fissile": report.errors[0].code, "why": report.errors[0].message[:200]}


if __name__ == "__main__":
    sys.exit(main())
