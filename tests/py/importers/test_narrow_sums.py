"""FIS220: sums, norms, pools and losses of 16-bit floats, computed in f32 as PyTorch and the runtimes of ONNX do."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

_HEAD = """
  %none = torch.constant.none
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %wide = torch.constant.int 16384
  %eps = torch.constant.float 1.0e-5
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %shape = torch.prim.ListConstruct %wide : (!torch.int) -> !torch.list<int>
"""
_X = "!torch.vtensor<[3,16384],bf16>"
_ROW = "!torch.vtensor<[3],bf16>"
_OPS = {
    "aten.mean": (f'torch.aten.mean %x, %none : {_X}, !torch.none -> !torch.vtensor<[],bf16>', "!torch.vtensor<[],bf16>", np.mean),
    "aten.sum.dim_IntList": (
        f"torch.aten.sum.dim_IntList %x, %dims, %false, %none : {_X}, !torch.list<int>, !torch.bool, !torch.none -> {_ROW}", _ROW, lambda x: x.sum(1)),
    "aten.cumsum": (f"torch.aten.cumsum %x, %one, %none : {_X}, !torch.int, !torch.none -> {_X}", _X, lambda x: x.cumsum(1)),
    "aten.linalg_vector_norm": (
        f"torch.aten.linalg_vector_norm %x, %two, %dims, %false, %none : {_X}, !torch.int, !torch.list<int>, !torch.bool, !torch.none -> {_ROW}",
        _ROW, lambda x: np.sqrt((x * x).sum(1))),
    "aten.layer_norm": (
        f"torch.aten.layer_norm %x, %shape, %none, %none, %eps, %false : {_X}, !torch.list<int>, !torch.none, !torch.none, !torch.float, !torch.bool -> {_X}",
        _X, lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)),
    "aten.mse_loss": (f"torch.aten.mse_loss %x, %x2, %one : {_X}, {_X}, !torch.int -> !torch.vtensor<[],bf16>", "!torch.vtensor<[],bf16>",
                      lambda x: np.mean(x * x)),
    "onnx.ReduceMean": (
        f'torch.operator "onnx.ReduceMean"(%x, %axis) {{torch.onnx.keepdims = 0 : si64}} : ({_X}, !torch.vtensor<[1],si64>) -> {_ROW}',
        _ROW, lambda x: x.mean(1)),
    "onnx.LogSoftmax": (
        f'torch.operator "onnx.LogSoftmax"(%x) {{torch.onnx.axis = 1 : si64}} : ({_X}) -> {_X}',
        _X, lambda x: x - x.max(1, keepdims=True) - np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True))),
}  # fmt: skip
"""Op -> how it is written, the type of its result, and what it computes."""


def _written(tmp_path, name: str) -> None:
    text, type_, _meant = _OPS[name]
    onnx = " attributes {torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64}"
    lines = [
        f"func.func @main(%x: {_X}, %x2: {_X}) -> {type_}{onnx if 'onnx' in name else ''} {{",
        "  %axis = torch.vtensor.literal(dense<1> : tensor<1xsi64>) : !torch.vtensor<[1],si64>",
        f"{_HEAD}  %r = {text}",
        f"  return %r : {type_}",
        "}",
    ]
    written(tmp_path, "\n".join(lines))


def _given() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(5).integers(1, 8, (3, 16384)) / 2
    return x.astype(ml_dtypes.bfloat16), np.zeros_like(x, ml_dtypes.bfloat16)


def _close(answer: np.ndarray, wanted: np.ndarray) -> bool:
    return np.allclose(answer.astype(np.float64), wanted, rtol=2.0**-7, atol=2.0**-8 * np.abs(wanted).max())


@pytest.mark.parametrize("name", _OPS)
def test_what_is_added_in_16_bits_is_added_in_32(tmp_path, name):
    """Where the last line fails IREE adds in 32 bits itself."""
    _written(tmp_path, name)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value, one.subject) for one in report.findings] == [
        ("FIS220", "repaired", name)
    ]
    x, zeros = _given()
    wanted = _OPS[name][2](x.astype(np.float64))
    assert _close(all_computed(tmp_path, x, zeros)[0], wanted)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    assert not _close(all_computed(tmp_path, x, zeros)[0], wanted)


def test_a_mean_of_ones_and_a_norm_of_large_halves(tmp_path):
    """What `fissile explain FIS220` says of stock IREE."""
    text = """func.func @main(%x: !torch.vtensor<[8,4096],bf16>, %y: !torch.vtensor<[2,64],f16>) -> (!torch.vtensor<[],bf16>, !torch.vtensor<[2,64],f16>) {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %many = torch.constant.int 64
  %eps = torch.constant.float 1.0e-5
  %shape = torch.prim.ListConstruct %many : (!torch.int) -> !torch.list<int>
  %m = torch.aten.mean %x, %none : !torch.vtensor<[8,4096],bf16>, !torch.none -> !torch.vtensor<[],bf16>
  %n = torch.aten.layer_norm %y, %shape, %none, %none, %eps, %false : !torch.vtensor<[2,64],f16>, !torch.list<int>, !torch.none, !torch.none, !torch.float, !torch.bool -> !torch.vtensor<[2,64],f16>
  return %m, %n : !torch.vtensor<[],bf16>, !torch.vtensor<[2,64],f16>
}
"""
    written(tmp_path, text)
    ones = np.ones((8, 4096), ml_dtypes.bfloat16)
    wide = (np.random.default_rng(4).standard_normal((2, 64)) * 400).astype(np.float16)
    assert not fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU]).errors
    mean, normed = all_computed(tmp_path, ones, wide)
    exact = wide.astype(np.float64)
    wanted = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    assert float(mean) == 1
    np.testing.assert_allclose(normed.astype(np.float64), wanted, atol=2e-3)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    mean, normed = all_computed(tmp_path, ones, wide)
    assert float(mean) <= 0.5 and not normed.any()


@pytest.mark.parametrize("name", ["aten.layer_norm", "aten.cumsum"])
def test_on_a_gpu(tmp_path, name):
    """Vulkan without 16-bit arguments: only that it is built, there and for a GPU that is not here."""
    _written(tmp_path, name)
    for flags in (
        ("--iree-hal-target-device=vulkan",),
        ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"),
    ):
        report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*flags])
        assert not report.errors
        assert "FIS220" in [one.code for one in report.findings]


def test_what_a_remedy_writes_is_added_in_32_bits_as_well(tmp_path):
    """`aten.huber_loss`, which IREE does not lower, becomes a mean."""
    written(
        tmp_path,
        f"""func.func @main(%x: {_X}, %y: {_X}) -> !torch.vtensor<[],bf16> {{
  %one = torch.constant.int 1
  %half = torch.constant.float 5.0e-01
  %r = torch.operator "torch.aten.huber_loss"(%x, %y, %one, %half) : ({_X}, {_X}, !torch.int, !torch.float) -> !torch.vtensor<[],bf16>
  return %r : !torch.vtensor<[],bf16>
}}
""",
    )
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert "FIS421" in [one.code for one in report.findings] and not report.errors
    x, zeros = _given()
    wide = x.astype(np.float64)
    wanted = np.where(wide <= 0.5, wide**2 / 2, 0.5 * (wide - 0.25)).mean()
    assert _close(all_computed(tmp_path, x, zeros)[0], wanted)


def test_a_norm_of_instances_without_a_scale(tmp_path):
    """It ends IREE in a crash; without 16-bit floats as well."""
    type_ = "!torch.vtensor<[2,3,5,4],f32>"
    written(
        tmp_path,
        f"""func.func @main(%x: {type_}) -> {type_} {{
  %none = torch.constant.none
  %true = torch.constant.bool true
  %tenth = torch.constant.float 1.0e-01
  %eps = torch.constant.float 1.0e-05
  %r = torch.aten.instance_norm %x, %none, %none, %none, %none, %true, %tenth, %eps, %true : {type_}, !torch.none, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.float, !torch.float, !torch.bool -> {type_}
  return %r : {type_}
}}
""",
    )
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS421", "repaired")]
    x = np.random.default_rng(6).standard_normal((2, 3, 5, 4)).astype(np.float32)
    wanted = (x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)
    np.testing.assert_allclose(all_computed(tmp_path, x)[0], wanted, rtol=1e-4, atol=1e-5)
