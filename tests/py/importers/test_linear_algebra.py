"""Determinants, inverses, factorisations, eigenvalues and systems of linear equations: equal to NumPy's, also where a pivot is 0."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

VULKAN = ["--iree-hal-target-device=vulkan"]
FLAGS = {"local-task": CPU, "vulkan": VULKAN}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
TURNED = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], np.float32)
"""A permutation: every pivot is 0 until rows are exchanged."""


def matrices():
    """[4, 3, 3]: a permutation, one that is singular but for the last pivot, one with a tiny pivot, and an ordinary one."""
    late = np.array([[1, 2, 3], [2, 4, 7], [1, 5, 6]], np.float32)
    tiny = np.array([[1e-8, 1, 2], [1, 1, 3], [2, -1, 1]], np.float32)
    return np.stack([TURNED, late, tiny, np.random.default_rng(1).standard_normal((3, 3)).astype(np.float32)])


def definite(scale=1.0):
    given = np.random.default_rng(2).standard_normal((4, 3, 3)).astype(np.float32)
    return (given @ given.transpose(0, 2, 1) + np.eye(3, dtype=np.float32)) * np.float32(scale)


RIGHT = np.random.default_rng(3).standard_normal((4, 3, 2)).astype(np.float32)
SOLVED = np.linalg.solve(matrices(), RIGHT)
FACTOR = np.linalg.cholesky(definite())
YES, NO = "%yes", "%no"


def pivoted(packed_and_pivots):
    """The product of a packed LU factorisation whose pivots count from 1."""
    packed, pivots = packed_and_pivots
    product = (np.tril(packed, -1) + np.eye(3)) @ np.triu(packed)
    for matrix, steps in zip(product, pivots, strict=True):
        for step, row in reversed(list(enumerate(steps))):
            matrix[[step, row - 1]] = matrix[[row - 1, step]]
    return product


TORCH = [
    ("aten.linalg_det", [matrices()], [np.linalg.det(matrices())]),
    ("aten.det", [matrices()], [np.linalg.det(matrices())]),
    ("aten.slogdet", [matrices()[1]], list(map(np.float32, np.linalg.slogdet(matrices()[1])))),
    ("aten._linalg_slogdet", [matrices()], [*np.linalg.slogdet(matrices()), None, None]),
    ("aten.linalg_inv_ex", [matrices(), NO], [np.linalg.inv(matrices()), np.zeros(4, np.int32)]),
    ("aten.inverse", [matrices()[0]], [TURNED.T]),
    ("aten.linalg_solve", [matrices(), RIGHT, YES], [SOLVED]),
    ("aten._linalg_solve_ex", [matrices(), RIGHT.transpose(0, 2, 1).copy(), NO, NO],
     [np.linalg.solve(matrices().transpose(0, 2, 1), RIGHT).transpose(0, 2, 1), None, None, np.zeros(4, np.int32)]),
    ("aten.linalg_solve", [matrices(), RIGHT[..., 0].copy(), YES], [SOLVED[..., 0]]),
    ("aten.linalg_solve", [matrices()[3], RIGHT, YES], [np.linalg.solve(matrices()[3], RIGHT)]),
    ("aten.linalg_cholesky", [definite(), NO], [FACTOR]),
    ("aten.linalg_cholesky_ex", [definite(), YES, NO], [FACTOR.transpose(0, 2, 1), np.zeros(4, np.int32)]),
    ("aten.linalg_solve_triangular", [FACTOR, RIGHT, NO, YES, NO], [np.linalg.solve(FACTOR, RIGHT)]),
    ("aten.linalg_solve_triangular", [FACTOR.transpose(0, 2, 1).copy(), RIGHT.transpose(0, 2, 1).copy(), YES, NO, NO],
     [np.linalg.solve(FACTOR, RIGHT).transpose(0, 2, 1)]),
    ("aten.triangular_solve", [RIGHT, FACTOR, NO, YES, NO], [np.linalg.solve(FACTOR.transpose(0, 2, 1), RIGHT), None]),
    ("aten.cholesky_solve", [RIGHT, FACTOR, NO], [np.linalg.solve(definite(), RIGHT)]),
    ("aten.cholesky_inverse", [FACTOR[1].copy(), NO], [np.linalg.inv(definite()[1])]),
]  # fmt: skip
"""An op, its operands, and its results; None for one that is not compared."""


def type_of(array):
    element = "si32" if array.dtype == np.int32 else "f32"
    return f"!torch.vtensor<[{','.join(map(str, array.shape))}],{element}>"


def torch_program(ops=TORCH):
    """One function of all ``ops``, its arguments, and what it returns."""
    arrays, lines, returned, expected = [], [], [], []
    for number, (name, operands, results) in enumerate(ops):
        given = [
            (one, "!torch.bool") if isinstance(one, str) else (f"%x{len(arrays) + place}", type_of(one))
            for place, one in enumerate(operands)
        ]
        arrays += [one for one in operands if not isinstance(one, str)]
        like = [type_of(operands[0]) if one is None else type_of(one) for one in results]
        if name == "aten._linalg_slogdet" or name == "aten._linalg_solve_ex":
            like[3 if "slogdet" in name else 2] = "!torch.vtensor<[4,3],si32>"
        if name == "aten.triangular_solve":
            like[1] = type_of(operands[1])
        count = f":{len(results)}" if len(results) > 1 else ""
        words, types = ", ".join(word for word, _ in given), ", ".join(type_ for _, type_ in given)
        lines.append(
            f'%r{number}{count} = torch.operator "torch.{name}"({words}) : ({types}) -> ({", ".join(like)})'
        )
        for place, one in enumerate(results):
            if one is not None:
                returned.append((f"%r{number}{f'#{place}' if count else ''}", like[place]))
                expected.append(one)
    arguments = ", ".join(f"%x{n}: {type_of(array)}" for n, array in enumerate(arrays))
    words, types = ", ".join(word for word, _ in returned), ", ".join(type_ for _, type_ in returned)
    body = "\n  ".join(["%yes = torch.constant.bool true", "%no = torch.constant.bool false", *lines])
    return (
        f"func.func @main({arguments}) -> ({types}) {{\n  {body}\n  return {words} : {types}\n}}\n",
        arrays,
        expected,
    )


def compiled(folder, text, flags, codes):
    (folder / "in.mlir").write_text(text)
    report = fissile.compile(folder / "in.mlir", folder / "out.vmfb", flags, check=False)
    assert report.exit_code == 0, report.findings
    assert codes <= {one.code for one in report.findings}, report.findings
    return folder / "out.vmfb"


def run(vmfb, arrays, runtime="local-task"):
    [device] = runtimes.named([runtime])
    found = runtimes.run(vmfb, signatures_of_source(vmfb.with_name("in.mlir"))["main"], arrays, device)
    assert isinstance(found, list), found
    return found


@pytest.mark.parametrize("runtime", PRESENT)
def test_ops_of_pytorch_agree_with_numpy(tmp_path, runtime):
    text, arrays, expected = torch_program()
    found = run(compiled(tmp_path, text, FLAGS[runtime], {"FIS421", "FIS185"}), arrays, runtime)
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-4)


DETERMINANT = """\
func.func @main(%x: !torch.vtensor<[?,3,3],f32>) -> !torch.vtensor<[?],f32> {
  %r = torch.aten.linalg_det %x : !torch.vtensor<[?,3,3],f32> -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}
