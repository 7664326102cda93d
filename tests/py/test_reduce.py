"""`fissile reduce`: a small program that fails as the large one does, on stock IREE too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from small_programs import ADD, TARGETS, quantised_conv
from test_split_reductions import softmax

BIN = Path(sys.executable).parent


def run(program, *words):
    return subprocess.run([BIN / program, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)


def test_the_reduced_program_fails_alike_on_stock_iree(tmp_path):
    source, reduced = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(quantised_conv(requantise=True))
    done = run("fissile", "reduce", *TARGETS["gfx942"], source, "-o", reduced)
    assert done.returncode == 0, done.stderr
    assert "2 of 5 source ops" in done.stderr, "the dequantised input and the convolution are enough"
    stock = run("iree-compile", *TARGETS["gfx942"], reduced, "-o", "/dev/null")
    assert stock.returncode == 1 and "bytes of shared memory; exceeded" in stock.stderr
    said = reduced.read_text().split("needs ")[1].split(" bytes")[0]
    assert f"uses {said} bytes" in stock.stderr, "the number in its first line is IREE's"


def test_what_iree_says_nothing_of_is_shown_by_fissile(tmp_path):
    source, reduced = tmp_path / "in.mlir", tmp_path / "reduced.mlir"
    source.write_text(softmax((1, 22001), 1))
    done = run("fissile", "reduce", *TARGETS["vulkan"], source, "-o", reduced)
    assert done.returncode == 0 and "IREE says nothing of it" in done.stderr
    command = reduced.read_text().splitlines()[1].removeprefix("// shown by: ").split()
    assert command[:3] == ["fissile", "compile", "--repair=suggest"]
    shown = run("fissile", *command[1:-3], reduced, "-o", tmp_path / "x.vmfb")
    assert shown.returncode == 1 and "error[FIS125]" in shown.stderr
    assert run("iree-compile", *TARGETS["vulkan"], reduced, "-o", "/dev/null").returncode == 0


def test_a_healthy_program_has_nothing_to_reduce(tmp_path):
    source, reduced = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(ADD)
    done = run("fissile", "reduce", *TARGETS["gfx942"], source, "-o", reduced)
    assert done.returncode == 2 and "nothing to reduce" in done.stderr and not reduced.exists()


def test_an_unknown_dispatch_names_the_nearest(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(quantised_conv())
    done = run("fissile", "reduce", *TARGETS["gfx942"], source, "--dispatch=main_dispatch_0_conv", "-o", tmp_path / "o.mlir")
    assert done.returncode == 2 and "main_dispatch_0_conv_64x16x16x64x3x3_f32" in done.stderr
