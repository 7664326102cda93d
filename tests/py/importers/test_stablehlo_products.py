"""Products of StableHLO that stock IREE refuses (FIS421): those that name an algorithm, those over a batch of unknown size."""

from __future__ import annotations

import numpy as np
import pytest
from built import run
from test_stablehlo_entry import FLAGS, PRESENT, entered, same

from fissile.pipelines.numerics.build import compile_stock

RNG = np.random.default_rng(8)
ALGORITHM = (
    "algorithm = <lhs_precision_type = LEFT, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, "
    "rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>"
)
TYPES = {"f32": np.float32, "f16": np.float16, "ui8": np.uint8, "i8": np.int8, "i32": np.int32, "ui32": np.uint32}  # fmt: skip


def product(left: str, right: str, made: str, dims: str) -> str:
    return f"""
func.func @main(%a: tensor<{left}>, %b: tensor<{right}>) -> tensor<{made}> {{
  %r = stablehlo.dot_general %a, %b, {dims} : (tensor<{left}>, tensor<{right}>) -> tensor<{made}>
  return %r : tensor<{made}>
}}
"""


def numbers(element: str, *shape: int) -> np.ndarray:
    low = 0 if element.startswith("u") else -8
    return RNG.integers(low, 120 if element == "ui8" else 8, shape).astype(TYPES[element])


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("rounded", ("f32", "bf16"))
def test_an_algorithm_over_a_batch(tmp_path, runtime, rounded):
    """257 times 1, 256 of them: in bf16 a sum stops at 256, and 257 is no bf16."""
    text = f"""
func.func @main(%a: tensor<2x3x256xf32>, %b: tensor<2x256x4xf32>) -> tensor<2x3x4xf32> {{
  %x = stablehlo.convert %a : (tensor<2x3x256xf32>) -> tensor<2x3x256x{rounded}>
  %y = stablehlo.convert %b : (tensor<2x256x4xf32>) -> tensor<2x256x4xbf16>
  %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], {ALGORITHM.replace("LEFT", "bf16")} : (tensor<2x3x256x{rounded}>, tensor<2x256x4xbf16>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}}
"""
    a, b = np.full((2, 3, 256), 257, np.float32), np.ones((2, 256, 4), np.float32)
    [made] = entered(tmp_path, text, "fissile-apply-dot-algorithms", runtime, [a, b])
    np.testing.assert_array_equal(made, np.full((2, 3, 4), 256 * 256, np.float32))


def test_an_algorithm_on_matrices_enters_stock_iree(tmp_path):
    """Where this fails IREE has changed."""
    dims = f"contracting_dims = [1] x [0], {ALGORITHM.replace('LEFT', 'bf16')}"
    (tmp_path / "in.mlir").write_text(product("4x8xbf16", "8x4xbf16", "4x4xf32", dims))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None


FORMS = {
    "dense": ("?x6x16", "16x8", "?x6x8", "contracting_dims = [2] x [0]", "bsk,ko->bso"),
    "split": ("?x6x16", "16x2x8", "?x6x2x8", "contracting_dims = [2] x [0]", "bsk,kio->bsio"),
    "joined": ("?x6x2x8", "2x8x5", "?x6x5", "contracting_dims = [2, 3] x [0, 1]", "bsij,ijo->bso"),
    "second": ("4x8", "?x4x4x2", "8x?x4x2", "contracting_dims = [0] x [1]", "ij,bikl->jbkl"),
    "vector": ("?x4", "4", "?", "contracting_dims = [1] x [0]", "ij,j->i"),
    "vectors": ("?", "?", "", "contracting_dims = [0] x [0]", "i,i->"),
    "outer": ("?", "4", "?x4", "contracting_dims = [] x []", "i,j->ij"),
    "rows": ("?x3", "?x4", "?x3x4", "batching_dims = [0] x [0], contracting_dims = [] x []", "bi,bj->bij"),
}
FORMS_AND_TYPES = [
    *((form, "f32", "f32", "f32") for form in FORMS),
    ("split", "f16", "f16", "f32"),
    ("dense", "i8", "i8", "i32"),
    ("vectors", "ui8", "ui32", "ui32"),
]


def typed(sizes: str, element: str) -> str:
    return f"{sizes}x{element}" if sizes else element


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize(("form", "left", "right", "made"), FORMS_AND_TYPES)
def test_a_product_over_an_unknown_size(tmp_path, runtime, form, left, right, made):
    *sizes, dims, sums = FORMS[form]
    shapes = [[5 if one == "?" else int(one) for one in size.split("x")] for size in sizes[:2]]
    a, b = numbers(left, *shapes[0]), numbers(right, *shapes[1])
    text = product(*(typed(*one) for one in zip(sizes, (left, right, made), strict=True)), dims)
    [found] = entered(tmp_path, text, "fissile-multiply-unsized", runtime, [a, b])
    same(found, np.einsum(sums, a.astype(np.float64), b.astype(np.float64)).astype(TYPES[made]))


@pytest.mark.parametrize(
    ("given", "made", "kind", "length", "wanted"),
    (
        ("?x8xf32", "?x5xcomplex<f32>", "RFFT", "8", np.fft.rfft),
        ("?x6x5xf32", "?x6x3xcomplex<f32>", "RFFT", "6, 5", np.fft.rfft2),
        ("?x?x8xcomplex<f32>", "?x?x8xcomplex<f32>", "IFFT", "8", np.fft.ifft),
    ),
)
def test_a_transform_over_a_batch_of_any_size(tmp_path, given, made, kind, length, wanted):
    text = f"""
func.func @main(%x: tensor<{given}>) -> tensor<{made}> {{
  %r = stablehlo.fft %x, type = {kind}, length = [{length}] : (tensor<{given}>) -> tensor<{made}>
  return %r : tensor<{made}>
}}
"""
    shape = [3 if one == "?" else int(one) for one in given.split("x") if one == "?" or one.isdigit()]
    x = RNG.standard_normal(shape).astype(np.float32)
    x = (x + 1j * x[::-1]).astype(np.complex64) if "complex" in given else x
    [found] = entered(tmp_path, text, "fissile-transform-by-tables", "local-task", [x])
    np.testing.assert_allclose(found, wanted(x), rtol=1e-5, atol=1e-5)


def test_the_batch_of_a_product_enters_stock_iree(tmp_path):
    """Where this fails IREE has changed."""
    dims = "batching_dims = [0] x [0], contracting_dims = [2] x [1]"
    (tmp_path / "in.mlir").write_text(product("?x3x4xf32", "?x4x5xf32", "?x3x5xf32", dims))
    output = tmp_path / "stock.vmfb"
    assert compile_stock(tmp_path / "in.mlir", output, FLAGS["local-task"]) is None
    a, b = numbers("f32", 2, 3, 4), numbers("f32", 2, 4, 5)
    np.testing.assert_array_equal(run(output, [a, b], "local-task")[0], a @ b)
