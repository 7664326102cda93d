"""FIS226: constants of 4 bits as an ONNX model packs them, and as MLIR has them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, compiled, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

RNG = np.random.default_rng(3)
_HEAD = "attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64}"


def _resource(numbers: bytes) -> str:
    return f'{{-#\n  dialect_resources: {{ builtin: {{ w: "0x01000000{numbers.hex()}" }} }}\n#-}}\n'


def _packed(numbers, bits: int) -> bytes:
    """As ONNX's raw_data: the first element in the lowest bits."""
    flat = [int(one) & (1 << bits) - 1 for one in numbers.reshape(-1)]
    per_byte = 8 // bits
    flat += [0] * (-len(flat) % per_byte)
    return bytes(
        sum(one << bits * place for place, one in enumerate(flat[at : at + per_byte]))
        for at in range(0, len(flat), per_byte)
    )


def _dequantised(element: str, shape) -> str:
    w, f = (f"!torch.vtensor<[{','.join(map(str, shape))}],{one}>" for one in (element, "f32"))
    sizes = "x".join(map(str, shape))
    return (
        f"func.func @main(%x: {f}, %scale: !torch.vtensor<[],f32>) -> {f} {_HEAD} {{\n"
        f'  %w = torch.operator "onnx.Constant"() {{torch.onnx.value = dense_resource<w> : tensor<{sizes}x{element}>}} : () -> {w}\n'
        f'  %d = torch.operator "onnx.DequantizeLinear"(%w, %scale) : ({w}, !torch.vtensor<[],f32>) -> {f}\n'
        f'  %r = torch.operator "onnx.Add"(%x, %d) : ({f}, {f}) -> {f}\n  return %r : {f}\n}}\n'
    )


@pytest.mark.parametrize(("element", "low", "high"), [("si4", -8, 8), ("ui4", 0, 16)])
@pytest.mark.parametrize("shape", [(4, 6), (3, 5)])
def test_packed_elements_are_unpacked(tmp_path, element, low, high, shape):
    """Also where the last byte holds fewer elements than the others."""
    w = RNG.integers(low, high, shape)
    bits = int(element[2:])
    written(tmp_path, _dequantised(element, shape) + _resource(_packed(w, bits)))
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    repaired = {one.code for one in report.findings if one.severity.value == "repaired"}
    assert "FIS226" in repaired and report.exit_code == 0, report.findings
    x, scale = RNG.standard_normal(shape).astype(np.float32), np.float32(0.25).reshape(())
    [got] = all_computed(tmp_path, x, scale)
    np.testing.assert_allclose(got, x + w * scale, rtol=1e-6)


_CAST = """func.func @main(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32> HEAD {
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<w> : tensor<2x4xELEMENT>} : () -> !torch.vtensor<[2,4],ELEMENT>
  %f = torch.operator "onnx.Cast"(%w) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[2,4],ELEMENT>) -> !torch.vtensor<[2,4],f32>
  %r = torch.operator "onnx.Add"(%x, %f) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}
"""


@pytest.mark.parametrize(
    ("element", "right"),
    [("si4", [1, 2, 3, 4, 5, 6, 7, -8]), ("f4E2M1FN", [0.5, 1, 1.5, 2, 3, 4, 6, -0.0])],
)
def test_a_cast_that_stock_builds(tmp_path, element, right):
    """Of each byte: stock's first element is 0x21, or its lowest bits, and the last ones lie behind the constant."""
    text = _CAST.replace("HEAD", _HEAD).replace("ELEMENT", element) + _resource(bytes.fromhex("21436587"))
    written(tmp_path, text)
    fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    x = np.ones((2, 4), np.float32)
    np.testing.assert_array_equal(all_computed(tmp_path, x)[0].reshape(-1), np.array(right, np.float32) + 1)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    assert not np.array_equal(all_computed(tmp_path, x)[0].reshape(-1), np.array(right, np.float32) + 1)


def test_a_byte_for_each_element_is_left_alone(tmp_path):
    w = RNG.integers(0, 16, (4, 6))
    text = _dequantised("ui4", (4, 6)) + _resource(bytes(w.reshape(-1).tolist()))
    _status, findings = compiled(tmp_path, text)
    assert "FIS226" not in {one["code"] for one in findings}


def test_many_constants_are_one_finding(tmp_path):
    w = RNG.integers(0, 16, (4, 6))
    once = _dequantised("ui4", (4, 6))
    more = "".join(
        f'  %v{number} = torch.operator "onnx.Constant"() {{torch.onnx.value = dense_resource<w> : tensor<4x6xui4>}} : () -> !torch.vtensor<[4,6],ui4>\n'
        for number in range(39)
    )
    text = once.replace("  %d = ", more + "  %d = ") + _resource(_packed(w, 4))
    _status, findings = compiled(tmp_path, text)
    [found] = [one for one in findings if one["code"] == "FIS226"]
    assert found["message"].endswith("40 times") and len(found["places"]) == 4, found
