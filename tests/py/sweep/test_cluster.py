"""What a cluster does with a model that takes its worker down each time, with a large one, and with another environment."""

import os
import sys
from dataclasses import replace

import pytest
from local_cluster import local_cluster

from fissile.errors import ExitCode
from fissile.pipelines.sweep import cluster_engine, worker_task
from fissile.pipelines.sweep.attempt import Limits
from fissile.pipelines.sweep.cells import find_models, matrix
from fissile.pipelines.sweep.entry import SweepRequest, run_sweep
from fissile.pipelines.sweep.environments import described, find_environments
from fissile.pipelines.sweep.outcome import Outcome, Verdict
from fissile.pipelines.sweep.store import Store


def compiled_or_dead(cell, _limits, _content, _keep_module):
    """In place of a compile: the poisonous model ends the worker itself, not a child of it."""
    if cell.model.name == "poison.mlir":
        os._exit(1)
    return Outcome(Verdict.BUILT, module=cell.model.content, machine=cell.model.name), b""


@pytest.fixture
def cells(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    for name in ("a", "b", "c", "d", "poison"):
        (folder / f"{name}.mlir").write_text(name)
    return matrix(find_models([str(folder)]), ["llvm-cpu"], find_environments(()), [])


@pytest.fixture
def here(monkeypatch):
    """A worker's task in this process, whose answers of other tests are forgotten."""
    monkeypatch.setattr(
        worker_task, "run_cell", lambda cell, *_: (Outcome(Verdict.BUILT, why=cell.environment.python), b"")
    )
    worker_task.environment_here.cache_clear()
    yield worker_task.run_there
    worker_task.environment_here.cache_clear()


def test_a_model_that_ends_its_worker_each_time_is_lost_alone(cells, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_engine, "run_there", compiled_or_dead)
    with local_cluster(allowed_failures=0) as cluster:
        request = SweepRequest(
            (str(tmp_path / "models"),),
            ("llvm-cpu",),
            str(tmp_path / "out"),
            scheduler=cluster.scheduler_address,
        )
        first = run_sweep(request)
        verdicts = {cell.model.name: outcome.verdict for cell, outcome in first.outcomes.items()}
        assert verdicts.pop("poison.mlir") is Verdict.LOST
        assert set(verdicts.values()) == {Verdict.BUILT} and len(verdicts) == 4
        (why,) = (o.why for o in first.outcomes.values() if o.verdict is Verdict.LOST)
        assert why == "1 workers were lost while they had it" and first.exit_code() is ExitCode.FINDINGS
        kept = [Store(request.out).find(cell) for cell in cells]
        assert kept.count(None) == 1  # nothing is known of it: the next sweep compiles it again

        monkeypatch.setattr(cluster_engine, "run_there", healthy)
        second = run_sweep(request)
    assert second.reused == 4 and [change.kind for change in second.changes] == ["better"]
    assert second.exit_code() is ExitCode.CLEAN


def healthy(_cell, _limits, _content, _keep_module):
    return Outcome(Verdict.BUILT), b""


def test_a_large_model_is_taken_where_it_lies_and_no_other_file_in_its_place(cells, here):
    cell = cells[0]
    assert here(cell, Limits(), None, False)[0].verdict is Verdict.BUILT
    with open(cell.model.path, "a") as model:
        model.write("changed")
    other, _ = here(cell, Limits(), None, False)
    assert other.verdict is Verdict.LOST and "is another file" in other.why
    os.unlink(cell.model.path)
    gone, _ = here(cell, Limits(), None, False)
    assert gone.verdict is Verdict.LOST and "is not on this machine" in gone.why
    assert here(cell, Limits(), b"sent", False)[0].verdict is Verdict.BUILT


def test_what_is_too_large_is_not_sent(cells, monkeypatch):
    assert cluster_engine._content(cells[0]) == b"a"
    monkeypatch.setattr(cluster_engine, "LARGEST_SENT", 0)
    assert cluster_engine._content(cells[0]) is None


def test_a_worker_takes_the_environment_that_the_result_is_named_by_or_none(cells, here, monkeypatch):
    own = cells[0]
    assert here(own, Limits(), b"", False)[0].why == sys.executable
    other = replace(own.environment, python="/other/python", iree="3.9.0")
    refused, _ = here(replace(own, environment=other), Limits(), b"", False)
    assert refused.verdict is Verdict.LOST and "not fissile" in refused.why
    assert "has fissile" in worker_task.unfit_for([own.environment, other])
    assert not worker_task.unfit_for([own.environment])
    worker_task.environment_here.cache_clear()
    monkeypatch.setattr(worker_task, "find_environments", lambda _pythons: [other])
    assert here(replace(own, environment=other), Limits(), b"", False)[0].why == "/other/python"


def test_an_interpreter_is_known_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "env" / "python").chmod(0o755)
    (found,) = find_environments(["env/python", "./env/python"])
    assert found.python == str(tmp_path / "env" / "python") and found.iree == described()["iree"]
