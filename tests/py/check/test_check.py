"""`fissile check` and `fissile targets`: findings, formats, baselines, bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from programs import run_program
from small_programs import ADD
from tiled_programs import conv, dynamic_channels, matmul

from fissile.cli.main import main
from fissile.errors import UsageError
from fissile.finding import Severity
from fissile.pipelines.check.entry import check
from fissile.pipelines.report.json_schema import CHECK_REPORT

CRASHING = Path(__file__).parents[1] / "shared" / "crashing"
"""A folder with a sitecustomize that makes the worker's first use of IREE's session fail."""

OVER = conv(channels=64, filters=64, size=56, consumer="i8")
"""The seed pattern: 910336 bytes on gfx942, 28160 on default Vulkan, nothing to speak of on CUDA and CPU."""


@pytest.fixture
def program(tmp_path):
    def written(text: str, name: str = "p.mlir"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return written


def found(report, code: str) -> list:
    return [finding for finding in report.findings if finding.code == code]


def test_many_targets_one_verdict_each(program):
    report = check(program(OVER), ["gfx942", "sm_80", "vulkan", "llvm-cpu"])
    over = {finding.target: finding for finding in found(report, "FIS101")}
    assert sorted(over) == ["gfx942", "vulkan"] and report.exit_code == 1
    assert over["gfx942"].ledger.total.value == 910336 and over["vulkan"].ledger.total.value == 28160
    assert over["gfx942"].ledger.total.certainty.value == "exact"
    fits = {
        target["name"]: [row["fits"] for row in target["dispatches"]] for target in report.facts["targets"]
    }
    assert fits == {"gfx942": [False], "sm_80": [True], "vulkan": [False], "llvm-cpu": [True]}


def test_the_tensor_to_blame_comes_first_and_says_that_no_tile_helps(program):
    (finding,) = found(check(program(OVER), ["gfx942"]), "FIS101")
    assert finding.ledger.lines[0].value == "%xd 64x58x58xf32"
    assert finding.ledger.lines[0].reason == "whole tensor, no tile reaches it"
    assert "fused into the dispatch" in finding.places[0].label and "root" in finding.places[1].label
    assert any("861184 bytes remain" in note for note in finding.notes)


def test_a_healthy_program_is_silent(program):
    report = check(program(matmul(dequantise=False)), ["gfx942", "gfx1100", "sm_80", "llvm-cpu"])
    assert report.findings == () and report.exit_code == 0


def test_never_probing_predicts_the_same(program):
    path = program(OVER)
    reported = [check(path, ["gfx942", "vulkan"], probe=mode) for mode in ("never", "auto")]
    for one in reported:
        assert [f.ledger.total.value for f in found(one, "FIS101")] == [910336, 28160]
    certainty = [
        {row["certainty"] for t in one.facts["targets"] for row in t["dispatches"]} for one in reported
    ]
    assert certainty == [{"predicted"}, {"exact"}]


def test_a_budget_is_a_hypothetical_device(program):
    path = program(matmul())
    assert check(path, ["gfx942"]).findings == ()
    (finding,) = found(check(path, ["gfx942"], budget=1024), "FIS101")
    assert finding.limit.bytes == 1024 and finding.limit.source == "--budget"


def test_disagreeing_limits_are_told_and_agreeing_ones_are_not(program):
    path = program(ADD)
    (finding,) = found(check(path, ["sm_86", "sm_80", "gfx942"]), "FIS120")
    assert finding.target == "sm_86" and finding.severity is Severity.NOTE
    assert "166912" in finding.message and "101376" in finding.message


def test_what_only_irees_figure_allows_is_an_error_and_the_disagreement_a_warning(program):
    """Ampere over Vulkan: IREE allows 166912 bytes, NVIDIA's drivers 49152; this dispatch needs 76 KB."""
    report = check(program(conv(channels=64, filters=64, size=56, layout="nhwc")), ["vulkan:ampere"])
    (over,) = found(report, "FIS101")
    assert 49152 < over.ledger.total.value < 166912 and over.limit.bytes == 49152
    (limits,) = found(report, "FIS120")
    assert limits.severity is Severity.WARNING and "would pass IREE's check" in limits.notes[1]


