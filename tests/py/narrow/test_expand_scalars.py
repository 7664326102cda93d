"""Integer and index ops by simpler ones: equal to Python's integers, built for Vulkan, and right there."""

import random
import re

import numpy as np
import pytest
from built import CPU, build, run
from hypothesis import given, settings
from hypothesis import strategies as st

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

VULKAN = ["--iree-hal-target-device=vulkan"]
NO_VULKAN = pytest.mark.skipif(
    "vulkan" not in {r.name for r in runtimes.present()}, reason="no Vulkan device answers here"
)
TWO = """
func.func @main(%x: tensor<{n}x{type}>, %y: tensor<{n}x{type}>) -> tensor<{n}x{type}> {{
  %e = tensor.empty() : tensor<{n}x{type}>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x, %y : tensor<{n}x{type}>, tensor<{n}x{type}>) outs(%e : tensor<{n}x{type}>) {{
  ^bb0(%a: {type}, %b: {type}, %o: {type}):
    %q = {op} : {type}
    linalg.yield %q : {type}
  }} -> tensor<{n}x{type}>
  return %r : tensor<{n}x{type}>
}}
"""
BITS = {"i64": 64, "i32": 32, "i16": 16, "i8": 8}


def unsigned(number, bits=64):
    return number % (1 << bits)


def signed(number, bits=64):
    number = unsigned(number, bits)
    return number - (1 << bits) if number >> (bits - 1) else number


