"""While loops whose condition passes on more than the loop starts with (FIS174): stock IREE stops, or crashes."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from compile_commands import stock

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
T = "tensor<8xf32>"
ONES, TWOS = np.ones(8, np.float32), np.full(8, 2, np.float32)
SUM = f"""%z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0] : ({T}, tensor<f32>) -> tensor<f32>"""
TESTED_SUM = f"""
func.func @main(%x: {T}, %p: {T}) -> ({T}, tensor<f32>) {{
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.while(%y = %x, %e = %a) : {T}, tensor<f32>
  cond {{
    %f = stablehlo.constant dense<50.0> : tensor<f32>
    %g = stablehlo.compare LT, %e, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %g : tensor<i1>
  }} do {{
    %v = stablehlo.add %y, %y : {T}
    {SUM}
    stablehlo.return %v, %s : {T}, tensor<f32>
  }}
  return %r#0, %r#1 : {T}, tensor<f32>
}}"""
FLAG = f"""
func.func @main(%x: {T}, %p: {T}) -> ({T}, tensor<i1>) {{
  %no = stablehlo.constant dense<false> : tensor<i1>
  %r:2 = stablehlo.while(%y = %x, %e = %no) : {T}, tensor<i1>
  cond {{
    %g = stablehlo.not %e : tensor<i1>
    stablehlo.return %g : tensor<i1>
  }} do {{
    %v = stablehlo.add %y, %p : {T}
    {SUM}
    %f = stablehlo.constant dense<50.0> : tensor<f32>
    %g = stablehlo.compare GT, %s, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %v, %g : {T}, tensor<i1>
  }}
  return %r#0, %r#1 : {T}, tensor<i1>
}}"""
COUNTER = f"""
func.func @main(%x: {T}, %p: {T}) -> (tensor<i64>, {T}, tensor<i1>, tensor<f32>) {{
  %i = stablehlo.constant dense<0> : tensor<i64>
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<false> : tensor<i1>
  %r:4 = stablehlo.while(%0 = %i, %1 = %x, %2 = %b, %3 = %a) : tensor<i64>, {T}, tensor<i1>, tensor<f32>
  cond {{
    %n = stablehlo.constant dense<10> : tensor<i64>
    %l = stablehlo.compare LT, %0, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %f = stablehlo.constant dense<50.0> : tensor<f32>
    %g = stablehlo.compare GT, %3, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %h = stablehlo.and %2, %g : tensor<i1>
    %nn = stablehlo.not %h : tensor<i1>
    %c = stablehlo.and %l, %nn : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %v = stablehlo.add %1, %p : {T}
    {SUM}
    %k = stablehlo.constant dense<3> : tensor<i64>
    %i2 = stablehlo.add %0, %k : tensor<i64>
    %o = stablehlo.not %2 : tensor<i1>
    stablehlo.return %i2, %v, %o, %s : tensor<i64>, {T}, tensor<i1>, tensor<f32>
  }}
  return %r#0, %r#1, %r#2, %r#3 : tensor<i64>, {T}, tensor<i1>, tensor<f32>
}}"""
NUMBER_FIRST = f"""
func.func @main(%x: {T}, %q: {T}) -> (i32, {T}) {{
  %c0 = arith.constant 0 : index
  %t = arith.constant 50.0 : f32
  %r:2 = scf.while (%a = %x) : ({T}) -> (i32, {T}) {{
    %b = arith.addf %a, %a : {T}
    %e = tensor.extract %b[%c0] : {T}
    %k = arith.fptosi %e : f32 to i32
    %p = arith.cmpf olt, %e, %t : f32
    scf.condition(%p) %k, %b : i32, {T}
  }} do {{
  ^bb0(%k: i32, %a: {T}):
    scf.yield %a : {T}
  }}
  return %r#0, %r#1 : i32, {T}
}}"""
ONLY_A_NUMBER = f"""
func.func @main(%x: {T}, %p: {T}) -> ({T}, i32) {{
  %c0 = arith.constant 0 : index
  %z = arith.constant 1 : i32
  %t = arith.constant 50 : i32
  %seven = arith.constant 7.0 : f32
  %r:2 = scf.while (%a = %z) : (i32) -> ({T}, i32) {{
    %b = arith.addf %x, %p : {T}
    %bb = tensor.insert %seven into %b[%c0] : {T}
    %less = arith.cmpi slt, %a, %t : i32
    scf.condition(%less) %bb, %a : {T}, i32
  }} do {{
  ^bb0(%q: {T}, %k: i32):
    %k2 = arith.addi %k, %k : i32
    scf.yield %k2 : i32
  }}
  return %r#0, %r#1 : {T}, i32
}}"""
CASES = {
    "the condition tests a sum": (TESTED_SUM, (ONES * 8, 64.0)),
    "the condition tests a flag": (FLAG, (ONES * 7, True)),
    "a counter, a flag and a sum": (COUNTER, (9, ONES * 7, True, 56.0)),
    "a number before the tensor": (NUMBER_FIRST, (64, ONES * 64)),
    "it starts with a number only": (ONLY_A_NUMBER, (np.array([7, *[3] * 7], np.float32), 64)),
}


@pytest.mark.parametrize("case", CASES)
def test_stock_does_not_build_it(tmp_path, case):
    (tmp_path / "in.mlir").write_text(CASES[case][0])
    assert stock(tmp_path / "in.mlir", *CPU, "-o", tmp_path / "out.vmfb").returncode != 0


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("case", CASES)
def test_the_loop_starts_with_what_is_passed_on(tmp_path, case, runtime):
    text, wanted = CASES[case]
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, list(FLAGS[runtime]), check=False)
    assert "FIS174" in [f.code for f in report.findings]
    assert {f.severity.value for f in report.findings} == {"repaired"}
    [device] = runtimes.named([runtime])
    results = runtimes.run(output, signatures_of_vmfb(output)["main"], [ONES, TWOS], device)
    for got, expected in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(got, expected)


AS_MANY = f"""
func.func @main(%x: {T}) -> (i32, {T}) {{
  %z = arith.constant 1 : i32
  %t = arith.constant 50 : i32
  %r:2 = scf.while (%n = %z, %a = %x) : (i32, {T}) -> (i32, {T}) {{
    %b = arith.addf %a, %a : {T}
    %p = arith.cmpi slt, %n, %t : i32
    scf.condition(%p) %n, %b : i32, {T}
  }} do {{
  ^bb0(%k: i32, %a: {T}):
    %k2 = arith.addi %k, %k : i32
    scf.yield %k2, %a : i32, {T}
  }}
  return %r#0, %r#1 : i32, {T}
}}"""


def test_silent_where_the_loop_starts_with_all_that_is_passed_on(tmp_path):
    source, ours, built = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(AS_MANY)
    assert not fissile.compile(source, ours, [*CPU, "--guard=off"], check=False).findings
    assert stock(source, *CPU, "-o", built).returncode == 0 and ours.read_bytes() == built.read_bytes()
