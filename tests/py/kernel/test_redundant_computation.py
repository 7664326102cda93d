"""FIS127: threads that all accumulate into the same elements are reported, given elements of their own, and right on lavapipe."""

import subprocess

import numpy as np
import pytest
from built import run
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from small_programs import convolution, convolved, quantised_conv

import fissile
from fissile.pipelines.native_programs import stock_compiler
from fissile.pipelines.numerics import runtimes

VULKAN = ["--iree-hal-target-device=vulkan"]
NO_VULKAN = pytest.mark.skipif(
    "vulkan" not in {r.name for r in runtimes.present()}, reason="no Vulkan device answers here"
)
POOL = """
func.func @main(%x: tensor<{n}x{c}x{h}x{w}xf32>) -> tensor<{n}x{c}x{oh}x{ow}xf32> {{
  %zero = arith.constant 0.0 : f32
  {count}
  %e = tensor.empty({size}) : tensor<{n}x{c}x{oh}x{ow}xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{n}x{c}x{oh}x{ow}xf32>) -> tensor<{n}x{c}x{oh}x{ow}xf32>
  %r = linalg.pooling_nchw_sum {{strides = dense<1> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}}
      ins(%x, %k : tensor<{n}x{c}x{h}x{w}xf32>, tensor<3x3xf32>)
      outs(%f : tensor<{n}x{c}x{oh}x{ow}xf32>) -> tensor<{n}x{c}x{oh}x{ow}xf32>
  return %r : tensor<{n}x{c}x{oh}x{ow}xf32>
}}
"""


def pool(n, c, oh, ow) -> str:
    """A 3x3 sum pooling with a result of n (None: dynamic) x c x oh x ow."""
    sized = (
        {"n": n, "count": "", "size": ""}
        if n
        else {
            "n": "?",
            "size": "%n",
            "count": f"%c0 = arith.constant 0 : index\n  %n = tensor.dim %x, %c0 : tensor<?x{c}x{oh + 2}x{ow + 2}xf32>",
        }
    )
    return POOL.format(c=c, h=oh + 2, w=ow + 2, oh=oh, ow=ow, **sized)


def in_numpy(x):
    return np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3)).sum(axis=(4, 5))


def compiled(text, tmp_path, *more):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    return fissile.compile(source, output, [*VULKAN, *more], check=False), output


@pytest.mark.parametrize(
    "threads,size",
    [
        (64, (1, 64, 7, 7)),
        (8, (1, 64, 7, 8)),
        (8, (1, 64, 8, 7)),
        (32, (1, 64, 13, 26)),
        (64, (None, 64, 7, 7)),
    ],
)
def test_it_is_told_and_repaired(tmp_path, threads, size):
    source = tmp_path / "x.mlir"
    source.write_text(pool(*size))
    [reported] = [f for f in fissile.check(source, ["vulkan"]).findings if f.code.startswith("FIS1")]
    assert (reported.code, reported.severity.value) == ("FIS127", "warning") and reported.message.startswith(
        f"{threads} threads"
    )
    [done] = compiled(pool(*size), tmp_path)[0].findings
    assert (done.code, done.severity.value) == ("FIS127", "repaired") and "flat=true" in str(done.helps)


def test_what_is_only_slow_is_left_to_stock_unless_lavapipe_is_the_target(tmp_path):
    """Eight threads sum the same vectors, each for itself: right on every device, so the default target's code stays stock's."""
    source, stock = tmp_path / "x.mlir", tmp_path / "stock.vmfb"
    source.write_text(convolution(1, 192, 64, 7, 7, 1, 1))
    subprocess.run([stock_compiler(), *VULKAN, str(source), "-o", str(stock)], check=True)
    report, output = compiled(source.read_text(), tmp_path)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS127", "warning")]
    assert output.read_bytes() == stock.read_bytes()
    report, output = compiled(source.read_text(), tmp_path, "--tune")
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS127", "repaired")]


