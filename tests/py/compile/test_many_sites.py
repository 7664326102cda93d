"""How often a program is diagnosed does not grow with the number of its places of one failure, and equal dispatches are judged once."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile

SITES = (2, 8, 24)
FREQUENCIES = 2.0 ** -np.arange(8, dtype=np.float32)


def layer(number: int, equal: bool) -> str:
    """x<number + 1> from x<number>: a product with a weight, and a sum with the cosines or sines of the layer's angles.

    The layer has a table of frequencies of its own. Where all are ``equal``, IREE sees it only as it has evaluated them, and computes the
    angles of all layers once, as those of a network with rotary embeddings.
    """
    factor = 1 if equal else number + 1
    parts = ", ".join(
        f"[{f * factor * (number + 2)}, {-f * factor * (number + 1)}]" for f in FREQUENCIES.tolist()
    )
    return f"""
  %c{number} = arith.constant dense<[{parts}]> : tensor<8x2xf32>
  %g{number} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%c{number} : tensor<8x2xf32>) outs(%none : tensor<8xf32>) {{
  ^bb0(%f: f32, %o: f32):
    %s = arith.addf %o, %f : f32
    linalg.yield %s : f32
  }} -> tensor<8xf32>
  %a{number} = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%g{number} : tensor<8xf32>) outs(%e : tensor<8xf32>) {{
  ^bb0(%f: f32, %o: f32):
    %k = arith.mulf %n, %f : f32
    %v = math.{("cos", "sin")[number % 2]} %k : f32
    linalg.yield %v : f32
  }} -> tensor<8xf32>
  %m{number} = linalg.matmul ins(%x{number}, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %x{number + 1} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%m{number}, %a{number} : tensor<4x8xf32>, tensor<8xf32>) outs(%i : tensor<4x8xf32>) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }} -> tensor<4x8xf32>"""


def program(sites: int, equal: bool) -> str:
    layers = "".join(layer(number, equal) for number in range(sites))
    return f"""
func.func @main(%n: f32, %x0: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %i = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>{layers}
  return %x{sites} : tensor<4x8xf32>
}}
"""


def compiled(tmp_path, text: str):
    source = tmp_path / "in.mlir"
    source.write_text(text)
    return fissile.compile(source, tmp_path / "out.vmfb", list(CPU))


def expected(sites: int, n: float, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    for number in range(sites):
        angles = (n * FREQUENCIES).astype(np.float64)
        x = x @ w + (np.sin if number % 2 else np.cos)(angles)
    return x


@pytest.mark.parametrize("equal", (True, False), ids=("merged", "different"))
def test_all_sites_are_edited_in_the_first_trial(tmp_path, equal):
    """One look at the program as it is, and one at it with all edits. Cosines are one finding and sines another, whether IREE has merged the
    dispatches or keeps those of equal body; the compile to the end generates their code."""
    for sites in SITES:
        report = compiled(tmp_path, program(sites, equal))
        repaired = [f for f in report.findings if f.severity.value == "repaired"]
        assert {f.code for f in repaired} == {"FIS214"} and len(repaired) == 2
        assert len(report.facts["edits"]) == sites and report.facts["rounds"] == 2
        assert report.facts["generated"] == 0


def test_merged_sites_are_counted_and_the_numbers_are_right(tmp_path):
    report = compiled(tmp_path, program(8, True))
    facts = [fact for f in report.findings for help in f.helps for fact in help.facts]
    assert facts.count(("merged", "3 more ops that IREE had merged with these, changed the same way")) == 2
    r = np.random.default_rng(0)
    x, w = r.normal(size=(4, 8)).astype(np.float32), r.normal(size=(8, 8)).astype(np.float32) / 4
    n = np.float32(3e9)
    [answer] = run(tmp_path / "out.vmfb", [n, x, w])
    np.testing.assert_allclose(answer, expected(8, n, x.astype(np.float64), w), rtol=1e-4, atol=1e-4)
