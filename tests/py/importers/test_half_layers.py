"""Layers of PyTorch that are rewritten, in 16-bit floats: what they compute in 32 bits, rounded."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, filled, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

HALVES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
HEAD = """
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %none = torch.constant.none
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %three = torch.constant.int 3
  %ones = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %twos = torch.prim.ListConstruct %two, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %threes = torch.prim.ListConstruct %three, %three : (!torch.int, !torch.int) -> !torch.list<int>
"""
LAYERS = {
    "avg_pool2d": """func.func @main(%x: !torch.vtensor<[2,6,8],E>) -> !torch.vtensor<[2,3,4],E> {HEAD
  %r = torch.aten.avg_pool2d %x, %threes, %twos, %ones, %false, %true, %none : !torch.vtensor<[2,6,8],E>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[2,3,4],E>
  return %r : !torch.vtensor<[2,3,4],E>
}""",
    "conv2d": """func.func @main(%x: !torch.vtensor<[2,6,8],E>, %w: !torch.vtensor<[4,2,3,3],E>) -> !torch.vtensor<[4,3,4],E> {HEAD
  %r = torch.aten.conv2d %x, %w, %none, %twos, %ones, %ones, %one : !torch.vtensor<[2,6,8],E>, !torch.vtensor<[4,2,3,3],E>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[4,3,4],E>
  return %r : !torch.vtensor<[4,3,4],E>
}""",
    "conv_tbc": """func.func @main(%x: !torch.vtensor<[9,4,5],E>, %w: !torch.vtensor<[3,5,6],E>, %b: !torch.vtensor<[6],E>) -> !torch.vtensor<[9,4,6],E> {HEAD
  %r = torch.aten.conv_tbc %x, %w, %b, %one : !torch.vtensor<[9,4,5],E>, !torch.vtensor<[3,5,6],E>, !torch.vtensor<[6],E>, !torch.int -> !torch.vtensor<[9,4,6],E>
  return %r : !torch.vtensor<[9,4,6],E>
}""",
    "adaptive_max_pool2d": """func.func @main(%x: !torch.vtensor<[2,7,8],E>) -> (!torch.vtensor<[2,3,3],E>, !torch.vtensor<[2,3,3],si64>) {HEAD
  %r, %i = torch.aten.adaptive_max_pool2d %x, %threes : !torch.vtensor<[2,7,8],E>, !torch.list<int> -> !torch.vtensor<[2,3,3],E>, !torch.vtensor<[2,3,3],si64>
  return %r, %i : !torch.vtensor<[2,3,3],E>, !torch.vtensor<[2,3,3],si64>
}""",
    "rms_norm": """func.func @main(%x: !torch.vtensor<[5,3],E>) -> !torch.vtensor<[5,3],E> {HEAD
  %s = torch.prim.ListConstruct %three : (!torch.int) -> !torch.list<int>
  %r = torch.aten.rms_norm %x, %s, %none, %none : !torch.vtensor<[5,3],E>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[5,3],E>
  return %r : !torch.vtensor<[5,3],E>
}""",
}
GIVEN = {
    "avg_pool2d": [(2, 6, 8)],
    "conv2d": [(2, 6, 8), (4, 2, 3, 3)],
    "conv_tbc": [(9, 4, 5), (3, 5, 6), (6,)],
    "adaptive_max_pool2d": [(2, 7, 8)],
    "rms_norm": [(5, 3)],
}


def _windows(x):
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1)])
    return np.stack(
        [padded[:, i : i + 5 : 2, j : j + 7 : 2] for i in range(3) for j in range(3)], -1
    )  # (channels, 3, 4, 9)


def _expected(name, x, *more):
    if name == "avg_pool2d":
        return _windows(x).mean(-1)
    if name == "conv2d":
        return np.einsum("cijk,ock->oij", _windows(x), more[0].reshape(4, 2, 9))
    if name == "conv_tbc":
        padded = np.pad(x, [(1, 1), (0, 0), (0, 0)])
        return sum(padded[k : k + 9] @ more[0][k] for k in range(3)) + more[1]
    if name == "rms_norm":
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 2.0**-23)
    rows = [slice(i * 7 // 3, -(-(i + 1) * 7 // 3)) for i in range(3)]
    columns = [slice(i * 8 // 3, -(-(i + 1) * 8 // 3)) for i in range(3)]
    return np.stack([np.stack([x[:, r, c].max((1, 2)) for c in columns], -1) for r in rows], 1)


@pytest.mark.parametrize("element", HALVES)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_halves(tmp_path, name, element):
    text = filled(LAYERS[name].replace("HEAD", HEAD), **{",E>": f",{element}>"})
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert not report.errors
    assert {one.code for one in report.findings} & {"FIS162", "FIS421"}
    random = np.random.default_rng(8)
    given = [random.standard_normal(shape).astype(HALVES[element]) for shape in GIVEN[name]]
    if name == "rms_norm":
        given[0][1] = (given[0][1].astype(np.float64) * 1e-3).astype(HALVES[element])
    answer = all_computed(tmp_path, *given)[0].astype(np.float64)
    wanted = _expected(name, *(one.astype(np.float64) for one in given))
    step = 2.0**-10 if element == "f16" else 2.0**-7
    np.testing.assert_allclose(answer, wanted, rtol=2 * step, atol=2 * step * np.abs(wanted).max())


NORM = """func.func @main(%x: !torch.vtensor<[3,4096],E>, %w: !torch.vtensor<[4096],E>) -> !torch.vtensor<[3,4096],E> {
  %n = torch.constant.int 4096
  %eps = torch.constant.float 1.0e-6
  %s = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
  %r = torch.aten.rms_norm %x, %s, %w, %eps : !torch.vtensor<[3,4096],E>, !torch.list<int>, !torch.vtensor<[4096],E>, !torch.float -> !torch.vtensor<[3,4096],E>
  return %r : !torch.vtensor<[3,4096],E>
}
"""


@pytest.mark.parametrize("element", HALVES)
def test_norms_of_halves_are_summed_in_32_bits(tmp_path, element):
    """An f16 of 256 has no square, and a sum of 4096 in bf16 is 4% off; where the last line fails IREE sums in 32 bits itself."""
    text = filled(NORM, **{",E>": f",{element}>"})
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS220", "repaired")]
    random = np.random.default_rng(9)
    x = (random.standard_normal((3, 4096)) * [[1], [400], [1e-3]]).astype(HALVES[element])
    w = random.standard_normal(4096).astype(HALVES[element])
    wide = x.astype(np.float64)
    wanted = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * w.astype(np.float64)
    step = 2.0**-10 if element == "f16" else 2.0**-7
    [answer] = all_computed(tmp_path, x, w)
    np.testing.assert_allclose(
        answer.astype(np.float64), wanted, rtol=step, atol=1e-4
    )  # below, a product may be flushed
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    [theirs] = all_computed(tmp_path, x, w)
    assert not np.allclose(theirs.astype(np.float64), wanted, rtol=0.03, atol=1e-3)
