"""Convolutions that one thread would compute whole, read by element in one loop: equal to NumPy, and built so where FIS125 says it."""

import numpy as np
import pytest
from built import build, run
from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_programs import convolution, convolved

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.pipelines.session import PhaseFailed

VULKAN = ["--iree-hal-target-device=vulkan"]
NO_VULKAN = pytest.mark.skipif(
    "vulkan" not in {r.name for r in runtimes.present()}, reason="no Vulkan device answers here"
)


def values(n, c, f, h, w, kh, kw):
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(np.float32) for shape in ((n, c, h, w), (f, c, kh, kw))]


@settings(max_examples=examples(4, 12), deadline=None, derandomize=True)
@given(
    st.tuples(*[st.integers(1, 4)] * 3),
    st.tuples(*[st.integers(3, 8)] * 2),
    st.tuples(*[st.integers(1, 3)] * 2),
    st.integers(1, 2),
)
def test_any_convolution(tmp_path_factory, channels, size, kernel, stride):
    path, sizes = tmp_path_factory.mktemp("flat") / "x.vmfb", (*channels, *size, *kernel)
    assume(_several_loops(sizes, stride))
    try:
        changed = build(convolution(*sizes, stride), path, "fissile-read-by-element{ops=1 flat=true}")
    except PhaseFailed as failed:
        # IREE refuses borders that no window reads (FIS119), and leaves a cast behind in some tiny ones on llvm-cpu.
        assume(
            not any(
                known in failed.message
                for known in ("inferred input/output operand", "unrealized_conversion_cast")
            )
        )
        raise
    assert "tensor.extract" in changed
    x, k = values(*sizes)
    np.testing.assert_allclose(run(path, [x, k])[0], convolved(x, k, stride), rtol=1e-5, atol=1e-5)


def _several_loops(sizes, stride) -> bool:
    """Whether two of the result's loops are left when IREE has dropped those that run once."""
    n, _c, f, h, w, kh, kw = sizes
    return sum(size > 1 for size in (n, f, (h - kh) // stride + 1, (w - kw) // stride + 1)) > 1


ODD = (1, 160, 128, 9, 9, 3, 3)
"""64 of the channels, 1440 terms of each: 128 times what one thread should do."""


def test_it_is_told_and_flattened(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(convolution(*ODD))
    [reported] = fissile.check(source, ["vulkan"]).findings
    assert (reported.code, reported.severity.value) == ("FIS125", "error")
    [done] = fissile.compile(source, tmp_path / "x.vmfb", VULKAN, check=False).findings
    assert (done.code, done.severity.value) == ("FIS125", "repaired") and "flat=true" in str(done.helps)


@NO_VULKAN
def test_it_is_right_on_the_device(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(convolution(*ODD))
    assert fissile.compile(source, output, VULKAN, check=False).output
    x, k = values(*ODD)
    np.testing.assert_allclose(run(output, [x, k], "vulkan")[0], convolved(x, k, 1), rtol=1e-4, atol=1e-3)


def test_an_even_size_is_no_finding(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(convolution(1, 160, 128, 18, 18, 3, 3))
    assert not fissile.check(source, ["vulkan"]).findings


POINTWISE = """
func.func @main(%x: tensor<32x3x3xf16>, %w: tensor<128x32xf16>) -> tensor<128x3x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x3x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x3x3xf32>) -> tensor<128x3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(o, i, j, k) -> (k, i, j)>, affine_map<(o, i, j, k) -> (o, k)>,
      affine_map<(o, i, j, k) -> (o, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<32x3x3xf16>, tensor<128x32xf16>) outs(%f : tensor<128x3x3xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<128x3x3xf32>
  return %r : tensor<128x3x3xf32>
}
"""


@NO_VULKAN
def test_of_one_sum_a_subgroup_adds_it_up(tmp_path):
    """IREE reads its rows by vectors whose place an element of a vector of indices says: none is beside its place (no FIS112)."""
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(POINTWISE)
    report = fissile.compile(source, output, [*VULKAN, "--iree-vulkan-target=llvmpipe"], check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS127", "repaired")]
    assert report.facts["edits"] == ["fissile-read-by-element 1"]
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape).astype(np.float16) for shape in ((32, 3, 3), (128, 32)))
    [runtime] = runtimes.named(["vulkan"])
    [got] = runtimes.run(output, signatures_of_vmfb(output)["main"], [x, w], runtime)
    np.testing.assert_allclose(
        got, np.einsum("ok,kij->oij", w.astype(np.float64), x.astype(np.float64)), rtol=1e-5, atol=1e-5
    )


MMT4D = """
func.func @main(%a: tensor<4x16x2x7xf16>, %b: tensor<1x16x2x7xf16>) -> tensor<4x1x2x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x1x2x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x1x2x2xf32>) -> tensor<4x1x2x2xf32>
  %r = linalg.mmt4d ins(%a, %b : tensor<4x16x2x7xf16>, tensor<1x16x2x7xf16>) outs(%f : tensor<4x1x2x2xf32>) -> tensor<4x1x2x2xf32>
  return %r : tensor<4x1x2x2xf32>
}
"""


@NO_VULKAN
def test_a_product_of_small_tiles_that_races_has_one_loop_for_its_terms(tmp_path):
    """FIS111. Read by element IREE still vectorises its f16 and refuses the vectors."""
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(MMT4D)
    report = fissile.compile(source, output, [*VULKAN, "--match-device=vulkan"], check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS111", "repaired")]
    assert "flat-sums=true" in str(report.findings[0].helps)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((4, 16, 2, 7), (1, 16, 2, 7)))
    [runtime] = runtimes.named(["vulkan"])
    [got] = runtimes.run(output, signatures_of_vmfb(output)["main"], [a, b], runtime)
    wanted = np.einsum("mkxy,nkzy->mnxz", a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
