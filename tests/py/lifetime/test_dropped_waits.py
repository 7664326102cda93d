"""Command buffers that do not wait for what they use (FIS194): stock's calls fail now and then, and the repaired ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run
from iree.compiler import ir

import fissile
from fissile.passes.analysis.host.dropped_waits import dropped_waits
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.rules import RULES

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
X = np.array([[1, 2], [3, 4]], np.int32)
Y = np.array([[10, 20], [30, 40]], np.int32)
WANTED = (Y, np.array([[4, 1], [0, 2]]), X * Y)
TIMES = 8


@pytest.mark.parametrize("runtime", PRESENT)
def test_every_call_is_right_after_the_repair(tmp_path, runtime):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(RULES["FIS194"].shown.program.replace("@f", "@main"))
    report = fissile.compile(source, output, [*FLAGS[runtime], "--guard=off"])
    assert ("FIS194", "repaired") in [(f.code, f.severity.value) for f in report.findings]
    for _ in range(TIMES):
        for found, wanted in zip(run(output, [X, Y], runtime), WANTED, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_stock_drops_the_wait(tmp_path):
    """Where this fails IREE has changed, and FIS194 is not needed any more. What a call comes to depends on timing."""
    source, scheduled = tmp_path / "in.mlir", tmp_path / "stream.mlir"
    source.write_text(RULES["FIS194"].shown.program)
    assert compile_stock(source, scheduled, [*CPU, "--compile-to=stream"]) is None
    with ir.Context():
        assert len(dropped_waits(ir.Module.parse(scheduled.read_text()).operation)) == 1


def test_silent_where_nothing_is_waited_for_on_the_host(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(RULES["FIS194"].shown.repaired.replace("@f", "@main"))
    report = fissile.compile(source, output, [*CPU, "--guard=off"])
    assert report.output and not report.findings


def test_not_repaired_no_output_is_written(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(RULES["FIS194"].shown.program)
    report = fissile.compile(source, output, [*CPU, "--guard=off", "--repair=off"], check=False)
    assert [f.code for f in report.errors] == ["FIS194"] and not output.exists()
