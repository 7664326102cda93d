"""FIS111: the position of the largest element of one row on Vulkan, which 64 threads would search in the same place, is searched by one."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, written

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

VULKAN = ("--iree-hal-target-device=vulkan",)
ARGMAX = """func.func @main(%x: !torch.vtensor<[ROWS,COLUMNS],f32>) -> !torch.vtensor<[ROWS],si64> {
  %last = torch.constant.int -1
  %no = torch.constant.bool false
  %r = torch.aten.argmax %x, %last, %no : !torch.vtensor<[ROWS,COLUMNS],f32>, !torch.int, !torch.bool -> !torch.vtensor<[ROWS],si64>
  return %r : !torch.vtensor<[ROWS],si64>
}
"""


def _compiled(folder, rows, columns):
    written(folder, ARGMAX.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)))
    return fissile.compile(folder / "main.mlir", folder / "out.vmfb", [*VULKAN], check=False).findings


@pytest.mark.parametrize("columns", [50, 1000])
def test_one_row_has_one_thread(tmp_path, columns):
    [found] = _compiled(tmp_path, 1, columns)
    assert (found.code, found.severity.value) == ("FIS111", "repaired")
    assert [one.remedy for one in found.helps] == ["fissile-set-lowering"]
    if "vulkan" in [one.name for one in runtimes.present()]:
        x = np.random.default_rng(columns).standard_normal((1, columns)).astype(np.float32)
        assert all_computed(tmp_path, x, device="vulkan")[0].tolist() == [x.argmax()]


def test_rows_enough_stay_as_they_are(tmp_path):
    assert not _compiled(tmp_path, 4, 50)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "stock.vmfb", VULKAN) is None
    assert (tmp_path / "stock.vmfb").read_bytes() == (tmp_path / "out.vmfb").read_bytes()
