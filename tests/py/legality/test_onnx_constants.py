"""The constants of an ONNX model stay with the ops that read them: the op that IREE rejects is blamed, and no other."""

from __future__ import annotations

from dataclasses import replace

from entered_programs import compiled

from fissile.finding import Finding
from fissile.pipelines.importers.imported import ONNX, Imported

_PROGRAM = """func.func @main(%x: !torch.vtensor<[?,3,4],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>) attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 18 : si64} {
  %axes = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0, 2]> : tensor<2xsi64>} : () -> !torch.vtensor<[2],si64>
  %a = torch.operator "onnx.ReduceL1"(%x, %axes) {torch.onnx.keepdims = 0 : si64} : (!torch.vtensor<[?,3,4],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[3],f32>
  %b = torch.operator "onnx.ReduceUnheardOf"(%x, %axes) {torch.onnx.keepdims = 0 : si64} : (!torch.vtensor<[?,3,4],f32>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[3],f32>
  return %a, %b : !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>
}
"""
_OF_MLIR = "way out: give fissile the .onnx file"


def test_only_the_op_that_is_rejected_is_blamed(tmp_path):
    status, findings = compiled(tmp_path, _PROGRAM)
    assert status == 1
    assert [(one["code"], one["subject"]) for one in findings] == [("FIS421", "onnx.ReduceUnheardOf")]
    assert any(note.startswith(_OF_MLIR) for note in findings[0]["notes"]), findings[0]


def test_the_way_out_of_an_imported_model_is_another(tmp_path):
    """Of a program that fissile imported itself the way out is left out."""
    imported = Imported("m.onnx", ONNX, tmp_path / "m.mlirbc")
    found = Finding(
        "FIS421", "IREE has no lowering for onnx.A", notes=(f"{_OF_MLIR}, which …", "way out: another")
    )
    assert imported._labelled(found) == replace(found, notes=("way out: another",))
