"""Layers of PyTorch that stock IREE accepts, and computes otherwise or stops in when they are run (FIS162); coordinate grids, which it rejects."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, entered

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

RANDOM = np.random.default_rng(5)
NORM = """
func.func @main(%x: !torch.vtensor<[SIZE,8],f32>) -> !torch.vtensor<[SIZE,8],f32> {
  %eight = torch.constant.int 8
  %none = torch.constant.none
  %shape = torch.prim.ListConstruct %eight : (!torch.int) -> !torch.list<int>
  %r = torch.aten.rms_norm %x, %shape, %none, %none : !torch.vtensor<[SIZE,8],f32>, !torch.list<int>, !torch.none, !torch.none -> !torch.vtensor<[SIZE,8],f32>
  return %r : !torch.vtensor<[SIZE,8],f32>
}
"""
POOL = """
func.func @main(%x: !torch.vtensor<[1,2,8,9],f32>) -> (!torch.vtensor<[1,2,ROWS,COLUMNS],f32>, !torch.vtensor<[1,2,ROWS,COLUMNS],si64>) {
  %rows = torch.constant.int ROWS
  %columns = torch.constant.int COLUMNS
  %size = torch.prim.ListConstruct %rows, %columns : (!torch.int, !torch.int) -> !torch.list<int>
  %r, %i = torch.aten.adaptive_max_pool2d %x, %size : !torch.vtensor<[1,2,8,9],f32>, !torch.list<int> -> !torch.vtensor<[1,2,ROWS,COLUMNS],f32>, !torch.vtensor<[1,2,ROWS,COLUMNS],si64>
  return %r, %i : !torch.vtensor<[1,2,ROWS,COLUMNS],f32>, !torch.vtensor<[1,2,ROWS,COLUMNS],si64>
}
"""
GRID = """
func.func @main(%a: !torch.vtensor<[M],f32>, %b: !torch.vtensor<[N],f32>, %c: !torch.vtensor<[2],f32>) -> (TYPE, TYPE, TYPE) {
  %way = torch.constant.str "WAY"
  %0 = torch.prim.ListConstruct %a, %b, %c : (!torch.vtensor<[M],f32>, !torch.vtensor<[N],f32>, !torch.vtensor<[2],f32>) -> !torch.list<vtensor>
  %1 = torch.aten.meshgrid.indexing %0, %way : !torch.list<vtensor>, !torch.str -> !torch.list<vtensor>
  %2:3 = torch.prim.ListUnpack %1 : !torch.list<vtensor> -> TYPE, TYPE, TYPE
  return %2#0, %2#1, %2#2 : TYPE, TYPE, TYPE
}
"""


def _compiled(tmp_path, text):
    for name in ("main.mlir", "entered.mlir"):  # `all_computed` reads the signature of the second
        (tmp_path / name).write_text(text)
    return fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])


def _stock(tmp_path, *inputs):
    """What stock IREE's module gives; a finding where it stops."""
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "stock.vmfb", CPU) is None
    [runtime] = runtimes.named(["local-task"])
    signature = signatures_of_source(tmp_path / "main.mlir")["main"]
    return runtimes.run(tmp_path / "stock.vmfb", signature, list(inputs), runtime)


@pytest.mark.parametrize("size", ["3", "?"])
def test_the_default_epsilon_of_a_norm(tmp_path, size):
    report = _compiled(tmp_path, NORM.replace("SIZE", size))
    assert ("FIS162", "repaired") in [(one.code, one.severity.value) for one in report.findings]
    x = (RANDOM.standard_normal((3, 8)) * np.array([[1], [1e-3], [1e-5]])).astype(np.float32)
    wanted = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 2.0**-23)
    [answer] = all_computed(tmp_path, x)
    np.testing.assert_allclose(answer, wanted, rtol=1e-5)
    [theirs] = _stock(tmp_path, x)  # where this fails IREE has PyTorch's epsilon
    assert not np.allclose(theirs[2], wanted[2], rtol=0.5)


def _pooled(x, rows, columns):
    values, places = np.zeros((1, 2, rows, columns), np.float32), np.zeros((1, 2, rows, columns), np.int64)
    height, width = x.shape[2:]
    for channel, i, j in np.ndindex(2, rows, columns):
        top, bottom = i * height // rows, -(-(i + 1) * height // rows)
        left, right = j * width // columns, -(-(j + 1) * width // columns)
        window = x[0, channel, top:bottom, left:right]
        row, column = np.unravel_index(window.argmax(), window.shape)
        values[0, channel, i, j] = window[row, column]
        places[0, channel, i, j] = (top + row) * width + left + column
    return values, places


def test_adaptive_maxima_over_windows_of_several_sizes(tmp_path):
    report = _compiled(tmp_path, POOL.replace("ROWS", "3").replace("COLUMNS", "4"))
    assert ("FIS162", "repaired") in [(one.code, one.severity.value) for one in report.findings]
    x = RANDOM.standard_normal((1, 2, 8, 9)).astype(np.float32)
    values, places = all_computed(tmp_path, x)
    wanted = _pooled(x, 3, 4)
    np.testing.assert_array_equal(values, wanted[0])
    np.testing.assert_array_equal(places, wanted[1])


@pytest.mark.parametrize(
    "rows, columns, code", [(3, 4, "FIS162"), (3, 3, "FIS162"), (5, 4, "FIS421"), (3, 7, "FIS421")]
)
def test_stock_accepts_what_is_reported_as_such(tmp_path, rows, columns, code):
    """And stops in each call; the others it rejects."""
    report = _compiled(tmp_path, POOL.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)))
    assert code in [one.code for one in report.findings] and not report.errors
    x = RANDOM.standard_normal((1, 2, 8, 9)).astype(np.float32)
    for got, wanted in zip(all_computed(tmp_path, x), _pooled(x, rows, columns), strict=True):
        np.testing.assert_array_equal(got, wanted)
    if code == "FIS162":
        assert not isinstance(_stock(tmp_path, x), list)
    else:
        assert compile_stock(tmp_path / "main.mlir", tmp_path / "stock.vmfb", CPU) is not None


@pytest.mark.parametrize("rows, columns", [(4, 3), (2, 4)])
def test_windows_of_one_size_are_left_alone(tmp_path, rows, columns):
    """They may overlap."""
    report = _compiled(tmp_path, POOL.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)))
    assert "FIS162" not in [one.code for one in report.findings]
    x = RANDOM.standard_normal((1, 2, 8, 9)).astype(np.float32)
    for got, wanted in zip(all_computed(tmp_path, x), _pooled(x, rows, columns), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("way", ["ij", "xy"])
@pytest.mark.parametrize("sizes", [("3", "4"), ("?", "?")], ids=["static", "dynamic"])
def test_grids(tmp_path, way, sizes):
    m, n = sizes
    shape = f"{m},{n},2" if way == "ij" else f"{n},{m},2"
    text = GRID.replace("WAY", way).replace("TYPE", f"!torch.vtensor<[{shape}],f32>")
    text = text.replace("[M]", f"[{m}]").replace("[N]", f"[{n}]")
    entered(tmp_path, text, "aten.meshgrid.indexing", "fissile-expand-grids")
    given = [RANDOM.standard_normal(size).astype(np.float32) for size in (3, 4, 2)]
    for got, wanted in zip(all_computed(tmp_path, *given), np.meshgrid(*given, indexing=way), strict=True):
        np.testing.assert_array_equal(got, wanted)
