"""Element types that a backend has no code for, 8-bit floats and types below a byte: refused by stock IREE, built here, and the
same numbers as ml_dtypes computes."""

import ml_dtypes
import numpy as np
import pytest

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.pipelines.pass_runner import run_pipeline
from fissile.pipelines.session import Session
from fissile.target import find_target

CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
VULKAN = ("--iree-hal-target-device=vulkan",)
DTYPES = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}
GENERATOR = np.random.default_rng(8)


def elementwise(shape: str, given: str, made: str, body: str, seen: str = "") -> str:
    """One elementwise op, of %x to %y; its result is returned as ``seen``, by the bits."""
    x, y, rank = f"tensor<{shape}x{given}>", f"tensor<{shape}x{made}>", shape.count("x") + 1
    loops = ", ".join(f"d{i}" for i in range(rank))
    iterators = ", ".join(['"parallel"'] * rank)
    sizes = [i for i, size in enumerate(shape.split("x")) if size == "?"]
    z = f"tensor<{shape}x{seen or made}>"
    cast = f"  %z = tensor.bitcast %r : {y} to {z}\n" if seen else ""
    read = "".join(
        f"  %c{i} = arith.constant {i} : index\n  %s{i} = tensor.dim %a, %c{i} : {x}\n" for i in sizes
    )
    return f"""
func.func @main(%a: {x}) -> {z} {{
{read}  %e = tensor.empty({", ".join(f"%s{i}" for i in sizes)}) : {y}
  %r = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>, affine_map<({loops}) -> ({loops})>],
                       iterator_types = [{iterators}]}} ins(%a : {x}) outs(%e : {y}) {{
  ^bb0(%x: {given}, %o: {made}):
    {body}
    linalg.yield %y : {made}
  }} -> {y}
{cast}  return {"%z" if seen else "%r"} : {z}
}}
"""


def decoded(kind: str, shape: str = "2x128") -> str:
    return elementwise(shape, kind, "f32", f"%y = arith.extf %x : {kind} to f32")


def encoded(kind: str, shape: str = "3x7") -> str:
    """The runtime's NumPy bindings have no f8E5M2: results are given as bytes."""
    return elementwise(shape, "f32", kind, f"%y = arith.truncf %x : f32 to {kind}", "i8")


def doubled(kind: str) -> str:
    """Arithmetic in the small type itself, in between two of its tensors; a frame of ones around them."""
    return f"""
func.func @main(%a: tensor<4x6x{kind}>) -> tensor<6x8xi8> {{
  %one = arith.constant 1.0 : {kind}
  %e = tensor.empty() : tensor<4x6x{kind}>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}} ins(%a : tensor<4x6x{kind}>) outs(%e : tensor<4x6x{kind}>) {{
  ^bb0(%x: {kind}, %o: {kind}):
    %y = arith.addf %x, %x : {kind}
    linalg.yield %y : {kind}
  }} -> tensor<4x6x{kind}>
  %p = tensor.pad %r low[1, 1] high[1, 1] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %one : {kind}
  }} : tensor<4x6x{kind}> to tensor<6x8x{kind}>
  %z = tensor.bitcast %p : tensor<6x8x{kind}> to tensor<6x8xi8>
  return %z : tensor<6x8xi8>
}}
"""


def matmul(kind: str) -> str:
    return f"""
func.func @main(%a: tensor<12x24x{kind}>, %b: tensor<24x20x{kind}>) -> tensor<12x20xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x20xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<12x20xf32>) -> tensor<12x20xf32>
  %r = linalg.matmul ins(%a, %b : tensor<12x24x{kind}>, tensor<24x20x{kind}>) outs(%f : tensor<12x20xf32>) -> tensor<12x20xf32>
  return %r : tensor<12x20xf32>
}}
"""


SUM4 = """
func.func @main(%a: tensor<125xi8>, %b: tensor<125xi8>) -> tensor<125xi8> {
  %x = flow.tensor.bitcast %a : tensor<125xi8> -> tensor<250xi4>
  %y = flow.tensor.bitcast %b : tensor<125xi8> -> tensor<250xi4>
  %e = tensor.empty() : tensor<250xi4>
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                       iterator_types = ["parallel"]} ins(%x, %y : tensor<250xi4>, tensor<250xi4>) outs(%e : tensor<250xi4>) {
  ^bb0(%p: i4, %q: i4, %o: i4):
    %s = arith.addi %p, %q : i4
    linalg.yield %s : i4
  } -> tensor<250xi4>
  %w = flow.tensor.bitcast %r : tensor<250xi4> -> tensor<125xi8>
  return %w : tensor<125xi8>
}
"""
"""Nibbles; a byte is two of them, so that NumPy can give and take them."""


