"""Reports for machines: JSON against the published schema, SARIF 2.1.0, GitHub annotations; and where they go."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import jsonschema
import pytest
from programs import run_program
from small_programs import ADD, TARGETS
from tiled_programs import conv

from fissile.cli.command_line.table import COMMANDS
from fissile.cli.main import main
from fissile.cli.opt import main as opt
from fissile.cli.report_output import ReportOutput, report_output_of
from fissile.errors import UsageError
from fissile.finding import Finding, Help, Ledger, LedgerLine, Limit, Place, Severity
from fissile.pipelines.report.formats import rendered
from fissile.pipelines.report.github import workflow_command
from fissile.pipelines.report.json_schema import REPORT
from fissile.quantity import Bytes, Certainty
from fissile.report import Report
from fissile.rules import RULES
from fissile.shared_options import FORMATS
from fissile.shared_options import REPORT as REPORT_OPTIONS

_TEXT = {"type": "string", "minLength": 1}
_MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": _TEXT}}
_REGION = {
    "type": "object",
    "required": ["startLine"],
    "properties": {
        "startLine": {"type": "integer", "minimum": 1},
        "startColumn": {"type": "integer", "minimum": 1},
    },
    "additionalProperties": False,
}
_LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "message": _MESSAGE,
        "logicalLocations": {"type": "array"},
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": r"^[\w.~/%:+-]+$"}},
                },
                "region": _REGION,
            },
        },
    },
    "additionalProperties": False,
}
_RESULT = {
    "type": "object",
    "required": ["message", "ruleId", "level", "locations"],
    "properties": {
        "ruleId": _TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": _MESSAGE,
        "locations": {"type": "array", "items": _LOCATION},
        "relatedLocations": {"type": "array", "items": _LOCATION, "uniqueItems": True},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}
_RULE = {
    "type": "object",
    "required": ["id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
    "properties": {
        "id": _TEXT,
        "name": _TEXT,
        "shortDescription": _MESSAGE,
        "fullDescription": _MESSAGE,
        "help": _MESSAGE,
        "defaultConfiguration": {
            "type": "object",
            "properties": {"level": {"enum": ["none", "note", "warning", "error"]}},
        },
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {"type": "array", "items": _RULE, "uniqueItems": True}
                                },
                            }
                        },
                    },
                    "invocations": {
                        "type": "array",
                        "items": {"type": "object", "required": ["executionSuccessful"]},
                    },
                    "results": {"type": "array", "items": _RESULT},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                },
            },
        },
    },
    "additionalProperties": False,
}
"""What SARIF 2.1.0 asks of the parts that fissile writes; the standard's own schema was run on the same reports by hand."""

HOSTILE = Finding(
    "FIS101",
    "needs {0} bytes\n::error::forged [click](http://evil) 100%",
    Severity.REPAIRED,
    "main_dispatch_0",
    "gfx942",
    (Place("a b,c:\x1b[31m.mlir", 3, 5, "fused\x07"), Place("/abs/b.mlir", 0, 1, "root")),
    Ledger.of([LedgerLine(Bytes(70000, Certainty.EXACT, "counted"), "%x")]),
    Limit(65536, "workgroup", "table"),
    (Help("kept %x out", "fissile-place-boundaries{ops=0}", True, (("costs", "1 more dispatch"),)),),
    ("a note",),
)
CLEAN = Report("check", facts={"targets": [], "contract": {}})


def sarif_of(text: str) -> dict:
    log = json.loads(text)
    jsonschema.validate(log, SARIF)
    return log["runs"][0]


@pytest.fixture
def program(tmp_path):
    def written(text: str) -> str:
        (tmp_path / "p.mlir").write_text(text)
        return str(tmp_path / "p.mlir")

    return written


# --- the renderers


