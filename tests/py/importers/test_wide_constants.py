"""Constants of f64 whose elements are a resource: weights as iree-turbine writes them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import compiled, computed, written
from iree.compiler import ir

from fissile.dialect.element_bytes import resource_bytes
from fissile.pipelines.numerics.build import compile_stock

RNG = np.random.default_rng(11)
_KEPT = "--iree-input-demote-f64-to-f32=false"
_LINEAR = """func.func @main(%x: !torch.vtensor<[4,8],f64>) -> !torch.vtensor<[4,6],f64> {
  %w = torch.vtensor.literal(dense_resource<w> : tensor<6x8xf64>) : !torch.vtensor<[6,8],f64>
  %b = torch.vtensor.literal(dense_resource<b> : tensor<6xf64>) : !torch.vtensor<[6],f64>
  %r = torch.aten.linear %x, %w, %b : !torch.vtensor<[4,8],f64>, !torch.vtensor<[6,8],f64>, !torch.vtensor<[6],f64> -> !torch.vtensor<[4,6],f64>
  return %r : !torch.vtensor<[4,6],f64>
}
"""
_PLAIN = """func.func @main(%x: tensor<6xf64>) -> tensor<6xf64> {
  %b = arith.constant dense_resource<b> : tensor<6xf64>
  %r = arith.addf %x, %b : tensor<6xf64>
  return %r : tensor<6xf64>
}
"""


_GLOBAL = """module {
util.global private @b = dense_resource<b> : tensor<6xf64>
func.func @main(%x: !torch.vtensor<[6],f64>) -> !torch.vtensor<[6],f64> {
  %one = torch.constant.int 1
  %b = util.global.load @b : tensor<6xf64>
  %t = torch_c.from_builtin_tensor %b : tensor<6xf64> -> !torch.vtensor<[6],f64>
  %r = torch.aten.add.Tensor %x, %t, %one : !torch.vtensor<[6],f64>, !torch.vtensor<[6],f64>, !torch.int -> !torch.vtensor<[6],f64>
  return %r : !torch.vtensor<[6],f64>
}
}
"""
"""A weight of more than a few elements, as iree-turbine writes it."""


def _resources(**arrays: np.ndarray) -> str:
    each = ", ".join(f'{name}: "0x08000000{one.tobytes().hex()}"' for name, one in arrays.items())
    return f"{{-#\n  dialect_resources: {{ builtin: {{ {each} }} }}\n#-}}\n"


def test_weights_of_f64(tmp_path):
    w, b, x = (RNG.standard_normal(shape) for shape in ((6, 8), 6, (4, 8)))
    text = _LINEAR + _resources(w=w, b=b)
    written(tmp_path, text)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "stock.vmfb", CPU) is not None
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0 and {one["severity"] for one in findings} == {"repaired"}
    [found] = [one for one in findings if one["code"] == "FIS421"]
    assert found["subject"] == "vtensor.literal" and len(found["places"]) == 2
    np.testing.assert_allclose(computed(tmp_path, x), x @ w.T + b, rtol=1e-5, atol=1e-5)


def test_nothing_is_inlined_where_f64_stays(tmp_path):
    w, b, x = (RNG.standard_normal(shape) for shape in ((6, 8), 6, (4, 8)))
    text = _LINEAR + _resources(w=w, b=b)
    written(tmp_path, text)
    status, findings = compiled(tmp_path, text, "--guard=off", _KEPT)
    assert (status, findings) == (0, [])
    np.testing.assert_allclose(computed(tmp_path, x), x @ w.T + b, rtol=1e-12)


def test_a_constant_of_plain_mlir(tmp_path):
    b = np.array([1.5, -2, np.inf, -np.inf, np.nan, 1e-3])
    text = _PLAIN + _resources(b=b)
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0 and [one["code"] for one in findings] == ["FIS421"]
    (tmp_path / "entered.mlir").write_text(_PLAIN.replace("f64", "f32").replace("dense_resource<b>", "dense<0.0>"))  # fmt: skip
    x = np.ones(6, np.float32)
    np.testing.assert_allclose(computed(tmp_path, x), x + b, rtol=1e-6)


def test_a_global_that_stock_misreads(tmp_path):
    b, x = RNG.standard_normal(6), RNG.standard_normal(6)
    text = _GLOBAL + _resources(b=b)
    written(tmp_path, text)
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0 and "FIS228" in {one["code"] for one in findings}
    np.testing.assert_allclose(computed(tmp_path, x), x + b, rtol=1e-5, atol=1e-6)


def test_a_global_stays_where_f64_stays(tmp_path):
    b, x = RNG.standard_normal(6), RNG.standard_normal(6)
    text = _GLOBAL + _resources(b=b)
    written(tmp_path, text)
    status, findings = compiled(tmp_path, text, "--guard=off", _KEPT)
    assert (status, findings) == (0, [])
    np.testing.assert_allclose(computed(tmp_path, x), x + b, rtol=1e-12)


def test_a_global_beside_a_constant_that_is_rejected(tmp_path):
    """Neither of them is read as f32."""
    w, b, x = RNG.standard_normal((6, 8)), RNG.standard_normal(6), RNG.standard_normal((4, 8))
    weight = "!torch.vtensor<[6,8],f64>"
    load = f"%g = util.global.load @w : tensor<6x8xf64>\n  %w = torch_c.from_builtin_tensor %g : tensor<6x8xf64> -> {weight}"
    [head] = [line for line in _LINEAR.splitlines() if "resource<w>" in line]
    body = _LINEAR.replace(head, f"  {load}")
    text = f"module {{\nutil.global private @w = dense_resource<w> : tensor<6x8xf64>\n{body}}}\n" + _resources(w=w, b=b)  # fmt: skip
    written(tmp_path, text)
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0 and {"FIS228", "FIS421"} <= {one["code"] for one in findings}
    np.testing.assert_allclose(computed(tmp_path, x), x @ w.T + b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [1, 3, 100, 100_000])
@pytest.mark.parametrize("alignment", [8, 64])
def test_the_bytes_of_a_resource(count, alignment):
    numbers = RNG.standard_normal(count)
    with ir.Context(), ir.Location.unknown():
        type_ = ir.RankedTensorType.get([count], ir.F64Type.get())
        held = ir.DenseResourceElementsAttr.get_from_buffer(
            memoryview(numbers), "w", type_, alignment=alignment
        )
        assert resource_bytes(held) == numbers.tobytes()
        assert resource_bytes(ir.Attribute.parse("dense_resource<gone> : tensor<4xf64>")) == b""