def to_zero(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(a, b, bits):
    if b < 0:
        return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    return signed(pow(a, b, 1 << bits), bits)


EXPECTED = {
    "arith.divui": lambda a, b: signed(unsigned(a) // unsigned(b)),
    "arith.remui": lambda a, b: signed(unsigned(a) % unsigned(b)),
    "arith.ceildivui": lambda a, b: signed(-(-unsigned(a) // unsigned(b))),
    "arith.divsi": to_zero,
    "arith.remsi": lambda a, b: a - b * to_zero(a, b),
    "arith.floordivsi": lambda a, b: a // b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "math.absi": lambda a, _b: signed(abs(a)),
    "math.ctlz": lambda a, _b: 64 - unsigned(a).bit_length(),
    "math.cttz": lambda a, _b: (unsigned(a) & -unsigned(a)).bit_length() - 1 if a else 64,
    "math.ctpop": lambda a, _b: unsigned(a).bit_count(),
    "math.ipowi": lambda a, b: power(a, b, 64),
}
UNARY = ("math.log10", "math.absi", "math.ctlz", "math.cttz", "math.ctpop")
EDGES = [
    signed(sign * ((1 << shift) + off))
    for shift in (0, 1, 15, 16, 31, 32, 33, 47, 48, 62, 63)
    for off in (-1, 0, 1)
    for sign in (1, -1)
]


def program(op, count, kind="i64"):
    return TWO.format(op=f"{op} %a" if op in UNARY else f"{op} %a, %b", n=count, type=kind)


def numbers(seed, pairs=1500):
    """Pairs of all edges, and pairs of numbers of every length; no division by zero, nor of the least number by -1."""
    draw = random.Random(seed)
    drawn = [
        (signed(draw.getrandbits(draw.randint(1, 64))), signed(draw.getrandbits(draw.randint(1, 64))))
        for _ in range(pairs)
    ]
    chosen = [
        (a, b)
        for a, b in [*((a, b) for a in EDGES for b in EDGES), *drawn]
        if b and (a, b) != (-(1 << 63), -1)
    ]
    return (np.array(column, np.int64) for column in zip(*chosen, strict=True))


@pytest.mark.parametrize("op", EXPECTED)
def test_every_form_is_exact(tmp_path, op):
    a, b = numbers(len(op))
    if op == "math.ipowi":
        b = b % 70 - 3
    changed = build(program(op, len(a)), tmp_path / "x.vmfb", "fissile-expand-scalars")
    assert not re.search(rf"{op} .*: i64", changed)
    expected = [EXPECTED[op](int(x), int(y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(run(tmp_path / "x.vmfb", [a, b])[0], np.array(expected, np.int64))


@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(BITS)), st.integers(0, 1000))
def test_powers_of_every_width(tmp_path_factory, kind, seed):
    bits, path = BITS[kind], tmp_path_factory.mktemp("power") / "x.vmfb"
    draw = random.Random(seed)
    pairs = [(signed(draw.getrandbits(bits), bits), draw.randint(-3, min(2 * bits, 100))) for _ in range(64)]
    a, b = (np.array(column, f"int{bits}") for column in zip(*pairs, strict=True))
    build(program("math.ipowi", 64, kind), path, "fissile-expand-scalars")
    np.testing.assert_array_equal(
        run(path, [a, b])[0], np.array([power(x, y, bits) for x, y in pairs], f"int{bits}")
    )


@pytest.mark.parametrize(
    "op,kind,flags",
    [
        ("arith.divsi", "i64", VULKAN),
        ("math.ctpop", "i64", VULKAN),
        ("math.ipowi", "i32", VULKAN),
        ("math.ipowi", "i8", VULKAN),
        ("math.ipowi", "i32", ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]),
        ("math.ipowi", "i64", CPU),
    ],
)
def test_it_is_repaired(tmp_path, op, kind, flags):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(program(op, 60, kind))
    done = fissile.compile(source, output, flags, check=False).findings
    assert {f.severity.value for f in done} == {"repaired"}
    [reported] = [f for f in done if f.code in ("FIS104", "FIS108")]
    assert "fissile-expand-scalars" in str(reported.helps) and "rounding" not in dict(reported.helps[0].facts)


PERMUTED = """
func.func @main(%t: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xi64>) {{
  %i = arith.constant dense<[0, 4, 2, 6, 1, 5, 3, {last}]> : tensor<8xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}}
      ins(%i : tensor<8xi64>) outs(%e : tensor<4x8xf32>) {{
  ^bb0(%x: i64, %o: f32):
    %j = arith.index_cast %x : i64 to index
    %k = linalg.index 0 : index
    %v = tensor.extract %t[%k, %j] : tensor<4x8xf32>
    linalg.yield %v : f32
  }} -> tensor<4x8xf32>
  %n = tensor.empty() : tensor<8xi64>
  %s = linalg.generic {{indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}}
      ins(%i : tensor<8xi64>) outs(%n : tensor<8xi64>) {{
  ^bb0(%x: i64, %o: i64):
    %y = arith.muli %x, %x : i64
    linalg.yield %y : i64
  }} -> tensor<8xi64>
  return %r, %s : tensor<4x8xf32>, tensor<8xi64>
}}
"""


def test_a_constant_of_64_bits_that_32_hold_is_one_of_those(tmp_path):
    changed = build(PERMUTED.format(last=7), tmp_path / "x.vmfb", "fissile-expand-scalars")
    assert "tensor<8xi32>" in changed
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    order = np.array([0, 4, 2, 6, 1, 5, 3, 7])
    permuted, squares = run(tmp_path / "x.vmfb", [x])
    np.testing.assert_array_equal(permuted, x[:, order])
    np.testing.assert_array_equal(squares, order * order)


def test_a_constant_that_32_bits_do_not_hold_is_left(tmp_path):
    assert "tensor<8xi32>" not in build(
        PERMUTED.format(last=1 << 40), tmp_path / "x.vmfb", "fissile-expand-scalars"
    )


@NO_VULKAN
def test_such_a_constant_is_built_and_right_on_the_device(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(PERMUTED.format(last=7))
    done = fissile.compile(
        source, output, [*VULKAN, "--iree-input-demote-i64-to-i32=false", "--guard=off"], check=False
    ).findings
    assert done and {f.severity.value for f in done} == {"repaired"}
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    np.testing.assert_array_equal(run(output, [x], "vulkan")[0], x[:, [0, 4, 2, 6, 1, 5, 3, 7]])


FFT = """
func.func @main(%x: tensor<1x8x8xf32>) -> (tensor<1x8x5xf32>, tensor<1x8x5xf32>) {
  %a, %b = "tosa.rfft2d"(%x) : (tensor<1x8x8xf32>) -> (tensor<1x8x5xf32>, tensor<1x8x5xf32>)
  return %a, %b : tensor<1x8x5xf32>, tensor<1x8x5xf32>
}
"""
SIGNS = """
func.func @main(%x: tensor<60xf32>) -> tensor<60xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<60xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<60xf32>) outs(%e : tensor<60xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.cmpf olt, %a, %zero : f32
    %s = arith.sitofp %n : i1 to f32
    linalg.yield %s : f32
  } -> tensor<60xf32>
  return %r : tensor<60xf32>
}
"""


@pytest.mark.parametrize(
    "flags",
    [
        VULKAN,
        ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"],
        ["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_86"],
    ],
    ids=lambda f: f[0][-6:],
)
def test_ops_of_the_index_dialect_are_built(tmp_path, flags):
    source = tmp_path / "x.mlir"
    source.write_text(FFT)
    [done] = fissile.compile(source, tmp_path / "x.vmfb", flags, check=False).findings
    assert (done.code, done.severity.value) == ("FIS104", "repaired") and "fissile-expand-scalars" in str(
        done.helps
    )


@NO_VULKAN
def test_a_fourier_transform_is_right_on_the_device(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(FFT)
    assert fissile.compile(source, output, VULKAN, check=False).output
    x = np.random.default_rng(0).normal(size=(1, 8, 8)).astype(np.float32)
    real, imaginary = run(output, [x], "vulkan")
    np.testing.assert_allclose(real + 1j * imaginary, np.fft.rfft2(x), atol=1e-5)


@NO_VULKAN
def test_a_boolean_as_a_signed_float_is_right_on_the_device(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(SIGNS)
    [done] = fissile.compile(source, output, VULKAN, check=False).findings
    assert (done.code, done.severity.value) == ("FIS104", "repaired")
    x = np.random.default_rng(0).normal(size=60).astype(np.float32)
    np.testing.assert_array_equal(run(output, [x], "vulkan")[0], -(x < 0).astype(np.float32))


@NO_VULKAN
def test_divisions_are_right_on_the_device(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    a, b = numbers(3, 200)
    source.write_text(program("arith.floordivsi", len(a)))
    assert fissile.compile(source, output, VULKAN, check=False).output
    np.testing.assert_array_equal(run(output, [a, b], "vulkan")[0], a // b)


@pytest.mark.parametrize("kind,unit", [("f32", 2.0**-23), ("f16", 2.0**-10)])
def test_a_decimal_logarithm_is_built_for_the_cpu(tmp_path, kind, unit):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(program("math.log10", 60, kind))
    [done] = fissile.compile(source, output, CPU, check=False).findings
    assert (done.code, done.severity.value) == ("FIS104", "repaired")
    assert ("rounding", "math.log10: one rounding more") in done.helps[0].facts
    x = np.logspace(-4, 4, 60).astype({"f32": np.float32, "f16": np.float16}[kind])
    expected = np.log10(x.astype(np.float64))
    np.testing.assert_allclose(
        run(output, [x, x])[0].astype(np.float64), expected, rtol=2 * unit, atol=2 * unit
    )


def test_narrower_divisions_are_no_finding(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(program("arith.divsi", 60, "i32"))
    assert not fissile.compile(source, tmp_path / "x.vmfb", VULKAN, check=False).findings


GATHER = """
func.func @main(%x: tensor<4x4xf32>) -> tensor<3x4xf32> {
  %rows = stablehlo.constant dense<[1, 3, 2]> : tensor<3xi64>
  %r = "stablehlo.gather"(%x, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
"""


@NO_VULKAN
def test_an_element_of_a_constant_of_i64_is_read_on_vulkan(tmp_path):
    """IREE has no way from a constant of i64 to pairs of words; the indices of a gather are read in its body."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(GATHER)
    assert compile_stock(source, tmp_path / "stock.vmfb", VULKAN) is not None
    report = fissile.compile(source, output, VULKAN)
    assert [(one.code, one.severity.value) for one in report.findings] == [("FIS108", "repaired")]
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    [answer] = run(output, [x], "vulkan")
    np.testing.assert_array_equal(answer, x[[1, 3, 2]])