def test_sarif_has_every_rule_and_places_by_kind():
    run = sarif_of(rendered(Report("compile", (HOSTILE,), "a.vmfb", ("a warning of IREE's",)), "sarif", 0))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(RULES)
    (result,) = run["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "FIS101" and "fixes" not in result
    assert (result["level"], result["properties"]["severity"]) == ("note", "repaired")
    assert result["properties"]["repairs"][0]["pass"] == "fissile-place-boundaries{ops=0}"
    assert result["properties"]["bytes"] == 70000 and result["properties"]["limit"] == 65536
    (place,), (other,) = result["locations"], result["relatedLocations"]
    assert place["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 5}
    assert other["physicalLocation"] == {"artifactLocation": {"uri": "file:///abs/b.mlir"}}, (
        "no line is known"
    )
    (diagnostic,) = run["invocations"][0]["toolExecutionNotifications"]
    assert diagnostic["message"]["text"] == "a warning of IREE's"


def test_the_test_refuses_what_is_no_sarif():
    log = json.loads(rendered(Report("check", (HOSTILE,)), "sarif", 0))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, SARIF)


def test_a_program_can_neither_forge_a_line_nor_a_link():
    result = sarif_of(rendered(Report("check", (HOSTILE,)), "sarif", 0))["results"][0]
    text = result["message"]["text"]
    assert "{{0}}" in text and "](" not in text and len(text.splitlines()) == 2, "headline, stock"
    assert not any(c in json.dumps(result) for c in ("\\u001b", "\\u0007"))
    (line,) = rendered(Report("check", (HOSTILE,)), "github", 0).splitlines()
    assert line.startswith("::notice file=a b%2Cc%3A\\x1b[31m.mlir,line=3,col=5,title=FIS101 ")
    assert "forged" in line and "100%25" in line and line.count("%0A") == 3, "stock, done, note"


@pytest.mark.parametrize(
    "severity, level",
    [
        (Severity.ERROR, "error"),
        (Severity.WARNING, "warning"),
        (Severity.NOTE, "notice"),
        (Severity.REPAIRED, "notice"),
    ],
)
def test_an_annotation_has_the_level_of_its_finding(severity, level):
    line = workflow_command(Finding("FIS101", "does not fit", severity, places=(Place("m.mlir", 0),)))
    assert re.match(rf"::{level} title=FIS101 [\w-]+::", line), "without a line there is no place to annotate"


def test_a_clean_report_annotates_nothing_and_is_a_run_without_results():
    assert rendered(CLEAN, "github", 0) == ""
    assert sarif_of(rendered(CLEAN, "sarif", 0))["results"] == []
    jsonschema.validate(json.loads(rendered(CLEAN, "json", 0)), REPORT)


# --- the commands


def test_check_writes_every_format_of_the_same_findings(program, capsys):
    words = ["check", program(conv(channels=64, filters=64, size=56, consumer="i8")), "--target", "gfx942"]
    printed = {}
    for form in ("json", "sarif", "github"):
        assert main([*words, "--probe=never", f"--format={form}"]) == 1
        printed[form] = capsys.readouterr().out
    report = json.loads(printed["json"])
    jsonschema.validate(report, REPORT)
    codes = [finding["code"] for finding in report["findings"]]
    results = sarif_of(printed["sarif"])["results"]
    assert "FIS101" in codes and [result["ruleId"] for result in results] == codes
    assert re.findall(r"title=(FIS\d+)", printed["github"]) == codes
    place = report["findings"][0]["places"][0]
    assert results[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == place["line"]
    assert results[0]["relatedLocations"], "the root of the dispatch"
    assert f"line={place['line']},col={place['column']}," in printed["github"]


@pytest.mark.parametrize("command", ["compile", "reduce"])
def test_a_report_is_all_of_standard_output_or_in_the_file(program, tmp_path, capsys, command):
    source, file = program("func.func @main() { %x = not.an_op }"), tmp_path / "report.sarif"
    words = [command, *TARGETS["llvm-cpu"], source, "-o", str(tmp_path / "a.vmfb")]
    assert main([*words, "--format=json"]) == 1
    out, err = capsys.readouterr()
    report = json.loads(out)
    jsonschema.validate(report, REPORT)
    assert (report["command"], report["exit_code"], err) == (command, 1, "")
    assert main([*words, "--format=sarif", f"--report-file={file}"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and f"error[{report['findings'][0]['code']}]" in err
    assert sarif_of(file.read_text())["results"][0]["ruleId"] == report["findings"][0]["code"]


def test_verify_writes_its_certificate(program, capsys):
    source = program(ADD)
    assert main(["verify", source, source, "--on=local-task", "--format=json"]) == 0
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, REPORT)
    assert report["facts"]["certificate"]["agrees"] and report["findings"] == []


def test_a_pass_runs_and_reports_apart_from_its_result(program, tmp_path, capsys):
    file = tmp_path / "report.json"
    assert (
        opt([program("func.func @main() { %x = not.an_op }"), "--format=json", f"--report-file={file}"]) == 1
    )
    out, err = capsys.readouterr()
    report = json.loads(file.read_text())
    jsonschema.validate(report, REPORT)
    assert (report["command"], out) == ("fissile-opt", "") and report["findings"][0]["code"] in err
    assert opt([program(ADD), "--format=json"]) == 2
    assert "both go to standard output" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compile", "reduce"])
def test_a_report_is_not_mixed_with_a_module(program, tmp_path, capsys, command):
    source = program(ADD)
    assert main([command, *TARGETS["llvm-cpu"], source, "-o", "-", "--format=sarif"]) == 2
    assert "both go to standard output" in capsys.readouterr().err
    file = f"--report-file={tmp_path / 'no' / 'report.json'}"
    assert main([command, *TARGETS["llvm-cpu"], source, "-o", str(tmp_path / "a"), file]) == 2
    assert "cannot write --report-file" in capsys.readouterr().err and not (tmp_path / "a").exists()


def test_a_command_whose_child_crashed_still_knows_where_the_report_goes(tmp_path):
    file = str(tmp_path / "r.sarif")
    assert report_output_of(
        ["verify", "a.mlir", "--format=sarif", f"--report-file={file}", "--iree-x=1"]
    ) == (ReportOutput("sarif", file))
    assert report_output_of(["verify", "a.mlir", "--format=unknown"]) == ReportOutput()
    with pytest.raises(UsageError, match="standard output"):
        ReportOutput("json", "-")


def test_a_crash_of_the_compiler_is_a_result_too(tmp_path):
    (tmp_path / "add.mlir").write_text(ADD)
    crashing = "--pass-pipeline=builtin.module(func.func(iree-codegen-linalg-to-spirv-pipeline))"
    done = run_program(
        [
            Path(sys.executable).with_name("fissile-opt"),
            "add.mlir",
            crashing,
            "--format=sarif",
            "--report-file=r.sarif",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1 and "error[FIS107]" in done.stderr and done.stdout == ""
    (result,) = sarif_of((tmp_path / "r.sarif").read_text())["results"]
    assert (result["ruleId"], result["locations"]) == ("FIS107", [])


def test_the_schema_is_published_and_refuses_what_is_no_report(capsys):
    assert main(["explain", "--json-schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    report = json.loads(rendered(Report("compile", (HOSTILE,)), "json", 0))
    jsonschema.validate(report, schema)
    for wrong in ({"schema": 0}, {"command": "bake"}, {"more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(report | wrong, schema)


@pytest.mark.parametrize("form", FORMATS[1:])
def test_every_format_that_the_parser_takes_has_a_renderer(form):
    assert "FIS101" in rendered(Report("compile", (HOSTILE,)), form, 0)


REPORTING = [name for name, command in COMMANDS.items() if REPORT_OPTIONS[0] in command.all_options]
"""The commands with all formats; fissile-opt has a test of its own above."""


def test_every_command_that_reports_is_in_the_schema_and_the_docs():
    commands = {one["properties"]["command"]["const"] for one in REPORT["oneOf"]}
    assert commands == {*REPORTING, "fissile-opt"}
    docs = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()
    (row,) = [line for line in docs.splitlines() if line.startswith("| `command`")]
    assert all(f"`{command}`" in row for command in commands)


@pytest.mark.parametrize("command", REPORTING)
@pytest.mark.parametrize("model", ["m.mlir", "m.onnx", "broken.onnx"])
def test_what_each_command_reports_of_each_kind_of_input_follows_the_schema(command, model, tmp_path, capsys):
    (tmp_path / "m.mlir").write_text("func.func @main() { %x = not.an_op }")
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07\x12" + bytes(range(200, 256)))
    onnx_relu(tmp_path / "m.onnx")
    words = [command, str(tmp_path / model), "--format=json"]
    words += [] if command == "verify" else ["--target=llvm-cpu"]
    words += [f"--output={tmp_path}/out"] if command in ("compile", "reduce") else []
    status = main(words)
    printed = capsys.readouterr().out
    if (command, model) in (("reduce", "m.onnx"), ("verify", "m.mlir")):
        assert (status, printed) == (2, ""), "nothing fails in the model; IREE parses no such program"
        return
    report = json.loads(printed)
    jsonschema.validate(report, REPORT)
    assert (report["command"], report["exit_code"]) == (command, status)
    assert status == (0 if model == "m.onnx" else 1), report["findings"]


def onnx_relu(file: Path) -> None:
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), file)