def every_code(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(256, dtype=np.uint8).view(DTYPES[kind]).reshape(shape)


def some(kind: str, *shape: int) -> np.ndarray:
    return GENERATOR.standard_normal(shape).astype(DTYPES[kind])


def programs(kind: str):
    """name -> (text, inputs, what ml_dtypes computes)."""
    dtype = DTYPES[kind]
    values = (GENERATOR.standard_normal((3, 7)) * 10.0 ** GENERATOR.integers(-6, 4, (3, 7))).astype(
        np.float32
    )
    a, b, c = some(kind, 12, 24), some(kind, 24, 20), some(kind, 4, 6)
    return {
        "decoded": (
            decoded(kind),
            [every_code(kind, (2, 128))],
            every_code(kind, (2, 128)).astype(np.float32),
        ),
        "decoded, dynamic": (
            decoded(kind, "?x4"),
            [every_code(kind, (64, 4))],
            every_code(kind, (64, 4)).astype(np.float32),
        ),
        "encoded": (encoded(kind), [values], values.astype(dtype)),
        "encoded, dynamic": (encoded(kind, "?x7"), [values], values.astype(dtype)),
        "doubled": (
            doubled(kind),
            [c],
            np.pad((c.astype(np.float32) * 2).astype(dtype), 1, constant_values=dtype(1)),
        ),
        "matmul": (matmul(kind), [a, b], a.astype(np.float32) @ b.astype(np.float32)),
    }


def same(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal bits, any NaN for a NaN; sums of products to a rounding."""
    got = got if got.dtype == expected.dtype else got.view(expected.dtype)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.astype(np.float32), expected.astype(np.float32), rtol=1e-5, atol=1e-5)


def nibble_sums(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    low, high = (a + b) & 15, ((a >> 4) + (b >> 4)) & 15
    return (low | high << 4).astype(np.int8)


def run(path, inputs, name):
    [runtime] = runtimes.named([name])
    answer = runtimes.run(path, signatures_of_vmfb(path)["main"], inputs, runtime)
    assert isinstance(answer, list), answer
    return answer[0]


@pytest.mark.parametrize("name", programs("f8E5M2"))
@pytest.mark.parametrize("kind", DTYPES)
def test_by_their_bits_they_are_the_same_numbers(tmp_path, kind, name):
    """With bytes in storage: no dispatch knows the type any more."""
    text, inputs, expected = programs(kind)[name]
    session, path = Session(CPU), tmp_path / "x.vmfb"
    module = session.parse_text(text)
    session.run(module, "global-optimization")
    run_pipeline(
        f"builtin.module(fissile-pack-narrow-storage{{types={kind}}})", module.op, report=pytest.fail
    )
    assert f": {kind}" not in "".join(line for line in module.text().splitlines() if "^bb" in line)
    session.run(module, "end")
    session.write(module, path)
    same(run(path, inputs, "local-task"), expected)


@pytest.mark.parametrize("name", programs("f8E5M2"))
@pytest.mark.parametrize("kind", DTYPES)
def test_default_vulkan_runs_them(tmp_path, kind, name):
    if not any(runtime.name == "vulkan" for runtime in runtimes.present()):
        pytest.skip("no Vulkan device")
    text, inputs, expected = programs(kind)[name]
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    report = fissile.compile(source, path, list(VULKAN), check=False)
    assert {(f.code, f.severity.value) for f in report.findings} == {("FIS110", "repaired")}
    same(run(path, inputs, "vulkan"), expected)


@pytest.mark.parametrize("target", ("gfx1100", "sm_86"))
@pytest.mark.parametrize(
    "text",
    (decoded("f8E4M3FN"), encoded("f8E5M2FNUZ"), matmul("f8E4M3FNUZ")),
    ids=("decoded", "encoded", "matmul"),
)
def test_backends_without_8_bit_floats_build_them(tmp_path, target, text):
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    flags = list(flags_for(find_target(target)))
    refused = fissile.compile(source, path, flags, repair="off", check=False)
    assert refused.errors and not path.exists()
    report = fissile.compile(source, path, flags, check=False)
    assert report.output and [f.severity.value for f in report.findings] == ["repaired"]
    assert "fissile-pack-narrow-storage{types=f8" in report.findings[0].helps[0].facts[0][1]


@pytest.mark.parametrize("target", ("gfx1100", "sm_86"))
def test_dispatches_of_equal_body_are_built_alike(tmp_path, target):
    """IREE merges them and keeps the locations of one: the other's ops are packed as well."""
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(encoded("f8E5M2FNUZ") + encoded("f8E5M2FNUZ").replace("@main", "@other"))
    report = fissile.compile(source, path, list(flags_for(find_target(target))), check=False)
    assert report.output and [f.severity.value for f in report.findings] == ["repaired"]
    assert report.findings[0].helps[0].facts == (
        ("pass", "fissile-pack-narrow-storage{types=f8E5M2FNUZ ops=0,1}"),
    )


def test_the_types_that_a_target_has_are_left_alone(tmp_path):
    """gfx942 has the FNUZ types and not the others: the program of both changes in one op only."""
    source, path, flags = tmp_path / "x.mlir", tmp_path / "x.vmfb", list(flags_for(find_target("gfx942")))
    source.write_text(decoded("f8E4M3FNUZ"))
    assert not fissile.compile(source, path, flags, check=False).findings
    source.write_text(decoded("f8E4M3FNUZ") + decoded("f8E4M3FN").replace("@main", "@other"))
    report = fissile.compile(source, path, flags, check=False)
    assert [f.helps[0].facts for f in report.findings] == [
        (("pass", "fissile-pack-narrow-storage{types=f8E4M3FN ops=1}"),)
    ]


@pytest.mark.parametrize("target", ("gfx942", "sm_86"))
def test_nibbles_are_written_where_stock_refuses(tmp_path, target):
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(SUM4)
    report = fissile.compile(source, path, list(flags_for(find_target(target))), check=False)
    assert report.output and [(f.code, f.severity.value) for f in report.findings] == [("FIS104", "repaired")]


def test_nibbles_add_up(tmp_path):
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(SUM4)
    refused = fissile.compile(source, path, list(CPU), repair="off", check=False)
    assert [f.code for f in refused.errors] == ["FIS104"]
    report = fissile.compile(source, path, list(CPU), check=False)
    assert report.output and [f.severity.value for f in report.findings] == ["repaired"]
    a, b = (GENERATOR.integers(-128, 128, 125).astype(np.int8) for _ in range(2))
    np.testing.assert_array_equal(run(path, [a, b], "local-task"), nibble_sums(a, b))


def test_check_tells_what_has_no_code(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(decoded("f8E4M3FN"))
    report = fissile.check(source, ["gfx1100", "llvm-cpu", "gfx942"])
    assert [(f.code, f.target) for f in report.errors] == [("FIS104", "gfx1100"), ("FIS104", "gfx942")]
    source.write_text(decoded("f8E4M3FNUZ"))
    assert [f.target for f in fissile.check(source, ["gfx1100", "gfx942"]).errors] == ["gfx1100"]


def test_a_dispatch_that_fails_of_its_memory_first(tmp_path):
    """gfx942: too large as it is, and without code for the type once it would fit."""
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    x, y = "tensor<1x26x26x96xf8E4M3FN>", "tensor<1x26x26x96xf32>"
    source.write_text(f"""
func.func @main(%a: {x}, %w: tensor<2x2x96x8xf32>) -> tensor<1x13x13x8xf32> {{
  %z = arith.constant 0.0 : f32
  %de = tensor.empty() : {y}
  %d = linalg.generic {{indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}} ins(%a : {x}) outs(%de : {y}) {{
  ^bb0(%i: f8E4M3FN, %o: f32):
    %v = arith.extf %i : f8E4M3FN to f32
    linalg.yield %v : f32
  }} -> {y}
  %e = tensor.empty() : tensor<1x13x13x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x13x13x8xf32>) -> tensor<1x13x13x8xf32>
  %r = linalg.conv_2d_nhwc_hwcf {{strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}}
      ins(%d, %w : {y}, tensor<2x2x96x8xf32>) outs(%f : tensor<1x13x13x8xf32>) -> tensor<1x13x13x8xf32>
  return %r : tensor<1x13x13x8xf32>
}}
""")
    report = fissile.compile(source, path, list(flags_for(find_target("gfx942"))), check=False)
    assert report.output
    assert {(f.code, f.severity.value) for f in report.findings} == {
        ("FIS101", "repaired"),
        ("FIS104", "repaired"),
    }


def test_what_many_dispatches_have_is_reported_once(tmp_path):
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text("".join(decoded("f8E5M2", f"{n}x16").replace("@main", f"@main{n}") for n in (3, 5, 7)))
    report = fissile.compile(source, path, list(flags_for(find_target("gfx1100"))), check=False)
    [reported] = report.findings
    assert (
        report.output
        and reported.severity.value == "repaired"
        and "the same of 2 more dispatches" in reported.notes
    )


@pytest.mark.parametrize("target", ("vulkan", "gfx942", "sm_86"))
def test_a_float_that_no_buffer_of_a_call_has(tmp_path, target):
    """HAL has no name for f8E3M4: a program rounds to it and back."""
    source, path = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(
        "func.func @main(%x: tensor<5x8xf32>) -> tensor<5x8xf32> {\n"
        "  %s = stablehlo.convert %x : (tensor<5x8xf32>) -> tensor<5x8xf8E3M4>\n"
        "  %r = stablehlo.convert %s : (tensor<5x8xf8E3M4>) -> tensor<5x8xf32>\n  return %r : tensor<5x8xf32>\n}\n"
    )
    flags = list(flags_for(find_target(target)))
    assert not fissile.compile(source, path, flags, repair="off", check=False).output
    assert fissile.compile(source, path, flags, check=False).output
    if target == "vulkan" and any(runtime.name == "vulkan" for runtime in runtimes.present()):
        x = GENERATOR.uniform(-18, 18, (5, 8)).astype(np.float32)
        right = x.astype(ml_dtypes.float8_e3m4).astype(np.float32)
        np.testing.assert_array_equal(run(path, [x], "vulkan"), right)
