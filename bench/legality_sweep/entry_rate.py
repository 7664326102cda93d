"""How many of ONNX's operator tests enter: `python -m bench.legality_sweep.entry_rate --limit 400`.

A model enters where IREE's phase input takes what the importer made of it; with fissile, where it does after the ops of the front end were
written with others, or the ONNX definitions were expanded. No code is generated, so that all tests take minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .models import onnx_models

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "legality-sweep.md"
_PART = re.compile(r"(<!-- measured: entry -->\n).*?(<!-- end -->)", re.S)
_MOST_ROUNDS = 8


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.legality_sweep.entry_rate", description=__doc__)
    parser.add_argument("--limit", type=int, default=0, help="how many models; 0: all")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "entry-rate.jsonl")
    parser.add_argument("--docs", action="store_true", help=f"write the table to {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--no-run", action="store_true", help="only make the table of the results that are there"
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return _work(Path(args.worker))
    args.results.parent.mkdir(parents=True, exist_ok=True)
    if not args.no_run:
        models = [str(m) for m in onnx_models(args.results.parent / "onnx-operator-tests", args.limit)]
        while left := [model for model in models if model not in _read(args.results)]:
            _run(left, args.results)
    table = _markdown(_read(args.results))
    print(table, end="")
    if args.docs:
        PAGE.write_text(_PART.sub(lambda part: f"{part[1]}\n{table}\n{part[2]}", PAGE.read_text()))
    return 0


def _read(file: Path) -> dict[str, dict]:
    lines = file.read_text().splitlines() if file.exists() else []
    return {result["model"]: result for result in map(json.loads, lines)}


def _run(models: list[str], file: Path) -> None:
    """Adds results until all are done or the process that makes them crashes, which is one more."""
    with tempfile.TemporaryDirectory(prefix="fissile-sweep-") as folder:
        job = Path(folder, "job.json")
        job.write_text(json.dumps(models))
        command = [sys.executable, "-m", "bench.legality_sweep.entry_rate", "--worker", str(job)]
        at: dict = {}
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[2],
        ) as worker:
            for line in worker.stdout or ():
                at = json.loads(line)
                if "fissile" in at:
                    with file.open("a") as out:
                        out.write(line)
        if "fissile" not in at and at:
            with file.open("a") as out:
                out.write(json.dumps({"stock": "crashes"} | at | {"fissile": "crashes"}) + "\n")


def _work(job: Path) -> int:
    from fissile.passes.iree.targets import flags_for
    from fissile.pipelines.session import Session
    from fissile.pipelines.targets import resolve_target

    session = Session(flags_for(resolve_target("llvm-cpu")))
    for model in json.loads(job.read_text()):
        result = {"model": model}
        print(json.dumps(result), flush=True)
        for outcome in _outcomes(session, model, job.parent):
            result |= outcome
            print(json.dumps(result), flush=True)
    return 0


def _outcomes(session, model: str, folder: Path):
    """First what stock IREE does with ``model``, then what fissile does."""
    from fissile.pipelines.compile.hooks import front_end
    from fissile.pipelines.importers import onnx_child
    from fissile.pipelines.importers.imported import ONNX, Imported
    from fissile.pipelines.repair.failures import rejected
    from fissile.pipelines.session import PhaseFailed
    from fissile.report import Report

    expanded: tuple = ()
    first = ""
    for _round in range(_MOST_ROUNDS):
        program = folder / f"program-{len(expanded)}"
        job = {"model": model, "name": model, "program": str(program), "expand": [k for k, _f in expanded]}
        found = onnx_child.answer(job)
        if "refused" in found:
            if not expanded:
                yield {"stock": "not imported", "fissile": "not imported", "why": found["refused"][:200]}
            else:
                yield {"fissile": first}
            return
        failure = None
        for rewrite in (False, True):
            module = session.parse(program)
            if rewrite and not front_end.rewritten(module, ""):
                break
            try:
                session.run(module, "input")
                failure = None
                break
            except PhaseFailed as failed:
                failure = failed
                if not expanded and not rewrite:
                    first = failed.message[:200]
                    yield {"stock": "refused", "why": first}
        if failure is None:
            yield {"fissile": "enters"} | ({} if first else {"stock": "enters"})
            return
        report = Report("compile", (rejected(failure),))
        imported = Imported(
            model,
            ONNX,
            program,
            tuple(found["lines"]),
            tuple(found["types"]),
            frozenset(found["can_expand"]),
            expanded,
        )
        blamed = imported.blamed(report)
        if blamed is None:
            break
        expanded = (*expanded, blamed)
    yield {"fissile": first}


def _markdown(results: dict[str, dict]) -> str:
    mine = [r for r in results.values() if r["stock"] != "not imported"]
    stock, ours = (sum(r[who] == "enters" for r in mine) for who in ("stock", "fissile"))
    crashes = sum(r["stock"] == "crashes" for r in mine)
    count = max(1, len(mine))
    return (
        "| operator tests imported | stock IREE's phase input takes | with fissile | crash in phase input |\n| --- | --- | --- | --- |\n"
        f"| {len(mine)} | {stock} ({stock / count:.1%}) | {ours} ({ours / count:.1%}) | {crashes} |\n"
    )


if __name__ == "__main__":
    sys.exit(main())
