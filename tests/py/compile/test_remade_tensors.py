"""Tensors that IREE makes anew in place of a copy, and takes for another one (FIS181): stock is wrong, and fissile has it copy them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.effect import Effect
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
SCATTER = """  %RESULT = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%v, %AT : tensor<2xi32>, tensor<2x1xi32>) outs(%TENSOR : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32):
    iree_linalg_ext.yield %p : i32
  } -> tensor<?xi32>
"""
POSITIONS = """  %x = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<?xi32>
"""
TWO_RESULTS = """  %x:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e, %e : tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%o: i32, %u: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %h = arith.constant 100 : i32
    %l = arith.addi %k, %h : i32
    linalg.yield %k, %l : i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>)
"""
OF_AN_ARGUMENT = """  %x = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%y : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %k = arith.addi %p, %p : i32
    linalg.yield %k : i32
  } -> tensor<?xi32>
"""


def program(made: str, *updated: str, results: str = "") -> str:
    """``made`` makes %x; ``updated``: the tensors that each update begins with; ``results``: tensors that are returned as well."""
    places = ("a", "b", "a")
    text = "".join(
        SCATTER.replace("TENSOR", one).replace("RESULT", f"r{i}").replace("AT", places[i])
        for i, one in enumerate(updated)
    )
    returned = [*(f"%r{i}" for i in range(len(updated))), *results.split()]
    types = ", ".join("tensor<?xi32>" for _ in returned)
    return f"""
func.func @main(%y: tensor<?xi32>, %a: tensor<2x1xi32>, %b: tensor<2x1xi32>, %v: tensor<2xi32>) -> ({types}) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
{made}{text}  return {", ".join(returned)} : {types}
}}"""


A, B, V = np.array([[1], [3]], np.int32), np.array([[0], [5]], np.int32), np.array([50, 60], np.int32)
INPUTS = [np.arange(6, dtype=np.int32), A, B, V]


def updated(base: int, places: np.ndarray, line: np.ndarray = INPUTS[0]) -> np.ndarray:
    made = line + base
    made[places[:, 0]] = V
    return made


LINE = INPUTS[0]
WRONG = {
    "two updates": (program(POSITIONS, "x", "x"), [updated(0, A), updated(0, B)]),
    "three updates": (program(POSITIONS, "x", "x", "x"), [updated(0, A), updated(0, B), updated(0, A)]),
    "two updates and a result": (
        program(POSITIONS, "x", "x", results="%x"),
        [updated(0, A), updated(0, B), LINE],
    ),
    "the second result": (
        program(TWO_RESULTS, "x#1", results="%x#0 %x#1"),
        [updated(100, A), LINE, LINE + 100],
    ),
    "two updates of the second result": (
        program(TWO_RESULTS, "x#1", "x#1", results="%x#0"),
        [updated(100, A), updated(100, B), LINE],
    ),
}
# Its sizes are known once the types are, and a global keeps both results.
WRONG["a second result that a global keeps"] = (
    program(TWO_RESULTS, results="%x#0 %x#1")
    .replace("%y: tensor<?xi32>", "%y: tensor<6xi32>")
    .replace("dim %y, %c0 : tensor<?xi32>", "dim %y, %c0 : tensor<6xi32>"),
    [LINE, LINE + 100],
)
RIGHT = {
    "one update": program(POSITIONS, "x"),
    "two updates of what an argument makes": program(OF_AN_ARGUMENT, "x", "x"),
    "an update of each result": program(TWO_RESULTS, "x#0", "x#1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_stock_takes_another_tensor(tmp_path, case):
    """Where this fails IREE has changed, and FIS181 is not needed any more."""
    text, wanted = WRONG[case]
    (tmp_path / "in.mlir").write_text(text)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is None
    found = run(tmp_path / "stock.vmfb", INPUTS)
    assert any((one != other).any() for one, other in zip(found, wanted, strict=True))


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("case", WRONG)
def test_each_update_has_its_own(tmp_path, runtime, case):
    text, wanted = WRONG[case]
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, [*FLAGS[runtime], "--guard=off"])
    found = [f for f in report.findings if f.code == "FIS181"]
    assert [(f.severity.value, f.effect) for f in found] == [("repaired", Effect.WRONG)]
    for one, other in zip(run(output, INPUTS, runtime), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", RIGHT)
def test_what_stock_copies_rightly_stays(tmp_path, case):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(RIGHT[case])
    assert not fissile.compile(source, ours, [*CPU, "--guard=off"]).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()


def test_a_table_too_large_to_be_a_constant(tmp_path):
    """IREE computes tables of up to 1 MiB while it compiles, and larger ones by a dispatch."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    text = program(POSITIONS, "x", "x").replace("tensor.empty(%n)", "tensor.empty()")
    source.write_text(text.replace("tensor<?xi32>", "tensor<300000xi32>"))
    report = fissile.compile(source, output, [*CPU, "--guard=off"])
    assert ["FIS181"] == [f.code for f in report.findings]
    line = np.arange(300000, dtype=np.int32)
    for one, places in zip(run(output, [line, A, B, V]), (A, B), strict=True):
        np.testing.assert_array_equal(one, updated(0, places, line))


def test_not_repaired_it_is_withheld_and_check_says_so(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(WRONG["two updates"][0])
    report = fissile.compile(source, output, [*CPU, "--guard=off", "--repair=off"], check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS181", "error")]
    assert not output.exists() and report.exit_code == 1
    checked = fissile.check(source, ["llvm-cpu"])
    assert ("FIS181", "error") in [(f.code, f.severity.value) for f in checked.findings]
