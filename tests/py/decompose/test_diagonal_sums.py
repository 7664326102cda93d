"""FIS143: a subgroup's sum over several dimensions of gathered elements is found, repaired, and right on lavapipe."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fissile
from fissile.pipelines.numerics import runtimes

MATCHED = ["--iree-hal-target-device=vulkan"]
NO_VULKAN = pytest.mark.skipif(
    "vulkan" not in {r.name for r in runtimes.present()}, reason="no Vulkan device answers here"
)
BAG = """
func.func @main(%t: tensor<64xf32>, %ix: tensor<{shape}xi32>) -> tensor<24xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({order})>, affine_map<({loops}) -> (i)>],
                       iterator_types = ["parallel", {reductions}]}}
      ins(%ix : tensor<{shape}xi32>) outs(%f : tensor<24xf32>) {{
  ^bb0(%x: i32, %o: f32):
    %k = arith.index_cast %x : i32 to index
    %v = tensor.extract %t[%k] : tensor<64xf32>
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  }} -> tensor<24xf32>
  return %r : tensor<24xf32>
}}
"""
# The dimensions of the indices, their order, the axes that are summed.
SUMS = {
    "two apart": ((4, 24, 2), "j, i, k", (0, 2)),
    "three apart": ((2, 24, 2, 2), "j, i, k, l", (0, 2, 3)),
}
HEALTHY = {"one": ((24, 8), "i, j", (1,)), "two beside each other": ((24, 4, 2), "i, j, k", (1, 2))}


def program(dimensions, order: str) -> str:
    loops = ", ".join(sorted(order.split(", ")))
    reductions = ", ".join(['"reduction"'] * (len(dimensions) - 1))
    return BAG.format(shape="x".join(map(str, dimensions)), loops=loops, order=order, reductions=reductions)


def built(text: str, folder: Path, **how):
    (folder / "in.mlir").write_text(text)
    return fissile.compile(
        folder / "in.mlir",
        folder / "out.vmfb",
        [*MATCHED, "--guard=off"],
        match_device="vulkan",
        **how,
        check=False,
    )


def ran(folder: Path, dimensions):
    rng = np.random.default_rng(0)
    table, indices = (
        rng.standard_normal(64).astype(np.float32),
        rng.integers(0, 64, dimensions).astype(np.int32),
    )
    np.save(folder / "t.npy", table)
    np.save(folder / "ix.npy", indices)
    subprocess.run(
        [
            Path(sys.executable).parent / "iree-run-module",
            "--device=vulkan",
            f"--module={folder}/out.vmfb",
            f"--input=@{folder}/t.npy",
            f"--input=@{folder}/ix.npy",
            f"--output=@{folder}/y.npy",
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return np.load(folder / "y.npy"), table[indices]


@NO_VULKAN
@pytest.mark.parametrize("name", SUMS)
def test_it_is_found_and_repaired_and_right(name, tmp_path):
    dimensions, order, axes = SUMS[name]
    report = built(program(dimensions, order), tmp_path)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS143", "repaired")]
    result, terms = ran(tmp_path, dimensions)
    np.testing.assert_allclose(result, terms.sum(axes), rtol=1e-5, atol=1e-5)


@NO_VULKAN
def test_stock_computes_it_wrongly(tmp_path):
    """The reproducer: it fails when IREE is repaired, and FIS143 can go then."""
    dimensions, order, axes = SUMS["two apart"]
    report = built(program(dimensions, order), tmp_path, repair="off")
    assert [f.code for f in report.errors] == ["FIS143"] and not (tmp_path / "out.vmfb").exists()
    fissile.compile(
        tmp_path / "in.mlir",
        tmp_path / "out.vmfb",
        [*MATCHED, "--guard=off", "--allow-wrong-numbers"],
        match_device="vulkan",
        repair="off",
        check=False,
    )
    result, terms = ran(tmp_path, dimensions)
    assert not np.allclose(result, terms.sum(axes), rtol=1e-3, atol=1e-3)


@NO_VULKAN
@pytest.mark.parametrize("name", HEALTHY)
def test_sums_that_a_subgroup_adds_up_rightly_are_no_finding(name, tmp_path):
    dimensions, order, axes = HEALTHY[name]
    assert not built(program(dimensions, order), tmp_path).findings
    result, terms = ran(tmp_path, dimensions)
    np.testing.assert_allclose(result, terms.sum(axes), rtol=1e-5, atol=1e-5)
