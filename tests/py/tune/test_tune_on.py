"""`--tune` with the device of a cluster's worker, and what is kept of it: one compile for each, end to end."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from local_cluster import local_cluster
from programs import run_program
from small_programs import TARGETS, quantised_conv

from fissile.errors import UsageError
from fissile.pipelines.compile.request import parse_command_line

BIN = Path(sys.executable).parent


def compiled(folder, name, *words):
    done = run_program(
        [BIN / "fissile", "compile", *TARGETS["llvm-cpu"], "--format=json", "--tune", *words]
        + [folder / "conv.mlir", "-o", folder / name],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow  # test_search.py times with a clock of its own
def test_a_worker_times_and_the_winner_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("FISSILE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "conv.mlir").write_text(quantised_conv(channels=8, filters=8))
    with local_cluster(workers=1) as cluster:
        on = f"--tune-on={cluster.scheduler_address}"
        status, first = compiled(tmp_path, "a.vmfb", on)
    timed = first["facts"]["tuned"]
    assert status == 0 and len(timed) >= 4 and all(isinstance(value, float) for value in timed.values())
    note = first["findings"][0]["notes"][-1]
    assert f"of a worker at {cluster.scheduler_address}" in note and f"took {next(iter(timed))}" in note
    assert not first["facts"]["tuned_before"]

    # The cluster is gone: what it measured is what the second compile has.
    status, second = compiled(tmp_path, "b.vmfb", on)
    assert status == 0 and second["facts"]["tuned_before"] and second["facts"]["tuned"] == timed
    assert (tmp_path / "a.vmfb").read_bytes() == (tmp_path / "b.vmfb").read_bytes()

    status, third = compiled(tmp_path, "c.vmfb", on, "--no-cache")
    assert status == 0 and "no Dask scheduler answers" in third["facts"]["tuned"]
    assert any("not timed: no Dask scheduler" in note for note in third["findings"][0]["notes"])


def test_a_place_to_time_on_needs_something_to_time():
    with pytest.raises(UsageError, match="--tune-on says where"):
        parse_command_line(["in.mlir", "--tune-on=tcp://127.0.0.1:1"])
