"""`fissile.budget`: what a program allows a dispatch counts as if the device had no more; stock IREE's answer is no part of it."""

from __future__ import annotations

import numpy as np
import pytest
from built import run
from iree.compiler import ir

import fissile
from fissile.dialect.budgets import budget_in, write_budgets
from fissile.effect import Effect
from fissile.finding import Severity
from fissile.passes.analysis.dispatch.provenance import places_in
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

NEEDED = 33792
"""Bytes of workgroup memory that IREE 3.13 gives the product on gfx942."""
PRODUCT = """
func.func @main(%x: tensor<64x128xf32>, %y: tensor<128x64xf32>) -> tensor<64x64xf32>{function} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul{op} ins(%x, %y : tensor<64x128xf32>, tensor<128x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}}
"""
STATED = "{{fissile.budget = {} : i64}}"


def product(function: int | None = None, op: int | None = None) -> str:
    return PRODUCT.format(
        function=f" attributes {STATED.format(function)}" if function else "",
        op=f" {STATED.format(op)}" if op else "",
    )


def compiled(folder, text: str, target: str = "gfx942", **options):
    source = folder / "in.mlir"
    source.write_text(text)
    return fissile.compile(
        source, folder / "out.vmfb", flags_for(find_target(target)), check=False, **options
    )


@pytest.mark.parametrize("stated", ({"function": 16384}, {"op": 16384}), ids=("function", "op"))
def test_a_dispatch_above_its_budget_is_repaired(tmp_path, stated):
    report = compiled(tmp_path, product(**stated))
    [found] = report.findings
    assert (found.code, found.severity, found.effect) == ("FIS101", Severity.REPAIRED, Effect.NONE)
    assert found.message == f"dispatch needs {NEEDED} bytes of workgroup memory; the program allows 16384"
    assert found.limit.bytes == 16384 and report.output


def test_a_budget_that_nothing_keeps_is_an_error(tmp_path):
    report = compiled(tmp_path, product(function=1024))
    [found] = report.findings
    assert (found.code, found.severity) == ("FIS101", Severity.ERROR) and not report.output
    assert "stock" not in found.stock


@pytest.mark.parametrize(
    "stated", ({}, {"function": NEEDED}, {"op": 1 << 40}), ids=("none", "enough", "huge")
)
def test_a_dispatch_within_its_budget_stays(tmp_path, stated):
    report = compiled(tmp_path, product(**stated))
    assert report.output and not report.findings


def test_the_smaller_budget_counts(tmp_path):
    report = compiled(tmp_path, product(function=65536, op=16384))
    assert [f.limit.bytes for f in report.findings] == [16384]


def test_check_finds_it_too():
    report = fissile.check(product(function=1024), target="gfx942")
    assert [f.code for f in report.findings] == ["FIS101"]
    assert "the program allows 1024" in report.findings[0].message
    assert not fissile.check(product(), target="gfx942").findings


def test_the_stack_of_a_processor_has_a_budget_too_and_the_numbers_are_right(tmp_path):
    report = compiled(tmp_path, product(function=65536), target="llvm-cpu")
    x, y = (np.arange(8192, dtype=np.float32).reshape(shape) % 7 for shape in ((64, 128), (128, 64)))
    assert report.output
    np.testing.assert_allclose(run(report.output, [x, y], "local-task")[0], x @ y)


WRONG = {
    'fissile.budget = "lots"': 'fissile.budget is a number of bytes, written N : i64, not "lots"',
    "fissile.budget = 0 : i64": "fissile.budget is a positive number of bytes, not 0",
    "fissile.bugdet = 1024 : i64": "the dialect has no attribute fissile.bugdet; did you mean 'fissile.budget'?",
}


@pytest.mark.parametrize("attribute", WRONG)
def test_what_is_no_budget_is_refused(tmp_path, attribute):
    text = product(function=1).replace("fissile.budget = 1 : i64", attribute)
    for report in (compiled(tmp_path, text), fissile.check(text, target="llvm-cpu")):
        assert [(f.code, f.message) for f in report.findings] == [
            ("FIS402", f"func.func: {WRONG[attribute]}")
        ]


def test_budgets_in_locations():
    with ir.Context():
        module = ir.Module.parse(product(function=4096, op=512))
        assert write_budgets(module.operation) == ()
        function = module.body.operations[0].operation
        texts = {op.operation.name: str(op.operation.location) for op in function.regions[0].blocks[0]}
        assert budget_in(texts["linalg.fill"]) == 4096 and budget_in(texts["linalg.matmul"]) == 512
        assert {place.file for place in places_in(texts["linalg.matmul"])} <= {"-"}
        silent = ir.Module.parse(product())
        before = silent.operation.get_asm(enable_debug_info=True)
        write_budgets(silent.operation)
        assert silent.operation.get_asm(enable_debug_info=True) == before
    assert budget_in('loc("in.mlir":3:1)') is None
