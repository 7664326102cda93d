"""Ops of StableHLO that stock IREE's import reads as others (FIS154, FIS155): repaired, they compute what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.effect import Effect
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.reference import suspects
from fissile.rules import RULES

FLAGS = {
    "local-task": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
CODES = ("FIS154", "FIS155")
CIRCLE = """
func.func @main(%x: tensor<2x2x2xi32>) -> tensor<2x2x2xi32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  return %r : tensor<2x2x2xi32>
}
"""
OF_CONSTANT_SHAPE = """
func.func @main(%x: tensor<2x2x2xi32>) -> tensor<?x?x?xi32> {
  %s = stablehlo.constant dense<2> : tensor<3xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1, 2, 0] : (tensor<2x2x2xi32>, tensor<3xi32>) -> tensor<?x?x?xi32>
  return %r : tensor<?x?x?xi32>
}
"""
TWICE = """
func.func @main(%x: tensor<2x2x2xi32>) -> tensor<2x2x2xi32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  %r = stablehlo.broadcast_in_dim %0, dims = [1, 2, 0] : (tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  return %r : tensor<2x2x2xi32>
}
"""
EXCHANGE = CIRCLE.replace("[1, 2, 0]", "[2, 1, 0]")
GROWN_LATER = """
func.func @main(%x: tensor<2x2x2xi32>) -> tensor<5x2x2x2xi32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  %r = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3] : (tensor<2x2x2xi32>) -> tensor<5x2x2x2xi32>
  return %r : tensor<5x2x2x2xi32>
}
"""
UNIFORM = """
func.func @main(%x: tensor<i32>) -> tensor<2x2x2xi32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i32>) -> tensor<2x2x2xi32>
  %r = stablehlo.broadcast_in_dim %0, dims = [1, 2, 0] : (tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  return %r : tensor<2x2x2xi32>
}
"""


def dot(left: str, right: str, result: str, left_in: str = "", right_in: str = "") -> str:
    """The product of two matrices, converted from the types of the arguments if ``left_in`` and ``right_in`` say so."""
    left_in, right_in = left_in or left, right_in or right
    return f"""
func.func @main(%x: tensor<3x5x{left_in}>, %y: tensor<5x4x{right_in}>) -> tensor<3x4x{result}> {{
  %a = stablehlo.convert %x : (tensor<3x5x{left_in}>) -> tensor<3x5x{left}>
  %b = stablehlo.convert %y : (tensor<5x4x{right_in}>) -> tensor<5x4x{right}>
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x5x{left}>, tensor<5x4x{right}>) -> tensor<3x4x{result}>
  return %r : tensor<3x4x{result}>
}}
"""


def convolution(given: str, operand: str, result: str) -> str:
    """A 1x1 convolution, which is a matrix product."""
    return f"""
