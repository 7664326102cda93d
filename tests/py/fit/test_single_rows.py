"""Rows of which IREE makes no good code on Vulkan: the position of the largest element of one row, which 64 threads would search in the same
place (FIS111), and the order of integers of 64 bits whose sorted values nothing uses (FIS104)."""

from __future__ import annotations

import numpy as np
import pytest
from entered_programs import all_computed, written
from reported_codes import codes

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


ORDER = """func.func @main(%x: !torch.vtensor<[24],si64>) -> !torch.vtensor<[24],si64> {
  %last = torch.constant.int -1
  %no = torch.constant.bool false
  %values, %order = torch.aten.sort %x, %last, %no : !torch.vtensor<[24],si64>, !torch.int, !torch.bool -> !torch.vtensor<[24],si64>, !torch.vtensor<[24],si64>
  return %order : !torch.vtensor<[24],si64>
}
"""


def test_values_that_nothing_uses_are_kept(tmp_path):
    written(tmp_path, ORDER)
    [found] = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*VULKAN], check=False).findings
    assert (found.code, found.severity.value) == ("FIS104", "repaired")
    assert [one.remedy for one in found.helps] == ["fissile-use-results"]
    if "vulkan" in [one.name for one in runtimes.present()]:
        x = np.random.default_rng(7).permutation(24) - 12
        assert all_computed(tmp_path, x, device="vulkan")[0].tolist() == np.argsort(x).tolist()


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_values_of_unknown_number_that_nothing_uses(tmp_path, target):
    """IREE gives each thread memory for all of them, and AMD's linker stops."""
    assert codes(tmp_path, ORDER.replace("[24]", "[?]"), target) == ["FIS105"]
