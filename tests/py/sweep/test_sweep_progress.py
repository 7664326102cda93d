"""What a person sees of a running sweep, and what an interrupt leaves: without IREE."""

import io
import sys
from dataclasses import replace

import pytest

from fissile.cli.sweep_progress import Progress
from fissile.pipelines.sweep import entry
from fissile.pipelines.sweep.entry import SweepRequest, run_sweep
from fissile.pipelines.sweep.environments import find_environments
from fissile.pipelines.sweep.outcome import Outcome, Verdict


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def request_for(tmp_path, monkeypatch):
    """A sweep of three models on two targets that compiles nothing: the second model is refused."""

    def run_here(cells, _jobs, _limits, _keep_modules):
        for cell in cells:
            refused = cell.model.name == "b.mlir"
            yield cell, Outcome(Verdict.REFUSED if refused else Verdict.BUILT, why="why" * refused), b""

    monkeypatch.setattr(entry, "run_here", run_here)
    for name in "abc":
        (tmp_path / f"{name}.mlir").write_text(name)
    models = tuple(str(tmp_path / f"{name}.mlir") for name in "abc")
    return SweepRequest(models, ("llvm-cpu", "gfx942"), str(tmp_path / "out"))


def test_a_terminal_shows_a_table_with_the_counts_of_each_target(request_for, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with Progress("out") as progress:
        run_sweep(request_for, progress.ended, progress.planned)
        last = progress._table()
    assert last.title == "6 of 6 compiles"
    shown = [list(column.cells) for column in last.columns]
    assert shown == [["llvm-cpu", "gfx942"], ["2", "2"], ["1", "1"]]
    assert [column.header for column in last.columns] == ["target", "built", "refused"]
    assert "6 of 6 compiles" in sys.stderr.getvalue()


def test_elsewhere_each_compile_is_a_line(request_for, capsys):
    with Progress("out") as progress:
        run_sweep(request_for, progress.ended, progress.planned)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fissile: 6 compiles, 0 already done" and len(lines) == 7
    assert lines[1].startswith("fissile: 1/6 a.mlir llvm-cpu IREE") and "built" in lines[1]
    assert any("b.mlir" in line and "refused" in line and line.endswith(": why") for line in lines)


def test_an_interrupted_sweep_goes_on_with_what_is_missing(request_for, capsys):
    def stop_after_two(cell, outcome, done, total):
        progress.ended(cell, outcome, done, total)
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Progress("out") as progress:
        run_sweep(request_for, stop_after_two, progress.planned)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("fissile: 2 of 6 compiles have a result in out")
    rest = run_sweep(request_for)
    assert rest.reused == 2 and len(rest.outcomes) == 6 and not rest.since


def test_another_fissile_is_the_reason_why_results_do_not_count(request_for, capsys, monkeypatch):
    def first_line():
        with Progress("out") as progress:
            run_sweep(request_for, progress.ended, progress.planned)
        return capsys.readouterr().err.splitlines()[0]

    assert first_line() == "fissile: 6 compiles, 0 already done"
    assert first_line() == "fissile: 6 compiles, 6 already done"
    renewed = [replace(one, fissile="another") for one in find_environments(())]
    monkeypatch.setattr(entry, "find_environments", lambda _pythons: renewed)
    assert first_line() == "fissile: 6 compiles, 0 already done (fissile or IREE changed since the last run)"