def test_a_dynamic_size_says_for_which_sizes_it_fits(program):
    report = check(program(dynamic_channels()), ["vulkan", "gfx942"])
    (finding,) = found(report, "FIS105")
    assert finding.target == "vulkan" and "* n" in finding.message and "fits for n" in finding.notes[0]
    row = report.facts["targets"][0]["dispatches"][0]
    (largest,) = row["largest"].values()
    assert row["bytes"] is None and row["fits"] is None and largest > 0


def test_a_stated_bound_decides(program):
    assert not found(check(program(dynamic_channels(bound=16)), ["vulkan"]), "FIS105")
    (finding,) = found(check(program(dynamic_channels(bound=1000)), ["vulkan"]), "FIS101")
    assert finding.ledger.total.value > 16384


@pytest.mark.parametrize(
    "text, targets",
    [(OVER, ["gfx942", "sm_86", "vulkan", "llvm-cpu"]), (ADD, ["gfx942"]), (dynamic_channels(), ["vulkan"])],
)
def test_json_follows_its_schema(program, capsys, text, targets):
    words = ["check", program(text), "--format", "json"]
    for target in targets:
        words += ["--target", target]
    status = main(words)
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, CHECK_REPORT)
    assert data["exit_code"] == status
    for target in data["facts"]["targets"]:
        for row in target["dispatches"]:
            if row["bytes"] is not None:
                assert sum(b["bytes"] for b in row["buffers"]) == row["bytes"]


def test_the_schema_refuses_what_is_no_report():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"command": "check"}, CHECK_REPORT)


def test_text_names_bytes_blame_and_limit(program, capsys):
    assert main(["check", program(OVER), "--target", "gfx942", "--verbose"]) == 1
    text = capsys.readouterr().out
    for part in (
        "error[FIS101] dispatch needs 910336 bytes of workgroup memory; gfx942 has 65536",
        "%xd 64x58x58xf32",
        "94.6%",
        "LLVM AMDGPU backend",
        "0 of 1 dispatch fit",
        "no tile makes it smaller",
        "fissile: 1 error",
    ):
        assert part in text


def test_a_baseline_fails_when_a_dispatch_grows(program, tmp_path, capsys):
    path, recorded = program(matmul()), str(tmp_path / "bytes.json")
    words = ["check", path, "--target", "gfx942", "--baseline", recorded]
    assert main([*words, "--update-baseline"]) == 0
    assert main(words) == 0
    data = json.loads((tmp_path / "bytes.json").read_text())
    for counts in data["bytes"]["gfx942"].values():
        counts[:] = [max(0, count - 1) for count in counts]
    (tmp_path / "bytes.json").write_text(json.dumps(data))
    capsys.readouterr()
    assert main(words) == 1
    assert "error[FIS150] dispatch grew from" in capsys.readouterr().out


EXECUTABLES = """\
hal.executable private @e {
}
func.func @main() { return }
"""


@pytest.mark.parametrize(
    "words, reported",
    [
        (["--target", "gfx943"], "gfx942"),
        ([], "no target"),
        (["--target", "gfx942", "--budget", "lots"], "not a number of bytes"),
        (["--target", "gfx942", "--budget", "-1"], "not a number of bytes"),
        (["--target", "gfx942", "--baseline", "/nowhere/b.json"], "cannot read the baseline"),
        (["--target", "gfx942", "--update-baseline"], "needs a file"),
        (["--target", "gfx942", "--iree-flags=--iree-no-such-flag"], "iree-no-such-flag"),
        (
            ["--target", "gfx942", "--dispatch-timeout", "-1"],
            "'--dispatch-timeout' takes a number of seconds",
        ),
    ],
)
def test_bad_arguments(program, capsys, words, reported):
    assert main(["check", program(ADD), *words]) == 2
    err = capsys.readouterr().err
    assert reported in err and "Traceback" not in err and len(err.strip().splitlines()) <= 2


@pytest.mark.parametrize("command", ["check", "audit"])
@pytest.mark.parametrize(
    "flags, status, reported",
    [
        ("--iree-stream-partitioning-favor=max-concurrency", 0, ""),  # read once per process
        ("--iree-stream-partitioning-favor max-concurrency --iree-opt-level O1", 0, ""),
        ("--iree-stream-partitioning-favor=all", 2, "option named 'all'"),
        ("--iree-no-such-flag", 2, "unknown flag '--iree-no-such-flag'"),
        ("--iree-opt-level=O7", 2, "iree-opt-level=O7"),
        ("word", 2, "unknown flag 'word'"),
        ("--help", 2, "'--help' is an option of iree-compile itself"),
        ("--compile-to=flow", 2, "'--compile-to=flow' is an option of iree-compile itself"),
    ],
)
def test_flags_of_iree(program, command, flags, status, reported):
    words = ["fissile", command, program(ADD), "--target=llvm-cpu", f"--iree-flags={flags}"]
    done = run_program(words, capture_output=True, text=True)
    assert done.returncode == status and reported in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2