func.func @main(%x: tensor<1x3x1x5x{given}>, %y: tensor<1x1x5x4x{given}>) -> tensor<1x3x1x4x{result}> {{
  %a = stablehlo.convert %x : (tensor<1x3x1x5x{given}>) -> tensor<1x3x1x5x{operand}>
  %b = stablehlo.convert %y : (tensor<1x1x5x4x{given}>) -> tensor<1x1x5x4x{operand}>
  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}}
    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x3x1x5x{operand}>, tensor<1x1x5x4x{operand}>) -> tensor<1x3x1x4x{result}>
  return %r : tensor<1x3x1x4x{result}>
}}
"""


TYPES = {
    "ui8": np.uint8,
    "i8": np.int8,
    "ui16": np.uint16,
    "i32": np.int32,
    "ui32": np.uint32,
    "f32": np.float32,
}
PRODUCTS = {
    "ui8 to i32": (dot("ui8", "ui8", "i32"), "ui8", "ui8", "i32"),
    "ui8 to ui32": (dot("ui8", "ui8", "ui32"), "ui8", "ui8", "ui32"),
    "ui8 to f32": (dot("ui8", "ui8", "f32"), "ui8", "ui8", "f32"),
    "ui16 to i32": (dot("ui16", "ui16", "i32"), "ui16", "ui16", "i32"),
    "an image in f32": (dot("f32", "f32", "f32", left_in="ui8"), "ui8", "f32", "f32"),
    "ui8 by i8, converted": (dot("i32", "i32", "i32", "ui8", "i8"), "ui8", "i8", "i32"),
    "convolution to i32": (convolution("ui8", "ui8", "i32"), "ui8", "ui8", "i32"),
    "convolution in f32": (convolution("ui8", "f32", "f32"), "ui8", "ui8", "f32"),
}  # fmt: skip


def elements(type_: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if type_ == "f32":
        return random.integers(-9, 9, shape).astype(np.float32)
    low, high = (100, 128) if type_ == "i8" else (150, 256) if type_ == "ui8" else (40000, 41000)
    return random.integers(low, high, shape).astype(TYPES[type_])


def operands(name: str) -> list[np.ndarray]:
    _text, left, right, _result = PRODUCTS[name]
    shapes = ((1, 3, 1, 5), (1, 1, 5, 4)) if name.startswith("conv") else ((3, 5), (5, 4))
    return [elements(left, shapes[0], 1), elements(right, shapes[1], 2)]


def product(name: str) -> np.ndarray:
    left, right = (one.astype(np.float64) for one in operands(name))
    exact = left.reshape(3, 5) @ right.reshape(5, 4)
    shape = (1, 3, 1, 4) if name.startswith("conv") else (3, 4)
    wide = exact if PRODUCTS[name][3] == "f32" else exact.astype(np.int64)
    return wide.astype(TYPES[PRODUCTS[name][3]]).reshape(shape)


NO_CHANGE = {
    "reshape": "%a = stablehlo.reshape %c : (TYPE) -> TYPE",
    "transpose": "%a = stablehlo.transpose %c, dims = [0, 1] : (TYPE) -> TYPE",
    "convert": "%a = stablehlo.convert %c : TYPE",
    "broadcast": "%a = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (TYPE) -> TYPE",
    "zero point 0": "%n = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %z = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> TYPE\n  %a = stablehlo.subtract %c, %z : TYPE",
    "factor 1": "%n = stablehlo.constant dense<1> : TYPE\n  %a = stablehlo.multiply %n, %c : TYPE",
}


def between(op: str) -> str:
    """A product of ui8 in i32, with an op between the conversion and the product."""
    text = dot("i32", "i32", "i32", "ui8", "i8").replace("%a = stablehlo.convert", "%c = stablehlo.convert")
    return text.replace("  %b =", f"  {op.replace('TYPE', 'tensor<3x5xi32>')}\n  %b =")


@pytest.mark.parametrize("name", NO_CHANGE)
def test_an_op_that_changes_nothing_does_not_hide_it(tmp_path, name):
    report, output = built(between(NO_CHANGE[name]), tmp_path)
    assert codes(report) == [("FIS155", "repaired")], report.findings
    inputs = operands("ui8 by i8, converted")
    np.testing.assert_array_equal(run(output, inputs)[0], product("ui8 by i8, converted"))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    assert (run(tmp_path / "stock.vmfb", inputs)[0] != product("ui8 by i8, converted")).any()


def built(text: str, tmp_path, runtime: str = "local-task", **options):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    return fissile.compile(source, output, list(FLAGS[runtime]), check=False, **options), output


def codes(report) -> list[tuple[str, str]]:
    return [(f.code, f.severity.value) for f in report.findings if f.code in CODES]


CUBE = np.arange(8, dtype=np.int32).reshape(2, 2, 2)


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize(
    ("text", "count"),
    [(CIRCLE, 1), (OF_CONSTANT_SHAPE, 1), (TWICE, 2)],
    ids=("circle", "constant shape", "twice"),
)
def test_dimensions_are_reordered_as_the_program_says(tmp_path, runtime, text, count):
    report, output = built(text, tmp_path, runtime)
    assert codes(report) == [("FIS154", "repaired")] * count
    [finding, *_] = [f for f in report.findings if f.code == "FIS154"]
    assert finding.effect is Effect.WRONG and finding.places[0].line in (3, 4)
    assert finding.helps[0].remedy == "fissile-order-broadcast-dims"
    wanted = CUBE
    for _ in range(count):
        wanted = wanted.transpose(2, 0, 1)
    np.testing.assert_array_equal(run(output, [CUBE], runtime)[0], wanted)


def test_stock_reorders_dimensions_the_other_way_round(tmp_path):
    """Where this fails IREE has changed, and FIS154 is not needed any more."""
    (tmp_path / "in.mlir").write_text(CIRCLE)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    [computed] = run(tmp_path / "stock.vmfb", [CUBE])
    np.testing.assert_array_equal(computed, CUBE.transpose(1, 2, 0))


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("name", PRODUCTS)
def test_unsigned_operands_are_extended_as_unsigned(tmp_path, runtime, name):
    report, output = built(PRODUCTS[name][0], tmp_path, runtime)
    assert codes(report) == [("FIS155", "repaired")], report.findings
    [finding] = [f for f in report.findings if f.code == "FIS155"]
    assert finding.effect is Effect.WRONG and finding.helps[0].remedy == "fissile-widen-operands"
    np.testing.assert_array_equal(run(output, operands(name), runtime)[0], product(name))


@pytest.mark.parametrize("name", PRODUCTS)
def test_stock_extends_unsigned_operands_as_signed(tmp_path, name):
    """Where this fails IREE has changed, and FIS155 is not needed any more."""
    (tmp_path / "in.mlir").write_text(PRODUCTS[name][0])
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    [computed] = run(tmp_path / "stock.vmfb", operands(name))
    assert (computed != product(name)).any()


RIGHT = {
    "its own inverse": EXCHANGE,
    "zero point 1": between(NO_CHANGE["zero point 0"].replace("dense<0>", "dense<1>")),
    "joined with a larger broadcast": GROWN_LATER,
    "one value": UNIFORM,
    "signed": dot("f32", "f32", "f32", left_in="i8"),
    "unsigned, not widened": dot("ui8", "ui8", "ui8"),
    "converted to no wider type": dot("f32", "f32", "f32", left_in="ui32"),
    "converted twice": dot("f32", "f32", "f32", left_in="i32").replace(
        "%a = stablehlo.convert %x : (tensor<3x5xi32>)",
        "%u = stablehlo.convert %x : (tensor<3x5xi32>) -> tensor<3x5xui8>\n"
        "  %w = stablehlo.convert %u : (tensor<3x5xui8>) -> tensor<3x5xi32>\n"
        "  %a = stablehlo.convert %w : (tensor<3x5xi32>)",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_others_are_stocks_bytes(tmp_path, name):
    report, output = built(RIGHT[name], tmp_path)
    assert codes(report) == [] and not suspects(tmp_path / "in.mlir")
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    assert output.read_bytes() == (tmp_path / "stock.vmfb").read_bytes()


def test_a_broadcast_that_is_joined_with_a_larger_one_is_right(tmp_path):
    _report, output = built(GROWN_LATER, tmp_path)
    np.testing.assert_array_equal(
        run(output, [CUBE])[0], np.broadcast_to(CUBE.transpose(2, 0, 1), (5, 2, 2, 2))
    )


@pytest.mark.parametrize("code", CODES)
def test_not_repaired_it_is_withheld_and_check_says_so(tmp_path, code):
    text = RULES[code].shown.program
    report, output = built(text, tmp_path, repair="off")
    assert codes(report) == [(code, "error")] and not output.exists() and report.exit_code == 1
    report, output = built(text, tmp_path, repair="suggest")
    assert codes(report) == [(code, "error")] and not output.exists()
    report = fissile.check(tmp_path / "in.mlir", ["llvm-cpu"])
    assert codes(report) == [(code, "error")]
    assert report.findings[0].helps and not report.findings[0].helps[0].applied
    report, output = built(text, tmp_path, repair="off", allow_wrong=True)
    assert codes(report) == [(code, "warning")] and output.exists()


@pytest.mark.parametrize("code", CODES)
def test_verify_compares_with_a_right_reference(tmp_path, code):
    source = tmp_path / "in.mlir"
    source.write_text(RULES[code].shown.program)
    assert [known.what for known in suspects(source)] == ["an op that the import reads as another one"]
    report = fissile.verify(source, on=PRESENT, seeds=(0,))
    assert report.exit_code == 0, report.findings


MASK = np.arange(15).reshape(3, 5) % 3 == 0
BOOLEANS = {"f32": dot("f32", "f32", "f32", left_in="i1"), "i32": dot("i32", "i32", "i32", left_in="i1")}


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("element", BOOLEANS)
def test_true_is_one(tmp_path, runtime, element):
    """A mask or a one-hot matrix times another: -1 for true on GPUs. Stock's bytes on llvm-cpu, which is right."""
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(BOOLEANS[element])
    report = fissile.compile(source, ours, list(FLAGS[runtime]))
    found = [f.severity.value for f in report.findings if f.code == "FIS155"]
    assert found == ([] if runtime == "local-task" else ["repaired"])
    if runtime == "local-task":
        assert (
            compile_stock(source, stock, FLAGS[runtime]) is None and ours.read_bytes() == stock.read_bytes()
        )
    right = elements("f32", (5, 4), 2).astype(TYPES[element])
    np.testing.assert_array_equal(run(ours, [MASK, right], runtime)[0], MASK.astype(TYPES[element]) @ right)


def test_stock_takes_true_for_minus_one_on_vulkan(tmp_path):
    """Where this fails IREE has changed, and booleans need no care any more."""
    if "vulkan" not in PRESENT:
        pytest.skip("no Vulkan device")
    (tmp_path / "in.mlir").write_text(
        BOOLEANS["i32"].replace("3x5x", "4x4x").replace("5x4x", "4x4x").replace("3x4x", "4x4x")
    )
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["vulkan"]) is None
    mask = np.ones((4, 4), bool)
    [answer] = run(tmp_path / "stock.vmfb", [mask, np.ones((4, 4), np.int32)], "vulkan")
    assert (answer == -4).any()


def test_check_reports_booleans_for_gpus_only(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(BOOLEANS["f32"])
    assert "FIS155" in {f.code for f in fissile.check(source, ["gfx942"]).findings}
    assert "FIS155" not in {f.code for f in fissile.check(source, ["llvm-cpu"]).findings}