"""


def test_determinants_of_stock_are_wrong_and_ours_have_any_batch(tmp_path):
    vmfb = compiled(tmp_path, DETERMINANT, CPU, {"FIS185"})
    [ours] = run(vmfb, [matrices()])
    np.testing.assert_allclose(ours, np.linalg.det(matrices()), rtol=1e-4, atol=1e-6)
    (tmp_path / "in.mlir").write_text(DETERMINANT.replace("?", "4"))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU, timeout=300.0) is None
    [stock] = run(tmp_path / "stock.vmfb", [matrices()])
    assert np.isnan(stock[0])
    assert abs(stock[2] - np.linalg.det(matrices())[2]) > 0.1


def test_a_factorisation_of_pytorch_is_one_of_the_matrix(tmp_path):
    text = """\
func.func @main(%x: !torch.vtensor<[?,3,3],f32>, %b: !torch.vtensor<[?,3,2],f32>)
    -> (!torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3],si32>, !torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3,3],f32>,
        !torch.vtensor<[?,3,2],f32>) {
  %yes = torch.constant.bool true
  %no = torch.constant.bool false
  %lu:2 = torch.operator "torch.aten.linalg_lu_factor"(%x, %yes) : (!torch.vtensor<[?,3,3],f32>, !torch.bool)
    -> (!torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3],si32>)
  %plu:3 = torch.operator "torch.aten.linalg_lu"(%x, %yes) : (!torch.vtensor<[?,3,3],f32>, !torch.bool)
    -> (!torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3,3],f32>)
  %y = torch.operator "torch.aten.linalg_lu_solve"(%lu#0, %lu#1, %b, %yes, %no)
    : (!torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3],si32>, !torch.vtensor<[?,3,2],f32>, !torch.bool, !torch.bool) -> !torch.vtensor<[?,3,2],f32>
  return %lu#0, %lu#1, %plu#0, %plu#1, %plu#2, %y
    : !torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3],si32>, !torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3,3],f32>, !torch.vtensor<[?,3,3],f32>,
      !torch.vtensor<[?,3,2],f32>
}
"""
    vmfb = compiled(tmp_path, text, CPU, {"FIS421"})
    packed, pivots, order, lower, upper, solved = run(vmfb, [matrices(), RIGHT])
    np.testing.assert_allclose(pivoted((packed, pivots)), matrices(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(order @ lower @ upper, matrices(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(solved, SOLVED, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_products_of_small_and_large_elements_stay_what_they_are(tmp_path, scale):
    text = """\
