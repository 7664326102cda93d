"""FIS192: 8- and 16-bit integers that SPIR-V computes with 32 bits, which stock gets wrong on lavapipe."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.runtimes import present

VULKAN = ("--iree-hal-target-device=vulkan",)
LAVAPIPE = pytest.mark.skipif("vulkan" not in {r.name for r in present()}, reason="no Vulkan device")
SIZE = 512
X = np.random.default_rng(5).integers(-(2**31), 2**31 - 1, SIZE).astype(np.int32)
Y = np.random.default_rng(6).integers(1, 8, SIZE).astype(np.int32)
MISREAD = {
    "arith.maxsi %a, %b": np.maximum,
    "arith.minsi %a, %b": np.minimum,
    "arith.shrsi %a, %b": np.right_shift,
    "arith.divsi %a, %b": lambda a, b: np.trunc(a / b).astype(a.dtype),
    "arith.remsi %a, %b": np.fmod,
    "math.absi %a": lambda a, b: np.abs(a),
}
READ_RIGHT = {
    "arith.addi %a, %b": np.add,
    "arith.muli %a, %b": np.multiply,
    "arith.shli %a, %b": np.left_shift,
}


def program(op: str, element: str) -> str:
    return f"""\
func.func @main(%x: tensor<{SIZE}xi32>, %y: tensor<{SIZE}xi32>) -> tensor<{SIZE}xi32> {{
  %empty = tensor.empty() : tensor<{SIZE}xi32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%x, %y : tensor<{SIZE}xi32>, tensor<{SIZE}xi32>) outs(%empty : tensor<{SIZE}xi32>) {{
  ^bb0(%p: i32, %q: i32, %_: i32):
    %a = arith.trunci %p : i32 to {element}
    %b = arith.trunci %q : i32 to {element}
    %c = {op} : {element}
    %wide = arith.extsi %c : {element} to i32
    linalg.yield %wide : i32
  }} -> tensor<{SIZE}xi32>
  return %r : tensor<{SIZE}xi32>
}}
"""


def wanted(compute, element: str) -> np.ndarray:
    narrow = {"i8": np.int8, "i16": np.int16}[element]
    return compute(X.astype(narrow), Y.astype(narrow)).astype(narrow).astype(np.int32)


@LAVAPIPE
@pytest.mark.parametrize("element", ["i8", "i16"])
@pytest.mark.parametrize("op", MISREAD)
def test_it_is_repaired_and_right(tmp_path, op, element):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(op, element))
    report = fissile.compile(source, output, list(VULKAN))
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS192", "repaired")]
    np.testing.assert_array_equal(run(output, [X, Y], "vulkan")[0], wanted(MISREAD[op], element))


@LAVAPIPE
@pytest.mark.parametrize("op", MISREAD)
def test_stock_is_wrong(tmp_path, op):
    """Where this fails IREE has changed, and FIS192 is not needed any more."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(op, "i8"))
    assert compile_stock(source, output, VULKAN) is None
    assert (run(output, [X, Y], "vulkan")[0] != wanted(MISREAD[op], "i8")).any()


@LAVAPIPE
@pytest.mark.parametrize("op", READ_RIGHT)
def test_what_is_right_stays(tmp_path, op):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(op, "i8"))
    assert not fissile.compile(source, output, list(VULKAN)).findings
    np.testing.assert_array_equal(run(output, [X, Y], "vulkan")[0], wanted(READ_RIGHT[op], "i8"))


AS_POSITIONS = {
    "arith.index_cast": lambda sums: sums.astype(np.int32),
    "arith.index_castui": lambda sums: sums.view(np.uint8).astype(np.int32),
}


@LAVAPIPE
@pytest.mark.parametrize("op", AS_POSITIONS)
def test_a_sum_that_becomes_a_position(tmp_path, op):
    lines = f"%c = arith.addi %a, %b : i8\n    %at = {op} %c : i8 to index\n    %wide = arith.index_cast %at : index to i32"
    [computed, extended] = [
        line for line in program("OP", "i8").splitlines() if "OP" in line or "extsi" in line
    ]
    text = program("OP", "i8").replace(f"{extended}\n", "").replace(computed, f"    {lines}")
    source, output, stock = (tmp_path / name for name in ("in.mlir", "out.vmfb", "stock.vmfb"))
    source.write_text(text)
    report = fissile.compile(source, output, list(VULKAN))
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS192", "repaired")]
    wanted_positions = AS_POSITIONS[op](X.astype(np.int8) + Y.astype(np.int8))
    np.testing.assert_array_equal(run(output, [X, Y], "vulkan")[0], wanted_positions)
    assert compile_stock(source, stock, VULKAN) is None
    assert (run(stock, [X, Y], "vulkan")[0] != wanted_positions).any()


@pytest.mark.parametrize(
    "flags", [(*VULKAN, "--iree-vulkan-target=rdna3")], ids=["a target with 8-bit integers"]
)
def test_a_target_with_such_integers(tmp_path, flags):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(program("arith.maxsi %a, %b", "i8"))
    assert not fissile.compile(source, ours, list(flags)).findings
    assert compile_stock(source, stock, flags) is None and ours.read_bytes() == stock.read_bytes()
