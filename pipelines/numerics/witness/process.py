"""The child process in which a witness runs: one job in, arrays and a JSON answer out.

    python -m fissile.pipelines.numerics.witness.process FOLDER

FOLDER has ``job.json`` (`WitnessJob`) and ``inputCASE_NUMBER.npy``; it gets ``answer.json`` and
``wideCASE_NUMBER.npy``, ``declaredCASE_NUMBER.npy``. A program that is not known ends with status 0 and a reason.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import numpy as np

from fissile import wire

from ...process.entry import begin
from .evaluation import WitnessAnswer, WitnessCase, WitnessJob


def main(folder: Path) -> int:
    begin()
    job = wire.decode(WitnessJob, (folder / "job.json").read_bytes())
    (folder / "answer.json").write_bytes(wire.encode(_answer(folder, job)))
    return 0


def _answer(folder: Path, job: WitnessJob) -> WitnessAnswer:
    from iree.compiler.api import Session

    from .program import parse
    from .registry import NoWitness

    session = Session()
    try:
        program = parse(Path(job.source), session.context)
        cases = [_run(program, folder, job, case) for case in range(job.cases)]
    except NoWitness as reason:
        return WitnessAnswer(str(reason))
    except MemoryError:
        return WitnessAnswer(f"it needs more than {resource.getrlimit(resource.RLIMIT_DATA)[0] >> 30} GiB")
    return WitnessAnswer("", tuple(cases))


def _run(program, folder: Path, job: WitnessJob, case: int) -> WitnessCase:
    arguments = [np.load(folder / f"input{case}_{number}.npy") for number in range(job.arguments)]
    for name, declared in (("wide", False), ("declared", True)):
        answer = program.run(job.function, arguments, declared)
        for number, array in enumerate(answer.results):
            np.save(folder / f"{name}{case}_{number}.npy", array)
    return WitnessCase(len(answer.results), answer.roundings, answer.sums, answer.loose)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
