"""Models of old opsets with a Hardmax, which merges dimensions there: as onnxruntime computes them."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile

onnx = pytest.importorskip("onnx", reason="the onnx extra is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
import iree.runtime as rt  # noqa: E402
from onnx import helper  # noqa: E402

from fissile.pipelines.importers.onnx_child import raised  # noqa: E402

X = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)


def model(axis: str, opset: int, shape: str = "2,3,4", name: str = "main"):
    graph = onnx.parser.parse_graph(f"""
        {name} (float[{shape}] x) => (float[{shape}] y, float[{shape}] z) {{
          y = Hardmax{axis}(x)
          z = Dropout(y)
        }}""")
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def computed(made) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": X})


@pytest.mark.parametrize("shape", ["2,3,4", "a,b,c"])
@pytest.mark.parametrize(
    ("axis", "opset"),
    [("", 7), ("", 10), ("<axis=0>", 9), ("<axis=2>", 8), ("<axis=-1>", 11), ("<axis=1>", 12)],
)
def test_a_converted_hardmax_merges_the_same_dimensions(axis, opset, shape):
    old = model(axis, opset, shape)
    wanted = computed(old)
    newer = raised(old)
    assert newer.opset_import[0].version > opset
    for got, expected in zip(computed(newer), wanted, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_model_with_a_hardmax_is_converted(tmp_path):
    """Its Dropout is what IREE rejects."""
    source, output = tmp_path / "model.onnx", tmp_path / "out.vmfb"
    old = model("<axis=1>", 10)
    onnx.save(old, source)
    report = fissile.compile(source, output, CPU, check=False)
    assert {help.remedy for one in report.findings for help in one.helps} >= {"onnx-opset"}
    assert report.exit_code == 0
    found = rt.load_vm_flatbuffer(output.read_bytes(), driver="local-sync").main(X)
    for got, expected in zip(found, computed(old), strict=True):
        np.testing.assert_array_equal(got.to_host(), expected)


def test_an_opset_whose_reshape_has_fixed_sizes_is_not_converted():
    with pytest.raises(ValueError, match="Hardmax"):
        raised(model("", 4))
