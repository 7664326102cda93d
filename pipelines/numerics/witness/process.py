"""The child process in which a witness runs: one job in, arrays and a JSON answer out.

    python -m fissile.pipelines.numerics.witness.process FOLDER

FOLDER has ``job.json`` ({"source", "function", "cases"}) and ``inputCASE_NUMBER.npy``; it gets ``answer.json`` and
``wideCASE_NUMBER.npy``, ``declaredCASE_NUMBER.npy``. A program that is not known ends with status 0 and a reason.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import numpy as np

from ...process.entry import begin


def main(folder: Path) -> int:
    begin()
    job = json.loads((folder / "job.json").read_text())
    (folder / "answer.json").write_text(json.dumps(_answer(folder, job)))
    return 0


def _answer(folder: Path, job: dict) -> dict:
    from iree.compiler.api import Session

    from .program import parse
    from .registry import NoWitness

    session = Session()
    try:
        program = parse(Path(job["source"]), session.context)
        cases = [_run(program, folder, job, case) for case in range(job["cases"])]
    except NoWitness as reason:
        return {"why": str(reason)}
    except MemoryError:
        return {"why": f"it needs more than {resource.getrlimit(resource.RLIMIT_DATA)[0] >> 30} GiB"}
    return {"why": "", "cases": cases}


def _run(program, folder: Path, job: dict, case: int) -> dict:
    arguments = [np.load(folder / f"input{case}_{number}.npy") for number in range(job["arguments"])]
    for name, declared in (("wide", False), ("declared", True)):
        answer = program.run(job["function"], arguments, declared)
        for number, array in enumerate(answer.results):
            np.save(folder / f"{name}{case}_{number}.npy", array)
    return {"results": len(answer.results), "roundings": answer.roundings, "sums": answer.sums}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
