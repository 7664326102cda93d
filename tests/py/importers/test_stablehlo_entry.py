"""Ops of StableHLO that stock IREE refuses (FIS421): rewritten, they enter and compute what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {
    "local-task": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]


def entered(tmp_path, text: str, remedy: str, runtime: str, inputs, guard: str = "off") -> list[np.ndarray]:
    """What ``text`` computes; stock IREE refuses it, and fissile and its check report ``remedy``."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    assert compile_stock(source, tmp_path / "stock.vmfb", FLAGS[runtime]) is not None
    report = fissile.compile(source, output, list(FLAGS[runtime]), check=False, guard=guard)
    assert report.exit_code == 0, report.findings
    found = [f for f in report.findings if f.code == "FIS421"]
    assert found and {f.severity.value for f in found} == {"repaired"}
    assert {f.helps[0].remedy for f in found} == {remedy} and all(f.stock and f.places for f in found)
    return run(output, inputs, runtime)


def same(made: np.ndarray, wanted: np.ndarray) -> None:
    """The runtime returns the bits of unsigned elements as signed ones."""
    np.testing.assert_array_equal(made.view(wanted.dtype), wanted)


def advised(tmp_path, text: str, remedy: str) -> None:
    """`check` suggests ``remedy``."""
    (tmp_path / "in.mlir").write_text(text)
    found = [f for f in fissile.check(tmp_path / "in.mlir", ["llvm-cpu"]).findings if f.code == "FIS421"]
    assert [(f.severity.value, f.helps[0].remedy, f.helps[0].applied) for f in found] == [
        ("error", remedy, False)
    ]


CIRCLE = """
func.func @main(%x: tensor<2x3x4xi32>) -> tensor<4x2x3xi32> {
  %r = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<2x3x4xi32>) -> tensor<4x2x3xi32>
  return %r : tensor<4x2x3xi32>
}
"""


@pytest.mark.parametrize("runtime", PRESENT)
def test_a_permuting_broadcast(tmp_path, runtime):
    given = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    [made] = entered(tmp_path, CIRCLE, "fissile-order-broadcast-dims", runtime, [given])
    np.testing.assert_array_equal(made, given.transpose(2, 0, 1))
    advised(tmp_path, CIRCLE, "fissile-order-broadcast-dims")


SIZES = {1: (5,), 2: (5, 4), 3: (3, 4, 3)}
TYPES = {"i8": np.int8, "ui8": np.uint8, "f16": np.float16, "i32": np.int32, "f32": np.float32}


def depthwise(rank: int, given: str, operand: str, result: str, dilation: int = 1) -> str:
    """Three channels, one filter of 2 elements in each direction for each."""
    sizes, names = SIZES[rank], ", ".join(map(str, range(rank)))
    image = "x".join(map(str, (1, *sizes, 3)))
    kernel = "x".join(map(str, (*(2,) * rank, 1, 3)))
    made = "x".join(map(str, (1, *((size - 1) * dilation for size in sizes), 3)))
    spread = f"lhs_dilate = [{', '.join([str(dilation)] * rank)}]" if dilation > 1 else ""
    return f"""
func.func @main(%x: tensor<{image}x{given}>, %k: tensor<{kernel}x{given}>) -> tensor<{made}x{result}> {{
  %a = stablehlo.convert %x : (tensor<{image}x{given}>) -> tensor<{image}x{operand}>
  %b = stablehlo.convert %k : (tensor<{kernel}x{given}>) -> tensor<{kernel}x{operand}>
  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, {names}, f]x[{names}, i, o]->[b, {names}, f], window = {{{spread}}}
    {{batch_group_count = 1 : i64, feature_group_count = 3 : i64}} : (tensor<{image}x{operand}>, tensor<{kernel}x{operand}>) -> tensor<{made}x{result}>
  return %r : tensor<{made}x{result}>
}}
"""


