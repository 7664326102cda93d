"""Where stock builds a program right and the output differs all the same: each row of docs/differences.md, and how it is turned off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_programs import TARGETS

import fissile
from fissile.passes.failures.failure import failures
from fissile.pipelines.numerics.build import compile_stock
from fissile.rules import RULES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "differences.md"
FROM_FAILURES = {one.code: one.fails for one in failures()}
CHECKED = """func.func @main(%a: tensor<?xf32>) -> tensor<10xf32> {
  %c0 = arith.constant 0 : index
  %e = arith.constant dense<1.0> : tensor<10xf32>
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %r = tensor.insert_slice %a into %e[0] [%n] [1] : tensor<?xf32> into tensor<10xf32>
  return %r : tensor<10xf32>
}
"""
UNROLLED = """#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<64x48xi8>, %b: tensor<48x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<64x48xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x48xi8>) outs(%we : tensor<64x48xf32>) {
  ^bb0(%x: i8, %o: f32):
    %y = arith.sitofp %x : i8 to f32
    linalg.yield %y : f32
  } -> tensor<64x48xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%w, %b : tensor<64x48xf32>, tensor<48x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""
RETURNED = """func.func @main(%x: tensor<4x8xi64>) -> (tensor<4x8xi64>, tensor<4x8xi64>) {
  %s = iree_linalg_ext.sort dimension(1) outs(%x : tensor<4x8xi64>) {
  ^bb0(%a: i64, %b: i64):
    %k = arith.cmpi sle, %a, %b : i64
    iree_linalg_ext.yield %k : i1
  } -> tensor<4x8xi64>
  return %x, %s : tensor<4x8xi64>, tensor<4x8xi64>
}
"""


@dataclass(frozen=True)
class Difference:
    text: str
    target: str
    off: str
    flags: tuple[str, ...] = ()
    varies: bool = False
    """Stock's output holds what lies behind a constant in memory: other bytes in each run."""


