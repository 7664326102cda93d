"""A sweep whose workers all vanish ends, with what was lost; nothing here depends on how long anything takes."""

import threading

import pytest
from local_cluster import cluster_of_processes

from fissile.errors import ExitCode
from fissile.pipelines.sweep import cluster_engine, cluster_vacancy
from fissile.pipelines.sweep.cluster_vacancy import LOOK_SECONDS, VACANT_SECONDS, Vacancy
from fissile.pipelines.sweep.entry import SweepRequest, run_sweep
from fissile.pipelines.sweep.outcome import Outcome, Verdict
from fissile.pipelines.sweep.store import Store


class Cluster:
    """The number of workers, and the clock, as a test sets them."""

    def __init__(self):
        self.workers, self.now, self.looks = 2, 0.0, 0

    def count(self):
        self.looks += 1
        if isinstance(self.workers, Exception):
            raise self.workers
        return self.workers

    def lasts_after(self, vacancy, seconds):
        self.now += seconds
        return vacancy.lasts()


def test_a_cluster_is_vacant_when_it_had_no_worker_for_the_whole_time():
    cluster = Cluster()
    vacancy = Vacancy(cluster.count, lambda: cluster.now)
    assert not cluster.lasts_after(vacancy, 10 * VACANT_SECONDS)  # a long compile is no vacancy
    cluster.workers = 0
    assert not cluster.lasts_after(vacancy, VACANT_SECONDS)  # found now, not before
    assert not cluster.lasts_after(vacancy, VACANT_SECONDS - 1)
    assert cluster.lasts_after(vacancy, LOOK_SECONDS)


def test_a_worker_that_comes_back_ends_the_vacancy():
    cluster = Cluster()
    vacancy = Vacancy(cluster.count, lambda: cluster.now)
    cluster.workers = 0
    assert not cluster.lasts_after(vacancy, 0)
    cluster.workers = 1
    assert not cluster.lasts_after(vacancy, VACANT_SECONDS)
    cluster.workers = 0
    assert not cluster.lasts_after(vacancy, VACANT_SECONDS)
    assert cluster.lasts_after(vacancy, VACANT_SECONDS)


def test_the_scheduler_is_not_asked_at_each_poll_and_may_be_silent():
    cluster = Cluster()
    vacancy = Vacancy(cluster.count, lambda: cluster.now)
    cluster.workers = OSError("the scheduler does not answer")
    assert not cluster.lasts_after(vacancy, VACANT_SECONDS)
    assert not cluster.lasts_after(vacancy, LOOK_SECONDS / 2) and cluster.looks == 1


def test_a_sweep_without_workers_ends_with_what_was_lost(tmp_path, monkeypatch):
    pytest.importorskip("distributed")

    def ends_or_stays(cell, *_):
        """In place of a compile. Sent by value, as the workers cannot import a test."""
        if cell.model.name != "a.mlir":
            threading.Event().wait()
        return Outcome(Verdict.BUILT), b""

    monkeypatch.setattr(cluster_engine, "run_there", ends_or_stays)
    monkeypatch.setattr(cluster_vacancy, "VACANT_SECONDS", 0.0)
    folder = tmp_path / "models"
    folder.mkdir()
    for name in "abcdefghijkl":  # more than are submitted at once
        (folder / f"{name}.mlir").write_text(name)
    with cluster_of_processes() as (address, workers):

        def kill_all(_cell, outcome, _done, _total):
            if outcome.verdict is Verdict.BUILT:
                for worker in workers:
                    worker.kill()

        request = SweepRequest((str(folder),), ("llvm-cpu",), str(tmp_path / "out"), scheduler=address)
        swept = run_sweep(request, kill_all)
    verdicts = {cell.model.name: outcome.verdict for cell, outcome in swept.outcomes.items()}
    assert {o.why for o in swept.outcomes.values()} == {"", cluster_engine.NO_WORKER_LEFT}
    assert verdicts.pop("a.mlir") is Verdict.BUILT
    assert set(verdicts.values()) == {Verdict.LOST} and len(verdicts) == 11
    assert swept.exit_code() is ExitCode.FINDINGS
    kept = [cell.model.name for cell in swept.outcomes if Store(request.out).find(cell)]
    assert kept == ["a.mlir"]  # the next sweep compiles the others
