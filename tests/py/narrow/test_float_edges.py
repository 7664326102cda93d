"""FIS139: the bytes and values that stock converts wrongly on the CPU are those that the finding names, and no others."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from built import run

import fissile
from fissile.finding import Severity
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

HOST = flags_for(find_target("llvm-cpu"))
BYTES = np.arange(256, dtype=np.uint8)
DTYPES = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}
LOOP = '{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}'


def extension(kind: str) -> str:
    return f"""
func.func @main(%bytes: tensor<256xi8>) -> tensor<256xf32> {{
  %x = flow.tensor.bitcast %bytes : tensor<256xi8> -> tensor<256x{kind}>
  %room = tensor.empty() : tensor<256xf32>
  %r = linalg.generic {LOOP} ins(%x : tensor<256x{kind}>) outs(%room : tensor<256xf32>) {{
  ^bb0(%a: {kind}, %_: f32):
    %y = arith.extf %a : {kind} to f32
    linalg.yield %y : f32
  }} -> tensor<256xf32>
  return %r : tensor<256xf32>
}}
"""


def rounding(kind: str, count: int) -> str:
    return f"""
func.func @main(%x: tensor<{count}xf32>) -> tensor<{count}xi8> {{
  %room = tensor.empty() : tensor<{count}x{kind}>
  %r = linalg.generic {LOOP} ins(%x : tensor<{count}xf32>) outs(%room : tensor<{count}x{kind}>) {{
  ^bb0(%a: f32, %_: {kind}):
    %y = arith.truncf %a : f32 to {kind}
    linalg.yield %y : {kind}
  }} -> tensor<{count}x{kind}>
  %bytes = flow.tensor.bitcast %r : tensor<{count}x{kind}> -> tensor<{count}xi8>
  return %bytes : tensor<{count}xi8>
}}
"""


def built(tmp_path, text: str):
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    return fissile.compile(source, vmfb, HOST, check=False), vmfb


@pytest.mark.parametrize("kind", DTYPES)
def test_one_byte_of_one_type_is_extended_wrongly(tmp_path, kind):
    report, vmfb = built(tmp_path, extension(kind))
    expected = BYTES.view(DTYPES[kind]).astype(np.float32)
    computed = run(vmfb, [BYTES.view(np.int8)], "local-task")[0]
    wrong = [int(b) for b in BYTES if not np.array_equal(computed[b], expected[b], equal_nan=True)]
    found = [(f.code, f.severity) for f in report.findings]
    assert wrong == ([255] if kind == "f8E4M3FN" else [])
    assert found == ([("FIS139", Severity.WARNING)] if wrong else []) and report.exit_code == 0


@pytest.mark.parametrize("kind", DTYPES)
def test_what_rounds_up_to_the_smallest_normal_number_becomes_zero(tmp_path, kind):
    smallest = float(ml_dtypes.finfo(DTYPES[kind]).smallest_normal)
    largest = float(ml_dtypes.finfo(DTYPES[kind]).max)
    lost = np.float32([0.99, -0.98]) * np.float32(smallest)
    kept = np.float32([1.0, -1.01, 0.5, 0.25, 0.0]) * np.float32(smallest)
    others = np.float32([1.0, -1.1, 3.3, 17.7, largest])
    values = np.concatenate([lost, kept, others])
    report, vmfb = built(tmp_path, rounding(kind, len(values)))
    assert [(f.code, f.severity) for f in report.findings] == [("FIS139", Severity.WARNING)]
    expected = values.astype(DTYPES[kind])
    computed = run(vmfb, [values], "local-task")[0].view(np.uint8).view(DTYPES[kind])
    assert not computed[:2].astype(np.float32).any() and expected[:2].astype(np.float32).all()
    np.testing.assert_array_equal(computed[2:].astype(np.float32), expected[2:].astype(np.float32))


def test_the_pass_that_is_advised_is_right(tmp_path):
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(extension("f8E4M3FN"))
    advised = (
        "--pipeline-after=global-optimization:builtin.module(fissile-pack-narrow-storage{types=f8E4M3FN})"
    )
    report = fissile.compile(source, vmfb, [*HOST, advised], check=False)
    assert "FIS139" not in {f.code for f in report.findings}
    computed = run(vmfb, [BYTES.view(np.int8)], "local-task")[0]
    np.testing.assert_array_equal(computed, BYTES.view(DTYPES["f8E4M3FN"]).astype(np.float32))
