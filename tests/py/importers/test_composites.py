"""Ops that PyTorch defines by others: products, distances, statistics without NaNs and special functions."""

from __future__ import annotations

from math import erfc, lgamma

import ml_dtypes
import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile

_HEAD = """
  %none = torch.constant.none
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %last = torch.constant.int -1
  %two = torch.constant.float 2.000000e+00
  %three = torch.constant.int 3
  %half = torch.constant.float 5.000000e-01
  %least = torch.constant.float 1.000000e-06
  %dims = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
"""
_M = "!torch.vtensor<[3,4],f32>"
_N = "!torch.vtensor<[5,4],f32>"
_Q = "!torch.vtensor<[4,4],f32>"
_V = "!torch.vtensor<[4],f32>"
_W = "!torch.vtensor<[3],f32>"
_S = "!torch.vtensor<[],f32>"
_NAMES = {"%m": _M, "%n": _N, "%q": _Q, "%v": _V, "%w": _W}
_RANDOM = np.random.default_rng(12)
_GIVEN = [_RANDOM.standard_normal(shape).astype(np.float32) for shape in ((3, 4), (5, 4), (4, 4), (4,), (3,))]
_GIVEN[0][1, 2] = np.nan
m, n, q, v, w = (one.astype(np.float64) for one in _GIVEN)
filled = np.nan_to_num(m)


_I1 = [sum((x / 2) ** (2 * k + 1) / (np.prod(np.arange(1, k + 1, dtype=float)) ** 2 * (k + 1)) for k in range(30)) for x in v]  # fmt: skip
_HARMONIC = [-0.5772156649015329, 1 - 0.5772156649015329]
_OPS = {
    "addmv": (("%w", "%n2", "%v", "%half", "%two"), _W, 0.5 * w + 2 * (filled @ v)),
    "addr": (("%n2", "%w", "%v", "%one", "%half"), _M, filled + 0.5 * np.outer(w, v)),
    "inner": (("%n", "%q"), "!torch.vtensor<[5,4],f32>", n @ q.T),
    "vdot": (("%v", "%v"), _S, v @ v),
    "linalg_vecdot": (("%n", "%n", "%zero"), _V, (n * n).sum(0)),
    "kron": (("%v", "%n"), "!torch.vtensor<[5,16],f32>", np.kron(v[None], n)),
    "dist": (("%q", "%v", "%three"), _S, (np.abs(q - v) ** 3).sum() ** (1 / 3)),
    "pairwise_distance": (("%q", "%v", "%two", "%least", "%true"), "!torch.vtensor<[4,1],f32>",
                          np.sqrt(((q - v + 1e-6) ** 2).sum(-1, keepdims=True))),
    "cdist": (("%n", "%q", "%two", "%none"), "!torch.vtensor<[5,4],f32>", np.sqrt(((n[:, None] - q[None]) ** 2).sum(-1))),
    "linalg_matrix_power": (("%q", "%three"), _Q, q @ q @ q),
    "linalg_vander": (("%v", "%three"), "!torch.vtensor<[4,3],f32>", np.vander(v, 3, increasing=True)),
    "rsub.Tensor": (("%q", "%v", "%three"), _Q, v - 3 * q),
    "nansum": (("%m", "%dims", "%false", "%none"), _W, np.nansum(m, -1)),
    "nanmean": (("%m", "%none", "%false", "%none"), _S, np.nanmean(m)),
    "msort": (("%q",), _Q, np.sort(q, 0)),
    "logdet": (("%q",), _S, np.log(np.linalg.det(q)) if np.linalg.det(q) > 0 else np.nan),
    "erfc": (("%q",), _Q, np.vectorize(erfc)(q)),
    "lgamma": (("%n",), _N, np.vectorize(lgamma)(n)),
    "special_i1": (("%v",), _V, np.array(_I1)),
    "special_ndtr": (("%v",), _V, np.vectorize(erfc)(-v / np.sqrt(2)) / 2),
    "fmax": (("%m", "%v"), _M, np.fmax(m, v)),
    "fmin": (("%m", "%v"), _M, np.fmin(m, v)),
    "clamp_max.Tensor": (("%m", "%v"), _M, np.minimum(m, v)),
    "lerp.Scalar": (("%v", "%n", "%half"), _N, (v + n) / 2),
    "_upsample_nearest_exact1d.vec": (("%image", "%none", "%scales"), "!torch.vtensor<[1,5,10],f32>", n[None][..., [int((i + 0.5) / 2.5) for i in range(10)]]),
    "mvlgamma": (("%big", "%three"), _V, sum(np.vectorize(lgamma)(v * 0 + 3 - k / 2) for k in range(3)) + 1.5 * np.log(np.pi)),
}  # fmt: skip
"""Op -> its operands, the type of its result, and what it computes."""


