"""FIS421: Einstein sums that IREE does not take, split into sums and products of two operands: NumPy's einsum."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from built import CPU
from entered_programs import compiled, computed, written

from fissile.pipelines.numerics.build import compile_stock

_CASES = {
    "ij->": [(3, 4)],
    "ii->": [(3, 3)],
    "iji->j": [(3, 4, 3)],
    "ij,kl->li": [(2, 3), (4, 5)],
    "nc,ck,ckd->nd": [(2, 3), (3, 4), (3, 4, 5)],
    "ij,jk": [(2, 3), (3, 4)],
    "...ij,...jk->...ik": [(1, 2, 3), (4, 3, 2)],
    "ij,jk->ik": [(2, 1), (3, 4)],  # j is broadcast
}


def _program(equation: str, shapes: list, made: tuple, element: str) -> str:
    types = [f"!torch.vtensor<[{','.join(map(str, shape))}],{element}>" for shape in (*shapes, made)]
    names = [f"%x{number}" for number in range(len(shapes))]
    listed = f"({', '.join(types[:-1])}) -> !torch.list<vtensor>"
    return f"""func.func @main({", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=False))}) -> {types[-1]} {{
  %none = torch.constant.none
  %equation = torch.constant.str "{equation}"
  %list = torch.prim.ListConstruct {", ".join(names)} : {listed}
  %r = torch.aten.einsum %equation, %list, %none : !torch.str, !torch.list<vtensor>, !torch.none -> {types[-1]}
  return %r : {types[-1]}
}}
"""


_ELEMENTS = {"f32": np.float32, "si64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@pytest.mark.parametrize(
    ("equation", "element"),
    [
        *((one, element) for one in _CASES for element in ("f32", "si64")),
        ("nc,ck,ckd->nd", "f16"),
        ("ij->", "bf16"),
    ],
)
def test_an_einstein_sum_is_numpys(tmp_path, equation, element):
    random = np.random.default_rng(1)
    exact = [random.integers(-4, 4, shape) for shape in _CASES[equation]]
    spread = [one.repeat(4, 0) if equation.startswith("...") and len(one) == 1 else one for one in exact]
    if equation == "ij,jk->ik":
        spread[0] = exact[0].repeat(3, 1)
    inputs = [one.astype(_ELEMENTS[element]) for one in exact]
    wanted = np.asarray(np.einsum(equation, *spread)).astype(_ELEMENTS[element])
    text = _program(equation, _CASES[equation], wanted.shape, element)
    status, findings = compiled(tmp_path, text)
    assert status == 0 and {one["code"] for one in findings} <= {"FIS421", "FIS220"}
    assert findings[0]["helps"][0]["remedy"] == "fissile-contract-indices"
    written(tmp_path, text)
    answer = computed(tmp_path, *inputs)
    np.testing.assert_array_equal(answer.astype(np.float32), wanted.astype(np.float32))
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "stock.vmfb", CPU) is not None


def test_an_index_of_two_sizes_is_left_to_iree(tmp_path):
    text = _program("ij,jk->i", [(2, 3), (4, 5)], (2,), "f32")
    status, findings = compiled(tmp_path, text)
    assert status == 1 and "fissile-contract-indices" not in str(findings)
