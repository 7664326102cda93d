"""Functions that llvm-cpu would call and IREE does not link, in simpler ops: equal to NumPy, found by linking, and built."""

from math import erfc

import numpy as np
import pytest
from built import CPU, build, run
from iree_versions import since

import fissile

F64_FUNCTIONS = since("3.13", "exp and log of f64, which the form is made of, aren't linked")
F64 = "--iree-input-demote-f64-to-f32=false"
PROGRAM = """
func.func @main({given}) -> tensor<{n}x{result}> {{
  %e = tensor.empty() : tensor<{n}x{result}>
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}} ins({names} : {types}) outs(%e : tensor<{n}x{result}>) {{
  ^bb0({arguments}, %o: {result}):
    {body}
  }} -> tensor<{n}x{result}>
  return %r : tensor<{n}x{result}>
}}
"""
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}
EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 1e-6, 65504.0, -65504.0, np.inf, -np.inf, np.nan]
BEYOND = {
    "f16": [2047.5],
    "f32": [8388607.5, -8388608.0, 3e9, 1e30],
    "f64": [4503599627370495.5, -1e30, 1e300],
}
"""The last numbers with digits behind the point, and what no integer of their width holds."""


def program(op, kinds, result, n, more="", given="%y"):
    """``op`` of ``kinds``, yielding ``given`` of type ``result`` after the lines ``more``."""
    inputs = [f"%x{i}" for i in range(len(kinds))]
    return PROGRAM.format(
        n=n,
        result=result,
        given=", ".join(f"{x}: tensor<{n}x{kind}>" for x, kind in zip(inputs, kinds, strict=True)),
        maps=", ".join(["affine_map<(i) -> (i)>"] * (len(kinds) + 1)),
        names=", ".join(inputs),
        types=", ".join(f"tensor<{n}x{kind}>" for kind in kinds),
        arguments=", ".join(f"%a{i}: {kind}" for i, kind in enumerate(kinds)),
        body=f"%y = {op.format(*(f'%a{i}' for i in range(len(kinds))))}\n    {more}\n    linalg.yield {given} : {result}",
    )


def same(op, kind):
    """A program of ``op`` in ``kind`` throughout."""
    two = op.startswith("arith.")
    return lambda n: program(f"{op} {{0}}{', {1}' if two else ''} : {kind}", [kind] * (1 + two), kind, n)


def numbers(kind):
    drawn = np.random.default_rng(0).normal(scale=50, size=200)
    with np.errstate(over="ignore"):
        return np.array([*EDGES, *BEYOND[kind], *drawn]).astype(TYPES[kind])


@pytest.mark.parametrize(
    "op,kind,expected",
    [
        *(("math.trunc", kind, np.trunc) for kind in ("f16", "f32", "f64")),
        *(("math.floor", kind, np.floor) for kind in ("f16", "f32", "f64")),
        ("math.ceil", "f64", np.ceil),
    ],
)
def test_rounding_is_exact(tmp_path, op, kind, expected):
    x = numbers(kind)
    build(same(op, kind)(len(x)), tmp_path / "x.vmfb", "fissile-expand-scalars", (*CPU, F64))
    found, wanted = run(tmp_path / "x.vmfb", [x])[0], expected(x)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found)[~np.isnan(x)], np.signbit(wanted)[~np.isnan(x)])


@pytest.mark.parametrize("op,expected", [("arith.maxnumf", np.fmax), ("arith.minnumf", np.fmin)])
def test_the_larger_of_two_halves_is_exact(tmp_path, op, expected):
    x, y = (column.reshape(-1) for column in np.meshgrid(numbers("f16")[:60], numbers("f16")[:60]))
    build(same(op, "f16")(len(x)), tmp_path / "x.vmfb", "fissile-expand-scalars")
    np.testing.assert_array_equal(run(tmp_path / "x.vmfb", [x, y])[0], expected(x, y))


@pytest.mark.parametrize(
    "op,convert", [("arith.sitofp", lambda x: x), ("arith.uitofp", lambda x: x.view(f"u{x.dtype}"))]
)
@pytest.mark.parametrize("kind", ["i8", "i32"])
def test_integers_become_the_nearest_bfloat16(tmp_path, op, convert, kind):
    rng = np.random.default_rng(0)
    limits = np.iinfo(TYPES[kind])
    # Up to 24 bits: what f32 holds exactly, so that NumPy's single rounding is the same.
    x = (
        np.arange(-128, 128).astype(np.int8)
        if kind == "i8"
        else rng.integers(0, 1 << 24, 400).astype(np.int32)
    )
    assert x.min() >= limits.min
    text = program(
        f"{op} {{0}} : {kind} to bf16", [kind], "i16", len(x), "%z = arith.bitcast %y : bf16 to i16", "%z"
    )
    build(text, tmp_path / "x.vmfb", "fissile-expand-scalars")
    bits = convert(x).astype(np.float32).view(np.uint32).astype(np.uint64)
    nearest = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).view(np.int16)
    np.testing.assert_array_equal(run(tmp_path / "x.vmfb", [x])[0], nearest)


