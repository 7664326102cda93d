"""FIS162: rolls by more places than a dimension has, as PyTorch rolls them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics.build import compile_stock

_PROGRAM = """func.func @main(%x: !torch.vtensor<[SIZE,2],f32>SHIFT_ARGUMENT) -> !torch.vtensor<[SIZE,2],f32> {
  %zero = torch.constant.int 0
  SHIFT_CONSTANT
  %shifts = torch.prim.ListConstruct %shift : (!torch.int) -> !torch.list<int>
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %r = torch.aten.roll %x, %shifts, %dims : !torch.vtensor<[SIZE,2],f32>, !torch.list<int>, !torch.list<int> -> !torch.vtensor<[SIZE,2],f32>
  return %r : !torch.vtensor<[SIZE,2],f32>
}
"""


def _built(tmp_path, size: str, shift: int | None) -> None:
    constant = "" if shift is None else f"%shift = torch.constant.int {shift}"
    text = _PROGRAM.replace("SIZE", size).replace("SHIFT_CONSTANT", constant)
    written(tmp_path, text.replace("SHIFT_ARGUMENT", ", %shift: !torch.int" if shift is None else ""))
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS162", "repaired")]


@pytest.mark.parametrize("size, shift", [("8", 11), ("8", -8), ("8", -19), ("?", 11), ("?", -2)])
def test_a_shift_is_wrapped(tmp_path, size, shift):
    _built(tmp_path, size, shift)
    for rows in [8] if size == "8" else [0, 1, 2, 3, 30]:
        x = np.arange(2.0 * rows, dtype=np.float32).reshape(rows, 2)
        [answer] = all_computed(tmp_path, x)
        np.testing.assert_array_equal(answer, np.roll(x, shift, 0))


def test_a_shift_that_the_call_decides_is_wrapped(tmp_path):
    _built(tmp_path, "?", None)
    x = np.arange(10, dtype=np.float32).reshape(5, 2)
    for shift in (0, 2, 5, 7, 1000, -1, -5, -6, -1001):
        [answer] = all_computed(tmp_path, x, np.int64(shift))
        np.testing.assert_array_equal(answer, np.roll(x, shift, 0))


def test_stock_does_not_roll(tmp_path):
    _built(tmp_path, "8", 11)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    x = np.arange(16, dtype=np.float32).reshape(8, 2)
    [answer] = all_computed(tmp_path, x)
    np.testing.assert_array_equal(answer, x)
