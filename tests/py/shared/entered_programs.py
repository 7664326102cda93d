"""Programs of a front end that stock IREE refuses: compiled as they are, run, and read once they are rewritten."""

from __future__ import annotations

import json

import built

from fissile.cli.main import main
from fissile.pipelines.compile.hooks import front_end
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_source
from fissile.pipelines.session import Session


def filled(text, **words):
    for word, value in words.items():
        text = text.replace(word, str(value))
    return text


def written(tmp_path, text):
    """Writes a program that fissile is to compile, and whose functions `all_computed` runs as they are declared."""
    for file in ("main.mlir", "entered.mlir"):
        (tmp_path / file).write_text(text)


def compiled(tmp_path, text, *words):
    """The exit status and the findings of `fissile compile`."""
    source, report = tmp_path / "main.mlir", tmp_path / "report.json"
    source.write_text(text)
    status = main(
        [
            "compile", str(source), *built.CPU, "-o", str(tmp_path / "out.vmfb"),
            "--format=json", f"--report-file={report}", *words,
        ]
    )  # fmt: skip
    return status, json.loads(report.read_text())["findings"]


def computed(tmp_path, *inputs):
    return all_computed(tmp_path, *inputs)[0]


def all_computed(tmp_path, *inputs, device="local-task"):
    [runtime] = runtimes.named([device])
    signature = signatures_of_source(tmp_path / "entered.mlir")["main"]
    answer = runtimes.run(tmp_path / "out.vmfb", signature, list(inputs), runtime)
    assert isinstance(answer, list), answer
    return answer


def entered(tmp_path, text, op, remedy, beside=()):
    """Compiles ``text``, of which one op is to be reported as repaired; ``beside``: codes of other findings."""
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0, findings
    findings = [one for one in findings if one["code"] not in beside]
    # What IREE frees too early, or misplaces, in a loop that is written is repaired beside it; so is a sine.
    assert {one["severity"] for one in findings} == {"repaired"}, findings
    [finding] = [
        one for one in findings if one["code"] not in ("FIS198", "FIS214", "FIS302", "FIS303", "FIS306")
    ]
    assert (finding["code"], finding["severity"], finding["subject"]) == ("FIS421", "repaired", op)
    assert remedy in [one["remedy"] for one in finding["helps"]] and finding["stock"]
    assert finding["places"][0]["file"] == str(tmp_path / "main.mlir")
    session = Session(built.CPU)
    module = session.parse_text(text)
    front_end.rewritten(module, "")
    (tmp_path / "entered.mlir").write_text(module.text())