FREED_EARLY = """\
func.func @f0(%x0: tensor<4xi32>, %x1: tensor<4xi32>, %n: index) -> (tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant 500 : i32
  %v = arith.muli %x0, %x1 : tensor<4xi32>
  %r:3 = scf.while (%k = %c0, %a = %x1, %b = %x0) : (index, tensor<4xi32>, tensor<4xi32>) -> (index, tensor<4xi32>, tensor<4xi32>) {
    %first = tensor.extract %v[%c0] : tensor<4xi32>
    %small = arith.cmpi slt, %first, %limit : i32
    %more = arith.cmpi ult, %k, %n : index
    %go = arith.andi %small, %more : i1
    scf.condition(%go) %k, %a, %b : index, tensor<4xi32>, tensor<4xi32>
  } do {
  ^bb0(%k: index, %a: tensor<4xi32>, %b: tensor<4xi32>):
    %next = arith.addi %k, %c1 : index
    scf.yield %next, %v, %a : index, tensor<4xi32>, tensor<4xi32>
  }
  return %r#2, %v : tensor<4xi32>, tensor<4xi32>
}
"""
TABLE = """
func.func @f(%v: tensor<2xi32>) -> (tensor<300000xi32>, tensor<300000xi32>) {
  %e = tensor.empty() : tensor<300000xi32>
  %x = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<300000xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    linalg.yield %k : i32
  } -> tensor<300000xi32>
  %r = tensor.insert_slice %v into %x[0] [2] [1] : tensor<2xi32> into tensor<300000xi32>
  %s = tensor.insert_slice %v into %x[7] [2] [1] : tensor<2xi32> into tensor<300000xi32>
  return %r, %s : tensor<300000xi32>, tensor<300000xi32>
}
"""
DIFFERENCES = {
    "FIS202": Difference(CHECKED, "llvm-cpu", "--guard=off"),
    "FIS109": Difference(UNROLLED, "vulkan", "--repair=off", ("--iree-vulkan-target=llvmpipe",)),
    "FIS111": Difference(FROM_FAILURES["FIS111"], "vulkan", "--repair=off"),
    "FIS125": Difference(FROM_FAILURES["FIS125"], "vulkan", "--repair=off"),
    "FIS127": Difference(FROM_FAILURES["FIS127"], "vulkan", "--repair=off"),
    "FIS147": Difference(FROM_FAILURES["FIS147"], "llvm-cpu", "--repair=off"),
    "FIS158": Difference(FROM_FAILURES["FIS158"], "vulkan", "--repair=off"),
    "FIS159": Difference(FROM_FAILURES["FIS159"], "llvm-cpu", "--repair=off"),
    "FIS214": Difference(FROM_FAILURES["FIS214"], "llvm-cpu", "--repair=off"),
    "FIS193": Difference(FROM_FAILURES["FIS193"], "llvm-cpu", "--repair=off"),
    "FIS227": Difference(FROM_FAILURES["FIS227"], "vulkan", "--repair=off"),
    "FIS192": Difference(FROM_FAILURES["FIS192"], "vulkan", "--repair=off"),
    "FIS196": Difference(FROM_FAILURES["FIS196"], "vulkan", "--repair=off"),
    "FIS142": Difference(RETURNED, "llvm-cpu", "--repair=off"),
    "FIS146": Difference(RULES["FIS146"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS148": Difference(RULES["FIS148"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS149": Difference(RULES["FIS149"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS170": Difference(RULES["FIS170"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS157": Difference(RULES["FIS157"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS160": Difference(RULES["FIS160"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS162": Difference(RULES["FIS162"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS163": Difference(RULES["FIS163"].shown.program, "llvm-cpu", "--repair=off --guard=off"),
    "FIS164": Difference(RULES["FIS164"].shown.program, "llvm-cpu", "--repair=off --guard=off"),
    "FIS165": Difference(RULES["FIS165"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS166": Difference(RULES["FIS166"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS167": Difference(RULES["FIS167"].shown.program, "llvm-cpu", "--repair=off --guard=off"),
    "FIS168": Difference(RULES["FIS168"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS180": Difference(RULES["FIS180"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS179": Difference(RULES["FIS179"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS199": Difference(RULES["FIS199"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS221": Difference(RULES["FIS221"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS222": Difference(RULES["FIS222"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS226": Difference(RULES["FIS226"].shown.program, "llvm-cpu", "--repair=off", varies=True),
    "FIS228": Difference(RULES["FIS228"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS219": Difference(RULES["FIS219"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS220": Difference(RULES["FIS220"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS218": Difference(RULES["FIS218"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS210": Difference(RULES["FIS210"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS211": Difference(RULES["FIS211"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS195": Difference(RULES["FIS195"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS185": Difference(RULES["FIS185"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS169": Difference(RULES["FIS169"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS156": Difference(RULES["FIS156"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS177": Difference(RULES["FIS177"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS181": Difference(TABLE, "llvm-cpu", "--repair=off"),
    "FIS182": Difference(RULES["FIS182"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS229": Difference(RULES["FIS229"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS183": Difference(RULES["FIS183"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS184": Difference(RULES["FIS184"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS175": Difference(RULES["FIS175"].shown.program, "vulkan", "--repair=off"),
    "FIS303": Difference(FREED_EARLY, "llvm-cpu", "--repair=off"),
    "FIS153": Difference(RULES["FIS153"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS154": Difference(RULES["FIS154"].shown.program, "llvm-cpu", "--repair=off"),
    "FIS155": Difference(RULES["FIS155"].shown.program, "llvm-cpu", "--repair=off"),
}
ELSEWHERE = {"FIS005", "FIS006", "FIS306"}
"""Refused, with an option that takes it: tests/py/compile/test_untrusted_input.py; found in programs that stock IREE rejects for another reason:
tests/py/loops/test_result_sizes.py."""


def test_every_row_of_the_page_has_a_program():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    assert {code for row in rows for code in re.findall(r"FIS\d+", row)} == {*DIFFERENCES, *ELSEWHERE}
    for row in rows:
        for code in set(re.findall(r"FIS\d+", row)) & set(DIFFERENCES):
            assert DIFFERENCES[code].off in row, row


@pytest.mark.parametrize("code", DIFFERENCES)
def test_it_is_reported_and_turned_off(tmp_path, code):
    one = DIFFERENCES[code]
    source, stock = tmp_path / "x.mlir", tmp_path / "stock.vmfb"
    source.write_text(one.text)
    flags = [*TARGETS[one.target], *one.flags]
    assert compile_stock(source, stock, flags, timeout=300.0) is None
    ours, off = tmp_path / "ours.vmfb", tmp_path / "off.vmfb"
    report = fissile.compile(source, ours, flags, check=False)
    assert code in {f.code for f in report.findings} and ours.read_bytes() != stock.read_bytes()
    report = fissile.compile(source, off, [*flags, *one.off.split(), "--allow-wrong-numbers"], check=False)
    if one.varies:
        assert off.exists() and "repaired" not in {f.severity.value for f in report.findings}
    else:
        assert off.read_bytes() == stock.read_bytes()
