"""A module in which a value is used before it is made is not valid: FIS001 alone, from every command that reads it."""

import json

import pytest
from built import CPU

import fissile
from fissile.cli.main import main

USED_BEFORE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.addf %x, %s : tensor<4xf32>
  %s = arith.addf %x, %x : tensor<4xf32>
  return %a : tensor<4xf32>
}
"""
OF_TORCH = """
func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %a = torch.aten.relu %s : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %s = torch.aten.abs %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %a : !torch.vtensor<[4],f32>
}
"""


@pytest.mark.parametrize("text", [USED_BEFORE, OF_TORCH], ids=["arith", "torch"])
def test_it_is_no_failure_of_fissiles(text, tmp_path):
    report = fissile.compile(text, target="llvm-cpu", check=False)
    assert [finding.code for finding in report.findings] == ["FIS001"]
    assert "does not dominate this use" in report.errors[0].message


def test_reduce_reports_it(tmp_path, capsys):
    source, reduced = tmp_path / "in.mlir", tmp_path / "r.mlir"
    source.write_text(USED_BEFORE)
    assert main(["reduce", *CPU, str(source), "-o", str(reduced), "--format=json"]) == 1
    assert [finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]] == ["FIS001"]
    assert not reduced.exists()
