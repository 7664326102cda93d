"""FIS421: `onnx.MatMulInteger` of bytes without zero points, of other ranks than two matrices, as NumPy computes it."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written

import fissile

RNG = np.random.default_rng(8)
_KINDS = {"ui8": np.uint8, "si8": np.int8}


@pytest.mark.parametrize(
    ("left", "right", "made"),
    [
        (("?", 3, "?", 6), (6, 2), ("?", 3, "?", 2)),
        (("?", 3, 4, 6), (6,), ("?", 3, 4)),
        ((6,), (3, 6, 2), (3, 2)),
        ((4, 6), (3, 6, 2), (3, 4, 2)),
        ((6,), (6,), ()),
        ((4, 6), (6,), (4,)),
    ],
    ids=str,
)
@pytest.mark.parametrize("elements", (("ui8", "si8"), ("si8", "si8")), ids="-".join)
def test_products_of_other_ranks(tmp_path, left, right, made, elements):
    types = [
        f"!torch.vtensor<[{','.join(map(str, shape))}],{element}>"
        for shape, element in zip((left, right, made), (*elements, "si32"), strict=True)
    ]
    written(
        tmp_path,
        f"func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} attributes {{torch.onnx_meta.ir_version = 10 : si64, torch.onnx_meta.opset_version = 21 : si64}} {{\n"
        f'  %r = torch.operator "onnx.MatMulInteger"(%a, %b) : ({types[0]}, {types[1]}) -> {types[2]}\n  return %r : {types[2]}\n}}\n',
    )
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert {one.code for one in report.findings if one.severity.value == "repaired"} <= {"FIS421"}
    shapes = ([2 if size == "?" else size for size in shape] for shape in (left, right))
    a, b = (
        RNG.integers(0, 256, shape).astype(np.uint8).view(_KINDS[element])
        for shape, element in zip(shapes, elements, strict=True)
    )
    got = all_computed(tmp_path, a, b)[0]
    np.testing.assert_array_equal(got, a.astype(np.int64) @ b.astype(np.int64))
