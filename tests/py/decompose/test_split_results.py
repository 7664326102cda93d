"""Ops with several results as one for each: equal to NumPy, and built where a sum of two that start from one tensor is refused."""

import numpy as np
import pytest
from built import build, run
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import fissile

GFX942 = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]
PROGRAM = """
func.func @main(%x: tensor<{rows}x{columns}xf32>, %start: tensor<{rows}xf32>) -> (tensor<{rows}xf32>, tensor<{rows}xf32>, tensor<{rows}xf32>) {{
  %r:3 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>,
                                          affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{rows}x{columns}xf32>) outs(%start, %start, %start : tensor<{rows}xf32>, tensor<{rows}xf32>, tensor<{rows}xf32>) {{
  ^bb0(%a: f32, %s: f32, %t: f32, %u: f32):
    %square = arith.mulf %a, %a : f32
    %sum = arith.addf %a, %s : f32
    %squares = arith.addf %square, %t : f32
    %largest = arith.maximumf %square, %u : f32
    linalg.yield %sum, %squares, %largest : f32, f32, f32
  }} -> (tensor<{rows}xf32>, tensor<{rows}xf32>, tensor<{rows}xf32>)
  return %r#0, %r#1, %r#2 : tensor<{rows}xf32>, tensor<{rows}xf32>, tensor<{rows}xf32>
}}
"""


@settings(max_examples=examples(3, 8), deadline=None, derandomize=True)
@given(st.integers(1, 20), st.integers(1, 70), st.booleans())
def test_the_same_numbers(tmp_path_factory, rows, columns, dynamic):
    path = tmp_path_factory.mktemp("apart") / "x.vmfb"
    text = PROGRAM.format(rows="?" if dynamic else rows, columns=columns)
    changed = build(text, path, "fissile-split-results")
    assert ":3 = linalg.generic" not in changed and changed.count("linalg.generic") == 3
    rng = np.random.default_rng(rows * columns)
    x, start = (
        rng.integers(-9, 9, (rows, columns)).astype(np.float32),
        rng.integers(-9, 9, rows).astype(np.float32),
    )
    found = run(path, [x, start])
    np.testing.assert_array_equal(found[0], start + x.sum(axis=1))
    np.testing.assert_array_equal(found[1], start + (x * x).sum(axis=1))
    np.testing.assert_array_equal(found[2], np.maximum(start, (x * x).max(axis=1)))


@pytest.mark.parametrize("rows", [8, "?"])
def test_it_is_repaired(tmp_path, rows):
    """Stock: `failed to bufferize op`, and a write that is not distributed to the threads."""
    source = tmp_path / "x.mlir"
    source.write_text(PROGRAM.format(rows=rows, columns=64))
    done = [
        f
        for f in fissile.compile(source, tmp_path / "x.vmfb", [*GFX942, "--guard=off"], check=False).findings
    ]
    assert [(f.code, f.severity.value) for f in done] == [
        ("FIS108", "repaired")
    ] and "fissile-split-results" in str(done[0].helps)


def test_sums_of_their_own_tensors_are_no_finding(tmp_path):
    source = tmp_path / "x.mlir"
    text = PROGRAM.format(rows=8, columns=64).replace(
        "%start: tensor<8xf32>)", "%start: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>)"
    )
    source.write_text(text.replace("outs(%start, %start, %start", "outs(%start, %b, %c"))
    assert not fissile.compile(source, tmp_path / "x.vmfb", GFX942, check=False).findings
