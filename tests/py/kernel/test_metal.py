"""Metal: SPIR-V code generation as for Vulkan, with other limits. Compiles only; no device runs here."""

import pytest
from small_programs import ADD, INT8_MATMUL, quantised_conv

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

METAL = list(flags_for(find_target("metal")))
SOFTMAX = """
func.func @main(%a: tensor<8x3000xf16>) -> tensor<8x3000xf16> {
  %e = tensor.empty() : tensor<8x3000xf16>
  %r = linalg.softmax dimension(1) ins(%a : tensor<8x3000xf16>) outs(%e : tensor<8x3000xf16>) -> tensor<8x3000xf16>
  return %r : tensor<8x3000xf16>
}
"""


@pytest.mark.parametrize(
    ("text", "code"),
    (
        (INT8_MATMUL, "FIS108"),  # IREE asks for a dot product that SPIR-V 1.3 has not
        (quantised_conv(requantise=True), "FIS111"),  # built by stock, with a race
    ),
    ids=("int8 matmul", "quantised convolution"),
)
def test_what_stock_refuses_or_builds_wrong_is_built(tmp_path, text, code):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, METAL, check=False)
    assert report.output and [(f.code, f.severity.value) for f in report.findings] == [(code, "repaired")]


@pytest.mark.parametrize("text", (ADD, SOFTMAX), ids=("add", "softmax"))
def test_healthy_programs_are_as_stock_builds_them(tmp_path, text):
    source, guarded, stock = tmp_path / "x.mlir", tmp_path / "x.vmfb", tmp_path / "stock.vmfb"
    source.write_text(text)
    assert not fissile.compile(source, guarded, METAL, check=False).findings
    fissile.compile(source, stock, METAL, repair="off", check=False)
    assert guarded.read_bytes() == stock.read_bytes()


def test_check_knows_its_limit(tmp_path):
    source = tmp_path / "x.mlir"
    source.write_text(INT8_MATMUL)
    [reported] = fissile.check(source, ["metal"]).facts["targets"]
    assert reported["limit"] == 32768 and "Apple" in reported["source"] and reported["dispatches"]
