"""Extremes and signs of floats that are NaN (FIS199), and activations of older opsets (FIS421), as NumPy computes them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

NAN, INF = np.nan, np.inf
LEFT = np.array([NAN, 0, NAN, -INF, 2, 5, -0.5, INF], np.float32)
RIGHT = np.array([1, NAN, NAN, NAN, 1, 7, -0.5, -1], np.float32)
ROW = np.array([[NAN], [3]], np.float32)


def program(size: str) -> str:
    v, rows = f"!torch.vtensor<[{size}],f32>", f"!torch.vtensor<[2,{size}],f32>"
    return f"""\
func.func @main(%x: {v}, %y: {v}, %z: !torch.vtensor<[2,1],f32>) -> ({v}, {v}, {v}, {v}, {v}, {rows})
    attributes {{torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64}} {{
  %c = torch.vtensor.literal(dense<1.5> : tensor<f32>) : !torch.vtensor<[],f32>
  %0 = torch.operator "onnx.Max"(%x, %y) : ({v}, {v}) -> {v}
  %1 = torch.operator "onnx.Min"(%x, %y) : ({v}, {v}) -> {v}
  %2 = torch.operator "onnx.Sign"(%x) : ({v}) -> {v}
  %3 = torch.operator "onnx.Max"(%x, %c, %c) : ({v}, !torch.vtensor<[],f32>, !torch.vtensor<[],f32>) -> {v}
  %4 = torch.aten.minimum %y, %x : {v}, {v} -> {v}
  %5 = torch.operator "onnx.Max"(%x, %z) : ({v}, !torch.vtensor<[2,1],f32>) -> {rows}
  return %0, %1, %2, %3, %4, %5 : {v}, {v}, {v}, {v}, {v}, {rows}
}}
"""


def wanted() -> list[np.ndarray]:
    return [
        np.maximum(LEFT, RIGHT),
        np.minimum(LEFT, RIGHT),
        np.sign(LEFT),
        np.maximum(LEFT, np.float32(1.5)),
        np.minimum(RIGHT, LEFT),
        np.maximum(LEFT, ROW),
    ]


def results(module, source, inputs) -> list[np.ndarray]:
    [runtime] = runtimes.named(["local-task"])
    answer = runtimes.run(module, signatures_of_source(source)["main"], inputs, runtime)
    assert isinstance(answer, list), answer
    return answer


@pytest.mark.parametrize("size", ["8", "?"])
def test_a_nan_of_each_operand_is_passed_on(tmp_path, size):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(size))
    report = fissile.compile(source, output, CPU, check=False)
    found = [one.severity.value for one in report.findings if one.code == "FIS199"]
    assert found == ["repaired"] * 6 and report.exit_code == 0
    for got, expected in zip(results(output, source, [LEFT, RIGHT, ROW]), wanted(), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_stock_drops_them(tmp_path):
    """Where stock is right, IREE has changed, and FIS199 is not needed any more."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program("8"))
    assert compile_stock(source, output, [*CPU], timeout=300.0) is None
    found = results(output, source, [LEFT, RIGHT, ROW])
    pairs = zip(found, wanted(), strict=True)
    assert not any(np.array_equal(one, other, equal_nan=True) for one, other in pairs)


SILENT = """\
func.func @main(%x: !torch.vtensor<[8],f32>, %i: !torch.vtensor<[4],si64>) -> (!torch.vtensor<[8],f32>, !torch.vtensor<[8],f32>, !torch.vtensor<[4],si64>)
    attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64} {
  %low = torch.vtensor.literal(dense<0.0> : tensor<f32>) : !torch.vtensor<[],f32>
  %high = torch.vtensor.literal(dense<6.0> : tensor<f32>) : !torch.vtensor<[],f32>
  %0 = torch.operator "onnx.Clip"(%x, %low, %high) : (!torch.vtensor<[8],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[8],f32>
  %1 = torch.operator "onnx.Max"(%high, %x) : (!torch.vtensor<[],f32>, !torch.vtensor<[8],f32>) -> !torch.vtensor<[8],f32>
  %2 = torch.operator "onnx.Max"(%i, %i) : (!torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64>
  return %0, %1, %2 : !torch.vtensor<[8],f32>, !torch.vtensor<[8],f32>, !torch.vtensor<[4],si64>
}
"""


def test_clips_integers_and_constants_in_front_keep_stocks_bytes(tmp_path):
    source, output, stock = (tmp_path / name for name in ("in.mlir", "out.vmfb", "stock.vmfb"))
    source.write_text(SILENT)
    assert not fissile.compile(source, output, CPU).findings
    assert compile_stock(source, stock, [*CPU], timeout=300.0) is None
    assert output.read_bytes() == stock.read_bytes()


@pytest.mark.parametrize("size", ["8", "?"])
def test_activations_of_older_opsets_are_written(tmp_path, size):
    source, output, v = tmp_path / "in.mlir", tmp_path / "out.vmfb", f"!torch.vtensor<[{size}],f32>"
    source.write_text(f"""\
func.func @main(%x: {v}) -> ({v}, {v}) attributes {{torch.onnx_meta.opset_version = 17 : si64}} {{
  %0 = torch.operator "onnx.Softsign"(%x) : ({v}) -> {v}
  %1 = torch.operator "onnx.Mish"(%x) : ({v}) -> {v}
  return %0, %1 : {v}, {v}
}}
""")
    report = fissile.compile(source, output, CPU, check=False)
    found = {one.subject: one.severity.value for one in report.findings if one.code == "FIS421"}
    assert found == {"onnx.Softsign": "repaired", "onnx.Mish": "repaired"}
    x = np.array([-1e30, -90, -5, -1e-3, 0, 0.7, 30, 1e30], np.float32)
    wide = x.astype(np.float64)
    softsign, mish = results(output, source, [x])
    np.testing.assert_allclose(softsign, wide / (1 + abs(wide)), 1e-5)
    np.testing.assert_allclose(mish, wide * np.tanh(np.logaddexp(0, wide)), 1e-5, 1e-7)
