"""Tensors that loops and branches pass on, updated in place while another one is the same buffer (FIS182): stock is wrong, fissile copies."""

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
T = "tensor<4xi32>"
SORTED = f"""  %s = iree_linalg_ext.sort dimension(0) outs(%VALUE : {T}) {{
  ^bb0(%a: i32, %b: i32):
    %more = arith.cmpi sgt, %a, %b : i32
    iree_linalg_ext.yield %more : i1
  }} -> {T}"""


def program(passed: str, kept: str, updated: str = "r") -> str:
    return f"""
func.func @main(%x: {T}, %z: {T}, %n: index) -> ({T}, {T}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %p = arith.cmpi eq, %n, %c2 : index
  %y = arith.addi %x, %x : {T}
{passed}
{SORTED.replace("VALUE", updated)}
  {kept}
  return %k, %s : {T}, {T}
}}"""


def loop(begins: str, body: str, ends: str, times: str = "%c0 to %n") -> str:
    carried = ", ".join(f"%f{i} = %{one}" for i, one in enumerate(begins.split()))
    types = ", ".join([T] * len(begins.split()))
    return f"""  %r:{len(begins.split())} = scf.for %i = {times} step %c1 iter_args({carried}) -> ({types}) {{
    {body}
    scf.yield {", ".join("%" + one for one in ends.split())} : {types}
  }}"""


KEEP_OTHER = f"%k = arith.addi %r#0, %r#0 : {T}"
KEEP_Y = f"%k = arith.addi %y, %y : {T}"
BRANCH = f"""  %r:2 = scf.if %p -> ({T}, {T}) {{
    %w = arith.muli %x, %z : {T}
    scf.yield %w, %FIRST : {T}, {T}
  }} else {{
    %w = arith.muli %z, %z : {T}
    %v = arith.addi %x, %z : {T}
    scf.yield %w, %v : {T}, {T}
  }}"""
WHILE = f"""  %j, %r:2 = scf.while (%i = %c0, %f = %x, %g = %z) : (index, {T}, {T}) -> (index, {T}, {T}) {{
    %q = arith.cmpi ult, %i, %n : index
    scf.condition(%q) %i, %f, %g : index, {T}, {T}
  }} do {{
  ^bb0(%i: index, %f: {T}, %g: {T}):
    %h = arith.addi %f, %g : {T}
    %l = arith.addi %i, %c1 : index
    scf.yield %l, %h, %h : index, {T}, {T}
  }}"""
X, Z = np.array([1, 2, 3, 4], np.int32), np.array([10, 20, 30, 40], np.int32)
DOWN = np.array([4, 3, 2, 1], np.int32)
WRONG = {
    "a loop passes one tensor on twice": (
        program(loop("x z", f"%h = arith.addi %f0, %f1 : {T}", "h h"), KEEP_OTHER, "r#1"),
        (44 * X, 22 * DOWN),
    ),
    "a loop passes on what was made before": (
        program(loop("z", f"%h = arith.addi %f0, %f0 : {T}", "y"), KEEP_Y, "r#0"),
        (4 * X, 2 * DOWN),
    ),
    "a loop without iterations": (
        program(loop("y", f"%h = arith.muli %f0, %f0 : {T}", "h", "%c2 to %n"), KEEP_Y, "r#0").replace(
            "return %k", "return %y"
        ),
        (2 * X, 2 * DOWN),
    ),
    "a branch passes one tensor on twice": (
        program(BRANCH.replace("FIRST", "w"), KEEP_OTHER, "r#1"),
        (2 * X * Z, 10 * DOWN * DOWN),
    ),
    "a branch passes on what was made before": (
        program(BRANCH.replace("FIRST", "y"), KEEP_Y, "r#1").replace("return %k", "return %y"),
        (2 * X, 2 * DOWN),
    ),
    "a while loop passes one tensor on twice": (program(WHILE, KEEP_OTHER, "r#1"), (44 * X, 22 * DOWN)),
}
WRONG["a loop passes an argument on that is updated before it"] = (
    """
func.func @main(%x: tensor<?xi32>, %z: tensor<?xi32>, %n: index) -> (tensor<?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %k = arith.constant dense<[1,2,3,4]> : tensor<4xi32>
  %kd = tensor.cast %k : tensor<4xi32> to tensor<?xi32>
  %s = iree_linalg_ext.sort dimension(0) outs(%x : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32):
    %more = arith.cmpi sgt, %a, %b : i32
    iree_linalg_ext.yield %more : i1
  } -> tensor<?xi32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%f = %kd) -> (tensor<?xi32>) {
    scf.yield %x : tensor<?xi32>
  }
  return %r, %s : tensor<?xi32>, tensor<?xi32>
}
""",
    (X, DOWN),
)
RIGHT = {
    "two tensors": program(
        loop("y z", f"%h = arith.addi %f0, %f1 : {T}\n    %l = arith.muli %f0, %f1 : {T}", "h l"),
        KEEP_OTHER,
        "r#1",
    ),
    "nothing reads the other one": program(
        loop("y z", f"%h = arith.addi %f0, %f1 : {T}", "h h"), f"%k = arith.muli %x, %x : {T}", "r#1"
    ),
}
CALL = [X, Z, 2]


