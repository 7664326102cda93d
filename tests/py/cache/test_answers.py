"""Answers of earlier runs: the same report and the same module, with no worker; and what no answer is kept of."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from programs import run_program

import fissile
from examples.programs import QuantisedConv
from fissile.finding import Finding, Severity
from fissile.passes.failures.failure import Ending
from fissile.pipelines.cache import endless, store
from fissile.pipelines.cache.reports import NOT_KEPT, KeptCheck, KeptCompile
from fissile.pipelines.check import check_worker
from fissile.pipelines.compile.request import CompileRequest, parse_command_line
from fissile.pipelines.probe import probe_pool
from fissile.pipelines.process import supervisor
from fissile.report import Report

GFX942 = ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")
REPAIRED = Finding("FIS101", "too large", Severity.REPAIRED)


@pytest.fixture(autouse=True)
def answers(tmp_path, monkeypatch):
    monkeypatch.setenv(store.VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def source(tmp_path) -> Path:
    file = tmp_path / "model.mlir"
    file.write_text("module {}")
    return file


def kept(request: CompileRequest, tmp_path: Path) -> KeptCompile:
    return KeptCompile(request, None, tmp_path / "made")


def requested(source: Path, *words: str) -> CompileRequest:
    return parse_command_line([str(source), "-o", "out.vmfb", *GFX942, *words])


@pytest.fixture
def remembers(tmp_path, source):
    """Whether a repaired compile of one request is recalled for another one."""

    def remembers(first: CompileRequest, second: CompileRequest | None = None, *findings: Finding) -> bool:
        (tmp_path / "made").write_bytes(b"module")
        kept(first, tmp_path).keep(Report("compile", findings or (REPAIRED,), first.output))
        (tmp_path / "made").unlink()
        found = kept(second or first, tmp_path).recall()
        if found is None:
            return False
        assert found.output == (second or first).output and (tmp_path / "made").read_bytes() == b"module"
        assert found.findings == (findings or (REPAIRED,))
        return True

    return remembers


def test_a_repair_is_recalled_wherever_the_output_goes(remembers, source):
    assert remembers(requested(source))
    assert remembers(requested(source), replace(requested(source), output="other.vmfb", format="json"))


@pytest.mark.parametrize(
    "word", ["--repair=suggest", "--guard=off", "--iree-opt-level=O3", "--dispatch-timeout=5"]
)
def test_another_option_is_another_question(remembers, source, word):
    assert not remembers(requested(source), requested(source, word))


def test_another_content_is_another_question(remembers, source):
    first = requested(source)
    assert remembers(first)
    source.write_text("module {} // changed")
    assert kept(first, source.parent).recall() is None


def test_a_file_that_a_flag_names_is_part_of_the_question(remembers, source, tmp_path):
    spec = tmp_path / "spec.mlir"
    spec.write_text("a")
    first = requested(source, f"--iree-codegen-tuning-spec-path={spec}")
    assert remembers(first)
    spec.write_text("another")
    assert kept(first, tmp_path).recall() is None


@pytest.mark.parametrize(
    "word",
    [
        "--no-cache",
        "--verify",
        "--tune",
        "--match-device=vulkan",
        "--emit-mlir=x.mlir",
        "--strict",
        "--time-limit=5",
        "--iree-hal-preprocess-executables-with=tool",
        "--mlir-print-ir-after-all",
    ],
)
def test_what_depends_on_more_than_the_question_is_not_kept(remembers, source, word):
    assert not remembers(requested(source, word))


@pytest.mark.parametrize("code", NOT_KEPT)
def test_what_fissile_failed_at_is_not_kept(remembers, source, code):
    assert not remembers(requested(source), None, REPAIRED, Finding(code, "failed", Severity.WARNING))


def test_a_healthy_program_is_not_kept(source, tmp_path):
    (tmp_path / "made").write_bytes(b"module")
    one = kept(requested(source), tmp_path)
    one.keep(Report("compile", (), "out.vmfb"))
    assert store.totals() == (0, 0) and one.recall() is None


def test_a_module_that_is_gone_is_no_answer(remembers, source, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MOST_ENTRY", 0)
    assert not remembers(requested(source))


def no_worker(*_args, **_options):
    raise AssertionError("a worker was started")


def test_a_repaired_program_is_not_compiled_twice(tmp_path, monkeypatch):
    """The program of README, from the command's own side: the second run starts no process."""
    source, first, second = tmp_path / "conv.mlir", tmp_path / "first.vmfb", tmp_path / "second.vmfb"
    source.write_text(QuantisedConv(56).text)
    request = parse_command_line([str(source), "-o", str(first), *GFX942])
    report = supervisor.run_compile(request)
    assert [f.code for f in report.findings] == ["FIS101"] and report.repaired
    monkeypatch.setattr(supervisor, "run_job", no_worker)
    again = supervisor.run_compile(replace(request, output=str(second)))
    assert again.findings == report.findings and again.output == str(second)
    assert first.read_bytes() == second.read_bytes()
    with pytest.raises(AssertionError, match="a worker"):
        supervisor.run_compile(replace(request, output=str(second), no_cache=True))


