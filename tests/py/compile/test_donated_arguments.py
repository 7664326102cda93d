"""Results that are written to the buffers of arguments (FIS229): stock IREE overwrites what is still read, fissile reads a copy."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
T, M = "tensor<4xf32>", "tensor<64x64xf32>"
W, X = np.array([1, 2, 3, 4], np.float32), np.arange(16, dtype=np.float32).reshape(4, 4)
SQUARE = (np.arange(64 * 64) % 7 - 3).astype(np.float32).reshape(64, 64)

READ_LATER = f"""
func.func @main(%w: {T} {{tf.aliasing_output = 0 : i32}}, %x: tensor<4x4xf32>) -> ({T}, {T}) {{
  %n = stablehlo.add %w, %w : {T}
  %b = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, {T}) -> {T}
  return %n, %b : {T}, {T}
}}"""
MOMENTUM = f"""
func.func @main(%w: {T} {{iree.abi.output = 0 : index}}, %m: {T} {{iree.abi.output = 1 : index}}, %g: {T}) -> ({T}, {T}) {{
  %h = arith.constant dense<0.5> : {T}
  %a = arith.mulf %m, %h : {T}
  %b = arith.addf %a, %g : {T}
  %r = stablehlo.reverse %m, dims = [0] : {T}
  %s = arith.subf %w, %b : {T}
  %t = arith.addf %s, %r : {T}
  return %t, %b : {T}, {T}
}}"""
SWAP = f"""
func.func @main(%a: {T} {{tf.aliasing_output = 1 : i32}}, %b: {T} {{tf.aliasing_output = 0 : i32}}) -> ({T}, {T}) {{
  return %a, %b : {T}, {T}
}}"""
PRODUCT = f"""
func.func @main(%w: {M} {{tf.aliasing_output = 0 : i32}}) -> {M} {{
  %p = stablehlo.dot_general %w, %w, contracting_dims = [1] x [0] : ({M}, {M}) -> {M}
  return %p : {M}
}}"""
DYNAMIC = """
func.func @main(%w: tensor<?xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %n = arith.addf %w, %w : tensor<?xf32>
  %r = stablehlo.reverse %w, dims = [0] : tensor<?xf32>
  return %n, %r : tensor<?xf32>, tensor<?xf32>
}"""
BRANCH = f"""
func.func @main(%w: {T} {{tf.aliasing_output = 0 : i32}}, %x: {T}) -> ({T}, {T}) {{
  %c = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %v = tensor.extract %x[%i] : {T}
  %p = arith.cmpf ogt, %v, %c : f32
  %r = scf.if %p -> ({T}) {{
    %s = stablehlo.reverse %w, dims = [0] : {T}
    scf.yield %s : {T}
  }} else {{
    scf.yield %x : {T}
  }}
  %n = arith.addf %w, %w : {T}
  return %n, %r : {T}, {T}
}}"""
REPAIRED = {
    "read later": (READ_LATER, (W, X), (2 * W, X @ W)),
    "momentum": (MOMENTUM, (W, W * 3, W), (W - 2.5 * W + 3 * W[::-1], 2.5 * W)),
    "product": (PRODUCT, (SQUARE,), (SQUARE @ SQUARE,)),
    "dynamic": (DYNAMIC, (W, W), (2 * W, W[::-1])),
    "branch": (BRANCH, (W, W), (2 * W, W[::-1])),
}
IN_PLACE = {
    "swapped": (SWAP, (W, W * 5), (W, W * 5)),
    "elementwise": (
        f"func.func @main(%w: {T} {{tf.aliasing_output = 0 : i32}}, %g: {T}) -> {T} {{\n"
        f"  %s = arith.subf %w, %g : {T}\n  return %s : {T}\n}}",
        (W, W * 3),
        (W * -2,),
    ),
    "read before": (
        f"func.func @main(%w: {T} {{tf.aliasing_output = 0 : i32}}, %x: tensor<4x4xf32>) -> {T} {{\n"
        f"  %f = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, {T}) -> {T}\n"
        f"  %g = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] : (tensor<4x4xf32>, {T}) -> {T}\n"
        f"  %s = arith.subf %w, %g : {T}\n  return %s : {T}\n}}",
        (W, X),
        (W - X @ (X @ W),),
    ),
    "two results of one op": (
        f"func.func @main(%w: {T} {{tf.aliasing_output = 0 : i32}}, %m: {T} {{tf.aliasing_output = 1 : i32}}, %g: {T}) -> ({T}, {T}) {{\n"
        f"  %a = arith.addf %m, %g : {T}\n  %s = arith.subf %w, %a : {T}\n  return %s, %a : {T}, {T}\n}}",
        (W, W * 2, W * 3),
        (W * -4, W * 5),
    ),
    "never read": (
        f"func.func @main(%w: {T} {{iree.abi.output = 0 : index}}, %x: {T}) -> {T} {{\n"
        f"  %s = arith.addf %x, %x : {T}\n  return %s : {T}\n}}",
        (W, W),
        (2 * W,),
    ),
}


@pytest.mark.parametrize("driver", PRESENT)
@pytest.mark.parametrize("name", REPAIRED)
def test_what_is_read_is_not_overwritten(name, driver, tmp_path):
    program, inputs, wanted = REPAIRED[name]
    report = fissile.compile(program, tmp_path / "made.vmfb", FLAGS[driver])
    found = {(one.code, one.severity.value) for one in report.findings}
    assert ("FIS229", "repaired") in found
    assert found <= {
        ("FIS229", "repaired"),
        ("FIS175", "repaired"),
    }  # its copies alone are what Vulkan replays
    for got, right in zip(run(tmp_path / "made.vmfb", inputs, driver), wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-6)


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_is_right_in_place_stays_there(name, tmp_path):
    program, inputs, wanted = IN_PLACE[name]
    made, stock, source = tmp_path / "made.vmfb", tmp_path / "stock.vmfb", tmp_path / "program.mlir"
    source.write_text(program)
    assert not fissile.compile(source, made, CPU).findings
    assert compile_stock(source, stock, CPU) is None
    assert made.read_bytes() == stock.read_bytes()
    for got, right in zip(run(made, inputs), wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-6)


def test_what_is_not_repaired_is_not_written(tmp_path):
    """Complex numbers: the remedy leaves them."""
    program = DYNAMIC.replace("xf32>", "xcomplex<f32>>").replace("arith.addf", "stablehlo.add")
    report = fissile.compile(program, tmp_path / "made.vmfb", CPU, check=False)
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS229", "error")]
    assert not (tmp_path / "made.vmfb").exists()


def test_stock_overwrites_what_is_read(tmp_path):
    """Fails when IREE mends it: then FIS229 is for older versions alone."""
    (tmp_path / "program.mlir").write_text(READ_LATER)
    assert compile_stock(tmp_path / "program.mlir", tmp_path / "stock.vmfb", CPU) is None
    _new, read = run(tmp_path / "stock.vmfb", (W, X))
    np.testing.assert_array_equal(read, X @ (2 * W))