@pytest.mark.parametrize("case", WRONG)
def test_stock_overwrites_the_other_one(tmp_path, case):
    """Where this fails IREE has changed, and FIS182 is not needed any more."""
    text, wanted = WRONG[case]
    (tmp_path / "in.mlir").write_text(text)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is None
    kept, updated = run(tmp_path / "stock.vmfb", CALL)
    assert (kept != wanted[0]).any() or (updated != wanted[1]).any()


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("case", WRONG)
def test_the_other_one_stays(tmp_path, runtime, case):
    text, wanted = WRONG[case]
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, [*FLAGS[runtime], "--guard=off"])
    found = [f for f in report.findings if f.code == "FIS182"]
    assert [(f.severity.value, f.effect) for f in found] == [("repaired", Effect.UNPROVED)]
    for one, other in zip(run(output, CALL, runtime), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_apart_stays(tmp_path, case):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(RIGHT[case])
    assert not fissile.compile(source, ours, [*CPU, "--guard=off"]).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()


def test_not_repaired_it_is_written_with_a_warning_and_check_says_so(tmp_path):
    """Which path is taken is known at run time only."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(WRONG["a branch passes one tensor on twice"][0])
    report = fissile.compile(source, output, [*CPU, "--guard=off", "--repair=off"], check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS182", "warning")]
    assert output.exists() and report.exit_code == 0
    checked = fissile.check(source, ["llvm-cpu"])
    assert ("FIS182", "warning") in [(f.code, f.severity.value) for f in checked.findings]


def test_an_argument_that_a_loop_passes_on_is_returned_as_it_came(tmp_path):
    """IREE knows that the second result is the argument, and returns that itself; the first one is it as well, after two iterations."""
    source, output, stock = (tmp_path / name for name in ("in.mlir", "out.vmfb", "stock.vmfb"))
    source.write_text(f"""
func.func @main(%x: {T}, %z: {T}, %q: i32) -> ({T}, {T}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
{loop("z z", "", "f1 x", "%c0 to %c2")}
  %w = tensor.insert %q into %r#0[%c2] : {T}
  return %r#1, %w : {T}, {T}
}}""")
    given = (np.arange(1, 5, dtype=np.int32), np.zeros(4, np.int32), np.int32(7))
    assert compile_stock(source, stock, CPU) is None
    assert run(stock, given)[0].tolist() == [1, 2, 7, 4], "IREE has changed"
    report = fissile.compile(source, output, [*CPU, "--guard=off"])
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS182", "repaired")]
    assert [one.tolist() for one in run(output, given)] == [[1, 2, 3, 4], [1, 2, 7, 4]]
