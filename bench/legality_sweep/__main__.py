"""`python -m bench.legality_sweep`: runs the sweep, prints the table, and writes it to the docs where wanted."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from fissile.errors import FissileError
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.audit.audit_worker import run_audit
from fissile.pipelines.compile.entry import compile as compile_guarded
from fissile.pipelines.importers import imported
from fissile.pipelines.targets import resolve_target

from . import results as kept
from .models import onnx_models
from .torch_operators import torch_models
from .worker import NOTHING_NAMED, named_by

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "legality-sweep.md"
SECONDS_PER_CASE = 300.0
"""For one model and target; what takes longer counts as a program that does not end."""
MODELS_PER_PROCESS = 50
"""IREE keeps memory of every session: a process ends after so many models."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.legality_sweep", description=__doc__)
    parser.add_argument("front_end", choices=("onnx", "torch"))
    parser.add_argument("--limit", type=int, default=0, help="how many models that are imported; 0: all")
    parser.add_argument("--target", action="append", default=[], help="may be repeated (default llvm-cpu)")
    parser.add_argument("--results", type=Path, help="default build/legality-sweep-FRONT_END.jsonl")
    parser.add_argument(
        "--fissile", action="store_true", help="compile what stock IREE refuses with fissile as well"
    )
    parser.add_argument("--docs", action="store_true", help=f"write the table to {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--misses", action="store_true", help="print what the audit did not name, and false alarms"
    )
    parser.add_argument(
        "--no-run", action="store_true", help="only make the table of the results that are there"
    )
    args = parser.parse_args()
    targets = args.target or ["llvm-cpu"]
    results = args.results or ROOT / "build" / f"legality-sweep-{args.front_end}.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    if not args.no_run:
        models = _models(args.front_end, results.parent)
        _sweep(args.front_end, models, targets, args.limit, results)
        if args.fissile:
            _compile_refused(models, targets, results)
    found = kept.read(results)
    if args.misses:
        print(kept.misses(found), end="")
    table = kept.markdown(found)
    print(table, end="")
    if args.docs:
        part = re.compile(rf"(<!-- measured: {args.front_end} -->\n).*?(<!-- end -->)", re.S)
        PAGE.write_text(part.sub(lambda found: f"{found[1]}\n{table}\n{found[2]}", PAGE.read_text()))
    return 0


def _models(front_end: str, folder: Path) -> list[str]:
    if front_end == "onnx":
        return [str(model) for model in onnx_models(folder / "onnx-operator-tests", 0)]
    missing = [name for name in ("torch", "iree.turbine") if not _installed(name)]
    if missing:
        sys.exit(f"{', '.join(missing)} not installed: pip install torch iree-turbine")
    return [str(model) for model in torch_models(folder / "torch-operators")]


def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _sweep(front_end: str, models: list[str], targets: list[str], limit: int, file: Path) -> None:
    """Adds what is missing to ``file``, until ``limit`` models that were imported have all ``targets``."""
    while True:
        found = kept.read(file)
        left: list[tuple[str, list[str]]] = []
        enough = 0
        for model in models:
            missing = [target for target in targets if (Path(model).stem, target) not in found]
            if missing:
                left.append((model, missing))
            elif found[Path(model).stem, targets[0]]["stock"] != "not imported":
                enough += 1
            wanted = limit - enough if limit else len(models)
            if len(left) >= min(MODELS_PER_PROCESS, wanted):
                break
        if not left:
            break
        for result in _stock_and_audit(front_end, left, targets):
            with file.open("a") as out:
                out.write(json.dumps(result) + "\n")


def _stock_and_audit(
    front_end: str, models: list[tuple[str, list[str]]], targets: list[str]
) -> Iterator[dict]:
    """Results as a worker has them, until all are done or it ends; what ended it is audited as the command does."""
    with tempfile.TemporaryDirectory(prefix="fissile-sweep-") as folder:
        job = Path(folder, "job.json")
        job.write_text(json.dumps({"front_end": front_end, "models": models, "targets": targets}))
        at = None
        with subprocess.Popen(
            [sys.executable, "-m", "bench.legality_sweep.worker", str(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        ) as worker:
            lines = iter(worker.stdout or ())
            while line := _next(lines, worker):
                result = json.loads(line)
                if result.pop("begins", False):
                    at = result
                else:
                    at = None
                    yield result
        if at is not None:
            model = next(model for model, _targets in models if Path(model).stem == at["model"])
            yield (
                at
                | {"stock": "crashes or does not end", "message": ""}
                | _audited(model, at["target"], Path(folder))
            )


def _next(lines: Iterator[str], worker: subprocess.Popen) -> str:
    """The next line; a worker without one for SECONDS_PER_CASE is ended."""

    def end() -> None:
        with suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)

    timer = threading.Timer(SECONDS_PER_CASE, end)
    timer.start()
    try:
        return next(lines, "")
    finally:
        timer.cancel()


def _audited(model: str, target: str, folder: Path) -> dict:
    """What `fissile audit` finds in a program that ends the compiler's process, or takes longer than SECONDS_PER_CASE."""
    if not Path(model).exists():  # a torch operator whose export did not end
        return NOTHING_NAMED
    program = imported.importable(Path(model), folder)
    flags = flags_for(resolve_target(target))
    return named_by(run_audit(str(program), [(target, flags)], time_limit=SECONDS_PER_CASE))


def _compile_refused(models: list[str], targets: list[str], file: Path) -> None:
    by_name = {Path(model).stem: model for model in models}
    for (model, target), result in kept.read(file).items():
        if (
            target in targets
            and "fissile" not in result
            and result["stock"] not in ("compiles", "not imported")
        ):
            with file.open("a") as out:
                out.write(json.dumps(result | _fissile(by_name[model], target)) + "\n")


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
