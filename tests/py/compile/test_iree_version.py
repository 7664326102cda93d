"""What changes where another version of IREE is installed than the calibrated one."""

from __future__ import annotations

import pytest

from fissile.passes.analysis.memory import predict as prediction
from fissile.passes.analysis.memory.tiles import ConfiguredDispatch
from fissile.passes.checks.refusals.iree_version import check_version
from fissile.passes.iree import version


@pytest.fixture
def another(monkeypatch):
    monkeypatch.setattr(version, "installed", lambda: "3.99.0")


def dispatch() -> ConfiguredDispatch:
    return ConfiguredDispatch("d", "rocm", "Distribute", {}, (64, 1, 1), 64, 65536, (), (), {})


def test_the_calibrated_version_has_no_doubt_and_no_finding(monkeypatch):
    monkeypatch.setattr(version, "installed", lambda: f"{version.CALIBRATED}.7rc20260101")
    assert version.is_calibrated() and version.doubt() == "" and check_version() == []
    assert "calibrated on" not in " ".join(prediction.predict(dispatch()).doubts)


def test_on_another_version_every_prediction_carries_a_doubt(another):
    assert "3.99.0" in prediction.predict(dispatch()).doubts[-1]
    [finding] = check_version()
    assert finding.code == "FIS010" and finding.severity.value == "warning" and "3.99.0" in finding.message


def test_check_generates_code_and_warns_once(another, tmp_path):
    from fissile.pipelines.check.entry import check
    from fissile.target import find_target

    source = tmp_path / "add.mlir"
    source.write_text(
        "func.func @f(%a: tensor<64xf32>) -> tensor<64xf32> {\n"
        "  %0 = arith.addf %a, %a : tensor<64xf32>\n  return %0 : tensor<64xf32>\n}\n"
    )
    report = check(source, [find_target("gfx942")])
    assert [f.code for f in report.findings] == ["FIS010"]
    [target] = report.facts["targets"]
    assert target["dispatches"] and all(d["code_generated"] for d in target["dispatches"])
