"""FIS162: `x[:, -1] = y`, which IREE leaves out, as PyTorch writes it."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

_PROGRAM = """func.func @main(%x: !torch.vtensor<[SHAPE],f32>, %y: !torch.vtensor<[PART],f32>INDEX_ARGUMENT) -> !torch.vtensor<[SHAPE],f32> {
  %dim = torch.constant.int DIM
  INDEX_CONSTANT
  %r = torch.aten.select_scatter %x, %y, %dim, %index : !torch.vtensor<[SHAPE],f32>, !torch.vtensor<[PART],f32>, !torch.int, !torch.int -> !torch.vtensor<[SHAPE],f32>
  return %r : !torch.vtensor<[SHAPE],f32>
}
"""
X = np.arange(24, dtype=np.float32).reshape(4, 2, 3)


def _built(tmp_path, shape: str, part: str, dim: int, index: int | None) -> None:
    text = _PROGRAM.replace("SHAPE", shape).replace("PART", part).replace("DIM", str(dim))
    text = text.replace(
        "INDEX_CONSTANT", "" if index is None else f"%index = torch.constant.int {index}"
    ).replace("INDEX_ARGUMENT", ", %index: !torch.int" if index is None else "")
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    repaired = [one.code for one in report.findings if one.severity.value == "repaired"]
    assert repaired == ["FIS162"], report.findings


def _expected(x, y, dim: int, index: int):
    right = np.moveaxis(x.copy(), dim, 0)
    right[index] = y
    return np.moveaxis(right, 0, dim)


@pytest.mark.parametrize(
    "shape, part, dim", [("4,2,3", "4,2", -1), ("4,2,3", "2,3", 0), ("4,?,3", "4,3", 1), ("?,?,3", "?,?", 2)]
)
def test_the_last_index(tmp_path, shape, part, dim):
    _built(tmp_path, shape, part, dim, -1)
    y = -1 - np.arange(X.size // X.shape[dim], dtype=np.float32).reshape(np.delete(X.shape, dim))
    [answer] = all_computed(tmp_path, X, y)
    np.testing.assert_array_equal(answer, _expected(X, y, dim, -1))


def test_an_index_that_the_call_decides(tmp_path):
    _built(tmp_path, "?,2,3", "2,3", 0, None)
    y = -1 - np.arange(6, dtype=np.float32).reshape(2, 3)
    for index in (0, 1, 3, -1, -2, -4):
        [answer] = all_computed(tmp_path, X, y, np.int64(index))
        np.testing.assert_array_equal(answer, _expected(X, y, 0, index))


def test_stock_writes_nothing(tmp_path):
    _built(tmp_path, "4,2,3", "4,2", -1, -1)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    [answer] = all_computed(tmp_path, X, np.full((4, 2), 9, np.float32))
    np.testing.assert_array_equal(answer, X)