func.func @main(%a: tensor<4x3x3xf32>) -> tensor<4x3x3xf32> {
  %r = stablehlo.cholesky %a, lower = true : tensor<4x3x3xf32>
  return %r : tensor<4x3x3xf32>
}
"""
    [found] = run(compiled(tmp_path, text, CPU, {"FIS421"}), [definite(scale)])
    wanted = np.linalg.cholesky(definite(scale).astype(np.float64))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6 * scale**0.5)


SIDES = [
    (side, lower, unit, turned)
    for side in (True, False)
    for lower in (True, False)
    for unit, turned in ((False, False), (True, False), (False, True))
]


def stablehlo_program():
    """Triangular systems of every kind, both Cholesky factors, and JAX's calls of getrf and potrf."""
    square, right = "tensor<4x3x3xf32>", "tensor<4x3x2xf32>"
    lines, expected, types = [], [], []
    for side, lower, unit, turned in SIDES:
        kept = np.tril(definite()) if lower else np.triu(definite())
        if unit:
            kept = kept - kept * np.eye(3) + np.eye(3)
        used = kept.transpose(0, 2, 1) if turned else kept
        given = RIGHT if side else RIGHT.transpose(0, 2, 1)
        made = right if side else "tensor<4x2x3xf32>"
        operand = "%b" if side else "%bt"
        form = "TRANSPOSE" if turned else "NO_TRANSPOSE"
        lines.append(
            f'%r{len(lines)} = "stablehlo.triangular_solve"(%s, {operand}) <{{left_side = {str(side).lower()}, lower = {str(lower).lower()}, '
            f"transpose_a = #stablehlo<transpose {form}>, unit_diagonal = {str(unit).lower()}}}> : ({square}, {made}) -> {made}"
        )
        types.append(made)
        expected.append(np.linalg.solve(used, given) if side else given @ np.linalg.inv(used))
    for lower in (True, False):
        lines.append(f"%r{len(lines)} = stablehlo.cholesky %s, lower = {str(lower).lower()} : {square}")
        types.append(square)
        expected.append(FACTOR if lower else FACTOR.transpose(0, 2, 1))
    words = ", ".join(f"%r{n}" for n in range(len(lines)))
    calls = [
        f"%lu:3 = stablehlo.custom_call @LuDecomposition(%a) : ({square}) -> ({square}, tensor<4x3xi32>, tensor<4x3xi32>)",
        f"%getrf:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : ({square}) -> ({square}, tensor<4x3xi32>, tensor<4xi32>)",
        "%potrf:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : "
        f"({square}) -> ({square}, tensor<4xi32>)",
    ]
    calls += [
        "%cu = stablehlo.custom_call @cu_lu_pivots_to_permutation(%lu#1) : (tensor<4x3xi32>) -> tensor<4x3xi32>",
        "%hip:2 = stablehlo.custom_call @hipsolver_potrf_ffi(%s) {mhlo.backend_config = {lower = true}} : "
        f"({square}) -> ({square}, tensor<4xi32>)",
        f"%qr:2 = stablehlo.custom_call @Qr(%a) : ({square}) -> ({square}, tensor<4x3xf32>)",
        "%q = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%qr#0, %qr#1) : "
        f"({square}, tensor<4x3xf32>) -> {square}",
    ]
    words += ", %qr#0, %q, %cu, %hip#0, %lu#0, %lu#2, %getrf#0, %getrf#1, %potrf#1"
    types += [square, square, "tensor<4x3xi32>", square]
    types += [square, "tensor<4x3xi32>", square, "tensor<4x3xi32>", "tensor<4xi32>"]
    body = "\n  ".join([*lines, *calls])
    signature = f"%s: {square}, %b: {right}, %bt: tensor<4x2x3xf32>, %a: {square}"
    returned = ", ".join(types)
    return (
        f"func.func @main({signature}) -> ({returned}) {{\n  {body}\n  return {words} : {returned}\n}}\n",
        expected,
    )