def convolved(image: np.ndarray, kernel: np.ndarray, dilation: int) -> np.ndarray:
    rank = image.ndim - 2
    spread = np.zeros((1, *((size - 1) * dilation + 1 for size in image.shape[1:-1]), 3))
    spread[(0, *(slice(None, None, dilation),) * rank)] = image[0]
    made = 0
    for place in np.ndindex(*(2,) * rank):
        part = tuple(slice(p, size - 1 + p) for p, size in zip(place, spread.shape[1:-1], strict=True))
        made = made + spread[(slice(None), *part)] * kernel[place][0].astype(np.float64)
    return made


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize(
    ("rank", "given", "operand", "result", "dilation"),
    [
        (2, "i8", "i8", "i32", 1), (2, "f16", "f16", "f32", 1), (2, "i8", "i32", "i32", 1), (2, "f16", "f32", "f32", 1),
        (1, "i8", "i8", "i32", 1), (3, "i8", "i8", "i32", 1), (2, "i8", "i8", "i32", 2),
    ],
)  # fmt: skip
def test_a_depthwise_convolution_with_a_wider_result(
    tmp_path, runtime, rank, given, operand, result, dilation
):
    random = np.random.default_rng(5)
    low, high = (-128, 128) if given == "i8" else (-16, 16)
    image = random.integers(low, high, (1, *SIZES[rank], 3)).astype(TYPES[given])
    kernel = random.integers(low, high, (*(2,) * rank, 1, 3)).astype(TYPES[given])
    text = depthwise(rank, given, operand, result, dilation)
    [made] = entered(tmp_path, text, "fissile-widen-operands", runtime, [image, kernel])
    np.testing.assert_array_equal(
        made, convolved(image.astype(np.float64), kernel, dilation).astype(TYPES[result])
    )


def test_check_suggests_wider_operands(tmp_path):
    advised(tmp_path, depthwise(2, "i8", "i8", "i32"), "fissile-widen-operands")


