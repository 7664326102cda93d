"""A program of many dispatches takes longer than one dispatch may: that is no compile that does not end."""

from bench.faults import growth
from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.probe.stock_outcome import SUBMITTED_AT_ONCE, translation_work
from fissile.pipelines.process import supervisor
from fissile.pipelines.process.entry import leave_answer
from fissile.pipelines.process.job import Answer
from fissile.pipelines.process.worker_end import WorkerEnd
from fissile.pipelines.session import Session
from fissile.report import Report

LLVM_CPU = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]


def test_submissions_of_the_same_dispatch_have_time_too():
    with Session(LLVM_CPU) as session:
        for count in (1, 3 * SUBMITTED_AT_ONCE):
            module = session.parse_text(growth.program(count, different=False))
            session.run(module, "executable-configurations")
            assert translation_work(module) == 1 + count // SUBMITTED_AT_ONCE


def test_where_no_dispatch_is_to_blame_the_compile_goes_on_without_their_limit(tmp_path, monkeypatch):
    """The straight compile exceeds the limit, every dispatch by itself does not, and the straight compile ends at last."""
    refused = Answer(Report("compile", facts={"unexplained": "FIS106"}))
    fine = Answer(Report("compile", (), "out"))
    seen = []

    def run_job(job, _folder, _time_limit, dispatch_timeout):
        seen.append((dispatch_timeout, job.ended))
        job.started.touch()
        if len(seen) == 1:
            job.translating.write_text("1 straight ")
            return WorkerEnd(124, True, "")
        leave_answer(job.result, refused if len(seen) == 2 else fine)
        return WorkerEnd(0, False, "")

    monkeypatch.setattr(supervisor, "run_job", run_job)
    request = parse_command_line([*LLVM_CPU, "--dispatch-timeout=7", "in.mlir", "-o", f"{tmp_path}/out"])
    report = supervisor._in_worker(request, tmp_path, tmp_path / "out")
    limit = "the compiler did not end within 7 seconds per dispatch (--dispatch-timeout)"
    assert report.output == "out" and seen == [(7.0, ""), (7.0, limit), (0.0, "")]
