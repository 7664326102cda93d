"""Narrow integers that a loop writes which some threads skip: lavapipe ends such a loop early, and fissile packs the elements (FIS110)."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.effect import Effect
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = ("--iree-hal-target-device=vulkan",)
pytestmark = pytest.mark.skipif(
    all(runtime.name != "vulkan" for runtime in runtimes.present()), reason="no Vulkan device"
)
COLUMNS = 24


def sort(rows: int) -> str:
    row = f"tensor<{rows}x{COLUMNS}xi8>"
    return f"""func.func @main(%k: {row}) -> {row} {{
  %r = iree_linalg_ext.sort dimension(1) outs(%k : {row}) {{
  ^bb0(%a: i8, %b: i8):
    %p = arith.cmpi sle, %a, %b : i8
    iree_linalg_ext.yield %p : i1
  }} -> {row}
  return %r : {row}
}}"""


def scan(rows: int) -> str:
    row, column = f"tensor<{rows}x{COLUMNS}xi8>", f"tensor<{rows}xi8>"
    return f"""func.func @main(%k: {row}) -> {row} {{
  %z = arith.constant 0 : i8
  %e = tensor.empty() : {row}
  %e1 = tensor.empty() : {column}
  %f = linalg.fill ins(%z : i8) outs(%e1 : {column}) -> {column}
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%k : {row}) outs(%e, %f : {row}, {column}) {{
  ^bb0(%a: i8, %b: i8):
    %p = arith.addi %a, %b : i8
    iree_linalg_ext.yield %p : i8
  }} -> {row}, {column}
  return %r#0 : {row}
}}"""


def carried(rows: int) -> str:
    """A sort by i32 keys, of which booleans are carried along and break ties; the keys come from i8."""
    narrow, wide, flag = (f"tensor<{rows}x{COLUMNS}x{t}>" for t in ("i8", "i32", "i1"))
    return f"""func.func @main(%n: {narrow}) -> ({wide}, {wide}) {{
  %k = arith.extsi %n : {narrow} to {wide}
  %c = arith.constant dense<3> : {wide}
  %true = arith.constant true
  %f = arith.cmpi sgt, %k, %c : {wide}
  %r:2 = iree_linalg_ext.sort dimension(1) outs(%k, %f : {wide}, {flag}) {{
  ^bb0(%a: i32, %b: i32, %x: i1, %y: i1):
    %less = arith.cmpi slt, %a, %b : i32
    %same = arith.cmpi eq, %a, %b : i32
    %not = arith.xori %x, %true : i1
    %second = arith.ori %not, %y : i1
    %both = arith.andi %same, %second : i1
    %p = arith.ori %less, %both : i1
    iree_linalg_ext.yield %p : i1
  }} -> {wide}, {flag}
  %w = arith.extui %r#1 : {flag} to {wide}
  return %r#0, %w : {wide}, {wide}
}}"""


def given(rows: int) -> np.ndarray:
    return np.random.default_rng(5).integers(-9, 9, (rows, COLUMNS)).astype(np.int8)


def wanted(program, keys: np.ndarray) -> list[np.ndarray]:
    ordered = np.sort(keys, axis=1)
    if program is scan:
        return [np.cumsum(keys, axis=1, dtype=np.int8)]
    return [ordered] if program is sort else [ordered, ordered > 3]


def built(text: str, tmp_path, **options):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    return fissile.compile(source, output, list(FLAGS), check=False, **options), output


@pytest.mark.parametrize("rows", [4, 12])
@pytest.mark.parametrize("program", [sort, scan, carried])
def test_what_a_loop_writes_is_right(tmp_path, program, rows):
    report, output = built(program(rows), tmp_path)
    [finding] = [f for f in report.findings if f.code == "FIS110"]
    assert finding.severity.value == "repaired"
    if program is not carried:  # its i8 tensors are at fault elsewhere as well
        assert finding.effect is Effect.MAY_BE_WRONG and "lavapipe ends a loop early" in finding.notes[0]
    keys = given(rows)
    for found, right in zip(run(output, [keys], "vulkan"), wanted(program, keys), strict=True):
        np.testing.assert_array_equal(found, right)


def test_without_a_repair_it_is_withheld(tmp_path):
    report, output = built(sort(4), tmp_path, repair="off")
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS110", "error")]
    assert not output.exists() and report.exit_code == 1


def test_a_loop_that_no_thread_skips_is_stocks(tmp_path):
    """64 rows for 64 threads: there is no branch."""
    report, output = built(sort(64), tmp_path)
    assert not [f for f in report.findings if f.code == "FIS110"]
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS) is None
    assert output.read_bytes() == (tmp_path / "stock.vmfb").read_bytes()
    np.testing.assert_array_equal(run(output, [given(64)], "vulkan")[0], np.sort(given(64), axis=1))


def test_stock_is_wrong_on_lavapipe(tmp_path):
    """Where this fails Mesa or IREE has changed."""
    (tmp_path / "in.mlir").write_text(scan(4))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS) is None
    assert (run(tmp_path / "stock.vmfb", [given(4)], "vulkan")[0] != wanted(scan, given(4))[0]).any()
