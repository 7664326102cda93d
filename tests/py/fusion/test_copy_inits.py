"""Sums that are added to a tensor which they read: IREE rejects the dispatch; fissile copies the tensor first."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
N = 512


def program(size: str) -> str:
    x, a = f"tensor<{size}xi32>", f"tensor<{size}x{size}xi32>"
    return f"""
func.func @main(%a: {a}, %x: {x}) -> {x} {{
  %y = arith.muli %x, %x : {x}
  %r = linalg.matvec ins(%a, %y : {a}, {x}) outs(%y : {x}) -> {x}
  return %r : {x}
}}"""


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize(("size", "code"), [(str(N), "FIS108"), ("?", "FIS105")])
def test_a_product_is_added_to_the_vector_that_it_reads(tmp_path, runtime, size, code):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(size))
    report = fissile.compile(source, output, [*FLAGS[runtime], "--guard=off"])
    found = [f for f in report.findings if f.severity.value == "repaired"]
    assert [f.code for f in found] == [code] and "both reads and adds to" in found[0].helps[0].title
    generator = np.random.default_rng(1)
    a, x = generator.integers(-9, 10, (N, N)).astype(np.int32), generator.integers(-9, 10, N).astype(np.int32)
    for _ in range(3):
        [got] = run(output, [a, x], runtime)
        np.testing.assert_array_equal(got, x * x + a @ (x * x))


@pytest.mark.parametrize("size", [str(N), "?"])
def test_stock_rejects_it(tmp_path, size):
    """Where this fails IREE has changed, and the pass is not needed any more."""
    (tmp_path / "in.mlir").write_text(program(size))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is not None
