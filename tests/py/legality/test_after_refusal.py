"""`fissile compile` and `fissile check` name the ops to blame where IREE refuses a program, and audit nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import legality_programs as programs_of
import pytest
from programs import run_program

from fissile.finding import Finding, Severity
from fissile.pipelines.audit import after_refusal
from fissile.report import Report

CPU = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
REFUSED = Finding("FIS001", "IREE stops before phase input: x", Severity.ERROR, stock="x")
BLAMED = Finding("FIS407", "torch.aten.x is not lowered", subject="torch.aten.x")


def findings_of(tmp_path, text, *words):
    file = tmp_path / "model.mlir"
    file.write_text(text)
    done = run_program(
        ["fissile", words[0], file, *words[1:], "--format=json"], capture_output=True, text=True
    )
    return done.returncode, [f for f in json.loads(done.stdout)["findings"] if f["severity"] != "note"]


@pytest.mark.parametrize("words", [("compile", *CPU), ("check", "--target=llvm-cpu", "--target=gfx942")])
def test_the_ops_stand_in_the_place_of_the_refusal(tmp_path, words):
    output = [f"-o={tmp_path / 'out.vmfb'}"] if words[0] == "compile" else []
    status, [finding] = findings_of(tmp_path, programs_of.NO_SUCH, *words, *output)
    assert (status, finding["code"], finding["places"][0]["line"]) == (1, "FIS421", 8)
    assert finding["subject"] == "aten.no_such" and finding["stock"]


def words(command, tmp_path):
    output = [f"-o={tmp_path / 'out.vmfb'}"] if command == "compile" else []
    return [command, "--target=llvm-cpu", *output]


@pytest.mark.parametrize("command", ["check", "compile"])
def test_an_unknown_op_is_refused_as_it_is_parsed_and_nothing_crashes(tmp_path, command):
    status, [finding] = findings_of(tmp_path, programs_of.UNKNOWN, *words(command, tmp_path))
    assert (status, finding["code"], finding["subject"]) == (1, "FIS406", "foo.bar")


@pytest.mark.parametrize("command", ["check", "compile"])
def test_what_does_not_parse_is_one_finding(tmp_path, command):
    status, [finding] = findings_of(tmp_path, "func.func @f( {", *words(command, tmp_path))
    assert (status, finding["code"]) == (1, "FIS001")


@pytest.mark.parametrize(
    "report",
    [
        Report("compile"),
        Report("compile", (replace(REFUSED, severity=Severity.WARNING),)),
        Report("compile", (Finding("FIS101", "too large", subject="dispatch"),)),
        Report("compile", (replace(REFUSED, subject="dispatch"),)),
    ],
)
def test_nothing_is_audited_where_iree_does_not_refuse_the_whole_program(monkeypatch, report):
    monkeypatch.setattr(after_refusal, "run_audit", lambda *_words, **_options: pytest.fail("audited"))
    assert after_refusal.explained(report, "model.mlir", [("", CPU)]) is report


def test_a_refusal_for_one_target_is_audited_for_that_one(monkeypatch):
    requested = []
    monkeypatch.setattr(
        after_refusal,
        "run_audit",
        lambda _source, targets, **_options: requested.extend(targets) or Report("audit", (BLAMED,)),
    )
    report = Report("check", (REFUSED.with_(target="gfx942"),))
    reported = after_refusal.explained(report, "model.mlir", [("llvm-cpu", CPU), ("gfx942", ())])
    assert requested == [("gfx942", ())] and [f.code for f in reported.findings] == ["FIS407"]


def test_the_refusal_stays_where_the_audit_blames_nothing(monkeypatch):
    monkeypatch.setattr(after_refusal, "run_audit", lambda *_words, **_options: Report("audit"))
    report = Report("compile", (REFUSED,))
    assert after_refusal.explained(report, "model.mlir", [("", CPU)]).findings == (REFUSED,)


@pytest.mark.parametrize(
    ("command", "ops", "again"), [("compile", 1, False), ("compile", 2, True), ("check", 1, True)]
)
def test_the_one_op_to_blame_is_not_compiled_again(monkeypatch, command, ops, again):
    """`fissile compile` has tried to repair it in the whole program."""
    compiled = []
    monkeypatch.setattr(
        after_refusal, "without_repairable", lambda audited, _limit: compiled.append(1) or audited
    )
    facts = {"audit": [{"rest_compiles": True, "ops": [{}] * ops}]}
    monkeypatch.setattr(
        after_refusal, "run_audit", lambda *_words, **_options: Report("audit", (BLAMED,), facts=facts)
    )
    after_refusal.explained(Report(command, (REFUSED,)), "model.mlir", [("", CPU)])
    assert bool(compiled) is again


def test_an_op_that_has_been_repaired_is_not_blamed(tmp_path):
    text = """func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = stablehlo.cholesky %x, lower = true : tensor<4x4xf32>
  %q = stablehlo.custom_call @Unheard(%c) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %q : tensor<4x4xf32>
}
"""
    status, findings = findings_of(tmp_path, text, *words("compile", tmp_path))
    found = {(one["code"], one["subject"], one["severity"]) for one in findings}
    assert status == 1 and ("FIS421", "stablehlo.cholesky", "repaired") in found
    assert [subject for _code, subject, severity in found if severity == "error"] == ["stablehlo.custom_call"]


GRID = """func.func @f(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4,4],f32> {
  %list = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) -> !torch.list<vtensor>
  %how = torch.constant.str "xy"
  %grids = torch.aten.meshgrid.indexing %list, %how : !torch.list<vtensor>, !torch.str -> !torch.list<vtensor>
  %both:2 = torch.prim.ListUnpack %grids : !torch.list<vtensor> -> !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32>
  %sum = torch.aten.mul.Tensor %both#0, %both#1 : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %r = torch.operator "torch.aten.unheard"(%sum) : (!torch.vtensor<[4,4],f32>) -> !torch.vtensor<[4,4],f32>
  return %r : !torch.vtensor<[4,4],f32>
}
"""


def test_a_repaired_op_whose_list_is_unpacked_is_not_blamed(tmp_path):
    status, findings = findings_of(tmp_path, GRID, *words("compile", tmp_path))
    found = {(one["subject"], one["severity"]) for one in findings}
    assert status == 1 and found == {("aten.meshgrid.indexing", "repaired"), ("aten.unheard", "error")}


def test_an_op_that_has_been_repaired_in_more_places_than_are_shown(tmp_path):
    line = "  %{} = stablehlo.cholesky %{}, lower = true : tensor<4x4xf32>\n"
    body = "".join(line.format(f"c{n + 1}", f"c{n}") for n in range(6))
    text = (
        f"func.func @f(%c0: tensor<4x4xf32>) -> tensor<4x4xf32> {{\n{body}"
        "  %q = stablehlo.custom_call @Unheard(%c6) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
        "  return %q : tensor<4x4xf32>\n}\n"
    )
    status, findings = findings_of(tmp_path, text, *words("compile", tmp_path))
    assert status == 1
    assert [one["subject"] for one in findings if one["severity"] == "error"] == ["stablehlo.custom_call"]


def test_a_use_that_was_taken_out_is_a_use(tmp_path):
    """The audit compiles the grids again after what unpacks them is gone."""
    _status, findings = findings_of(tmp_path, GRID, "audit", "--target=llvm-cpu")
    [grid] = [one for one in findings if one["subject"].endswith("meshgrid.indexing")]
    assert not any("nothing uses its result" in note for note in grid["notes"])
