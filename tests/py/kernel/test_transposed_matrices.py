"""A matrix that is transposed in memory for one vector (FIS213): a note, and with `--fusion=tune` read as it is."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile
from bench.speed import vector_forms
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.inputs import draw
from fissile.pipelines.numerics.signature import signatures_of_source

VECTOR_LAST = """func.func @main(%x: tensor<1024x1xf32>, %w: tensor<512x1024xf32>) -> tensor<512x1xf32> {
  %r = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x1xf32>) -> tensor<512x1xf32>
  return %r : tensor<512x1xf32>
}"""


def compiled(tmp_path, text, *flags):
    source, output = tmp_path / "main.mlir", tmp_path / f"out{len(flags)}.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, [*CPU, *flags], check=False)
    return [(one.code, one.severity.value) for one in report.findings], source, output


@pytest.mark.parametrize(("element", "rows"), [("f32", 512), ("i8", 2048)])
def test_it_is_reported_and_folded_and_right(tmp_path, element, rows):
    text = vector_forms.vector_product(element, rows, 1024)
    found, source, stocks = compiled(tmp_path, text)
    assert found == [("FIS213", "note")]
    found, _source, own = compiled(tmp_path, text, "--fusion=tune")
    assert found == [("FIS213", "repaired")]
    [runtime], signature = runtimes.named(["local-task"]), signatures_of_source(source)["main"]
    given = draw(signature, 3)
    [wanted], [answer] = (runtimes.run(one, signature, given, runtime) for one in (stocks, own))
    np.testing.assert_allclose(answer, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "text",
    [
        VECTOR_LAST,
        vector_forms.vector_product("f32", 256, 256),  # too small to gain by it
        vector_forms.vector_product("f32", 512, 1024).replace("1x1024", "4x1024").replace("1x512", "4x512"),
    ],
    ids=["the vector is last", "small", "four rows"],
)
def test_a_product_that_gains_nothing_stays_as_it_is(tmp_path, text):
    found, _source, stocks = compiled(tmp_path, text)
    tuned, _source, own = compiled(tmp_path, text, "--fusion=tune")
    assert found == tuned == [] and own.read_bytes() == stocks.read_bytes()
