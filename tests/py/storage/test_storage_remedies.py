"""Storage that grows, destinations that take their shape from an op, and terms written back into a
program."""

from __future__ import annotations

import itertools

import iree.runtime as rt
import numpy as np
import pytest
from iree.compiler import ir
from storage_sweep import FLAGS

from fissile.errors import UsageError
from fissile.passes.analysis.bounds.conditions import all_of, any_of, at_most, different, equal, holds, less
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.size_terms import INDEX_MAX, INDEX_MIN, Undefined, apply, term
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.passes.remedies.destinations import make_destination
from fissile.passes.remedies.storage.grow_storage import GrowStorage
from fissile.passes.remedies.storage.term_ops import TermWriter
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session
from fissile.verdict import Answer


@pytest.fixture(scope="module")
def session():
    with Session(FLAGS["local-task"]) as opened:
        opened.context.allow_unregistered_dialects = True
        for name in ("arith", "cf", "tensor", "linalg"):
            opened.context.get_dialect_descriptor(name)
        yield opened


def load(session, module, path):
    session.run(module, "end")
    session.write(module, path)
    context = rt.SystemContext(config=rt.Config("local-sync"))
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, path.read_bytes()))
    return context.modules.module["main"]


GROWING = """func.func @main(%y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty() : tensor<10xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %i = tensor.insert_slice %y into %f[0] [%n] [1] : tensor<?xf32> into tensor<10xf32>
  %x = tensor.extract_slice %i[0] [%n] [1] : tensor<10xf32> to tensor<?xf32>
  return %x : tensor<?xf32>
}
"""


def test_storage_that_grew_holds_what_it_could_not_hold_before(session, tmp_path):
    module = session.run(session.parse_text(GROWING), GUARDED_AT)
    assert judge_storage(module.op).having(Answer.UNKNOWN)
    reported = []
    GrowStorage().run(module.op.operation, reported.append)
    assert [f.code for f in reported] == ["FIS207"] and module.op.operation.verify()
    # The post-condition: the same check, run again, finds nothing.
    assert not [j for j in judge_storage(module.op).judged if j.answer is not Answer.PROVED]
    function = load(session, module, tmp_path / "grown.vmfb")
    for n in (3, 10, 11, 5000):
        values = np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(function(values).to_host(), values)


def test_storage_that_fits_is_left_alone(session):
    text = (
        GROWING.replace("%n = tensor.dim %y, %c0 : tensor<?xf32>", "%n = arith.constant 4 : index")
        .replace(
            "tensor.insert_slice %y into %f[0] [%n] [1] : tensor<?xf32>",
            "tensor.insert_slice %s into %f[0] [%n] [1] : tensor<?xf32>",
        )
        .replace(
            "  %e =", "  %s = tensor.extract_slice %y[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>\n  %e ="
        )
    )
    module = session.parse_text(text)
    before, reported = module.text(), []
    GrowStorage().run(module.op.operation, reported.append)
    assert not reported and module.text() == before


def test_a_destination_takes_its_shape_from_the_op(session):
    """A strided convolution over an image of dynamic size: floor((n - 3) / 2) + 1."""
    module = session.parse_text("func.func @f(%x: tensor<?xf32>, %k: tensor<3xf32>) {\n  return\n}\n")
    block = module.op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
    with session.context, ir.Location.unknown():
        window, kernel, out = (
            ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<(o, k) -> ({e})>")).value
            for e in ("o * 2 + k", "k", "o")
        )
        made = make_destination(
            list(block.arguments),
            [window, kernel],
            out,
            ir.F32Type.get(),
            ir.InsertionPoint.at_block_begin(block),
        )
        assert str(made.type) == "tensor<?xf32>"
        size = Extents().dimension(made, 0)
        assert str(size) == "(the length of argument 0 - 3) / 2 + 1"
        with pytest.raises(UsageError, match="no input tells the extent of loop d0"):
            make_destination(
                [block.arguments[1]], [kernel], out, ir.F32Type.get(), ir.InsertionPoint.at_block_begin(block)
            )


# -- terms written as ops compute what the terms say, at the ends of i64 too --------------------------------

VALUES = (0, 1, -1, 7, 2**31, 2**62, INDEX_MAX - 1, INDEX_MAX, INDEX_MIN, INDEX_MIN + 1)


def written_conditions(a, b):
    return [
        at_most(a + b, 12),
        less(a - b, 5),
        at_most(a * b, 100),
        equal(a * 3, b),
        different(a * a, b),
        at_most(a * 4 + b * 2, INDEX_MAX),
        all_of((at_most(0, a), at_most(a + b, INDEX_MAX))),
        at_most(a + b - 1, INDEX_MAX),
        at_most(a - 2, INDEX_MAX),
        at_most(INDEX_MIN, b + 1),
        less(INDEX_MIN, b + 2),
        different(a - 1, INDEX_MAX),
        any_of((equal(b, 0), less(a, b))),
        at_most(apply("floordiv", a, 3), b),
        at_most(apply("ceildiv", a, 3), b),
        equal(apply("mod", a, 4), 3),
        equal(apply("trem", a, 4), -1),
        equal(apply("tdiv", a, 2), b),
        at_most(apply("min", a, b, 5), apply("max", a, b)),
        equal(apply("wrap", a + b, parameter=64), a + b),
        equal(apply("wrap", a, parameter=8), b),
        at_most(apply("floordiv", a, b), 2),
    ]


def test_a_condition_written_as_ops_is_the_condition(session, tmp_path):
    count = len(written_conditions(term(0), term(1)))
    results = ", ".join(["i1"] * count)
    text = (
        f"func.func @main(%a: index, %b: index) -> ({results}) {{\n  %t = arith.constant true\n  return "
        + ", ".join(["%t"] * count)
        + f" : {results}\n}}\n"
    )
    module = session.run(session.parse_text(text), GUARDED_AT)
    block = module.op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
    extents = Extents()
    one, other = (term(extents.symbol(v)) for v in block.arguments)
    last = block.operations[len(block.operations) - 1].operation
    conditions = written_conditions(one, other)
    with session.context, last.location:
        writer = TermWriter(extents, ir.InsertionPoint(last))
        for i, condition in enumerate(conditions):
            last.operands[i] = writer.condition(condition)
    function = load(session, module, tmp_path / "conditions.vmfb")
    idents = [one.atom.ident, other.atom.ident]
    for a, b in itertools.product(VALUES, VALUES):
        got = [bool(v) for v in function(a, b)]
        for condition, value in zip(conditions, got, strict=True):
            try:
                expected = holds(condition, dict(zip(idents, (a, b), strict=True)))
            except Undefined:
                expected = False  # no size at all
            # A difference that leaves 64 bits counts as not fitting: sums of sizes are never compared for
            # `!=`.
            assert value == expected or (abs(a) + abs(b) >= 2**61 and not value), (str(condition), a, b)


def test_the_guard_never_lets_a_negative_size_through(session, tmp_path):
    text = """func.func @main(%n: index) -> tensor<?xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}
"""
    module = session.run(session.parse_text(text), GUARDED_AT)
    guard(module.op)
    function = load(session, module, tmp_path / "sizes.vmfb")
    assert function(3).to_host().tolist() == [1, 1, 1]
    for n in (-1, INDEX_MIN, 2**62):  # 2**62 floats take 2**64 bytes, which wraps to none
        with pytest.raises(Exception, match="FAILED_PRECONDITION"):
            function(n)
