"""`fissile reduce` on a program that IREE refuses before there is code to generate: findings and status 1, as the manual has it."""

import json

from built import CPU

from fissile.cli.main import main

INDICES = """
func.func @main(%x: tensor<4xindex>, %n: index) -> tensor<4xi64> {
  %t = tensor.from_elements %n, %n, %n, %n : tensor<4xindex>
  %a = arith.addi %x, %t : tensor<4xindex>
  %r = arith.index_cast %a : tensor<4xindex> to tensor<4xi64>
  return %r : tensor<4xi64>
}
"""


def test_what_does_not_reach_code_generation_is_a_finding(tmp_path, capsys):
    source, reduced = tmp_path / "in.mlir", tmp_path / "r.mlir"
    source.write_text(INDICES)
    assert main(["reduce", *CPU, str(source), "-o", str(reduced), "--format=json"]) == 1
    [finding] = json.loads(capsys.readouterr().out)["findings"]
    assert finding["severity"] == "error" and "index types must not cross" in finding["message"]
    assert any("`fissile compile` reports where and why" in note for note in finding["notes"])
    assert not reduced.exists()
