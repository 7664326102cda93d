"""Integers below a byte as arguments and results of a program."""

import numpy as np
import pytest

from fissile.errors import UsageError
from fissile.pipelines.numerics.inputs import Sizes
from fissile.pipelines.numerics.verify import Options, verify

NEXT = """
func.func @main(%x: tensor<{shape}x{kind}>) -> tensor<{shape}x{kind}> {{
  %one = arith.constant 1 : {kind}
  {empty}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%x : tensor<{shape}x{kind}>) outs(%e : tensor<{shape}x{kind}>) {{
  ^bb0(%v: {kind}, %o: {kind}):
    %n = arith.addi %v, %one : {kind}
    linalg.yield %n : {kind}
  }} -> tensor<{shape}x{kind}>
  return %r : tensor<{shape}x{kind}>
}}
"""


KNOWN, UNKNOWN = (
    "%e = tensor.empty() : tensor<6x4x{kind}>",
    """%c = arith.constant 0 : index
  %d = tensor.dim %x, %c : tensor<?x4x{kind}>
  %e = tensor.empty(%d) : tensor<?x4x{kind}>""",
)


@pytest.mark.parametrize(("shape", "empty"), [("6x4", KNOWN), ("?x4", UNKNOWN)], ids=["static", "dynamic"])
@pytest.mark.parametrize(("kind", "bits"), [("i4", 4), ("i2", 2)])
def test_integers_below_a_byte_cross_the_boundary(tmp_path, kind, bits, shape, empty):
    """A NumPy function computes in whole bytes, and wraps as the type does."""
    source, half = tmp_path / "next.mlir", 1 << (bits - 1)
    source.write_text(NEXT.format(shape=shape, kind=kind, empty=empty.format(kind=kind)))
    options = Options(on=("local-task",), sizes=Sizes(6))
    certificate = verify(source, reference=lambda x: (x + 1 + half) % (2 * half) - half, options=options)
    assert certificate.agrees and certificate.checks[0].comparisons[0].shape == (6, 4), certificate.findings
    with pytest.raises(UsageError, match="has values from"):
        verify(source, inputs=[np.full((6, 4), half, np.int8)], reference=lambda x: x, options=options)