def test_a_foreign_baseline_is_refused(program, tmp_path, capsys):
    recorded = str(tmp_path / "bytes.json")
    words = ["--target", "gfx942", "--baseline", recorded]
    assert main(["check", program(ADD), *words, "--update-baseline"]) == 0
    assert main(["check", program(matmul(), "other.mlir"), *words]) == 2
    assert "another model" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, code",
    [
        ("not mlir", "FIS001"),
        ("module {\n}\n", "FIS003"),
        ("func.func @f(%a: tensor<4xf32>) -> tensor<5xf32> { return %a : tensor<4xf32> }", "FIS001"),
    ],
)
def test_bad_programs_are_findings(program, text, code):
    report = check(program(text), ["gfx942", "vulkan"])
    assert [finding.code for finding in report.findings] == [code] and report.exit_code == 1


def test_a_missing_file_and_a_module_with_executables(program, tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        check(tmp_path / "none.mlir", ["gfx942"])
    with pytest.raises(UsageError, match="already contains executables"):
        check(program(EXECUTABLES), ["gfx942"])


def test_targets_are_listed_with_their_sources(capsys):
    assert main(["targets"]) == 0
    text = capsys.readouterr().out
    assert "101376 by NVIDIA" in text and "vulkan:ampere" in text and "queried on use" in text
    assert main(["targets", "sm_86", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["limit"] == 101376 and [c["bytes"] for c in row["claims"]] == [166912, 101376]
    assert main(["targets", "sm_1"]) == 2


def test_the_same_findings_every_time(program):
    """Two processes, so that nothing is remembered: the same text, timings aside."""
    path = program(OVER)
    words = [
        sys.executable,
        "-m",
        "fissile.cli.main",
        "check",
        path,
        "--target",
        "vulkan",
        "--target",
        "gfx942",
    ]
    texts = [
        subprocess.run(words, capture_output=True, text=True, timeout=300, check=False).stdout
        for _ in range(2)
    ]
    assert texts[0] == texts[1] != ""


def test_a_crash_of_the_compiler_is_a_finding(monkeypatch, program, capsys):
    monkeypatch.setenv("PYTHONPATH", str(CRASHING))
    assert main(["check", program(ADD), "--target", "gfx942"]) == 1
    text = capsys.readouterr().out
    assert "error[FIS107] the compiler crashed (SIGABRT)" in text and "iree-compile" in text


def test_an_exception_in_the_worker_is_one_line_with_a_reproducer(monkeypatch, program, capsys):
    monkeypatch.setenv("PYTHONPATH", str(CRASHING))
    monkeypatch.setenv("CRASHING_HOW", "raise")
    assert main(["check", program(ADD), "--target", "gfx942"]) == 1
    reported = capsys.readouterr()
    assert (
        "error[FIS903] the program could not be checked: RuntimeError: on purpose" in reported.out
        and "fissile check --strict" in reported.out
    )
    assert main(["check", program(ADD), "--target", "gfx942", "--strict"]) == 3
    err = capsys.readouterr().err
    assert (
        "RuntimeError: on purpose" in err and "fissile check" in err and "Traceback" not in err + reported.out
    )


def test_the_callers_contract_is_listed(tmp_path):
    """A size that may exceed its capacity: reported, and listed as what the function requires of its callers."""
    source = tmp_path / "in.mlir"
    source.write_text("""\
func.func @put(%y: tensor<?xf32>, %f: tensor<10xf32>) -> tensor<10xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %r = tensor.insert_slice %y into %f[0][%m][1] : tensor<?xf32> into tensor<10xf32>
  return %r : tensor<10xf32>
}
""")
    report = check(source, ["llvm-cpu"])
    assert {f.code for f in report.findings} == {"FIS202"}
    assert any("10" in condition for condition in report.facts["contract"]["put"])
    from fissile.pipelines.report.footprint_text import render_check

    assert "put asks of its callers:" in render_check(report)
    (tmp_path / "add.mlir").write_text(ADD)
    assert not any(check(tmp_path / "add.mlir", ["llvm-cpu"]).facts["contract"].values())
