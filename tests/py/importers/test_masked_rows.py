"""FIS219: a row of which an attention's mask leaves nothing is 0, as in PyTorch; a constant mask without such a row is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed

import fissile
from fissile.pipelines.numerics.build import compile_stock

ATTENTION = """
func.func @main(%q: !torch.vtensor<[2,2,LENGTH,8],f32>, %k: !torch.vtensor<[2,2,KEYS,8],f32>ARGUMENT) -> !torch.vtensor<[2,2,LENGTH,8],f32> {
  %zero = torch.constant.float 0.0
  %no = torch.constant.bool false
  %none = torch.constant.none
  CONSTANT
  %r = torch.aten.scaled_dot_product_attention %q, %k, %k, %mask, %zero, %no, %none, %no
    : !torch.vtensor<[2,2,LENGTH,8],f32>, !torch.vtensor<[2,2,KEYS,8],f32>, !torch.vtensor<[2,2,KEYS,8],f32>, MASK, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,2,LENGTH,8],f32>
  return %r : !torch.vtensor<[2,2,LENGTH,8],f32>
}
"""
LENGTH, KEYS = 5, 6
RANDOM = np.random.default_rng(0)
QUERY = RANDOM.standard_normal((2, 2, LENGTH, 8)).astype(np.float32)
KEY = RANDOM.standard_normal((2, 2, KEYS, 8)).astype(np.float32)


def _program(shape: str, element: str, sizes: tuple[object, object], constant: str = "") -> str:
    mask = f"!torch.vtensor<[{shape}],{element}>"
    text = ATTENTION.replace("MASK", mask).replace("CONSTANT", constant)
    text = text.replace("ARGUMENT", "" if constant else f", %mask: {mask}")
    return text.replace("LENGTH", str(sizes[0])).replace("KEYS", str(sizes[1]))


def _reference(mask: np.ndarray) -> np.ndarray:
    scores = np.einsum("bhlc,bhsc->bhls", QUERY, KEY, dtype=np.float64) / np.sqrt(8)
    scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask
    largest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = powers.sum(-1, keepdims=True)
    return np.einsum("bhls,bhsc->bhlc", powers / np.where(total == 0, 1, total), KEY)


def _compiled(tmp_path, text):
    for name in ("main.mlir", "entered.mlir"):  # `all_computed` reads the signature of the second
        (tmp_path / name).write_text(text)
    return fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])


@pytest.mark.parametrize("element", ["i1", "f32"])
@pytest.mark.parametrize(
    "shape, given, sizes",
    [
        ("2,1,5,6", (2, 1, LENGTH, KEYS), (LENGTH, KEYS)),
        ("2,1,1,6", (2, 1, 1, KEYS), (LENGTH, KEYS)),
        ("?,?", (LENGTH, KEYS), ("?", "?")),
    ],
)
def test_rows_of_which_nothing_is_left(tmp_path, element, shape, given, sizes):
    report = _compiled(tmp_path, _program(shape, element, sizes))
    assert ("FIS219", "repaired") in [(one.code, one.severity.value) for one in report.findings]
    mask = RANDOM.random(given) < 0.6
    mask[..., 0, :] = False
    if element == "f32":
        mask = np.where(mask, RANDOM.standard_normal(given), -np.inf).astype(np.float32)
    [answer] = all_computed(tmp_path, QUERY, KEY, mask)
    wanted = _reference(mask)
    assert (wanted[..., 0, :] == 0).any() and (answer[wanted == 0] == 0).all()
    np.testing.assert_allclose(answer, wanted, rtol=1e-4, atol=1e-5)


def _constant(rows: np.ndarray) -> str:
    spelled = str(rows.astype(int).tolist()).replace("1", "true").replace("0", "false")
    return (
        f"%mask = torch.vtensor.literal(dense<{spelled}> : tensor<1x1x5x6xi1>) : !torch.vtensor<[1,1,5,6],i1>"
    )


def test_a_constant_mask_counts_where_a_row_is_empty(tmp_path):
    mask = np.tri(LENGTH, KEYS, dtype=bool)[None, None]
    causal = _program("1,1,5,6", "i1", (LENGTH, KEYS), _constant(mask))
    assert not _compiled(tmp_path, causal).findings
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "stock.vmfb", CPU) is None
    assert (tmp_path / "stock.vmfb").read_bytes() == (tmp_path / "out.vmfb").read_bytes()
    mask[..., 2, :] = False
    emptied = _program("1,1,5,6", "i1", (LENGTH, KEYS), _constant(mask))
    assert [one.code for one in _compiled(tmp_path, emptied).findings] == ["FIS219"]
    [answer] = all_computed(tmp_path, QUERY, KEY)
    np.testing.assert_allclose(answer, _reference(mask), rtol=1e-4, atol=1e-5)


def test_stock_makes_them_nan(tmp_path):
    """Where this fails IREE defines such rows, and FIS219 is not needed any more."""
    text = _program("2,1,5,6", "i1", (LENGTH, KEYS))
    for name in ("main.mlir", "entered.mlir"):
        (tmp_path / name).write_text(text)
    assert compile_stock(tmp_path / "main.mlir", tmp_path / "out.vmfb", CPU) is None
    mask = np.ones((2, 1, LENGTH, KEYS), bool)
    mask[0, 0, 3] = False
    [answer] = all_computed(tmp_path, QUERY, KEY, mask)
    assert np.isnan(answer[0, :, 3]).all()


FLASH = """
func.func @main(%q: !torch.vtensor<[2,2,5,8],f32>, %k: !torch.vtensor<[2,2,6,8],f32>, %mask: !torch.vtensor<[2,1,5,6],f32>) -> !torch.vtensor<[2,2,5,8],f32> {
  %zero = torch.constant.float 0.0
  %no = torch.constant.bool false
  %none = torch.constant.none
  %r:2 = torch.operator "torch.aten._scaled_dot_product_flash_attention_for_cpu"(%q, %k, %k, %zero, %no, %mask, %none)
    : (!torch.vtensor<[2,2,5,8],f32>, !torch.vtensor<[2,2,6,8],f32>, !torch.vtensor<[2,2,6,8],f32>, !torch.float, !torch.bool, !torch.vtensor<[2,1,5,6],f32>, !torch.none) -> (!torch.vtensor<[2,2,5,8],f32>, !torch.vtensor<[2,2,5],f32>)
  return %r#0 : !torch.vtensor<[2,2,5,8],f32>
}
"""


def test_the_form_that_torch_decomposes_attention_into(tmp_path):
    assert [one.code for one in _compiled(tmp_path, FLASH).findings] == ["FIS219"]
    mask = np.where(RANDOM.random((2, 1, LENGTH, KEYS)) < 0.6, 0, -np.inf).astype(np.float32)
    mask[1, 0, 4] = -np.inf
    [answer] = all_computed(tmp_path, QUERY, KEY, mask)
    np.testing.assert_allclose(answer, _reference(mask), rtol=1e-4, atol=1e-5)
