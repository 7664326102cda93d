"""A repair generates no more code than it must, and misses nothing: what was not probed is found in the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from programs import run_program
from small_programs import ADD, TARGETS, quantised_conv
from test_set_lowering import MATMUL

from fissile.passes.analysis.memory.footprint import Allocation, Footprint
from fissile.passes.failures.failure import Ending
from fissile.pipelines.probe.diagnostics import Diagnostic
from fissile.pipelines.probe.dispatch_check import DispatchChecker
from fissile.pipelines.probe.one_dispatch import Probed
from fissile.pipelines.probe.probe_pool import FEW, ProbePool, ProbeResult
from fissile.pipelines.probe.stock_outcome import predicted_to_exceed
from fissile.pipelines.session import Session
from fissile.quantity import Bytes

BIN = Path(sys.executable).parent
GFX942 = TARGETS["gfx942"]
TWO = (
    quantised_conv(size=28, name="large")
    + """
func.func @small(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %a, %b : tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
)


def compiled(folder, text, *words, **environment):
    (folder / "in.mlir").write_text(text)
    done = run_program(
        [
            BIN / "fissile",
            "compile",
            *GFX942,
            "--format=json",
            folder / "in.mlir",
            "-o",
            folder / "a.vmfb",
            *words,
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | environment,
    )
    return done.returncode, json.loads(done.stdout)


class Recorder:
    """Stands for a pool: every dispatch generates code but `large`."""

    def __init__(self):
        self.requested: list[tuple[str, bool]] = []

    def probe_all(self, dispatches, convert=True):
        self.requested += [(d.name.split("_")[0], convert) for d in dispatches]
        printed = Diagnostic("error", "failed to distribute", "failed to distribute")
        return [
            ProbeResult(Probed(Footprint(()), printed if "large" in d.name else None), None, 0.0)
            for d in dispatches
        ]


@pytest.fixture(scope="module")
def module():
    session = Session(GFX942)
    made = session.parse_text(TWO)
    session.run(made, "executable-configurations")
    return made


@pytest.mark.parametrize(
    ("optimistic", "requested"), [(True, [("large", False)]), (False, [("large", True), ("small", True)])]
)
def test_what_fits_by_prediction_is_not_probed_and_nothing_is_probed_twice(module, optimistic, requested):
    pool = Recorder()
    checker = DispatchChecker(pool, optimistic)
    first = checker.check(module, [])
    assert pool.requested == requested
    again = checker.check(module, [])
    assert pool.requested == requested and checker.generated == len(requested)
    for checked in (first, again):
        assert [(c.dispatch.name.split("_")[0], c.finding is None) for c in checked] == [
            ("large", False),
            ("small", True),
        ]


def test_an_overflow_is_predicted_before_code_is_generated(module):
    assert predicted_to_exceed(module)
    session = Session(GFX942)
    healthy = session.parse_text(ADD)
    session.run(healthy, "executable-configurations")
    assert not predicted_to_exceed(healthy)


def test_a_few_dispatches_are_probed_here_between_two_calls_and_many_elsewhere(monkeypatch):
    reported = []
    pool = ProbePool([], deadline=300, watch=lambda count, *_fingerprint: reported.append(count))
    monkeypatch.setattr(
        "fissile.pipelines.probe.probe_pool.probe", lambda dispatch: Probed(Footprint(()), None)
    )
    monkeypatch.setattr(
        "fissile.pipelines.probe.probe_pool.probe_and_convert",
        lambda dispatch, _flags: (Probed(Footprint(()), None), reported.append(dispatch.fingerprint)),
    )
    monkeypatch.setattr(pool, "_run", lambda job, fingerprint: "elsewhere")
    monkeypatch.setattr("fissile.pipelines.probe.probe_pool.standalone", lambda dispatch: "")
    monkeypatch.setattr("fissile.pipelines.probe.probe_pool._index", lambda dispatch: 0)
    a, b, c = (SimpleNamespace(fingerprint=name, name=name) for name in "abc")
    with pool:
        assert len(pool.probe_all([a, b])) == 2 and reported == [1, "a", 0, 1, "b", 0]
        assert len(pool.probe_all([c], convert=False)) == 1 and reported[6:] == [1, 0]
        assert pool.probe_all([c] * (FEW + 1)) == ["elsewhere"] * (FEW + 1) and len(reported) == 8


def test_what_is_known_not_to_end_is_not_probed_again():
    with ProbePool([], deadline=300, watch=lambda *_: pytest.fail("probed"), endless=["a"]) as pool:
        (known,) = pool.probe_all([SimpleNamespace(fingerprint="a", name="a")])
    assert known.ended is Ending.TIMED_OUT and "300 seconds" in known.probed.failure.message


def test_a_trusted_dispatch_that_fails_after_all_is_repaired_too(tmp_path):
    """The convolution is predicted to overflow; that the matmul cannot be distributed shows at the end only."""
    text = quantised_conv(size=28, name="large") + MATMUL
    status, report = compiled(tmp_path, text, f"--emit-tuning-spec={tmp_path}/spec.mlir")
    assert status == 0
    assert [(f["code"], f["severity"]) for f in report["findings"]] == [
        ("FIS101", "repaired"),
        ("FIS103", "repaired"),
    ]
    again = run_program(
        [
            BIN / "iree-compile",
            *GFX942,
            tmp_path / "in.mlir",
            "-o",
            tmp_path / "s.vmfb",
            f"--iree-codegen-tuning-spec-path={tmp_path}/spec.mlir",
        ],
        capture_output=True,
        check=False,
    )
    assert again.returncode == 0 and (tmp_path / "s.vmfb").read_bytes() == (tmp_path / "a.vmfb").read_bytes()


@pytest.mark.parametrize(("how", "code"), [("abort", "FIS101"), ("hang", "FIS106")])
def test_a_dispatch_that_takes_the_worker_along_is_repaired_by_processes_apart(tmp_path, how, code):
    """The fault is in the worker alone: after a crash a separate process has the true answer, what did not end is not probed again."""
    status, report = compiled(
        tmp_path,
        quantised_conv(size=28),
        "--dispatch-timeout=3",
        CRASHING_HOW=how,
        PYTHONPATH=str(Path(__file__).parents[1] / "shared" / "crashing_probe"),
    )
    assert status == 0 and [(f["code"], f["severity"]) for f in report["findings"]] == [(code, "repaired")]
    assert (tmp_path / "a.vmfb").exists()


class AlwaysTooLarge(Recorder):
    """A pool whose every dispatch generates code and, were it `large`, needs more memory than gfx942 has."""

    def probe_all(self, dispatches, convert=True):
        self.requested += [(d.name.split("_")[0], convert) for d in dispatches]
        buffers = (Allocation("workgroup", Bytes.exact(1 << 20), "262144xf32"),)
        return [
            ProbeResult(Probed(Footprint(buffers if "large" in d.name else ()), None), None, 0.0)
            for d in dispatches
        ]


@pytest.mark.parametrize(("pool", "requested"), [(AlwaysTooLarge(), []), (Recorder(), ["other"])])
def test_where_only_memory_fails_a_later_module_that_fits_by_prediction_is_not_probed(
    module, pool, requested
):
    checker = DispatchChecker(pool, optimistic=True)
    checker.check(module, [])
    session = Session(GFX942)
    later = session.parse_text(quantised_conv(size=4, channels=4, filters=4, name="other"))
    session.run(later, "executable-configurations")
    del pool.requested[:]
    checked = checker.check(later, [])
    assert [name for name, _ in pool.requested] == requested
    if not requested:
        (fits,) = checked
        assert fits.finding is None and 0 < fits.footprint.total.value <= 65536
        assert fits.footprint.total.how_known == "predicted"


TWICE = """
import sys
from pathlib import Path
from fissile.pipelines.compile.compile_run import CompileRun
from fissile.pipelines.compile.guarded_compile import GuardedCompile
from fissile.passes.iree.library import initialise_command_line
from fissile.pipelines.repair.loop import RepairLoop
from fissile.pipelines.compile.request import parse_command_line

request, folder = parse_command_line(sys.argv[1:]), Path(sys.argv[-1]).parent
initialise_command_line(list(request.flags))
taken, take = [], RepairLoop.take
RepairLoop.take = lambda self, wanted: taken.append(take(self, wanted)) or taken[-1]
GuardedCompile(CompileRun(request, folder / "taken.vmfb")).run()
RepairLoop.take = lambda self, wanted: None
GuardedCompile(CompileRun(request, folder / "anew.vmfb")).run()
print([one is not None for one in taken])
"""


@pytest.mark.parametrize("target", ["gfx942", "vulkan"])
def test_the_module_that_passed_is_compiled_on_and_makes_the_same_artifact(tmp_path, target):
    (tmp_path / "in.mlir").write_text(quantised_conv(size=28))
    done = subprocess.run(
        [sys.executable, "-c", TWICE, *TARGETS[target], tmp_path / "in.mlir", "-o", tmp_path / "a.vmfb"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.strip() == "[True]", done.stderr
    assert (tmp_path / "taken.vmfb").read_bytes() == (tmp_path / "anew.vmfb").read_bytes()