def test_what_no_device_was_seen_to_get_wrong_is_not_withheld(tmp_path):
    """Without repairs stock's module comes out, with a warning; threads may lose terms, and nobody has seen them do it."""
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(pool(1, 64, 7, 7))
    report = fissile.compile(source, output, VULKAN, repair="off", check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS127", "warning")]
    stock = tmp_path / "stock.vmfb"
    subprocess.run([stock_compiler(), *VULKAN, str(source), "-o", str(stock)], check=True)
    assert output.read_bytes() == stock.read_bytes()


@pytest.mark.parametrize("size", [(1, 64, 8, 8), (1, 64, 14, 14), (1, 3, 28, 28), (2, 64, 16, 4)])
def test_sizes_with_a_thread_for_each_element_are_no_finding(tmp_path, size):
    assert not compiled(pool(*size), tmp_path)[0].findings


@NO_VULKAN
@settings(max_examples=examples(3, 8), deadline=None, derandomize=True)
@given(
    st.tuples(st.integers(1, 3), st.integers(1, 70), st.integers(1, 15), st.integers(1, 15)), st.booleans()
)
def test_any_pooling_is_right_on_the_device(tmp_path_factory, size, dynamic):
    report, output = compiled(pool(None if dynamic else size[0], *size[1:]), tmp_path_factory.mktemp("pool"))
    assert all(f.severity.value in ("repaired", "note") for f in report.findings)
    n, c, oh, ow = size
    x = np.random.default_rng(0).integers(-8, 8, (n, c, oh + 2, ow + 2)).astype(np.float32)
    np.testing.assert_array_equal(run(output, [x], "vulkan")[0], in_numpy(x))


@NO_VULKAN
def test_a_boundary_that_leaves_such_a_sum_is_followed_up(tmp_path):
    """On a device with 8-bit storage the race is cut off, and the convolution behind it is another one."""
    report, output = compiled(quantised_conv(16, 64, 7), tmp_path, "--fissile-match-device=vulkan")
    [done] = report.findings
    assert (done.code, done.severity.value) == ("FIS111", "repaired") and "flat=true" in str(done.helps)
    rng = np.random.default_rng(0)
    x, w = (
        rng.integers(-8, 8, (1, 16, 9, 9)).astype(np.int8),
        rng.integers(-4, 4, (64, 16, 3, 3)).astype(np.int8),
    )
    np.testing.assert_array_equal(run(output, [x, w], "vulkan")[0], convolved(x / 128, w / 128))


TWO_POOLINGS = """
func.func @main(%x: tensor<1x64x9x9xf32>, %y: tensor<1x64x15x15xf32>) -> (tensor<1x64x9x9xf32>, tensor<1x64x7x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x7x7xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %a = linalg.pooling_nchw_sum {strides = dense<1> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %k : tensor<1x64x9x9xf32>, tensor<3x3xf32>) outs(%f : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %b = linalg.pooling_nchw_sum {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%y, %k : tensor<1x64x15x15xf32>, tensor<3x3xf32>) outs(%f : tensor<1x64x7x7xf32>) -> tensor<1x64x7x7xf32>
  %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %w: index):
    tensor.yield %zero : f32
  } : tensor<1x64x7x7xf32> to tensor<1x64x9x9xf32>
  return %p, %b : tensor<1x64x9x9xf32>, tensor<1x64x7x7xf32>
}
"""


def test_two_that_start_from_one_fill_are_both_repaired(tmp_path):
    done = compiled(TWO_POOLINGS, tmp_path)[0].findings
    assert [(f.code, f.severity.value) for f in done] == [("FIS127", "repaired")] * 2


@pytest.mark.parametrize("threads,f,h,c", [(8, 64, 7, 192), (32, 256, 3, 528), (0, 96, 7, 192)])
def test_vectors_that_every_thread_computes_are_reported(tmp_path, threads, f, h, c):
    """A thread has whole rows of pixels as vectors, so the block's threads are for channels, and get none. Four are few enough."""
    reported = compiled(convolution(1, c, f, h, h, 1, 1), tmp_path)[0].findings
    assert [f"{f.code} {f.severity.value} {f.message[:22]}" for f in reported] == (
        [f"FIS127 warning {f'{threads} threads each compute'[:22]}"] if threads else []
    )


@NO_VULKAN
def test_such_vectors_are_right_on_the_device(tmp_path):
    report, output = compiled(convolution(1, 192, 64, 7, 7, 1, 1), tmp_path, "--tune")
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS127", "repaired")]
    rng = np.random.default_rng(0)
    x, k = (
        rng.integers(-8, 8, (1, 192, 7, 7)).astype(np.float32),
        rng.integers(-8, 8, (64, 192, 1, 1)).astype(np.float32),
    )
    np.testing.assert_array_equal(run(output, [x, k], "vulkan")[0], convolved(x, k))
