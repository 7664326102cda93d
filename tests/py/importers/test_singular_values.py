"""Singular values and what is made of them: equal to NumPy's, also of singular, tiny, huge and wide matrices."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from test_linear_algebra import FLAGS, PRESENT, compiled, run

TORCH = """\
func.func @main(%x: !torch.vtensor<[4,{m},{n}],f32>)
    -> (!torch.vtensor<[4,{m},{k}],f32>, !torch.vtensor<[4,{k}],f32>, !torch.vtensor<[4,{k},{n}],f32>,
        !torch.vtensor<[4,{m},{m}],f32>, !torch.vtensor<[4,{n},{n}],f32>, !torch.vtensor<[4,{k}],f32>, !torch.vtensor<[4,{n},{m}],f32>,
        !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>) {{
  %no = torch.constant.bool false
  %yes = torch.constant.bool true
  %none = torch.constant.none
  %two = torch.constant.int 2
  %a = torch.constant.int -2
  %b = torch.constant.int -1
  %nuc = torch.constant.str "nuc"
  %dims = torch.prim.ListConstruct %a, %b : (!torch.int, !torch.int) -> !torch.list<int>
  %thin:3 = torch.operator "torch.aten.linalg_svd"(%x, %no, %none) : (!torch.vtensor<[4,{m},{n}],f32>, !torch.bool, !torch.none)
    -> (!torch.vtensor<[4,{m},{k}],f32>, !torch.vtensor<[4,{k}],f32>, !torch.vtensor<[4,{k},{n}],f32>)
  %full:3 = torch.operator "torch.aten.svd"(%x, %no, %yes) : (!torch.vtensor<[4,{m},{n}],f32>, !torch.bool, !torch.bool)
    -> (!torch.vtensor<[4,{m},{m}],f32>, !torch.vtensor<[4,{k}],f32>, !torch.vtensor<[4,{n},{n}],f32>)
  %values = torch.operator "torch.aten.linalg_svdvals"(%x, %none) : (!torch.vtensor<[4,{m},{n}],f32>, !torch.none) -> !torch.vtensor<[4,{k}],f32>
  %pinv = torch.operator "torch.aten.linalg_pinv.atol_rtol_tensor"(%x, %none, %none, %no)
    : (!torch.vtensor<[4,{m},{n}],f32>, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[4,{n},{m}],f32>
  %norm = torch.operator "torch.aten.linalg_matrix_norm"(%x, %two, %dims, %no, %none)
    : (!torch.vtensor<[4,{m},{n}],f32>, !torch.int, !torch.list<int>, !torch.bool, !torch.none) -> !torch.vtensor<[4],f32>
  %sum = torch.operator "torch.aten.linalg_matrix_norm.str_ord"(%x, %nuc, %dims, %no, %none)
    : (!torch.vtensor<[4,{m},{n}],f32>, !torch.str, !torch.list<int>, !torch.bool, !torch.none) -> !torch.vtensor<[4],f32>
  %cond = torch.operator "torch.aten.linalg_cond"(%x, %none) : (!torch.vtensor<[4,{m},{n}],f32>, !torch.none) -> !torch.vtensor<[4],f32>
  %rank = torch.operator "torch.aten.linalg_matrix_rank.atol_rtol_tensor"(%x, %none, %none, %no)
    : (!torch.vtensor<[4,{m},{n}],f32>, !torch.none, !torch.none, !torch.bool) -> !torch.vtensor<[4],si64>
  return %thin#0, %thin#1, %thin#2, %full#0, %full#2, %values, %pinv, %norm, %sum, %cond, %rank
    : !torch.vtensor<[4,{m},{k}],f32>, !torch.vtensor<[4,{k}],f32>, !torch.vtensor<[4,{k},{n}],f32>,
      !torch.vtensor<[4,{m},{m}],f32>, !torch.vtensor<[4,{n},{n}],f32>, !torch.vtensor<[4,{k}],f32>, !torch.vtensor<[4,{n},{m}],f32>,
      !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
}}
"""
SCALES = np.array([1, 1, 1e-25, 1e25], np.float32)


def matrices(rows, columns):
    """[4, rows, columns]: an ordinary one, one of rank 1 or, with more than two columns, 2, one of tiny elements, and one of huge ones."""
    given = np.random.default_rng(6).standard_normal((4, rows, columns)).astype(np.float32)
    given[1, :, columns - 1] = 2 * given[1, :, 0]
    if rows < columns:
        given[1, rows - 1] = 2 * given[1, 0]
    return given * SCALES[:, None, None]


def is_orthogonal(columns, within=1e-5):
    """Whether the columns of each matrix are, and have length 1."""
    product = columns.transpose(0, 2, 1).astype(np.float64) @ columns
    return np.abs(product - np.eye(columns.shape[-1])).max() < within


SHAPES = [("local-task", 5, 3), ("local-task", 2, 4), ("local-task", 3, 3), ("local-task", 4, 1)]
if "vulkan" in PRESENT:
    SHAPES.append(("vulkan", 6, 4))


@pytest.mark.parametrize(("runtime", "rows", "columns"), SHAPES)
def test_ops_of_pytorch_agree_with_numpy(tmp_path, runtime, rows, columns):
    given, steps = matrices(rows, columns), min(rows, columns)
    exact = given.astype(np.float64)
    text = TORCH.format(m=rows, n=columns, k=steps)
    vmfb = compiled(tmp_path, text, FLAGS[runtime], {"FIS421"})
    left, values, right, whole_left, whole_right, alone, pinv, norm, total, cond, rank = run(
        vmfb, [given], runtime
    )
    wanted, scale = np.linalg.svd(exact, compute_uv=False), SCALES[:, None].astype(np.float64)
    np.testing.assert_allclose(values / scale, wanted / scale, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(values, alone)
    product = (left * values[:, None, :].astype(np.float64)) @ right
    np.testing.assert_allclose(product / scale[..., None], exact / scale[..., None], rtol=1e-4, atol=2e-6)
    assert is_orthogonal(left) and is_orthogonal(right.transpose(0, 2, 1))
    assert is_orthogonal(whole_left) and is_orthogonal(whole_right)
    np.testing.assert_array_equal(whole_left[..., :steps], left)
    np.testing.assert_array_equal(whole_right[..., :steps], right.transpose(0, 2, 1))
    inverse = np.linalg.pinv(exact, rcond=1e-6)
    np.testing.assert_allclose(pinv * scale[..., None], inverse * scale[..., None], rtol=2e-4, atol=2e-5)
    np.testing.assert_array_equal(norm, values[:, 0])
    np.testing.assert_allclose(total, values.sum(1), rtol=1e-6)
    whole = steps if (rows, columns) == (4, 1) else steps - 1
    np.testing.assert_array_equal(rank, [steps, whole, steps, steps])
    np.testing.assert_allclose(cond[[0, 2, 3]], (wanted[:, 0] / wanted[:, -1])[[0, 2, 3]], rtol=1e-4)


JAX = """\
func.func @main(%x: tensor<2x5x3x{t}>, %s: tensor<2x4x4x{t}>)
    -> (tensor<2x5x5x{t}>, tensor<2x3x{t}>, tensor<2x3x3x{t}>, tensor<2x5x3x{t}>, tensor<2x3x3x{t}>, tensor<2x3x{t}>, tensor<2x5x3x{t}>,
        tensor<2x3x3x{t}>, tensor<2x4x4x{t}>, tensor<2x4x{t}>) {{
  %a:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%x) {{mhlo.backend_config = {{mode = 65 : ui8}}}}
    : (tensor<2x5x3x{t}>) -> (tensor<2x5x3x{t}>, tensor<2x3x{t}>, tensor<2x5x5x{t}>, tensor<2x3x3x{t}>, tensor<2xi32>)
  %thin:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%x) {{mhlo.backend_config = {{mode = 83 : ui8}}}}
    : (tensor<2x5x3x{t}>) -> (tensor<2x5x3x{t}>, tensor<2x3x{t}>, tensor<2x5x3x{t}>, tensor<2x3x3x{t}>, tensor<2xi32>)
  %n:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%x) {{mhlo.backend_config = {{mode = 78 : ui8}}}}
    : (tensor<2x5x3x{t}>) -> (tensor<2x5x3x{t}>, tensor<2x3x{t}>, tensor<2x5x5x{t}>, tensor<2x3x3x{t}>, tensor<2xi32>)
  %j:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%x) {{mhlo.backend_config = {{compute_uv = true, full_matrices = false}}}}
    : (tensor<2x5x3x{t}>) -> (tensor<2x5x3x{t}>, tensor<2x3x{t}>, tensor<2x5x3x{t}>, tensor<2x3x3x{t}>, tensor<2xi32>)
  %e:2 = stablehlo.custom_call @Eigh(%s) {{backend_config = "1,1,100,1e-6"}} : (tensor<2x4x4x{t}>) -> (tensor<2x4x4x{t}>, tensor<2x4x{t}>)
  return %a#2, %a#1, %a#3, %thin#2, %thin#3, %n#1, %j#2, %j#3, %e#0, %e#1
    : tensor<2x5x5x{t}>, tensor<2x3x{t}>, tensor<2x3x3x{t}>, tensor<2x5x3x{t}>, tensor<2x3x3x{t}>, tensor<2x3x{t}>, tensor<2x5x3x{t}>,
      tensor<2x3x3x{t}>, tensor<2x4x4x{t}>, tensor<2x4x{t}>
}}
"""


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_calls_of_jax_agree_with_numpy(tmp_path, element):
    dtype = np.float32 if element == "f32" else np.float64
    rng, flags = np.random.default_rng(7), [*CPU, "--iree-input-demote-f64-to-f32=false"]
    given, square = rng.standard_normal((2, 5, 3)).astype(dtype), rng.standard_normal((2, 4, 4)).astype(dtype)
    square = square + square.transpose(0, 2, 1)
    vmfb = compiled(tmp_path, JAX.format(t=element), flags, {"FIS421"})
    full, values, turned, thin, again, alone, left, right, vectors, eigen = run(vmfb, [given, square])
    close = {"rtol": 1e-4, "atol": 1e-5} if element == "f32" else {"rtol": 1e-11, "atol": 1e-12}
    np.testing.assert_allclose(values, np.linalg.svd(given, compute_uv=False), **close)
    np.testing.assert_array_equal(values, alone)
    np.testing.assert_array_equal(full[..., :3], thin)
    np.testing.assert_array_equal(turned, again)
    np.testing.assert_array_equal(thin, left)
    np.testing.assert_array_equal(right, again.transpose(0, 2, 1))  # cuSOLVER's are columns
    np.testing.assert_allclose((thin * values[:, None, :]) @ again, given, **close)
    assert is_orthogonal(full)
    np.testing.assert_allclose(eigen, np.linalg.eigvalsh(square), **close)
    np.testing.assert_allclose(square @ vectors, vectors * eigen[:, None, :], **close)


LARGE = """\
func.func @main(%x: !torch.vtensor<[120,80],f32>) -> (!torch.vtensor<[120,80],f32>, !torch.vtensor<[80],f32>, !torch.vtensor<[80,80],f32>) {
  %no = torch.constant.bool false
  %r:3 = torch.operator "torch.aten.linalg_svd"(%x, %no) : (!torch.vtensor<[120,80],f32>, !torch.bool)
    -> (!torch.vtensor<[120,80],f32>, !torch.vtensor<[80],f32>, !torch.vtensor<[80,80],f32>)
  return %r#0, %r#1, %r#2 : !torch.vtensor<[120,80],f32>, !torch.vtensor<[80],f32>, !torch.vtensor<[80,80],f32>
}
"""


def test_as_many_sweeps_as_a_large_matrix_of_wide_range_needs(tmp_path):
    rng = np.random.default_rng(8)
    ends = [np.linalg.qr(rng.standard_normal((size, 80)))[0] for size in (120, 80)]
    wanted = np.logspace(0, -6, 80)
    wanted[10:20] = wanted[10]  # a value of many vectors
    given = ((ends[0] * wanted) @ ends[1].T).astype(np.float32)
    left, values, right = run(compiled(tmp_path, LARGE, CPU, {"FIS421"}), [given])
    np.testing.assert_allclose(values, wanted, rtol=1e-4, atol=2e-6)
    np.testing.assert_allclose((left * values) @ right, given, atol=2e-6)
    assert is_orthogonal(left[None], 5e-5) and is_orthogonal(right.T[None], 5e-5)
