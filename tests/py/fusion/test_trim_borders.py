"""Windows at one position that leave a border unread: IREE refuses them, trimmed they compute the same numbers."""

import iree.runtime
import numpy as np
import pytest

import fissile
from fissile.cli.main import main
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)


def convolution(height: int, width: int, window: int, stride: int) -> str:
    """A convolution of 3 channels to 5, NCHW, on a padded producer: what networks have in front of it."""
    rows, columns = ((size - window) // stride + 1 for size in (height, width))
    x, w, r = (
        f"tensor<1x3x{height}x{width}xf32>",
        f"tensor<5x3x{window}x{window}xf32>",
        f"tensor<1x5x{rows}x{columns}xf32>",
    )
    return f"""
func.func @f(%x0: tensor<1x3x{height - 1}x{width}xf32>, %w: {w}) -> {r} {{
  %zero = arith.constant 0.0 : f32
  %x = tensor.pad %x0 low[0, 0, 1, 0] high[0, 0, 0, 0] {{
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  }} : tensor<1x3x{height - 1}x{width}xf32> to {x}
  %e = tensor.empty() : {r}
  %i = linalg.fill ins(%zero : f32) outs(%e : {r}) -> {r}
  %r = linalg.conv_2d_nchw_fchw {{strides = dense<{stride}> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}}
      ins(%x, %w : {x}, {w}) outs(%i : {r}) -> {r}
  return %r : {r}
}}
"""


def convolved(x: np.ndarray, w: np.ndarray, stride: int) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], axis=(2, 3))[
        :, :, ::stride, ::stride
    ]
    return np.einsum("nchwij,fcij->nfhw", windows.astype(np.float64), w)


@pytest.mark.parametrize(
    ("height", "width", "window", "stride"), ((4, 4, 3, 2), (4, 7, 3, 2), (3, 9, 2, 2), (5, 4, 3, 3))
)
def test_the_same_numbers_where_stock_refuses(tmp_path, height, width, window, stride):
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(convolution(height, width, window, stride))
    refused = fissile.compile(source, output, list(CPU), repair="off", check=False)
    assert [f.code for f in refused.errors] == ["FIS408"] and not output.exists()
    report = fissile.compile(source, output, list(CPU), check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS119", "repaired")]
    assert "inferred" in report.findings[0].stock
    generator = np.random.default_rng(0)
    x = generator.standard_normal((1, 3, height - 1, width)).astype(np.float32)
    w = generator.standard_normal((5, 3, window, window)).astype(np.float32)
    loaded = iree.runtime.load_vm_flatbuffer_file(str(output), driver="local-sync")
    np.testing.assert_allclose(loaded.f(x, w).to_host(), convolved(x, w, stride), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("height", "width", "window", "stride"), ((3, 3, 3, 2), (5, 5, 3, 2), (3, 3, 1, 3)))
def test_silent_where_stock_takes_it(tmp_path, height, width, window, stride):
    source = tmp_path / "f.mlir"
    source.write_text(convolution(height, width, window, stride))
    report = fissile.compile(source, tmp_path / "f.vmfb", list(CPU), check=False)
    assert report.output and not report.findings


@pytest.mark.parametrize("target", ("gfx942", "sm_86", "vulkan"))
def test_other_targets_take_it_trimmed(tmp_path, target):
    source = tmp_path / "f.mlir"
    source.write_text(convolution(4, 4, 3, 2))
    report = fissile.compile(source, tmp_path / "f.vmfb", flags_for(find_target(target)), check=False)
    assert report.output and [f.code for f in report.findings if f.code == "FIS119"] == ["FIS119"]


def test_the_repair_is_suggested_where_asked(tmp_path):
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(convolution(4, 4, 3, 2))
    report = fissile.compile(source, output, list(CPU), repair="suggest", check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS119", "error")]
    assert not report.findings[0].helps[0].applied and not output.exists()


def test_another_failure_is_told_as_it_is(tmp_path):
    """An input that is refused before dispatches exist, and has no border to trim."""
    source = tmp_path / "f.mlir"
    source.write_text(
        convolution(4, 4, 3, 2).replace("linalg.fill ins(%zero : f32)", "linalg.unknown ins(%zero : f32)")
    )
    report = fissile.compile(source, tmp_path / "f.vmfb", list(CPU), check=False)
    assert [f.code for f in report.errors] == ["FIS406"]


@pytest.mark.parametrize(("size", "codes"), ((4, ["FIS119"]), (5, [])))
def test_check_tells_what_iree_refuses_and_looks_on(tmp_path, size, codes):
    source = tmp_path / "f.mlir"
    source.write_text(convolution(size, size, 3, 2))
    report = fissile.check(source, ["gfx942", "llvm-cpu"])
    assert [(f.code, f.target) for f in report.errors] == [
        (code, target) for target in ("gfx942", "llvm-cpu") for code in codes
    ]
    assert all(target["dispatches"] for target in report.facts["targets"])


def test_reduce_tells_it(tmp_path, capsys):
    source, output = tmp_path / "f.mlir", tmp_path / "out.mlir"
    source.write_text(convolution(4, 4, 3, 2))
    assert main(["reduce", *CPU, str(source), "-o", str(output)]) == 1
    assert "FIS119" in capsys.readouterr().err and not output.exists()
