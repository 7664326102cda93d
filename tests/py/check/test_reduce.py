"""`fissile reduce`: a small program that fails as the large one does, on stock IREE too."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from programs import run_program
from small_programs import ADD, TARGETS, quantised_conv
from test_split_reductions import softmax

BIN = Path(sys.executable).parent


def run(program, *words):
    return run_program(
        [BIN / program, *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )


def test_the_reduced_program_fails_alike_on_stock_iree(tmp_path):
    source, reduced = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(quantised_conv(requantise=True))
    done = run("fissile", "reduce", *TARGETS["gfx942"], source, "-o", reduced)
    assert done.returncode == 0, done.stderr
    assert "2 of 5 ops" in done.stderr, "the dequantised input and the convolution are enough"
    stock = run("iree-compile", *TARGETS["gfx942"], reduced, "-o", "/dev/null")
    assert stock.returncode == 1 and "bytes of shared memory; exceeded" in stock.stderr
    printed = reduced.read_text().split("needs ")[1].split(" bytes")[0]
    assert f"uses {printed} bytes" in stock.stderr, "the number in its first line is IREE's"
    command = shlex.split(reduced.read_text().splitlines()[1].removeprefix("// shown by: "))
    assert command[0] == "iree-compile" and command[-3:] == [str(reduced), "-o", "/dev/null"]
    assert shlex.join(command) in done.stderr


def test_the_command_of_a_reduced_program_on_standard_output_reads_one(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(quantised_conv(requantise=True))
    done = run("fissile", "reduce", *TARGETS["gfx942"], source)
    assert done.returncode == 0, done.stderr
    command = shlex.split(done.stdout.splitlines()[1].removeprefix("// shown by: "))
    again = subprocess.run(
        [BIN / command[0], *command[1:]],
        input=done.stdout,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert again.returncode == 1 and "bytes of shared memory; exceeded" in again.stderr


def test_what_iree_says_nothing_of_is_shown_by_fissile(tmp_path):
    source, reduced = tmp_path / "in.mlir", tmp_path / "reduced.mlir"
    source.write_text(softmax((1, 22001), 1))
    done = run("fissile", "reduce", *TARGETS["vulkan"], source, "-o", reduced)
    assert done.returncode == 0 and "IREE says nothing of it" in done.stderr
    command = reduced.read_text().splitlines()[1].removeprefix("// shown by: ").split()
    assert command[:3] == ["fissile", "compile", "--repair=suggest"]
    shown = run("fissile", *command[1:])
    assert shown.returncode == 1 and "error[FIS125]" in shown.stderr
    assert run("iree-compile", *TARGETS["vulkan"], reduced, "-o", "/dev/null").returncode == 0


NARROWED = """
func.func @main(%x: tensor<6x64xf32>) -> (tensor<6x64xf16>, tensor<64x6xf32>) {
  %n = tensor.empty() : tensor<6x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<6x64xf32>) outs(%n : tensor<6x64xf16>) {
  ^bb0(%e: f32, %o: f16):
    %i = arith.truncf %e : f32 to f16
    linalg.yield %i : f16
  } -> tensor<6x64xf16>
  %t = tensor.empty() : tensor<64x6xf32>
  %w = linalg.transpose ins(%x : tensor<6x64xf32>) outs(%t : tensor<64x6xf32>) permutation = [1, 0]
  return %r, %w : tensor<6x64xf16>, tensor<64x6xf32>
}
"""


def test_narrow_storage_that_iree_builds_wrong_is_reduced(tmp_path):
    source, reduced = tmp_path / "in.mlir", tmp_path / "reduced.mlir"
    source.write_text(NARROWED)
    done = run("fissile", "reduce", *TARGETS["vulkan"], source, "-o", reduced)
    assert done.returncode == 0 and "1 of 2 ops" in done.stderr, done.stderr
    assert "FIS110" in reduced.read_text() and "tensor<64x6xf32>" not in reduced.read_text()
    shown = run(
        "fissile", "compile", "--repair=suggest", *TARGETS["vulkan"], reduced, "-o", tmp_path / "x.vmfb"
    )
    assert shown.returncode == 1 and "error[FIS110]" in shown.stderr
    wider = run("fissile", "reduce", *TARGETS["gfx942"], source, "-o", tmp_path / "none.mlir")
    assert wider.returncode == 2 and "nothing to reduce" in wider.stderr, "gfx942 has such storage"


COPIED = """
func.func @main(%x: tensor<3x5xi8>, %y: tensor<4x64xf32>) -> (tensor<7x8xi8>, tensor<64x4xf32>) {{
  %z = arith.constant 7 : i8
  {moved}
  %t = tensor.empty() : tensor<64x4xf32>
  %w = linalg.transpose ins(%y : tensor<4x64xf32>) outs(%t : tensor<64x4xf32>) permutation = [1, 0]
  return %r, %w : tensor<7x8xi8>, tensor<64x4xf32>
}}
"""
PAD = """%r = tensor.pad %x low[1, 2] high[3, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : i8
  } : tensor<3x5xi8> to tensor<7x8xi8>"""
INSERT = """%e = tensor.splat %z : tensor<7x8xi8>
  %r = tensor.insert_slice %x into %e[2, 1] [3, 5] [1, 1] : tensor<3x5xi8> into tensor<7x8xi8>"""


@pytest.mark.parametrize("moved", [PAD, INSERT], ids=["pad", "insert_slice"])
def test_a_dispatch_of_no_structured_op_is_reduced(tmp_path, moved):
    """IREE makes it of an op that moves elements: the place it was written at is what is known of it."""
    source, reduced = tmp_path / "in.mlir", tmp_path / "reduced.mlir"
    source.write_text(COPIED.format(moved=moved))
    done = run("fissile", "reduce", *TARGETS["vulkan"], source, "-o", reduced)
    assert done.returncode == 0 and "FIS110" in reduced.read_text(), done.stderr
    assert "tensor<3x5xi8>" in reduced.read_text() and "f32" not in reduced.read_text()


def test_a_healthy_program_has_nothing_to_reduce(tmp_path):
    source, reduced = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(ADD)
    done = run("fissile", "reduce", *TARGETS["gfx942"], source, "-o", reduced)
    assert done.returncode == 2 and "nothing to reduce" in done.stderr and not reduced.exists()


def test_a_dispatch_of_a_healthy_program_is_told_so(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(ADD)
    done = run("fissile", "reduce", *TARGETS["gfx942"], source, "--dispatch=main", "-o", tmp_path / "o.mlir")
    assert done.returncode == 2 and "nothing fails" in done.stderr and not (tmp_path / "o.mlir").exists()


def test_an_unknown_dispatch_names_the_nearest(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(quantised_conv())
    done = run(
        "fissile",
        "reduce",
        *TARGETS["gfx942"],
        source,
        "--dispatch=main_dispatch_0_conv",
        "-o",
        tmp_path / "o.mlir",
    )
    assert done.returncode == 2 and "main_dispatch_0_conv_64x16x16x64x3x3_f32" in done.stderr


def test_a_reduced_program_that_stock_iree_builds_is_told_as_such(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "other_stock"))
    source = tmp_path / "in.mlir"
    source.write_text(quantised_conv(requantise=True))
    words = [BIN / "fissile", "reduce", *TARGETS["gfx942"], source, "-o", tmp_path / "out.mlir"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1 and "fail otherwise" in done.stderr
    assert "FIS152" in done.stderr and "stock IREE builds it" in done.stderr, done.stderr


def test_for_a_matched_device_it_says_that_stock_iree_was_not_run(tmp_path):
    source, reduced = tmp_path / "in.mlir", tmp_path / "reduced.mlir"
    source.write_text(softmax((1, 22001), 1))
    done = run(
        "fissile", "reduce", "--fissile-match-device=vulkan", *TARGETS["vulkan"], source, "-o", reduced
    )
    if "no Vulkan device" in done.stderr:
        pytest.skip("no Vulkan device")
    assert done.returncode == 0 and "stock IREE was not run on it" in done.stderr, done.stderr
    assert "--match-device=vulkan" in reduced.read_text().splitlines()[1]
