"""Small floats with a shared scale: the forms of arith.scaling_extf and scaling_truncf, against ml_dtypes on every value."""

import ml_dtypes
import numpy as np
import pytest
from built import CPU, build, run

import fissile
from fissile.pipelines.numerics.runtimes import present

KINDS = {
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
WIDTH = {kind: int(kind[1]) for kind in KINDS}


def program(body: str, read: str, made: str) -> str:
    """One op over the bits of a small float, or f32, and of a scale, with a result for each kind of small float."""
    outs = ", ".join(f"%e{i}" for i in range(len(KINDS)))
    types = ", ".join([f"tensor<?x{made}>"] * len(KINDS))
    lines = "\n".join(body.format(i=i, kind=kind, n=WIDTH[kind]) for i, kind in enumerate(KINDS))
    return f"""
#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<?x{read}>, %b: tensor<?xi8>) -> ({types}) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x{read}>
  {chr(10).join(f"%e{i} = tensor.empty(%n) : tensor<?x{made}>" for i in range(len(KINDS)))}
  %r:{len(KINDS)} = linalg.generic {{indexing_maps = [{", ".join(["#id"] * (2 + len(KINDS)))}], iterator_types = ["parallel"]}}
      ins(%a, %b : tensor<?x{read}>, tensor<?xi8>) outs({outs} : {types}) {{
  ^bb0(%x: {read}, %s: i8, {", ".join(f"%o{i}: {made}" for i in range(len(KINDS)))}):
    %scale = arith.bitcast %s : i8 to f8E8M0FNU
    {lines}
    linalg.yield {", ".join(f"%y{i}" for i in range(len(KINDS)))} : {", ".join([made] * len(KINDS))}
  }} -> ({types})
  return {", ".join(f"%r#{i}" for i in range(len(KINDS)))} : {types}
}}
"""


EXTENDED = program(
    """%t{i} = arith.extui %x : i8 to i32
    %n{i} = arith.trunci %t{i} : i32 to i{n}
    %f{i} = arith.bitcast %n{i} : i{n} to {kind}
    %y{i} = arith.scaling_extf %f{i}, %scale : {kind}, f8E8M0FNU to f32""",
    "i8",
    "f32",
)
TRUNCATED = program(
    """%f{i} = arith.scaling_truncf %x, %scale : f32, f8E8M0FNU to {kind}
    %n{i} = arith.bitcast %f{i} : {kind} to i{n}
    %w{i} = arith.extui %n{i} : i{n} to i32
    %y{i} = arith.trunci %w{i} : i32 to i8""",
    "f32",
    "i8",
)


def test_every_code_with_every_scale_is_extended_exactly(tmp_path):
    codes, scales = (part.ravel().astype(np.uint8) for part in np.meshgrid(np.arange(256), np.arange(256)))
    build(EXTENDED, tmp_path / "x.vmfb", "fissile-expand-scalars", CPU)
    found = run(tmp_path / "x.vmfb", [codes.view(np.int8), scales.view(np.int8)])
    power = scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    with np.errstate(all="ignore"):
        for (kind, dtype), got in zip(KINDS.items(), found, strict=True):
            small = (codes & ((1 << WIDTH[kind]) - 1)).view(dtype).astype(np.float64)
            wanted = (small * power).astype(np.float32)
            flushed = (
                np.abs(wanted) < np.finfo(np.float32).tiny
            )  # IREE's llvm-cpu threads flush subnormal results
            np.testing.assert_array_equal(got[~flushed], wanted[~flushed], err_msg=kind)
            assert np.isin(got[flushed], [0.0, *wanted[flushed]]).all(), kind


def test_truncation_rounds_to_nearest_even_at_every_code(tmp_path):
    """Each number of a kind, the middles between two, what is just beside those, and numbers beyond the largest; finite scales."""
    build(TRUNCATED, tmp_path / "x.vmfb", "fissile-expand-scalars", CPU)
    points = []
    for kind, dtype in KINDS.items():
        values = np.arange(1 << WIDTH[kind]).astype(np.uint8).view(dtype).astype(np.float32)
        values = np.unique(values[np.isfinite(values)])
        middles = (values[1:] + values[:-1]) / 2
        points += [
            values,
            middles,
            np.nextafter(middles, np.float32(9e9)),
            np.nextafter(middles, np.float32(-9e9)),
        ]
    points = np.concatenate([*points, np.float32([7.9, -1e6])])
    for code in (40, 127, 131, 200):
        x = np.ldexp(points, code - 127).astype(np.float32)
        exact = np.ldexp(x.astype(np.float64), 127 - code).astype(np.float32)
        found = run(tmp_path / "x.vmfb", [x, np.full(len(x), code, np.uint8).view(np.int8)])
        for (kind, dtype), got in zip(KINDS.items(), found, strict=True):
            wanted = exact.astype(dtype).view(np.uint8)
            np.testing.assert_array_equal(
                got.view(np.uint8)[exact != 0], wanted[exact != 0], err_msg=f"{kind}, scale {code}"
            )


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
@pytest.mark.parametrize("flags", ([], ["--fissile-match-device=vulkan"]), ids=("words", "bytes"))
def test_vulkan_builds_what_stock_refuses(tmp_path, flags):
    text = """
func.func @main(%a: tensor<8xi8>, %s: tensor<8xi8>) -> tensor<8xf32> {
  %sf = tensor.bitcast %s : tensor<8xi8> to tensor<8xf8E8M0FNU>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%a, %sf : tensor<8xi8>, tensor<8xf8E8M0FNU>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: i8, %scale: f8E8M0FNU, %o: f32):
    %t = arith.trunci %x : i8 to i4
    %f = arith.bitcast %t : i4 to f4E2M1FN
    %y = arith.scaling_extf %f, %scale : f4E2M1FN, f8E8M0FNU to f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""
    source, vmfb = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    report = fissile.compile(source, vmfb, ["--iree-hal-target-device=vulkan", *flags], check=False)
    assert report.output and {f.severity.value for f in report.findings} == {"repaired"}
    codes, scales = np.arange(8, 16, dtype=np.int8), np.uint8([1, 60, 127, 128, 130, 200, 250, 255])
    got = run(vmfb, [codes, scales.view(np.int8)], "vulkan")[0]
    values = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64) * scales.view(
        ml_dtypes.float8_e8m0fnu
    ).astype(np.float64)
    np.testing.assert_array_equal(got, values.astype(np.float32))


BYTES = """
#m = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<256xi8>, %b: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xi8>) {
  %e = tensor.empty() : tensor<256xf32>
  %g = tensor.empty() : tensor<256xi8>
  %0:2 = linalg.generic {indexing_maps = [#m, #m, #m, #m], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<256xi8>, tensor<256xf32>) outs(%e, %g : tensor<256xf32>, tensor<256xi8>) {
  ^bb0(%x: i8, %y: f32, %o: f32, %p: i8):
    %f = arith.bitcast %x : i8 to SMALL
    %w = arith.extf %f : SMALL to f32
    %t = arith.truncf %y : f32 to SMALL
    %u = arith.bitcast %t : SMALL to i8
    linalg.yield %w, %u : f32, i8
  } -> (tensor<256xf32>, tensor<256xi8>)
  return %0#0, %0#1 : tensor<256xf32>, tensor<256xi8>
}
"""


@pytest.mark.parametrize(
    ("small", "name"), [("f8E4M3FN", "float8_e4m3fn"), ("f8E5M2FNUZ", "float8_e5m2fnuz")]
)
def test_floats_that_are_stored_as_bytes(tmp_path, small, name):
    """Every code is extended, and numbers between and on the borders are rounded, as ml_dtypes does."""
    dtype = np.dtype(getattr(ml_dtypes, name))
    path = tmp_path / "out.vmfb"
    text = build(BYTES.replace("SMALL", small), path, "fissile-expand-scalars")
    assert "arith.extf" not in text and "arith.truncf" not in text
    codes = np.arange(256, dtype=np.uint8)
    exact = codes.view(dtype).astype(np.float32)
    finite = np.sort(exact[np.isfinite(exact)])
    numbers = np.resize((finite[1:] + finite[:-1]) / 2, 256).astype(np.float32)
    wide, narrow = run(path, [codes.view(np.int8), numbers])
    np.testing.assert_array_equal(wide, exact)
    np.testing.assert_array_equal(narrow.view(np.uint8), numbers.astype(dtype).view(np.uint8))
