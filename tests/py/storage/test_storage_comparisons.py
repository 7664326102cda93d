"""How the storage guard compares: indices in their own width, and numbers without a sign, which it proves where they cannot fail."""

from __future__ import annotations

import pytest
from storage_sweep import FLAGS

from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

WIDE = """func.func @wide(%x: tensor<?xf32>, %ids: tensor<4xi64>, %rows: tensor<?x2xf32>) -> (tensor<4xf32>, tensor<4x2xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%ids : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%i: i64, %o: f32):
    %k = arith.index_cast %i : i64 to index
    %v = tensor.extract %x[%k] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %f = tensor.empty() : tensor<4x2xf32>
  %g = iree_linalg_ext.gather dimension_map = [0] ins(%rows, %ids : tensor<?x2xf32>, tensor<4xi64>)
    outs(%f : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r, %g : tensor<4xf32>, tensor<4x2xf32>
}"""


def test_an_index_of_64_bits_is_compared_before_it_becomes_an_index():
    """On a device with indices of 32 bits, 2**32 would be 0 there."""
    with Session(FLAGS["local-task"]) as session:
        module = session.run(session.parse_text(WIDE), GUARDED_AT)
        assert guard(module.op).elementwise == 2
        text = module.text()
    compared = [line.rstrip() for line in text.splitlines() if "arith.cmpi uge, %in" in line]
    assert len(compared) == 2 and all(line.endswith(": i64") for line in compared)


SILENT = {
    "a while that counts without a sign": """func.func @f(%x: tensor<10xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant BOUND : index
  %z = arith.constant 0.0 : f32
  %k, %r = scf.while (%i = %c0, %a = %z) : (index, f32) -> (index, f32) {
    %p = arith.cmpi ult, %i, %c10 : index
    scf.condition(%p) %i, %a : index, f32
  } do {
  ^bb0(%i: index, %a: f32):
    %v = tensor.extract %x[%i] : tensor<10xf32>
    %s = arith.addf %a, %v : f32
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %s : index, f32
  }
  return %r : f32
}""",
    "a padding that is a quotient without a sign": """func.func @f(%x: tensor<?xf16>, %y: tensor<?x?xf16>, %n: index) -> tensor<?xf16> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %y, %c1 : tensor<?x?xf16>
  %by = arith.constant DIVISOR : index
  %m = arith.muli %n, %d : index
  %q = arith.divui %m, %by : index
  %f = arith.constant 7.0 : f16
  %r = tensor.pad %x low[%q] high[0] {
  ^bb0(%i: index):
    tensor.yield %f : f16
  } : tensor<?xf16> to tensor<?xf16>
  return %r : tensor<?xf16>
}""",
}


@pytest.mark.parametrize(
    ("name", "word", "inside", "outside"),
    [
        ("a while that counts without a sign", "BOUND", "10", "11"),
        ("a padding that is a quotient without a sign", "DIVISOR", "8", "1"),
    ],
)
def test_what_cannot_fail_is_not_doubted(name, word, inside, outside):
    with Session(FLAGS["local-task"]) as session:
        for value, quiet in ((inside, True), (outside, False)):
            module = session.run(session.parse_text(SILENT[name].replace(word, value)), GUARDED_AT)
            assert (not guard(module.op, "check").findings) == quiet