def test_an_unsigned_depthwise_convolution_is_wrong_and_refused(tmp_path):
    """It is FIS155, which is repaired before IREE sees the program."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(depthwise(2, "ui8", "ui8", "i32"))
    report = fissile.compile(source, output, list(FLAGS["local-task"]), check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS155", "repaired")]
    image, kernel = np.full((1, 5, 4, 3), 200, np.uint8), np.full((2, 2, 1, 3), 201, np.uint8)
    assert (run(output, [image, kernel])[0] == 4 * 200 * 201).all()


REVERSE = """
func.func @main(%x: tensor<?x4xTYPE>) -> (tensor<?x4xTYPE>, tensor<i32>) {
  %r = stablehlo.reverse %x, dims = [1] : tensor<?x4xTYPE>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xTYPE>) -> tensor<i32>
  return %r, %n : tensor<?x4xTYPE>, tensor<i32>
}
"""
CUMULATIVE = """
func.func @main(%x: tensor<3x6xTYPE>, %c: tensor<TYPE>) -> tensor<3x6xTYPE> {
  %r = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 6>}> ({
  ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
    %m = stablehlo.OP %a, %b : tensor<TYPE>
    stablehlo.return %m : tensor<TYPE>
  }) : (tensor<3x6xTYPE>, tensor<TYPE>) -> tensor<3x6xTYPE>
  return %r : tensor<3x6xTYPE>
}
"""
SCATTER = """
func.func @main(%x: tensor<4x4xTYPE>, %s: tensor<2x2xTYPE>, %c: tensor<TYPE>) -> tensor<4x4xTYPE> {
  %r = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
    %m = stablehlo.compare GE, %a, %b : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }, {
  ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
    %m = stablehlo.add %a, %b : tensor<TYPE>
    stablehlo.return %m : tensor<TYPE>
  }) : (tensor<4x4xTYPE>, tensor<2x2xTYPE>, tensor<TYPE>) -> tensor<4x4xTYPE>
  return %r : tensor<4x4xTYPE>
}
"""
UNSIGNED = {"ui8": np.uint8, "ui32": np.uint32}


def large(type_: str, shape: tuple[int, ...]) -> np.ndarray:
    """Different numbers, half of them with the highest bit."""
    count, top = int(np.prod(shape)), np.iinfo(UNSIGNED[type_]).max
    spread = np.random.default_rng(7).permutation(count).astype(np.float64) * (top / count)
    return spread.astype(UNSIGNED[type_]).reshape(shape)


@pytest.mark.parametrize("type_", UNSIGNED)
@pytest.mark.parametrize("runtime", PRESENT)
def test_a_reversed_unsigned_tensor_and_its_size(tmp_path, runtime, type_):
    given = large(type_, (3, 4))
    made, size = entered(
        tmp_path, REVERSE.replace("TYPE", type_), "fissile-use-signless-ops", runtime, [given]
    )
    same(made, given[:, ::-1])
    assert size == 3


@pytest.mark.parametrize(
    ("op", "wanted", "start"),
    [
        ("add", np.add, 0),
        ("multiply", np.multiply, 1),
        ("maximum", np.maximum, 0),
        ("minimum", np.minimum, None),
    ],
    ids=("add", "multiply", "maximum", "minimum"),
)
@pytest.mark.parametrize("runtime", PRESENT)
def test_a_cumulative_unsigned_reduction(tmp_path, runtime, op, wanted, start):
    given = large("ui8", (3, 6))
    begin = np.array(np.iinfo(np.uint8).max if start is None else start, np.uint8)
    text = CUMULATIVE.replace("TYPE", "ui8").replace("OP", op)
    [made] = entered(tmp_path, text, "fissile-use-signless-ops", runtime, [given, begin])
    same(made, wanted.accumulate(given, axis=1, dtype=np.uint8))


def test_a_cumulative_unsigned_reduction_from_the_end(tmp_path):
    given, begin = large("ui32", (3, 6)), np.array(2**32 - 1, np.uint32)
    text = CUMULATIVE.replace("TYPE", "ui32").replace("OP", "minimum").replace("[5, 0]", "[0, 5]")
    [made] = entered(tmp_path, text, "fissile-use-signless-ops", "local-task", [given, begin])
    same(made, np.minimum.accumulate(given[:, ::-1], axis=1)[:, ::-1])


def test_check_suggests_signless_ops(tmp_path):
    advised(tmp_path, CUMULATIVE.replace("TYPE", "ui8").replace("OP", "maximum"), "fissile-use-signless-ops")


@pytest.mark.parametrize("runtime", PRESENT)
def test_what_is_scattered_to_the_largest_unsigned_elements(tmp_path, runtime):
    given, added = large("ui8", (4, 4)), np.array([[1, 2], [3, 250]], np.uint8)
    text = SCATTER.replace("TYPE", "ui8")
    [made] = entered(
        tmp_path, text, "fissile-use-signless-ops", runtime, [given, added, np.array(0, np.uint8)]
    )
    wanted = np.zeros((4, 4), np.uint8)
    for i, j in np.ndindex(2, 2):
        window = given[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
        row, column = np.unravel_index(window.argmax(), (2, 2))
        wanted[2 * i + row, 2 * j + column] = added[i, j]
    same(made, wanted)


RESHAPE = """
func.func @main(%x: tensor<4x?xTYPE>, %s: tensor<2xSIZE>) -> tensor<?x?xTYPE> {
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<4x?xTYPE>, tensor<2xSIZE>) -> tensor<?x?xTYPE>
  return %r : tensor<?x?xTYPE>
}
"""
COMPUTED_SHAPE = """
func.func @main(%x: tensor<4x?xf32>) -> tensor<?x8xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %half = stablehlo.divide %n, %two : tensor<i32>
  %rows = stablehlo.reshape %half : (tensor<i32>) -> tensor<1xi32>
  %columns = stablehlo.constant dense<8> : tensor<1xi32>
  %s = stablehlo.concatenate %rows, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<4x?xf32>, tensor<2xi32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