def _compiled(tmp_path, text):
    written(tmp_path, text)
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert not report.errors, [one.message for one in report.findings]
    return {(one.code, one.severity.value) for one in report.findings}


@pytest.mark.parametrize("name", _OPS)
def test_a_composite_is_what_pytorch_defines(tmp_path, name):
    operands, type_, wanted = _OPS[name]
    types = {**_NAMES, "%n2": _M, "%big": _V, "%none": "!torch.none", "%false": "!torch.bool", "%true": "!torch.bool",
             "%two": "!torch.float", "%half": "!torch.float", "%least": "!torch.float", "%dims": "!torch.list<int>", "%image": "!torch.vtensor<[1,5,4],f32>", "%scales": "!torch.list<float>"}  # fmt: skip
    listed = ", ".join(types.get(one, "!torch.int") for one in operands)
    arguments = ", ".join(f"{one}: {type_of}" for one, type_of in _NAMES.items())
    text = f"""func.func @main({arguments}) -> {type_} {{{_HEAD}
  %n2 = torch.aten.nan_to_num %m, %none, %none, %none : {_M}, !torch.none, !torch.none, !torch.none -> {_M}
  %nought = torch.aten.mul.Scalar %v, %zero : {_V}, !torch.int -> {_V}
  %big = torch.aten.add.Scalar %nought, %three, %one : {_V}, !torch.int, !torch.int -> {_V}
  %image = torch.aten.unsqueeze %n, %zero : {_N}, !torch.int -> !torch.vtensor<[1,5,4],f32>
  %scale = torch.constant.float 2.5
  %scales = torch.prim.ListConstruct %scale : (!torch.float) -> !torch.list<float>
  %r = torch.operator "torch.aten.{name}"({", ".join(operands)}) : ({listed}) -> {type_}
  return %r : {type_}
}}
"""
    assert ("FIS421", "repaired") in _compiled(tmp_path, text)
    [answer] = all_computed(tmp_path, *_GIVEN)
    assert answer.shape == np.shape(wanted)
    np.testing.assert_allclose(answer, wanted, rtol=1e-4, atol=2e-5)


def test_what_is_chosen_of_integers(tmp_path):
    """An op that compares alone, and one that only has another name, take integers too."""
    text = """func.func @main(%x: !torch.vtensor<[2,3],si64>, %t: !torch.vtensor<[2,2],si64>) -> (!torch.vtensor<[2,3],i1>, !torch.vtensor<[2,3],si64>, !torch.vtensor<[2,3],si64>) {
  %none = torch.constant.none
  %no = torch.constant.bool false
  %yes = torch.constant.bool true
  %last = torch.constant.int -1
  %a = torch.operator "torch.aten.isin.Tensor_Tensor"(%x, %t, %no, %yes) : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[2,2],si64>, !torch.bool, !torch.bool) -> !torch.vtensor<[2,3],i1>
  %b = torch.operator "torch.aten.cross"(%x, %x, %none) : (!torch.vtensor<[2,3],si64>, !torch.vtensor<[2,3],si64>, !torch.none) -> !torch.vtensor<[2,3],si64>
  %c, %i = torch.operator "torch.aten.sort.stable"(%x, %no, %last, %yes) : (!torch.vtensor<[2,3],si64>, !torch.bool, !torch.int, !torch.bool) -> (!torch.vtensor<[2,3],si64>, !torch.vtensor<[2,3],si64>)
  return %a, %b, %c : !torch.vtensor<[2,3],i1>, !torch.vtensor<[2,3],si64>, !torch.vtensor<[2,3],si64>
}
"""
    assert ("FIS421", "repaired") in _compiled(tmp_path, text)
    x, t = np.array([[1, 5, 3], [4, 7, 9]]), np.array([[3, 4], [8, 1]])
    other, crossed, ordered = all_computed(tmp_path, x, t)
    assert other.tolist() == [[0, 1, 0], [0, 1, 1]]
    assert not crossed.any() and ordered.tolist() == [[5, 3, 1], [9, 7, 4]]


def test_halves_are_computed_in_f32(tmp_path):
    type_ = "!torch.vtensor<[?],bf16>"
    text = f"""func.func @main(%x: {type_}, %y: {type_}) -> !torch.vtensor<[],bf16> {{
  %r = torch.operator "torch.aten.vdot"(%x, %y) : ({type_}, {type_}) -> !torch.vtensor<[],bf16>
  return %r : !torch.vtensor<[],bf16>
}}
"""
    assert ("FIS421", "repaired") in _compiled(tmp_path, text)
    ones = np.ones(16384, ml_dtypes.bfloat16)
    assert float(all_computed(tmp_path, ones, ones)[0]) == 16384
