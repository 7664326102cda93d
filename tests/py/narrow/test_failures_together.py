"""A dispatch that IREE refuses and whose powers are wrong as well: both are repaired, by the remedy of each."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile

FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
MAPS = "indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]"
HEAD = f"""\
func.func @main(%x: tensor<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {{
  %empty = tensor.empty() : tensor<20xf32>
  %r = linalg.generic {{{MAPS}, iterator_types = ["parallel"]}}
      ins(%x, %y : tensor<20xf32>, tensor<20xf32>) outs(%empty : tensor<20xf32>) {{
  ^bb0(%a: f32, %b: f32, %_: f32):
    %power = math.powf %a, %b : f32
"""
IN_ONE_OP = f"""\
{HEAD}    %whole = math.trunc %a : f32
    %sum = arith.addf %power, %whole : f32
    linalg.yield %sum : f32
  }} -> tensor<20xf32>
  return %r : tensor<20xf32>
}}
"""
IN_TWO_OPS = f"""\
{HEAD}    linalg.yield %power : f32
  }} -> tensor<20xf32>
  %s = linalg.generic {{{MAPS}, iterator_types = ["parallel"]}}
      ins(%x, %r : tensor<20xf32>, tensor<20xf32>) outs(%empty : tensor<20xf32>) {{
  ^bb0(%a: f32, %b: f32, %_: f32):
    %whole = math.trunc %a : f32
    %sum = arith.addf %b, %whole : f32
    linalg.yield %sum : f32
  }} -> tensor<20xf32>
  return %s : tensor<20xf32>
}}
"""
ZETA = """\
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = chlo.zeta %x, %y : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""


def repaired(tmp_path, text: str) -> list[str]:
    """The passes that repair ``text``, of a module with one finding."""
    source = tmp_path / "in.mlir"
    source.write_text(text)
    [finding] = fissile.compile(source, tmp_path / "out.vmfb", list(FLAGS), check=False).findings
    assert (finding.code, finding.severity.value) == ("FIS104", "repaired")
    return [value for help_ in finding.helps for name, value in help_.facts if name == "pass"]


@pytest.mark.parametrize(("text", "ops"), [(IN_ONE_OP, (0, 0)), (IN_TWO_OPS, (1, 0))])
def test_both_are_repaired(tmp_path, text, ops):
    passes = repaired(tmp_path, text)
    assert passes == [f"fissile-expand-scalars{{ops={ops[0]}}}", f"fissile-sign-powers{{ops={ops[1]}}}"]
    x = np.float32(np.linspace(-4.75, 4.75, 20))
    y = np.float32(np.resize([2, 3, 1], 20))
    [answer] = run(tmp_path / "out.vmfb", [x, y])
    np.testing.assert_allclose(answer, np.power(x, y) + np.trunc(x), rtol=1e-5, atol=1e-5)


def test_a_zeta_function(tmp_path):
    """Eleven powers and two whole parts."""
    passes = repaired(tmp_path, ZETA)
    assert [text.partition("{")[0] for text in passes] == ["fissile-expand-scalars", "fissile-sign-powers"]
    x, y = np.float32([2, 3, 4, 2, 2, 3, 2, 6]), np.float32([1, 1, 1, 0.5, 10, 0.25, 3, 1])
    [answer] = run(tmp_path / "out.vmfb", [x, y])
    terms = (np.arange(200_000, dtype=np.float64)[:, None] + y) ** -x.astype(np.float64)
    np.testing.assert_allclose(answer, terms.sum(axis=0), rtol=1e-4)
