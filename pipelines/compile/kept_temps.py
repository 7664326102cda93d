"""`--save-temps`: what a model was imported as, and the IR from before the phase in which IREE fails.

After a failure the module is in an undefined state, and a crash takes the process along. So the program is compiled once more as stock
IREE does it, phase by phase, in a process of its own, which writes the IR down before each phase: the last file is the one that is kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fissile.finding import Severity
from fissile.passes.definition import PassFailed
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT, PHASES
from fissile.report import Report

from ..process.atomic_write import write_atomically
from ..process.scratch import scratch
from .request import CompileRequest
from .stepping_aside import stands_in

if TYPE_CHECKING:
    from .compile_run import CompileRun

TASK = "temps"
"""Of a request: the second compile."""
_KEPT = "temps"
"""The folder in a compile's scratch folder for what is to be kept."""
_IMPORTED = "imported.mlirbc"
_BEFORE = "before-"


def with_temps(report: Report, request: CompileRequest, folder: Path, program: Path | None) -> Report:
    """``report``, whose findings name what `keep_temps` is going to keep; that is left in ``folder``.

    ``program`` is what the input was imported as. An earlier attempt's files are replaced.
    """
    kept = folder / _KEPT
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    notes = []
    if program is not None:
        shutil.copyfile(program, kept / _IMPORTED)
        notes.append(f"what the model was imported as: {Path(request.save_temps, _IMPORTED)}")
    if (report.errors or report.repaired) and (file := _before_failure(request, folder, kept, program)):
        phase = file.stem.removeprefix(_BEFORE)
        notes.append(f"the IR from before phase {phase}: {Path(request.save_temps, file.name)}")
    changed = (Severity.ERROR, Severity.REPAIRED)
    first = next((index for index, one in enumerate(report.findings) if one.severity in changed), None)
    if first is None or not notes:
        return report
    findings = list(report.findings)
    findings[first] = findings[first].with_(notes=(*findings[first].notes, *notes))
    return replace(report, findings=tuple(findings))


def keep_temps(named: str, folder: Path) -> None:
    """Puts what `with_temps` left in ``folder`` into the folder ``named``, which is made where it is not there."""
    files = sorted((folder / _KEPT).glob("*")) if named else []
    for file in files:
        Path(named).mkdir(parents=True, exist_ok=True)
        write_atomically(Path(named, file.name), partial(shutil.copyfile, file))


def _before_failure(request: CompileRequest, folder: Path, kept: Path, program: Path | None) -> Path | None:
    """The IR from before the phase in which the program fails as it is; None where none fails."""
    from ..process.job import CompileJob
    from ..process.supervisor import run_job

    spooled = program or (folder / "stdin" if request.input == "-" else "")
    with scratch() as own:
        job = CompileJob(str(own), replace(request, task=TASK), str(own / "output"), str(spooled))
        end = run_job(job, own, request.time_limit, request.dispatch_timeout)
        found = list(own.glob(f"{_BEFORE}*.mlir"))
        if not found or end.step is not None and end.step.users:
            return None
        return Path(shutil.copyfile(found[0], kept / found[0].name))


def write_before_each_phase(run: CompileRun, progress: Callable[[int], object]) -> Report:
    """In the worker: the program through IREE's phases as stock runs them, with the IR from before the current one in a file."""
    from ..probe.stock_outcome import translation_work
    from ..session import PhaseFailed, phase_index

    request, file = run.request, None
    if stands_in(replace(request, task="compile")):
        run.session.refuse_unknown_dialects()
    phases = run.without_own_hooks()
    try:
        module = run.parse()
        for phase in PHASES[phase_index(module.phase) + 1 : phase_index(request.compile_to) + 1]:
            before, file = file, run.scratch / f"{_BEFORE}{phase}.mlir"
            run.session.write(module, file, "ir")
            if before is not None:
                before.unlink()
            if phase_index(phase) == phase_index(DISPATCHES_CONFIGURED_AT) + 1:
                progress(translation_work(module))  # from here on each dispatch has its limit of time
            phases.advance(module, phase)
    except PhaseFailed:
        return Report("compile")
    except PassFailed:  # not IREE: a pass that the command line names
        pass
    if file is not None:
        file.unlink()
    return Report("compile")
