"""FIS421: Einstein sums that IREE does not take, split into sums and products of two operands: NumPy's einsum."""

from __future__ import annotations

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


@pytest.mark.parametrize("element", [np.float32, np.int64], ids=["f32", "si64"])
@pytest.mark.parametrize("equation", _CASES)
def test_an_einstein_sum_is_numpys(tmp_path, equation, element):
    random = np.random.default_rng(1)
    inputs = [random.integers(-9, 9, shape).astype(element) for shape in _CASES[equation]]
    wanted = np.asarray(np.einsum(equation, *(np.broadcast_to(one, one.shape) for one in inputs)))
    text = _program(equation, _CASES[equation], wanted.shape, "f32" if element is np.float32 else "si64")
    status, findings = compiled(tmp_path, text)
    assert status == 0 and [one["code"] for one in findings] == ["FIS421"]
    assert findings[0]["helps"][0]["remedy"] == "fissile-contract-indices"
    written(tmp_path, text)
    np.testing.assert_array_equal(computed(tmp_path, *inputs), wanted)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "stock.vmfb", CPU) is not None


def test_an_index_of_two_sizes_is_left_to_iree(tmp_path):
    text = _program("ij,jk->i", [(2, 3), (4, 5)], (2,), "f32")
    status, findings = compiled(tmp_path, text)
    assert status == 1 and "fissile-contract-indices" not in str(findings)