@pytest.mark.parametrize("runtime", PRESENT)
def test_ops_of_stablehlo_and_calls_of_jax_agree_with_numpy(tmp_path, runtime):
    text, expected = stablehlo_program()
    vmfb = compiled(tmp_path, text, FLAGS[runtime], {"FIS421"})
    arrays = [definite(), RIGHT, RIGHT.transpose(0, 2, 1).copy(), matrices()]
    *found, upper, q, also, factor, packed, order, again, pivots, info = run(vmfb, arrays, runtime)
    np.testing.assert_allclose(q @ np.triu(upper), matrices(), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(also, order)
    np.testing.assert_allclose(factor, FACTOR, rtol=2e-4, atol=2e-4)
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-4)
    lower = np.tril(packed, -1) + np.eye(3)
    moved = np.take_along_axis(matrices(), order[..., None], axis=1)
    np.testing.assert_allclose(lower @ np.triu(packed), moved, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(pivoted((again, pivots)), matrices(), rtol=1e-4, atol=1e-5)
    assert info[0] == 2  # the permutation's second row: what is not positive definite


EIGEN = """\
func.func @main(%x: tensor<2x{n}x{n}x{t}>) -> (tensor<2x{n}x{n}x{t}>, tensor<2x{n}x{t}>) {{
  %r:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%x) {{mhlo.backend_config = {{mode = 86 : ui8, uplo = {uplo} : ui8}}}}
    : (tensor<2x{n}x{n}x{t}>) -> (tensor<2x{n}x{n}x{t}>, tensor<2x{n}x{t}>, tensor<2xi32>)
  return %r#0, %r#1 : tensor<2x{n}x{n}x{t}>, tensor<2x{n}x{t}>
}}
"""


@pytest.mark.parametrize(
    ("rows", "uplo", "element"),
    [(1, 76, "f32"), (2, 85, "f32"), (5, 76, "f32"), (33, 85, "f32"), (128, 76, "f32"), (6, 76, "f64")],
)
def test_eigenvalues_of_symmetric_matrices(tmp_path, rows, uplo, element):
    """The second matrix has each eigenvalue twice, where two diagonal elements are equal; the half that is not read is not a number."""
    dtype = np.float32 if element == "f32" else np.float64
    given = np.random.default_rng(4).standard_normal((2, rows, rows)).astype(dtype)
    given = given + given.transpose(0, 2, 1)
    given[1] = np.kron(np.eye(rows // 2 + 1), [[1, 2], [2, 1]])[:rows, :rows]
    unread = (
        np.triu(np.full((rows, rows), np.nan), 1)
        if uplo == 76
        else np.tril(np.full((rows, rows), np.nan), -1)
    )
    flags = [*CPU, "--iree-input-demote-f64-to-f32=false"]
    vmfb = compiled(tmp_path, EIGEN.format(n=rows, uplo=uplo, t=element), flags, {"FIS421"})
    vectors, values = run(vmfb, [(given + unread).astype(dtype)])
    np.testing.assert_allclose(values, np.linalg.eigvalsh(given), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(given @ vectors, vectors * values[:, None, :], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(
        vectors.transpose(0, 2, 1) @ vectors, np.broadcast_to(np.eye(rows), given.shape), atol=5e-5
    )


QR = """\
func.func @main(%x: !torch.vtensor<[2,{m},{n}],f32>)
    -> (!torch.vtensor<[2,{m},{k}],f32>, !torch.vtensor<[2,{k},{n}],f32>, !torch.vtensor<[2,{n}],f32>) {{
  %mode = torch.constant.str "{mode}"
  %lower = torch.constant.str "L"
  %t = torch.constant.int 1
  %s = torch.constant.int 2
  %q:2 = torch.operator "torch.aten.linalg_qr"(%x, %mode) : (!torch.vtensor<[2,{m},{n}],f32>, !torch.str)
    -> (!torch.vtensor<[2,{m},{k}],f32>, !torch.vtensor<[2,{k},{n}],f32>)
  %xt = torch.aten.transpose.int %x, %t, %s : !torch.vtensor<[2,{m},{n}],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,{n},{m}],f32>
  %p = torch.aten.bmm %xt, %x : !torch.vtensor<[2,{n},{m}],f32>, !torch.vtensor<[2,{m},{n}],f32> -> !torch.vtensor<[2,{n},{n}],f32>
  %e = torch.operator "torch.aten.linalg_eigvalsh"(%p, %lower) : (!torch.vtensor<[2,{n},{n}],f32>, !torch.str) -> !torch.vtensor<[2,{n}],f32>
  return %q#0, %q#1, %e : !torch.vtensor<[2,{m},{k}],f32>, !torch.vtensor<[2,{k},{n}],f32>, !torch.vtensor<[2,{n}],f32>
}}
"""


@pytest.mark.parametrize(
    ("rows", "columns", "mode", "inner"), [(5, 3, "reduced", 3), (5, 3, "complete", 5), (2, 4, "reduced", 2)]
)
def test_qr_factorisations_of_any_shape(tmp_path, rows, columns, mode, inner):
    """The second matrix has a column of zeros, which no reflection changes, and is so small that its squares are 0."""
    given = np.random.default_rng(5).standard_normal((2, rows, columns)).astype(np.float32)
    given[1, :, 0] = 0
    given[1] *= 1e-25
    text = QR.format(m=rows, n=columns, k=inner, mode=mode)
    q, r, squares = run(compiled(tmp_path, text, CPU, {"FIS421"}), [given])
    np.testing.assert_allclose(q[0] @ r[0], given[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(q[1] @ r[1], given[1], rtol=1e-4, atol=1e-30)
    np.testing.assert_allclose(
        q.transpose(0, 2, 1) @ q, np.broadcast_to(np.eye(inner), (2, inner, inner)), atol=1e-5
    )
    assert (np.tril(r, -1) == 0).all()
    np.testing.assert_allclose(
        squares, np.linalg.eigvalsh(given.transpose(0, 2, 1) @ given), rtol=1e-3, atol=1e-3
    )
