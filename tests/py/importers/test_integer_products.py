"""FIS421: `onnx.MatMulInteger` of bytes without zero points, of other ranks than two matrices, as NumPy computes it."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile

RNG = np.random.default_rng(8)
_KINDS = {"ui8": np.uint8, "si8": np.int8}


@pytest.mark.parametrize(
    ("left", "right", "made"),
    [
        (("?", 3, "?", 6), (6, 2), ("?", 3, "?", 2)),
        (("?", 3, 4, 6), (6,), ("?", 3, 4)),
        ((6,), (3, 6, 2), (3, 2)),
        ((4, 6), (3, 6, 2), (3, 4, 2)),
        ((6,), (6,), ()),
        ((4, 6), (6,), (4,)),
    ],
    ids=str,
)
@pytest.mark.parametrize("elements", (("ui8", "si8"), ("si8", "si8")), ids="-".join)
def test_products_of_other_ranks(tmp_path, left, right, made, elements):
    types = [
        f"!torch.vtensor<[{','.join(map(str, shape))}],{element}>"
        for shape, element in zip((left, right, made), (*elements, "si32"), strict=True)
    ]
    written(
        tmp_path,
        f"func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} attributes {{torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64}} {{\n"
        f'  %r = torch.operator "onnx.MatMulInteger"(%a, %b) : ({types[0]}, {types[1]}) -> {types[2]}\n  return %r : {types[2]}\n}}\n',
    )
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert {one.code for one in report.findings if one.severity.value == "repaired"} <= {"FIS421"}
    shapes = ([2 if size == "?" else size for size in shape] for shape in (left, right))
    a, b = (
        RNG.integers(0, 256, shape).astype(np.uint8).view(_KINDS[element])
        for shape, element in zip(shapes, elements, strict=True)
    )
    got = all_computed(tmp_path, a, b)[0]
    np.testing.assert_array_equal(got, a.astype(np.int64) @ b.astype(np.int64))


BYTES = """
func.func @main(%x: !torch.vtensor<[16,64],f32>, %w: !torch.vtensor<[64,64],si8>, %v: !torch.vtensor<[64,64],si8>) -> !torch.vtensor<[16,64],f32> attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 18 : si64} {
  %zero = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
LAYERS
  return %r2 : !torch.vtensor<[16,64],f32>
}
"""
LAYER = """
  %qN:3 = torch.operator "onnx.DynamicQuantizeLinear"(%rM) : (!torch.vtensor<[16,64],f32>) -> (!torch.vtensor<[16,64],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>)
  %mN = torch.operator "onnx.MatMulInteger"(%qN#0, WEIGHTS, %qN#2, %zero) : (!torch.vtensor<[16,64],ui8>, !torch.vtensor<[64,64],si8>, !torch.vtensor<[],ui8>, !torch.vtensor<[],si8>) -> !torch.vtensor<[16,64],si32>
  %fN = torch.operator "onnx.Cast"(%mN) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[16,64],si32>) -> !torch.vtensor<[16,64],f32>
  %rN = torch.operator "onnx.Mul"(%fN, %qN#1) : (!torch.vtensor<[16,64],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[16,64],f32>
"""


def test_bytes_that_are_quantised_as_they_come(tmp_path):
    """On a target of Vulkan without 8-bit storage, where a sum of i64 has no vectors: by element at once, without a boundary in vain."""
    layers = LAYER.replace("N", "1").replace("%rM", "%x").replace("WEIGHTS", "%w")
    layers += LAYER.replace("N", "2").replace("%rM", "%r1").replace("WEIGHTS", "%v")
    written(tmp_path, BYTES.replace("LAYERS", layers))
    flags = ["--iree-hal-target-device=vulkan"]
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", flags)
    assert {one.severity.value for one in report.findings} == {"repaired"}
    assert report.facts["rounds"] <= 4
    x = RNG.standard_normal((16, 64)).astype(np.float32)
    weights = [RNG.integers(-127, 128, (64, 64)).astype(np.int8) for _ in range(2)]
    wanted = x
    for weight in weights:
        low, high = min(wanted.min(), 0), max(wanted.max(), 0)
        scale = np.float32((high - low) / 255)
        zero = np.clip(np.rint(-low / scale), 0, 255)
        quantised = np.clip(np.rint(wanted / scale) + zero, 0, 255)
        wanted = ((quantised - zero) @ weight.astype(np.float64) * scale).astype(np.float32)
    got = all_computed(tmp_path, x, *weights, device="vulkan")[0]
    # One step of the second quantisation, where a number lies between two.
    np.testing.assert_allclose(got, wanted, atol=float(scale) * 130 * 3)
