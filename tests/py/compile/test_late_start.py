"""`--compile-from`: what fissile checks at the phase that a program was written behind, or before it, is checked where it is read; FIS008 behind that."""

from __future__ import annotations

import json

import built
import numpy as np
import pytest

from fissile.cli.main import main
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_vmfb

TENSORS = ("input", "abi", "preprocessing", "global-optimization")
VULKAN = ("--iree-hal-target-device=vulkan",)
GATHER = """
func.func @main(%x: tensor<4xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<3xi32>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: i32, %out: f32):
    %j = arith.index_cast %in : i32 to index
    %v = tensor.extract %x[%j] : tensor<4xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
"""
COUNTER = """
util.global private mutable @g = dense<1.0> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %before = util.global.load @g : tensor<4xf32>
  scf.for %k = %c0 to %n step %c1 {
    %now = util.global.load @g : tensor<4xf32>
    %sum = arith.addf %now, %x : tensor<4xf32>
    util.global.store %sum, @g : tensor<4xf32>
  }
  %after = util.global.load @g : tensor<4xf32>
  return %before, %after : tensor<4xf32>, tensor<4xf32>
}
"""
SWAP = """
func.func @main(%a: tensor<4xf32> {iree.abi.output = 1 : index}, %b: tensor<4xf32> {iree.abi.output = 0 : index}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
"""
HALVES = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf16> {
  %r = arith.truncf %x : tensor<8xf32> to tensor<8xf16>
  return %r : tensor<8xf16>
}
"""


def resumed(tmp_path, text, phase, flags=built.CPU, *words):
    """The exit status and the findings of a compile of what stock IREE writes behind ``phase``."""
    source, written, report = tmp_path / "in.mlir", tmp_path / "written.mlir", tmp_path / "report.json"
    source.write_text(text)
    assert compile_stock(source, written, [*flags, f"--compile-to={phase}"]) is None
    status = main(
        [
            "compile", str(written), *flags, f"--compile-from={phase}", "-o", str(tmp_path / "out.vmfb"),
            "--format=json", f"--report-file={report}", *words,
        ]
    )  # fmt: skip
    return status, {one["code"] for one in json.loads(report.read_text())["findings"]}


def answer(tmp_path, *inputs):
    [runtime] = runtimes.named(["local-task"])
    path = tmp_path / "out.vmfb"
    return runtimes.run(path, signatures_of_vmfb(path)["main"], list(inputs), runtime)


@pytest.mark.parametrize("phase", TENSORS)
def test_an_index_is_checked(tmp_path, phase):
    assert resumed(tmp_path, GATHER, phase) == (0, {"FIS202"})
    x = np.arange(4, dtype=np.float32)
    [good] = answer(tmp_path, x, np.array([3, 0, 1], np.int32))
    assert good.tolist() == [3, 0, 1]
    assert "must be in 0..3" in str(answer(tmp_path, x, np.array([0, 1, 100000000], np.int32)))


@pytest.mark.parametrize("phase", ["input", "abi"])
def test_a_global_keeps_its_order(tmp_path, phase):
    status, codes = resumed(tmp_path, COUNTER, phase)
    assert status == 0 and "FIS183" in codes
    before, after = answer(tmp_path, np.arange(4, dtype=np.float32), 3)
    assert before.tolist() == [1, 1, 1, 1] and after.tolist() == [1, 4, 7, 10]


def test_donated_arguments_are_copied(tmp_path):
    assert resumed(tmp_path, SWAP, "global-optimization") == (0, {"FIS229"})
    found = answer(tmp_path, np.ones(4, np.float32), np.full(4, 2, np.float32))
    assert [one.tolist() for one in found] == [[1] * 4, [2] * 4]


def test_configured_dispatches_are_looked_at(tmp_path):
    status, codes = resumed(tmp_path, HALVES, "executable-configurations", VULKAN)
    assert status == 1 and codes == {"FIS008", "FIS110"}


@pytest.mark.parametrize(
    "phase, named",
    [
        ("flow", "sizes, indices and the order of reads and writes"),
        ("executable-targets", "what dispatches need and what they compute"),
    ],
)
def test_what_is_not_checked_is_named(tmp_path, phase, named, capsys):
    assert resumed(tmp_path, GATHER, phase) == (0, {"FIS008"})
    [finding] = json.loads((tmp_path / "report.json").read_text())["findings"]
    assert finding["severity"] == "note" and finding["message"].endswith(named)
    (tmp_path / "out.vmfb").unlink()
    status = main(
        [
            "compile", str(tmp_path / "written.mlir"), *built.CPU, f"--compile-from={phase}", "--strict",
            "-o", str(tmp_path / "out.vmfb"),
        ]
    )  # fmt: skip
    assert status == 3 and not (tmp_path / "out.vmfb").exists()
    assert "not checked behind phase" in capsys.readouterr().err


def test_no_note_where_nothing_is_to_be_checked(tmp_path):
    assert resumed(tmp_path, GATHER, "flow", built.CPU, "--guard=off", "--repair=off") == (0, set())