BROKEN = "func.func @main() {"


def test_a_refused_program_in_memory_is_not_compiled_twice(monkeypatch):
    from fissile.pipelines.compile import entry

    monkeypatch.setattr(entry, "run_compile", supervisor.run_compile)
    first = fissile.compile(BROKEN, target="gfx942", check=False)
    monkeypatch.setattr(supervisor, "run_job", no_worker)
    second = fissile.compile(BROKEN, target="gfx942", check=False)  # its file has another name
    assert first.errors and second.findings == first.findings
    with pytest.raises(AssertionError, match="a worker"):
        fissile.compile(BROKEN, target="gfx942", check=False, flags=["--no-cache"])


def test_a_check_is_not_made_twice(tmp_path, monkeypatch):
    source = tmp_path / "add.mlir"
    source.write_text(
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = arith.addf %a, %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    first = check_worker.run_check(str(source), ["gfx942"])
    monkeypatch.setattr(check_worker, "run_job", no_worker)
    assert check_worker.run_check(str(source), ["gfx942"]).to_json() == first.to_json()
    for other in (
        {"targets": ["vulkan"]},
        {"budget": 64},
        {"no_cache": True},
        {"flags": ["--iree-opt-level=O3"]},
    ):
        words = {"targets": ["gfx942"], **other}
        with pytest.raises(AssertionError, match="a worker"):
            check_worker.run_check(str(source), **words)


def test_a_check_of_a_device_is_made_each_time(source):
    one = KeptCheck(str(source), str(source), ["vulkan:device"], {}, False)
    one.keep(Report("check", ()))
    assert one.recall() is None


class NeverAnswers:
    """A probe server whose dispatch does not end."""

    started = 0

    def __init__(self, _module):
        NeverAnswers.started += 1

    def send(self, _message):
        pass

    def request(self, _message, _seconds):
        return None

    def end(self):
        pass


def test_a_dispatch_that_did_not_end_is_not_waited_for_again(monkeypatch):
    monkeypatch.setattr(probe_pool, "Server", NeverAnswers)
    monkeypatch.setattr(NeverAnswers, "started", 0)
    for _run in range(2):
        known = endless.known_endless(GFX942, 30.0)
        with probe_pool.ProbePool(GFX942, 30.0, endless=known) as pool:
            result = pool._run({"text": ""}, "fingerprint")
        assert result.ended is Ending.TIMED_OUT and "30 seconds" in result.probed.failure.message
    assert NeverAnswers.started == 1
    assert endless.known_endless(GFX942, 5.0) == ("fingerprint",)
    assert endless.known_endless(GFX942, 60.0) == ()  # it may end in a minute
    assert endless.known_endless(GFX942, 0.0) == ()  # no limit was set
    assert endless.known_endless((*GFX942, "--iree-opt-level=O3"), 30.0) == ()


def test_the_command_tells_and_clears(tmp_path):
    store.keep("a", 1)
    environment = {**os.environ}

    def run(*words):
        return run_program(
            ["fissile", "cache", *words], capture_output=True, text=True, env=environment
        ).stdout

    assert run("--path").strip() == str(store.file())
    assert "1 answer, " in run()
    assert "0 answers, " in run("--clear") and not store.file().exists()
    environment[store.VARIABLE] = "off"
    assert "no answers are kept" in run()