@pytest.mark.parametrize(
    "op,kind,x,expected,unit",
    [
        ("math.erfc", "f32", np.linspace(-4, 9, 300), np.vectorize(erfc), 1e-5),
        ("math.erfc", "f16", np.linspace(-4, 2.5, 99), np.vectorize(erfc), 1e-3),
        pytest.param("math.log2", "f64", np.logspace(-30, 30, 99), np.log2, 1e-15, marks=F64_FUNCTIONS),
        pytest.param("math.tanh", "f64", np.linspace(-30, 30, 301), np.tanh, 1e-15, marks=F64_FUNCTIONS),
    ],
)
def test_functions_are_near(tmp_path, op, kind, x, expected, unit):
    x = x.astype(TYPES[kind])
    build(same(op, kind)(len(x)), tmp_path / "x.vmfb", "fissile-expand-scalars", (*CPU, F64))
    np.testing.assert_allclose(
        run(tmp_path / "x.vmfb", [x])[0].astype(np.float64), expected(x.astype(np.float64)), rtol=unit
    )


SOFTMAX = """
func.func @main(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %e = tensor.empty() : tensor<8x64xf16>
  %r = linalg.softmax dimension(1) ins(%x : tensor<8x64xf16>) outs(%e : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %r : tensor<8x64xf16>
}
"""
SIGNED = program(
    "math.absf {0} : f32",
    ["f32"],
    "f32",
    60,
    "%f = math.floor %y : f32\n    %z = math.copysign %f, %a0 : f32",
    "%z",
)
"""Of which LLVM makes a truncation."""
BUILT = {
    "fmaxf": same("arith.maxnumf", "f16")(60),
    "truncf": same("math.trunc", "f32")(60),
    "trunc": same("math.trunc", "f64")(60),
    "log2": same("math.log2", "f64")(60),
    "tanh": same("math.tanh", "f64")(60),
    "ceil": same("math.ceil", "f64")(60),
    "__truncsfbf2": program("arith.sitofp {0} : i8 to bf16", ["i8"], "bf16", 60),
    "softmax": SOFTMAX,
    "signed": SIGNED,
}
SYMBOL = {"softmax": "fmaxf", "signed": "truncf"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=F64_FUNCTIONS if name in ("log2", "tanh") else ()) for name in BUILT],
)
def test_what_is_not_linked_is_told_and_repaired(tmp_path, name, capfd):
    """For x86-64 without extensions; other processors have instructions for some of them."""
    source = tmp_path / "x.mlir"
    source.write_text(BUILT[name])
    flags = [*CPU, F64, "--iree-llvmcpu-target-triple=x86_64-unknown-linux-gnu"]
    [done] = fissile.compile(source, tmp_path / "x.vmfb", flags, check=False).findings
    assert (done.code, done.severity.value) == ("FIS104", "repaired") and done.message.endswith(
        f"undefined symbol: {SYMBOL.get(name, name)}"
    )
    assert "iree-lld" not in capfd.readouterr().err, "what was repaired is reported once"


def test_check_finds_it_before_a_compile(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(BUILT["__truncsfbf2"])
    [reported] = fissile.check(source, ["llvm-cpu:generic"]).findings
    assert reported.code == "FIS104" and "__truncsfbf2" in reported.message


def test_what_no_form_is_known_for_is_told_by_its_name(tmp_path, capfd):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(same("math.sin", "f64")(60))
    [reported] = fissile.compile(source, output, [*CPU, F64], check=False).findings
    assert (
        (reported.code, reported.severity.value) == ("FIS104", "error")
        and "undefined symbol: sin" in reported.message
        and not output.exists()
    )
    assert "iree-lld: error: undefined symbol: sin" in capfd.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        same("arith.maxnumf", "f32")(60),
        same("math.floor", "f32")(60),
        program("arith.sitofp {0} : i8 to f32", ["i8"], "f32", 60),
        program("arith.sitofp {0} : i8 to f16", ["i8"], "f16", 60),
    ],
)
def test_what_is_linked_is_no_finding(tmp_path, text):
    source = tmp_path / "x.mlir"
    source.write_text(text)
    assert not fissile.compile(source, tmp_path / "x.vmfb", CPU, check=False).findings