"""
PAD = """
func.func @main(%x: tensor<3x?xTYPE>, %v: tensor<TYPE>, %l: tensor<2xSIZE>, %h: tensor<2xSIZE>) -> tensor<?x?xTYPE> {
  %between = stablehlo.constant dense<0> : tensor<2xSIZE>
  %r = stablehlo.dynamic_pad %x, %v, %l, %h, %between : (tensor<3x?xTYPE>, tensor<TYPE>, tensor<2xSIZE>, tensor<2xSIZE>, tensor<2xSIZE>) -> tensor<?x?xTYPE>
  return %r : tensor<?x?xTYPE>
}
"""


@pytest.mark.parametrize(
    ("type_", "size", "of_size"),
    [("f32", "i32", np.int32), ("ui8", "i64", np.int64), ("i8", "i8", np.int8), ("f32", "ui8", np.uint8), ("f16", "ui32", np.uint32)],
)  # fmt: skip
@pytest.mark.parametrize("runtime", PRESENT)
def test_a_reshape_to_sizes_of_the_call(tmp_path, runtime, type_, size, of_size):
    text = RESHAPE.replace("TYPE", type_).replace("SIZE", size)
    given = np.arange(40).reshape(4, 10).astype(TYPES[type_])
    sizes = np.array([2, 20], of_size)
    [made] = entered(tmp_path, text, "fissile-lower-dynamic-shapes", runtime, [given, sizes])
    np.testing.assert_array_equal(made, given.reshape(2, 20))


@pytest.mark.parametrize("runtime", PRESENT)
def test_a_reshape_to_computed_sizes_is_checked_at_run_time(tmp_path, runtime):
    given = np.arange(16, dtype=np.float32).reshape(4, 4)
    [made] = entered(
        tmp_path, COMPUTED_SHAPE, "fissile-lower-dynamic-shapes", runtime, [given], guard="assert"
    )
    np.testing.assert_array_equal(made, given.reshape(2, 8))


@pytest.mark.parametrize(
    ("low", "high"), [((1, 0), (0, 2)), ((-1, 2), (3, -2)), ((-2, -1), (-1, 0)), ((4, -5), (-4, 6))], ids=str
)
@pytest.mark.parametrize(
    ("type_", "size", "of_size"), [("ui8", "i32", np.int32), ("f32", "i8", np.int8)], ids=("ui8", "f32")
)
def test_a_pad_by_amounts_of_the_call(tmp_path, type_, size, of_size, low, high):
    text = PAD.replace("TYPE", type_).replace("SIZE", size)
    given = np.arange(1, 16).reshape(3, 5).astype(TYPES[type_])
    border = np.array(200, TYPES[type_])
    inputs = [given, border, np.array(low, of_size), np.array(high, of_size)]
    [made] = entered(tmp_path, text, "fissile-lower-dynamic-shapes", "local-task", inputs)
    wide = np.pad(given, 9, constant_values=border)
    ends = [9 + n + edge for n, edge in zip(given.shape, high, strict=True)]
    same(made, wide[9 - low[0] : ends[0], 9 - low[1] : ends[1]])


def test_check_suggests_ops_of_tensor(tmp_path):
    advised(tmp_path, COMPUTED_SHAPE, "fissile-lower-dynamic-shapes")


@pytest.mark.parametrize("type_", ("f32", "ui8"))
def test_a_pad_that_takes_elements_of_an_unknown_size_away(tmp_path, type_):
    text = (
        f"func.func @main(%x: tensor<?x4x{type_}>, %v: tensor<{type_}>) -> tensor<?x3x{type_}> {{\n"
        f"  %r = stablehlo.pad %x, %v, low = [-1, 1], high = [2, -2], interior = [0, 0] : (tensor<?x4x{type_}>, tensor<{type_}>) -> tensor<?x3x{type_}>\n"
        f"  return %r : tensor<?x3x{type_}>\n}}\n"
    )
    given, border = np.arange(1, 13).reshape(3, 4).astype(TYPES[type_]), np.array(200, TYPES[type_])
    [made] = entered(tmp_path, text, "fissile-lower-dynamic-shapes", "local-task", [given, border])
    same(made, np.pad(given[1:, :2], ((0, 2), (1, 0)), constant_values=border))
