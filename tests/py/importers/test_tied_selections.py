"""Gradients of maxima over windows with equal elements: stock IREE takes the last of them, the program means the first (FIS170)."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.rules import RULES

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
TEXT = RULES["FIS170"].shown.program.replace("@f", "@main")
X = np.float32([[0, 0, 1, 3], [0, 0, 3, 2], [5, 1, 0, 7], [5, 5, 7, 7]])
GRADIENT = np.float32([[1, 2], [3, 4]])
FIRST = np.float32([[1, 0, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4], [0, 0, 0, 0]])


@pytest.mark.parametrize("relation", ("GE", "GT"))
@pytest.mark.parametrize("runtime", PRESENT)
def test_the_element_that_the_program_selects(tmp_path, runtime, relation):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(TEXT.replace("GE", relation))
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    assert ("FIS170", "repaired") in [(f.code, f.severity.value) for f in report.findings]
    # With GT the next one of equal elements is taken, and so the last.
    wanted = FIRST if relation == "GE" else selected_last()
    np.testing.assert_array_equal(run(output, [X, GRADIENT], runtime)[0], wanted)


def selected_last() -> np.ndarray:
    wanted = np.zeros((4, 4), np.float32)
    for row in (0, 1):
        for column in (0, 1):
            window = X[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            last = np.argwhere(window == window.max())[-1]
            wanted[2 * row + last[0], 2 * column + last[1]] = GRADIENT[row, column]
    return wanted


def test_stock_selects_the_last(tmp_path):
    """Where this fails IREE has changed, and FIS170 makes numbers wrong."""
    (tmp_path / "in.mlir").write_text(TEXT)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is None
    np.testing.assert_array_equal(run(tmp_path / "stock.vmfb", [X, GRADIENT])[0], selected_last())


def test_not_repaired_it_is_a_warning(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(TEXT)
    report = fissile.compile(source, output, [*CPU, "--repair=off"], check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS170", "warning")]
    assert "FIS170" in {f.code for f in fissile.check(source, ["llvm-cpu"]).findings}
