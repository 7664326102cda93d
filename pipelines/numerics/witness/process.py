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
    from iree.compiler.api import Session

    from .program import parse
    from .registry import NoWitness

    session = Session()
    try:
        program = parse(Path(job.source), session.context)
    except NoWitness as reason:
        _write(folder, WitnessAnswer(str(reason)))
        return 0
    except MemoryError:
        _write(folder, WitnessAnswer(_too_little_memory()))
        return 0
    done: list[WitnessCase] = []
    for case in range(job.cases):
        try:
            done.append(_run(program, folder, job, case))
        except NoWitness as reason:
            done.append(WitnessCase(why=str(reason)))
        except MemoryError:
            done.append(WitnessCase(why=_too_little_memory()))
        except Exception as error:  # the other cases are evaluated all the same
            done.append(WitnessCase(why=f"{type(error).__name__}: {error}"[:200]))
        _write(folder, WitnessAnswer("", tuple(done)))
    return 0


def _too_little_memory() -> str:
    return f"it needs more than {resource.getrlimit(resource.RLIMIT_DATA)[0] >> 30} GiB"


def _write(folder: Path, answer: WitnessAnswer) -> None:
    """In one step: the process may be ended in the next case."""
    part = folder / "answer.part"
    part.write_bytes(wire.encode(answer))
    part.replace(folder / "answer.json")


def _run(program, folder: Path, job: WitnessJob, case: int) -> WitnessCase:
    arguments = [np.load(folder / f"input{case}_{number}.npy") for number in range(job.arguments)]
    for name, declared in (("wide", False), ("declared", True)):
        answer = program.run(job.function, arguments, declared)
        for number, array in enumerate(answer.results):
            np.save(folder / f"{name}{case}_{number}.npy", array)
    return WitnessCase(len(answer.results), answer.roundings, answer.sums, answer.loose)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
