"""The sizes that an op lists for its tensors, once they are checked."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.passes.analysis.storage.flow_rules import listed_sizes
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.passes.remedies.storage.own_sizes import list_own_sizes
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

TEXT = """func.func @f(%x: tensor<?x4x?xf32>, %y: tensor<?x?x?xf32>, %n: index, %m: index) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %r = flow.tensor.update %x, %y[%n, %c0, %n] : tensor<?x4x?xf32>{%n, %m} -> tensor<?x?x?xf32>{%n, %n, %m}
  return %r : tensor<?x?x?xf32>
}"""
SLICE = """func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %r = flow.tensor.slice %x[%c0 for %n] : tensor<?xf32>{DIM} -> tensor<?xf32>{%n}
  return %r : tensor<?xf32>
}"""


def only(module, name: str) -> ir.Operation:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == name:
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.op.operation.walk(visit)
    (op,) = found
    return op


def test_only_the_listed_sizes_become_the_tensors_own():
    with Session() as session:
        module = session.run(session.parse_text(TEXT), GUARDED_AT)
        op = only(module, "flow.tensor.update")
        starts = list(view_of(op).start_indices)
        list_own_sizes(judge_storage(module.op).extents, [op])
        for value, name, number, dimension in listed_sizes(op):
            size = list(getattr(view_of(op), name))[number].owner.operation
            assert size.name == "tensor.dim" and view_of(size).source == value
            assert ir.IntegerAttr(view_of(size).index.owner.operation.attributes["value"]).value == dimension
        assert list(view_of(op).start_indices) == starts and op.verify()


def test_a_listed_size_that_is_proved_stays():
    with Session() as session:
        changed = {}
        for listed in ("%n", "%d"):
            module = session.run(session.parse_text(SLICE.replace("DIM", listed)), GUARDED_AT)
            before = list(view_of(only(module, "flow.tensor.slice")).source_dims)
            guard(module.op)
            changed[listed] = list(view_of(only(module, "flow.tensor.slice")).source_dims) != before
        assert changed == {"%n": True, "%d": False}
