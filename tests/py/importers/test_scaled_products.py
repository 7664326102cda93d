"""Products of 8-bit floats with scales (`torch._scaled_mm`), which stock IREE refuses."""

import ml_dtypes
import numpy as np
import pytest
from entered_programs import computed, entered, filled

PRODUCT = """func.func @main(%a: !torch.vtensor<[ROWS,32],f32>, %b: !torch.vtensor<[32,16],f32>, %s: !torch.vtensor<[LEFT],f32>, %t: !torch.vtensor<[RIGHT],f32>, %c: !torch.vtensor<[16],f16>) -> !torch.vtensor<[ROWS,16],MADE> {
  %none = torch.constant.none
  %narrow = torch.constant.int NUMBER
  %made = torch.constant.int WANTED
  %false = torch.constant.bool false
  %x = torch.aten.to.dtype %a, %narrow, %false, %false, %none : !torch.vtensor<[ROWS,32],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[ROWS,32],ELEMENT>
  %y = torch.aten.to.dtype %b, %narrow, %false, %false, %none : !torch.vtensor<[32,16],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[32,16],ELEMENT>
  %r = torch.aten._scaled_mm %x, %y, %s, %t, BIAS, %none, %made, %false : !torch.vtensor<[ROWS,32],ELEMENT>, !torch.vtensor<[32,16],ELEMENT>, !torch.vtensor<[LEFT],f32>, !torch.vtensor<[RIGHT],f32>, TYPE, !torch.none, !torch.int, !torch.bool -> !torch.vtensor<[ROWS,16],MADE>
  return %r : !torch.vtensor<[ROWS,16],MADE>
}
"""
BIASED = {"BIAS": "%c", "TYPE": "!torch.vtensor<[16],f16>"}
FLOATS = {"f8E4M3FN": (24, ml_dtypes.float8_e4m3fn), "f8E5M2": (23, ml_dtypes.float8_e5m2)}


@pytest.mark.parametrize(
    ("element", "rows", "scales", "made", "bias"),
    [
        ("f8E4M3FN", "8", ((), ()), "f16", True),
        ("f8E5M2", "?", ((1,), (1, 1)), "f32", False),
        ("f8E4M3FN", "?", ((8, 1), (1, 16)), "f16", True),
        ("f8E4M3FN", "8", ((8, 1), (1, 16)), "f32", False),
    ],
)
def test_products_of_8_bit_floats(tmp_path, element, rows, scales, made, bias):
    number, narrow = FLOATS[element]
    shapes = [",".join(map(str, shape)) for shape in scales]
    if len(scales[0]) == 2:
        shapes[0] = f"{rows},1"
    text = filled(
        PRODUCT, ROWS=rows, LEFT=shapes[0], RIGHT=shapes[1], MADE=made, ELEMENT=element, NUMBER=number,
        WANTED=6 if made == "f32" else 5, **(BIASED if bias else {"BIAS": "%none", "TYPE": "!torch.none"}),
    )  # fmt: skip
    entered(tmp_path, text, "aten._scaled_mm", "fissile-multiply-scaled", beside=("FIS139",))
    random = np.random.default_rng(2)
    # In eighths: IREE rounds smaller ones otherwise (FIS139).
    a, b, c = (random.integers(-30, 30, shape).astype(np.float32) / 8 for shape in ((8, 32), (32, 16), (16,)))
    s, t = (random.uniform(0.5, 2, shape).astype(np.float32) for shape in scales)
    c = c.astype(np.float16)
    a[0, 0] = np.nan
    x, y = (one.astype(narrow).astype(np.float32) for one in (a, b))
    expected = (x @ y) * s * t + (c if bias else 0)
    tolerance = 1e-5 if made == "f32" else 2e-3
    np.testing.assert_allclose(computed(tmp_path, a, b, s, t, c), expected, rtol=tolerance, atol=tolerance)
